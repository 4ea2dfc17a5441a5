// The page to play with: each move of a control reruns the path many times with and without a
// detector, and the later answer wins.

import { bars, percent } from "./bars.js";
import { Stretch } from "./chart.js";
import { Controls, NAMES } from "./controls.js";
import { columns, json } from "./data.js";
import { alone } from "./file.js";
import { legend } from "./marks.js";
import { Side } from "./side.js";
import { onTheme } from "./theme.js";

const element = (id) => document.getElementById(id);
const SIDES = ["plain", "burst"];
const MORE = 4; // runs more in each question for the rest of them

export class Play {
  /** `watch` shows a run of the key that it is given. */
  constructor(link, presets, watch) {
    this.link = link;
    this.preset = "";
    legend(element("play-marks"));
    this.stretch = new Stretch();
    this.sides = SIDES.map((name) => new Side(name, element("pair"), this.stretch, (side) => {
      watch(this.key(side));
    }));
    this.controls = new Controls(element("controls"), link, () => this.ask());
    this.busy = false;
    this.asked = null;
    this.found = null;
    this.latencies = [];
    this.choosePresets(presets);
    for (const name of SIDES) element(`watch-${name}`).hidden = alone;
    element("copy").addEventListener("click", () => copy(element("toml").textContent));
    element("save-toml").addEventListener("click", () => save(element("toml").textContent));
    onTheme(() => this.found && !element("play-page").hidden && this.drawFlows());
  }

  choosePresets(presets) {
    element("presets").hidden = !presets.length;
    const place = element("preset");
    place.add(new Option("as it was started", ""));
    for (const { key, label, group } of presets) {
      let part = [...place.children].find((one) => one.label === group);
      if (!part || part.tagName !== "OPTGROUP") {
        part = Object.assign(document.createElement("optgroup"), { label: group });
        place.append(part);
      }
      part.append(new Option(label, key));
    }
    this.presets = presets.map(({ key }) => key);
    place.addEventListener("change", () => {
      this.link.clear(["tab", "large"]);
      this.start(place.value);
    });
  }

  /** Begins with a preset, or with what the address says. */
  async start(preset = this.link.word("preset", this.presets) ?? "") {
    const about = await json("controls", { preset });
    this.preset = preset;
    element("preset").value = preset;
    element("title").textContent = `play · ${about.title}`;
    document.title = `${about.title} · Burstlab`;
    element("played-note").textContent = about.note;
    element("played-note").hidden = !about.note;
    this.link.put({ preset: preset || null });
    this.controls.set(about.controls);
    this.title = about.title;
    this.stretch.range = this.stretch.whole;
    await this.ask();
  }

  /** Names that an address may have for it. */
  names() {
    return this.controls.controls.map(({ name }) => name);
  }

  /** The key of the run of a side, to watch it. */
  key(side) {
    return `${side}?${new URLSearchParams(this.wanted())}`;
  }

  wanted() {
    return { ...this.controls.values, ...(this.preset ? { preset: this.preset } : {}) };
  }

  /** As it was at the beginning. */
  async reset() {
    this.link.clear(["tab"]);
    await this.start("");
  }

  /** Reruns; requests during a run wait, and only the last of them is run. */
  async ask() {
    this.asked = performance.now();
    if (this.busy) return;
    this.busy = true;
    document.body.classList.add("busy");
    while (this.asked !== null) {
      const began = this.asked;
      this.asked = null;
      try {
        this.show(await columns("play", this.wanted()), began);
      } catch (error) {
        const gone = error instanceof TypeError;
        this.complain(gone ? "Nothing answers: the command has ended." : error.message);
      }
    }
    this.busy = false;
    document.body.classList.remove("busy");
    this.askSeveral();
  }

  /** Asks for the runs that an answer had no time for, a few at a time, while nothing is moved. */
  async askSeveral() {
    const wanted = this.wanted();
    const query = new URLSearchParams(wanted).toString();
    const same = () => !this.busy && query === new URLSearchParams(this.wanted()).toString();
    const { runs = 0, most = 0 } = this.found?.about ?? {};
    for (let count = runs; count < most;) {
      count = Math.min(most, count + MORE);
      await new Promise((resolve) => { setTimeout(resolve, count === runs + MORE ? 300 : 0); });
      if (!same()) return;
      const found = await json("several", { ...wanted, runs: count }).catch(() => null);
      if (!same() || !found || found.error) return;
      this.drawNumbers({ ...this.found.about, ...found });
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
    this.drawNumbers(found.about);
    this.drawFlows();
    element("toml").textContent = found.about.toml;
    const run = ["burstlab run play.toml", found.about.flag].filter(Boolean).join(" ");
    element("command").textContent =
      `${run} --trace bursts,packets,cwnd,ledger --out played\n`
      + `${run} --set tcp.detector=none\n`
      + "burstlab view played";
    this.latencies.push(performance.now() - began);
    document.body.dataset.drawn = String(this.latencies.length);
  }

  complain(message) {
    element("error").textContent = message;
    element("error").hidden = false;
  }

  /** The headline and the bars, which are of the same runs, and what is to be said of them. */
  drawNumbers(about) {
    const { runs, sides, gain, interval, drawn } = about;
    const variant = this.controls.label("variant") || "TCP";
    const detector = this.controls.label("detector") || NAMES.bnak;
    element("gain").textContent = gain === null ? "" : percent(gain, interval);
    const more = runs < about.most ? `, of ${about.most} that are being run` : "";
    element("why").textContent = gain === null
      ? "Nothing arrives in these runs."
      : `goodput with Burst TCP, over ${runs} pairs of runs (95 % interval)${more}; `
        + `${this.found.about.paired}`;
    bars(element("bars"), sides.map(({ goodput_bps: mean, goodput_ci95: half }, side) => ({
      name: side ? "Burst TCP" : variant,
      mean,
      half,
      colour: side ? "var(--first)" : "var(--muted)",
    })));
    const [plain, burst] = drawn.map((one) => one.goodput_bps);
    const one = plain > 0 ? `, with a gain of ${percent(burst / plain - 1)}` : "";
    element("took").textContent =
      `Below is the first of the ${runs} pairs${one}. Each run simulates ${about.end_s} s.`;
    element("spread").textContent = about.spread;
    element("spread").hidden = !about.spread;
    this.drawJudged(about.judged, drawn[1].early_repairs, detector);
    const names = [variant, `Burst TCP: ${variant} with ${detector}`];
    for (const [index, side] of this.sides.entries()) {
      side.title.textContent = names[index];
      side.count(drawn[index]);
    }
  }

  /** Says which time-outs of the run below were recognised, and which losses repaired. */
  drawJudged(judged, repairs, detector) {
    const kinds = ["false", "true"].filter((kind) => judged[kind]);
    element("judged").hidden = !kinds.length && !repairs;
    const found = kinds.map((kind) => (
      `${judged[`${kind}_recognised`]} of ${judged[kind]} ${kind} time-outs`
    ));
    const early = `${repairs === 1 ? "1 loss was" : `${repairs} losses were`} repaired early`;
    element("judged").textContent =
      `In the run below Burst TCP (${detector}) `
      + (found.length ? `recognised ${found.join(" and ")}` : "had no false or true time-out")
      + `${repairs ? `; ${early}.` : "."}`;
  }

  drawFlows() {
    const { end_s: end } = this.found.about;
    if (this.stretch.whole[1] !== end) this.stretch.range = [0, end];
    this.stretch.whole = [0, end];
    const flows = SIDES.map((_, index) => side(this.found, `${index}/`));
    // One scale for both, or they could not be compared.
    const highest = (name) => Math.max(1, ...flows.map((flow) => largest(flow[name])));
    const tops = {
      sequence: highest("seq"), window: highest("cwnd"), bursts: highest("packets"),
    };
    for (const [index, parts] of this.sides.entries()) {
      for (const [name, top] of Object.entries(tops)) parts[name].top = top;
      parts.draw(flows[index]);
    }
  }
}

function side(found, prefix) {
  const names = Object.keys(found).filter((name) => name.startsWith(prefix));
  return Object.fromEntries(names.map((name) => [name.slice(prefix.length), found[name]]));
}

function largest(column) {
  return column.reduce((most, value) => Math.max(most, value), 0);
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
