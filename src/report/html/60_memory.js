// Where every buffer lies, and when: one picture per memory space, time from left to right, addresses upwards.

const kMemoryGutter = 92, kCurve = 84, kMap = 380;
const kKindColours = {parameter: "--k-parameter", constant: "--k-constant", output: "--k-output", temporary: "--k-temporary"};

class MemoryView extends PictureView {
  constructor(app) {
    super();
    Object.assign(this, {app, id: "memory", title: "Memory", byTime: false, chosen: -1, hovering: -1});
    this.element = h("div", {});
  }

  async open() {
    this.memory = await this.app.data.part("memory");
    if (!this.memory) return put(this.element, h("p", {class: "empty"}, "A saved report has no buffers."));
    if (this.memory.unknown) {
      put(this.element, h("p", {class: "empty"}, "The addresses of buffers are unknown: " + this.memory.unknown));
      return;
    }
    if (this.memory.spaces.length === 0) {
      put(this.element, h("p", {class: "empty"}, "No array of this module needs memory."));
      return;
    }
    this.curves = new Map((await this.app.data.part("timeline")).counters.map((counter) => [counter.space, counter.points.columns]));
    this.buffers = this.memory.buffers.columns;
    this.steps = this.memory.steps.columns;
    this.stepCount = this.memory.steps.rows;
    this.spaceBox = h("span", {class: "buttons", role: "group", "aria-label": "Memory space"},
                      this.memory.spaces.map((space) => h("button", {type: "button", "data-space": space.number, "aria-pressed": "false",
                                                                     onclick: () => this.setSpace(space.number)}, space.name)));
    this.axisBox = h("span", {class: "buttons", role: "group", "aria-label": "Horizontal axis"},
                     [["by step", false], ["by time", true]].map(([text, byTime]) => h(
                       "button", {type: "button", "aria-pressed": String(byTime === this.byTime), "data-axis": text,
                                  onclick: () => this.setAxis(byTime)}, text)));
    this.makeCanvas("memory-canvas", "Buffers by time and address. Left and right arrow keys go from step to step, p to the peak, " +
                                     "plus and minus zoom. The table below lists the buffers at the step.");
    this.height = kCurve + 16 + kMap + 26;
    this.facts = h("p", {class: "facts"});
    this.makeTable();
    this.kindBox = h("span", {class: "buttons", role: "group", "aria-label": "Addresses in sight"});
    this.toolBox = h("div", {class: "tools"}, this.spaceBox, this.axisBox, this.kindBox);
    put(this.element, this.toolBox, this.facts, this.canvas,
                        legend(kKindColours, new Set(this.buffers.kind)),
                        h("p", {class: "detail"}, this.memory.same_order
                            ? "Allocations are placed end to end, as buffer assignment makes them; the curve above is the memory needed at each step, as in the report."
                            : "The buffer assignment follows the text's order here, the simulation another one: sums may differ from the report's.",
                            " By time, the curve shows all iterations of loops, and buffers of a loop's body are those of its first iteration."),
                        this.tableTitle, h("div", {class: "tools"}, this.search), this.table.element);
    const peak = (space) => (space.capacity_bytes ? space.peak_bytes / space.capacity_bytes : 0);
    const first = [...this.memory.spaces].sort((a, b) => peak(b) - peak(a))[0];
    this.wheel();
    this.setSpace(this.wanted ?? first.number);
  }

  arrive(parameters) {
    if (!parameters.space) return;
    this.wanted = Number(parameters.space);
    if (this.buffers && this.memory.spaces.some((space) => space.number === this.wanted)) this.setSpace(this.wanted);
  }

  setSpace(number) {
    this.space = this.memory.spaces.find((space) => space.number === number) || this.memory.spaces[0];
    for (const button of this.spaceBox.children)
      button.setAttribute("aria-pressed", String(Number(button.dataset.space) === this.space.number));
    const {space} = this.buffers;
    this.there = [];
    for (let i = 0; i < space.length; ++i) if (space[i] === this.space.number) this.there.push(i);
    this.chosen = -1;
    this.makeAxis();
    this.fillKinds();
    const {capacity_bytes, peak_bytes, allocated_bytes, peak_step} = this.space;
    const at = this.steps.name[peak_step];
    this.facts.replaceChildren(
        h("span", {}, h("strong", {"data-number": "peak"}, bytesText(peak_bytes)), " needed at most",
          h("span", {class: "detail"}, ` (${exactBytes(peak_bytes)}) at step ${peak_step}, ${at}`)),
        h("span", {}, h("strong", {}, bytesText(allocated_bytes)), " allocated",
          h("span", {class: "detail"}, allocated_bytes > peak_bytes ? `, ${bytesText(allocated_bytes - peak_bytes)} of it not needed at the peak` : "")),
        h("span", {}, h("strong", {}, bytesText(capacity_bytes)), " capacity",
          capacity_bytes ? h("span", {class: peak_bytes > capacity_bytes ? "detail bad" : "detail"}, `, ${percentText(peak_bytes / capacity_bytes)} used`) : ""),
        h("span", {}, h("strong", {}, grouped(this.there.length)), this.there.length === 1 ? " buffer" : " buffers"));
    this.setStep(peak_step);
  }
  /** Buttons that fit the picture to one kind of allocations: they lie together. */
  fillKinds() {
    const ranges = new Map();
    const {kind, offset, bytes} = this.buffers;
    for (const buffer of this.there) {
      const [low, high] = ranges.get(kind[buffer]) || [Infinity, 0];
      ranges.set(kind[buffer], [Math.min(low, offset[buffer]), Math.max(high, offset[buffer] + bytes[buffer])]);
    }
    this.kindBox.hidden = ranges.size < 2;
    const button = (text, low, high) => h("button", {type: "button", onclick: () => this.heights.set(low, high)}, text);
    this.kindBox.replaceChildren(button("all addresses", 0, this.heights.whole), ...[...ranges].map(([name, [low, high]]) => button(name, low, high)));
  }
  setAxis(byTime) {
    this.byTime = byTime;
    for (const button of this.axisBox.children)
      button.setAttribute("aria-pressed", String((button.dataset.axis === "by time") === byTime));
    this.makeAxis();
    this.later();
  }
  makeAxis() {
    const whole = this.byTime ? Math.max(this.app.data.total, 1) : Math.max(this.stepCount, 1);
    this.view = new Window1D(whole, this.byTime ? 20 : Math.min(4, whole), () => this.later());
    this.heights = new Window1D(Math.max(this.space.allocated_bytes, 64), 64, () => this.later());
    const both = {
      zoom: (factor) => this.view.zoom(factor), pan: (by) => this.view.pan(by),
      fit: () => { this.view.fit(); this.heights.fit(); }, get span() { return 1; },
    };
    both.pan = (by) => this.view.pan(by * this.view.span);
    this.zooms = zoomButtons(both);
    if (this.toolBox.children.length > 3) this.toolBox.lastChild.remove();
    this.toolBox.append(this.zooms);
  }

  /** Where a step begins on the axis; the end of the run for one past the last. */
  at(step) {
    if (!this.byTime) return step;
    return step < this.stepCount ? this.steps.time_ps[step] : this.app.data.total;
  }
  x(place) { return kMemoryGutter + (place - this.view.low) / this.view.span * (this.width - kMemoryGutter); }
  y(address) { return kCurve + 16 + kMap - (address - this.heights.low) / this.heights.span * kMap; }

  isReady() { return this.view !== undefined; }
  paint(context) {
    this.drawAxes(context);
    context.save();
    context.beginPath();
    context.rect(kMemoryGutter, 0, this.width - kMemoryGutter, this.height - 24);
    context.clip();
    this.drawCurve(context);
    this.drawBuffers(context);
    this.drawMarks(context);
    context.restore();
  }

  drawAxes(context) {
    context.strokeStyle = colour("--line");
    context.fillStyle = colour("--muted");
    context.beginPath();
    for (const mark of ticks(this.view.low, this.view.high, (this.width - kMemoryGutter) / 110, this.byTime ? 0 : 1)) {
      const x = Math.round(this.x(mark)) + 0.5;
      context.moveTo(x, kCurve + 16);
      context.lineTo(x, kCurve + 16 + kMap);
      context.textAlign = x > this.width - 40 ? "right" : "center";
      context.fillText(this.byTime ? timeText(Math.round(mark)) : grouped(mark), x, this.height - 12);
    }
    context.textAlign = "right";
    for (const mark of this.addressMarks()) {
      const y = Math.round(this.y(mark)) + 0.5;
      context.moveTo(kMemoryGutter, y);
      context.lineTo(this.width, y);
      context.fillText(bytesText(mark), kMemoryGutter - 8, y);
    }
    context.stroke();
    context.textAlign = "left";
    context.fillText(this.byTime ? "time →" : "step →", 8, this.height - 12);
    context.textAlign = "right";
    context.fillText(bytesText(this.space.peak_bytes), kMemoryGutter - 8, kCurve - this.curveHeight(this.space.peak_bytes));
    context.fillText("needed", kMemoryGutter - 8, kCurve - 6);
    context.textAlign = "left";
  }
  addressMarks() {
    let step = 64;
    while (this.heights.span / step > 9) step *= 2;
    const marks = [];
    for (let at = Math.ceil(this.heights.low / step) * step; at <= this.heights.high; at += step) marks.push(at);
    return marks;
  }

  curveTop() {
    const {capacity_bytes, peak_bytes} = this.space;
    return Math.max(1, capacity_bytes && capacity_bytes < 1.6 * peak_bytes ? Math.max(capacity_bytes, peak_bytes) : peak_bytes);
  }
  curveHeight(bytes) { return bytes / this.curveTop() * (kCurve - 14); }

  /** What the curve consists of: where each level begins and ends on the axis. */
  *levels() {
    const curve = this.byTime && this.curves.get(this.space.number);
    const bytes = curve ? curve.bytes : this.space.at_step.columns.bytes;
    for (let i = 0; i < bytes.length; ++i)
      yield curve ? [curve.time_ps[i], curve.time_ps[i + 1] ?? this.app.data.total, bytes[i]] : [this.at(i), this.at(i + 1), bytes[i]];
  }

  drawCurve(context) {
    context.fillStyle = colour("--area");
    context.strokeStyle = colour("--accent");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(kMemoryGutter - 2, kCurve);
    let x = -1, most = 0;
    for (const [begin, end, bytes] of this.levels()) {
      const left = this.x(begin), right = this.x(end);
      if (right < kMemoryGutter - 4 || left > this.width + 4) continue;
      most = Math.floor(left) === x ? Math.max(most, bytes) : bytes;
      x = Math.floor(left);
      context.lineTo(left, kCurve - this.curveHeight(most));
      context.lineTo(right, kCurve - this.curveHeight(most));
    }
    context.lineTo(this.width + 4, kCurve);
    context.fill();
    context.stroke();
    context.lineWidth = 1;
    const {capacity_bytes} = this.space;
    if (capacity_bytes && capacity_bytes <= this.curveTop()) {
      this.drawCapacity(context, kCurve - this.curveHeight(capacity_bytes), true);
    }
  }
  drawCapacity(context, y, hasText) {
    context.strokeStyle = context.fillStyle = colour("--bad");
    context.setLineDash([6, 4]);
    context.beginPath();
    context.moveTo(kMemoryGutter, Math.round(y) + 0.5);
    context.lineTo(this.width, Math.round(y) + 0.5);
    context.stroke();
    context.setLineDash([]);
    if (hasText) context.fillText("capacity " + bytesText(this.space.capacity_bytes), kMemoryGutter + 6, y - 8 < 8 ? y + 10 : y - 8);
  }

  box(buffer) {
    const {offset, bytes, first_step, last_step} = this.buffers;
    const left = this.x(this.at(first_step[buffer])), right = this.x(this.at(last_step[buffer] + 1));
    const top = this.y(offset[buffer] + bytes[buffer]), bottom = this.y(offset[buffer]);
    return [left, top, Math.max(0.7, right - left), Math.max(0.5, bottom - top)];
  }

  drawBuffers(context) {
    context.save();
    context.beginPath();
    context.rect(kMemoryGutter, kCurve + 16, this.width, kMap);
    context.clip();
    const edge = colour("--panel");
    const marked = [];
    const {kind, instruction, name} = this.buffers;
    for (const buffer of this.there) {
      const [left, top, width, height] = this.box(buffer);
      if (left > this.width || left + width < kMemoryGutter || top > kCurve + 16 + kMap || top + height < kCurve + 16) continue;
      const fill = colour(kKindColours[kind[buffer]]);
      context.fillStyle = fill;
      context.fillRect(left, top, width, height);
      context.fillStyle = `rgb(0 0 0 / ${0.2 * ((buffer * 0.618034) % 1)})`;  // neighbours differ
      context.fillRect(left, top, width, height);
      if (width > 5 && height > 5) {
        context.strokeStyle = edge;
        context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
      }
      if (height > 13 && width > 40) {
        context.fillStyle = inkOn(fill);
        const from = Math.max(left, kMemoryGutter);
        drawText(context, name[buffer], from + 5, top + height / 2, Math.min(left + width, this.width) - from - 8);
      }
      if (buffer === this.chosen || buffer === this.hovering || (instruction[buffer] >= 0 && instruction[buffer] === this.app.selected))
        marked.push([left, top, width, height]);
    }
    context.strokeStyle = colour("--text");
    context.lineWidth = 2;
    for (const [left, top, width, height] of marked) context.strokeRect(left, top, Math.max(2, width), Math.max(2, height));
    context.lineWidth = 1;
    context.restore();
  }

  drawMarks(context) {
    const {capacity_bytes} = this.space;
    if (capacity_bytes && capacity_bytes > this.heights.low && capacity_bytes < this.heights.high)
      this.drawCapacity(context, this.y(capacity_bytes), false);
    const line = (step, text, variable, y) => {
      const x = Math.round(this.x((this.at(step) + this.at(step + 1)) / 2)) + 0.5;
      context.strokeStyle = context.fillStyle = colour(variable);
      context.setLineDash([4, 3]);
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x, kCurve + 16 + kMap);
      context.stroke();
      context.setLineDash([]);
      if (!text) return;
      const width = context.measureText(text).width + 10;
      const left = x + width > this.width ? x - width - 3 : x + 3;
      context.fillRect(left, y, width, 16);
      context.fillStyle = colour("--panel");
      context.fillText(text, left + 5, y + 8.5);
    };
    if (this.step !== this.space.peak_step) line(this.step, `step ${this.step}`, "--muted", 18);
    line(this.space.peak_step, `peak ${bytesText(this.space.peak_bytes)}`, "--bad", 0);
  }

  // ── Steps and buffers ──

  setStep(step) {
    this.step = Math.max(0, Math.min(this.stepCount - 1, step));
    const {first_step, last_step} = this.buffers;
    const live = this.there.filter((buffer) => first_step[buffer] <= this.step && this.step <= last_step[buffer]);
    const found = live.filter((buffer) => this.matches(buffer));
    this.tableTitle.textContent =
        `Alive at step ${this.step}${this.step === this.space.peak_step ? ", the peak" : ""} (${this.steps.name[this.step] ?? "none"}): ` +
        `${plural(live.length, "buffer")}, ${bytesText(this.space.at_step.columns.bytes[this.step] ?? 0)}` +
        (found.length < live.length ? `; ${grouped(found.length)} found` : "");
    this.table.setRows(found);
    this.later();
  }

  padding(buffer) {
    const {bytes, dense_bytes} = this.buffers;
    return bytes[buffer] > 0 ? 1 - dense_bytes[buffer] / bytes[buffer] : 0;
  }
  /** A value of the instruction that defines the buffer; null: it took no time. */
  ofInstruction(values, buffer) {
    const row = this.buffers.instruction[buffer];
    return row >= 0 ? values[row] : null;
  }
  opName(buffer) { return this.ofInstruction(this.app.data.columns.op_name, buffer); }
  /** All words of the search field are in one of its texts. */
  matches(buffer) {
    const {name, shape, kind} = this.buffers;
    const text = [name[buffer], shape[buffer], kind[buffer], this.buffers.class[buffer], this.opName(buffer),
                  this.ofInstruction(this.app.data.source, buffer)].join("\n").toLowerCase();
    return this.search.value.trim().toLowerCase().split(/\s+/).every((word) => text.includes(word));
  }

  makeTable() {
    const column = this.buffers;
    this.search = h("input", {type: "search", placeholder: "Find buffers: name, scope, class, shape", "aria-label": "Find buffers", id: "buffer-filter",
                              oninput: () => this.setStep(this.step)});
    const steps = (buffer) => `${column.first_step[buffer]} to ${column.last_step[buffer]}`;
    this.tableTitle = h("h3", {role: "status"});
    this.table = new DataTable({
      label: "Buffers alive at the step", height: "22rem", sort: "bytes", emptyText: "No buffer matches at this step.",
      onOpen: (buffer) => this.choose(buffer),
      columns: [
        {key: "name", title: "buffer", value: (b) => column.name[b]},
        {key: "bytes", title: "size", number: true, value: (b) => column.bytes[b], text: (b) => bytesText(column.bytes[b]), hint: (b) => exactBytes(column.bytes[b])},
        {key: "padding", title: "padding", number: true, help: "share of its bytes that is padding", value: (b) => this.padding(b), text: (b) => percentText(this.padding(b))},
        {key: "class", title: "class", help: "what the program uses it for", value: (b) => column.class[b]},
        {key: "scope", title: "scope", help: "the end of the op_name of its instruction", value: (b) => this.opName(b), cell: (b) => lastScopes(this.opName(b)) ?? "–"},
        {key: "shape", title: "shape", value: (b) => column.shape[b]},
        {key: "kind", title: "kind", value: (b) => column.kind[b]},
        {key: "offset", title: "address", number: true, value: (b) => column.offset[b], text: (b) => "0x" + column.offset[b].toString(16), hint: (b) => exactBytes(column.offset[b])},
        {key: "steps", title: "steps", number: true, value: (b) => column.first_step[b], text: steps},
        {key: "source", title: "source", value: (b) => this.ofInstruction(this.app.data.source, b), cell: (b) => this.app.data.labels.source.of(this.ofInstruction(this.app.data.source, b)) ?? "–"},
      ],
    });
  }

  hit(event) {
    if (!this.there || event.offsetX < kMemoryGutter || event.offsetY < kCurve + 16 || event.offsetY > kCurve + 16 + kMap) return -1;
    let found = -1;
    for (const buffer of this.there) {
      const [left, top, width, height] = this.box(buffer);
      if (event.offsetX >= left - 0.5 && event.offsetX <= left + Math.max(width, 2) && event.offsetY >= top - 0.5 &&
          event.offsetY <= top + Math.max(height, 2))
        found = buffer;
    }
    return found;
  }
  placeAt(event) { return this.view.low + (event.offsetX - kMemoryGutter) / (this.width - kMemoryGutter) * this.view.span; }
  stepAt(event) {
    const place = this.placeAt(event);
    return this.byTime ? lastUpTo(this.steps.time_ps, place) : Math.floor(place);
  }
  describe(buffer) {
    const {name, shape, bytes, offset, first_step, last_step, kind} = this.buffers;
    const last = this.steps.name[last_step[buffer]];
    return [name[buffer], shape[buffer], `${bytesText(bytes[buffer])} (${exactBytes(bytes[buffer])}), ${kind[buffer]}`,
            `at 0x${offset[buffer].toString(16)} to 0x${(offset[buffer] + bytes[buffer]).toString(16)}`,
            `steps ${first_step[buffer]} to ${last_step[buffer]}: ${this.steps.name[first_step[buffer]]} to ${last}`];
  }
  hovered(event) {
    if (event.buttons || !this.there) return;
    const buffer = this.hit(event);
    this.canvas.style.cursor = buffer >= 0 ? "pointer" : "crosshair";
    if (buffer !== this.hovering) this.hovering = buffer, this.later();
    if (buffer >= 0) return showTooltip(event, this.describe(buffer));
    const step = this.stepAt(event);
    if (event.offsetX < kMemoryGutter || step < 0 || step >= this.stepCount) return hideTooltip();
    const curve = this.byTime && this.curves.get(this.space.number);
    if (!curve) return showTooltip(event, [`step ${step}: ${this.steps.name[step]}`, `${bytesText(this.space.at_step.columns.bytes[step])} needed`]);
    const time = this.placeAt(event);
    showTooltip(event, [timeText(Math.round(time)), `${bytesText(curve.bytes[lastUpTo(curve.time_ps, time)])} needed`]);
  }
  clicked(event) {
    this.canvas.focus({preventScroll: true});
    if (this.canvas.wasDragged) return;
    if (event.offsetX >= kMemoryGutter) this.setStep(this.stepAt(event));
    const buffer = this.hit(event);
    if (buffer >= 0) this.choose(buffer);
  }
  choose(buffer) {
    this.chosen = buffer;
    announce(this.describe(buffer).join(", "));
    if (this.buffers.instruction[buffer] >= 0) this.app.select(this.buffers.instruction[buffer], this);
    this.later();
  }
  pressed(event) {
    if (zoomKey(event, this.view)) return;
    const moves = {ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20};
    if (event.key === "p") this.setStep(this.space.peak_step);
    else if (event.key === "Home") this.setStep(0);
    else if (event.key === "End") this.setStep(this.stepCount - 1);
    else if (event.key in moves) this.setStep(this.step + moves[event.key]);
    else return;
    event.preventDefault();
    this.view.show(this.at(this.step), this.at(this.step + 1));
    announce(this.tableTitle.textContent);
  }
  wheel() {
    const proxy = {
      view: this, get low() { return this.view.view.low; }, get high() { return this.view.view.high; },
      get span() { return this.view.view.span; }, set(low, high) { this.view.view.set(low, high); },
      zoom(factor, at) { this.view.view.zoom(factor, at); }, pan(by) { this.view.view.pan(by); },
    };
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.shiftKey) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      const address = this.heights.low + (kCurve + 16 + kMap - event.offsetY) / kMap * this.heights.span;
      this.heights.zoom(2 ** ((event.deltaY || event.deltaX) / 240), address);
    }, {passive: false});
    zoomable(this.canvas, proxy, () => ({left: kMemoryGutter, width: this.width - kMemoryGutter}));
  }
  selected(row, from) {
    if (from === this || !this.buffers) return;
    const buffer = this.buffers.instruction.indexOf(row);
    if (buffer >= 0) {
      if (this.buffers.space[buffer] !== this.space.number) this.setSpace(this.buffers.space[buffer]);
      this.chosen = buffer;
      this.setStep(this.buffers.first_step[buffer]);
    }
    this.later();
  }
}
