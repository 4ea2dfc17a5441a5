// Light or dark, small or large, and the colours of the style sheet for what is drawn on a canvas.

const NAMES = [
  "ink", "muted", "grid", "first", "again", "lost", "timeout", "cut", "panel", "line", "fibre",
  "page", "soft",
];
const NORMAL = 14; // pixels of the root's type
const listeners = [];

export const colours = {};
export const type = { scale: 1 };

const root = document.documentElement;
const button = (id) => document.getElementById(id);

function read() {
  const style = getComputedStyle(root);
  for (const name of NAMES) colours[name] = style.getPropertyValue(`--${name}`).trim();
  type.scale = parseFloat(style.fontSize) / NORMAL;
  for (const listener of listeners) listener();
}

/** The type for a canvas, in CSS pixels. */
export function font(weight = 400, size = 12) {
  return `${weight} ${Math.round(size * type.scale)}px Inter, Arial, 'DejaVu Sans', sans-serif`;
}

function setTheme(theme) {
  root.dataset.theme = theme;
  button("theme").textContent = theme === "dark" ? "Light" : "Dark";
  read();
}

/** Large type, for who sits far from the screen. */
export function setLarge(large) {
  root.dataset.type = large ? "large" : "normal";
  button("large").setAttribute("aria-pressed", String(large));
  read();
}

export const isLarge = () => root.dataset.type === "large";

/** Calls `listener` whenever the colours or the type change. */
export function onTheme(listener) {
  listeners.push(listener);
}

/** Takes what the system prefers until the button says otherwise. */
export function startTheme(changed) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  button("theme").addEventListener("click", () => {
    setTheme(root.dataset.theme === "dark" ? "light" : "dark");
  });
  button("large").addEventListener("click", () => {
    setLarge(!isLarge());
    changed(isLarge());
  });
}

/** Fits a canvas to its box and the screen; answers its context, in CSS pixels, and its size. */
export function fit(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

/** Where a centred text is drawn so that it is not cut at `from` or `to`. */
export function uncut(context, text, x, from, to) {
  const half = context.measureText(text).width / 2 + 1;
  return Math.max(from + half, Math.min(x, to - half));
}
