// The network: fibres and nodes on one canvas, and on another what moves, drawn every frame.

import { lowerBound } from "./data.js";
import { burstLines, fibreLines } from "./telling.js";
import { colours, fit, font, type, uncut } from "./theme.js";

const FADE = 0.9; // seconds on the screen that a death is seen
const NODE = 12;
const DOT = 2.6;
const CELL = 6.4; // of a packet that waits

export class NetworkView {
  constructor(still, moving) {
    this.still = still;
    this.moving = moving;
    this.burst = null;
    this.onFibre = () => {};
    this.onBurst = () => {};
    moving.addEventListener("click", (event) => this.choose(event));
  }

  /** Shows another network. */
  setNetwork(network) {
    this.network = network;
    this.chosen = 0;
    this.longest = Math.max(...network.fibres.map((fibre) => fibre.delay_s));
    this.setFlow(null);
    this.burst = null;
    this.drawn = null;
  }

  /** Places nodes and fibres in the canvas, and draws what does not move. */
  layOut() {
    const { context, width, height } = fit(this.still);
    this.place(width, height);
    context.clearRect(0, 0, width, height);
    this.paintStill(context);
    fit(this.moving);
  }

  paintStill(context) {
    context.lineCap = "round";
    for (const [index, line] of this.lines.entries()) this.drawFibre(context, index, line);
    this.drawNodes(context);
  }

  place(width, height) {
    const { nodes, fibres, path } = this.network;
    // The hosts of a path are drawn to its left and right.
    const side = path ? Math.max(Math.min(90, width * 0.2), width * 0.14) : 34;
    // Names too long for their node stand below it.
    const above = 36 + 12 * type.scale;
    const [xs, ys] = [nodes.map((node) => node.x), nodes.map((node) => node.y)];
    const [west, east] = [Math.min(...xs), Math.max(...xs)];
    const [north, south] = [Math.min(...ys), Math.max(...ys)];
    const wide = (width - 2 * side) / (east - west || 1);
    const high = (height - 2 * above) / (south - north || 1);
    // Both directions are stretched alike, as far as the room allows.
    const tall = Math.min(high, wide * 1.5);
    const broad = south - north < 1e-3 ? wide : Math.min(wide, tall * 1.6);
    this.points = nodes.map((node) => ({
      x: width / 2 + (node.x - (west + east) / 2) * broad,
      y: height / 2 + (node.y - (north + south) / 2) * tall,
    }));
    this.lines = fibres.map((fibre) => this.line(fibre));
    this.width = width;
    this.height = height;
  }

  /** A fibre from rim to rim, next to that of the reverse direction. */
  line(fibre) {
    const [a, b] = [this.points[fibre.from], this.points[fibre.to]];
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const [dx, dy] = [(b.x - a.x) / length, (b.y - a.y) / length];
    const lane = this.network.path ? 9 : Math.min(3.6, 14 / fibre.wavelengths);
    const gap = this.network.path ? 4 : 1.5;
    const inset = Math.min(NODE, length / 3);
    return {
      // On the left of its direction: on a path data goes above, ACKs below.
      nx: dy, ny: -dx, dx, dy, gap, lane,
      x: a.x + dx * inset, y: a.y + dy * inset,
      length: length - 2 * inset,
      wide: lane * fibre.wavelengths,
    };
  }

  drawFibre(context, index, { x, y, dx, dy, nx, ny, gap, wide, length }) {
    const off = gap + wide / 2;
    const [sx, sy] = [x + nx * off, y + ny * off];
    context.beginPath();
    context.moveTo(sx, sy);
    context.lineTo(sx + dx * length, sy + dy * length);
    context.lineWidth = wide + 1.5;
    context.strokeStyle = index === this.chosen ? colours.line : colours.grid;
    context.stroke();
  }

  drawNodes(context) {
    const { nodes, path } = this.network;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = font(600);
    const below = NODE + 10 + 12 * type.scale;
    for (const [index, { x, y }] of this.points.entries()) {
      context.beginPath();
      context.arc(x, y, NODE, 0, 2 * Math.PI);
      context.fillStyle = colours.panel;
      context.fill();
      context.strokeStyle = colours.muted;
      context.lineWidth = 1.5;
      context.stroke();
      const { name } = nodes[index];
      const inside = context.measureText(name).width < 2 * NODE - 4;
      context.fillStyle = colours.ink;
      const at = uncut(context, name, x, 0, this.width);
      context.fillText(name, at, inside ? y + 0.5 : y + below);
    }
    if (path) this.drawHosts(context);
  }

  drawHosts(context) {
    const { nodes } = this.network;
    for (const [name, { x, y }, edge] of [
      ["sender", this.host(0), { ...nodes[0], ...this.points[0] }],
      ["receiver", this.host(1), { ...nodes.at(-1), ...this.points.at(-1) }],
    ]) {
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(edge.x + Math.sign(x - edge.x) * NODE, edge.y);
      context.strokeStyle = colours.grid;
      context.lineWidth = 2;
      context.stroke();
      context.beginPath();
      context.roundRect(x - 11, y - 11, 22, 22, 4);
      context.fillStyle = colours.panel;
      context.fill();
      context.strokeStyle = colours.muted;
      context.stroke();
      context.fillStyle = colours.ink;
      // A line lower where it would overlap the name of the next edge node.
      const half = (context.measureText(name).width + context.measureText(edge.name).width) / 2;
      const lower = Math.abs(edge.x - x) < half + 6 ? 15 * type.scale : 0;
      const at = uncut(context, name, x, 0, this.width);
      context.fillText(name, at, y + 22 + 12 * type.scale + lower);
    }
  }

  host(far) {
    const { x, y } = far ? this.points.at(-1) : this.points[0];
    const out = 22 + 12 * type.scale;
    return { x: far ? Math.min(this.width - out, x + 150) : Math.max(out, x - 150), y };
  }

  /** Which flow's bursts are bright; on a path its packets are drawn on the access links too. */
  setFlow(flow) {
    this.flow = flow;
    this.carrier = new Set(flow?.carrier ?? []);
  }

  choose(event) {
    const { x, y } = placeOf(event, this.moving);
    const row = this.burstAt(x, y);
    if (row !== null) {
      this.onBurst(this.drawn.found, row);
      return;
    }
    const index = this.fibreAt(x, y);
    if (index >= 0) this.onFibre(index);
  }

  /** The position of a point of the canvas relative to a fibre: along it, and off it. */
  offset(line, x, y, off = line.gap + line.wide / 2) {
    const [rx, ry] = [x - line.x - line.nx * off, y - line.y - line.ny * off];
    return { along: rx * line.dx + ry * line.dy, far: Math.abs(rx * line.nx + ry * line.ny) };
  }

  fibreAt(x, y) {
    let best = { index: -1, far: 14 };
    for (const [index, line] of this.lines.entries()) {
      const { along, far } = this.offset(line, x, y);
      if (along > 0 && along < line.length && far < best.far) best = { index, far };
    }
    return best.index;
  }

  /** The row of the burst at a place, of those that were drawn last. */
  burstAt(x, y) {
    if (!this.drawn) return null;
    let best = { row: null, far: 9 };
    for (const { i, head, tail } of this.under(this.drawn.time, this.drawn.found)) {
      const line = this.lines[this.drawn.found.fibre[i]];
      const off = line.gap + (this.drawn.found.wavelength[i] + 0.5) * line.lane;
      const { along, far } = this.offset(line, x, y, off);
      const [from, to] = this.extent(line, head, tail);
      const away = Math.hypot(far, Math.max(0, from - along, along - to));
      if (away < best.far) best = { row: i, far: away };
    }
    return best.row;
  }

  /** Lines about what lies at a place. */
  about(x, y) {
    const row = this.burstAt(x, y);
    if (row !== null) return burstLines(this.network, this.drawn.found, row);
    const node = this.points.findIndex((one) => Math.hypot(one.x - x, one.y - y) < NODE + 2);
    if (node >= 0) return [`node ${this.network.nodes[node].name}`];
    const index = this.fibreAt(x, y);
    return index < 0 ? null : fibreLines(this.network, index);
  }

  /** Rows of the bursts that are on fibres at a time, with where their first and last bit are. */
  * under(time, found) {
    const begin = lowerBound(found.left_s, time - found.longest - this.longest);
    for (let i = begin; i < found.left_s.length && found.left_s[i] <= time; i += 1) {
      if (found.wavelength[i] < 0) continue;
      const delay = this.network.fibres[found.fibre[i]].delay_s || 1e-9;
      const tail = (time - found.end_s[i]) / delay;
      if (tail < 1) yield { i, head: Math.min(1, (time - found.left_s[i]) / delay), tail };
    }
  }

  /** Draws bursts at a time; answers how many there are, and how many are doomed. */
  draw(time, speed, found) {
    const { context, width, height } = fit(this.moving);
    context.clearRect(0, 0, width, height);
    this.drawn = found ? { time, speed, found } : null;
    return this.paintMoving(context);
  }

  paintMoving(context) {
    if (!this.drawn) return { moving: 0, doomed: 0 };
    const { time, speed, found } = this.drawn;
    const fade = FADE * speed;
    const strokes = new Map();
    let [moving, doomed] = [0, 0];
    for (const { i, head, tail } of this.under(time, found)) {
      moving += 1;
      doomed += found.lost[i];
      this.addBurst(context, strokes, found, i, head, tail);
    }
    this.stroke(context, strokes);
    const begin = lowerBound(found.left_s, time - fade);
    for (let i = begin; i < found.left_s.length && found.left_s[i] <= time; i += 1) {
      if (found.wavelength[i] >= 0) continue;
      this.drawDeath(context, found, i, (time - found.left_s[i]) / fade);
    }
    if (this.network.path && this.flow) this.drawPackets(context, time);
    return { moving, doomed };
  }

  extent(line, head, tail) {
    const least = Math.max(0, head - (this.network.path ? 11 : 5) / line.length);
    return [Math.max(0, Math.min(tail, least)) * line.length, head * line.length];
  }

  addBurst(context, strokes, found, i, head, tail) {
    const line = this.lines[found.fibre[i]];
    const bright = this.carrier.has(found.burst[i]);
    const key = (found.lost[i] ? 3 : Math.min(found.kind[i], 2)) * 2 + (bright ? 1 : 0);
    if (!strokes.has(key)) {
      strokes.set(key, { path: context.track?.() ?? new Path2D(), lane: line.lane });
    }
    const [from, to] = this.extent(line, head, tail);
    const off = line.gap + (found.wavelength[i] + 0.5) * line.lane;
    const [x, y] = [line.x + line.nx * off, line.y + line.ny * off];
    const { path } = strokes.get(key);
    path.moveTo(x + line.dx * from, y + line.dy * from);
    path.lineTo(x + line.dx * to, y + line.dy * to);
    if (found.burst[i] === this.burst) {
      const middle = (from + to) / 2;
      context.beginPath();
      context.arc(x + line.dx * middle, y + line.dy * middle, 13, 0, 2 * Math.PI);
      context.strokeStyle = colours.ink;
      context.lineWidth = 1.8;
      context.stroke();
    }
  }

  stroke(context, strokes) {
    const colour = [colours.first, colours.cut, colours.muted, colours.lost];
    const anyBright = this.carrier.size > 0;
    context.lineCap = "butt";
    for (const key of [...strokes.keys()].sort((a, b) => (a & 1) - (b & 1) || a - b)) {
      const { path, lane } = strokes.get(key);
      context.globalAlpha = key & 1 || !anyBright || key >> 1 === 3 ? 1 : 0.6;
      context.lineWidth = Math.max(1.6, lane * (key & 1 && !this.network.path ? 1.6 : 0.85));
      context.strokeStyle = colour[key >> 1];
      context.stroke(path);
    }
    context.globalAlpha = 1;
  }

  drawDeath(context, found, i, share) {
    const line = this.lines[found.fibre[i]];
    const off = line.gap + line.wide / 2;
    const [x, y] = [line.x + line.nx * off, line.y + line.ny * off];
    const ease = 1 - (1 - share) ** 2;
    context.globalAlpha = 1 - share;
    context.strokeStyle = colours.lost;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, 5 + 17 * ease, 0, 2 * Math.PI);
    context.stroke();
    context.lineWidth = 2.6;
    context.beginPath();
    context.moveTo(x - 5, y - 5);
    context.lineTo(x + 5, y + 5);
    context.moveTo(x + 5, y - 5);
    context.lineTo(x - 5, y + 5);
    context.stroke();
    context.globalAlpha = 1;
  }

  /** Packets between hosts and edges, and those that wait there to become a burst. */
  drawPackets(context, time) {
    const ends = [this.points[0], this.points.at(-1)];
    // Data of the reverse direction start at the last node.
    const turned = this.flow.turned?.[0] ?? 0;
    const kinds = [["data", turned, colours.first], ["ack", 1 - turned, colours.cut]];
    for (const [kind, from, colour] of kinds) {
      const sent = this.flow[`${kind}_sent`];
      const [at, left, done] = ["ingress", "departed", "delivered"].map(
        (name) => this.flow[`${kind}_${name}`],
      );
      const access = this.access(kind);
      context.fillStyle = colour;
      let waiting = 0;
      for (let i = lowerBound(sent, time - 5); i < sent.length && sent[i] <= time; i += 1) {
        if (time < at[i]) {
          const share = 1 - (at[i] - time) / access;
          if (share >= 0) this.dot(context, this.host(from), ends[from], share, kind);
        } else if (time < left[i]) {
          this.wait(context, ends[from], waiting, kind);
          waiting += 1;
        } else if (time < done[i] && time > done[i] - access) {
          const share = 1 - (done[i] - time) / access;
          this.dot(context, ends[1 - from], this.host(1 - from), share, kind);
        }
      }
      if (waiting) this.tell(context, ends[from], waiting, kind);
    }
  }

  tell(context, { x, y }, waiting, kind) {
    const high = Math.ceil(Math.min(waiting, 8 * 6) / 8) * CELL;
    const side = kind === "data" ? -1 : 1;
    context.font = font();
    context.textAlign = "center";
    context.textBaseline = "middle";
    const text = `${waiting} waiting`;
    const at = uncut(context, text, x, 0, this.width);
    context.fillText(text, at, y + side * (NODE + (side > 0 ? 40 : 22) + high));
  }

  access(kind) {
    const name = `${kind}_access`;
    if (this.flow[name] === undefined) {
      let least = Infinity;
      const [sent, at] = [this.flow[`${kind}_sent`], this.flow[`${kind}_ingress`]];
      for (let i = 0; i < sent.length; i += 1) if (at[i] - sent[i] < least) least = at[i] - sent[i];
      this.flow[name] = Number.isFinite(least) ? Math.max(least, 1e-9) : 1e-9;
    }
    return this.flow[name];
  }

  dot(context, from, to, share, kind) {
    const y = from.y + (kind === "data" ? -8.5 : 8.5);
    context.beginPath();
    context.arc(from.x + (to.x - from.x) * share, y, DOT, 0, 2 * Math.PI);
    context.fill();
  }

  wait(context, edge, place, kind) {
    const side = kind === "data" ? -1 : 1;
    const [column, row] = [place % 8, Math.floor(place / 8)];
    if (row >= 6) return;
    const y = edge.y + side * (NODE + (side > 0 ? 36 : 12) + row * CELL);
    context.fillRect(edge.x - 4 * CELL + column * CELL, y - 2.5, 5, 5);
  }
}

function placeOf(event, canvas) {
  const box = canvas.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}
