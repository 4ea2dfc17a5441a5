// Pointing at something that is drawn: by a mouse, a pen or a finger.

import { hideTip, showTip } from "./tip.js";

/**
 * Shows what lies under the pointer of a canvas. `find` answers lines about a place of it, or
 * nothing.
 */
export function pointed(part, find) {
  const look = (event) => {
    const box = part.getBoundingClientRect();
    const lines = find(event.clientX - box.left, event.clientY - box.top, event);
    if (!lines) {
      hideTip(part);
      return;
    }
    const { clientX: x, clientY: y } = event;
    showTip(lines, { left: x + 8, right: x - 8, top: y - 8, bottom: y + 8 }, part);
  };
  part.addEventListener("pointermove", look);
  part.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse") look(event);
  });
  // A click closes the explanation of a word; pointing keeps it open.
  part.addEventListener("click", (event) => event.pointerType !== "mouse" && look(event));
  part.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") hideTip(part);
  });
}
