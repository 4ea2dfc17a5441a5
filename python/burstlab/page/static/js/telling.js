// Descriptions of a fibre and of a burst.

import { seconds } from "./data.js";

const KINDS = ["data", "ACKs", "others"];

// Number of classes of bursts in the description of a fibre.
const CLASSES = 6;

/** The fate of bursts that go no further from a node, for these causes of losses; the causes in
 * `takes` drop bursts whether or not a wavelength is free. */
export function ending({ slots, path, takes }, causes) {
  if (slots) return "dropped";
  return path || causes.some((cause) => takes.includes(cause)) ? "lost" : "refused";
}

/** Lines about a burst on a fibre, or one that goes no further. */
export function burstLines(network, found, i) {
  const { fibres, nodes, slots, path, why } = network;
  const fibre = fibres[found.fibre[i]];
  const [from, to] = [nodes[fibre.from].name, nodes[fibre.to].name];
  // On a path both directions count from 0, and the page has them in one row of numbers.
  const number = path ? Math.floor(found.burst[i] / 2) : found.burst[i];
  const load = [["packets", "packets"], ["bytes", "B"]]
    .filter(([name]) => found[name]?.[i])
    .map(([name, unit]) => `${found[name][i].toLocaleString("en")} ${unit}`).join(", ");
  const lost = found.lost[i] ? why?.(found.burst[i]) : null;
  const where = found.wavelength[i] < 0
    ? `${ending(network, [lost?.cause])} at ${from}, towards ${to}`
    : `${from} → ${to}${path || slots ? "" : `, λ${found.wavelength[i]}`}`;
  const fate = found.lost[i] && found.wavelength[i] >= 0 ? "will be lost" : "";
  const kind = KINDS[Math.min(found.kind[i], 2)];
  return [
    [`${slots ? "slot" : "burst"} ${number}`, kind, found.class && `class ${found.class[i]}`]
      .filter(Boolean).join(" · "),
    [where, fate].filter(Boolean).join(", "),
    load,
    `${found.wavelength[i] < 0 ? "at" : "left at"} ${seconds(found.left_s[i], 1e-6)}`,
    lost?.text ?? "",
  ];
}

/** Lines about the bursts of each class that came to a fibre; of many classes, those lost most. */
function classLines(classes) {
  const most = [...classes].sort((a, b) => b[2] - a[2]).slice(0, CLASSES);
  const lines = classes.filter((one) => most.includes(one)).map(([number, came, lost]) =>
    `class ${number}: ${came.toLocaleString("en")} bursts came, `
      + `${lost.toLocaleString("en")} lost here`);
  return classes.length > most.length
    ? [...lines, `and ${classes.length - most.length} more classes`] : lines;
}

/** Lines about a fibre. */
export function fibreLines({ fibres, nodes, slots }, index) {
  const fibre = fibres[index];
  const waves = `${fibre.wavelengths} wavelength${fibre.wavelengths === 1 ? "" : "s"}`;
  const used = fibre.used === null ? "" : `${(fibre.used * 100).toFixed(1)} % used`;
  return [
    `fibre ${nodes[fibre.from].name} → ${nodes[fibre.to].name}`,
    [`${+(fibre.delay_s * 1e3).toPrecision(4)} ms`, slots ? "" : waves, used]
      .filter(Boolean).join(" · "),
    ...classLines(fibre.classes ?? []),
  ];
}
