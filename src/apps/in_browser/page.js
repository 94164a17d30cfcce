"use strict";

const element = (id) => document.getElementById(id);

/** The program, in a worker: call(words, input) runs it once. */
class Program {
  constructor() {
    const address = URL.createObjectURL(new Blob([element("worker").textContent], {type: "text/javascript"}));
    this.worker = new Worker(address);
    this.calls = [];
    this.program = element("program").textContent;
    this.worker.onmessage = ({data}) => this.calls[data.id](data);
    this.worker.onerror = (event) => this.calls.forEach((done) => done({code: 134, out: new Blob(), err: `hlosim: ${event.message}\n`}));
  }
  call(words, input) {
    const id = this.calls.length;
    const answer = new Promise((done) => this.calls.push(done));
    this.worker.postMessage({id, words: ["hlosim", ...words], input, program: this.program});
    this.program = undefined;  // sent once
    return answer;
  }
}

const program = new Program();
let opened;       // the file: {name, bytes}
let runs = 0;     // an answer to an earlier question is not shown
let saved;        // the address of the report as a file

/** Tests, and the status line, see what goes on. */
function state(name, words) {
  document.documentElement.dataset.state = name;
  element("status").textContent = words;
}

function show(problems, isError) {
  element("problems").hidden = problems === "";
  element("problems").textContent = problems;
  element("problems").classList.toggle("bad", isError);
}

/** A file's bytes, unpacked where gzip packed them. */
async function read(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return {name: file.name, bytes};
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return {name: file.name.replace(/\.gz$/, ""), bytes: new Uint8Array(await new Response(stream).arrayBuffer())};
}

/** The report in a frame of its own. It is written there, not loaded: so it stays of this page's origin, and takes drops. */
function showReport(text) {
  const frame = element("report").cloneNode();
  frame.hidden = false;
  element("report").replaceWith(frame);
  frame.contentDocument.open();
  frame.contentDocument.write(text);
  frame.contentDocument.close();
  acceptDrops(frame.contentWindow);
}

async function simulate() {
  if (!opened) return state("ready", "No file is open");
  const run = ++runs;
  const device = element("type").value.trim() || element("device").value;
  state("running", `Simulating ${opened.name} on ${device}`);
  const begin = performance.now();
  const {code, out, err} = await program.call(["page", opened.name, device, element("flags").value], opened.bytes);
  if (run !== runs) return;
  const isError = code !== 0;
  show(err, isError);
  element("drop").hidden = !isError;
  element("report").hidden = element("save").hidden = isError;
  if (isError) return state("failed", `${opened.name}: no report`);
  URL.revokeObjectURL(saved);
  saved = element("save").href = URL.createObjectURL(new Blob([out], {type: "text/html"}));
  element("save").download = `${opened.name}.${device}.html`;
  showReport(await out.text());
  state("done", `${opened.name} on ${device}, ${((performance.now() - begin) / 1000).toFixed(2)} s`);
}

async function open(file) {
  try {
    opened = await read(file);
  } catch (error) {
    show(`hlosim: error: cannot read '${file.name}': ${error.message}\n`, true);
    return state("failed", `${file.name}: no report`);
  }
  document.title = `${opened.name} - hlosim`;
  await simulate();
}

async function start() {
  const {code, out, err} = await program.call(["devices"]);
  if (code !== 0) {
    show(err, true);
    return state("failed", "The program does not run in this browser");
  }
  for (const {name, title} of JSON.parse(await out.text())) element("device").add(new Option(title, name, name === "v6e", name === "v6e"));
  state("ready", "");
}

element("options").addEventListener("submit", (event) => {
  event.preventDefault();
  simulate();
});
element("device").addEventListener("change", () => {
  element("type").value = "";
  simulate();
});
element("file").addEventListener("change", (event) => {
  if (event.target.files.length > 0) open(event.target.files[0]);
  event.target.value = "";
});

/** Files that are dropped on a window are opened. */
function acceptDrops(target) {
  target.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("over");
  });
  target.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("over");
  });
  target.addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("over");
    if (event.dataTransfer.files.length > 0) open(event.dataTransfer.files[0]);
  });
}
acceptDrops(window);
start();
