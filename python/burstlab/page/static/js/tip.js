// The one box for what a word means, or what a point is: at the pointer, at the focus, at a touch.

import { TERMS } from "./terms.js";

const tip = document.getElementById("tip");
const GAP = 10;
let owner = null;

/** Shows lines beside a box of the screen; the first one is its name. */
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

function place(box) {
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = Math.min(Math.max(GAP, box.left), innerWidth - width - GAP);
  const below = box.bottom + GAP;
  const above = box.top - height - GAP;
  const top = below + height < innerHeight ? below : Math.max(GAP, above);
  tip.style.transform = `translate(${Math.max(GAP, left)}px, ${top}px)`;
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
