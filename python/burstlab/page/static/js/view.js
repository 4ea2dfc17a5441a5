// The page of a result: the network, a fibre's wavelengths and a flow, at one present.

import { Bursts } from "./bursts.js";
import { SequenceChart, Stretch, WindowChart } from "./chart.js";
import { columns, json } from "./data.js";
import { Gantt } from "./gantt.js";
import { legend } from "./marks.js";
import { NetworkView } from "./network.js";
import { onTheme, startTheme } from "./theme.js";
import { Transport } from "./transport.js";

const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const element = (id) => document.getElementById(id);

class View {
  constructor(about, losses) {
    this.about = about;
    this.transport = new Transport({ end: about.end_s, speed: about.speed, losses });
    this.network = new NetworkView(about.network, element("fibres"), element("bursts"));
    this.gantt = new Gantt(element("gantt"));
    this.bursts = new Bursts(about.end_s, () => {
      this.transport.changed = true;
      this.showWhere();
    }, () => this.say("Nothing answers any more: burstlab view has ended."));
    this.stretch = new Stretch();
    this.stretch.whole = [0, about.end_s];
    this.stretch.range = [0, about.end_s];
    const { stretch } = this;
    this.sequence = new SequenceChart(
      element("sequence"), stretch, "Segments against time", "segment",
    );
    this.window = new WindowChart(
      element("window"), stretch, "Window against time", "segments",
    );
    this.flow = null;
    this.drawnTime = null;
    this.wanted = losses.burst[0] ?? null;
    document.body.classList.toggle("path", about.network.path);
    document.body.classList.toggle("alone", !about.flows.length);
    if (about.network.path) this.gantt.lane = "lost";
    this.frames = [];
    this.describe();
    this.connect();
  }

  describe() {
    const { about } = this;
    element("title").textContent = about.title;
    document.title = `${about.title} · Burstlab`;
    element("facts").textContent =
      `${about.network.nodes.length} nodes · ${counted(about.flows.length, "flow")} · `
      + `${about.end_s} s · `
      + `seed ${about.seed} · fingerprint ${about.fingerprint}`;
    element("legend-others").hidden = about.network.path;
    legend(element("marks"));
    if (about.network.slots) {
      element("gantt-name").textContent = "Slots";
      element("legend-others").hidden = true;
      this.gantt.lane = "dropped";
    }
    if (about.study) this.describeStudy(about.study);
    const { fibres, nodes } = about.network;
    for (const [index, fibre] of fibres.entries()) {
      const used = fibre.used === null ? "" : `, ${Math.round(fibre.used * 100)} % used`;
      const label = `${nodes[fibre.from].name} → ${nodes[fibre.to].name}${used}`;
      element("fibre").add(new Option(label, index));
    }
    for (const flow of about.flows) {
      const outs = counted(flow.timeouts, "time-out");
      const label = `${flow.id}: ${flow.label}, ${outs}, ${flow.false} false`;
      element("flow").add(new Option(label, flow.id));
    }
    if (about.missing.length) {
      this.say(`Not recorded: ${about.missing.join(", ")}. To have it all: ${about.record}`);
    }
  }

  /** Lets another run of the study be chosen; it is made again, and the page begins anew. */
  describeStudy({ points, schemes, replications, chosen }) {
    element("study").hidden = false;
    for (const { point, told } of points) {
      element("point").add(new Option(told ? `${point}: ${told}` : `${point}`, point));
    }
    for (const scheme of schemes) element("scheme").add(new Option(scheme, scheme));
    for (let n = 0; n < replications; n += 1) element("replication").add(new Option(n, n));
    element("scheme").parentElement.hidden = !schemes.length;
    for (const name of ["point", "scheme", "replication"]) {
      element(name).value = chosen[name];
      element(name).addEventListener("change", () => {
        const wanted = { ...chosen, [name]: element(name).value };
        // Another point may have fewer.
        if (name !== "replication") wanted.replication = 0;
        location.hash = new URLSearchParams(wanted);
      });
    }
  }

  say(text) {
    element("missing").hidden = false;
    element("missing").textContent = text;
  }

  connect() {
    element("fibre").addEventListener("change", () => {
      this.setFibre(element("fibre").selectedIndex);
    });
    element("flow").addEventListener("change", () => this.setFlow(element("flow").value));
    element("whole").addEventListener("click", () => this.stretch.showWhole());
    this.network.onChoose = (index) => this.setFibre(index);
    this.transport.onLoss = (burst) => {
      this.wanted = burst;
      this.showWhere();
    };
    this.transport.onWhole = () => this.stretch.showWhole();
    this.stretch.onChange = (whole) => {
      element("whole").disabled = whole;
      this.transport.changed = true;
    };
    for (const chart of [this.sequence, this.window]) {
      chart.onSeek = (time) => this.transport.seek(time);
    }
    onTheme(() => this.redraw());
    new ResizeObserver(() => this.redraw()).observe(element("fibres"));
    new ResizeObserver(() => this.redraw()).observe(element("gantt"));
  }

  async start() {
    const { fibres } = this.about.network;
    const busiest = fibres.reduce((a, b, i) => ((b.used ?? 0) > (fibres[a].used ?? 0) ? i : a), 0);
    const { wanted } = this;
    this.setFibre(busiest);
    this.wanted = wanted;
    requestAnimationFrame((now) => this.frame(now, now));
    if (this.about.flows.length) await this.setFlow(this.about.flows[0].id);
  }

  setFibre(index) {
    element("fibre").selectedIndex = index;
    this.network.chosen = index;
    this.wanted = null;
    this.gantt.fibre = index;
    this.gantt.wavelengths = this.about.network.fibres[index].wavelengths;
    this.redraw();
  }

  async setFlow(number) {
    this.chosenFlow = number;
    document.body.classList.add("busy");
    const flow = await columns("flow", { flow: number }).finally(() => {
      document.body.classList.remove("busy");
    });
    // Another may have been chosen meanwhile.
    if (number !== this.chosenFlow) return;
    this.flow = flow;
    this.shownFlow = number;
    if (flow.about.every > 1) this.say(`Of plain segments one in ${flow.about.every} is drawn.`);
    this.network.setFlow(flow);
    this.gantt.carrier = this.network.carrier;
    this.transport.setCarrier(this.network.carrier);
    this.drawFlow();
    this.transport.changed = true;
  }

  drawFlow() {
    if (!this.flow) return;
    this.sequence.setFlow(this.flow);
    this.window.setFlow(this.flow);
  }

  redraw() {
    this.network.layOut();
    this.transport.drawOverview();
    this.drawFlow();
    this.transport.changed = true;
  }

  frame(now, before) {
    const elapsed = Math.min(0.1, (now - before) / 1000);
    if (this.transport.advance(elapsed)) {
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
    const counted = this.network.draw(time, speed, found);
    const stretches = this.bursts.between(...this.gantt.range(time, speed));
    this.gantt.draw(time, speed, stretches);
    if (time !== this.drawnTime) this.stretch.follow(time);
    this.drawnTime = time;
    this.sequence.setHead(time);
    this.window.setHead(time);
    const doomed = counted.doomed ? `, ${counted.doomed} of them will be lost` : "";
    const every = found?.about.every > 1 ? ` (one of ${found.about.every} is drawn)` : "";
    const what = this.about.network.slots ? "slots of TCP" : "bursts";
    element("under-way").textContent = `${counted.moving} ${what} on fibres${doomed}${every}`;
  }

  /** Chooses the fibre on whose way a burst died, so that what held it is seen. */
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

startTheme();
addEventListener("hashchange", () => location.reload());
const [about, losses] = await Promise.all([json("about"), columns("losses")]).catch((error) => {
  element("facts").textContent = error.message;
  document.body.dataset.ready = "no";
  throw error;
});
const view = new View(about, losses);
window.burstlab = view;
await view.start();
document.body.dataset.ready = "yes";
