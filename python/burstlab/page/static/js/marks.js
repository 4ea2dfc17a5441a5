// The marks of a time-sequence diagram, as tcptrace's users know them: segments, those sent again,
// those lost, the line of ACKs; and time-outs by what they truly were.

import { lowerBound, seconds } from "./data.js";
import { term } from "./terms.js";
import { colours } from "./theme.js";

const AGAIN = 1;
const LOST = 2;

const EVENTS = ["time-out", "fast retransmit", "early repair", "spurious retransmission"];
const TRUTHS = ["unknown", "false", "true", "spurious"];
const VERDICTS = ["none", "false", "true"];

/** Each mark: its name, its colour, its shape about (0, 0), and whether it is filled. */
const SHAPES = {
  first: ["segment", "first", "M-1.6,-1.6h3.2v3.2h-3.2z", true],
  again: ["retransmitted", "again", "M0,-4.4L4,3.2H-4z", true],
  lost: ["lost", "lost", "M-3.4,-3.4L3.4,3.4M3.4,-3.4L-3.4,3.4", false],
  acked: ["acknowledged", "cut", "M-7,3H0V-3H7", false],
  false: ["false time-out", "timeout", "M0,-6.5L6.5,0L0,6.5L-6.5,0z", false],
  true: ["true time-out", "timeout", "M0,-6.5L6.5,0L0,6.5L-6.5,0z", true],
  spurious: ["spurious time-out", "timeout", "M-5.5,-5.5H5.5V5.5H-5.5z", false],
  fast: ["fast retransmit", "cut", "M-5,-4H5L0,4.5z", false],
  repair: ["early repair", "cut", "M-5,0H5M0,-5V5", false],
};
const PATHS = Object.fromEntries(
  Object.entries(SHAPES).map(([name, shape]) => [name, new Path2D(shape[2])]),
);

/** Lines about a segment of a flow. */
export function segmentLines(flow, i) {
  const state = [
    flow.flags[i] & AGAIN ? "retransmitted" : "", flow.flags[i] & LOST ? "lost" : "",
  ].filter(Boolean);
  return [
    `segment ${flow.seq[i].toLocaleString("en")}`,
    [`sent at ${seconds(flow.sent_s[i], 1e-5)}`, ...state].join(", "),
  ];
}

/** Lines about an event of a flow: what it truly was, and what it was taken for. */
export function eventLines(flow, i) {
  const [packets, bursts] = [flow.event_packets[i], flow.event_bursts[i]];
  const truth = flow.event[i] === 0 && flow.truth[i] ? `${TRUTHS[flow.truth[i]]} ` : "";
  const verdict = flow.verdict[i] ? `taken for ${VERDICTS[flow.verdict[i]]}` : "";
  return [
    `${truth}${EVENTS[flow.event[i]]}`,
    `at ${seconds(flow.event_s[i], 1e-5)}, segment ${flow.event_seq[i].toLocaleString("en")}`,
    `behind it: ${packets} lost packet${packets === 1 ? "" : "s"} in ${bursts} `
      + `burst${bursts === 1 ? "" : "s"}`,
    verdict,
  ];
}

/** Fills a list with what the lines of a chart of the window mean. */
export function windowLegend(list) {
  for (const [word, colour, dashed] of [["cwnd", "first", false], ["ssthresh", "soft", true]]) {
    const item = document.createElement("li");
    item.className = colour;
    const line = document.createElement("i");
    line.classList.toggle("dashed", dashed);
    item.append(line, term(word));
    list.append(item);
  }
}

/** Fills a list with what the marks mean. */
export function legend(list) {
  const space = "http://www.w3.org/2000/svg";
  for (const [text, colour, shape, filled] of Object.values(SHAPES)) {
    const item = document.createElement("li");
    item.className = colour;
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("viewBox", "-8 -8 16 16");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(space, "path");
    path.setAttribute("d", shape);
    path.setAttribute("fill", filled ? "currentColor" : "none");
    path.setAttribute("stroke", "currentColor");
    path.setAttribute("stroke-width", "1.8");
    svg.append(path);
    item.append(svg, term(text));
    list.append(item);
  }
}

/** Draws a flow on a chart of uPlot, whose context counts in device pixels. */
export function drawFlow(chart, flow) {
  const { ctx, bbox } = chart;
  const ratio = chart.ratio ?? (devicePixelRatio || 1);
  const x = (value) => chart.valToPos(value, "x", true);
  const y = (value) => chart.valToPos(value, "y", true);
  const { min, max } = chart.scales.x;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  drawAcks(ctx, flow, x, y, [min, max], ratio);
  const special = drawSegments(ctx, flow, x, y, [min, max], ratio);
  ctx.restore();
  // uPlot relies on the state of its context.
  ctx.save();
  // Marks at the edge of the chart are whole; those of times or segments beyond it are left out.
  const mark = (name, at, seq, size) => {
    const top = y(seq);
    if (top < bbox.top - 1 || top > bbox.top + bbox.height + 1) return;
    stamp(ctx, name, x(at), top, size);
  };
  for (const i of special) {
    if (flow.flags[i] & AGAIN) mark("again", flow.sent_s[i], flow.seq[i], ratio * 0.85);
    if (flow.flags[i] & LOST) mark("lost", flow.sent_s[i], flow.seq[i], ratio);
  }
  for (let i = lowerBound(flow.event_s, min); i < flow.event_s.length; i += 1) {
    if (flow.event_s[i] > max) break;
    const name = eventMark(flow.event[i], flow.truth[i]);
    if (name) mark(name, flow.event_s[i], flow.event_seq[i], ratio);
  }
  ctx.restore();
}

function eventMark(event, truth) {
  if (event === 0) return ["true", "false", "true", "spurious"][truth];
  return [null, "fast", "repair", null][event];
}

function drawAcks(ctx, flow, x, y, [min, max], ratio) {
  const { window_s: at, acked } = flow;
  ctx.beginPath();
  const begin = Math.max(0, lowerBound(at, min) - 1);
  let last = null;
  for (let i = begin; i < at.length && at[i] <= max; i += 1) {
    const level = y(acked[i] + 1);
    if (last === null) ctx.moveTo(x(at[i]), level);
    else if (level !== last) {
      ctx.lineTo(x(at[i]), last);
      ctx.lineTo(x(at[i]), level);
    }
    last = level;
  }
  if (last !== null) ctx.lineTo(x(max), last);
  ctx.strokeStyle = colours.cut;
  ctx.lineWidth = 1.2 * ratio;
  ctx.stroke();
}

/** Draws plain segments, and answers the rows of those with a mark. */
function drawSegments(ctx, flow, x, y, [min, max], ratio) {
  const { sent_s: sent, seq, flags } = flow;
  const size = 2.6 * ratio;
  const special = [];
  ctx.fillStyle = colours.first;
  for (let i = lowerBound(sent, min); i < sent.length && sent[i] <= max; i += 1) {
    if (flags[i]) special.push(i);
    else ctx.fillRect(x(sent[i]) - size / 2, y(seq[i]) - size / 2, size, size);
  }
  return special;
}

function stamp(ctx, name, left, top, ratio) {
  const [, colour, d, filled] = SHAPES[name];
  const turn = ctx.getTransform();
  ctx.translate(left, top);
  ctx.scale(ratio, ratio);
  const path = ctx.track?.(d) ?? PATHS[name];
  if (filled) {
    ctx.fillStyle = colours[colour];
    ctx.fill(path);
  } else {
    if (colour === "timeout") {
      ctx.fillStyle = colours.panel;
      ctx.fill(path);
    }
    ctx.strokeStyle = colours[colour];
    ctx.lineWidth = 1.7;
    ctx.stroke(path);
  }
  ctx.setTransform(turn);
}
