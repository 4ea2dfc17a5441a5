// Charts over time with uPlot: one of segments, one of the window; they zoom and scroll together.

import { lowerBound, seconds } from "./data.js";
import { drawFlow, eventLines, segmentLines } from "./marks.js";
import { pointed } from "./point.js";
import { colours, font, type } from "./theme.js";

const NEAR = 12; // pixels between the pointer and what it means
const COUNT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });

/** The function that uPlot calls for the labels of an axis. */
function written(format) {
  return (_, splits) => splits.map((value) => format(value));
}

/** Charts that show the same stretch of time. */
export class Stretch {
  constructor() {
    this.charts = [];
    this.range = [0, 1];
    this.whole = [0, 1];
    this.onChange = () => {};
  }

  /** Shows a stretch of time everywhere. */
  show(begin, end) {
    this.range = [begin, end];
    for (const chart of this.charts) chart.plot?.setScale("x", { min: begin, max: end });
    this.onChange(this.isWhole());
  }

  isWhole() {
    return this.range[0] <= this.whole[0] && this.range[1] >= this.whole[1];
  }

  showWhole() {
    this.show(...this.whole);
  }

  /** Turns the page where a time is outside. */
  follow(time) {
    const [begin, end] = this.range;
    const span = end - begin;
    if (time >= begin && time <= end - span * 0.02) return;
    if (this.isWhole()) return;
    const last = Math.max(this.whole[0], this.whole[1] - span);
    const from = Math.min(Math.max(time - span * 0.1, this.whole[0]), last);
    this.show(from, from + span);
  }
}

export class Chart {
  constructor(place, stretch, title, unit) {
    this.unit = unit;
    this.place = place;
    this.stretch = stretch;
    this.title = title;
    this.plot = null;
    this.top = null;
    this.onSeek = () => {};
    this.hooks = {};
    this.head = document.createElement("div");
    this.head.className = "playhead";
    this.head.hidden = true;
    stretch.charts.push(this);
    new ResizeObserver(() => this.plot?.setSize(this.size())).observe(place);
  }

  size() {
    return { width: this.place.clientWidth, height: this.place.clientHeight };
  }

  /** Draws anew; `series` are those of uPlot, `hooks` what is drawn over them. */
  draw(data, series, hooks = {}) {
    this.plot?.destroy();
    this.hooks = hooks;
    const axis = () => ({
      stroke: colours.soft,
      font: font(),
      grid: { stroke: colours.grid, width: 1 },
      ticks: { stroke: colours.grid, width: 1, size: 4 },
    });
    const [min, max] = this.stretch.range;
    this.plot = new uPlot(
      {
        ...this.size(),
        legend: { show: false },
        cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false }, y: false },
        scales: {
          x: { time: false, min, max, auto: false },
          y: { range: (_, low, high) => this.heights(low ?? 0, high ?? 1) },
        },
        axes: [
          {
            ...axis(),
            size: 14 + 16 * type.scale,
            space: 64 * type.scale,
            values: written((value) => `${+value.toFixed(7)} s`),
          },
          {
            ...axis(), ...this.label(), size: 14 + 32 * type.scale, space: 30 * type.scale,
            values: written(COUNT.format),
          },
        ],
        series: [{}, ...series],
        hooks: { ...hooks, setSelect: [(plot) => this.zoom(plot)] },
      },
      data,
      this.place,
    );
    this.plot.root.setAttribute("role", "img");
    this.plot.root.setAttribute("aria-label", this.title);
    this.plot.over.append(this.head);
    this.plot.over.addEventListener("click", (event) => this.seek(event));
    pointed(this.plot.over, (x, y) => this.about(x, y));
    this.plot.over.addEventListener("dblclick", () => this.stretch.showWhole());
  }

  /** The whole run from 0 on, as high as its neighbour; a closer look as its segments need. */
  heights(low, high) {
    const room = Math.max(1, high - low) * 0.06;
    if (this.closer && !this.stretch.isWhole()) return [Math.max(0, low - room), high + room];
    return [0, (this.top ?? high) * 1.06 || 1];
  }

  label() {
    return {
      label: this.unit, labelFont: font(), labelSize: 4 + 14 * type.scale, labelGap: 2,
    };
  }

  /** Lines about what lies at a place of the chart, or nothing. */
  about() {
    return null;
  }

  /** The row of the nearest of some points, in pixels, among those about a time. */
  nearest(times, values, x, y, near = NEAR) {
    const { plot } = this;
    const [from, to] = [plot.posToVal(x - near, "x"), plot.posToVal(x + near, "x")];
    let best = { row: -1, far: near };
    for (let i = lowerBound(times, from); i < times.length && times[i] <= to; i += 1) {
      const far = Math.hypot(
        plot.valToPos(times[i], "x") - x, plot.valToPos(values[i], "y") - y,
      );
      if (far < best.far) best = { row: i, far };
    }
    return best.row;
  }

  zoom(plot) {
    const { left, width } = plot.select;
    if (width > 4) this.stretch.show(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoomed = width > 4;
  }

  seek(event) {
    const { left } = this.plot.over.getBoundingClientRect();
    if (!this.zoomed) this.onSeek(this.plot.posToVal(event.clientX - left, "x"));
    this.zoomed = false;
  }

  /** Puts the line of the present. */
  setHead(time) {
    if (!this.plot) return;
    const [begin, end] = this.stretch.range;
    this.head.hidden = time < begin || time > end;
    this.head.style.transform = `translateX(${this.plot.valToPos(time, "x")}px)`;
  }
}

/** Segments against time. */
export class SequenceChart extends Chart {
  closer = true;

  setFlow(flow) {
    this.flow = flow;
    const hidden = { paths: () => null, points: { show: false } };
    this.draw([flow.sent_s, flow.seq], [hidden], { draw: [(plot) => drawFlow(plot, flow)] });
  }

  about(x, y) {
    const { flow } = this;
    const event = this.nearest(flow.event_s, flow.event_seq, x, y);
    if (event >= 0) return eventLines(flow, event);
    const segment = this.nearest(flow.sent_s, flow.seq, x, y);
    return segment >= 0 ? segmentLines(flow, segment) : null;
  }
}

/** cwnd and ssthresh against time. */
export class WindowChart extends Chart {
  setFlow(flow) {
    this.flow = flow;
    const paths = uPlot.paths.stepped({ align: 1 });
    const points = { show: false };
    const threshold = {
      stroke: colours.soft, width: 1.2, dash: [4, 4], paths, points, auto: false,
    };
    const window = { stroke: colours.first, width: 1.6, paths, points };
    this.draw([flow.window_s, flow.ssthresh, flow.cwnd], [threshold, window]);
  }

  about(x) {
    const { window_s: at, cwnd, ssthresh } = this.flow;
    const time = this.plot.posToVal(x, "x");
    const row = lowerBound(at, time) - 1;
    if (row < 0) return null;
    return [
      `cwnd ${+cwnd[row].toFixed(2)} segments`,
      `ssthresh ${+ssthresh[row].toFixed(2)} segments`,
      `since ${seconds(at[row], 1e-5)}`,
    ];
  }
}
