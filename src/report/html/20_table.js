// A table of any length: only the rows in sight are elements. Rows can stand in groups that open and close.
//
//   new DataTable({label: "Operations", columns, rows: data.rows, sort: "time", onOpen: (row) => …})
//
// A column: {key, title, value(row), text(row)?, number?, hint?, cell(row)?, help?}. value sorts; null comes last.

const kRowHeight = 27;  // style.css: --row

class DataTable {
  constructor(options) {
    Object.assign(this, {rows: 0, sort: null, descending: true, onOpen: null, height: null, group: null}, options);
    this.order = Int32Array.from({length: this.rows}, (_, row) => row);
    this.open = new Set();
    this.active = 0;
    this.build();
    this.sortRows();
  }

  build() {
    this.head = h("tr", {"aria-rowindex": 1});
    this.buttons = {};
    for (const column of this.columns) {
      const button = h("button", {type: "button", title: column.help || null,
                                  onclick: () => this.sortBy(column.key)}, column.title);
      this.buttons[column.key] = h("th", {scope: "col", role: "columnheader", class: column.number ? "number" : null},
                                   button);
      this.head.append(this.buttons[column.key]);
    }
    this.body = h("tbody", {onclick: (event) => this.clicked(event)});
    this.table = h("table", {role: "grid", class: "data", "aria-label": this.label,
                             "aria-colcount": this.columns.length}, h("thead", {}, this.head), this.body);
    this.scroller = h("div", {class: "table-scroll", onscroll: () => this.later(),
                              onkeydown: (event) => this.pressed(event)}, this.table);
    if (this.height) this.scroller.style.maxHeight = this.height;
    this.empty = h("p", {class: "empty", hidden: true}, this.emptyText || "Nothing here.");
    this.element = h("div", {class: "table-box"}, this.scroller, this.empty);
    new ResizeObserver(() => this.render()).observe(this.scroller);
  }

  column(key) { return this.columns.find((column) => column.key === key); }

  /** Which rows, in any order. */
  setRows(rows) {
    this.order = Int32Array.from(rows);
    this.sortRows();
  }
  /**
   * group: {value(row), summary(rows) => text of each column, label(value)?, colour(rows)?} or null. Labels are what is shown
   * of values, colours variables of the style sheet.
   */
  setGroup(group) {
    this.group = group;
    this.open.clear();
    this.sortRows();
  }

  /** Opens a group and scrolls to it. */
  openGroup(value) {
    this.open.add(value);
    this.makeLines();
    const at = this.lines.findIndex((line) => typeof line === "object" && line.value === value);
    if (at < 0) return;
    this.active = at;
    this.scroller.scrollTop = at * kRowHeight;
    this.render(true);
  }

  sortBy(key) {
    this.descending = this.sort === key ? !this.descending : Boolean(this.column(key).number);
    this.sort = key;
    this.sortRows();
    announce(`Sorted by ${this.column(key).title}, ${this.descending ? "descending" : "ascending"}`);
  }

  compare(value) {
    const sign = this.descending ? -1 : 1;
    return (a, b) => {
      const x = value(a);
      const y = value(b);
      if (x === y) return a - b;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return x < y ? -sign : sign;
    };
  }

  sortRows() {
    for (const column of this.columns)
      this.buttons[column.key].setAttribute(
          "aria-sort", column.key !== this.sort ? "none" : this.descending ? "descending" : "ascending");
    const column = this.column(this.sort);
    if (!column) {
      this.order.sort();
    } else if (this.rows > 0) {
      // All rows are sorted once; those in the table keep that order.
      const key = `${this.sort} ${this.descending}`;
      if (this.sortedBy !== key) {
        const values = Array.from({length: this.rows}, (_, row) => column.value(row));
        this.sorted = Int32Array.from(values.keys()).sort(this.compare((row) => values[row]));
        this.sortedBy = key;
      }
      const isIn = new Uint8Array(this.rows);
      for (const row of this.order) isIn[row] = 1;
      this.order = this.sorted.filter((row) => isIn[row]);
    } else {
      this.order.sort(this.compare(column.value));
    }
    this.makeLines();
  }

  /** Lines of the table: rows, and groups as {group}. */
  makeLines() {
    if (!this.group) {
      this.lines = this.order;
    } else {
      const groups = new Map();
      for (const row of this.order) {
        const value = this.group.value(row);
        if (!groups.has(value)) groups.set(value, []);
        groups.get(value).push(row);
      }
      const list = [...groups].map(([value, rows]) => ({value, rows, summary: this.group.summary(rows)}));
      const key = this.sort;
      const sums = list.some((group) => typeof group.summary[key]?.value === "number");
      const of = (group) => (sums ? group.summary[key].value : group.value ?? "");
      list.sort((a, b) => (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0) * (this.descending && sums ? -1 : 1));
      this.lines = [];
      for (const group of list) {
        this.lines.push(group);
        if (this.open.has(group.value)) this.lines.push(...group.rows);
      }
      this.groupCount = list.length;
    }
    this.table.setAttribute("aria-rowcount", this.lines.length + 1);
    this.empty.hidden = this.lines.length > 0;
    this.active = Math.min(this.active, Math.max(0, this.lines.length - 1));
    this.render(true);
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.render();
    });
  }

  /** Draws the lines in sight; all of them, up to `most`, for paper. */
  render(anew = false, most = 0) {
    if (!this.lines || (!most && isPrinting())) return;
    const height = this.scroller.clientHeight || 600;
    let first = Math.max(0, Math.floor(this.scroller.scrollTop / kRowHeight) - 8);
    let last = Math.min(this.lines.length, first + Math.ceil(height / kRowHeight) + 20);
    if (most) first = 0, last = Math.min(this.lines.length, most);
    if (!anew && !most && this.first === first && this.last === last) return;
    this.first = first;
    this.last = last;
    const hadFocus = this.body.contains(document.activeElement);
    const spacer = (count) => count > 0 && !most
        ? h("tr", {"aria-hidden": "true", class: "spacer", style: {height: count * kRowHeight + "px"}},
            h("td", {colspan: this.columns.length})) : null;
    const lines = [];
    for (let at = first; at < last; ++at) lines.push(this.line(at));
    const rest = this.lines.length - last;
    const more = most && rest > 0 ? h("tr", {class: "more"}, h("td", {colspan: this.columns.length},
                                                              `and ${grouped(rest)} more rows`)) : null;
    this.body.replaceChildren(...[spacer(first), ...lines, spacer(rest), more].filter(Boolean));
    if (hadFocus) this.focusLine(false);
  }

  line(at) {
    const row = this.lines[at];
    const attributes = {"aria-rowindex": at + 2, "data-at": at, tabindex: at === this.active ? 0 : -1};
    if (typeof row === "object") return this.groupLine(row, attributes);
    if (this.selected !== undefined && this.selected === row) attributes["aria-selected"] = "true";
    return h("tr", {...attributes, "data-row": row}, this.columns.map((column) => this.cell(column, row)));
  }
  cell(column, row) {
    const attributes = {role: "gridcell", class: column.number ? "number" : null};
    const text = column.text ? column.text(row) : column.value(row);
    if (text === null || text === undefined) attributes.class = (attributes.class || "") + " none";
    attributes.title = column.hint ? column.hint(row) : column.number ? null : text;
    return h("td", attributes, column.cell ? column.cell(row) : text ?? "–");
  }
  groupLine(group, attributes) {
    const isOpen = this.open.has(group.value);
    return h("tr", {...attributes, class: "group", "aria-expanded": String(isOpen)},
             this.columns.map((column, i) => {
               if (i === 0)
                 return h("td", {role: "gridcell", title: group.value ?? "none"}, h("span", {class: "twist"}, isOpen ? "▾" : "▸"),
                          this.group.colour ? swatch(this.group.colour(group.rows)) : null,
                          `${grouped(group.rows.length)} × ${(this.group.label ? this.group.label(group.value) : group.value) ?? "none"}`);
               return h("td", {role: "gridcell", class: column.number ? "number" : null,
                               title: group.summary[column.key]?.hint || null}, group.summary[column.key]?.text ?? "");
             }));
  }

  /** Marks a row and, if asked, brings it into sight. */
  select(row, reveal = false) {
    this.selected = row;
    if (reveal) this.reveal(row);
    this.render(true);
  }
  reveal(row) {
    let at = this.lines.indexOf(row);
    if (at < 0 && this.group) {
      this.open.add(this.group.value(row));
      this.makeLines();
      at = this.lines.indexOf(row);
    }
    if (at < 0) return false;
    this.active = at;
    const top = at * kRowHeight;
    const height = this.scroller.clientHeight || 600;
    if (top < this.scroller.scrollTop || top > this.scroller.scrollTop + height - 3 * kRowHeight)
      this.scroller.scrollTop = Math.max(0, top - height / 3);
    return true;
  }

  activate(at) {
    const row = this.lines[at];
    if (row === undefined) return;
    this.active = at;
    if (typeof row === "object") {
      if (!this.open.delete(row.value)) this.open.add(row.value);
      this.makeLines();
    } else if (this.onOpen) {
      this.onOpen(row);
    }
  }
  clicked(event) {
    const line = event.target.closest("tr[data-at]");
    if (!line || event.target.closest("a, button")) return;
    this.activate(Number(line.dataset.at));
    this.focusLine();
  }
  pressed(event) {
    if (!event.target.closest("tbody")) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / kRowHeight) - 2);
    const moves = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity};
    const line = this.lines[this.active];
    if (event.key in moves) {
      this.active = Math.max(0, Math.min(this.lines.length - 1, this.active + moves[event.key]));
    } else if (event.key === "Enter" || event.key === " ") {
      this.activate(this.active);
    } else if (typeof line === "object" && (event.key === "ArrowRight" || event.key === "ArrowLeft")) {
      if (this.open.has(line.value) === (event.key === "ArrowLeft")) this.activate(this.active);
    } else {
      return;
    }
    event.preventDefault();
    this.focusLine();
  }
  focusLine(scroll = true) {
    if (scroll) {
      const top = this.active * kRowHeight;
      const view = this.scroller.clientHeight - 2 * kRowHeight;
      if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
      if (top > this.scroller.scrollTop + view) this.scroller.scrollTop = top - view;
      this.render(true);
    }
    $(`tr[data-at="${this.active}"]`, this.body)?.focus({preventScroll: true});
  }

  print(most) { this.render(true, most); }
}
