// When each wavelength of a fibre is taken, about the present; refused bursts in a lane beneath.

import { lowerBound, seconds } from "./data.js";
import { colours, fit } from "./theme.js";

const SHOWN = 4; // seconds on the screen
const PAST = 0.35;
const LEFT = 58;
const BELOW = 22;

export class Gantt {
  constructor(canvas) {
    this.canvas = canvas;
    this.fibre = 0;
    this.wavelengths = 1;
    this.lane = "refused";
    this.carrier = new Set();
  }

  /** The stretch of time that is shown. */
  range(time, speed) {
    const span = SHOWN * speed;
    return [time - span * PAST, time + span * (1 - PAST)];
  }

  draw(time, speed, stretches) {
    const { context, width, height } = fit(this.canvas);
    const [begin, end] = this.range(time, speed);
    const rows = this.wavelengths + 1;
    const high = Math.min(52, (height - BELOW) / rows);
    const x = (at) => LEFT + ((at - begin) / (end - begin)) * (width - LEFT);
    context.clearRect(0, 0, width, height);
    context.font = "12px Inter, Arial, 'DejaVu Sans', sans-serif";
    this.drawRows(context, width, high);
    this.drawTicks(context, x, begin, end, high * rows);
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, width - LEFT, high * rows);
    context.clip();
    for (const [number, found] of stretches.entries()) {
      // A stretch begins with the last of the one before.
      const first = number ? lowerBound(found.left_s, found.begin) : 0;
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

  drawRows(context, width, high) {
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (let row = 0; row <= this.wavelengths; row += 1) {
      const refused = row === this.wavelengths;
      context.strokeStyle = colours.grid;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(LEFT, (row + 1) * high);
      context.lineTo(width, (row + 1) * high);
      context.stroke();
      if (high < 11 && !refused && row % Math.ceil(11 / high)) continue;
      context.fillStyle = refused ? colours.lost : colours.muted;
      context.fillText(refused ? this.lane : `λ${row + 1}`, LEFT - 8, (row + 0.5) * high);
    }
  }

  drawTicks(context, x, begin, end, bottom) {
    const step = round((end - begin) / 6);
    context.fillStyle = colours.muted;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (let n = Math.ceil(begin / step); n * step < end; n += 1) {
      const place = x(n * step);
      if (place < LEFT + 24 || n < 0) continue;
      context.strokeStyle = colours.grid;
      context.beginPath();
      context.moveTo(place, 0);
      context.lineTo(place, bottom + 3);
      context.stroke();
      context.fillText(seconds(n * step, step), place, bottom + 6);
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
      const colour = found.lost[i] ? colours.lost : kinds[found.kind[i]];
      context.fillStyle = colour;
      context.strokeStyle = colour;
      if (refused) {
        context.lineWidth = 1.6;
        context.strokeRect(from, top + 1, to - from, high - 6);
        continue;
      }
      // The reservation may begin before the burst: the offset, or the guard.
      context.globalAlpha = 0.25;
      context.fillRect(x(taken[i]), top, from - x(taken[i]), high - 4);
      const bright = !this.carrier.size || this.carrier.has(found.burst[i]);
      context.globalAlpha = bright || found.lost[i] ? 1 : 0.45;
      context.fillRect(from, top, to - from, high - 4);
      context.globalAlpha = 1;
    }
  }
}

/** The nearest of 1, 2 and 5 times a power of ten, above. */
function round(step) {
  const power = 10 ** Math.floor(Math.log10(step));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= step * 0.999);
}
