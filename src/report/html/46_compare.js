// The page's reports side by side: a column each, the least of each row marked among those that fit, bars of the time by
// category.

/** Above it how many times as much says nothing: one of the two is nearly none. */
const kMostTimes = 100;

class CompareView {
  constructor(app) {
    Object.assign(this, {app, id: "compare", title: "Comparison"});
    this.element = h("div", {});
  }

  async open() {
    const all = this.app.titles.map((_, i) => (i === this.app.data.number ? this.app.data : new ModuleData(i)));
    this.reports = await Promise.all(all.map((data) => data.part("report")));
    this.names = this.columnNames();
    put(this.element,
        h("section", {class: "panel"}, h("h2", {}, "Time by category"), this.bars()),
        h("section", {class: "panel"}, h("h2", {}, "Side by side"), h("div", {class: "scroll"}, this.table())));
  }

  /** What tells the reports apart: the device where the module is the same, else both; a number where that isn't enough. */
  columnNames() {
    const same = (key) => this.reports.every((report) => report[key].name === this.reports[0][key].name);
    const names = this.reports.map(({module, device}) => {
      const slice = device.slice_devices > 1 ? `, ${device.slice}` : "";
      return same("module") ? device.name + slice : same("device") ? module.name : `${module.name} on ${device.name}${slice}`;
    });
    return names.map((name, i) => (names.filter((other) => other === name).length > 1 ? `${i + 1}: ${name}` : name));
  }

  /** Its arrays do not fit into a memory of the device. */
  overflows(i) { return this.reports[i].memory.fits === false; }

  link(i) { return h("a", {href: "#" + new URLSearchParams({view: "summary", module: i})}, this.names[i]); }

  /** A bar per report, all on one scale. */
  bars() {
    const most = Math.max(...this.reports.map((report) => report.time.total_ps), 1);
    const used = Object.keys(kCategoryColours).filter((name) => this.reports.some((report) => report.time.by_category_ps[name] > 0));
    const parts = (report) => used.filter((name) => report.time.by_category_ps[name] > 0).map((name) => {
      const ps = report.time.by_category_ps[name];
      return h("span", {title: `${name}: ${timeText(ps)}, ${percentText(ps / report.time.total_ps)}`,
                        style: {width: 100 * ps / most + "%", background: `var(${kCategoryColours[name]})`}});
    });
    return [
      h("p", {class: "legend"}, used.map((name) => h("span", {}, swatch(kCategoryColours[name]), name, " "))),
      h("table", {class: "plain bars", id: "compare-bars"}, h("tbody", {}, this.reports.map((report, i) => h("tr", {},
        h("th", {scope: "row"}, this.link(i), this.overflows(i) ? h("span", {class: "bad"}, " does not fit") : null),
        h("td", {class: "number" + (this.overflows(i) ? " overflows" : ""), title: exactTime(report.time.total_ps)}, timeText(report.time.total_ps)),
        h("td", {class: "compared"}, h("div", {class: "stack", "aria-hidden": "true"}, parts(report))))))),
    ];
  }

  /** [title, report => number, text of it, exact text]; less is better unless the last says so. */
  rows() {
    const categories = Object.keys(kCategoryColours).filter((name) => this.reports.some((report) => report.time.by_category_ps[name] > 0));
    const spaces = [...new Set(this.reports.flatMap((report) => report.memory.spaces.filter((space) => space.capacity_bytes !== null).map((space) => space.name)))];
    const time = (title, of) => [title, of, timeText, exactTime];
    const bytes = (title, of) => [title, of, bytesText, exactBytes];
    const space = (report, name) => report.memory.spaces.find((one) => one.name === name);
    const plain = (title, of, text) => [title, of, text, text, true];
    return [
      plain("fits", (report) => report.memory.fits, (fits) => (fits ? "yes" : "no: out of memory")),
      time("time", (report) => report.time.total_ps),
      plain("bound by", (report) => report.time.bound_by, (name) => name),
      time("perfect overlap", (report) => report.time.lower_bound_ps),
      ...categories.map((name) => time("… " + name, (report) => report.time.by_category_ps[name])),
      time("stalls on copies", (report) => report.time.exposed_copies_ps),
      time("exposed communication", (report) => report.time.exposed_collectives_ps),
      plain("share of peak FLOP/s", (report) => report.work.flops_utilisation, percentText),
      plain("share of HBM bandwidth", (report) => report.traffic.hbm_utilisation, percentText),
      bytes("HBM traffic", (report) => report.traffic.hbm_bytes),
      bytes("sent over links", (report) => report.traffic.sent_bytes),
      ...spaces.map((name) => bytes(`peak of ${name}`, (report) => (space(report, name) ? space(report, name).peak_bytes : null))),
      bytes("padding", (report) => report.padding_total.extra_bytes),
      plain("devices", (report) => report.device.slice_devices, grouped),
    ];
  }

  table() {
    const cells = ([title, of, text, exact, isPlain]) => {
      const values = this.reports.map(of);
      // A device on which the program does not fit is never the best.
      const known = values.filter((value, i) => typeof value === "number" && !this.overflows(i));
      const least = Math.min(...known);
      const isTold = !isPlain && known.some((value) => value !== least);
      return h("tr", {}, h("th", {scope: "row"}, title), values.map((value, i) => {
        if (value === null || value === undefined) return h("td", {class: "number", title: kUnknown}, "–");
        if (this.overflows(i))
          return h("td", {class: "number overflows", title: "does not fit"}, title === "fits" ? h("strong", {}, text(value)) : h("s", {}, text(value)));
        const isLeast = isTold && value === least;
        const times = isTold && !isLeast && least > 0 ? h("span", {class: "detail"}, value / least > kMostTimes ? ` > ${kMostTimes}×` : ` ${(value / least).toFixed(2)}×`) : null;
        return h("td", {class: "number" + (isLeast ? " least" : ""), title: exact(value)}, isLeast ? h("strong", {}, text(value)) : text(value), times);
      }));
    };
    return h("table", {class: "plain", id: "compare-table"},
             h("thead", {}, h("tr", {}, h("th", {scope: "col"}, ""), this.names.map((_, i) => h("th", {scope: "col", class: "number"}, this.link(i))))),
             h("tbody", {}, this.rows().map(cells)));
  }
}

/** The reports are of one module: what they are beside each other is what the page is for. */
function comparesOne(titles) {
  const module = (title) => title.slice(0, title.lastIndexOf(" on "));
  return titles.length > 1 && titles.every((title) => module(title) === module(titles[0]));
}
