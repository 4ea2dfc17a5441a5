// The guided tour: a step is a text and a state of the page, which its address can be opened at.

import { json } from "./data.js";
import { explained } from "./terms.js";

const element = (id) => document.getElementById(id);
const GAP = 8; // pixels between the card and what the step is about

/** How much of the screen a part covers that stays while the page moves. */
function covered(part) {
  return part.offsetParent !== null && getComputedStyle(part).position === "sticky"
    ? part.offsetHeight : 0;
}

/** Moves a panel between the card and the bar of time: whole where it fits, else from its top. */
function look(panel) {
  const above = covered(element("tour")) + GAP;
  const below = covered(document.querySelector(".transport")) + GAP;
  const { style } = document.documentElement;
  style.setProperty("--above", `${above}px`);
  style.setProperty("--below", `${below}px`);
  panel.classList.add("looked");
  const fits = panel.offsetHeight <= innerHeight - above - below;
  panel.scrollIntoView({ block: fits ? "nearest" : "start" });
}

export class Tour {
  /** `apply` puts the page into the state of a step. */
  constructor(link, steps, apply) {
    this.link = link;
    this.steps = steps;
    this.apply = apply;
    this.number = null;
    element("tour-open").hidden = !steps;
    element("tour-open").addEventListener("click", () => this.go(1));
    element("tour-back").addEventListener("click", () => this.go(this.number - 1));
    element("tour-next").addEventListener("click", () => this.go(this.number + 1));
    element("tour-close").addEventListener("click", () => this.close());
  }

  /** Goes to a step; with its state, unless the address says what else is seen. */
  async go(number, { state = true } = {}) {
    if (number < 1 || number > this.steps) {
      this.close();
      return;
    }
    this.number = number;
    element("tour-back").disabled = number === 1;
    element("tour-next").textContent = number === this.steps ? "Done" : "Next";
    element("tour-place").textContent = `step ${number} of ${this.steps}`;
    const step = await json("step", { number });
    if (number !== this.number) return;
    element("tour").hidden = false;
    element("tour-title").textContent = step.title;
    element("tour-text").replaceChildren(...step.text.map((text) => {
      const part = document.createElement("p");
      explained(part, text);
      return part;
    }));
    for (const panel of document.querySelectorAll(".looked")) panel.classList.remove("looked");
    document.body.classList.add("touring");
    look(element(step.look));
    if (state) {
      this.link.clear(["large"]);
      this.link.put({ step: number });
      await this.apply(step.state);
    }
    look(element(step.look));
    document.body.dataset.step = String(number);
  }

  close() {
    this.number = null;
    element("tour").hidden = true;
    this.link.put({ step: null });
    for (const panel of document.querySelectorAll(".looked")) panel.classList.remove("looked");
    document.body.classList.remove("touring");
    delete document.body.dataset.step;
  }
}
