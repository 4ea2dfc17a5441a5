// Reads and writes the state of the page after the # of its address; reports wrong parts.

const WAIT = 250; // milliseconds without a change, before the address is written

export class Link {
  constructor() {
    this.onChange = () => {};
    this.known = new Set();
    this.wrong = [];
    this.read();
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) === this.written) return;
      this.read();
      this.onChange();
    });
  }

  read() {
    this.values = new Map(new URLSearchParams(location.hash.slice(1)));
    this.wrong = [];
  }

  /** Names with a meaning; the others are reported as wrong. */
  know(...names) {
    for (const name of names) this.known.add(name);
  }

  text(name) {
    this.known.add(name);
    return this.values.get(name) ?? null;
  }

  /** One of some words, or nothing. */
  word(name, allowed) {
    const found = this.text(name);
    if (found === null || allowed.some((one) => String(one) === found)) return found;
    const some = allowed.slice(0, 12).join(", ");
    this.refuse(name, `there is ${some}${allowed.length > 12 ? ", ..." : ""}`);
    return null;
  }

  /** A number within bounds, or nothing. */
  number(name, least, most) {
    const found = this.text(name);
    if (found === null) return null;
    const value = Number(found);
    if (found.trim() !== "" && value >= least && value <= most) return value;
    this.refuse(name, `a number from ${+least.toPrecision(6)} to ${+most.toPrecision(6)}`);
    return null;
  }

  refuse(name, instead) {
    this.wrong.push(`${name} = ${this.values.get(name)}: ${instead}`);
    this.values.delete(name);
  }

  /** Says what the address had that is not there; nothing where it was right. */
  tell(place) {
    for (const name of [...this.values.keys()].filter((one) => !this.known.has(one))) {
      this.wrong.push(`${name}: means nothing here`);
      this.values.delete(name);
    }
    place.hidden = !this.wrong.length;
    place.textContent = this.wrong.length
      ? `The link is wrong in parts, which are shown as they are without:\n${this.wrong.join("\n")}`
      : "";
  }

  /** Changes what the address says, soon; null leaves a name out. */
  put(changes) {
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === undefined) this.values.delete(name);
      else this.values.set(name, String(value));
    }
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.write(), WAIT);
  }

  write() {
    clearTimeout(this.waiting);
    this.written = new URLSearchParams([...this.values]).toString();
    history.replaceState(null, "", `#${this.written}`);
  }

  /** Forgets all but some. */
  clear(kept = []) {
    for (const name of [...this.values.keys()]) if (!kept.includes(name)) this.values.delete(name);
    this.write();
  }
}
