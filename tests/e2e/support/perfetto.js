// perfetto.js ENGINE FILE QUERY...: has Perfetto's own trace processor (a folder with its engine_bundle.js, which expects
// to be a browser's worker) read a trace, and prints what it answers, as JSON: a list of texts for each query, which
// asks for one column of texts. Its messages are protobuf: protos/perfetto/trace_processor/trace_processor.proto.
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [folder, file, ...queries] = process.argv.slice(2);
const APPEND = 1, FINALIZE = 2, QUERY = 3; // TraceProcessorMethod
const REQUEST = 2, FATAL_ERROR = 5, DATA = 101, QUERY_ARGS = 103, APPEND_RESULT = 201, QUERY_RESULT = 203;

function varint(n) {
  const out = [];
  for (; n > 127; n = Math.floor(n / 128)) out.push((n % 128) | 128);
  return Buffer.from([...out, n]);
}

const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);

// Every field of a message: [number, value], bytes as a Buffer.
function* fields(message) {
  let at = 0;
  const next = () => {
    let n = 0, scale = 1;
    for (; message[at] > 127; scale *= 128) n += (message[at++] & 127) * scale;
    return n + message[at++] * scale;
  };
  while (at < message.length) {
    const key = next();
    const fixed = { 1: 8, 5: 4 }[key % 8];
    if (key % 8 === 0) yield [key >> 3, next()];
    else {
      const length = fixed ?? next();
      yield [key >> 3, message.subarray(at, at + length)];
      at += length;
    }
  }
}

function all(message, field) {
  return [...fields(message)].filter(([n]) => n === field).map(([, value]) => value);
}

function fail(text) {
  process.stderr.write(text + "\n");
  process.exit(1);
}

function start() {
  class XMLHttpRequest {
    open(_, url) {
      this.url = url;
    }
    send() {
      const read = fs.readFileSync(path.join(folder, path.basename(this.url)));
      this.response = read.buffer.slice(read.byteOffset, read.byteOffset + read.length);
    }
  }
  const port = { replies: [], postMessage: (reply) => port.replies.push(Buffer.from(reply)) };
  const scope = { XMLHttpRequest, Uint8Array, TextDecoder, TextEncoder, performance, setTimeout, crypto };
  const log = () => {};
  Object.assign(scope, { self: scope, console: { log, warn: log, error: log }, location: { href: "" } });
  Object.assign(scope, { importScripts: log, WorkerGlobalScope: Object });
  vm.runInNewContext(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"), scope);
  scope.onmessage({ data: port });
  return port;
}

let sequence = 0;
function ask(port, method, ...args) {
  const call = Buffer.concat([number(1, ++sequence), number(REQUEST, method), ...args]);
  port.replies.length = 0;
  port.onmessage({ data: new Uint8Array(bytes(1, call)) });
  const answers = port.replies.flatMap((reply) => all(reply, 1));
  for (const answer of answers) for (const error of all(answer, FATAL_ERROR)) fail(String(error));
  return answers;
}

setTimeout(() => {
  const port = start();
  setTimeout(() => {
    for (const answer of ask(port, APPEND, bytes(DATA, fs.readFileSync(file))))
      for (const result of all(answer, APPEND_RESULT)) for (const error of all(result, 2)) fail(String(error));
    ask(port, FINALIZE);
    const out = queries.map((query) => {
      const rows = [];
      for (const answer of ask(port, QUERY, bytes(QUERY_ARGS, bytes(1, Buffer.from(query))))) {
        for (const result of all(answer, QUERY_RESULT)) {
          for (const error of all(result, 2)) fail(`${query}: ${error}`);
          for (const batch of all(result, 3))
            for (const text of all(batch, 5)) rows.push(...String(text).split("\0").slice(0, -1));
        }
      }
      return rows;
    });
    process.stdout.write(JSON.stringify(out));
  }, 0);
}, 0);
