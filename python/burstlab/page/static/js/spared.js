// What if a burst had arrived: the run as it was, and the same run without that loss.

import { SequenceChart, Stretch, WindowChart } from "./chart.js";
import { columns, json, seconds } from "./data.js";
import { alone } from "./file.js";
import { burstActions } from "./chosen.js";

const SIDES = ["first", "other"];
const element = (id) => document.getElementById(id);
const grouped = (value) => value.toLocaleString("en");
const counted = (count, word) => `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
const signed = (value) => {
  const sign = value > 0 ? "+" : value < 0 ? "\u2212" : "";
  return `${sign}${grouped(Math.abs(value))}`;
};

burstActions.push({
  label: "What if it had arrived?",
  title: "Run it again without this one loss, and show both runs side by side",
  // A file has no engine, and background bursts carry nothing whose fate could change.
  for: (burst) => burst.lost && !alone && burst.found.kind[burst.row] < 2,
  act: (burst, view) => view.spared.ask(burst),
});

export class Spared {
  constructor(view) {
    this.view = view;
    this.query = null;
    this.stretch = new Stretch();
    this.charts = Object.fromEntries(SIDES.map((side) => [side, {
      sequence: new SequenceChart(
        element(`what-if-${side}-segments`), this.stretch, "Segments against time", "segment",
      ),
      window: new WindowChart(
        element(`what-if-${side}-window`), this.stretch, "Window against time", "segments",
      ),
    }]));
    for (const chart of this.all()) chart.onSeek = (time) => view.transport.seek(time);
    element("what-if-flow").addEventListener("change", () => {
      this.showFlow(element("what-if-flow").value).catch((error) => this.fail(error));
    });
    element("what-if-close").addEventListener("click", () => this.clear());
  }

  all() {
    return SIDES.flatMap((side) => Object.values(this.charts[side]));
  }

  clear() {
    this.query = null;
    this.flows = null;
    element("what-if").hidden = true;
  }

  /** Asks for both runs, and shows them unless another burst was chosen meanwhile. */
  async ask(burst) {
    const query = { ...this.view.choice, burst: burst.number, back: burst.back ? 1 : 0 };
    this.query = query;
    this.flows = null;
    element("what-if").hidden = false;
    element("what-if-parts").hidden = true;
    element("what-if-name").textContent = `What if burst ${burst.number} had arrived?`;
    this.say("Running both ...");
    element("what-if").scrollIntoView({ block: "nearest" });
    try {
      const found = await json("what-if", query);
      if (this.query === query) await this.show(found);
    } catch (error) {
      if (this.query === query) this.fail(error);
    }
  }

  say(text) {
    element("what-if-told").textContent = text;
  }

  fail(error) {
    element("what-if-parts").hidden = true;
    this.say(error.message);
  }

  async show(found) {
    const { totals } = found;
    this.say([...found.told, found.same ? "Both runs are equal: nothing changes." : [
      `different: ${counted(totals.connections_different, "connection")}, `
        + counted(totals.bursts_different, "burst"),
      `${signed(totals.bytes_gained)} bytes`,
      `${signed(+totals.seconds_saved.toFixed(6))} s saved by transfers that are done in both`,
      `bursts lost: ${grouped(totals.bursts_lost_first)}, then `
        + grouped(totals.bursts_lost_other),
      `fingerprint ${found.fingerprints[0]}, then ${found.fingerprints[1]}`,
    ].join("; ")].join(". "));
    this.fill(found);
    const { connections } = found;
    element("what-if-flow").replaceChildren(...connections.map((row) => (
      new Option(`${row.connection}${row.aboard ? ", in it" : ""}`, row.connection)
    )));
    element("what-if-parts").hidden = !connections.length;
    if (!connections.length) return;
    this.stretch.whole = [0, found.end_s];
    this.stretch.range = [0, found.end_s];
    await this.showFlow(connections[0].connection);
    element("what-if").scrollIntoView({ block: "nearest" });
  }

  fill({ connections, bursts, totals }) {
    rows("what-if-connections", connections.map((row) => [
      `${row.connection}${row.aboard ? " (in it)" : ""}`,
      when(row.different_ps ?? row.cwnd_ps),
      grouped(row.bytes_first), signed(row.bytes_other - row.bytes_first),
      done(row.received_first_s), done(row.received_other_s),
      `${row.timeouts_first} → ${row.timeouts_other}`,
      `${wide(row.cwnd_first)} → ${wide(row.cwnd_other)}`,
    ]));
    rows("what-if-bursts", bursts.map((row) => [
      `${row.burst_first ?? "–"}`, `${row.burst_other ?? "–"}`,
      [row.from, row.to].filter(Boolean).join(" → ") || row.direction, when(row.closed_ps),
      fate(row, "first"), fate(row, "other"),
    ]));
    more("what-if-more", totals, connections.length, bursts.length);
  }

  async showFlow(number) {
    const { query } = this;
    const flows = await Promise.all(SIDES.map((side) => (
      columns("what-if-flow", { ...query, flow: number, side })
    )));
    if (this.query !== query || element("what-if-flow").value !== String(number)) return;
    this.flows = flows;
    this.draw();
  }

  /** Draws both runs on one scale. */
  draw() {
    if (!this.flows || element("what-if").hidden) return;
    const highest = (name) => this.flows.reduce(
      (top, flow) => flow[name].reduce((a, b) => Math.max(a, b), top), 0,
    );
    const tops = { sequence: highest("seq"), window: highest("cwnd") };
    for (const [n, side] of SIDES.entries()) {
      for (const [name, chart] of Object.entries(this.charts[side])) {
        chart.top = tops[name];
        chart.setFlow(this.flows[n]);
      }
    }
    this.setHead(this.view.transport.time);
  }

  setHead(time) {
    if (this.flows) for (const chart of this.all()) chart.setHead(time);
  }
}

const when = (ps) => (ps === null ? "–" : seconds(ps * 1e-12, 1e-6));
const done = (value) => (value === null ? "–" : seconds(value, 1e-6));
const wide = (value) => (value === null ? "–" : String(+value.toPrecision(4)));

function fate(row, side) {
  if (row[`burst_${side}`] === null) return "is not there";
  const cause = row[`cause_${side}`];
  return cause && cause !== "none" ? `${row[`fate_${side}`]} (${cause})` : row[`fate_${side}`];
}

function rows(id, texts) {
  const body = element(id).tBodies[0];
  body.replaceChildren(...texts.map((cells) => {
    const made = document.createElement("tr");
    made.append(...cells.map((text) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      return cell;
    }));
    return made;
  }));
  element(id).parentElement.hidden = !texts.length;
}

function more(id, totals, connections, bursts) {
  const left = [
    [totals.connections_different - connections, "more connection"],
    [totals.bursts_different - bursts, "more burst"],
  ].filter(([count]) => count > 0).map(([count, name]) => counted(count, name));
  element(id).hidden = !left.length;
  element(id).textContent = `And ${left.join(", ")}: burstlab what-if --json has all.`;
}
