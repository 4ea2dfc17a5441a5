// Bursts by stretches of time, fetched ahead of the present and forgotten behind it.

import { columns } from "./data.js";

const KEPT = 12;

export class Bursts {
  /** `changed` is called when a stretch has come, `failed` when one cannot. */
  constructor(end, choice, changed, failed) {
    this.failed = failed;
    this.end = end;
    this.choice = choice;
    this.changed = changed;
    this.stretches = new Map();
    this.speed = 0;
  }

  /** A stretch lasts some seconds on the screen, whatever the speed. */
  setSpeed(speed) {
    if (speed === this.speed) return;
    this.speed = speed;
    this.span = 2 ** Math.ceil(Math.log2(speed * 8));
    this.stretches.clear();
  }

  /** Returns the columns about a time, or nothing before they have arrived. */
  at(time) {
    const number = Math.floor(time / this.span);
    for (const near of [number, number + 1]) this.fetch(near);
    return this.stretches.get(number)?.found;
  }

  /** Answers those that there are between two times. */
  between(begin, end) {
    const found = [];
    const first = Math.max(0, Math.floor(begin / this.span));
    for (let number = first; number <= Math.floor(end / this.span); number += 1) {
      this.fetch(number);
      const stretch = this.stretches.get(number)?.found;
      if (stretch) found.push(stretch);
    }
    return found;
  }

  fetch(number) {
    if (number < 0 || number * this.span > this.end || this.stretches.has(number)) return;
    const stretch = { found: null };
    this.stretches.set(number, stretch);
    // A burst that has just died still fades.
    const from = number * this.span - this.speed;
    const query = { ...this.choice, from, to: (number + 1) * this.span };
    columns("bursts", query).then((found) => {
      stretch.found = { ...measured(found), begin: number * this.span };
      this.changed();
    }, this.failed);
    for (const old of this.stretches.keys()) {
      if (this.stretches.size <= KEPT) break;
      if (Math.abs(old - number) > 2) this.stretches.delete(old);
    }
  }
}

function measured(found) {
  let longest = 0;
  const { left_s: left, end_s: end } = found;
  for (let i = 0; i < left.length; i += 1) longest = Math.max(longest, end[i] - left[i]);
  found.longest = longest;
  return found;
}
