// What a profiler measured beside what is simulated: sums, the operations that are farthest off, what has no partner.

function hasProfile() { return $('script.data[data-part="profile"]') !== null; }

class ProfileView {
  constructor(app) {
    Object.assign(this, {app, id: "profile", title: "Measured"});
    this.element = h("div", {});
  }

  async open() {
    const comparison = await this.app.data.part("profile");
    const name = this.app.data.report.module.name;
    const program = comparison.programs.find((one) => one.name === name && one.not_simulated === null)
        || comparison.programs.find((one) => one.not_simulated === null);
    if (!program) return void put(this.element, h("p", {class: "note"}, "No measured operation could be simulated."));
    this.rows = program.operations;
    this.filter = h("input", {type: "search", placeholder: "Filter by name", "aria-label": "Filter measured operations", oninput: () => this.fill()});
    this.kinds = h("select", {"aria-label": "Which operations", onchange: () => this.fill()},
                   ["all operations", "matched", "only measured", "only simulated"].map((kind, i) => h("option", {value: String(i)}, kind)));
    this.makeTable();
    const {profile} = comparison;
    put(this.element,
        [...profile.notes, ...program.assumptions].map((note) => h("p", {class: "note"}, note)),
        h("p", {class: "facts"}, h("span", {}, h("strong", {}, program.name), ` from ${profile.file}`),
          h("span", {class: "detail"}, ` ${profile.form}${profile.device_type ? ", " + profile.device_type : ""}; simulated on ${program.device}`)),
        h("div", {class: "cards"}, this.cards(program)),
        h("section", {class: "panel"}, h("h2", {}, "By category"), this.categories(program)),
        h("section", {class: "panel"}, h("h2", {}, "Operations"), h("div", {class: "tools"}, this.filter, this.kinds), this.table.element));
    this.fill();
  }

  ratio(measured, simulated) { return simulated > 0 ? (measured / simulated).toFixed(3) : kUnknown; }

  cards(program) {
    const card = (title, value, detail) => h("div", {class: "card"}, h("h3", {}, title), h("p", {class: "value"}, value), h("p", {class: "detail"}, detail));
    const each = program.runs > 0 ? program.time_ps / program.runs : null;
    return [
      each === null ? null : card("one run", timeText(each), `${grouped(program.runs)} runs, ${timeText(program.shortest_ps)} to ${timeText(program.longest_ps)}`),
      card("simulated", timeText(program.simulated_ps), each === null ? "" : `measured / simulated ${this.ratio(each, program.simulated_ps)}`),
      card("operations", timeText(program.operations_ps), `${percentText(program.matched_ps / program.operations_ps)} of it matched`),
      card("matched", this.ratio(program.matched_ps, program.matched_simulated_ps), "measured / simulated"),
    ].filter(Boolean);
  }

  categories(program) {
    const number = (text) => h("td", {class: "number"}, text);
    return h("table", {class: "plain"},
             h("thead", {}, h("tr", {}, ["category", "operations", "measured", "simulated", "ratio"].map((title, i) => h("th", {scope: "col", class: i > 0 ? "number" : null}, title)))),
             h("tbody", {}, program.categories.map((one) => h("tr", {}, h("td", {}, one.name), number(grouped(one.operations)), number(timeText(one.measured_ps)),
                                                              number(timeText(one.simulated_ps)), number(this.ratio(one.measured_ps, one.simulated_ps))))));
  }

  makeTable() {
    const rows = this.rows;
    const of = (side, key) => (row) => rows[row][side] === null ? null : rows[row][side][key];
    const time = (key, title, side, member) => ({key, title, number: true, value: of(side, member), text: (row) => timeText(of(side, member)(row))});
    const both = (row, text, key) => [rows[row].measured, rows[row].simulated].map((side) => side === null || side[key] === null ? kUnknown : text(side[key])).join(" / ");
    this.table = new DataTable({label: "Measured operations", rows: rows.length, sort: "off", columns: [
      {key: "name", title: "operation", value: (row) => rows[row].name,
       text: (row) => rows[row].name + (rows[row].renamed ? " = " + rows[row].simulated.name : "") + (rows[row].beside ? " (concurrent)" : "")},
      {key: "category", title: "category", value: (row) => rows[row].category},
      {key: "count", title: "occurrences", number: true, value: of("measured", "occurrences"), text: (row) => rows[row].measured === null ? "" : grouped(rows[row].measured.occurrences)},
      time("measured", "measured", "measured", "mean_ps"),
      time("simulated", "simulated", "simulated", "mean_ps"),
      {key: "ratio", title: "ratio", number: true, value: (row) => rows[row].ratio, text: (row) => rows[row].ratio === null ? kUnknown : rows[row].ratio.toFixed(3), help: "measured / simulated"},
      {key: "off", title: "off", number: true, value: (row) => rows[row].off_ps === null ? null : Math.abs(rows[row].off_ps),
       text: (row) => rows[row].off_ps === null ? "" : timeText(Math.abs(rows[row].off_ps)), help: "all occurrences together"},
      {key: "bound", title: "bound by", value: (row) => rows[row].bound_by, text: (row) => `${rows[row].bound_by || kUnknown} / ${rows[row].simulated ? rows[row].simulated.bound_by : kUnknown}`},
      {key: "flops", title: "FLOP", number: true, value: of("measured", "flops"), text: (row) => both(row, countText, "flops")},
      {key: "bytes", title: "bytes", number: true, value: of("measured", "bytes"), text: (row) => both(row, bytesText, "bytes")},
    ]});
  }

  fill() {
    const words = this.filter.value.trim().toLowerCase(), kind = Number(this.kinds.value);
    const fits = (row) => kind === 0 || (kind === 1 && row.measured && row.simulated) || (kind === 2 && !row.simulated) || (kind === 3 && !row.measured);
    this.table.setRows(this.rows.map((row, i) => fits(row) && row.name.toLowerCase().includes(words) ? i : -1).filter((i) => i >= 0));
  }
  shown() { if (this.table) this.table.render(); }
  theme() {}
}
