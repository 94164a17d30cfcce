// Every operation that ran: sorted, filtered, in groups.

class OperationsView {
  constructor(app) {
    Object.assign(this, {app, id: "operations", title: "Operations"});
    this.element = h("div", {});
  }

  open() {
    const {data} = this.app;
    const {columns, total} = data;
    const time = (key, title, help) => ({
      key, title, help, number: true, value: (row) => columns[key][row],
      text: (row) => (columns[key][row] === 0 ? "0" : timeText(columns[key][row])), hint: (row) => exactTime(columns[key][row])});
    const word = (key, title, help) => ({key, title, help, value: (row) => columns[key][row]});
    const labelled = (key, title, help, values, labels) => ({key, title, help, value: (row) => values[row], cell: (row) => labels.of(values[row]) ?? "–"});
    // Shares of the peaks, over the operation's own time.
    const {peak_flops_per_second, peak_hbm_bytes_per_second} = data.report.device;
    const ofPeak = (amount, row, peak) => {
      const time = columns.self_time_ps[row];
      return peak && time > 0 && amount !== null ? amount / (time * 1e-12) / peak : null;
    };
    const utilisation = (key, title, help, of) => ({key, title, help, number: true, value: of, text: (row) => (of(row) === null ? null : percentText(of(row)))});
    const list = [
      {key: "name", title: "operation", value: (row) => columns.name[row],
       cell: (row) => [swatch(kCategoryColours[columns.category[row]] || "--c-control"), columns.name[row]]},
      {key: "scope", title: "scope", help: "the end of its op_name", value: (row) => columns.op_name[row], cell: (row) => lastScopes(columns.op_name[row]) ?? "–"},
      time("self_time_ps", "time", "all executions, without called computations; these add up to the run's time"),
      {key: "share", title: "share", number: true, value: (row) => columns.self_time_ps[row],
       text: (row) => percentText(total > 0 ? columns.self_time_ps[row] / total : null)},
      word("bound_by", "bound by"),
      labelled("source", "source", "file and line", data.source, data.labels.source),
      utilisation("mxu", "MXU", "FLOP/s of its matmuls as a share of the bf16 peak", (row) => ofPeak(columns.flops[row], row, peak_flops_per_second)),
      utilisation("hbm_share", "HBM", "bytes/s of HBM as a share of its bandwidth", (row) => (isAsynchronous(columns.opcode[row]) ? null : ofPeak(data.hbm[row], row, peak_hbm_bytes_per_second))),
      {key: "shape", title: "shape", help: "of its result", value: (row) => columns.shape[row], cell: (row) => columns.shape[row] ? elided(columns.shape[row], 40) : "–"},
      {key: "executions", title: "runs", number: true, value: (row) => columns.executions[row], text: (row) => grouped(columns.executions[row])},
      time("exposed_ps", "stalled", "stall on an asynchronous operation"),
      {key: "flops", title: "FLOP", number: true, help: "of matmuls, all executions", value: (row) => columns.flops[row],
       text: (row) => (columns.flops[row] === null ? null : countText(columns.flops[row])), hint: (row) => grouped(columns.flops[row])},
      {key: "hbm", title: "HBM bytes", number: true, help: "read and written, all executions", value: (row) => data.hbm[row],
       text: (row) => bytesText(data.hbm[row]), hint: (row) => exactBytes(data.hbm[row])},
      {key: "padding", title: "padding", number: true, help: "share of its bytes that is padding",
       value: (row) => columns.padded_bytes[row] > 0 ? 1 - columns.logical_bytes[row] / columns.padded_bytes[row] : 0,
       text: (row) => columns.padded_bytes[row] > 0 ? percentText(1 - columns.logical_bytes[row] / columns.padded_bytes[row]) : "0"},
      word("opcode", "opcode"),
      word("category", "category"),
      word("computation", "computation"),
      word("op_name", "op_name"),
      {key: "line", title: "HLO line", number: true, value: (row) => data.lines[row] || null, text: (row) => data.lines[row] ? grouped(data.lines[row]) : null},
      word("provenance", "provenance", "source class of the device parameters that determine its time"),
    ];
    this.table = new DataTable({label: "Operations", columns: list, rows: data.rows, sort: "self_time_ps", height: "calc(100vh - 12.5rem)",
                                emptyText: "No operation matches.", onOpen: (row) => this.app.select(row, this)});
    this.filter = h("input", {type: "search", id: "operation-filter", placeholder: "Filter: words, opcode:fusion, /regular expression/",
                              "aria-label": "Filter operations", oninput: () => this.refilter()});
    const choice = (key, label) => {
      const values = [...new Set(columns[key])].filter((value) => value !== null).sort();
      return h("select", {"aria-label": label, "data-key": key, onchange: () => this.refilter()},
               h("option", {value: ""}, label), values.map((value) => h("option", {value}, value)));
    };
    this.choices = [choice("category", "every category"), choice("bound_by", "every bound"), choice("opcode", "every opcode")];
    this.grouping = h("select", {"aria-label": "Group by", id: "operation-group", title: "group: op_name without numbers, else name and bytes",
                                  onchange: () => this.regroup()},
                      [["", "no groups"], ["opcode", "by opcode"], ["computation", "by computation"], ["source", "by source line"],
                       ["category", "by category"], ["bound_by", "by bound"], ["op_name", "by op_name"], ["kind", "by op_name without numbers"]].map(
                         ([value, text]) => h("option", {value}, text)));
    this.count = h("span", {class: "detail", role: "status", id: "operation-count"});
    this.prefix = h("div", {id: "operation-prefix"});
    put(this.element, h("div", {class: "tools"}, this.filter, this.choices, this.grouping, this.count), this.prefix, this.table.element);
    this.refilter();
  }

  arrive(parameters) {
    if (!this.table) return void (this.wanted = parameters);
    // A link that filters or groups tells all of what is shown; one that doesn't leaves it as it is.
    const keys = this.choices.map((choice) => choice.dataset.key);
    if ([...keys, "filter", "group"].some((key) => parameters[key] !== undefined)) {
      for (const choice of this.choices) choice.value = parameters[choice.dataset.key] ?? "";
      this.filter.value = parameters.filter ?? "";
      this.grouping.value = parameters.group ?? "";
      this.regroup();
      if (parameters.open !== undefined) this.table.openGroup(parameters.open);
    }
    this.refilter();
  }

  refilter() {
    if (this.wanted) {
      const wanted = this.wanted;
      this.wanted = null;
      this.arrive(wanted);
      return;
    }
    const {data} = this.app;
    const match = this.app.matcher(this.filter.value);
    const wanted = this.choices.filter((choice) => choice.value !== "").map((choice) => [data.columns[choice.dataset.key], choice.value]);
    const rows = [];
    let time = 0;
    for (let row = 0; row < data.rows; ++row) {
      if (wanted.some(([values, value]) => values[row] !== value) || !match(row)) continue;
      rows.push(row);
      time += data.columns.self_time_ps[row];
    }
    this.filter.setCustomValidity(match.problem || "");
    this.table.setRows(rows);
    this.count.textContent = match.problem ? match.problem
        : `${grouped(rows.length)} of ${plural(data.rows, "operation")}, ${timeText(time)}` +
          (data.total > 0 ? ` (${percentText(time / data.total)})` : "");
  }

  regroup() {
    const key = this.grouping.value;
    const {data} = this.app;
    const {columns, total} = data;
    this.prefix.replaceChildren();
    this.table.element.classList.toggle("in-groups", Boolean(key));
    if (!key) return this.table.setGroup(null);
    const values = key === "source" ? data.source : key === "kind" ? data.kindOf : columns[key];
    const labels = data.labels[key];
    this.prefix.replaceChildren(...[labels && prefixNote(labels.prefix)].filter(Boolean));
    this.table.setGroup({
      value: (row) => values[row],
      label: labels ? labels.of : null,
      colour: (rows) => kCategoryColours[dominantCategory(data, rows)] || "--c-control",
      summary: (rows) => {
        let time = 0, exposed = 0, flops = 0, bytes = 0, hidden = 0, runs = 0;
        for (const row of rows) {
          time += columns.self_time_ps[row];
          exposed += columns.exposed_ps[row];
          flops += columns.flops[row] || 0;
          bytes += data.hbm[row];
          if (isAsynchronous(columns.opcode[row])) hidden += data.hbm[row];
          runs += columns.executions[row];
        }
        const share = (amount, ps, peak) => {
          const value = peak && ps > 0 && amount !== null ? amount / (ps * 1e-12) / peak : null;
          return {value, text: value === null ? "" : percentText(value)};
        };
        return {
          self_time_ps: {value: time, text: timeText(time), hint: exactTime(time)},
          share: {value: time, text: percentText(total > 0 ? time / total : null)},
          exposed_ps: {value: exposed, text: exposed ? timeText(exposed) : "0", hint: exactTime(exposed)},
          flops: {value: flops, text: countText(flops), hint: grouped(flops)},
          hbm: {value: bytes, text: bytesText(bytes), hint: exactBytes(bytes)},
          executions: {value: runs, text: grouped(runs)},
          mxu: share(flops, time, data.report.device.peak_flops_per_second),
          hbm_share: share(2 * hidden > bytes ? null : bytes, time, data.report.device.peak_hbm_bytes_per_second),
        };
      },
    });
    announce(`${plural(this.table.groupCount, "group")}`);
  }

  selected(row, from) {
    if (this.table) this.table.select(row, from !== this);
  }
  shown() { this.table.render(true); }
  print() { this.table.print(60); }
}
