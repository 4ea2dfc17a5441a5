// A burst that was clicked: what is known of it, and what can be done with it.

import { burstLines } from "./telling.js";

/**
 * Actions on a chosen burst, in the order of their buttons. Each is
 * `{ label, title, for(burst), act(burst, view) }`: `for` answers whether it makes sense for a
 * burst, and `act` does it. A burst is `{ number, back, lost, lines, row, found }`: its number in
 * the tables, whether it is one of ACKs on a path (which the tables number apart), whether it is
 * lost, and its description. If `act` returns an element of the document, it is shown
 * beneath; it may also be a promise of one.
 */
export const burstActions = [
  {
    label: "Show how it dies",
    title: "Go to just before the burst is lost",
    for: (burst) => burst.lost,
    act: (burst, view) => { view.transport.toDeathOf(burst.key); },
  },
];

const element = (id) => document.getElementById(id);

export class ChosenBurst {
  constructor(view) {
    this.view = view;
    this.burst = null;
  }

  /** Chooses the burst of a row; none lets go of it. */
  choose(found = null, row = -1) {
    const { network } = this.view.about;
    this.burst = found && {
      key: found.burst[row],
      number: network.path ? Math.floor(found.burst[row] / 2) : found.burst[row],
      back: network.path && found.burst[row] % 2 === 1,
      lost: Boolean(found.lost[row]),
      lines: burstLines(network, found, row),
      row,
      found,
    };
    this.show();
  }

  show() {
    const { burst, view } = this;
    element("chosen").hidden = !burst;
    view.spared.clear();
    for (const part of [view.network, view.gantt]) part.burst = burst?.key ?? null;
    view.transport.changed = true;
    if (!burst) return;
    element("chosen-text").textContent = burst.lines.filter(Boolean).join(" · ");
    const answer = document.createElement("div");
    answer.id = "chosen-answer";
    const actions = burstActions.filter((action) => action.for(burst));
    const buttons = actions.map((action) => this.button(action, answer));
    const close = button("Let go", "Choose no burst", () => this.choose());
    element("chosen-actions").replaceChildren(...buttons, close, answer);
  }

  button({ label, title, act }, answer) {
    const { burst, view } = this;
    return button(label, title, async () => {
      const found = await act(burst, view);
      if (found && this.burst === burst) answer.replaceChildren(found);
    });
  }
}

function button(label, title, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = label;
  made.title = title;
  made.addEventListener("click", act);
  return made;
}
