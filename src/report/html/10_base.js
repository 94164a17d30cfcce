"use strict";
// Elements, numbers as text, and the data that the page carries.

/** h("td", {class: "number"}, "1 < 2", element): text is text, never markup. */
function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else element.setAttribute(key, value === true ? "" : value);
  }
  put(element, ...children);
  return element;
}

/** Appends what there is. */
function put(element, ...children) {
  for (const child of children.flat(2)) if (child !== null && child !== undefined) element.append(child);
}

const $ = (selector, root = document) => root.querySelector(selector);

function isPrinting() { return document.documentElement.classList.contains("printing"); }

/** Said by screen readers. */
function announce(text) { $("#status").textContent = text; }

/** To the clipboard; pages from disk may lack its interface, or permission for it. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = h("textarea", {class: "hidden-text"});
    field.value = text;
    document.body.append(field);
    field.select();
    const isCopied = document.execCommand("copy");
    field.remove();
    if (!isCopied) return announce(`Not copied: ${text}`);
  }
  announce(`Copied ${text}`);
}

// ── Numbers ──

const kUnknown = "unknown";
function significant(value, digits = 4) {
  return String(Number(value.toPrecision(digits)));
}
function grouped(value) {
  return value === null ? kUnknown : Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}
function scaled(value, base, units) {
  let step = 0;
  let size = Math.abs(value);
  while (step + 1 < units.length && size >= base * 0.99995) size /= base, ++step;
  return (value < 0 ? "-" : "") + significant(size) + " " + units[step];
}
function timeText(ps) { return ps === null ? kUnknown : scaled(ps, 1000, ["ps", "ns", "µs", "ms", "s"]); }
function bytesText(bytes) {
  return bytes === null ? kUnknown : scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]);
}
function countText(count) {
  return count === null ? kUnknown : scaled(count, 1000, ["", "k", "M", "G", "T", "P", "E"]).trim();
}
function rateText(rate, unit) {
  return rate === null ? kUnknown : scaled(rate, 1000, ["", "k", "M", "G", "T", "P", "E"].map((p) => p + unit));
}
function percentText(share) { return share === null || !isFinite(share) ? kUnknown : (100 * share).toFixed(1) + "\u00a0%"; }
function exactTime(ps) { return ps === null ? kUnknown : grouped(ps) + " ps"; }
function exactBytes(bytes) { return bytes === null ? kUnknown : grouped(bytes) + " B"; }

/** "3 copies" */
function plural(count, one, many = one + "s") { return grouped(count) + " " + (count === 1 ? one : many); }

// ── Data ──

const hasDecompression = typeof DecompressionStream === "function";

async function unpack(base64) {
  const raw = atob(base64);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** Columns as src/report/html_data.h writes them, each an array with a value per row. */
function readTable(json) {
  const columns = {};
  for (const [key, packed] of Object.entries(json.columns)) {
    let values;
    if ("c" in packed) {
      values = new Array(json.rows).fill(packed.c);
    } else if ("d" in packed) {
      values = new Float64Array(json.rows);
      let sum = 0;
      for (let i = 0; i < json.rows; ++i) values[i] = sum += packed.d[i];
    } else if ("s" in packed) {
      values = packed.i.map((at) => (at < 0 ? null : packed.s[at]));
    } else {
      values = packed.n;
    }
    columns[key] = values;
  }
  return {rows: json.rows, columns};
}

/** Replaces every table in `json` by its columns. */
function readTables(json) {
  if (json === null || typeof json !== "object") return json;
  if (!Array.isArray(json) && "rows" in json && "columns" in json) return readTable(json);
  for (const key of Object.keys(json)) json[key] = readTables(json[key]);
  return json;
}

/** One module of the page. Its parts are unpacked when first asked for. */
class ModuleData {
  constructor(number) {
    this.number = number;
    this.parts = {};
  }
  part(name) {
    if (!this.parts[name]) {
      const number = name === "diff" || name === "profile" ? "all" : this.number;
      const block = $(`script.data[data-module="${number}"][data-part="${name}"]`);
      if (!block) return Promise.resolve(null);
      const text = unpack(block.textContent);
      this.parts[name] = name === "text" ? text : text.then((json) => readTables(JSON.parse(json)));
    }
    return this.parts[name];
  }
  async open() {
    this.report = await this.part("report");
    const columns = this.report.instructions.columns;
    this.columns = columns;
    this.rows = this.report.instructions.rows;
    this.total = this.report.time.total_ps;
    for (const key of kInstructionKeys) if (!columns[key]) columns[key] = new Array(this.rows).fill(null);
    this.lines = this.report.page.text.lines.columns.line;
    this.hbm = this.traffic("hbm");
    this.byName = new Map();
    for (let row = 0; row < this.rows; ++row) {
      const rows = this.byName.get(columns.name[row]);
      if (rows) rows.push(row);
      else this.byName.set(columns.name[row], [row]);
    }
    this.source = new Array(this.rows);
    for (let row = 0; row < this.rows; ++row) {
      const file = columns.source_file[row];
      const line = columns.source_line[row];
      this.source[row] = file === null ? null : line === null ? file : `${file}:${line}`;
    }
  }
  /** op_name with # in place of numbers; without one, the name likewise and the bytes: layers of one kind have one. */
  get kindOf() {
    const {op_name, name, padded_bytes} = this.columns;
    const kind = (row) => op_name[row] ? op_name[row].replace(/\d+/g, "#")
        : name[row].replace(/\d+/g, "#") + (padded_bytes[row] > 0 ? " with " + bytesText(padded_bytes[row]) : "");
    return this.kindNames = this.kindNames || Array.from({length: this.rows}, (_, row) => kind(row));
  }
  /** Of each operation the category of what it does: a start or done of an asynchronous collective is no control. */
  get workCategories() {
    if (this.categoriesOfWork) return this.categoriesOfWork;
    const of = new Map();
    for (const [part, category] of [[this.report.collectives, "collective"], [this.report.copies, "data movement"]])
      for (let i = 0; i < part.rows; ++i) of.set(part.columns.start[i], category).set(part.columns.done[i], category);
    const {category, name} = this.columns;
    return this.categoriesOfWork = category.map((one, row) => (one === "control" ? of.get(name[row]) ?? one : one));
  }
  /** Labels of op_names (with # for numbers or as they are), and of source places. */
  get labels() {
    if (!this.labelSets)
      this.labelSets = {kind: labelsOf(this.kindOf), op_name: labelsOf(this.columns.op_name), source: labelsOf(this.source),
                        computation: labelsOf(this.columns.computation)};
    return this.labelSets;
  }
  /** Kinds with all their rows and time, the longest first; without kinds that take no time. */
  kinds() {
    if (this.kindList) return this.kindList;
    const kinds = new Map();
    const {self_time_ps} = this.columns;
    for (let row = 0; row < this.rows; ++row) {
      const name = this.kindOf[row];
      if (!kinds.has(name)) kinds.set(name, {name, rows: [], time: 0});
      const kind = kinds.get(name);
      kind.rows.push(row);
      kind.time += self_time_ps[row];
    }
    return this.kindList = [...kinds.values()].filter((kind) => kind.time > 0).sort((a, b) => b.time - a.time);
  }
  /** The copy, collective or other transfer that an operation starts or waits for; null: none. */
  transferOf(name) {
    for (const part of [this.report.copies, this.report.collectives, this.report.other_transfers])
      for (let i = 0; i < part.rows; ++i)
        if (part.columns.start[i] === name || part.columns.done[i] === name)
          return Object.fromEntries(Object.entries(part.columns).map(([key, values]) => [key, values[i]]));
    return null;
  }
  /** Bytes that each instruction reads from and writes to a memory space. */
  traffic(space) {
    const read = this.columns[`traffic/${space}/read_bytes`];
    const written = this.columns[`traffic/${space}/written_bytes`];
    const sum = new Float64Array(this.rows);
    for (let row = 0; row < this.rows; ++row) sum[row] = (read ? read[row] : 0) + (written ? written[row] : 0);
    return sum;
  }
  /** The instruction of that name, in `computation` where there are several; -1: none. */
  find(name, computation) {
    const rows = this.byName.get(name);
    if (!rows) return -1;
    const there = rows.find((row) => this.columns.computation[row] === computation);
    return there === undefined ? rows[0] : there;
  }
}

/** Starts and dones: what they move overlaps with other operations, so a rate over their own time means nothing. */
const isAsynchronous = (opcode) => /-(start|done|update)$/.test(opcode) || opcode === "send" || opcode === "recv";

const kInstructionKeys = [
  "name", "opcode", "computation", "op_name", "source_file", "source_line", "line", "executions", "start_ps",
  "time_ps", "self_time_ps", "exposed_ps", "waited_for", "bound_by", "category", "provenance", "flops",
  "vector_operations", "transcendentals", "logical_bytes", "padded_bytes", "shape",
];
