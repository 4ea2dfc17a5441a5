// The one box for what a word means, or what a point is: at the pointer, at the focus, at a touch.

import { TERMS } from "./terms.js";

const tip = document.getElementById("tip");
const GAP = 10;
const STEP = 24; // pixels between places that are tried
const CONTROLS = "button:not(.term), select, input, summary";
let owner = null;

/** Shows lines next to a box of the screen; the first one is its name. */
export function showTip(lines, box, of = null) {
  const [name, ...rest] = lines;
  const head = document.createElement("b");
  head.textContent = name;
  tip.replaceChildren(head, ...rest.filter(Boolean).map((line) => {
    const part = document.createElement("span");
    part.textContent = line;
    return part;
  }));
  tip.hidden = false;
  place(box);
  if (owner !== of) release();
  owner = of;
  owner?.setAttribute("aria-describedby", "tip");
}

/** How many pixels of some boxes lie under a box. */
function covered(left, top, boxes) {
  const { offsetWidth: width, offsetHeight: height } = tip;
  return boxes.reduce((sum, one) => {
    const wide = Math.min(left + width, one.right) - Math.max(left, one.left);
    const high = Math.min(top + height, one.bottom) - Math.max(top, one.top);
    return sum + Math.max(0, wide) * Math.max(0, high);
  }, 0);
}

const boxes = (pick) => [...document.querySelectorAll(pick)]
  .filter((part) => part.offsetParent !== null).map((part) => part.getBoundingClientRect());

/** Puts it near a box, where it covers neither this nor a control, and few words. */
function place(box) {
  const { offsetWidth: width, offsetHeight: height } = tip;
  const into = (value, size, room) => Math.max(GAP, Math.min(value, room - size - GAP));
  const [below, above] = [box.bottom + GAP, box.top - height - GAP];
  const tops = [below, above, box.top];
  for (let top = GAP; top < innerHeight - height - GAP; top += STEP) tops.push(top);
  const lefts = [box.left, box.right - width, box.right + GAP, box.left - width - GAP];
  const [controls, words] = [boxes(CONTROLS), boxes(".term")];
  let best = { cost: Infinity };
  for (const y of tops) {
    for (const x of lefts) {
      const [left, top] = [into(x, width, innerWidth), into(y, height, innerHeight)];
      const far = Math.max(0, top - below, above - top);
      const cost = 100 * covered(left, top, [box]) + 10 * covered(left, top, controls)
        + covered(left, top, words) + 10 * far;
      if (cost < best.cost) best = { cost, left, top };
    }
  }
  tip.style.transform = `translate(${best.left}px, ${best.top}px)`;
}

function release() {
  owner?.removeAttribute("aria-describedby");
  owner = null;
}

export function hideTip(of = owner) {
  if (of !== owner) return;
  tip.hidden = true;
  release();
}

function explain(button) {
  const word = button.dataset.term;
  showTip([word, TERMS[word]], button.getBoundingClientRect(), button);
}

const termOf = (event) => event.target.closest?.(".term");

/** Lets every word that is explained be pointed at, reached by Tab, and touched. */
export function startTips() {
  document.addEventListener("pointerover", (event) => {
    const button = termOf(event);
    if (button && event.pointerType !== "touch") explain(button);
  });
  document.addEventListener("pointerout", (event) => {
    const button = termOf(event);
    const into = event.relatedTarget;
    // The explanation itself may be pointed at, to read it or to copy it.
    if (!button || tip.contains(into) || document.activeElement === button) return;
    hideTip(button);
  });
  tip.addEventListener("pointerleave", () => {
    if (owner !== document.activeElement) hideTip();
  });
  document.addEventListener("focusin", (event) => {
    const button = termOf(event);
    if (button) explain(button);
    else hideTip();
  });
  document.addEventListener("focusout", (event) => {
    if (termOf(event)) hideTip(termOf(event));
  });
  document.addEventListener("click", (event) => {
    const button = termOf(event);
    if (button) explain(button);
    else if (owner && !owner.contains(event.target)) hideTip();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
  });
  document.addEventListener("scroll", () => {
    if (owner?.classList.contains("term")) place(owner.getBoundingClientRect());
    else hideTip();
  }, { capture: true, passive: true });
}
