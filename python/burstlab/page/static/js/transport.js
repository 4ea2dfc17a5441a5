// The present: playing, speed, scrubbing and the keys for them.

import { lowerBound, seconds } from "./data.js";
import { colours, fit } from "./theme.js";

const SPEEDS = [1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3];
const STEP = 0.05; // of a second on the screen
const SCRUB = 10000;
const AHEAD = 0.8; // seconds on the screen before a loss that is gone to

const near = (a, b) => Math.abs(Math.log(a / b));

export { SPEEDS };

export class Transport {
  constructor() {
    this.playing = false;
    this.speed = SPEEDS[0];
    this.find();
    this.fillSpeeds();
    this.listen();
  }

  /** Shows another run, from just before its first loss on, so that there is something to see. */
  setRun({ end, speed, losses }) {
    this.end = end;
    this.losses = losses;
    this.usual = speed;
    this.carrier = new Set();
    this.times = losses.t_s;
    this.bursts = losses.burst;
    this.minePart.checked = false;
    if (this.playing) this.toggle();
    this.setSpeed(speed);
    this.toStart();
  }

  /** Where a run begins: its first loss; Home is its first instant. */
  toStart() {
    const { t_s: at } = this.losses;
    this.seek(at.length ? Math.max(0, at[0] - AHEAD * this.speed) : 0);
  }

  find() {
    const names = ["play", "speed", "scrub", "time", "before", "after", "overview", "mine"];
    for (const name of names) this[`${name}Part`] = document.getElementById(name);
  }

  fillSpeeds() {
    for (const speed of SPEEDS) {
      const label = `${seconds(speed, speed)} a second`;
      this.speedPart.add(new Option(label, speed));
    }
  }

  listen() {
    this.playPart.addEventListener("click", () => this.toggle());
    this.speedPart.addEventListener("change", () => this.setSpeed(Number(this.speedPart.value)));
    this.scrubPart.addEventListener("input", () => {
      this.seek((this.scrubPart.valueAsNumber / SCRUB) * this.end);
    });
    this.beforePart.addEventListener("click", () => this.toLoss(-1));
    this.afterPart.addEventListener("click", () => this.toLoss(1));
    this.minePart.addEventListener("change", () => this.choose());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.body.dataset.tab !== "watch" || document.querySelector("dialog[open]")) return;
    const focused = event.target;
    if (focused.tagName === "SELECT") return;
    const pressed = ["BUTTON", "SUMMARY"].includes(focused.tagName) || focused === this.minePart;
    if (event.key === " " && pressed) return;
    const step = STEP * this.speed * (event.shiftKey ? 10 : 1);
    const actions = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.seek(this.time - step),
      ArrowRight: () => this.seek(this.time + step),
      Home: () => this.seek(0),
      End: () => this.seek(this.end),
      n: () => this.toLoss(1),
      p: () => this.toLoss(-1),
      f: () => this.minePart.click(),
      "+": () => this.shiftSpeed(1),
      "=": () => this.shiftSpeed(1),
      "-": () => this.shiftSpeed(-1),
      0: () => this.onWhole?.(),
      "?": () => document.getElementById("help-open").click(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }

  toggle() {
    if (!this.playing && this.time >= this.end) this.time = 0;
    this.playing = !this.playing;
    this.playPart.textContent = this.playing ? "Pause" : "Play";
    this.changed = true;
    this.onRest?.();
  }

  seek(time) {
    this.time = Math.min(Math.max(time, 0), this.end);
    this.changed = true;
    this.onRest?.();
  }

  setSpeed(speed) {
    this.speed = SPEEDS.reduce((a, b) => (near(b, speed) < near(a, speed) ? b : a));
    this.speedPart.value = this.speed;
    this.changed = true;
    this.onRest?.();
  }

  shiftSpeed(by) {
    const place = SPEEDS.indexOf(this.speed) + by;
    if (SPEEDS[place]) this.setSpeed(SPEEDS[place]);
  }

  /** Goes to just before a loss, so that it is seen. */
  toLoss(direction) {
    const at = this.times;
    const ahead = AHEAD * this.speed;
    const place = direction > 0
      ? lowerBound(at, this.time + ahead * 1.001)
      : lowerBound(at, this.time + ahead * 0.999) - 1;
    if (at[place] === undefined) return;
    this.seek(at[place] - ahead);
    this.onLoss?.(this.bursts[place]);
  }

  /** Goes to just before a burst dies; answers whether it does. */
  toDeathOf(burst) {
    const place = this.losses.burst.indexOf(burst);
    if (place < 0) return false;
    this.seek(this.losses.t_s[place] - AHEAD * this.speed);
    this.onLoss?.(burst);
    return true;
  }

  /** Which losses there are to go to: all, or those of the bursts of a flow. */
  choose() {
    const { t_s: at, burst } = this.losses;
    const mine = this.minePart.checked;
    const among = (_, i) => !mine || this.carrier.has(burst[i]);
    [this.times, this.bursts] = [at.filter(among), burst.filter(among)];
    for (const part of [this.beforePart, this.afterPart]) part.disabled = !this.times.length;
    this.drawOverview();
  }

  setCarrier(carrier) {
    this.carrier = carrier;
    this.choose();
  }

  /** Lets time go on; answers whether anything is to be drawn. */
  advance(elapsed) {
    if (this.playing) {
      this.time = Math.min(this.end, this.time + elapsed * this.speed);
      if (this.time >= this.end) this.toggle();
      this.changed = true;
    }
    const changed = this.changed;
    this.changed = false;
    if (changed) this.show();
    return changed;
  }

  show() {
    const text = seconds(this.time, Math.min(1e-3, this.speed / 10));
    if (this.timePart.textContent === text) return;
    this.timePart.textContent = text;
    this.scrubPart.value = String((this.time / this.end) * SCRUB);
    this.scrubPart.setAttribute("aria-valuetext", text);
  }

  /** Draws how many bursts die when, under the slider. */
  drawOverview() {
    if (!this.times) return;
    const { context, width, height } = fit(this.overviewPart);
    const bins = new Float64Array(Math.max(1, Math.floor(width / 3)));
    for (const at of this.times) {
      bins[Math.min(bins.length - 1, Math.floor((at / this.end) * bins.length))] += 1;
    }
    const most = bins.reduce((a, b) => Math.max(a, b), 1);
    context.clearRect(0, 0, width, height);
    context.fillStyle = colours.lost;
    context.globalAlpha = 0.55;
    for (const [index, count] of bins.entries()) {
      const high = count ? Math.max(2, (count / most) * (height / 2 - 5)) : 0;
      context.fillRect((index / bins.length) * width, height / 2 - 5 - high, 2, high);
    }
    context.globalAlpha = 1;
  }
}
