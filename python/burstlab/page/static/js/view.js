// A run over time: the network, a fibre's wavelengths and a flow, at one present.

import { Bursts } from "./bursts.js";
import { SequenceChart, Stretch, WindowChart } from "./chart.js";
import { ChosenBurst } from "./chosen.js";
import { columns, json } from "./data.js";
import { Gantt } from "./gantt.js";
import { legend, windowLegend } from "./marks.js";
import { NetworkView } from "./network.js";
import { pointed } from "./point.js";
import { Spared } from "./spared.js";
import { ending } from "./telling.js";
import { onTheme } from "./theme.js";
import { SPEEDS, Transport } from "./transport.js";

const counted = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const element = (id) => document.getElementById(id);
const RUN = ["run", "point", "scheme", "replication"];
const ENDED = "Nothing answers any more: the command has ended.";

export class View {
  constructor(link) {
    this.link = link;
    this.about = null;
    this.transport = new Transport();
    this.network = new NetworkView(element("fibres"), element("bursts"));
    this.gantt = new Gantt(element("gantt"));
    this.stretch = new Stretch();
    this.sequence = new SequenceChart(
      element("sequence"), this.stretch, "Segments against time", "segment",
    );
    this.window = new WindowChart(
      element("window"), this.stretch, "Window against time", "segments",
    );
    this.spared = new Spared(this);
    this.chosen = new ChosenBurst(this);
    this.frames = [];
    this.drawnTime = null;
    legend(element("marks"));
    windowLegend(element("window-marks"));
    this.connect();
    requestAnimationFrame((now) => this.frame(now, now));
  }

  connect() {
    element("fibre").addEventListener("change", () => {
      this.setFibre(element("fibre").selectedIndex);
    });
    element("flow").addEventListener("change", () => this.setFlow(element("flow").value));
    element("whole").addEventListener("click", () => this.stretch.showWhole());
    this.network.onFibre = (index) => this.setFibre(index);
    for (const part of [this.network, this.gantt]) {
      part.onBurst = (found, row) => this.chosen.choose(found, row);
    }
    pointed(element("bursts"), (x, y) => this.about && this.network.about(x, y));
    pointed(element("gantt"), (x, y) => this.about && this.gantt.about(this.about.network, x, y));
    this.transport.onLoss = (burst) => {
      this.wanted = burst;
      this.showWhere();
    };
    this.transport.onWhole = () => this.stretch.showWhole();
    this.transport.onRest = () => this.keep();
    this.stretch.onChange = (whole) => {
      element("whole").disabled = whole;
      this.transport.changed = true;
      this.keep();
    };
    for (const chart of [this.sequence, this.window]) {
      chart.onSeek = (time) => this.transport.seek(time);
    }
    onTheme(() => this.redraw());
    for (const canvas of ["fibres", "gantt", "overview"]) {
      new ResizeObserver(() => this.redraw()).observe(element(canvas));
    }
    for (const name of RUN) {
      element(name).addEventListener("change", () => this.other(name, element(name).value));
    }
  }

  /** Another run is wanted: of a study, or of those that the page has. */
  other(name, value) {
    const wanted = { ...this.choice, [name]: value };
    // Another point may have fewer.
    if (name !== "replication" && "replication" in wanted) wanted.replication = 0;
    this.link.clear(["tab", "large"]);
    this.show(wanted).catch((error) => this.say(error.message));
  }

  /** Which run the address means; the rest of it is of that run. */
  asked() {
    const names = RUN.filter((name) => this.link.text(name) !== null);
    return Object.fromEntries(names.map((name) => [name, this.link.text(name)]));
  }

  /** Shows a run, and of it what the address says, unless another state is given. */
  async show(choice, state = {}) {
    const same = this.about && JSON.stringify(choice) === JSON.stringify(this.choice);
    if (!same) {
      document.body.classList.add("busy");
      element("facts").textContent = "Running, or reading ...";
      const both = [json("about", choice), columns("losses", choice)];
      const [about, losses] = await Promise.all(both).finally(() => {
        document.body.classList.remove("busy");
      });
      this.settled = false;
      this.begin(choice, about, losses);
      this.link.put({ ...Object.fromEntries(RUN.map((name) => [name, null])), ...choice });
    }
    await this.restore(state);
  }

  begin(choice, about, losses) {
    this.choice = choice;
    this.about = about;
    this.transport.setRun({ end: about.end_s, speed: about.speed, losses });
    about.network.why = (burst) => why(losses, burst);
    this.network.setNetwork(about.network);
    this.gantt.lane = ending(about.network, losses.about?.causes ?? []);
    this.gantt.carrier = new Set();
    this.bursts = new Bursts(about.end_s, choice, () => {
      this.transport.changed = true;
      this.showWhere();
    }, () => this.say(ENDED));
    this.stretch.whole = [0, about.end_s];
    this.flow = null;
    this.wanted = losses.burst[0] ?? null;
    const { classList } = document.body;
    classList.toggle("path", about.network.path);
    classList.toggle("alone", !about.flows.length);
    this.chosen.choose();
    this.describe();
  }

  describe() {
    const { about } = this;
    const { fibres, nodes, path, slots } = about.network;
    element("title").textContent = about.title;
    document.title = `${about.title} · Burstlab`;
    element("facts").textContent = [
      counted(nodes.length, "node"), counted(about.flows.length, "flow"), `${about.end_s} s`,
      `seed ${about.seed}`, `fingerprint ${about.fingerprint}`, about.note,
    ].filter(Boolean).join(" · ");
    element("legend-others").hidden = path || slots;
    element("gantt-name").textContent = slots ? "Slots" : "Wavelengths";
    element("gantt-name").dataset.term = slots ? "slot" : "wavelength";
    if (about.study) this.describeStudy(about.study);
    element("run").value = this.choice.run ?? element("run").value;
    const directed = ({ from, to }) => `${nodes[from].name} → ${nodes[to].name}`;
    element("fibre").replaceChildren(...fibres.map((fibre, index) => {
      const used = fibre.used === null ? "" : `, ${Math.round(fibre.used * 100)} % used`;
      return new Option(`${directed(fibre)}${used}`, index);
    }));
    element("flow").replaceChildren(...about.flows.map((flow) => {
      const outs = counted(flow.timeouts, "time-out");
      return new Option(`${flow.id}: ${flow.label}, ${outs}, ${flow.false} false`, flow.id);
    }));
    element("missing").hidden = true;
    if (about.missing.length) {
      const all = about.record ? ` To have it all: ${about.record}` : "";
      this.say(`Not recorded: ${about.missing.join(", ")}.${all}`);
    }
  }

  /** Lets another run of the study be chosen; it is made again. */
  describeStudy({ points, schemes, replications, chosen }) {
    element("study").hidden = false;
    element("point").replaceChildren(...points.map(({ point, told: set }) => (
      new Option(set ? `${point}: ${set}` : `${point}`, point)
    )));
    element("scheme").replaceChildren(...schemes.map((scheme) => new Option(scheme, scheme)));
    const numbers = Array.from({ length: replications }, (_, n) => new Option(n, n));
    element("replication").replaceChildren(...numbers);
    element("scheme").parentElement.hidden = !schemes.length;
    for (const name of ["point", "scheme", "replication"]) element(name).value = chosen[name];
    this.choice = { ...chosen };
  }

  say(text) {
    element("missing").hidden = false;
    element("missing").textContent = text;
  }

  /** Puts the page into the state of the address, over which another one goes. */
  async restore(state) {
    const { about, link, transport } = this;
    const first = !this.settled;
    // The state is set piece by piece, and written to the address only when it is complete.
    this.settled = false;
    const values = Object.entries(state);
    for (const [name, value] of values) link.values.set(name, String(value));
    const speed = link.number("speed", SPEEDS[0], SPEEDS.at(-1));
    transport.setSpeed(speed ?? about.speed);
    const fibre = link.number("fibre", 0, about.network.fibres.length - 1);
    const flow = link.word("flow", about.flows.map(({ id }) => id));
    const time = link.number("time", 0, about.end_s);
    const [from, to] = [link.number("from", 0, about.end_s), link.number("to", 0, about.end_s)];
    const part = from !== null && to !== null && from < to;
    this.stretch.show(...(part ? [from, to] : this.stretch.whole));
    if (time !== null) transport.seek(time);
    else if (first || values.length) transport.toStart();
    const { fibres } = about.network;
    const busiest = fibres.reduce((a, b, i) => ((b.used ?? 0) > (fibres[a].used ?? 0) ? i : a), 0);
    const { wanted } = this;
    if (fibre !== null || first) this.setFibre(fibre ?? busiest);
    this.wanted = fibre === null ? this.firstAfter(wanted) : null;
    this.showWhere();
    this.settled = true;
    if (about.flows.length) await this.setFlow(flow ?? String(about.flows[0].id));
    this.keep();
  }

  /** The burst that dies next; the fibre where it dies is chosen. */
  firstAfter(otherwise) {
    const { t_s: at, burst } = this.transport.losses;
    const place = at.findIndex((time) => time >= this.transport.time);
    return place >= 0 ? burst[place] : otherwise;
  }

  /** Lets the address say what is seen. */
  keep() {
    if (!this.settled || this.transport.playing) return;
    const { transport, stretch } = this;
    const whole = stretch.isWhole();
    const digits = (value) => +value.toPrecision(9);
    this.link.put({
      ...this.choice,
      time: digits(transport.time),
      speed: transport.speed === transport.usual ? null : transport.speed,
      flow: this.chosenFlow ?? null,
      fibre: this.gantt.fibre,
      from: whole ? null : digits(stretch.range[0]),
      to: whole ? null : digits(stretch.range[1]),
    });
  }

  setFibre(index) {
    element("fibre").selectedIndex = index;
    this.network.chosen = index;
    this.wanted = null;
    this.gantt.fibre = index;
    this.gantt.wavelengths = this.about.network.fibres[index].wavelengths;
    this.redraw();
    this.keep();
  }

  async setFlow(number) {
    this.chosenFlow = String(number);
    element("flow").value = number;
    if (this.shownFlow === this.chosenFlow && this.flow) return;
    document.body.classList.add("busy");
    const { choice } = this;
    const flow = await columns("flow", { ...choice, flow: number }).finally(() => {
      document.body.classList.remove("busy");
    });
    // Another may have been chosen meanwhile.
    if (String(number) !== this.chosenFlow || choice !== this.choice) return;
    this.flow = flow;
    this.shownFlow = this.chosenFlow;
    if (flow.about.every > 1) this.say(`Of plain segments one in ${flow.about.every} is drawn.`);
    this.network.setFlow(flow);
    this.gantt.carrier = this.network.carrier;
    this.transport.setCarrier(this.network.carrier);
    this.drawFlow();
    this.transport.changed = true;
    this.keep();
  }

  drawFlow() {
    if (!this.flow) return;
    this.sequence.setFlow(this.flow);
    this.window.setFlow(this.flow);
  }

  redraw() {
    if (!this.about || element("watch").hidden) return;
    this.network.layOut();
    this.transport.drawOverview();
    this.drawFlow();
    this.spared.draw();
    this.transport.changed = true;
  }

  /** As it was at the beginning. */
  async reset() {
    this.link.clear(["run", "point", "scheme", "replication", "tab"]);
    this.settled = false;
    this.chosen.choose();
    if (this.transport.playing) this.transport.toggle();
    await this.restore({});
  }

  frame(now, before) {
    const elapsed = Math.min(0.1, (now - before) / 1000);
    if (this.about && !element("watch").hidden && this.transport.advance(elapsed)) {
      const began = performance.now();
      this.draw();
      this.note(performance.now() - began, now - before);
    }
    requestAnimationFrame((next) => this.frame(next, now));
  }

  draw() {
    const { time, speed } = this.transport;
    this.bursts.setSpeed(speed);
    const found = this.bursts.at(time);
    const seen = this.network.draw(time, speed, found);
    const stretches = this.bursts.between(...this.gantt.range(time, speed));
    this.gantt.draw(time, speed, stretches);
    if (time !== this.drawnTime) this.stretch.follow(time);
    this.drawnTime = time;
    this.sequence.setHead(time);
    this.window.setHead(time);
    this.spared.setHead(time);
    const doomed = seen.doomed ? `, ${seen.doomed} of which will be lost` : "";
    const every = found?.about.every > 1 ? ` (one of ${found.about.every} is drawn)` : "";
    const moving = counted(seen.moving, this.about.network.slots ? "slot" : "burst");
    const whose = this.about.network.slots ? " of TCP" : "";
    element("under-way").textContent = `${moving}${whose} on fibres${doomed}${every}`;
  }

  /** Chooses the fibre where a burst died, to show the burst that held its wavelength. */
  showWhere() {
    if (this.wanted === null) return;
    const { time, speed } = this.transport;
    const refused = (found, i) => found.burst[i] === this.wanted && found.wavelength[i] < 0;
    for (const found of this.bursts.between(time, time + 2 * speed)) {
      const row = found.burst.findIndex((_, i) => refused(found, i));
      if (row >= 0) this.setFibre(found.fibre[row]);
    }
  }

  /** Keeps what the last frames took, for who measures the page. */
  note(drawing, between) {
    this.frames.push([drawing, between]);
    if (this.frames.length > 2000) this.frames.splice(0, 1000);
  }
}

/** Why a burst was lost, and which burst held its wavelength, if that is known. */
function why(losses, burst) {
  const place = losses.burst.indexOf(burst);
  const cause = losses.about?.causes[losses.cause?.[place]];
  if (!cause) return null;
  const rival = losses.rival[place] < 0 ? "" : `; burst ${losses.rival[place]} held its wavelength`;
  return { cause, text: `cause: ${cause}${rival}` };
}
