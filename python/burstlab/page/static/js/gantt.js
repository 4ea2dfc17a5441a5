// When each wavelength of a fibre is taken, about the present, by its number in tables; bursts that
// go no further are in a lane beneath.

import { lowerBound, seconds } from "./data.js";
import { burstLines } from "./telling.js";
import { colours, fit, font, type, uncut } from "./theme.js";

const SHOWN = 4; // seconds on the screen
const PAST = 0.35;

export class Gantt {
  constructor(canvas) {
    this.canvas = canvas;
    this.fibre = 0;
    this.wavelengths = 1;
    this.lane = "refused";
    this.carrier = new Set();
    this.burst = null;
    this.onBurst = () => {};
    canvas.addEventListener("click", (event) => {
      const hit = this.at(event.offsetX, event.offsetY);
      if (hit) this.onBurst(hit.found, hit.row);
    });
  }

  /** Room for the names of the rows, and for the times beneath. */
  get left() {
    return 34 + 24 * type.scale;
  }

  get below() {
    return 10 + 12 * type.scale;
  }

  /** The stretch of time that is shown. */
  range(time, speed) {
    const span = SHOWN * speed;
    return [time - span * PAST, time + span * (1 - PAST)];
  }

  draw(time, speed, stretches) {
    const { context, width, height } = fit(this.canvas);
    context.clearRect(0, 0, width, height);
    this.drawn = { time, speed, stretches, width, height };
    this.paint(context);
  }

  paint(context) {
    if (!this.drawn) return;
    const { time, speed, stretches, width, height } = this.drawn;
    const [begin, end] = this.range(time, speed);
    const { left, below } = this;
    const rows = this.wavelengths + 1;
    const high = Math.min(52 * type.scale, (height - below) / rows);
    const x = (at) => left + ((at - begin) / (end - begin)) * (width - left);
    Object.assign(this.drawn, { high, x, begin, end });
    context.font = font();
    this.drawRows(context, width, high);
    this.drawTicks(context, x, begin, end, high * rows);
    context.save();
    context.beginPath();
    context.rect(left, 0, width - left, high * rows);
    context.clip();
    for (const [found, first] of this.parts()) {
      this.drawBursts(context, found, first, x, [begin, end], high);
    }
    context.restore();
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x(time), 0);
    context.lineTo(x(time), high * rows);
    context.stroke();
  }

  /** Stretches, each from the row on that the one before does not have. */
  * parts() {
    for (const [number, found] of this.drawn.stretches.entries()) {
      yield [found, number ? lowerBound(found.left_s, found.begin) : 0];
    }
  }

  /** The burst at a place of the canvas, if there is one. */
  at(px, py) {
    if (!this.drawn || px < this.left) return null;
    const { high, x, begin, end } = this.drawn;
    const lane = Math.floor(py / high);
    let best = null;
    for (const [found, first] of this.parts()) {
      for (let i = first; i < found.left_s.length && found.left_s[i] < end; i += 1) {
        if (found.fibre[i] !== this.fibre || found.end_s[i] < begin) continue;
        const row = found.wavelength[i] < 0 ? this.wavelengths : found.wavelength[i];
        const away = Math.max(0, x(found.left_s[i]) - px, px - x(found.end_s[i]));
        if (row === lane && away < (best?.away ?? 5)) best = { found, row: i, away };
      }
    }
    return best;
  }

  /** Lines about what lies at a place. */
  about(network, px, py) {
    const hit = this.at(px, py);
    if (!hit) return null;
    const { found, row } = hit;
    const lines = burstLines(network, found, row);
    const [length, offset] = [
      found.end_s[row] - found.left_s[row], found.left_s[row] - found.reserved_s[row],
    ];
    const before = offset > 0 ? `, reserved ${seconds(offset, 1e-7)} before` : "";
    return [...lines, `takes ${seconds(length, 1e-7)}${before}`];
  }

  drawRows(context, width, high) {
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (let row = 0; row <= this.wavelengths; row += 1) {
      const refused = row === this.wavelengths;
      context.strokeStyle = colours.grid;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(this.left, (row + 1) * high);
      context.lineTo(width, (row + 1) * high);
      context.stroke();
      const least = 11 * type.scale;
      if (high < least && !refused && row % Math.ceil(least / high)) continue;
      context.fillStyle = refused ? colours.lost : colours.muted;
      context.fillText(refused ? this.lane : `λ${row}`, this.left - 8, (row + 0.5) * high);
    }
  }

  drawTicks(context, x, begin, end, bottom) {
    const room = (this.drawn.width - this.left) / (72 * type.scale);
    const step = round((end - begin) / Math.max(2, Math.min(6, room)));
    context.fillStyle = colours.muted;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (let n = Math.ceil(begin / step); n * step < end; n += 1) {
      const place = x(n * step);
      if (n < 0) continue;
      context.strokeStyle = colours.grid;
      context.beginPath();
      context.moveTo(place, 0);
      context.lineTo(place, bottom + 3);
      context.stroke();
      const text = seconds(n * step, step);
      const at = uncut(context, text, place, this.left, this.drawn.width);
      context.fillText(text, at, bottom + 6);
    }
  }

  drawBursts(context, found, first, x, [begin, end], high) {
    const kinds = [colours.first, colours.cut, colours.muted];
    const { left_s: left, end_s: stop, reserved_s: taken } = found;
    for (let i = first; i < left.length && left[i] < end; i += 1) {
      if (found.fibre[i] !== this.fibre || stop[i] < begin) continue;
      const refused = found.wavelength[i] < 0;
      const top = (refused ? this.wavelengths : found.wavelength[i]) * high + 2;
      const [from, to] = [x(left[i]), Math.max(x(stop[i]), x(left[i]) + 1.5)];
      const mine = found.burst[i] === this.burst;
      const colour = found.lost[i] ? colours.lost : kinds[found.kind[i]];
      context.fillStyle = colour;
      context.strokeStyle = colour;
      if (refused) {
        context.lineWidth = 1.6;
        context.strokeRect(from, top + 1, to - from, high - 6);
        if (mine) this.drawMine(context, from, to, top, high);
        continue;
      }
      // The reservation may begin before the burst: the offset, or the guard.
      context.globalAlpha = 0.25;
      context.fillRect(x(taken[i]), top, from - x(taken[i]), high - 4);
      const bright = !this.carrier.size || this.carrier.has(found.burst[i]);
      context.globalAlpha = bright || found.lost[i] ? 1 : 0.45;
      context.fillRect(from, top, to - from, high - 4);
      context.globalAlpha = 1;
      if (mine) this.drawMine(context, from, to, top, high);
    }
  }

  drawMine(context, from, to, top, high) {
    context.strokeStyle = colours.ink;
    context.lineWidth = 2;
    context.strokeRect(from - 2, top - 1, to - from + 4, high - 2);
  }
}

/** The nearest of 1, 2 and 5 times a power of ten, above. */
function round(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= step * 0.999);
}
