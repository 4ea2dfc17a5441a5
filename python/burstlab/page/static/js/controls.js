// Sliders over steps, choices over words.

import { term } from "./terms.js";

/** The word of each control that is explained, where it has one. */
const WORDS = {
  timer: "assembly time", loss: "burst loss", window: "window", delay: "fibre delay",
  access: "access rate", variant: "variant", detector: "detector", duration: "simulated",
  seed: "seed",
};

/** Words of a scenario as people say them. */
export const NAMES = {
  reno: "Reno",
  "new-reno": "New-Reno",
  sack: "SACK",
  ble: "burst length estimation",
  back: "burst ACKs",
  bnak: "burst NAKs",
  oracle: "oracle",
};

/** Puts controls on the page; `changed` is called with every move. */
export class Controls {
  constructor(place, link, changed) {
    this.place = place;
    this.link = link;
    this.changed = changed;
    this.values = {};
    this.inputs = {};
  }

  /** Shows the controls of a scenario, as the address says where it says so. */
  set(controls, { asked = true } = {}) {
    this.controls = controls;
    this.values = {};
    this.inputs = {};
    this.place.replaceChildren();
    for (const control of controls) {
      const found = asked ? this.link.word(control.name, control.values) : null;
      const wanted = control.values.findIndex((value) => String(value) === found);
      const start = wanted >= 0 ? wanted : control.values.indexOf(control.value);
      this.values[control.name] = control.values[start];
      const make = control.choice ? choice : slider;
      this.place.append(make(control, start, (value) => this.move(control, value)));
    }
  }

  move(control, value) {
    this.values[control.name] = value;
    this.link.put({ [control.name]: value });
    this.changed();
  }

  /** All controls as they stood at first. */
  reset() {
    for (const { name } of this.controls) this.link.put({ [name]: null });
    this.set(this.controls, { asked: false });
  }

  query() {
    return new URLSearchParams(this.values).toString();
  }

  label(name) {
    return NAMES[this.values[name]] ?? String(this.values[name] ?? "");
  }
}

function frame(control, input, ...labels) {
  const box = document.createElement("div");
  box.className = "control";
  input.id = `control-${control.name}`;
  const line = document.createElement("div");
  const name = term(WORDS[control.name], control.label);
  name.id = `control-${control.name}-name`;
  input.setAttribute("aria-labelledby", name.id);
  line.append(name, ...labels);
  const help = document.createElement("small");
  help.id = `control-${control.name}-help`;
  help.textContent = control.help;
  input.setAttribute("aria-describedby", help.id);
  box.append(line, input, help);
  return box;
}

function slider(control, start, moved) {
  const input = document.createElement("input");
  input.type = "range";
  input.min = 0;
  input.max = control.values.length - 1;
  input.step = 1;
  input.value = start;
  const output = document.createElement("output");
  output.htmlFor = `control-${control.name}`;
  const show = () => {
    output.textContent = shown(control, control.values[input.valueAsNumber]);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    show();
    moved(control.values[input.valueAsNumber]);
  });
  show();
  return frame(control, input, output);
}

function choice(control, start, moved) {
  const input = document.createElement("select");
  for (const value of control.values) input.add(new Option(NAMES[value] ?? value, value));
  input.selectedIndex = start;
  input.addEventListener("change", () => moved(control.values[input.selectedIndex]));
  return frame(control, input);
}

function shown(control, value) {
  if (control.name === "loss" && typeof value === "number") return `${+(value * 100).toFixed(3)} %`;
  return String(value);
}
