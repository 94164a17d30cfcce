// Operations by FLOPs per byte and FLOP/s, under the roofs of the device.

const kAboveRoof = "above the roof: the roof is the peak in bf16 and the bandwidth of one memory; other types and reuse on chip can exceed it";

class RooflineView extends PictureView {
  constructor(app) {
    super();
    Object.assign(this, {app, id: "roofline", title: "Roofline", cursor: -1, height: 420});
    this.element = h("div", {});
  }

  open() {
    const {report} = this.app.data;
    this.roofs = report.traffic.roofline;
    if (this.roofs.length === 0 || !report.device.peak_flops_per_second) {
      put(this.element, h("p", {class: "empty"}, report.device.peak_flops_per_second
          ? "No memory space has traffic." : "The device file has no peak of FLOP/s."));
      return;
    }
    this.peak = report.device.peak_flops_per_second;
    this.picker = h("select", {"aria-label": "Memory space", onchange: () => this.setSpace(this.picker.value)},
                    this.roofs.map((roof) => h("option", {value: roof.space}, roof.space)));
    this.makeCanvas("roofline-canvas", "Roofline. Left and right arrow keys go through operations, the longest first; Enter selects. " +
                                       "The table below has the same points.");
    this.key = h("div", {});
    this.note = h("p", {class: "detail"});
    this.above = h("p", {class: "note", id: "roofline-above", hidden: true});
    this.facts = h("p", {class: "facts"});
    this.makeTable();
    put(this.element, h("div", {class: "tools"}, h("label", {}, "Bytes of ", this.picker)), this.facts, this.canvas,
                        this.key, this.above, this.note, this.table.element);
    this.setSpace(this.roofs.some((roof) => roof.space === "hbm") ? "hbm" : this.roofs[0].space);
  }

  setSpace(space) {
    this.picker.value = space;
    this.roof = this.roofs.find((roof) => roof.space === space);
    const {data} = this.app;
    const bytes = data.traffic(space);
    this.points = [];
    let without = 0;
    for (let row = 0; row < data.rows; ++row) {
      const flops = data.columns.flops[row];
      const time = data.columns.self_time_ps[row];
      if (!(flops > 0) || !(bytes[row] > 0) || !(time > 0)) {
        if (time > 0) ++without;
        continue;
      }
      this.points.push({row, intensity: flops / bytes[row], rate: flops / time * 1e12, time, bytes: bytes[row]});
    }
    this.points.sort((a, b) => b.time - a.time);
    this.key.replaceChildren(legend(kCategoryColours, new Set(this.points.map((point) => data.columns.category[point.row]))));
    this.byRow = new Map(this.points.map((point) => [point.row, point]));
    const above = this.points.filter((point) => this.isAbove(point));
    this.above.hidden = above.length === 0;
    this.above.replaceChildren(`▲ ${plural(above.length, "operation is", "operations are")} ${kAboveRoof}: `,
                               ...above.slice(0, 5).flatMap((point, i) => [i > 0 ? ", " : "", this.app.link(point.row)]));
    this.note.textContent = without > 0
        ? `${plural(without, "operation")} with time but without matmuls, or without traffic of ${space}, are not shown.` : "";
    const roof = this.roof;
    this.facts.replaceChildren(
        h("span", {}, h("strong", {}, significant(roof.flops_per_byte)), " FLOP per byte in the whole module"),
        h("span", {}, h("strong", {}, significant(roof.ridge_flops_per_byte)), " FLOP per byte at the ridge"),
        h("span", {}, h("strong", {}, rateText(roof.attainable_flops_per_second, "FLOP/s")), " attainable"),
        h("span", {}, h("strong", {}, rateText(this.moduleRate(), "FLOP/s")), " reached"));
    this.table.setRows(this.points.map((_, i) => i));
    this.cursor = -1;
    this.later();
  }
  moduleRate() {
    const {report, total} = this.app.data;
    return total > 0 ? report.work.flops / total * 1e12 : null;
  }

  /** Share of what the roof allows. Above 1 where device numbers or counted work contradict each other. */
  shareOf(point) { return point.rate / Math.min(this.peak, point.intensity * this.roof.bytes_per_second); }
  /** Beyond what rounding explains. */
  isAbove(point) { return this.shareOf(point) > 1.001; }

  makeTable() {
    const point = (i) => this.points[i];
    const column = this.app.data.columns;
    this.points = [];
    this.table = new DataTable({
      label: "Operations with matmuls", height: "18rem", sort: "time", emptyText: "No operation has matmuls and traffic of this space.",
      onOpen: (i) => this.choose(point(i)),
      columns: [
        {key: "name", title: "operation", value: (i) => column.name[point(i).row]},
        {key: "time", title: "time", number: true, value: (i) => point(i).time, text: (i) => timeText(point(i).time), hint: (i) => exactTime(point(i).time)},
        {key: "intensity", title: "FLOP/byte", number: true, value: (i) => point(i).intensity, text: (i) => significant(point(i).intensity)},
        {key: "rate", title: "FLOP/s", number: true, value: (i) => point(i).rate, text: (i) => rateText(point(i).rate, "FLOP/s")},
        {key: "share", title: "of the roof", number: true, value: (i) => this.shareOf(point(i)),
         text: (i) => percentText(this.shareOf(point(i))) + (this.isAbove(point(i)) ? " above" : ""),
         cell: (i) => h("span", {class: this.isAbove(point(i)) ? "bad" : null}, percentText(this.shareOf(point(i))) + (this.isAbove(point(i)) ? " ▲" : ""))},
        {key: "bound", title: "bound by", value: (i) => column.bound_by[point(i).row]},
      ],
    });
  }

  isReady() { return this.roof !== undefined; }

  frame() {
    const xs = this.points.map((p) => p.intensity).concat(this.roofs.map((roof) => roof.ridge_flops_per_byte), this.roof.flops_per_byte || 1);
    const ys = this.points.map((p) => p.rate).concat(this.peak, this.moduleRate() || this.peak);
    // To half a decade: the picture is not to be empty above the peak.
    const low = (values) => Math.floor(2 * Math.log10(values.reduce((a, b) => Math.min(a, b))) - 0.3) / 2;
    const high = (values) => Math.ceil(2 * Math.log10(values.reduce((a, b) => Math.max(a, b))) + 0.3) / 2;
    return {left: 92, right: this.width - 16, top: 14, bottom: this.height - 34,
            x: [low(xs), high(xs)], y: [low(ys), high(ys)]};
  }
  paint(context) {
    const f = this.f = this.frame();
    this.px = (intensity) => f.left + (Math.log10(intensity) - f.x[0]) / (f.x[1] - f.x[0]) * (f.right - f.left);
    this.py = (rate) => f.bottom - (Math.log10(rate) - f.y[0]) / (f.y[1] - f.y[0]) * (f.bottom - f.top);
    context.strokeStyle = colour("--line");
    context.fillStyle = colour("--muted");
    context.beginPath();
    for (const mark of logTicks(...f.x, (f.right - f.left) / 60)) {
      const x = Math.round(this.px(mark)) + 0.5;
      context.moveTo(x, f.top);
      context.lineTo(x, f.bottom);
      context.textAlign = x > f.right - 16 ? "right" : "center";
      context.fillText(countText(mark), x, f.bottom + 12);
    }
    for (const mark of logTicks(...f.y, (f.bottom - f.top) / 30)) {
      const y = Math.round(this.py(mark)) + 0.5;
      context.moveTo(f.left, y);
      context.lineTo(f.right, y);
      context.textAlign = "right";
      context.fillText(rateText(mark, "FLOP/s"), f.left - 6, y);
    }
    context.stroke();
    this.drawSides(context, f);
    context.textAlign = "center";
    context.fillText(`FLOP per byte of ${this.roof.space}`, (f.left + f.right) / 2, this.height - 8);
    context.textAlign = "left";
    this.drawRoofs(context, f);
    for (const point of [...this.points].reverse()) this.drawPoint(context, point);
    const rate = this.moduleRate();
    if (rate > 0 && this.roof.flops_per_byte > 0) {
      const x = this.px(this.roof.flops_per_byte), y = this.py(rate);
      context.fillStyle = colour("--text");
      context.beginPath();
      context.moveTo(x, y - 8);
      context.lineTo(x + 8, y);
      context.lineTo(x, y + 8);
      context.lineTo(x - 8, y);
      context.fill();
      context.fillText("whole module", x + 12, y);
    }
  }
  /** What limits the operations on either side of the ridge. */
  drawSides(context, f) {
    const ridge = this.px(this.roof.ridge_flops_per_byte);
    if (ridge <= f.left || ridge >= f.right) return;
    context.strokeStyle = colour("--accent");
    context.setLineDash([2, 4]);
    context.beginPath();
    context.moveTo(ridge, this.py(this.peak));
    context.lineTo(ridge, f.bottom);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = colour("--muted");
    const write = (text, x, align, room) => {
      if (context.measureText(text).width > room - 12) return;
      context.textAlign = align;
      context.fillText(text, x, f.bottom - 10);
    };
    write(`← ${this.roof.space} limits`, ridge - 8, "right", ridge - f.left);
    write("matrix units limit →", ridge + 8, "left", f.right - ridge);
    context.textAlign = "left";
  }
  drawRoofs(context, f) {
    for (const roof of this.roofs) {
      const isChosen = roof === this.roof;
      context.strokeStyle = colour(isChosen ? "--accent" : "--muted");
      context.setLineDash(isChosen ? [] : [5, 4]);
      context.lineWidth = isChosen ? 2 : 1;
      context.save();
      context.beginPath();
      context.rect(f.left, f.top, f.right - f.left, f.bottom - f.top);
      context.clip();
      context.beginPath();
      context.moveTo(this.px(10 ** f.x[0]), this.py(10 ** f.x[0] * roof.bytes_per_second));
      context.lineTo(this.px(roof.ridge_flops_per_byte), this.py(this.peak));
      context.lineTo(f.right, this.py(this.peak));
      context.stroke();
      context.restore();
      context.setLineDash([]);
      context.fillStyle = colour(isChosen ? "--accent" : "--muted");
      const low = Math.max(10 ** f.x[0], 10 ** f.y[0] / roof.bytes_per_second);
      const x = Math.sqrt(low * roof.ridge_flops_per_byte);
      const y = this.py(Math.min(this.peak, x * roof.bytes_per_second));
      const text = `${roof.space} ${rateText(roof.bytes_per_second, "B/s")}`;
      const rise = (f.bottom - f.top) / (f.y[1] - f.y[0]), run = (f.right - f.left) / (f.x[1] - f.x[0]);
      const half = context.measureText(text).width / 2 * run / Math.hypot(rise, run);
      if (y > f.top && y < f.bottom && this.px(x) + half < f.right && this.px(x) - half > f.left) {
        context.save();
        context.translate(this.px(x), y);
        context.rotate(-Math.atan2(rise, run));
        context.textAlign = "center";
        context.fillText(text, 0, -9);
        context.restore();
        context.textAlign = "left";
      }
    }
    context.lineWidth = 1;
    context.textAlign = "right";
    context.fillStyle = colour("--accent");
    context.fillText(`peak ${rateText(this.peak, "FLOP/s")}`, f.right - 4, this.py(this.peak) - 9);
    context.textAlign = "left";
  }
  radius(point) { return 3.5 + 11 * Math.sqrt(point.time / this.points[0].time); }
  drawPoint(context, point) {
    const radius = this.radius(point);
    context.fillStyle = categoryColour(this.app.data.columns.category[point.row]);
    context.globalAlpha = 0.72;
    context.beginPath();
    context.arc(this.px(point.intensity), this.py(point.rate), radius, 0, 7);
    context.fill();
    context.globalAlpha = 1;
    if (this.isAbove(point)) {
      context.fillStyle = colour("--bad");
      context.textAlign = "center";
      context.fillText("▲", this.px(point.intensity), this.py(point.rate) - radius - 6);
      context.textAlign = "left";
    }
    context.beginPath();
    context.arc(this.px(point.intensity), this.py(point.rate), radius, 0, 7);
    const isMarked = point.row === this.app.selected || this.points[this.cursor] === point;
    context.strokeStyle = colour(isMarked ? "--text" : "--panel");
    context.lineWidth = isMarked ? 2.5 : 1;
    context.stroke();
    context.lineWidth = 1;
  }

  describe(point) {
    const {columns} = this.app.data;
    return [columns.name[point.row], `${timeText(point.time)}, bound by ${columns.bound_by[point.row]}`,
            `${significant(point.intensity)} FLOP per byte of ${this.roof.space}`,
            `${rateText(point.rate, "FLOP/s")}, ${percentText(this.shareOf(point))} of the roof`,
            this.isAbove(point) ? kAboveRoof : null].filter(Boolean);
  }
  hit(event) {
    if (!this.px) return null;
    let best = null, distance = 14;
    for (const point of this.points) {
      const d = Math.hypot(this.px(point.intensity) - event.offsetX, this.py(point.rate) - event.offsetY) - this.radius(point);
      if (d < Math.min(distance, 4)) best = point, distance = d;
    }
    return best;
  }
  hovered(event) {
    const point = this.hit(event);
    this.canvas.style.cursor = point ? "pointer" : "default";
    if (point) showTooltip(event, this.describe(point));
    else hideTooltip();
  }
  clicked(event) {
    const point = this.hit(event);
    if (point) this.choose(point);
  }
  choose(point) {
    this.cursor = this.points.indexOf(point);
    this.app.select(point.row, this);
    announce(this.describe(point).join(", "));
    this.later();
  }
  pressed(event) {
    if (this.points.length === 0) return;
    if (event.key === "Enter" && this.cursor >= 0) return this.choose(this.points[this.cursor]);
    const by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (!by) return;
    event.preventDefault();
    this.cursor = Math.max(0, Math.min(this.points.length - 1, this.cursor + by));
    announce(this.describe(this.points[this.cursor]).join(", "));
    this.later();
  }
  selected() { this.later(); }
}
