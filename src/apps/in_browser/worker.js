// Runs the program, once for each message {id, words, input}; the first message has the program itself, gzip in base64.
// The answer is {id, code, out, err}: the exit code, standard output as bytes, standard error as text.
"use strict";

let compiled;

/** The bytes of a text in base64 that gzip packed. */
async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

class Exit {
  constructor(code) { this.code = code; }
}

/** What the program asks of WASI, preview 1: words of the command line, standard input, output and error, the clock. */
class System {
  constructor(words, input) {
    this.words = words.map((word) => new TextEncoder().encode(word + "\0"));
    this.input = input;
    this.read = 0;
    this.written = {1: [], 2: []};
    const known = Object.getOwnPropertyNames(System.prototype);
    const unsupported = () => 52;
    this.imports = new Proxy({}, {
      get: (_, name) => known.includes(name) ? this[name].bind(this) : unsupported,
      has: () => true,
    });
  }

  get view() { return new DataView(this.memory.buffer); }
  put(...values) {
    for (let i = 0; i < values.length; i += 2) this.view.setUint32(values[i] >>> 0, values[i + 1], true);
    return 0;
  }
  /** Calls each(bytes) for the pieces of memory that a list names; the sum of what it returns. */
  pieces(list, count, each) {
    let sum = 0;
    for (let i = 0; i < count; ++i) {
      const at = (list >>> 0) + 8 * i;
      sum += each(new Uint8Array(this.memory.buffer, this.view.getUint32(at, true), this.view.getUint32(at + 4, true)));
    }
    return sum;
  }

  args_sizes_get(count, size) { return this.put(count, this.words.length, size, this.words.reduce((sum, word) => sum + word.length, 0)); }
  args_get(list, buffer) {
    let at = buffer >>> 0;
    this.words.forEach((word, i) => {
      this.put(list + 4 * i, at);
      new Uint8Array(this.memory.buffer).set(word, at);
      at += word.length;
    });
    return 0;
  }
  environ_sizes_get(count, size) { return this.put(count, 0, size, 0); }
  environ_get() { return 0; }
  clock_time_get(clock, precision, time) {
    this.view.setBigUint64(time >>> 0, BigInt(Math.round(performance.now() * 1e6)), true);
    return 0;
  }
  fd_prestat_get() { return 8; }  // no folders
  fd_close() { return 0; }
  fd_read(file, list, count, size) {
    if (file !== 0) return 8;
    return this.put(size, this.pieces(list, count, (bytes) => {
      const part = this.input.subarray(this.read, this.read + bytes.length);
      bytes.set(part);
      this.read += part.length;
      return part.length;
    }));
  }
  fd_write(file, list, count, size) {
    if (!this.written[file]) return 8;
    return this.put(size, this.pieces(list, count, (bytes) => this.written[file].push(bytes.slice()) && bytes.length));
  }
  proc_exit(code) { throw new Exit(code); }
}

async function run(words, input) {
  const system = new System(words, input);
  const instance = await WebAssembly.instantiate(await compiled, {wasi_snapshot_preview1: system.imports});
  system.memory = instance.exports.memory;
  let code = 0, stopped = "";
  try {
    instance.exports._start();
  } catch (error) {
    if (error instanceof Exit) code = error.code;
    else [code, stopped] = [134, `hlosim: stopped: ${error.message}\n`];
  }
  const err = await new Blob(system.written[2]).text() + stopped;
  return {code, out: new Blob(system.written[1]), err};
}

onmessage = async ({data}) => {
  try {
    if (data.program) compiled = unpacked(data.program).then((bytes) => WebAssembly.compile(bytes));
    postMessage({id: data.id, ...await run(data.words, data.input ?? new Uint8Array())});
  } catch (error) {
    postMessage({id: data.id, code: 134, out: new Blob(), err: `hlosim: ${error.message}\n`});
  }
};
