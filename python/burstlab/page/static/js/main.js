// Begins: what this page consists of, which part of it is seen, and what stands above both.

import { json } from "./data.js";
import { alone } from "./file.js";
import { Link } from "./link.js";
import { Play } from "./play.js";
import { startSaving } from "./save.js";
import { isLarge, setLarge, startTheme } from "./theme.js";
import { startTips } from "./tip.js";
import { Tour } from "./tour.js";
import { View } from "./view.js";

const element = (id) => document.getElementById(id);
const TABS = ["watch", "play"];

class Page {
  constructor(about) {
    this.about = about;
    this.link = new Link();
    this.link.know("run", "point", "scheme", "replication", "time", "speed", "flow", "fibre");
    this.link.know("from", "to", "preset", "step", "tab", "large");
    startTheme((large) => this.link.put({ large: large ? 1 : null }));
    this.view = new View(this.link);
    const both = about.play;
    this.play = both ? new Play(this.link, about.presets, (run) => this.watch(run)) : null;
    this.tour = new Tour(this.link, about.steps, (state) => this.apply(state));
    this.started = { watch: false, play: false };
    element("tabs").hidden = !both;
    for (const tab of TABS) {
      element(`tab-${tab}`).addEventListener("click", () => this.turn(tab));
    }
    this.fillRuns(about.runs);
    this.link.onChange = () => this.open();
    element("reset").addEventListener("click", () => this.reset());
    element("help-open").addEventListener("click", () => element("help").showModal());
    startSaving(this);
  }

  fillRuns(runs) {
    element("runs").hidden = !runs.length;
    for (const { key, label, group } of runs) {
      let part = [...element("run").children].find((one) => one.label === group);
      if (!part) {
        part = Object.assign(document.createElement("optgroup"), { label: group });
        element("run").append(part);
      }
      part.append(new Option(label, key));
    }
  }

  get tab() {
    return document.body.dataset.tab;
  }

  /** Shows a part of the page, without asking for what it shows. */
  seen(tab) {
    document.body.dataset.tab = tab;
    element("watch").hidden = tab !== "watch";
    element("play-page").hidden = tab !== "play";
    element("runs").hidden = tab !== "watch" || !this.about.runs.length;
    element("study").hidden = tab !== "watch" || !this.view.about?.study;
    for (const one of TABS) {
      element(`tab-${one}`).setAttribute("aria-pressed", String(one === tab));
    }
  }

  /** Turns to a part of the page, which begins if it has not yet. */
  async turn(tab) {
    if (tab === this.tab) return;
    // The run of the sliders is the one to watch.
    if (this.about.kind === "play" && tab === "watch") {
      await this.watch(this.play.key("burst"));
      return;
    }
    this.link.clear(["large"]);
    this.link.put({ tab });
    await this.begin(tab);
  }

  async begin(tab) {
    this.seen(tab);
    if (this.started[tab]) {
      if (tab === "watch") this.view.redraw();
      else this.play.drawFlows();
      element("title").textContent = tab === "watch"
        ? this.view.about.title : `play · ${this.play.title}`;
      if (tab === "watch") this.view.keep();
      return;
    }
    this.started[tab] = true;
    if (tab === "watch") await this.view.show(this.view.asked());
    else await this.play.start();
  }

  /** Puts the page into a state of the tour. */
  async apply({ tab, run, ...state }) {
    this.seen(tab);
    this.started[tab] = true;
    this.link.put({ tab });
    if (tab === "play") await this.play.start("");
    else await this.view.show({ run }, state);
  }

  /** Watches a run that was played. */
  async watch(run) {
    this.link.clear(["large"]);
    this.link.put({ tab: "watch" });
    this.seen("watch");
    this.started.watch = true;
    await this.view.show({ run }).catch((error) => this.fail(error));
  }

  /** Shows what the address says. */
  async open() {
    const { link, about } = this;
    setLarge(link.word("large", ["1"]) === "1");
    const kinds = about.play ? TABS : ["watch"];
    const tab = link.word("tab", kinds) ?? (about.kind === "play" ? "play" : "watch");
    const step = about.steps ? link.number("step", 1, about.steps) : null;
    const more = [...link.values.keys()].some((name) => !["step", "large"].includes(name));
    const bare = !link.values.size || (link.values.size === 1 && isLarge());
    if (about.steps && (step !== null || bare) && !more) {
      await this.tour.go(step ?? 1);
    } else {
      this.seen(tab);
      this.started[tab] = true;
      if (tab === "play") await this.play.start();
      else await this.view.show(this.view.asked());
      if (step !== null) await this.tour.go(step, { state: false });
    }
    if (this.play && tab === "play") for (const name of this.play.names()) link.know(name);
    link.tell(element("wrong"));
  }

  async reset() {
    element("wrong").hidden = true;
    setLarge(false);
    if (this.tour.number !== null) await this.tour.go(this.tour.number);
    else if (this.tab === "watch") await this.view.reset();
    else await this.play.reset();
  }

  fail(error) {
    element("facts").textContent = error.message;
    document.body.dataset.ready = "no";
  }
}

document.body.classList.toggle("in-file", alone);
startTips();
try {
  const page = new Page(await json("page"));
  window.burstlab = page;
  await page.open();
  document.body.dataset.ready = "yes";
} catch (error) {
  element("facts").textContent = error.message;
  document.body.dataset.ready = "no";
  throw error;
}
