// Light or dark, and the colours of the style sheet for what is drawn on a canvas.

const NAMES = [
  "ink", "muted", "grid", "first", "again", "lost", "timeout", "cut", "panel", "line", "fibre",
];
const listeners = [];

export const colours = {};

function read() {
  const style = getComputedStyle(document.documentElement);
  for (const name of NAMES) colours[name] = style.getPropertyValue(`--${name}`).trim();
}

function set(theme) {
  document.documentElement.dataset.theme = theme;
  const button = document.getElementById("theme");
  button.textContent = theme === "dark" ? "Light" : "Dark";
  read();
  for (const listener of listeners) listener();
}

/** Calls `listener` whenever the colours change. */
export function onTheme(listener) {
  listeners.push(listener);
}

/** Takes what the system prefers until the button says otherwise. */
export function startTheme() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  set(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => set(dark.matches ? "dark" : "light"));
  document.getElementById("theme").addEventListener("click", () => {
    set(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  });
}

/** Fits a canvas to its box and the screen; answers its context, in CSS pixels, and its size. */
export function fit(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
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
