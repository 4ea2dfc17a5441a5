// One side of the page to play with: what a run counted, its segments, window and bursts.

import { BurstChart } from "./burstchart.js";
import { SequenceChart, WindowChart } from "./chart.js";
import { windowLegend } from "./marks.js";
import { term } from "./terms.js";

const COUNTED = [
  ["false time-out", "false time-outs", "false_timeouts"],
  ["true time-out", "true", "true_timeouts"],
  ["spurious time-out", "spurious", "spurious_timeouts"],
  ["retransmitted", "retransmitted", "retransmissions"],
  ["fast retransmit", "fast", "fast_retransmits"],
  ["early repair", "early repairs", "early_repairs"],
];

export class Side {
  constructor(name, place, stretch, watch) {
    const panel = document.createElement("section");
    panel.className = "panel";
    panel.id = name;
    this.title = document.createElement("h2");
    this.title.id = `${name}-name`;
    panel.setAttribute("aria-labelledby", this.title.id);
    const head = document.createElement("div");
    head.className = "head";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "last";
    button.id = `watch-${name}`;
    button.textContent = "Watch its bursts";
    button.addEventListener("click", () => watch(name));
    head.append(this.title, button);
    this.numbers = document.createElement("dl");
    this.numbers.className = "numbers";
    panel.append(head, this.numbers);
    place.append(panel);
    this.panel = panel;
    this.sequence = new SequenceChart(
      this.chart("sequence"), stretch, "Segments against time", "segment",
    );
    const legend = document.createElement("ul");
    legend.className = "legend last";
    windowLegend(legend);
    this.window = new WindowChart(
      this.chart("window", "Window", "window", legend), stretch, "Window against time", "segments",
    );
    this.bursts = new BurstChart(
      this.chart("burst-chart", "Bursts", "data burst", burstLegend()), stretch,
      "Bursts against time, as high as the packets that they hold", "packets",
    );
  }

  chart(kind, name = "", word = "", legend = null) {
    const place = document.createElement("div");
    place.className = `chart ${kind}`;
    if (name) {
      const head = document.createElement("div");
      head.className = "head";
      const title = document.createElement("h3");
      title.append(term(word, name));
      head.append(title, legend);
      this.panel.append(head);
    }
    this.panel.append(place);
    return place;
  }

  count(counts) {
    this.numbers.replaceChildren(...COUNTED.map(([word, text, name]) => {
      const box = document.createElement("div");
      const [label, value] = [document.createElement("dt"), document.createElement("dd")];
      label.append(term(word, text));
      value.textContent = counts[name].toLocaleString("en", { maximumFractionDigits: 1 });
      value.dataset.counted = name;
      box.append(label, value);
      return box;
    }));
  }

  draw(flow) {
    this.sequence.setFlow(flow);
    this.window.setFlow(flow);
    this.bursts.setBursts(flow);
  }
}

function burstLegend() {
  const legend = document.createElement("ul");
  legend.className = "legend last";
  for (const [word, text, colour] of [
    ["data burst", "a burst, as high as its packets", "first"], ["lost burst", "lost", "lost"],
  ]) {
    const item = document.createElement("li");
    item.className = colour;
    item.append(document.createElement("i"), term(word, text));
    legend.append(item);
  }
  return legend;
}
