// Answers that stand in the file itself, where the page was exported and no server is asked
// (burstlab/page/exporting.py).

import { lowerBound } from "./search.js";

const part = document.getElementById("answers");
const answers = part ? JSON.parse(part.textContent) : null;
const opened = new Map();

/** Whether this page is a file of its own. */
export const alone = answers !== null;

/** The name of an answer: that of the request, with its parameters in alphabetical order. */
export function key(name, query) {
  const parts = Object.entries(query).map(([field, value]) => `${field}=${value}`).sort();
  return [name, ...parts].join("&");
}

async function open(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).arrayBuffer();
}

/** Answers the bytes of an answer, and whether they are JSON. */
export async function inFile(name, query) {
  const wanted = key(name, query);
  const found = answers[wanted];
  if (!found) throw new Error(`${name}: this is not in the file (${wanted})`);
  if (!opened.has(wanted)) opened.set(wanted, open(found.content));
  return { json: found.json, content: await opened.get(wanted) };
}

/** Bursts of a stretch of time out of all that there are; the columns are shared, not copied. */
export function stretch(all, from, to) {
  const { left_s: left, end_s: end } = all;
  all.longest ??= left.reduce((most, at, i) => Math.max(most, end[i] - at), 0);
  all.reach ??= all.about.reach_s + all.longest;
  const [begin, stop] = [lowerBound(left, from - all.reach), lowerBound(left, to)];
  const found = { about: all.about };
  for (const [name, column] of Object.entries(all)) {
    if (ArrayBuffer.isView(column)) found[name] = column.subarray(begin, stop);
  }
  return found;
}
