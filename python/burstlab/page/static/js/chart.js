// Charts over time with uPlot: one of segments, one of the window; they zoom and scroll together.

import { drawFlow } from "./marks.js";
import { colours } from "./theme.js";

const FONT = "12px Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";
const COUNT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });

/** What uPlot calls for the words at an axis. */
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

class Chart {
  constructor(place, stretch, title, unit) {
    this.unit = unit;
    this.place = place;
    this.stretch = stretch;
    this.title = title;
    this.plot = null;
    this.top = null;
    this.onSeek = () => {};
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
    const axis = () => ({
      stroke: colours.muted,
      font: FONT,
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
          { ...axis(), size: 30, values: written((value) => `${+value.toFixed(7)} s`) },
          { ...axis(), ...this.label(), size: 46, values: written(COUNT.format) },
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
    this.plot.over.addEventListener("dblclick", () => this.stretch.showWhole());
  }

  /** The whole run from 0 on, as high as its neighbour; a closer look as its segments need. */
  heights(low, high) {
    const room = Math.max(1, high - low) * 0.06;
    if (this.closer && !this.stretch.isWhole()) return [Math.max(0, low - room), high + room];
    return [0, (this.top ?? high) * 1.06 || 1];
  }

  label() {
    return { label: this.unit, labelFont: FONT, labelSize: 18, labelGap: 2 };
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
    const hidden = { paths: () => null, points: { show: false } };
    this.draw([flow.sent_s, flow.seq], [hidden], { draw: [(plot) => drawFlow(plot, flow)] });
  }
}

/** cwnd and ssthresh against time. */
export class WindowChart extends Chart {
  setFlow(flow) {
    const paths = uPlot.paths.stepped({ align: 1 });
    const points = { show: false };
    const threshold = {
      stroke: colours.muted, width: 1.2, dash: [4, 4], paths, points, auto: false,
    };
    const window = { stroke: colours.first, width: 1.6, paths, points };
    this.draw([flow.window_s, flow.ssthresh, flow.cwnd], [threshold, window]);
  }
}
