// Saves the view as a picture, a drawing or a short video.

import { paintChart } from "./axes.js";
import { paintPage } from "./picture.js";
import { SvgContext } from "./svg.js";
import { colours, font, isLarge, type } from "./theme.js";

const element = (id) => document.getElementById(id);
const SECONDS = 8; // of a video
const FRAMES = 25; // a second
const KINDS = [["video/webm;codecs=vp9", "webm"], ["video/webm", "webm"], ["video/mp4", "mp4"]];

/** Fills the menu. */
export function startSaving(page) {
  const menu = element("save");
  const act = (id, what) => element(id).addEventListener("click", async () => {
    menu.open = false;
    try {
      await what(page);
    } catch (error) {
      element("wrong").hidden = false;
      element("wrong").textContent = `It cannot be saved: ${error.message}`;
    }
  });
  act("save-png", savePng);
  act("save-svg", saveSvg);
  act("save-video", saveVideo);
}

function root(page) {
  return element(page.tab === "play" ? "play-page" : "watch");
}

/** Objects that draw themselves, by their element. */
function painters(page, sharp) {
  const found = new Map();
  const charts = page.tab === "play"
    ? page.play.sides.flatMap((side) => [side.sequence, side.window, side.bursts])
    : [page.view.sequence, page.view.window];
  for (const chart of charts) {
    found.set(chart.place, (context) => {
      if (sharp) paintChart(chart, context);
      else copy(context, chart.plot?.ctx.canvas, chart);
    });
  }
  if (page.tab === "play") return found;
  const { network, gantt } = page.view;
  const still = (context) => network.paintStill(context);
  const moving = (context) => network.paintMoving(context);
  found.set(element("fibres"), sharp ? still : (context) => copy(context, element("fibres")));
  found.set(element("bursts"), sharp ? moving : (context) => copy(context, element("bursts")));
  found.set(element("gantt"), sharp ? (context) => gantt.paint(context)
    : (context) => copy(context, element("gantt")));
  return found;
}

/** Draws a canvas of the page as it is, and the line of the present over a chart. */
function copy(context, canvas, chart = null) {
  if (!canvas) return;
  const ratio = devicePixelRatio || 1;
  context.drawImage(canvas, 0, 0, canvas.width / ratio, canvas.height / ratio);
  if (!chart || chart.head.hidden) return;
  const { left, top, height } = chart.plot.bbox;
  const x = left / ratio + new DOMMatrix(chart.head.style.transform).e;
  context.fillStyle = colours.ink;
  context.fillRect(x, top / ratio, 1.5, height / ratio);
}

/** The title of a picture, above all that it shows. */
function title() {
  return `Burstlab · ${element("title").textContent}`;
}

function titleHeight() {
  return 34 * type.scale;
}

function paintTitle(context, width) {
  context.font = font(600, 16);
  Object.assign(context, { fillStyle: colours.ink, textAlign: "left", textBaseline: "middle" });
  let text = title();
  while (text.length > 1 && context.measureText(text).width > width - 40) {
    text = `${text.slice(0, -2)}…`;
  }
  context.fillText(text, 20, titleHeight() / 2);
}

function paint(page, context, sharp) {
  const part = root(page);
  const { left, top } = part.getBoundingClientRect();
  const { width, height } = size(page);
  const begin = titleHeight();
  context.fillStyle = colours.page;
  context.fillRect(0, 0, width, height);
  paintTitle(context, width);
  if (page.tour.number === null) {
    paintPage(context, part, { left, top: top - begin }, painters(page, sharp));
    return;
  }
  const above = element("tour").getBoundingClientRect();
  paintPage(context, element("tour"), { left, top: above.top - begin }, new Map());
  const below = top - above.height - 12 - begin;
  paintPage(context, part, { left, top: below }, painters(page, sharp));
}

function size(page) {
  const { width, top } = root(page).getBoundingClientRect();
  // Down to the last drawing; inputs and buttons are left out.
  const last = page.tab === "play" ? ["pair", "control-panel"] : ["network-panel", "gantt-panel",
    "window-panel"];
  const bottoms = last.map((id) => element(id).getBoundingClientRect().bottom);
  const above = page.tour.number === null ? 0 : element("tour").offsetHeight + 12;
  const high = titleHeight() + Math.max(...bottoms) - top + above + 14;
  return { width: Math.ceil(width), height: Math.ceil(high) };
}

function canvasOf({ width, height }, scale) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.floor((width * scale) / 2) * 2;
  canvas.height = Math.floor((height * scale) / 2) * 2;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  return { canvas, context };
}

async function savePng(page) {
  const { canvas, context } = canvasOf(size(page), 2);
  // Drawn anew, and not copied, so that it is sharp at twice the size.
  paint(page, context, true);
  const blob = await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
  save(blob, name(page, "png"));
}

function saveSvg(page) {
  const context = new SvgContext();
  paint(page, context, true);
  const { width, height } = size(page);
  const text = context.text(width, height, title());
  save(new Blob([text], { type: "image/svg+xml" }), name(page, "svg"));
}

/** Records what is seen from now on: a run plays meanwhile. */
async function saveVideo(page) {
  const kind = KINDS.find(([one]) => globalThis.MediaRecorder?.isTypeSupported(one));
  if (!kind) throw new Error("this browser records no video");
  const { canvas, context } = canvasOf(size(page), isLarge() ? 1 : 1.25);
  const recorder = new MediaRecorder(canvas.captureStream(FRAMES), {
    mimeType: kind[0], videoBitsPerSecond: 6e6,
  });
  const parts = [];
  recorder.addEventListener("dataavailable", ({ data }) => parts.push(data));
  const ended = new Promise((resolve) => { recorder.addEventListener("stop", resolve); });
  const button = element("save").querySelector("summary");
  const { transport } = page.view;
  const turn = page.tab === "watch" && !transport.playing;
  paint(page, context, false);
  recorder.start();
  if (turn) transport.toggle();
  const began = performance.now();
  const seconds = page.tab === "watch" ? page.recorded ?? SECONDS : 1;
  await new Promise((resolve) => {
    const step = () => {
      const left = seconds - (performance.now() - began) / 1000;
      button.textContent = `Recording, ${Math.max(0, left).toFixed(0)} s`;
      paint(page, context, false);
      if (left > 0) setTimeout(step, 1000 / FRAMES);
      else resolve();
    };
    step();
  });
  if (turn && transport.playing) transport.toggle();
  recorder.stop();
  await ended;
  button.textContent = "Save";
  save(new Blob(parts, { type: kind[0] }), name(page, kind[1]));
}

function name(page, ending) {
  const about = page.tab === "play" ? page.play.title : page.view.about.title;
  return `${about.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40)}.${ending}`;
}

function save(blob, file) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
