// Draws the screen on a context: boxes and text of the document, then its canvases.

const LEFT_OUT = "button:not(.term), input, summary, .menu, .transport, .tools, nav, #tip, #wrong,"
  + " .uplot, dialog, small, pre, .rerun, #chosen-actions";

/** Draws a part of the document and all in it; `painters` draw what elements of some ids show. */
export function paintPage(context, root, origin, painters) {
  paintElement(context, root, origin, painters);
}

function paintElement(context, element, origin, painters) {
  if (element.hidden || element.matches(LEFT_OUT)) return;
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden") return;
  const box = element.getBoundingClientRect();
  const [left, top] = [box.left - origin.left, box.top - origin.top];
  paintBox(context, style, left, top, box);
  const paint = painters.get(element);
  if (paint) {
    context.save();
    context.translate(left, top);
    paint(context);
    context.restore();
    return;
  }
  if (element.tagName === "SELECT") {
    paintSelect(context, element, style, left, top, box);
  } else if (element.tagName === "svg") {
    paintSvg(context, element, style, left, top, box);
  } else {
    for (const child of element.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) paintText(context, child, style, origin);
      else if (child.nodeType === Node.ELEMENT_NODE) {
        paintElement(context, child, origin, painters);
      }
    }
  }
}

const clear = (colour) => colour === "transparent" || /, 0\)$/.test(colour);

function paintBox(context, style, left, top, { width, height }) {
  if (style.borderTopStyle === "dashed") {
    context.beginPath();
    context.moveTo(left, top + 1);
    context.lineTo(left + width, top + 1);
    context.setLineDash([4, 3]);
    Object.assign(context, { strokeStyle: style.borderTopColor, lineWidth: 1.6 });
    context.stroke();
    context.setLineDash([]);
  }
  if (clear(style.backgroundColor) || !width || !height) return;
  context.beginPath();
  context.roundRect(left, top, width, height, parseFloat(style.borderTopLeftRadius) || 0);
  context.fillStyle = style.backgroundColor;
  context.fill();
}

function typed(context, style) {
  context.font = `${style.fontWeight} ${parseFloat(style.fontSize)}px ${style.fontFamily}`;
  context.fillStyle = style.color;
  context.textAlign = "left";
  context.textBaseline = "middle";
}

/** Draws a text word by word, where the browser has put each. */
function paintText(context, node, style, origin) {
  const text = node.textContent;
  typed(context, style);
  const range = document.createRange();
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getClientRects()[0];
    if (!box?.width) continue;
    context.fillText(word, box.left - origin.left, box.top - origin.top + box.height / 2);
  }
}

function paintSelect(context, element, style, left, top, { height }) {
  typed(context, style);
  const text = element.selectedOptions[0]?.textContent ?? "";
  context.fillText(text, left + parseFloat(style.paddingLeft), top + height / 2);
}

/** Draws the rectangles and paths of a small picture. */
function paintSvg(context, svg, { color }, left, top, { width, height }) {
  const { x, y, width: wide, height: high } = svg.viewBox.baseVal;
  const [sx, sy] = [width / wide, height / high];
  const read = (value) => (value === "currentColor" ? color : value);
  for (const part of svg.children) {
    const style = getComputedStyle(part);
    const fill = read(style.fill);
    if (part.tagName === "rect") {
      const [a, b, c, d] = ["x", "y", "width", "height"].map((name) => +part.getAttribute(name));
      context.fillStyle = fill;
      context.fillRect(left + a * sx, top + b * sy, c * sx, d * sy);
      continue;
    }
    const turn = context.getTransform();
    context.translate(left - x * sx, top - y * sy);
    const scaled = steps(part.getAttribute("d"), sx, sy);
    const path = context.track?.(scaled) ?? new Path2D(scaled);
    if (fill !== "none") {
      context.fillStyle = fill;
      context.fill(path);
    }
    context.strokeStyle = read(style.stroke);
    context.lineWidth = parseFloat(style.strokeWidth) || 1;
    if (style.stroke !== "none") context.stroke(path);
    context.setTransform(turn);
  }
}

/** A path with its numbers scaled, letter by letter. */
function steps(d, sx, sy) {
  return d.replace(/([A-Za-z])([^A-Za-z]*)/g, (_, letter, rest) => {
    const numbers = rest.match(/-?[\d.]+/g) ?? [];
    const across = /[hH]/.test(letter);
    const down = /[vV]/.test(letter);
    return letter + numbers.map((one, i) => {
      const scale = across ? sx : down ? sy : i % 2 ? sy : sx;
      return +(one * scale).toFixed(3);
    }).join(",");
  });
}
