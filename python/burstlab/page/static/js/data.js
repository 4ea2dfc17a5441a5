// Answers of the server or of the file: JSON, or columns as typed arrays (page/columns.py).

import { alone, inFile, stretch } from "./file.js";

export { lowerBound } from "./search.js";

const ARRAYS = {
  Float64Array, Float32Array, Uint32Array, Int32Array, Uint16Array, Int16Array, Uint8Array,
};
const unpacked = new WeakMap();

async function get(name, query) {
  const asked = new URLSearchParams(query);
  const answer = await fetch(`data/${name}?${asked}`);
  if (!answer.ok) throw new Error(`${name}: ${(await answer.text()).trim()}`);
  return answer;
}

export async function json(name, query = {}) {
  if (!alone) return (await get(name, query)).json();
  const { content } = await inFile(name, query);
  return JSON.parse(new TextDecoder().decode(content));
}

/** Answers { about, columnName: typedArray, ... }; of a JSON answer, the document. */
export async function columns(name, query = {}) {
  if (alone) return fromFile(name, query);
  const answer = await get(name, query);
  if (answer.headers.get("Content-Type").startsWith("application/json")) return answer.json();
  return unpack(await answer.arrayBuffer());
}

async function fromFile(name, { from, to, ...query }) {
  const found = await inFile(name, query);
  if (found.json) return JSON.parse(new TextDecoder().decode(found.content));
  if (!unpacked.has(found.content)) unpacked.set(found.content, unpack(found.content));
  const all = unpacked.get(found.content);
  return from === undefined ? all : stretch(all, from, to);
}

export function unpack(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  const begin = Math.ceil((4 + size) / 8) * 8;
  const found = { about: head.about };
  for (const { name, type, start, length } of head.columns) {
    found[name] = new ARRAYS[type](buffer, begin + start, length);
  }
  return found;
}

/** A time as text, as exact as a step asks for. */
export function seconds(value, step = 1e-3) {
  const [unit, scale] = step >= 0.1 ? ["s", 1] : step >= 1e-4 ? ["ms", 1e3] : ["µs", 1e6];
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step * scale) - 1e-9)));
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${(value * scale).toLocaleString("en", options).replaceAll(",", "\u202f")} ${unit}`;
}
