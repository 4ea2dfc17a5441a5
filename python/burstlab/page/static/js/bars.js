// Goodput as bars, each with its 95 % interval.

const SPACE = "http://www.w3.org/2000/svg";

/** `sides` are [{ name, mean, half, colour }], in bits a second. */
export function bars(place, sides) {
  const most = Math.max(...sides.map(({ mean, half }) => mean + half), 1);
  place.replaceChildren(...sides.map((side) => bar(side, most)));
}

function bar({ name, mean, half, colour }, most) {
  const line = document.createElement("div");
  const text = document.createElement("span");
  text.textContent = name;
  const svg = part("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none" });
  svg.setAttribute("aria-hidden", "true");
  const end = (mean / most) * 99;
  svg.append(part("rect", { x: 0, y: 0.5, width: end, height: 9, rx: 0.4, fill: colour }));
  if (half > 0) {
    const [low, high] = [Math.max(0, end - (half / most) * 99), end + (half / most) * 99];
    const d = `M${low},5H${high}M${low},2V8M${high},2V8`;
    svg.append(part("path", {
      d, fill: "none", stroke: "var(--ink)", "stroke-width": 1.6,
      "vector-effect": "non-scaling-stroke",
    }));
  }
  const value = document.createElement("b");
  value.textContent = rated(mean, half);
  line.append(text, svg, value);
  return line;
}

function part(name, attributes) {
  const found = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  return found;
}

const UNITS = [[1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"], [1, "b/s"]];

function rated(mean, half) {
  const [scale, unit] = UNITS.find(([one]) => mean >= one) ?? UNITS.at(-1);
  const digits = mean / scale >= 100 ? 0 : mean / scale >= 10 ? 1 : 2;
  const written = [mean, half].map((value) => (value / scale).toFixed(digits));
  return `${written[0]} ± ${written[1]} ${unit}`;
}

/** A gain with its interval, as "+48 % ± 25 %". */
export function percent(gain, half = null) {
  const size = Math.abs(gain * 100);
  const digits = size < 100 && (half ?? 0) < 0.1 ? 1 : 0;
  const value = `${gain < 0 ? "−" : "+"}${size.toFixed(digits)} %`;
  return half === null ? value : `${value} ± ${(half * 100).toFixed(digits)} %`;
}
