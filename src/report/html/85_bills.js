// Copies and collectives, the padding bill, and what the numbers rest on.

/** A column of a table in the report, by kind of number. */
function reportColumn(columns, key, title, kind) {
  const values = columns[key] || [];
  const kinds = {
    time: {text: (row) => (values[row] == null ? null : timeText(values[row])), hint: (row) => exactTime(values[row]), number: true},
    bytes: {text: (row) => (values[row] === null ? null : bytesText(values[row])), hint: (row) => exactBytes(values[row]), number: true},
    count: {text: (row) => (values[row] === null ? null : grouped(values[row])), number: true},
    times: {text: (row) => significant(values[row]) + "×", number: true},
    flag: {text: (row) => (values[row] ? "yes" : "")},
  };
  return {key, title, value: (row) => values[row] ?? null, ...(kinds[kind] || {})};
}

class TransfersView {
  constructor(app) {
    Object.assign(this, {app, id: "transfers", title: "Transfers", tables: []});
    this.element = h("div", {});
  }
  open() {
    const {report} = this.app.data;
    const {time} = report;
    put(this.element, h("p", {class: "facts"},
        h("span", {}, h("strong", {title: exactTime(time.exposed_copies_ps)}, timeText(time.exposed_copies_ps)), " stalls on copies"),
        h("span", {}, h("strong", {title: exactTime(time.exposed_collectives_ps)}, timeText(time.exposed_collectives_ps)), " exposed communication, synchronous collectives as a whole"),
        h("span", {}, h("strong", {title: exactTime(time.by_category_ps["collective"])}, timeText(time.by_category_ps["collective"])), " in synchronous collectives, starts and dones"),
        h("span", {}, h("strong", {title: exactBytes(report.traffic.sent_bytes)}, bytesText(report.traffic.sent_bytes)), " sent by one device")));
    this.add("Copies", report.copies, "No asynchronous copy runs.", [["bytes", "size", "bytes"], ["from", "from"], ["to", "to"], ["cross_program", "cross-program", "flag"]]);
    this.add("Collectives", report.collectives, "No collective runs.",
             [["payload_bytes", "payload", "bytes"], ["sent_bytes", "sent", "bytes"], ["group_size", "group", "count"],
              ["queued_ps", "queued", "time"], ["queued_behind", "behind"], ["network_ps", "network", "time"], ["launch_ps", "launch", "time"], ["latency_bound", "latency-bound", "flag"], ["algorithm", "algorithm"]]);
    if (report.other_transfers.rows > 0)
      this.add("Other transfers", report.other_transfers, "", [["kind", "kind"], ["bytes", "size", "bytes"]]);
    if (report.loops.rows > 0) this.addLoops(report.loops);
    put(this.element, h("p", {class: "detail"}, "Of the first execution: hidden time overlaps with other work, exposed time stalls the core."));
  }
  add(title, part, empty, more) {
    const {columns} = part;
    const hiding = {
      key: "picture", title: "hidden | exposed", value: (row) => columns.exposed_ps[row],
      text: (row) => `${timeText(columns.hidden_ps[row])} hidden, ${timeText(columns.exposed_ps[row])} exposed`,
      cell: (row) => {
        const whole = Math.max(columns.duration_ps[row], 1);
        return h("span", {class: "split", role: "img", "aria-label": `${percentText(columns.hidden_ps[row] / whole)} hidden`},
                 h("span", {style: {width: 100 * columns.hidden_ps[row] / whole + "%", background: "var(--good)"}}),
                 h("span", {style: {width: 100 * columns.exposed_ps[row] / whole + "%", background: "var(--c-waiting)"}}));
      }};
    const rows = part.rows;
    const table = new DataTable({
      label: title, rows, sort: "exposed_ps", height: "26rem", emptyText: empty,
      onOpen: (row) => this.app.open(columns.start[row]),
      columns: [reportColumn(columns, "start", "start"), reportColumn(columns, "done", "done"),
                reportColumn(columns, "duration_ps", "duration", "time"), reportColumn(columns, "hidden_ps", "hidden", "time"),
                reportColumn(columns, "exposed_ps", "exposed", "time"), hiding, reportColumn(columns, "executions", "runs", "count"),
                ...more.map(([key, heading, kind]) => reportColumn(columns, key, heading, kind))],
    });
    this.tables.push(table);
    put(this.element, h("section", {class: "panel"}, h("h2", {}, `${title} (${grouped(rows)})`), table.element));
  }
  addLoops(part) {
    const {columns} = part;
    const table = new DataTable({
      label: "Loops", rows: part.rows, sort: "iteration_ps", height: "16rem", onOpen: (row) => this.app.open(columns.name[row]),
      columns: [reportColumn(columns, "name", "loop"), reportColumn(columns, "trip_count", "iterations", "count"),
                {key: "known", title: "known", value: (row) => (columns.trip_count_known[row] ? "yes" : "assumed")},
                reportColumn(columns, "iteration_ps", "one iteration", "time")]});
    this.tables.push(table);
    put(this.element, h("section", {class: "panel"}, h("h2", {}, `Loops (${grouped(part.rows)})`), table.element));
  }
  shown() { for (const table of this.tables) table.render(true); }
  print() { for (const table of this.tables) table.print(30); }
}

class PaddingView {
  constructor(app) { Object.assign(this, {app, id: "padding", title: "Padding"}); this.element = h("div", {}); }
  open() {
    const {padding, padding_total} = this.app.data.report;
    const {columns} = padding;
    this.table = new DataTable({
      label: "Padding bill", rows: padding.rows, sort: "extra_bytes", height: "calc(100vh - 16rem)", emptyText: "No array has padding.",
      onOpen: (row) => this.app.open(columns.name[row]),
      columns: [reportColumn(columns, "name", "array"), reportColumn(columns, "extra_bytes", "extra memory", "bytes"),
                reportColumn(columns, "expansion", "expansion", "times"), reportColumn(columns, "unpadded_bytes", "unpadded", "bytes"),
                reportColumn(columns, "padded_bytes", "padded", "bytes"), reportColumn(columns, "shape", "shape"),
                reportColumn(columns, "opcode", "opcode"), reportColumn(columns, "space", "space"),
                reportColumn(columns, "allocation", "allocation type"), reportColumn(columns, "op_name", "op_name")]});
    put(
        this.element, h("p", {class: "facts"},
          h("span", {}, h("strong", {"data-number": "padding", title: exactBytes(padding_total.extra_bytes)}, bytesText(padding_total.extra_bytes)), " extra memory due to padding"),
          h("span", {}, h("strong", {title: exactBytes(padding_total.padded_bytes)}, bytesText(padding_total.padded_bytes)), " padded"),
          h("span", {}, h("strong", {title: exactBytes(padding_total.unpadded_bytes)}, bytesText(padding_total.unpadded_bytes)), " unpadded"),
          h("span", {}, h("strong", {}, significant(padding_total.expansion) + "×"), " expansion"),
          h("span", {}, h("strong", {}, grouped(padding_total.padded_arrays)), " arrays with padding",
            padding_total.padded_arrays > padding.rows ? `, the largest ${grouped(padding.rows)} below` : "")),
        this.table.element);
  }
  shown() { this.table.render(true); }
  print() { this.table.print(40); }
}

class AssumptionsView {
  constructor(app) { Object.assign(this, {app, id: "assumptions", title: "Assumptions"}); this.element = h("div", {}); }
  open() {
    const {report, total} = this.app.data;
    const list = (table, render) => h("ul", {class: "plain-list"}, Array.from({length: table.rows}, (_, row) => h("li", {}, render(table.columns, row))));
    const coverage = Object.entries(report.coverage).filter(([, ps]) => ps > 0).sort((a, b) => b[1] - a[1]);
    const meaning = {
      published: 'from the maker or a paper',
      inferred: 'follows from published ones',
      calibrated: 'fitted to measurements',
      guess: 'no source: a guess',
      override: '--set',
      default: 'bytes-only estimate: no cost model of the operation'
    };
    put(this.element,
        h('section', {class: 'panel'}, h('h2', {}, 'Assumptions about the module'),
          report.assumptions.rows === 0 ?
              h('p', {class: 'empty'},
                'None: the module and the device file specify everything.') :
              list(
                  report.assumptions,
                  (c, row) =>
                      [c.text[row], c.count[row] > 1 ? ` (${grouped(c.count[row])} times)` : '',
                       c.example[row] === null ? null : [' – ', this.app.linkTo(c.example[row])]])),
        h('section', {class: 'panel'}, h('h2', {}, 'Provenance of the device parameters that determine the time'),
          coverage.length === 0 ?
              h('p', {class: 'empty'}, 'The module takes no time.') :
              h('table', {class: 'plain bars'}, h('tbody', {}, coverage.map(([key, ps]) => {
                  const name = key.replace(/_ps$/, "");
                  return h("tr", {}, h("th", {scope: "row"}, name), h("td", {class: "number", title: exactTime(ps)}, timeText(ps)),
                           h("td", {class: "number"}, percentText(ps / total)), h("td", {}, meaning[name] || ""),
                           h("td", {class: "wide"}, h("span", {class: "bar bounds", "aria-hidden": "true", style: {width: 100 * ps / total + "%"}})));
                })))),
        h('section', {class: 'panel'}, h('h2', {}, 'Device keys without effect'),
          report.keys_without_effect.rows === 0 ?
              h('p', {class: 'empty'}, 'None: every key that was set makes a difference, or none was set.') :
              list(
                  report.keys_without_effect,
                  (c, row) =>
                      [h('code', {}, `${c.from_set[row] ? '--set ' : ''}${c.path[row]} = ${c.value[row]}`),
                       c.previous[row] === null ? '' : `: the same result as with ${c.previous[row]}`]),
          report.keys_not_tried > 0 ?
              h('p', {class: 'detail'},
                `${
                    plural(
                        report.keys_not_tried,
                        'key')} not tried: the module is too large to run once for each.`) :
              null),
        h('section', {class: 'panel'}, h('h2', {}, 'Unspecified compiler flags'),
          report.flags_not_given.rows === 0 ?
              h('p', {class: 'empty'}, 'None that this device has another setting for.') :
              list(
                  report.flags_not_given,
                  (c, row) => [h('code', {}, `--${c.flag[row]}=${c.other[row]}`), ` in place of ${c.value[row]}: `,
                               c.time_ps[row] === null ? 'not tried, the module is too large' : timeText(c.time_ps[row])])),
        h('section', {class: 'panel'}, h('h2', {}, 'How to read this'),
          h('p', {},
            'All times are simulated, of one run on one device. Sizes are array sizes, padding included, unless they are called logical. ' +
                'What isn\'t known is unknown, never 0. The page counts in doubles: whole numbers beyond 9,007,199,254,740,992 are rounded here, not in the JSON.')));
  }
}
