// The page as a whole: tabs, the selected operation, theme, addresses, paper.

const kViews = [SummaryView, ScopesView, TimelineView, MemoryView, RooflineView, OperationsView, TransfersView, PaddingView, TextView, AssumptionsView];

function hasDiff() { return $('script.data[data-part="diff"]') !== null; }

class App {
  constructor(data, titles) {
    Object.assign(this, {data, titles, selected: -1, current: null});
  }

  start() {
    const [summary, ...others] = kViews;
    const views = hasDiff() ? [DiffView, ...kViews]
        : hasProfile() ? [ProfileView, ...kViews]
        : comparesOne(this.titles) ? [CompareView, ...kViews]
        : this.titles.length > 1 ? [summary, CompareView, ...others] : kViews;
    this.views = views.map((View) => new View(this));
    this.tabs = h("div", {role: "tablist", "aria-label": "Parts of the report", class: "tabs", onkeydown: (event) => this.tabKey(event)},
                  this.views.map((view) => h("button", {type: "button", role: "tab", id: "tab-" + view.id, "aria-controls": "view-" + view.id,
                                                        "aria-selected": "false", tabindex: -1, onclick: () => this.go(view.id)}, view.title)));
    const {module, device} = this.data.report;
    const picker = this.titles.length > 1
        ? h("select", {"aria-label": "Module", id: "module-picker", onchange: () => openModule(Number(picker.value))},
            this.titles.map((title, i) => h("option", {value: i, selected: i === this.data.number}, title)))
        : null;
    $("#header").replaceChildren(
        h("div", {class: "title"}, h("h1", {}, module.name, h("span", {class: "on"}, " on "), device.name), picker, h("span", {class: "fill"}),
          h("button", {type: "button", id: "theme", title: "auto, as the system; light; dark", onclick: () => this.nextTheme()}), h("button", {type: "button", onclick: () => this.openAll().then(() => window.print())}, "Print"),
          h("button", {type: "button", id: "keys-button", title: "Keys (?)", "aria-label": "Keys", onclick: showKeys}, "?")),
        this.tabs);
    document.title = `${module.name} on ${device.name} – hlosim`;
    $("#main").replaceChildren(...this.views.map((view) => h("section", {role: "tabpanel", id: "view-" + view.id, "aria-labelledby": "tab-" + view.id,
                                                                         class: "view", hidden: true}, h("h2", {class: "print-only"}, view.title), view.element)));
    this.showTheme();
    return this.arrive();
  }

  // ── Addresses: #view=memory&space=1&op=fusion.3 ──

  parameters() { return Object.fromEntries(new URLSearchParams(location.hash.slice(1))); }
  go(id, parameters = {}) {
    const wanted = new URLSearchParams({view: id, ...parameters});
    if (this.selected >= 0 && !("op" in parameters)) wanted.set("op", String(this.selected));
    if (this.titles.length > 1) wanted.set("module", String(this.data.number));
    const hash = "#" + wanted;
    if (location.hash === hash) return this.arrive();
    location.hash = hash;
  }
  async arrive() {
    const parameters = this.parameters();
    if (parameters.module !== undefined && Number(parameters.module) !== this.data.number && this.titles[Number(parameters.module)])
      return openModule(Number(parameters.module));
    const view = this.views.find((one) => one.id === parameters.view) || this.views[0];
    await this.show(view, parameters);
    const row = parameters.name !== undefined ? this.data.find(parameters.name, parameters.computation)
        : parameters.op === undefined ? -1 : Number(parameters.op);
    if (row >= 0 && row < this.data.rows && row !== this.selected) this.select(row, null);
  }

  async show(view, parameters = {}) {
    this.current = view;
    for (const one of this.views) {
      const tab = $("#tab-" + one.id);
      tab.setAttribute("aria-selected", String(one === view));
      if (one === view) this.tabs.scrollLeft = tab.offsetLeft - (this.tabs.clientWidth - tab.offsetWidth) / 2;
      tab.tabIndex = one === view ? 0 : -1;
      $("#view-" + one.id).hidden = one !== view;
    }
    hideTooltip();
    await this.ready(view);
    if (view.arrive) view.arrive(parameters);
    if (view.shown) view.shown();
  }
  /** Built when first needed. */
  ready(view) {
    if (!view.opening) {
      view.opening = Promise.resolve().then(() => view.open()).catch((problem) => {
        view.element.append(h("p", {class: "finding", role: "alert"}, "This part could not be shown: " + problem.message));
        throw problem;
      }).then(() => { if (this.selected >= 0 && view.selected) view.selected(this.selected, null); });
    }
    return view.opening;
  }

  tabKey(event) {
    const at = this.views.indexOf(this.current);
    const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.views.length - 1}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const view = this.views[(to + this.views.length) % this.views.length];
    this.go(view.id);
    $("#tab-" + view.id).focus();
  }

  // ── The selected operation ──

  /** `from`: the view that it was selected in, which knows already. */
  select(row, from) {
    if (row < 0) return;
    this.selected = row;
    for (const view of this.views) if (view.selected && view.opening) view.selected(row, from);
    this.fillDetails(row);
    const wanted = new URLSearchParams(location.hash.slice(1));
    if (!wanted.has("view")) wanted.set("view", this.current.id);
    wanted.set("op", String(row));
    history.replaceState(null, "", "#" + wanted);
  }
  open(name) {
    const row = this.data.find(name);
    if (row >= 0) this.select(row, null);
    else announce(`${name} takes no time of its own: it is not among the operations`);
  }
  deselect() {
    this.selected = -1;
    $("#details").hidden = true;
    for (const view of this.views) if (view.opening && view.selected) (view.table?.select ? view.table.select(-1) : view.later?.());
    const wanted = new URLSearchParams(location.hash.slice(1));
    wanted.delete("op");
    history.replaceState(null, "", "#" + wanted);
  }
  link(row) {
    return h("a", {href: `#view=operations&op=${row}`, onclick: (event) => { event.preventDefault(); this.select(row, null); }}, this.data.columns.name[row]);
  }
  linkTo(name) {
    const row = this.data.find(name);
    return row < 0 ? name : this.link(row);
  }

  /** File and line of an instruction: a link where --source-link gave a template, and a button that copies the place. */
  sourcePlace(row) {
    const place = this.data.source[row];
    const template = $("#main").dataset.sourceLink;
    const file = this.data.columns.source_file[row].split("/").map(encodeURIComponent).join("/");
    const values = {file, line: this.data.columns.source_line[row] ?? 1};
    const address = template ? template.replace(/\{(file|line)\}/g, (_, key) => values[key]) : null;
    return [address ? h("a", {href: address, rel: "noreferrer", title: address}, place) : place, " ",
            h("button", {type: "button", class: "copy", "aria-label": `Copy ${place}`, onclick: () => copyText(place)}, "Copy")];
  }

  fillDetails(row) {
    const {columns, total, source, lines, report} = this.data;
    const value = (key) => columns[key][row];
    const transfer = this.data.transferOf(value("name"));
    const traffic = Object.keys(columns).filter((key) => key.startsWith("traffic/") && columns[key][row] > 0).map((key) => {
      const [, space, what] = key.split("/");
      return [`${space} ${what === "read_bytes" ? "read" : "written"}`, bytesText(columns[key][row]), exactBytes(columns[key][row])];
    });
    const facts = [
      ["time", timeText(value("self_time_ps")) + (total > 0 ? `, ${percentText(value("self_time_ps") / total)}` : ""), exactTime(value("self_time_ps"))],
      value("time_ps") !== value("self_time_ps") ? ["with called computations", timeText(value("time_ps")), exactTime(value("time_ps"))] : null,
      value("exposed_ps") > 0 ? ["of it stalled", [timeText(value("exposed_ps")), value("waited_for") ? [" for ", this.linkTo(value("waited_for"))] : ""], exactTime(value("exposed_ps"))] : null,
      transfer ? [value("executions") > 1 ? "transfer, one run" : "transfer", `${timeText(transfer.duration_ps)}: ${timeText(transfer.hidden_ps)} hidden, ${timeText(transfer.exposed_ps)} exposed`,
                  exactTime(transfer.duration_ps)] : null,
      transfer && transfer.start !== transfer.done ? ["from, to", [this.linkTo(transfer.start), " → ", transfer.done === null ? "no done" : this.linkTo(transfer.done)]] : null,
      ["bound by", value("bound_by")],
      ["starts at", timeText(value("start_ps")), exactTime(value("start_ps"))],
      ["runs", grouped(value("executions"))],
      ["opcode", value("opcode")],
      ["category", value("category")],
      ["computation", value("computation")],
      ["FLOP", value("flops") === null ? kUnknown : countText(value("flops")), value("flops") === null ? null : grouped(value("flops"))],
      value("vector_operations") > 0 ? ["vector operations", countText(value("vector_operations")), grouped(value("vector_operations"))] : null,
      value("transcendentals") > 0 ? ["transcendentals", countText(value("transcendentals")), grouped(value("transcendentals"))] : null,
      ...traffic,
      value("padded_bytes") > value("logical_bytes") ? ["padding", percentText(1 - value("logical_bytes") / value("padded_bytes"))] : null,
      ["provenance", value("provenance")],
      value("shape") ? ["shape", value("shape")] : null,
      value("op_name") ? ["op_name", value("op_name")] : null,
      source[row] ? ["source", this.sourcePlace(row)] : null,
    ].filter(Boolean);
    const go = (id, text) => h("button", {type: "button", onclick: () => this.go(id)}, text);
    const code = h("code", {class: "line"});
    $("#details").replaceChildren(
        h("div", {class: "title"}, h("h2", {}, swatch(kCategoryColours[value("category")] || "--c-control"), value("name")),
          h("button", {type: "button", class: "close", "aria-label": "Close", title: "Close (Escape)", onclick: () => this.deselect()}, "×")),
        h("div", {class: "buttons", role: "group", "aria-label": "Show in"}, go("timeline", "Timeline"), go("memory", "Memory"), go("operations", "Operations"),
          value("flops") > 0 ? go("roofline", "Roofline") : null, go("text", "Text")),
        h("dl", {}, facts.map(([term, text, exact]) => [h("dt", {}, term), h("dd", {title: exact}, text)])),
        code);
    $("#details").hidden = false;
    if (lines[row])
      this.data.part("text").then((text) => {
        if (this.selected !== row || text === null) return;
        this.splitText = this.splitText || text.split("\n");
        code.textContent = (this.splitText[lines[row] - report.page.text.first_line] || "").trim().slice(0, 1500);
      });
  }

  // ── Filters ──

  /** A function row => boolean: all words, as parts of anything, or of one column in `opcode:fusion`; or /regex/. */
  matcher(text) {
    const {columns, rows} = this.data;
    text = text.trim();
    if (text === "") return () => true;
    if (!this.haystack) {
      this.haystack = new Array(rows);
      for (let row = 0; row < rows; ++row)
        this.haystack[row] = [columns.name[row], columns.opcode[row], columns.computation[row], columns.op_name[row] || "",
                              this.data.source[row] || ""].join("\n").toLowerCase();
    }
    const regex = text.match(/^\/(.*)\/$/);
    if (regex) {
      try {
        const pattern = new RegExp(regex[1], "im");
        return (row) => pattern.test(this.haystack[row]);
      } catch (problem) {
        return Object.assign(() => false, {problem: problem.message});
      }
    }
    const keys = {opcode: columns.opcode, computation: columns.computation, name: columns.name, op_name: columns.op_name, source: this.data.source,
                  bound: columns.bound_by, category: columns.category};
    const tests = text.toLowerCase().split(/\s+/).map((word) => {
      const colon = word.indexOf(":");
      const values = keys[word.slice(0, Math.max(0, colon))];
      if (!values) return (row) => this.haystack[row].includes(word);
      const wanted = word.slice(colon + 1);
      return (row) => (values[row] || "").toLowerCase().includes(wanted);
    });
    return tests.length === 1 ? tests[0] : (row) => tests.every((test) => test(row));
  }

  // ── Theme and paper ──

  nextTheme() {
    const now = document.documentElement.dataset.theme || "auto";
    document.documentElement.dataset.theme = kThemes[(kThemes.indexOf(now) + 1) % 3];
    remember("hlosim.theme", document.documentElement.dataset.theme);
    this.showTheme();
  }
  showTheme() {
    const now = document.documentElement.dataset.theme || "auto";
    $("#theme").textContent = {auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark"}[now];
    this.repaint();
  }
  repaint() {
    themeChanged();
    for (const view of this.views) if (view.opening && view.theme) view.theme();
  }

  /** Every part, so that all are there for paper. */
  openAll() { return Promise.all(this.views.map((view) => this.ready(view))); }
  /** The parts that are open on paper, in light colours, tables cut to what a person reads. */
  print(isOn) {
    document.documentElement.classList.toggle("printing", isOn);
    themeChanged();
    for (const view of this.views) {
      $("#view-" + view.id).hidden = isOn ? !view.opening : view !== this.current;
      if (isOn && view.opening && view.print) view.print();
    }
    if (!isOn) for (const view of this.views) if (view.opening && view.shown) view.shown();
  }
}

/** Kept by the browser for the next page, where it lets pages of files keep something. */
function remember(key, value) {
  try {
    window.localStorage.setItem(key, value);
  } catch { /* the page works without */ }
}
function remembered(key) {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

const kThemes = ["auto", "light", "dark"];
if (kThemes.includes(remembered("hlosim.theme"))) document.documentElement.dataset.theme = remembered("hlosim.theme");

const kKeys = [
  ["everywhere", [["?", "these keys"], ["/", "search field of the tab"], ["Escape", "close the details"], ["← →", "on the tabs: the next tab"], ["Ctrl+P", "print"]]],
  ["timeline, memory", [["w s, + -", "zoom"], ["a d", "move left and right"], ["0", "the whole run"], ["← →", "the next slice or step"],
                        ["↑ ↓", "the lane above or below"], ["Enter", "select"], ["[ ]", "timeline: a region from one slice to another, with sums (or shift and drag)"], ["p", "memory: to the peak"]]],
  ["roofline", [["← →", "operations, the longest first"], ["Enter", "select"]]],
  ["tables", [["↑ ↓, Page", "move"], ["Enter", "open the row"], ["← →", "close or open a group"]]],
];

/** The dialog of `?`. */
function showKeys() {
  const dialog = $("#keys") || h("dialog", {id: "keys", "aria-label": "Keys"},
      h("h2", {}, "Keys"),
      kKeys.map(([where, keys]) => [h("h3", {}, where), h("dl", {}, keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]))]),
      h("p", {class: "close-line"}, h("button", {type: "button", onclick: () => dialog.close()}, "Close")));
  if (!dialog.isConnected) document.body.append(dialog);
  if (!dialog.open) dialog.showModal();
}

let app = null;
async function openModule(number) {
  const data = new ModuleData(number);
  await data.open();
  const titles = [...document.querySelectorAll('script.data[data-part="report"]')].map((block) => block.dataset.title);
  if (app && Number(app.parameters().module) !== number) history.replaceState(null, "", "#view=summary&module=" + number);
  app = new App(data, titles);
  app.labelsOf = labelsOf;
  window.hlosim = app;
  await app.start();
}

function fail(problem) {
  $("#main").replaceChildren(h("p", {class: "finding", role: "alert"}, problem));
}

window.addEventListener("hashchange", () => app && app.arrive());
window.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && app && !$("#details").hidden) app.deselect();
  if (event.key === "p" && (event.ctrlKey || event.metaKey) && app) {
    event.preventDefault();
    app.openAll().then(() => window.print());
  }
  if (event.key === "?" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) showKeys(), event.preventDefault();
  if (event.key === "/" && !/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
    const field = $('section.view:not([hidden]) input[type="search"]');
    if (field) field.focus(), event.preventDefault();
  }
});
window.addEventListener("beforeprint", () => app && app.print(true));
window.addEventListener("afterprint", () => app && app.print(false));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => app && app.repaint());

if (!hasDecompression) {
  fail("This browser can't unpack the page's data (DecompressionStream): a Firefox, Chromium or Safari of 2023 or later can.");
} else {
  openModule(hasDiff() ? Math.max(0, document.querySelectorAll('script.data[data-part="report"]').length - 1) : 0).then(() => { document.documentElement.dataset.ready = "true"; }, (problem) => fail("This page could not be read: " + problem.message));
}
