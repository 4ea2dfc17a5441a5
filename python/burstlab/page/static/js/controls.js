// Sliders over steps, choices over words.

/** Puts controls on the page; `changed` is called with every move. */
export class Controls {
  constructor(place, controls, changed) {
    this.controls = controls;
    this.values = {};
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const control of controls) {
      const wanted = control.values.findIndex((value) => String(value) === asked.get(control.name));
      const start = wanted >= 0 ? wanted : control.values.indexOf(control.value);
      this.values[control.name] = control.values[start];
      const make = control.choice ? choice : slider;
      place.append(make(control, start, (value) => {
        this.values[control.name] = value;
        history.replaceState(null, "", `#${this.query()}`);
        changed();
      }));
    }
  }

  query() {
    return new URLSearchParams(this.values).toString();
  }

  label(name) {
    return String(this.values[name]);
  }
}

function frame(control, input, ...beside) {
  const box = document.createElement("div");
  box.className = "control";
  input.id = control.name;
  const label = document.createElement("label");
  label.htmlFor = control.name;
  label.textContent = control.label;
  const line = document.createElement("div");
  line.append(label, ...beside);
  const help = document.createElement("small");
  help.id = `${control.name}-help`;
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
  output.htmlFor = control.name;
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

function shown(control, value) {
  if (control.name === "loss" && typeof value === "number") return `${+(value * 100).toFixed(3)} %`;
  return String(value);
}
