// The bursts of a run: when each left, how many packets it held, and which of them were lost.

import { Chart } from "./chart.js";
import { lowerBound, seconds } from "./data.js";
import { colours } from "./theme.js";

export class BurstChart extends Chart {
  setBursts(bursts) {
    this.bursts = bursts;
    const hidden = { paths: () => null, points: { show: false } };
    this.draw([bursts.left_s, bursts.packets], [hidden], {
      draw: [(plot) => drawBursts(plot, bursts)],
    });
  }

  about(x) {
    const { left_s: left, packets, gone, burst } = this.bursts;
    const { plot } = this;
    const from = plot.posToVal(x - 6, "x");
    let best = { row: -1, far: 7 };
    for (let i = lowerBound(left, from); i < left.length; i += 1) {
      const far = Math.abs(plot.valToPos(left[i], "x") - x) - (gone[i] ? 1.5 : 0);
      if (far > 7) break;
      if (far < best.far) best = { row: i, far };
    }
    const { row } = best;
    if (row < 0) return null;
    return [
      `burst ${burst[row]}${gone[row] ? ", lost" : ""}`,
      `${packets[row]} packet${packets[row] === 1 ? "" : "s"}`,
      `left at ${seconds(left[row], 1e-5)}`,
    ];
  }
}

function drawBursts(chart, { left_s: left, packets, gone }) {
  const { ctx, bbox } = chart;
  const ratio = chart.ratio ?? (devicePixelRatio || 1);
  const { min, max } = chart.scales.x;
  const bottom = chart.valToPos(0, "y", true);
  ctx.save();
  ctx.beginPath();
  // The cross of a lost burst at the edge of the chart is whole.
  const rim = 5 * ratio;
  ctx.rect(bbox.left - rim, bbox.top - rim, bbox.width + 2 * rim, bbox.height + rim);
  ctx.clip();
  for (const lost of [0, 1]) {
    ctx.strokeStyle = lost ? colours.lost : colours.first;
    ctx.lineWidth = (lost ? 2.2 : 1.1) * ratio;
    ctx.beginPath();
    for (let i = lowerBound(left, min); i < left.length && left[i] <= max; i += 1) {
      if (gone[i] !== lost) continue;
      const [x, y] = [chart.valToPos(left[i], "x", true), chart.valToPos(packets[i], "y", true)];
      ctx.moveTo(x, bottom);
      ctx.lineTo(x, y);
      if (!lost) continue;
      const size = 3.5 * ratio;
      ctx.moveTo(x - size, y - size);
      ctx.lineTo(x + size, y + size);
      ctx.moveTo(x + size, y - size);
      ctx.lineTo(x - size, y + size);
    }
    ctx.stroke();
  }
  ctx.restore();
}
