// A chart of uPlot drawn once more, on any context: for a drawing that stays sharp.

import { lowerBound } from "./data.js";
import { colours, font } from "./theme.js";

/** Draws a chart at the origin of a context, in CSS pixels. */
export function paintChart(chart, context) {
  const { plot } = chart;
  if (!plot) return;
  const ratio = devicePixelRatio || 1;
  const box = Object.fromEntries(
    Object.entries(plot.bbox).map(([name, value]) => [name, value / ratio]),
  );
  const at = (value, scale) => (
    plot.valToPos(value, scale) + (scale === "x" ? box.left : box.top)
  );
  paintAxes(plot, context, box, at);
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  plot.series.forEach((series, index) => {
    if (index && series.stroke && plot.data[index] && !chart.hooks.draw) {
      paintSteps(plot, context, index, at);
    }
  });
  context.restore();
  const like = { ctx: context, bbox: box, scales: plot.scales, valToPos: at, ratio: 1 };
  for (const draw of chart.hooks.draw ?? []) draw(like);
  if (!chart.head.hidden) {
    const left = box.left + new DOMMatrix(chart.head.style.transform).e;
    line(context, [[left, box.top], [left, box.top + box.height]], colours.ink, 1.5);
  }
}

function paintAxes(plot, context, box, at) {
  const [x, y] = plot.axes;
  context.font = font();
  context.fillStyle = colours.soft;
  context.textAlign = "center";
  context.textBaseline = "top";
  const bottom = box.top + box.height;
  x._splits.forEach((value, index) => {
    const left = at(value, "x");
    line(context, [[left, box.top], [left, bottom + 4]], colours.grid, 1);
    if (x._values[index] !== null) context.fillText(x._values[index], left, bottom + 8);
  });
  context.textAlign = "right";
  context.textBaseline = "middle";
  y._splits.forEach((value, index) => {
    const top = at(value, "y");
    line(context, [[box.left - 4, top], [box.left + box.width, top]], colours.grid, 1);
    if (y._values[index] !== null) context.fillText(y._values[index], box.left - 8, top);
  });
  context.textAlign = "left";
  context.textBaseline = "top";
  context.fillText(y.label, 2, 0);
}

function paintSteps(plot, context, index, at) {
  const [times, values] = [plot.data[0], plot.data[index]];
  const { min, max } = plot.scales.x;
  const series = plot.series[index];
  const points = [];
  const first = Math.max(0, lowerBound(times, min) - 1);
  for (let i = first; i < times.length && times[i] <= max; i += 1) {
    const [x, y] = [at(times[i], "x"), at(values[i], "y")];
    if (points.length) points.push([x, points.at(-1)[1]]);
    points.push([x, y]);
  }
  if (points.length) points.push([at(max, "x"), points.at(-1)[1]]);
  context.setLineDash(series.dash ?? []);
  line(context, points, series.stroke(plot, index), series.width);
  context.setLineDash([]);
}

function line(context, points, colour, width) {
  context.beginPath();
  points.forEach(([x, y], index) => {
    if (index) context.lineTo(x, y);
    else context.moveTo(x, y);
  });
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.stroke();
}
