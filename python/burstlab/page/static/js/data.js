// What the server answers: JSON, or columns as typed arrays (burstlab/page/columns.py).

const ARRAYS = {
  Float64Array, Float32Array, Uint32Array, Int32Array, Uint16Array, Int16Array, Uint8Array,
};

/** Which run of a study is meant: what the address says, else what the command said. */
const RUN = ["point", "scheme", "replication"];

export function chosenRun() {
  const asked = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(RUN.filter((name) => asked.has(name)).map((n) => [n, asked.get(n)]));
}

async function get(name, query, signal) {
  const every = new URLSearchParams({ ...query, ...chosenRun() });
  const answer = await fetch(`data/${name}?${every}`, { signal });
  if (!answer.ok) throw new Error(`${name}: ${(await answer.text()).trim()}`);
  return answer;
}

export async function json(name, query = {}, signal = undefined) {
  return (await get(name, query, signal)).json();
}

/** Answers { about, columnName: typedArray, ... }; of a JSON answer, the document. */
export async function columns(name, query = {}, signal = undefined) {
  const answer = await get(name, query, signal);
  if (answer.headers.get("Content-Type").startsWith("application/json")) return answer.json();
  return unpack(await answer.arrayBuffer());
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

/** The place of the first value that is not below `value`, in an array that rises. */
export function lowerBound(array, value) {
  let low = 0;
  let high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A time as text, as exact as a step asks for. */
export function seconds(value, step = 1e-3) {
  const [unit, scale] = step >= 0.1 ? ["s", 1] : step >= 1e-4 ? ["ms", 1e3] : ["µs", 1e6];
  const digits = Math.max(0, Math.min(6, Math.ceil(-Math.log10(step * scale) - 1e-9)));
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return `${(value * scale).toLocaleString("en", options).replaceAll(",", "\u202f")} ${unit}`;
}
