// Two runs side by side: what changed in each metric, and which operations the change is made of.

const kMetricUnits = {
  ps: {text: timeText, exact: exactTime}, bytes: {text: bytesText, exact: exactBytes}, count: {text: countText, exact: grouped},
};

const kMetricNames = {
  exposed_copies: "stalls on copies", exposed_collectives: "exposed communication", exposed_others: "other stalls",
  hbm_bytes: "HBM traffic", sent_bytes: "sent over links", padding_bytes: "padding", flops: "FLOP of matmuls",
};

class DiffView {
  constructor(app) {
    Object.assign(this, {app, id: "diff", title: "Difference"});
    this.element = h("div", {});
  }

  async open() {
    this.diff = await this.app.data.part("diff");
    const {metrics, before, after} = this.diff;
    this.metric = metrics.find((metric) => metric.metric === "time_ps") || metrics[0];
    const notes = [];
    if (!this.diff.same_device) notes.push(`The devices differ: ${before.device} (${before.device_fingerprint}) and ${after.device} (${after.device_fingerprint}).`);
    if (!this.diff.same_model) notes.push("The runs come from different versions of the model: changes may be the model's.");
    const shown = metrics.filter((metric) => metric === this.metric || metric.change !== 0);
    this.cards = h("div", {class: "cards"}, shown.map((metric) => this.card(metric)));
    this.picker = h("select", {"aria-label": "Metric", id: "diff-metric", onchange: () => this.choose(this.picker.value)},
                    metrics.map((metric) => h("option", {value: metric.metric}, this.name(metric))));
    this.filter = h("input", {type: "search", placeholder: "Filter by name", "aria-label": "Filter contributions", oninput: () => this.fill()});
    this.kinds = h("select", {"aria-label": "Kind of change", onchange: () => this.fill()},
                   ["every kind", "added", "removed", "changed", "moved", "renamed"].map((kind, i) => h("option", {value: i === 0 ? "" : kind}, kind)));
    this.sum = h("p", {class: "facts", role: "status", id: "diff-sum"});
    this.makeTable();
    put(this.element,
        notes.map((note) => h("p", {class: "note"}, note)),
        h("p", {class: "facts"}, this.side("before", before), this.side("after", after)),
        h("section", {class: "panel"}, h("h2", {}, "In short"), h("ul", {class: "short"}, this.short())),
        this.cards,
        h("section", {class: "panel"}, h("h2", {}, "All metrics"), this.metricsTable()),
        h("section", {class: "panel"}, h("h2", {}, "Contributions to the change"),
          h("div", {class: "tools"}, h("label", {}, "Change of ", this.picker), this.filter, this.kinds), this.sum, this.table.element));
    this.choose(this.metric.metric);
  }

  side(word, side) {
    return h("span", {}, h("span", {class: "detail"}, word + " "), h("strong", {}, side.module),
             h("span", {class: "detail"}, ` on ${side.device}${side.file ? ", " + side.file : ""}`));
  }
  name(metric) {
    const name = metric.metric.replace(/_ps$/, "");
    return kMetricNames[name] || name.replace(/^peak\./, "peak of ").replace(/_/g, " ");
  }
  unit(metric) { return kMetricUnits[metric.unit] || kMetricUnits.count; }
  change(metric, amount) { return (amount > 0 ? "+" : "") + this.unit(metric).text(amount); }
  percent(metric) {
    return metric.before === 0 || metric.change === 0 ? "" : (metric.change > 0 ? "+" : "") + (100 * metric.change / metric.before).toFixed(Math.abs(metric.change / metric.before) < 0.0005 ? 4 : 1) + "\u00a0%";
  }
  /** Work that grows isn't bad in itself; time and memory that grow are. */
  level(metric) {
    if (metric.change === 0 || metric.unit === "count") return "";
    return metric.change > 0 ? "worse" : "better";
  }

  /** What became of the time, mostly because of what, and what else changed: a sentence each. */
  short() {
    const {metrics, instructions} = this.diff;
    const time = this.metric;
    const {text} = this.unit(time);
    const others = metrics.filter((metric) => metric !== time && metric.change !== 0).map((metric) => this.name(metric));
    const what = time.metric === "time_ps" ? "It takes" : `${this.name(time)} is`;
    const lines = [h("li", {class: time.change > 0 ? "warn" : "fine"}, h("strong", {}, time.change === 0
        ? `${what} as much as before: ${text(time.after)}.`
        : `${what} ${text(Math.abs(time.change))} ${time.change > 0 ? "more" : "less"}: ${text(time.after)} instead of ${text(time.before)}` +
          (time.before > 0 ? `, ${this.percent(time)}.` : ".")))];
    const amount = (row) => row.change[time.metric] ?? 0;
    const most = instructions.filter((row) => amount(row) * time.change > 0).sort((a, b) => Math.abs(amount(b)) - Math.abs(amount(a))).slice(0, 3);
    if (most.length > 0)
      lines.push(h("li", {}, "Most of that: ", most.map((row, i) => [
        i > 0 ? ", " : "", h("a", {href: "#", onclick: (event) => { event.preventDefault(); this.follow(row); }}, this.names(row)),
        ` (${this.kind(row)}, ${this.change(time, amount(row))})`]).flat(), "."));
    const kinds = new Map();
    for (const row of instructions) for (const kind of this.kind(row).split(", ")) kinds.set(kind, (kinds.get(kind) || 0) + 1);
    kinds.delete("same");
    lines.push(h("li", {}, kinds.size === 0 ? "No operation was added, removed, changed, moved or renamed."
        : "Operations: " + [...kinds].map(([kind, count]) => `${grouped(count)} ${kind}`).join(", ") + "."));
    if (others.length > 0) lines.push(h("li", {}, `What changed besides: ${others.join(", ")}.`));
    return lines;
  }

  card(metric) {
    const change = metric.change === 0 ? "the same" : this.change(metric, metric.change);
    const percent = this.percent(metric);
    return h("div", {class: "card " + this.level(metric)}, h("h3", {}, this.name(metric)),
             h("p", {class: "value", title: this.unit(metric).exact(metric.change), "data-number": "diff/" + metric.metric}, change),
             h("p", {class: "detail"}, `${this.unit(metric).text(metric.before)} → ${this.unit(metric).text(metric.after)}${percent && ", " + percent}`),
             h("a", {class: "cover", href: "#", "aria-label": `${this.name(metric)}: ${change}. Show its contributions`,
                     onclick: (event) => { event.preventDefault(); this.go(metric.metric); }}));
  }
  /** To what the change of a metric is made of. */
  go(name) {
    this.choose(name);
    this.picker.scrollIntoView({block: "center"});
    this.picker.focus({preventScroll: true});
  }

  metricsTable() {
    const number = (metric, amount) => h("td", {class: "number", title: this.unit(metric).exact(amount)}, this.unit(metric).text(amount));
    return h("table", {class: "plain"},
             h("thead", {}, h("tr", {}, ["metric", "before", "after", "change", "in %"].map((title, i) => h("th", {scope: "col", class: i > 0 ? "number" : null}, title)))),
             h("tbody", {}, this.diff.metrics.map((metric) => h("tr", {},
               h("th", {scope: "row"}, h("a", {href: "#", onclick: (event) => { event.preventDefault(); this.go(metric.metric); }}, this.name(metric))),
               number(metric, metric.before), number(metric, metric.after),
               h("td", {class: "number " + this.level(metric), title: this.unit(metric).exact(metric.change)}, metric.change === 0 ? "–" : this.change(metric, metric.change)),
               h("td", {class: "number"}, this.percent(metric))))));
  }

  // ── Contributions ──

  kind(row) {
    if (!row.before) return "added";
    if (!row.after) return "removed";
    const kinds = [];
    if (row.renamed) kinds.push("renamed");
    if (row.moved) kinds.push("moved");
    if (row.edited) kinds.push("changed");
    return kinds.join(", ") || "same";
  }
  names(row) {
    if (row.before && row.after && row.before.name !== row.after.name) return `${row.before.name} → ${row.after.name}`;
    return (row.after || row.before).name;
  }
  what(row) {
    const parts = [];
    for (const key of ["opcode", "shape", "computation"])
      if (row.before && row.after && row.before[key] !== row.after[key]) parts.push(`${row.before[key] ?? "none"} → ${row.after[key] ?? "none"}`);
    return parts.join("; ") || (row.after || row.before).shape || "";
  }

  makeTable() {
    const rows = this.diff.instructions;
    const amount = (row) => rows[row].change[this.metric.metric] ?? 0;
    this.table = new DataTable({
      label: "Contributions", height: "60vh", sort: "size", emptyText: "No operation changes this metric.",
      onOpen: (row) => this.follow(rows[row]),
      columns: [
        {key: "name", title: "operation", value: (row) => this.names(rows[row])},
        {key: "kind", title: "kind", value: (row) => this.kind(rows[row])},
        {key: "change", title: "change", number: true, value: amount, text: (row) => this.change(this.metric, amount(row)), hint: (row) => this.unit(this.metric).exact(amount(row))},
        {key: "size", title: "picture", number: true, help: "by size of the change", value: (row) => Math.abs(amount(row)), text: (row) => this.change(this.metric, amount(row)),
         cell: (row) => this.bar(amount(row))},
        {key: "share", title: "of the change", number: true, value: amount, text: (row) => this.metric.change === 0 ? "" : percentText(amount(row) / this.metric.change)},
        {key: "what", title: "what", value: (row) => this.what(rows[row])},
        {key: "op_name", title: "op_name", value: (row) => (rows[row].after || rows[row].before).op_name},
      ],
    });
  }
  bar(amount) {
    const width = 50 * Math.abs(amount) / Math.max(this.most, 1);
    const isGood = amount < 0;
    return h("span", {class: "diverging", role: "img", "aria-label": isGood ? "less" : "more"},
             h("span", {style: {width: width + "%", [isGood ? "right" : "left"]: "50%", background: isGood ? "var(--good)" : "var(--c-waiting)"}}));
  }

  choose(name) {
    this.metric = this.diff.metrics.find((metric) => metric.metric === name) || this.metric;
    this.picker.value = this.metric.metric;
    this.fill();
  }
  fill() {
    const name = this.metric.metric;
    const wanted = this.filter.value.trim().toLowerCase();
    const kind = this.kinds.value;
    const rows = [];
    let sum = 0, all = 0;
    this.most = 0;
    this.diff.instructions.forEach((row, i) => {
      const amount = row.change[name] ?? 0;
      all += amount;
      if (amount === 0 || (wanted && !this.names(row).toLowerCase().includes(wanted)) || (kind && !this.kind(row).includes(kind))) return;
      rows.push(i);
      sum += amount;
      this.most = Math.max(this.most, Math.abs(amount));
    });
    this.table.setRows(rows);
    const part = (title, amount) => h("span", {}, h("strong", {title: this.unit(this.metric).exact(amount)}, amount === 0 ? "0" : this.change(this.metric, amount)), " " + title);
    this.sum.replaceChildren(
        part(`in ${plural(rows.length, "operation")}${wanted || kind ? " shown" : ""}`, sum),
        wanted || kind ? part("in all operations", all) : "",
        part("in no operation", this.metric.rest), part("together", this.metric.change));
  }

  /** To the operation, in the run that has it. */
  follow(row) {
    const side = row.after ? 1 : 0;
    const {name, computation} = row.after || row.before;
    if (this.app.titles.length < 2) return this.app.open(name);
    location.hash = "#" + new URLSearchParams({view: "operations", module: side, name, computation: computation ?? ""});
  }
  shown() { this.table.render(true); }
  print() { this.table.print(60); }
}
