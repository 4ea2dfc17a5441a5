// The page to play with: each move of a control reruns the path twice, and the later answer wins.

import { SequenceChart, Stretch, WindowChart } from "./chart.js";
import { Controls, NAMES } from "./controls.js";
import { columns, json } from "./data.js";
import { legend } from "./marks.js";
import { onTheme, startTheme } from "./theme.js";

const element = (id) => document.getElementById(id);
const COUNTED = [
  ["false time-outs", "false_timeouts"],
  ["true", "true_timeouts"],
  ["spurious", "spurious_timeouts"],
  ["sent again", "retransmissions"],
  ["fast", "fast_retransmits"],
];
const RUNS = 20;
const SIDES = ["plain", "burst"];

class Play {
  constructor(about) {
    element("title").textContent = `play · ${about.title}`;
    legend(element("marks"));
    this.stretch = new Stretch();
    this.sides = SIDES.map((name) => this.side(name));
    this.controls = new Controls(element("controls"), about.controls, () => this.ask());
    this.busy = false;
    this.asked = null;
    this.found = null;
    this.latencies = [];
    element("copy").addEventListener("click", () => copy(element("toml").textContent));
    element("save").addEventListener("click", () => save(element("toml").textContent));
    onTheme(() => this.found && this.drawFlows());
  }

  side(name) {
    const panel = document.createElement("section");
    panel.className = "panel";
    panel.id = name;
    const title = document.createElement("h2");
    title.id = `${name}-name`;
    panel.setAttribute("aria-labelledby", title.id);
    const numbers = document.createElement("dl");
    numbers.className = "numbers";
    const [sequence, window] = ["sequence", "window"].map((kind) => {
      const place = document.createElement("div");
      place.className = `chart ${kind}`;
      return place;
    });
    panel.append(title, numbers, sequence, window);
    element("pair").append(panel);
    return {
      title,
      numbers,
      sequence: new SequenceChart(sequence, this.stretch, "Segments against time", "segment"),
      window: new WindowChart(window, this.stretch, "Window against time", "window"),
    };
  }

  /** Reruns; what is asked for meanwhile waits, and only the last of it is run. */
  async ask() {
    this.asked = performance.now();
    if (this.busy) return;
    this.busy = true;
    document.body.classList.add("busy");
    while (this.asked !== null) {
      const began = this.asked;
      this.asked = null;
      try {
        this.show(await columns("play", this.controls.values), began);
      } catch (error) {
        const gone = error instanceof TypeError;
        this.complain(gone ? "Nothing answers: burstlab play has ended." : error.message);
      }
    }
    this.busy = false;
    document.body.classList.remove("busy");
    this.askSeveral();
  }

  /** Asks what many runs say, a few at a time, as long as nothing is moved. */
  async askSeveral() {
    const values = { ...this.controls.values };
    const query = this.controls.query();
    for (let runs = 4; runs <= RUNS; runs += 4) {
      await new Promise((resolve) => { setTimeout(resolve, runs === 4 ? 300 : 0); });
      if (this.busy || query !== this.controls.query()) return;
      const found = await json("several", { ...values, runs }).catch(() => null);
      if (this.busy || query !== this.controls.query() || !found || found.error) return;
      if (found.gain === null) return;
      element("gain").textContent =
        `${percent(found.gain)} ± ${(found.interval * 100).toFixed(0)} %`;
      element("why").textContent =
        `goodput with Burst TCP, over ${runs} runs that lose other bursts (95 % interval)`;
    }
    document.body.dataset.several = query;
  }

  show(found, began) {
    if (found.error) {
      this.complain(found.error);
      return;
    }
    element("error").hidden = true;
    this.found = found;
    this.drawNumbers();
    this.drawFlows();
    element("toml").textContent = found.about.toml;
    element("command").textContent =
      "burstlab run play.toml --trace bursts,packets,cwnd,ledger --out played\n"
      + "burstlab run play.toml --set tcp.detector=none\n"
      + "burstlab view played";
    const took = performance.now() - began;
    this.latencies.push(took);
    element("took").textContent =
      `two runs of ${found.about.end_s} s, from the slider to the screen in ${Math.round(took)} ms`;
    document.body.dataset.drawn = String(this.latencies.length);
  }

  complain(message) {
    element("error").textContent = message;
    element("error").hidden = false;
  }

  drawNumbers() {
    const { runs } = this.found.about;
    const variant = NAMES[this.controls.values.variant] ?? this.controls.label("variant");
    const detector = NAMES[this.controls.values.detector] ?? this.controls.label("detector");
    const names = [variant, `Burst TCP: ${variant} with ${detector}`];
    const [plain, burst] = runs.map((run) => run.goodput_bps);
    const gain = percent(plain > 0 ? burst / plain - 1 : 0);
    element("gain").textContent = gain;
    element("why").textContent = "goodput with Burst TCP in one run; more are on their way";
    element("one").textContent = `${gain} in the run below`;
    element("bars").replaceChildren(
      bar(variant, plain, Math.max(plain, burst), "var(--muted)"),
      bar("Burst TCP", burst, Math.max(plain, burst), "var(--first)"),
    );
    for (const [index, side] of this.sides.entries()) {
      side.title.textContent = names[index];
      side.numbers.replaceChildren(...COUNTED.flatMap(([text, name]) => {
        const [term, value] = [document.createElement("dt"), document.createElement("dd")];
        term.textContent = text;
        value.textContent = runs[index][name].toLocaleString("en");
        value.dataset.counted = name;
        return [term, value];
      }));
    }
  }

  drawFlows() {
    const { end_s: end } = this.found.about;
    if (this.stretch.whole[1] !== end) this.stretch.range = [0, end];
    this.stretch.whole = [0, end];
    const flows = SIDES.map((_, index) => side(this.found, `${index}/`));
    // One scale for both, or they could not be compared.
    const segments = Math.max(1, ...flows.map((flow) => highest(flow.seq)));
    const window = Math.max(1, ...flows.map((flow) => highest(flow.cwnd)));
    for (const [index, flow] of flows.entries()) {
      const { sequence, window: chart } = this.sides[index];
      sequence.top = segments;
      chart.top = window;
      sequence.setFlow(flow);
      chart.setFlow(flow);
    }
  }
}

function side(found, prefix) {
  const names = Object.keys(found).filter((name) => name.startsWith(prefix));
  return Object.fromEntries(names.map((name) => [name.slice(prefix.length), found[name]]));
}

function highest(values) {
  return values.reduce((a, b) => Math.max(a, b), 0);
}

function percent(share) {
  return `${share >= 0 ? "+" : "−"}${Math.abs(share * 100).toFixed(1)} %`;
}

function rate(bps) {
  const [scale, unit] = bps >= 1e6 ? [1e6, "Mb/s"] : [1e3, "kb/s"];
  return `${(bps / scale).toFixed(2)} ${unit}`;
}

function bar(name, value, most, colour) {
  const space = "http://www.w3.org/2000/svg";
  const line = document.createElement("div");
  const label = document.createElement("span");
  label.textContent = name;
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("aria-hidden", "true");
  const rect = document.createElementNS(space, "rect");
  rect.setAttribute("height", "16");
  rect.setAttribute("rx", "4");
  rect.setAttribute("width", `${most > 0 ? (value / most) * 100 : 0}%`);
  rect.style.fill = colour;
  svg.append(rect);
  const number = document.createElement("b");
  number.textContent = rate(value);
  line.append(label, svg, number);
  return line;
}

async function copy(text) {
  await navigator.clipboard.writeText(text);
  element("copy").textContent = "Copied";
  setTimeout(() => { element("copy").textContent = "Copy"; }, 1500);
}

function save(text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/toml" }));
  link.download = "play.toml";
  link.click();
  URL.revokeObjectURL(link.href);
}

startTheme();
const play = new Play(await json("about"));
window.burstlab = play;
await play.ask();
document.body.dataset.ready = "yes";
