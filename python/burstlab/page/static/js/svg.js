// The part of a canvas context that the page draws with, written as SVG.

const measure = document.createElement("canvas").getContext("2d");
const ANCHORS = { left: "start", center: "middle", right: "end", start: "start", end: "end" };
const BASES = { middle: "central", top: "hanging", bottom: "alphabetic", alphabetic: "auto" };
const round = (value) => +value.toFixed(2);
const escape = (text) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

/** A path as text, with the interface of a Path2D. */
class Track {
  constructor(d = "") {
    this.d = d;
  }

  moveTo(x, y) {
    this.d += `M${round(x)},${round(y)}`;
  }

  lineTo(x, y) {
    this.d += `L${round(x)},${round(y)}`;
  }
}

export class SvgContext {
  fillStyle = "#000";
  strokeStyle = "#000";
  lineWidth = 1;
  lineCap = "butt";
  globalAlpha = 1;
  font = "12px sans-serif";
  textAlign = "start";
  textBaseline = "alphabetic";
  parts = [];
  clips = [];
  path = new Track();
  matrix = [1, 1, 0, 0]; // scale, and place
  dash = [];
  stack = [];
  open = 0;

  /** The drawing, as a file. */
  text(width, height, title) {
    const clips = this.clips.map((d, i) => `<clipPath id="c${i}"><path d="${d}"/></clipPath>`);
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" `
        + `viewBox="0 0 ${width} ${height}" role="img">`,
      `<title>${escape(title)}</title>`,
      `<defs>${clips.join("")}</defs>`, ...this.parts, "</g>".repeat(this.open), "</svg>", "",
    ].join("\n");
  }

  track(d) {
    return new Track(d);
  }

  beginPath() {
    this.path = new Track();
  }

  moveTo(x, y) {
    this.path.moveTo(x, y);
  }

  lineTo(x, y) {
    this.path.lineTo(x, y);
  }

  arc(x, y, radius) {
    const r = round(radius);
    this.path.moveTo(x - r, y);
    this.path.d += `a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0`;
  }

  rect(x, y, width, height) {
    this.path.moveTo(x, y);
    this.path.d += `h${round(width)}v${round(height)}h${round(-width)}z`;
  }

  roundRect(x, y, width, height, radius) {
    const r = Math.min(radius, width / 2, height / 2);
    const [w, h] = [round(width - 2 * r), round(height - 2 * r)];
    this.path.moveTo(x + r, y);
    this.path.d += `h${w}a${r},${r} 0 0 1 ${r},${r}v${h}a${r},${r} 0 0 1 ${-r},${r}`
      + `h${-w}a${r},${r} 0 0 1 ${-r},${-r}v${-h}a${r},${r} 0 0 1 ${r},${-r}z`;
  }

  get place() {
    const [sx, sy, x, y] = this.matrix;
    return sx === 1 && sy === 1 && !x && !y
      ? "" : ` transform="translate(${round(x)} ${round(y)}) scale(${round(sx)} ${round(sy)})"`;
  }

  get alpha() {
    return this.globalAlpha === 1 ? "" : ` opacity="${round(this.globalAlpha)}"`;
  }

  fill(path = this.path) {
    this.parts.push(`<path d="${path.d}" fill="${this.fillStyle}"${this.alpha}${this.place}/>`);
  }

  stroke(path = this.path) {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.parts.push(
      `<path d="${path.d}" fill="none" stroke="${this.strokeStyle}" `
      + `stroke-width="${round(this.lineWidth)}" stroke-linecap="${this.lineCap}"`
      + `${dash}${this.alpha}${this.place}/>`,
    );
  }

  fillRect(...box) {
    const path = new Track();
    Object.assign(this, { before: this.path, path });
    this.rect(...box);
    this.fill();
    this.path = this.before;
  }

  strokeRect(...box) {
    const path = new Track();
    Object.assign(this, { before: this.path, path });
    this.rect(...box);
    this.stroke();
    this.path = this.before;
  }

  fillText(text, x, y) {
    const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font)
      ?? [null, "", "12", "sans-serif"];
    this.parts.push(
      `<text x="${round(x)}" y="${round(y)}" fill="${this.fillStyle}" font-size="${size}" `
      + `font-family="${escape(family)}" font-weight="${weight || 400}" `
      + `text-anchor="${ANCHORS[this.textAlign] ?? "start"}" `
      + `dominant-baseline="${BASES[this.textBaseline] ?? "auto"}"${this.alpha}${this.place}>`
      + `${escape(text)}</text>`,
    );
  }

  measureText(text) {
    measure.font = this.font;
    return measure.measureText(text);
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  save() {
    this.stack.push({ matrix: this.matrix, open: this.open, alpha: this.globalAlpha });
  }

  restore() {
    const { matrix, open, alpha } = this.stack.pop();
    this.parts.push("</g>".repeat(this.open - open));
    Object.assign(this, { matrix, open, globalAlpha: alpha });
  }

  clip() {
    this.parts.push(`<g clip-path="url(#c${this.clips.length})">`);
    const [sx, sy, x, y] = this.matrix;
    if (sx !== 1 || sy !== 1) throw new Error("a clip is of a place, not of a scale");
    this.clips.push(x || y ? shifted(this.path.d, x, y) : this.path.d);
    this.open += 1;
  }

  translate(x, y) {
    const [sx, sy, left, top] = this.matrix;
    this.matrix = [sx, sy, left + sx * x, top + sy * y];
  }

  scale(x, y) {
    const [sx, sy, left, top] = this.matrix;
    this.matrix = [sx * x, sy * y, left, top];
  }

  getTransform() {
    return this.matrix;
  }

  setTransform(matrix) {
    this.matrix = matrix;
  }
}

/** A path of places and relative steps, moved. */
function shifted(d, x, y) {
  return d.replace(/([ML])(-?[\d.]+),(-?[\d.]+)/g, (_, letter, a, b) => (
    `${letter}${round(Number(a) + x)},${round(Number(b) + y)}`
  ));
}
