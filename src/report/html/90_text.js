// The module's text, each line with what it costs.

const kLineHeight = 20;  // style.css: .code
const kLongLine = 4000;

class TextView {
  constructor(app) { Object.assign(this, {app, id: "text", title: "HLO text", match: -1, active: 0}); this.element = h("div", {}); }

  async open() {
    const {data} = this.app;
    const {page} = data.report;
    const whole = await data.part("text");
    if (whole === null) return put(this.element, h("p", {class: "empty"}, "A saved report has no text."));
    this.text = whole.split("\n");
    if (this.text[this.text.length - 1] === "") this.text.pop();
    this.first = page.text.first_line;
    this.rowOfLine = new Map();
    for (let row = 0; row < data.rows; ++row) if (data.lines[row]) this.rowOfLine.set(data.lines[row] - this.first, row);
    this.most = data.columns.self_time_ps.reduce((a, b) => Math.max(a, b), 1);
    this.body = h("tbody", {});
    const head = h("thead", {}, h("tr", {}, [["line", "number"], ["time", "number"], ["share", "number"], ["text", null]].map(
        ([title, kind]) => h("th", {scope: "col", class: kind}, title))));
    this.table = h("table", {class: "code", "aria-label": "HLO text with the time of each line", "aria-rowcount": this.text.length + 1}, head, this.body);
    this.scroller = h("div", {class: "table-scroll code-scroll", tabindex: 0, role: "region", "aria-label": "HLO text", id: "text-scroller",
                              onscroll: () => this.later()}, this.table);
    this.search = h("input", {type: "search", placeholder: "Find in the text", "aria-label": "Find in the text",
                              oninput: () => this.find(), onkeydown: (event) => { if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1); }});
    this.found = h("span", {class: "detail", role: "status"});
    put(
        this.element, h("div", {class: "tools"}, this.search,
          h("button", {type: "button", onclick: () => this.next(-1), "aria-label": "Previous match"}, "↑"),
          h("button", {type: "button", onclick: () => this.next(1), "aria-label": "Next match"}, "↓"), this.found,
          h("span", {class: "fill"}),
          h("span", {class: "detail"}, "by cost"),
          h("button", {type: "button", onclick: () => this.dearest(-1), "aria-label": "Next more expensive line"}, "↑"),
          h("button", {type: "button", onclick: () => this.dearest(1), "aria-label": "Next less expensive line, from the most expensive"}, "↓")),
        page.text.is_lowered ? h("p", {class: "note"}, "The input is unoptimized HLO. This is the lowered module that ran, as hlosim lower prints it.") : null,
        this.scroller);
    this.byCost = [...this.rowOfLine.values()].sort((a, b) => data.columns.self_time_ps[b] - data.columns.self_time_ps[a]);
    this.dear = -1;
    new ResizeObserver(() => this.render(true)).observe(this.scroller);
    this.render(true);
    if (this.app.selected < 0 && this.rowOfLine.size > 0) this.reveal(this.firstOperation());
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.render(false);
    });
  }

  render(anew, most = 0) {
    if (!this.text || (!most && isPrinting())) return;
    const height = this.scroller.clientHeight || 600;
    let first = Math.max(0, Math.floor(this.scroller.scrollTop / kLineHeight) - 10);
    let last = Math.min(this.text.length, first + Math.ceil(height / kLineHeight) + 24);
    if (most) first = this.firstOperation(), last = Math.min(this.text.length, first + most);
    if (!anew && this.firstShown === first && this.lastShown === last) return;
    this.firstShown = first;
    this.lastShown = last;
    const spacer = (count) => (count > 0 && !most ? h("tr", {"aria-hidden": "true", class: "spacer", style: {height: count * kLineHeight + "px"}},
                                             h("td", {colspan: 4})) : null);
    const lines = [];
    for (let at = first; at < last; ++at) lines.push(this.line(at));
    const rest = this.text.length - last;
    this.body.replaceChildren(...[spacer(first), ...lines, spacer(rest),
                                  most && rest > 0 ? h("tr", {}, h("td", {colspan: 4}, `and ${grouped(rest)} more lines`)) : null].filter(Boolean));
  }

  line(at) {
    const {columns, total} = this.app.data;
    const row = this.rowOfLine.get(at);
    const time = row === undefined ? null : columns.self_time_ps[row];
    const heat = time ? Math.sqrt(time / this.most) : 0;
    return h("tr", {"aria-rowindex": at + 2, "data-line": at, class: (row !== undefined && row === this.app.selected ? "selected " : "") + (at === this.matchLine ? "match" : ""),
                    style: heat ? {"--heat": (heat * 34).toFixed(1) + "%"} : null},
             h("td", {class: "number line-number"}, String(this.first + at)),
             h("td", {class: "number cost", title: time === null ? null : exactTime(time)}, time ? timeText(time) : ""),
             h("td", {class: "number cost"}, time && total ? percentText(time / total) : ""),
             h("td", {class: "source"}, this.tokens(this.text[at], row)));
  }

  /** Names of operations are links, comments and strings have colours. */
  tokens(text, row) {
    const cut = text.length > kLongLine ? text.slice(0, kLongLine) : text;
    const computation = row === undefined ? null : this.app.data.columns.computation[row];
    const parts = [];
    const pattern = /\/\*.*?\*\/|"(?:\\.|[^"\\])*"|%?[A-Za-z_][\w.\-]*/g;
    let end = 0;
    for (let match; (match = pattern.exec(cut)) !== null;) {
      if (match.index > end) parts.push(cut.slice(end, match.index));
      end = match.index + match[0].length;
      const word = match[0];
      if (word[0] === "\"" || word[0] === "/") {
        parts.push(h("span", {class: "faint"}, word));
      } else if (this.app.data.byName.has(word.replace(/^%/, "")) && cut[end] !== "(" && cut[end] !== "=") {
        const target = this.app.data.find(word.replace(/^%/, ""), computation);
        parts.push(h("a", {href: "#", onclick: (event) => { event.preventDefault(); this.app.select(target, null); }}, word));
      } else {
        parts.push(word);
      }
    }
    parts.push(cut.slice(end));
    if (cut.length < text.length) parts.push(h("span", {class: "faint"}, ` … ${plural(text.length - cut.length, "more character")}`));
    return parts;
  }

  /** A line or two before the first one with a cost. */
  firstOperation() {
    let first = this.text.length;
    for (const line of this.rowOfLine.keys()) first = Math.min(first, line);
    return first === this.text.length ? 0 : Math.max(0, first - 2);
  }
  reveal(line) {
    const top = line * kLineHeight;
    const height = this.scroller.clientHeight || 600;
    if (top < this.scroller.scrollTop || top > this.scroller.scrollTop + height - 3 * kLineHeight)
      this.scroller.scrollTop = Math.max(0, top - height / 3);
    this.render(true);
  }
  selected(row, from) {
    if (!this.text) return;
    const line = this.app.data.lines[row];
    if (line) this.reveal(line - this.first);
    else this.render(true);
  }
  dearest(by) {
    if (this.byCost.length === 0) return;
    this.dear = Math.max(0, Math.min(this.byCost.length - 1, this.dear + by));
    this.app.select(this.byCost[this.dear], null);
  }

  find() {
    const wanted = this.search.value.toLowerCase();
    this.matches = [];
    if (wanted) this.text.forEach((line, at) => { if (line.toLowerCase().includes(wanted)) this.matches.push(at); });
    this.match = -1;
    this.matchLine = -1;
    this.found.textContent = wanted ? plural(this.matches.length, "line") : "";
    if (this.matches.length) this.next(1);
    else this.render(true);
  }
  next(by) {
    if (!this.matches || this.matches.length === 0) return;
    this.match = this.match < 0 ? (by > 0 ? 0 : this.matches.length - 1) : (this.match + by + this.matches.length) % this.matches.length;
    this.matchLine = this.matches[this.match];
    this.found.textContent = `${grouped(this.match + 1)} of ${plural(this.matches.length, "line")}`;
    this.reveal(this.matchLine);
  }
  shown() {
    if (this.app.selected >= 0) this.selected(this.app.selected, null);
    else this.render(true);
  }
  print() { this.render(true, 150); }
}
