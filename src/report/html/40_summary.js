// What a person sees first: the time, what bounds it, what is waited for, what moves and what memory holds.

/** What units are in words, from the table of units (model/unit.def). */
const kUnitMeanings = JSON.parse($("#unit-meanings").textContent);

class SummaryView {
  constructor(app) {
    Object.assign(this, {app, id: "summary", title: "Summary"});
    this.element = h("div", {});
  }

  open() {
    const {report} = this.app.data;
    const short = this.short(report);
    put(
        this.element, ...this.findings(report),
        short.length > 0 ? h("section", {class: "panel"}, h("h2", {}, "In short"), h("ul", {class: "short"}, short)) : null,
        this.cards(report),
        h("div", {class: "columns"},
          h("div", {}, this.section("Time by category", this.categories(report)), this.section("Longest groups of operations", this.kinds())),
          h("div", {}, this.section("Time by unit", this.units(report)), this.section("Memory spaces", this.memory(report)),
            this.section("Longest operations", this.longest()))),
        this.mesh(report), this.energy(report), this.section("What this is", this.facts(report)));
  }

  section(title, ...content) { return h("section", {class: "panel"}, h("h2", {}, title), ...content); }

  findings(report) {
    return report.findings.map((text) => h("p", {class: "finding", role: "alert"}, h("strong", {}, "Does not fit. "), text));
  }

  /** What decides the time, what could be won, what waits, how full memory is, how sure that is: a sentence each. */
  short(report) {
    const {time, memory, coverage} = report;
    const {data} = this.app;
    const total = time.total_ps;
    if (total === 0) return [];
    const share = (ps) => percentText(ps / total);
    const line = (level, ...content) => h("li", {class: level}, content);
    const link = (text, view, parameters = {}) => h("a", {href: "#" + new URLSearchParams({view, ...parameters})}, text);
    const lines = [];
    const advice = report.advice && report.advice.rows > 0 ? report.advice : null;
    if (advice)
      lines.push(line("", h("strong", {}, advice.saving[0]), `: ${advice.change[0]}`, advice.place[0] ? ` (${advice.place[0]})` : "",
                      advice.rows > 1 ? `; ${plural(advice.rows - 1, "other change")} pay${advice.rows === 2 ? "s" : ""}.` : "."));
    const bound = data.columns.bound_by.filter((unit) => unit === time.bound_by).length;
    const meaning = kUnitMeanings[time.bound_by];
    lines.push(line("", h("strong", {}, time.bound_by === "wait" ? "Stalls " : `${time.bound_by}${meaning ? `, ${meaning},` : ""} `),
                    `${time.bound_by === "wait" ? "take" : "decides"} ${share(time.bound_by_ps)} of the ${timeText(total)}`,
                    bound > 0 ? [", in ", link(plural(bound, "operation"), "operations", {bound_by: time.bound_by})] : "", "."));
    const [first] = data.kinds();
    if (first && first.rows.length > 1)
      lines.push(line("", "The longest group of operations is ",
                      h("a", {href: "#" + new URLSearchParams({view: "operations", group: "kind", open: first.name}), title: first.name}, data.labels.kind.of(first.name)),
                      `: ${grouped(first.rows.length)} of them take ${share(first.time)}.`));
    lines.push(...this.flags(report).map(({level, text}) => line(level, text)));
    if (time.lower_bound_ps > 0 && time.lower_bound_ps < 0.95 * total)
      lines.push(line("", `With perfect overlap the run would take ${timeText(time.lower_bound_ps)}, at most ${share(total - time.lower_bound_ps)} less.`));
    const collective = time.exposed_collectives_ps;
    const waits = [[time.exposed_copies_ps, "stalled on copies"], [collective, "in exposed communication"]].filter(([ps]) => ps >= 0.0005 * total);
    const transfers = report.copies.rows + report.collectives.rows;
    if (waits.length > 0)
      lines.push(line(waits.some(([ps]) => ps > 0.05 * total) ? "warn" : "", "The core spends ",
                      link(waits.map(([ps, what]) => `${share(ps)} ${what}`).join(" and "), "transfers"), "."));
    else if (transfers > 0)
      lines.push(line("fine", link(transfers === 1 ? "The only transfer" : `All ${grouped(transfers)} copies and collectives`, "transfers"),
                      transfers === 1 ? " is" : " are", " hidden behind other work."));
    const full = memory.spaces.filter((space) => space.capacity_bytes > 0).map((space) => [space.peak_bytes / space.capacity_bytes, space]);
    full.sort((a, b) => b[0] - a[0]);
    if (full.length > 0 && report.findings.length === 0)
      lines.push(line(full[0][0] > 0.9 ? "warn" : "fine", "It fits: ", link(full[0][1].name, "memory", {space: full[0][1].number}),
                      ` is the fullest memory, ${percentText(full[0][0])} at its peak.`));
    const unsure = (coverage.guess_ps || 0) + (coverage.default_ps || 0);
    const assumed = report.assumptions.rows;
    lines.push(line(unsure > 0.25 * total ? "warn" : "", "How sure? ",
                    unsure > 0 ? `${share(unsure)} of the time depends on guessed device parameters` : "No time depends on a guessed device parameter",
                    "; ", link(assumed > 0 ? plural(assumed, "assumption") : "no assumptions", "assumptions"), " about the module."));
    return lines;
  }

  /** What compiler flags would change that the module does not specify, where that is at least 0.5 % of the time. */
  flags(report) {
    const {flag, value, other, time_ps} = report.flags_not_given.columns;
    const total = report.time.total_ps;
    const lines = [];
    for (let row = 0; row < report.flags_not_given.rows; ++row) {
      if (time_ps[row] === null) continue;
      const change = time_ps[row] / total - 1;
      if (Math.abs(change) < 0.005) continue;
      lines.push({level: change < -0.05 ? "warn" : "",
                  text: [`Assumed `, h("code", {}, `--${flag[row]}=${value[row]}`), `, which the module does not specify. With ${other[row]}: ${timeText(time_ps[row])} ` +
                         `(${change > 0 ? "+" : "−"}${percentText(Math.abs(change))}). Pass --xla-flags if you know it.`]});
    }
    return lines;
  }

  card(title, value, details, {exact = null, view = null, level = null, data = null} = {}) {
    const body = [h("h3", {}, title), h("p", {class: "value", title: exact, "data-number": data}, value),
                  ...details.filter(Boolean).map((text) => h("p", {class: "detail"}, text))];
    if (!view) return h("div", {class: "card " + (level || "")}, body);
    return h("div", {class: "card " + (level || "")}, body,
             h("a", {class: "cover", href: "#view=" + view, "aria-label": `${title}: ${value}. Show ${view}`}));
  }

  cards(report) {
    const {time, work, traffic, device, memory} = report;
    const total = time.total_ps;
    const share = (ps) => (total > 0 ? percentText(ps / total) + " of the time" : null);
    const collective = time.by_category_ps["collective"];
    return h("div", {class: "cards", id: "cards"},
             this.card("Time", timeText(total),
                       [`${grouped(time.cycles)} cycles @ ${rateText(time.clock_hz, "Hz")}`,
                        time.range_ps ? `${timeText(time.range_ps.low)} to ${timeText(time.range_ps.high)} (${percentText(time.range_ps.share)} interval)` : null,
                        `perfect overlap: ${timeText(time.lower_bound_ps)}`],
                       {exact: exactTime(total), view: "timeline", level: "first", data: "time/total_ps"}),
             this.card("Bound by", time.bound_by, [total > 0 ? share(time.bound_by_ps) : "the module takes no time",
                                                   ...this.otherBounds(report), time.bound_by_key ? "limited by " + time.bound_by_key : null],
                       {view: "roofline", data: "time/bound_by"}),
             this.card("Stalls on copies", timeText(time.exposed_copies_ps),
                       [time.exposed_copies_ps > 0 ? share(time.exposed_copies_ps) : null, plural(report.copies.rows, "asynchronous copy", "asynchronous copies")],
                       {exact: exactTime(time.exposed_copies_ps), view: "transfers", data: "time/exposed_copies_ps",
                        level: time.exposed_copies_ps > 0.05 * total ? "warn" : null}),
             this.card("Exposed communication", timeText(time.exposed_collectives_ps),
                       [time.exposed_collectives_ps > 0 ? share(time.exposed_collectives_ps) : null, plural(report.collectives.rows, "collective"),
                        collective > 0 ? `synchronous ones, starts and dones take ${timeText(collective)}, ${percentText(collective / total)}` : null],
                       {exact: exactTime(time.exposed_collectives_ps), view: "transfers",
                        data: "time/exposed_collectives_ps",
                        level: time.exposed_collectives_ps > 0.05 * total ? "warn" : null}),
             this.card("HBM traffic", bytesText(traffic.hbm_bytes),
                       [`${bytesText(traffic.hbm_read_bytes)} read, ${bytesText(traffic.hbm_written_bytes)} written`,
                        traffic.hbm_utilisation === null ? null
                            : `${percentText(traffic.hbm_utilisation)} of ${rateText(device.peak_hbm_bytes_per_second, "B/s")}`],
                       {exact: exactBytes(traffic.hbm_bytes), view: "operations", data: "traffic/hbm_bytes"}),
             this.card("Matmul FLOP", (work.unknown_instructions > 0 ? "≥ " : "") + rateText(work.flops, "FLOP"),
                       [work.flops_utilisation === null ? "share of the peak unknown"
                            : `${percentText(work.flops_utilisation)} of ${rateText(device.peak_flops_per_second, "FLOP/s")} (bf16)`,
                        work.unknown_instructions > 0
                            ? `${plural(work.unknown_instructions, "instruction")} without a work model` : null],
                       {exact: grouped(work.flops) + " FLOP", view: "roofline", data: "work/flops"}),
             ...memory.spaces.filter((space) => space.peak_bytes > 0 && space.capacity_bytes !== null).map((space) => this.card(
                 `Peak of ${space.name}`, bytesText(space.peak_bytes),
                 [space.capacity_bytes ? `${percentText(space.peak_bytes / space.capacity_bytes)} of ${bytesText(space.capacity_bytes)}` : null,
                  space.peak_instruction ? `at ${space.peak_instruction}` : null],
                 {exact: exactBytes(space.peak_bytes), view: "memory", data: `peak/${space.name}`,
                  level: space.fits === false ? "bad" : null})));
  }

  /** "HBM 41.1 %": the other units that bound at least 1 % of the time, the three longest. */
  otherBounds({time}) {
    const rows = time.by_unit.filter((row) => row.unit !== time.bound_by && row.bounds_ps >= 0.01 * time.total_ps && row.bounds_ps > 0);
    rows.sort((a, b) => b.bounds_ps - a.bounds_ps);
    return rows.slice(0, 3).map((row) => `${row.unit} ${percentText(row.bounds_ps / time.total_ps)}`);
  }

  /** A bar with a part per entry [name, value, colour variable], and the table of its numbers. */
  categories(report) {
    const total = report.time.total_ps;
    const entries = Object.entries(report.time.by_category_ps).filter(([, ps]) => ps > 0);
    if (total === 0 || entries.length === 0) return h("p", {class: "empty"}, "The module takes no time.");
    entries.sort((a, b) => b[1] - a[1]);
    return [
      h("div", {class: "stack", "aria-hidden": "true"},
        entries.map(([name, ps]) => h("span", {title: `${name}: ${timeText(ps)}`,
                                              style: {width: 100 * ps / total + "%", background: `var(${kCategoryColours[name]})`}}))),
      h("table", {class: "plain"},
        h("thead", {class: "hidden-text"}, h("tr", {}, ["category", "time", "share"].map((t) => h("th", {scope: "col"}, t)))),
        h("tbody", {}, entries.map(([name, ps]) => h("tr", {},
          h("th", {scope: "row"}, swatch(kCategoryColours[name]),
            name === "waiting" ? name : h("a", {href: "#view=operations&category=" + encodeURIComponent(name)}, name)),
          h("td", {class: "number", title: exactTime(ps)}, timeText(ps)),
          h("td", {class: "number"}, percentText(ps / total)))))),
    ];
  }

  units(report) {
    const total = report.time.total_ps;
    const rows = [...report.time.by_unit].sort((a, b) => b.bounds_ps - a.bounds_ps);
    if (rows.length === 0) return h("p", {class: "empty"}, "No unit works: the module takes no time.");
    const bar = (ps, kind) => ps === 0 ? null : h("span", {class: "bar " + kind, "aria-hidden": "true", style: {width: (total > 0 ? 100 * ps / total : 0) + "%"}});
    return h("table", {class: "plain bars"},
             h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "unit"),
                              h("th", {scope: "col", class: "number", title: "time of the instructions that it bounds; these add up to the time"},
                                h("span", {class: "swatch bounds", "aria-hidden": "true"}), "bounds"),
                              h("th", {scope: "col", class: "number", title: "how long the unit works"},
                                h("span", {class: "swatch busy", "aria-hidden": "true"}), "busy"),
                              h("th", {scope: "col", class: "wide"}, h("span", {class: "hidden-text"}, "picture")))),
             h("tbody", {}, rows.map((row) => h("tr", {},
               h("th", {scope: "row", title: kUnitMeanings[row.unit] || null},
                 row.bounds_ps > 0 ? h("a", {href: "#view=operations&bound_by=" + encodeURIComponent(row.unit)}, row.unit) : row.unit),
               h("td", {class: "number", title: exactTime(row.bounds_ps)}, timeText(row.bounds_ps)),
               h("td", {class: "number", title: row.busy_ps === null ? null : exactTime(row.busy_ps)},
                 row.busy_ps === null ? "–" : timeText(row.busy_ps)),
               h("td", {class: "wide"}, bar(row.bounds_ps, "bounds"), row.busy_ps === null ? null : bar(row.busy_ps, "busy"))))));
  }

  memory(report) {
    const spaces = report.memory.spaces;
    if (spaces.length === 0) return h("p", {class: "empty"}, "No array needs memory.");
    return h("table", {class: "plain bars"},
             h("thead", {}, h("tr", {}, ["space", "peak", "mean", "capacity", "at the peak"].map(
               (title, i) => h("th", {scope: "col", class: i > 0 && i < 4 ? "number" : i === 4 ? "wide" : null}, title)))),
             h("tbody", {}, spaces.map((space) => h("tr", {},
               h("th", {scope: "row"}, h("a", {href: "#view=memory&space=" + space.number}, space.name)),
               h("td", {class: "number", title: exactBytes(space.peak_bytes)}, bytesText(space.peak_bytes)),
               h("td", {class: "number", title: exactBytes(space.mean_bytes)}, bytesText(space.mean_bytes)),
               h("td", {class: "number", title: exactBytes(space.capacity_bytes)}, bytesText(space.capacity_bytes)),
               h("td", {class: "wide"}, space.capacity_bytes
                   ? [h("span", {class: "bar " + (space.fits === false ? "bad" : "bounds"), "aria-hidden": "true",
                                 style: {width: Math.min(100, 100 * space.peak_bytes / space.capacity_bytes) + "%"}}),
                      h("span", {class: "detail"}, percentText(space.peak_bytes / space.capacity_bytes))]
                   : "")))));
  }

  /** Operations that are called the same but for numbers: layers of one kind, together. */
  kinds() {
    const {data} = this.app;
    const {total} = data;
    const kinds = data.kinds().slice(0, 8);
    if (kinds.length === 0) return h("p", {class: "empty"}, "No operation takes time.");
    // The prefix of these few: all of the module may share less.
    const labels = labelsOf(kinds.map(({name}) => name));
    return [prefixNote(labels.prefix),
            h("table", {class: "plain", id: "kinds"},
              h("thead", {}, h("tr", {}, ["group", "operations", "time", "share"].map(
                (title, i) => h("th", {scope: "col", class: i > 0 ? "number" : null}, title)))),
              h("tbody", {}, kinds.map(({name, rows, time}) => h("tr", {},
                h("th", {scope: "row", class: "name", title: name}, swatch(kCategoryColours[dominantCategory(data, rows)] || "--c-control"),
                  h("a", {href: "#" + new URLSearchParams({view: "operations", group: "kind", open: name})}, labels.of(name))),
                h("td", {class: "number"}, grouped(rows.length)),
                h("td", {class: "number", title: exactTime(time)}, timeText(time)),
                h("td", {class: "number"}, percentText(time / total)))))),
            h("p", {class: "detail"}, "A group has one op_name apart from numbers, written as #; operations without op_name: one name and size.")];
  }

  longest() {
    const {columns, rows, total} = this.app.data;
    const order = Array.from({length: rows}, (_, row) => row).sort((a, b) => columns.self_time_ps[b] - columns.self_time_ps[a]);
    const shown = order.slice(0, 8).filter((row) => columns.self_time_ps[row] > 0);
    if (shown.length === 0) return h("p", {class: "empty"}, "No operation takes time.");
    return [h("table", {class: "plain"},
              h("thead", {}, h("tr", {}, ["operation", "time", "share", "bound by"].map(
                (title, i) => h("th", {scope: "col", class: i === 1 || i === 2 ? "number" : null}, title)))),
              h("tbody", {}, shown.map((row) => h("tr", {},
                h("th", {scope: "row", class: "name", title: columns.op_name[row]}, swatch(kCategoryColours[columns.category[row]]), this.app.link(row)),
                h("td", {class: "number", title: exactTime(columns.self_time_ps[row])}, timeText(columns.self_time_ps[row])),
                h("td", {class: "number"}, percentText(columns.self_time_ps[row] / total)),
                h("td", {}, columns.bound_by[row]))))),
            h("p", {class: "detail"}, h("a", {href: "#view=operations"}, `All ${plural(rows, "operation")}`))];
  }

  /** Along which axes of the mesh the collectives of a program go that was spread over one. */
  mesh(report) {
    if (!report.mesh) return null;
    const {axes, collectives} = report.mesh;
    const title = "Collectives by mesh axis" + (axes ? ` of ${axes}` : "");
    if (collectives.length === 0) return this.section(title, h("p", {class: "empty"}, "No device sends anything to another."));
    return this.section(title, h("table", {class: "plain"},
      h("thead", {}, h("tr", {}, ["axes", "kind", "runs", "sent", "takes", "hidden", "exposed"].map(
        (name, i) => h("th", {scope: "col", class: i > 1 ? "number" : null}, name)))),
      h("tbody", {}, collectives.map((use) => h("tr", {},
        h("th", {scope: "row"}, use.axes || "–"),
        h("td", {}, use.kind),
        h("td", {class: "number"}, grouped(use.executions)),
        h("td", {class: "number", title: exactBytes(use.sent_bytes)}, bytesText(use.sent_bytes)),
        ...[use.takes_ps, use.hidden_ps, use.exposed_ps].map(
          (ps) => h("td", {class: "number", title: exactTime(ps)}, timeText(ps))))))));
  }

  /** By part of the device, where its file tells what each costs. */
  energy(report) {
    const energy = report.traffic.energy;
    if (!energy || energy.total_pj === null) return null;
    const text = (pj) => scaled(pj, 1000, ["pJ", "nJ", "µJ", "mJ", "J"]);
    return this.section(`Energy: ${text(energy.total_pj)}`,
                        h("table", {class: "plain"},
                          h("thead", {}, h("tr", {}, ["part", "amount", "each", "energy", "share", "source"].map(
                            (title, i) => h("th", {scope: "col", class: i > 0 && i < 5 ? "number" : null}, title)))),
                          h("tbody", {}, energy.parts.map((part) => h("tr", {},
                            h("th", {scope: "row"}, part.part),
                            h("td", {class: "number", title: `${grouped(part.amount)} ${part.unit}`}, `${countText(part.amount)} ${part.unit}`),
                            h("td", {class: "number"}, `${significant(part.pj_each)} pJ`),
                            h("td", {class: "number", title: `${grouped(part.pj)} pJ`}, text(part.pj)),
                            h("td", {class: "number"}, energy.total_pj > 0 ? percentText(part.pj / energy.total_pj) : ""),
                            h("td", {class: "detail"}, part.source))))));
  }

  facts(report) {
    const {module, device, tool} = report;
    const facts = [
      ["Module", module.name + (module.file ? ` (${module.file})` : "")],
      ["Size", `${plural(module.instructions, "instruction")} in ${plural(module.computations, "computation")}, ` +
               (module.is_scheduled ? "scheduled" : "not scheduled")],
      ["Program", report.page.text.is_lowered
          ? "unoptimized HLO, lowered by hlosim: names and text below are those of the lowered module" : "the module as given"],
      ["Device", `${device.name} (${device.file}), fingerprint ${device.fingerprint}`],
      ["Slice", `${device.slice}; ${plural(module.replicas, "replica")} × ${plural(module.partitions, "partition")}`],
      ["Module's fingerprint", module.fingerprint],
      ["Padding", `${bytesText(report.padding_total.extra_bytes)} in ${plural(report.padding_total.padded_arrays, "array")}`],
      ["Made by", `${tool.name} ${tool.version}, report schema ${report.schema_version}; simulated, not measured`],
    ];
    return h("dl", {}, facts.map(([term, text]) => [h("dt", {}, term), h("dd", {}, text)]));
  }
}
