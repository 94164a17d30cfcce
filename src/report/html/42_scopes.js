// The op profile: time by scope of op_name as a tree, with how well the matrix units and HBM are used.

const kMostChildren = 40;
const kOpenShare = 0.15;  // scopes with more than this share of the time are open at first

/** A scope: what its operations take together. */
class ScopeNode {
  constructor(name, parent) {
    Object.assign(this, {name, parent, children: new Map(), rows: [], count: 0, time: 0, flops: 0, bytes: 0, hidden: 0, wasted: 0});
  }
  child(name) {
    if (!this.children.has(name)) this.children.set(name, new ScopeNode(name, this));
    return this.children.get(name);
  }
  add({time, flops, bytes, hidden, wasted}) {
    ++this.count;
    this.time += time;
    this.flops += flops;
    this.bytes += bytes;
    this.hidden += hidden;
    this.wasted += wasted;
  }
  /** Takes the place of its only child, as long as it has nothing else: "while/body" is one scope. */
  shortened() {
    let only;
    while (this.parent && this.rows.length === 0 && this.children.size === 1) {
      [only] = this.children.values();
      Object.assign(this, {name: `${this.name}/${only.name}`, rows: only.rows, children: only.children});
    }
    for (const child of this.children.values()) {
      child.parent = this;
      child.shortened();
    }
  }
  /** Scopes and operations below, the longest first. */
  sorted() {
    return this.order = this.order || [...this.children.values()].sort((a, b) => b.time - a.time);
  }
}

/** What one operation takes. Hidden: bytes that move while other operations run, as asynchronous copies do. Wasted: what is left of its time at the better used of the matrix units and HBM. */
function amountsOf({columns, report, hbm}, row) {
  const {peak_flops_per_second, peak_hbm_bytes_per_second} = report.device;
  const time = columns.self_time_ps[row], flops = columns.flops[row] || 0, bytes = hbm[row];
  const share = (amount, peak) => (peak && time > 0 ? amount / (time * 1e-12) / peak : 0);
  const used = Math.min(1, Math.max(share(flops, peak_flops_per_second), share(bytes, peak_hbm_bytes_per_second)));
  return {time, flops, bytes, hidden: isAsynchronous(columns.opcode[row]) ? bytes : 0, wasted: time * (1 - used)};
}

/** Every operation under its op_name; those without one under their opcode. */
function scopeTree(data) {
  const {columns, rows} = data;
  const root = new ScopeNode("all", null);
  for (let row = 0; row < rows; ++row) {
    const amounts = amountsOf(data, row);
    let node = root;
    node.add(amounts);
    for (const part of columns.op_name[row] ? columns.op_name[row].split("/") : ["without op_name", columns.opcode[row]]) {
      node = node.child(part);
      node.add(amounts);
    }
    node.rows.push(row);
  }
  root.shortened();
  return root;
}

class ScopesView {
  constructor(app) {
    Object.assign(this, {app, id: "scopes", title: "Op profile"});
    this.element = h("div", {});
  }

  open() {
    const {data} = this.app;
    if (!(data.total > 0)) return put(this.element, h("p", {class: "empty"}, "The module takes no time."));
    this.root = scopeTree(data);
    // Scopes that hold much of the time are open at first.
    this.opened = new Set();
    const open = (node) => {
      this.opened.add(node);
      for (const child of node.children.values()) if (child.time > kOpenShare * this.root.time && child.children.size > 0) open(child);
    };
    open(this.root);
    const title = (text, help, number = true) => h("th", {scope: "col", role: "columnheader", class: number ? "number" : null, title: help}, text);
    this.body = h("tbody", {onclick: (event) => this.clicked(event), onkeydown: (event) => this.pressed(event)});
    put(this.element,
        h("p", {class: "detail"}, "Time of operations by the scopes of their op_name. Wasted time is the share of an operation's time that is unused at the better used of " +
                                  "the two: matrix units and HBM."),
        h("div", {class: "panel scroll"}, h("table", {class: "plain tree", role: "treegrid", "aria-label": "Op profile", id: "scope-tree"},
          h("thead", {}, h("tr", {}, title("scope", null, false), title("time", "of its operations"), title("share", "of the run's time"),
                           title("MXU", "FLOP/s of matmuls as a share of the bf16 peak"),
                           title("HBM", "bytes/s as a share of HBM's bandwidth; –: asynchronous transfers, which overlap with other operations"),
                           title("wasted", "time × (1 - the larger of both shares), operation by operation"), title("operations", "that ran"))),
          this.body)));
    this.fill();
  }

  /** Lines in sight: nodes, and the operations of opened ones. */
  fill() {
    const lines = [];
    const visit = (node, depth) => {
      lines.push(this.line(node, depth));
      if (!this.opened.has(node)) return;
      const below = node.sorted();
      for (const child of below.slice(0, kMostChildren)) visit(child, depth + 1);
      if (below.length > kMostChildren) lines.push(this.more(below.slice(kMostChildren), depth + 1));
      const {self_time_ps} = this.app.data.columns;
      const rows = [...node.rows].sort((a, b) => self_time_ps[b] - self_time_ps[a]);
      for (const row of rows.slice(0, kMostChildren)) lines.push(this.operation(row, depth + 1));
      if (rows.length > kMostChildren) lines.push(this.rest(`and ${plural(rows.length - kMostChildren, "more operation")}`, depth + 1));
    };
    visit(this.root, 0);
    this.nodes = lines.filter((line) => line.node).map((line) => line.node);
    this.body.replaceChildren(...lines.map((line) => line.element));
  }
  more(nodes, depth) {
    const time = nodes.reduce((sum, node) => sum + node.time, 0);
    return this.rest(`and ${plural(nodes.length, "more scope")} of ${timeText(time)}`, depth);
  }
  rest(text, depth) {
    return {element: h("tr", {}, h("td", {class: "detail", colspan: 7, style: {"padding-left": 18 * depth + 20 + "px"}}, text))};
  }

  cells({time, flops, bytes, hidden, wasted}) {
    const {data} = this.app;
    const {peak_flops_per_second, peak_hbm_bytes_per_second} = data.report.device;
    const share = (amount, peak) => (peak && time > 0 ? amount / (time * 1e-12) / peak : null);
    const bar = (value) => h("td", {class: "number"}, value === null ? "–" : percentText(value),
                             h("span", {class: "bar bounds", "aria-hidden": "true", style: {width: Math.min(100, 100 * (value || 0)) + "%"}}));
    return [h("td", {class: "number", title: exactTime(time)}, timeText(time)),
            h("td", {class: "number"}, percentText(time / data.total)),
            bar(share(flops, peak_flops_per_second)), bar(2 * hidden > bytes ? null : share(bytes, peak_hbm_bytes_per_second)),
            h("td", {class: "number"}, wasted > 0 ? timeText(Math.round(wasted)) : "0")];
  }
  line(node, depth) {
    const isOpen = this.opened.has(node);
    const colour = kCategoryColours[dominantCategory(this.app.data, this.rowsOf(node))] || "--c-control";
    const element = h("tr", {tabindex: node === this.root ? 0 : -1, "aria-level": depth + 1, "aria-expanded": String(isOpen), class: "scope"},
                      h("th", {scope: "row", title: node.name, style: {"padding-left": 18 * depth + "px"}},
                        h("span", {class: "twist"}, isOpen ? "▾" : "▸"), swatch(colour), elided(node.name, 60)),
                      this.cells(node), h("td", {class: "number"}, grouped(node.count)));
    element.node = node;
    return {element, node};
  }
  operation(row, depth) {
    const {data} = this.app;
    const {columns} = data;
    return {element: h("tr", {"aria-level": depth + 1},
                       h("th", {scope: "row", style: {"padding-left": 18 * depth + 20 + "px"}}, swatch(kCategoryColours[columns.category[row]] || "--c-control"),
                         this.app.link(row)),
                       this.cells(amountsOf(data, row)), h("td", {class: "number"}, ""))};
  }
  rowsOf(node) {
    if (!node.allRows) node.allRows = [...node.rows, ...[...node.children.values()].flatMap((child) => this.rowsOf(child))];
    return node.allRows;
  }

  toggle(node) {
    if (!this.opened.delete(node)) this.opened.add(node);
    this.fill();
    this.focus(node);
  }
  focus(node) { [...this.body.children].find((line) => line.node === node)?.focus({preventScroll: true}); }
  clicked(event) {
    const line = event.target.closest("tr.scope");
    if (line) this.toggle(line.node);
  }
  pressed(event) {
    const line = event.target.closest("tr.scope");
    if (!line || event.target !== line) return;
    const at = this.nodes.indexOf(line.node);
    const by = {ArrowDown: 1, ArrowUp: -1}[event.key];
    const isOpen = this.opened.has(line.node);
    if (by) this.focus(this.nodes[Math.max(0, Math.min(this.nodes.length - 1, at + by))]);
    else if (event.key === "Enter" || event.key === " " || event.key === "ArrowRight" && !isOpen || event.key === "ArrowLeft" && isOpen) this.toggle(line.node);
    else return;
    event.preventDefault();
  }
}
