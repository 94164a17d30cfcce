// What the pictures have in common: colours of the theme, sharp canvases, tooltips, zooming along one axis.

const kCategoryColours = {
  "matmul": "--c-matmul", "vector": "--c-vector", "data movement": "--c-data", "collective": "--c-collective",
  "host": "--c-host", "custom call": "--c-custom", "control": "--c-control", "waiting": "--c-waiting",
};

let themeColours = {};
function colour(name) {
  if (!(name in themeColours))
    themeColours[name] = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return themeColours[name];
}
function categoryColour(category) { return colour(kCategoryColours[category] || "--c-control"); }
function themeChanged() { themeColours = {}; }

/** A swatch beside a word, so that colour alone never tells. */
function swatch(variable) { return h("span", {class: "swatch", "aria-hidden": "true", style: {background: `var(${variable})`}}); }
/** What the colours mean; only of those that occur. */
function legend(colours, occur) {
  return h("ul", {class: "legend"}, Object.entries(colours).filter(([name]) => occur.has(name)).map(
    ([name, variable]) => h("li", {}, swatch(variable), name)));
}

/** Black or white, whichever is easier to read on a colour of the theme (#rrggbb). */
function inkOn(fill) {
  const linear = [1, 3, 5].map((at) => {
    const part = parseInt(fill.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "#000" : "#fff";
}

/** Fits the canvas to its box at the screen's resolution. */
function prepare(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  context.textBaseline = "middle";
  return context;
}

function showTooltip(event, lines) {
  const box = $("#tooltip");
  box.replaceChildren(h("strong", {}, lines[0]), ...lines.slice(1).map((line) => h("div", {}, line)));
  box.hidden = false;
  const room = 14;
  const left = Math.min(event.clientX + room, window.innerWidth - box.offsetWidth - 6);
  let top = event.clientY + room;
  if (top + box.offsetHeight > window.innerHeight) top = event.clientY - box.offsetHeight - room;
  box.style.left = Math.max(4, left) + "px";
  box.style.top = Math.max(4, top) + "px";
}
function hideTooltip() { $("#tooltip").hidden = true; }

/** Text cut to a width, "…" at its end; nothing where not even three letters fit. */
function drawText(context, text, x, y, width) {
  if (width < 24) return;
  const whole = context.measureText(text).width;
  if (whole <= width) return context.fillText(text, x, y);
  let most = Math.floor(text.length * (width - 10) / whole);
  while (most > 0 && context.measureText(text.slice(0, most)).width > width - 10) --most;
  if (most >= 3) context.fillText(text.slice(0, most) + "…", x, y);
}

/**
 * A part with a picture: drawn at most once a frame, again when its box, the theme or what it shows changes. Derived
 * classes have paint(context), pressed, hovered and clicked; height, and isReady() once there is something to paint.
 */
class PictureView {
  makeCanvas(id, label, more = {}) {
    this.canvas = h("canvas", {class: "picture", tabindex: 0, role: "application", id, "aria-label": label,
                               onkeydown: (event) => this.pressed(event), onpointermove: (event) => this.hovered(event),
                               onpointerleave: hideTooltip, onclick: (event) => this.clicked(event), ...more});
    new ResizeObserver(() => this.later()).observe(this.element);
  }
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }
  draw() {
    if (!this.canvas || !this.isReady()) return;
    this.width = this.canvas.clientWidth;
    if (this.width > 0) this.paint(prepare(this.canvas, this.width, this.height));
  }
  theme() { this.later(); }
  shown() {
    this.later();
    if (this.table) this.table.render(true);
  }
  print() {
    this.draw();
    if (this.table) this.table.print(25);
  }
}

/** Round numbers between low and high, about `count`, at least `least` apart. */
function ticks(low, high, count, least = 0) {
  const rough = Math.max(least, (high - low) / Math.max(1, count));
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) * power;
  const marks = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) marks.push(at);
  return marks;
}

/** Numbers 1, 2, 5, 10, … within 10^low to 10^high; only powers of ten where there is no room for all. */
function logTicks(low, high, room) {
  const factors = (high - low) * 3 <= room ? [1, 2, 5] : [1];
  const marks = [];
  for (let power = Math.floor(low); power <= Math.ceil(high); ++power)
    for (const factor of factors) {
      const place = power + Math.log10(factor);
      if (place >= low - 1e-9 && place <= high + 1e-9) marks.push(factor * 10 ** power);
    }
  return marks;
}

/** Index of the last of ascending values that isn't above `limit`; 0 if all are. */
function lastUpTo(values, limit) {
  let last = 0;
  for (let low = 0, high = values.length - 1; low <= high;) {
    const middle = (low + high) >> 1;
    if (values[middle] <= limit) last = middle, low = middle + 1;
    else high = middle - 1;
  }
  return last;
}

/** The part of [0, whole] that is in sight. */
class Window1D {
  constructor(whole, least, changed) {
    Object.assign(this, {whole: Math.max(whole, 1e-9), least, changed, low: 0, high: Math.max(whole, 1e-9)});
  }
  get span() { return this.high - this.low; }
  set(low, high) {
    const span = Math.min(this.whole, Math.max(this.least, high - low));
    low = Math.min(Math.max(0, (low + high) / 2 - span / 2), this.whole - span);
    this.low = low;
    this.high = low + span;
    this.changed();
  }
  zoom(factor, at = (this.low + this.high) / 2) {
    const span = Math.min(this.whole, Math.max(this.least, this.span * factor));
    const share = (at - this.low) / this.span;
    const low = Math.min(Math.max(0, at - share * span), this.whole - span);
    this.low = low;
    this.high = low + span;
    this.changed();
  }
  pan(by) {
    const low = Math.min(Math.max(0, this.low + by), this.whole - this.span);
    this.high = low + this.span;
    this.low = low;
    this.changed();
  }
  fit() { this.set(0, this.whole); }
  show(low, high) {
    if (low < this.low || high > this.high || (high - low) < this.span / 400) {
      const span = Math.max((high - low) * 6, Math.min(this.span, this.whole / 20), this.least);
      this.set((low + high) / 2 - span / 2, (low + high) / 2 + span / 2);
    }
  }
}

/** Wheel, drag and keys that zoom and pan `view` on `canvas`. x(): the canvas' left edge and width of the axis. */
function zoomable(canvas, view, axis) {
  const at = (event) => {
    const {left, width} = axis();
    return view.low + (event.offsetX - left) / width * view.span;
  };
  canvas.addEventListener("wheel", (event) => {
    const wanted = event.ctrlKey || event.metaKey || document.activeElement === canvas;
    if (!wanted && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.pan(event.deltaX / axis().width * view.span);
    else view.zoom(2 ** (event.deltaY / 240), at(event));
  }, {passive: false});
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = {x: event.clientX, low: view.low, high: view.high, moved: false};
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag || !event.buttons) return;
    const by = event.clientX - drag.x;
    if (Math.abs(by) > 3) drag.moved = true;
    if (!drag.moved) return;
    hideTooltip();
    const shift = by / axis().width * (drag.high - drag.low);
    view.set(drag.low - shift, drag.high - shift);
  });
  canvas.addEventListener("pointerup", () => { canvas.wasDragged = Boolean(drag && drag.moved); drag = null; });
}
function zoomKey(event, view) {
  const keys = {
    "+": () => view.zoom(0.5), "=": () => view.zoom(0.5), "w": () => view.zoom(0.5),
    "-": () => view.zoom(2), "s": () => view.zoom(2),
    "a": () => view.pan(-view.span / 8), "d": () => view.pan(view.span / 8), "0": () => view.fit(),
  };
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return false;
  keys[event.key]();
  event.preventDefault();
  return true;
}
function zoomButtons(view) {
  return h("span", {class: "buttons", role: "group", "aria-label": "Zoom"},
           h("button", {type: "button", onclick: () => view.zoom(0.5), "aria-label": "Zoom in", title: "Zoom in (+)"}, "+"),
           h("button", {type: "button", onclick: () => view.zoom(2), "aria-label": "Zoom out", title: "Zoom out (-)"}, "−"),
           h("button", {type: "button", onclick: () => view.pan(-view.span / 4), "aria-label": "Earlier", title: "Earlier (a)"}, "‹"),
           h("button", {type: "button", onclick: () => view.pan(view.span / 4), "aria-label": "Later", title: "Later (d)"}, "›"),
           h("button", {type: "button", onclick: () => view.fit(), title: "Everything (0)"}, "All"));
}
