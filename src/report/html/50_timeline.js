// What runs when: a lane per unit, nested slices, flows from a start over its transfer to its done, and how full
// the memory spaces are.

const kGutter = 112, kScopeDepths = 3, kLane = 20, kCounter = 46, kRuler = 24, kOverview = 34;

class TimelineView extends PictureView {
  constructor(app) {
    super();
    Object.assign(this, {app, id: "timeline", title: "Timeline", cursor: -1, chosen: -1, query: "", matches: []});
    this.element = h("div", {});
  }

  async open() {
    this.trace = await this.app.data.part("timeline");
    if (!this.trace) return put(this.element, h("p", {class: "empty"}, "A saved report has no timeline."));
    this.slices = this.trace.slices.columns;
    this.makeLevels();
    this.view = new Window1D(this.trace.total_ps, 20, () => this.changed());
    this.makeCanvas("timeline-canvas",
                    "Timeline. Arrow keys go from slice to slice, plus and minus zoom, a and d pan, Enter selects. " +
                    "The table below has the same slices.",
                    {ondblclick: (event) => this.zoomTo(this.hit(event)), onfocus: () => this.later(), onblur: () => this.later()});
    this.overview = h("canvas", {class: "picture overview", "aria-hidden": "true",
                                 onpointerdown: (event) => this.jump(event), onpointermove: (event) => event.buttons && this.jump(event)});
    this.search = h("input", {type: "search", placeholder: "Find operations", "aria-label": "Find operations in the timeline",
                              oninput: () => this.find(this.search.value),
                              onkeydown: (event) => { if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1); }});
    this.found = h("span", {class: "detail", role: "status"});
    this.range = h("span", {class: "detail"});
    this.regionBox = h("section", {class: "panel", id: "timeline-region", hidden: true});
    this.makeTable();
    put(
        this.element, h("div", {class: "tools"}, zoomButtons(this.view), this.search,
          h("button", {type: "button", onclick: () => this.next(-1), "aria-label": "Previous match"}, "↑"),
          h("button", {type: "button", onclick: () => this.next(1), "aria-label": "Next match"}, "↓"), this.found,
          h("span", {class: "fill"}), this.range),
        this.trace.shown_iterations > 0
            ? h("p", {class: "note"}, `Loops show their first ${plural(this.trace.shown_iterations, "iteration")}; the rest of each is one slice. The overview repeats them.`) : null,
        this.overview, this.canvas,
        legend(kCategoryColours, this.kinds()),
        h("p", {class: "detail screen-only"}, "Drag to pan; ctrl and wheel, or the wheel after a click, zooms; double click zooms to a slice; shift and drag sums up a region. " +
                                  "Curves join a start, its transfer and its done."),
        this.regionBox, this.tableBox);
    if (this.slices.track.length === 0) this.element.prepend(h("p", {class: "empty"}, "Nothing takes time: no instruction of this module runs on a unit."));
    this.selectsRegions();
    zoomable(this.canvas, this.view, () => ({left: kGutter, width: this.width - kGutter}));
    this.later();
  }

  /** Slices of one track and one depth follow one another. */
  makeLevels() {
    const {track, start_ps, length_ps, flow, instruction} = this.slices;
    const count = track.length;
    this.levels = [];
    this.lanes = this.trace.tracks.map((name) => ({name, depth: 0}));
    this.levelOf = new Int32Array(count);
    this.flows = new Map();
    this.sliceOf = new Map();
    const byKey = new Map();
    let open = [];
    let last = -1;
    // What takes no time comes before what begins with it, not inside.
    const order = Array.from({length: count}, (_, i) => i);
    order.sort((a, b) => track[a] - track[b] || start_ps[a] - start_ps[b] || (length_ps[a] > 0) - (length_ps[b] > 0) || a - b);
    for (const i of order) {
      if (track[i] !== last) open = [], last = track[i];
      while (open.length && start_ps[open[open.length - 1]] + length_ps[open[open.length - 1]] <= start_ps[i]) open.pop();
      const depth = Math.min(open.length, 9);
      const key = track[i] * 16 + depth;
      if (!byKey.has(key)) byKey.set(key, {track: track[i], depth, slices: []});
      byKey.get(key).slices.push(i);
      this.lanes[track[i]].depth = Math.max(this.lanes[track[i]].depth, depth + 1);
      if (length_ps[i] > 0) open.push(i);
      if (flow[i]) {
        if (!this.flows.has(flow[i])) this.flows.set(flow[i], []);
        this.flows.get(flow[i]).push(i);
      }
      if (!this.sliceOf.has(instruction[i])) this.sliceOf.set(instruction[i], i);
    }
    this.makeScopes();
    let top = kRuler + (this.scopes.length > 0 ? kScopeDepths * kLane + 6 : 0);
    this.lanes.forEach((lane, number) => {
      lane.top = top;
      for (let depth = 0; depth < lane.depth; ++depth) {
        const level = byKey.get(number * 16 + depth);
        level.top = top + depth * kLane;
        for (const slice of level.slices) this.levelOf[slice] = this.levels.length;
        this.levels.push(level);
      }
      top += lane.depth * kLane + 6;
    });
    this.counters = this.trace.counters.filter((counter) => counter.points.rows > 0);
    for (const counter of this.counters) {
      counter.top = top;
      counter.most = counter.points.columns.bytes.reduce((most, bytes) => Math.max(most, bytes), 1);
      top += kCounter + 4;
    }
    this.height = top;
  }

  /**
   * The scope lane: for each depth below the scope that all op_names share, runs of slices of the TensorCore that are in one
   * scope, one after the other. Only slices without others inside count.
   */
  makeScopes() {
    const {track, start_ps, instruction} = this.slices;
    const {op_name} = this.app.data.columns;
    const order = [];
    const prefix = this.app.data.labels.op_name.prefix;
    for (let i = 0; i < track.length; ++i)
      if (track[i] === 0 && this.slices.length_ps[i] > 0 && op_name[instruction[i]]) order.push(i);
    this.scopes = [];
    const open = new Array(kScopeDepths).fill(null);
    for (const slice of this.leavesOf(order)) {
      const name = op_name[instruction[slice]];
      const parts = (name.startsWith(prefix) ? name.slice(prefix.length) : name).split("/").slice(0, -1);
      let path = "";
      for (let depth = 0; depth < kScopeDepths; ++depth) {
        path += "/" + (parts[depth] ?? "");
        const last = open[depth];
        if (depth >= parts.length) {
          open[depth] = null;
        } else if (last && last.path === path) {
          last.end = this.end(slice);
        } else {
          open[depth] = {depth, path, name: parts[depth], start: start_ps[slice], end: this.end(slice)};
          this.scopes.push(open[depth]);
        }
      }
    }
  }
  /** Of slices of one track those that have no other of them inside, by time. */
  leavesOf(slices) {
    const {start_ps} = this.slices;
    slices.sort((a, b) => start_ps[a] - start_ps[b] || this.end(b) - this.end(a));
    return slices.filter((slice, at) => at + 1 === slices.length || start_ps[slices[at + 1]] >= this.end(slice));
  }
  scopeTop(scope) { return kRuler + scope.depth * kLane; }

  end(slice) { return this.slices.start_ps[slice] + this.slices.length_ps[slice]; }
  row(slice) { return this.slices.instruction[slice]; }
  name(slice) {
    const name = this.app.data.columns.name[this.row(slice)];
    const hidden = this.slices.first_hidden[slice];
    if (hidden) return `${name}: iterations from ${hidden}${this.share(slice) < 1 ? `, ${percentText(this.share(slice))} busy` : ""}`;
    return this.slices.waiting[slice] ? `${name} (waiting)` : name;
  }
  /** Of a loop's rest on the track of a unit: how much of it is busy. */
  share(slice) {
    const busy = this.slices.busy_ps[slice];
    return busy > 0 && this.slices.length_ps[slice] > 0 ? busy / this.slices.length_ps[slice] : 1;
  }
  colourOf(slice) {
    return this.slices.waiting[slice] ? colour("--c-waiting") : categoryColour(this.category(slice));
  }
  /** Of what a slice does: starts and dones of asynchronous collectives count as collectives. */
  category(slice) { return this.app.data.workCategories[this.row(slice)]; }

  changed() {
    this.later();
    clearTimeout(this.tableTimer);
    this.tableTimer = setTimeout(() => this.fillTable(), 150);
  }
  isReady() { return this.view !== undefined; }
  /** The categories of what runs. */
  kinds() {
    const {workCategories} = this.app.data;
    const kinds = new Set(Array.from(this.slices.instruction, (row) => workCategories[row]));
    if (this.slices.waiting.some(Boolean)) kinds.add("waiting");
    return kinds;
  }

  x(time) { return kGutter + (time - this.view.low) / this.view.span * (this.width - kGutter); }

  /** First slice of the level that ends after `time`. */
  firstAfter(level, time) {
    let low = 0, high = level.slices.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end(level.slices[middle]) > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  paint(context) {
    this.drawRuler(context);
    context.fillStyle = colour("--text");
    if (this.scopes.length > 0) drawText(context, "scope", 4, kRuler + kLane / 2, kGutter - 8);
    for (const lane of this.lanes) {
      context.fillStyle = colour("--text");
      drawText(context, lane.name, 4, lane.top + kLane / 2, kGutter - 8);
      context.fillStyle = colour("--line");
      context.fillRect(0, lane.top + lane.depth * kLane + 2, this.width, 1);
    }
    context.save();
    context.beginPath();
    context.rect(kGutter, 0, this.width - kGutter, this.height);
    context.clip();
    for (const scope of this.scopes) this.drawScope(context, scope);
    for (const level of this.levels) this.drawLevel(context, level);
    this.drawFlows(context);
    context.restore();
    for (const counter of this.counters) this.drawCounter(context, counter);
    this.drawRegion(context);
    this.drawOverview();
    this.range.textContent = `${timeText(Math.round(this.view.low))} to ${timeText(Math.round(this.view.high))}`;
  }

  drawRuler(context) {
    context.strokeStyle = colour("--line");
    context.beginPath();
    for (const mark of ticks(this.view.low, this.view.high, (this.width - kGutter) / 110, 1)) {
      const x = Math.round(this.x(mark)) + 0.5;
      context.moveTo(x, kRuler - 6);
      context.lineTo(x, this.height);
      context.fillStyle = colour("--muted");
      const text = timeText(Math.round(mark));
      if (x + 4 + context.measureText(text).width < this.width) context.fillText(text, x + 4, 10);
    }
    context.stroke();
  }

  drawScope(context, scope) {
    const left = Math.max(kGutter - 2, this.x(scope.start)), right = Math.min(this.width + 2, this.x(scope.end));
    if (right < kGutter || left > this.width || right - left < 1) return;
    context.fillStyle = colour("--selected");
    context.fillRect(left, this.scopeTop(scope), Math.max(1, right - left - 1), kLane - 2);
    context.fillStyle = colour("--text");
    drawText(context, scope.name, left + 4, this.scopeTop(scope) + kLane / 2 - 1, right - left - 6);
  }

  drawLevel(context, level) {
    const perPixel = this.view.span / (this.width - kGutter);
    const searching = this.query !== "";
    for (let at = this.firstAfter(level, this.view.low); at < level.slices.length;) {
      const slice = level.slices[at];
      const start = this.slices.start_ps[slice];
      if (start > this.view.high) break;
      const left = Math.max(kGutter - 2, this.x(start));
      const right = Math.min(this.width + 2, this.x(this.end(slice)));
      const width = Math.max(1, right - left - (right - left > 3 ? 1 : 0));
      context.globalAlpha = searching && !this.matching[this.row(slice)] ? 0.18 : 1;
      context.fillStyle = this.colourOf(slice);
      const high = Math.max(1, (kLane - 2) * this.share(slice));
      context.fillRect(left, level.top + kLane - 2 - high, width, high);
      if (width > 28) {
        const isPartly = high < kLane - 2;
        const ink = isPartly ? colour("--text") : inkOn(context.fillStyle);
        if (isPartly) this.drawHalo(context, this.name(slice), left + 4, level.top + kLane / 2 - 0.5, width - 6);
        context.fillStyle = ink;
        drawText(context, this.name(slice), left + 4, level.top + kLane / 2 - 0.5, width - 6);
      }
      if (this.row(slice) === this.app.selected || slice === this.cursor) {
        context.globalAlpha = 1;
        context.strokeStyle = colour("--text");
        context.lineWidth = 2;
        context.strokeRect(left, level.top, Math.max(2, width), kLane - 2);
        context.lineWidth = 1;
      }
      // Slices that share a pixel: the first one stands for them, unless one that is looked for is among them.
      const next = this.firstAfter(level, Math.max(this.end(slice), start + perPixel * 0.7));
      if (searching && context.globalAlpha < 1)
        for (let i = at + 1; i < next; ++i)
          if (this.matching[this.row(level.slices[i])]) {
            context.globalAlpha = 1;
            context.fillStyle = this.colourOf(level.slices[i]);
            context.fillRect(this.x(this.slices.start_ps[level.slices[i]]), level.top, 1.5, kLane - 2);
            break;
          }
      at = Math.max(at + 1, next);
    }
    context.globalAlpha = 1;
  }

  /** The panel's colour behind a label that stands half on a bar: its contrast is that of text on the panel. */
  drawHalo(context, text, x, y, width) {
    context.fillStyle = colour("--panel");
    context.fillRect(x - 2, y - 7, Math.min(width, context.measureText(text).width) + 4, 14);
  }

  drawFlows(context) {
    const chosenFlow = this.chosen >= 0 ? this.slices.flow[this.chosen] : 0;
    let drawn = 0;
    for (const [flow, slices] of this.flows) {
      const first = slices.reduce((a, b) => (this.slices.role[a] <= this.slices.role[b] ? a : b));
      const isChosen = flow === chosenFlow || slices.some((slice) => this.row(slice) === this.app.selected);
      const low = Math.min(...slices.map((slice) => this.slices.start_ps[slice]));
      const high = Math.max(...slices.map((slice) => this.end(slice)));
      if (high < this.view.low || low > this.view.high || (!isChosen && (++drawn > 200 || this.x(high) - this.x(low) < 8))) continue;
      const parts = [...slices].sort((a, b) => this.slices.role[a] - this.slices.role[b]);
      context.strokeStyle = colour("--flow");
      context.globalAlpha = isChosen ? 1 : 0.45;
      context.lineWidth = isChosen ? 2 : 1;
      for (let i = 0; i + 1 < parts.length; ++i) {
        const from = this.x(parts[i] === first ? this.end(parts[i]) : this.end(parts[i]));
        const y = this.levels[this.levelOf[parts[i]]].top + kLane / 2 - 1;
        const isEnd = this.slices.role[parts[i + 1]] === 3;
        const to = this.x(isEnd ? this.end(parts[i + 1]) : this.slices.start_ps[parts[i + 1]]);
        const y2 = this.levels[this.levelOf[parts[i + 1]]].top + kLane / 2 - 1;
        const bend = Math.min(60, Math.max(14, Math.abs(to - from) / 2));
        context.beginPath();
        context.moveTo(from, y);
        context.bezierCurveTo(from + bend, y, to - bend, y2, to, y2);
        context.stroke();
        context.fillStyle = colour("--flow");
        context.beginPath();
        context.arc(to, y2, 2.5, 0, 7);
        context.fill();
      }
    }
    context.globalAlpha = 1;
    context.lineWidth = 1;
  }

  drawCounter(context, counter) {
    const {time_ps, bytes} = counter.points.columns;
    const y = (value) => counter.top + kCounter - value / counter.most * (kCounter - 4);
    context.fillStyle = colour("--text");
    drawText(context, counter.name, 4, counter.top + 12, kGutter - 8);
    context.fillStyle = colour("--muted");
    drawText(context, "max " + bytesText(counter.most), 4, counter.top + 28, kGutter - 8);
    context.save();
    context.beginPath();
    context.rect(kGutter, counter.top, this.width - kGutter, kCounter);
    context.clip();
    context.fillStyle = colour("--area");
    context.strokeStyle = colour("--accent");
    context.beginPath();
    context.moveTo(kGutter - 2, counter.top + kCounter);
    let at = lastUpTo(time_ps, this.view.low);
    context.lineTo(kGutter - 2, y(bytes[at] || 0));
    for (; at < time_ps.length && time_ps[at] <= this.view.high; ++at) {
      const x = this.x(time_ps[at]);
      context.lineTo(x, y(at > 0 ? bytes[at - 1] : bytes[at]));
      // Points that share a pixel: the highest.
      let most = bytes[at];
      while (at + 1 < time_ps.length && this.x(time_ps[at + 1]) - x < 1) most = Math.max(most, bytes[++at]);
      context.lineTo(x, y(most));
      context.lineTo(x, y(bytes[at]));
    }
    context.lineTo(this.width + 2, y(bytes[Math.max(0, at - 1)] || 0));
    context.lineTo(this.width + 2, counter.top + kCounter);
    context.fill();
    context.stroke();
    context.restore();
    context.fillStyle = colour("--line");
    context.fillRect(0, counter.top + kCounter + 1, this.width, 1);
  }

  // ── A region: dragged with shift, or marked with [ and ] ──

  drawRegion(context) {
    if (!this.region) return;
    const left = Math.max(kGutter, this.x(this.region[0])), right = Math.min(this.width, this.x(this.region[1]));
    if (right <= left) return;
    context.fillStyle = colour("--area");
    context.fillRect(left, kRuler, right - left, this.height - kRuler);
    context.strokeStyle = colour("--accent");
    context.strokeRect(left + 0.5, kRuler + 0.5, Math.max(1, right - left - 1), this.height - kRuler - 1);
  }
  setRegion(low, high) {
    this.region = low === null ? null : [Math.max(0, Math.min(low, high)), Math.min(this.view.whole, Math.max(low, high))];
    clearTimeout(this.regionTimer);
    this.regionTimer = setTimeout(() => this.fillRegion(), 60);
    this.later();
  }
  /** Time inside of the region by lane, and of the TensorCore's operations without what is inside of them. */
  sums() {
    const [low, high] = this.region;
    const inside = (slice) => Math.max(0, Math.min(high, this.end(slice)) - Math.max(low, this.slices.start_ps[slice]));
    const lanes = this.lanes.map((lane) => ({name: lane.name, time: 0}));
    const operations = new Map();
    for (const level of this.levels) {
      for (let at = this.firstAfter(level, low); at < level.slices.length && this.slices.start_ps[level.slices[at]] < high; ++at) {
        const slice = level.slices[at], time = inside(slice);
        // Nested slices are part of the outermost one.
        if (level.depth === 0) lanes[level.track].time += time * this.share(slice);
        if (level.track !== 0 || !(time > 0)) continue;
        const row = this.row(slice);
        operations.set(row, (operations.get(row) || 0) + time);
        const outer = this.outerOf(level, slice);
        if (outer >= 0) operations.set(this.row(outer), (operations.get(this.row(outer)) || 0) - time);
      }
    }
    return {time: high - low, lanes: lanes.filter((lane) => lane.time > 0),
            operations: [...operations].filter(([, time]) => time > 0).sort((a, b) => b[1] - a[1])};
  }
  /** The slice one depth above that holds this one; -1: none. */
  outerOf(level, slice) {
    const above = this.levels.find((one) => one.track === level.track && one.depth === level.depth - 1);
    if (!above) return -1;
    const outer = above.slices[this.firstAfter(above, this.slices.start_ps[slice])];
    return outer !== undefined && this.slices.start_ps[outer] <= this.slices.start_ps[slice] ? outer : -1;
  }
  fillRegion() {
    this.regionBox.hidden = !this.region;
    if (!this.region) return;
    const {time, lanes, operations} = this.sums();
    const share = (ps) => (time > 0 ? percentText(ps / time) : "");
    const list = (title, rows) => h("table", {class: "plain"}, h("thead", {}, h("tr", {}, h("th", {scope: "col"}, title), h("th", {scope: "col", class: "number"}, "time"),
                                    h("th", {scope: "col", class: "number"}, "share"))),
                                    h("tbody", {}, rows.map(([name, ps]) => h("tr", {}, h("th", {scope: "row"}, name),
                                      h("td", {class: "number", title: exactTime(Math.round(ps))}, timeText(Math.round(ps))), h("td", {class: "number"}, share(ps))))));
    const most = 12, rest = operations.slice(most).reduce((sum, [, ps]) => sum + ps, 0);
    this.regionBox.replaceChildren(
        h("h2", {}, `Selected: ${timeText(Math.round(time))}, ${timeText(Math.round(this.region[0]))} to ${timeText(Math.round(this.region[1]))} `,
          h("button", {type: "button", onclick: () => this.setRegion(null)}, "Clear")),
        h("div", {class: "columns"}, list("lane", lanes.map((lane) => [lane.name, lane.time])),
          list("operation", [...operations.slice(0, most).map(([row, ps]) => [this.app.link(row), ps]),
                             ...(rest > 0 ? [[`${plural(operations.length - most, "other operation")}`, rest]] : [])])));
    announce(`${timeText(Math.round(time))} selected`);
  }
  /** Shift and drag. */
  selectsRegions() {
    const at = (event) => this.view.low + (event.offsetX - kGutter) / (this.width - kGutter) * this.view.span;
    let begin = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      if (!event.shiftKey || event.button !== 0) return;
      begin = at(event);
      this.canvas.setPointerCapture(event.pointerId);
      event.stopImmediatePropagation();
    }, {capture: true});
    this.canvas.addEventListener("pointermove", (event) => { if (begin !== null && event.buttons) this.setRegion(begin, at(event)); });
    this.canvas.addEventListener("pointerup", () => { begin = null; });
  }

  /**
   * Per column of pixels the category that takes most of the TensorCore's time in it, and the busy share of the column; null
   * where nothing runs. Only slices without others inside count: a loop alone would be one grey block. The iterations of a loop
   * that are not drawn repeat those that are.
   */
  overviewColumns(count) {
    if (this.wholeRun?.length === count) return this.wholeRun;
    const {start_ps, length_ps} = this.slices;
    const step = this.view.whole / count;
    const times = Array.from({length: count}, () => null);
    const add = (slice, kinds, most = count) => {
      const first = Math.floor(start_ps[slice] / step);
      for (let x = first; x <= Math.min(count - 1, first + most - 1, Math.floor(this.end(slice) / step)); ++x) {
        const time = Math.min(this.end(slice), (x + 1) * step) - Math.max(start_ps[slice], x * step);
        if (time <= 0) continue;
        times[x] ??= new Map();
        for (const [kind, ps] of kinds) times[x].set(kind, (times[x].get(kind) ?? 0) + time * ps / length_ps[slice]);
      }
    };
    for (const {slice, kinds, from} of this.leavesWithTimes()) {
      const shown = start_ps[slice] - from;
      if (from === undefined || shown < 8 * step) {
        add(slice, kinds);
        continue;
      }
      // A loop's rest looks like the iterations before it.
      add(slice, kinds, 1);
      for (let x = Math.floor(start_ps[slice] / step) + 1; x < Math.min(count, this.end(slice) / step); ++x)
        times[x] ??= times[Math.floor((from + (x * step - start_ps[slice]) % shown) / step)];
    }
    this.wholeRun = times.map((kinds) => {
      if (!kinds) return null;
      const [kind] = [...kinds].reduce((most, one) => one[1] > most[1] ? one : most);
      return {kind, busy: [...kinds.values()].reduce((sum, time) => sum + time, 0) / step};
    });
    return this.wholeRun;
  }

  /**
   * Slices of the TensorCore without others inside, by time, each with its time by category. That of a loop's rest is that of the
   * iterations before it, which begin at `from`, in proportion.
   */
  leavesWithTimes() {
    const {track, start_ps, length_ps, instruction, waiting, first_hidden} = this.slices;
    const order = [];
    for (let i = 0; i < track.length; ++i)
      if (track[i] === 0 && length_ps[i] > 0) order.push(i);
    const begins = new Map();  // of the loop that is open, by its instruction
    for (const slice of this.leavesOf(order)) begins.set(slice, undefined);
    const loops = new Map();
    for (const slice of order) {
      if (!(first_hidden[slice] > 1)) loops.set(instruction[slice], start_ps[slice]);
      else if (begins.has(slice)) begins.set(slice, loops.get(instruction[slice]));
    }
    const leaves = [];
    for (const [slice, from] of begins) {
      const kinds = new Map();
      const shown = start_ps[slice] - from;
      if (shown > 0)
        for (let i = leaves.length - 1; i >= 0 && start_ps[leaves[i].slice] >= from; --i)
          for (const [kind, ps] of leaves[i].kinds) kinds.set(kind, (kinds.get(kind) ?? 0) + ps * length_ps[slice] / shown);
      else
        kinds.set(waiting[slice] ? "waiting" : this.category(slice), length_ps[slice] * this.share(slice));
      leaves.push({slice, kinds, from: shown > 0 ? from : undefined});
    }
    return leaves;
  }

  /** The whole run, with what is in sight marked. */
  drawOverview() {
    const width = this.overview.clientWidth;
    const context = prepare(this.overview, width, kOverview);
    const scale = (width - kGutter) / this.view.whole;
    context.fillStyle = colour("--muted");
    drawText(context, "whole run", 4, kOverview / 2, kGutter - 8);
    this.overviewColumns(Math.max(1, Math.floor(width - kGutter))).forEach((column, x) => {
      if (!column) return;
      const high = Math.max(2, (kOverview - 12) * Math.min(1, column.busy));
      context.fillStyle = column.kind === "waiting" ? colour("--c-waiting") : categoryColour(column.kind);
      context.fillRect(kGutter + x, kOverview - 6 - high, 1, high);
    });
    const left = kGutter + this.view.low * scale;
    const span = Math.max(3, this.view.span * scale);
    context.fillStyle = colour("--veil");
    context.fillRect(kGutter, 0, left - kGutter, kOverview);
    context.fillRect(left + span, 0, width - left - span, kOverview);
    context.strokeStyle = colour("--accent");
    context.lineWidth = 2;
    context.strokeRect(left, 1, span, kOverview - 2);
    context.lineWidth = 1;
  }
  jump(event) {
    const time = (event.offsetX - kGutter) / (this.overview.clientWidth - kGutter) * this.view.whole;
    this.view.set(time - this.view.span / 2, time + this.view.span / 2);
  }

  // ── One slice ──

  hit(event) {
    const time = this.view.low + (event.offsetX - kGutter) / (this.width - kGutter) * this.view.span;
    if (event.offsetX < kGutter) return -1;
    const level = this.levels.find((one) => event.offsetY >= one.top && event.offsetY < one.top + kLane);
    if (!level) return -1;
    const slack = this.view.span / (this.width - kGutter) * 2;
    const slice = level.slices[this.firstAfter(level, time - slack)];
    return slice !== undefined && this.slices.start_ps[slice] <= time + slack ? slice : -1;
  }

  hovered(event) {
    if (event.buttons) return;
    const slice = this.hit(event);
    this.canvas.style.cursor = slice >= 0 ? "pointer" : "grab";
    if (slice >= 0) return showTooltip(event, this.describe(slice));
    const counter = this.counters.find((one) => event.offsetY >= one.top && event.offsetY < one.top + kCounter);
    if (!counter || event.offsetX < kGutter) return hideTooltip();
    const time = this.view.low + (event.offsetX - kGutter) / (this.width - kGutter) * this.view.span;
    const {time_ps, bytes} = counter.points.columns;
    showTooltip(event, [counter.name, bytesText(bytes[lastUpTo(time_ps, time)]) + " at " + timeText(Math.round(time))]);
  }

  describe(slice) {
    const {columns} = this.app.data;
    const row = this.row(slice);
    return [
      this.name(slice), `${columns.opcode[row]} on ${this.trace.tracks[this.slices.track[slice]]}`,
      `${timeText(this.slices.length_ps[slice])} from ${timeText(this.slices.start_ps[slice])}`,
      `bound by ${columns.bound_by[row]}`, columns.op_name[row],
    ].filter(Boolean);
  }

  clicked(event) {
    this.canvas.focus({preventScroll: true});
    if (this.canvas.wasDragged || event.shiftKey) return;
    const slice = this.hit(event);
    if (slice >= 0) this.choose(slice);
  }
  choose(slice) {
    this.cursor = this.chosen = slice;
    this.app.select(this.row(slice), this);
    announce(this.describe(slice).join(", "));
    this.later();
  }
  zoomTo(slice) {
    if (slice < 0) return;
    const span = Math.max(this.slices.length_ps[slice], 1);
    this.view.set(this.slices.start_ps[slice] - span * 0.15, this.end(slice) + span * 0.15);
  }

  pressed(event) {
    if (zoomKey(event, this.view)) return;
    // From the slice of the cursor, or what is in sight, to that of later ones.
    if (event.key === "[" || event.key === "]") {
      const [begin, end] = this.cursor >= 0 ? [this.slices.start_ps[this.cursor], this.end(this.cursor)] : [this.view.low, this.view.high];
      return event.key === "[" || !this.region ? this.setRegion(begin, end) : this.setRegion(this.region[0], end);
    }
    const moves = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]};
    if (event.key === "Enter" && this.cursor >= 0) return this.choose(this.cursor);
    if (!(event.key in moves) || this.levels.length === 0) return;
    event.preventDefault();
    this.move(...moves[event.key]);
  }
  /** To the next slice of the lane, or to the lane below. */
  move(right, down) {
    if (this.cursor < 0) {
      const level = this.levels[0];
      this.cursor = level.slices[Math.min(level.slices.length - 1, this.firstAfter(level, this.view.low))];
    } else {
      const number = this.levelOf[this.cursor];
      const level = this.levels[Math.max(0, Math.min(this.levels.length - 1, number + down))];
      const at = down ? this.firstAfter(level, this.slices.start_ps[this.cursor]) : level.slices.indexOf(this.cursor) + right;
      this.cursor = level.slices[Math.max(0, Math.min(level.slices.length - 1, at))];
    }
    this.view.show(this.slices.start_ps[this.cursor], this.end(this.cursor));
    announce(this.describe(this.cursor).join(", "));
    this.later();
  }

  selected(row, from) {
    if (!this.view) return;
    if (from !== this) this.chosen = this.cursor = this.sliceOf.get(row) ?? -1;
    if (from !== this && this.cursor >= 0) this.view.show(this.slices.start_ps[this.cursor], this.end(this.cursor));
    this.later();
  }

  // ── Search ──

  find(text) {
    this.query = text.trim();
    const match = this.app.matcher(this.query);
    this.matching = new Uint8Array(this.app.data.rows);
    for (let row = 0; row < this.matching.length; ++row) this.matching[row] = match(row) ? 1 : 0;
    this.matches = [];
    if (this.query)
      for (let i = 0; i < this.slices.track.length; ++i)
        if (this.slices.track[i] === this.slices.track[0] && this.matching[this.row(i)]) this.matches.push(i);
    this.match = -1;
    this.found.textContent = this.query ? plural(this.matches.length, "match", "matches") : "";
    this.later();
  }
  next(by) {
    if (this.matches.length === 0) return;
    this.match = this.match < 0 ? (by > 0 ? 0 : this.matches.length - 1) : (this.match + by + this.matches.length) % this.matches.length;
    const slice = this.matches[this.match];
    this.found.textContent = `${grouped(this.match + 1)} of ${plural(this.matches.length, "match", "matches")}`;
    this.view.show(this.slices.start_ps[slice], this.end(slice));
    this.choose(slice);
  }

  // ── The same as a table ──

  makeTable() {
    const {columns} = this.app.data;
    this.slicesTable = new DataTable({
      label: "Slices in sight", height: "22rem", emptyText: "No slice is in sight.", sort: null, descending: false,
      onOpen: (slice) => this.choose(slice),
      columns: [
        {key: "name", title: "operation", value: (slice) => this.name(slice)},
        {key: "lane", title: "lane", value: (slice) => this.trace.tracks[this.slices.track[slice]]},
        {key: "start", title: "start", number: true, value: (slice) => this.slices.start_ps[slice],
         text: (slice) => timeText(this.slices.start_ps[slice]), hint: (slice) => exactTime(this.slices.start_ps[slice])},
        {key: "length", title: "length", number: true, value: (slice) => this.slices.length_ps[slice],
         text: (slice) => timeText(this.slices.length_ps[slice]), hint: (slice) => exactTime(this.slices.length_ps[slice])},
        {key: "bound", title: "bound by", value: (slice) => columns.bound_by[this.row(slice)]},
      ],
    });
    this.tableBox = h("details", {class: "as-table", ontoggle: () => this.fillTable()},
                      h("summary", {}, "Slices in sight as a table"), this.slicesTable.element);
  }
  fillTable() {
    if (!this.tableBox || !this.tableBox.open) return;
    const inSight = [];
    for (let i = 0; i < this.slices.track.length; ++i)
      if (this.end(i) >= this.view.low && this.slices.start_ps[i] <= this.view.high) inSight.push(i);
    this.slicesTable.setRows(inSight);
  }
}
