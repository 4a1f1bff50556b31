// A lock in JavaScript as a child process of the harness:
//   torture run --lock 'exec:node my_lock.mjs'
// Replace Connection, and what acquires, extends and releases, by your library:
// with ioredis, new Redis(node) and its call() do. Switch its retries off, and keep
// its time-outs below ioMs.
import net from "node:net";
import { randomUUID } from "node:crypto";
import readline from "node:readline";

const OURS = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end ";
const RELEASE = OURS + "return redis.call('DEL', KEYS[1])";
const EXTEND = OURS + "return redis.call('PEXPIRE', KEYS[1], ARGV[2])";
const RETRY = 50; // milliseconds between two tries of one that waits

// A Connection sends one command after the other; what breaks it fails all that
// wait, and the next command makes a new one.
class Connection {
  constructor(url, ioMs) {
    Object.assign(this, { url: new URL(url), ioMs, waiting: [], data: Buffer.alloc(0) });
  }

  async call(...words) {
    if (!this.socket) await this.open();
    return this.send(words);
  }

  async open() {
    const socket = net.connect(Number(this.url.port), this.url.hostname);
    this.socket = socket;
    this.data = Buffer.alloc(0);
    socket.on("data", (d) => this.take(d));
    socket.on("error", (e) => this.fail(socket, e));
    socket.on("close", () => this.fail(socket, new Error("connection closed")));
    const [user, password] = [this.url.username, this.url.password].map(decodeURIComponent);
    if (user || password) await this.send(["AUTH", ...(user ? [user] : []), password]);
    const db = this.url.pathname.slice(1);
    if (db && db !== "0") await this.send(["SELECT", db]);
  }

  send(words) {
    const socket = this.socket;
    return new Promise((resolve, reject) => {
      if (!socket) return reject(new Error("connection closed"));
      const timer = setTimeout(() => this.fail(socket, new Error("no answer in time")), this.ioMs);
      const done = (f) => (x) => { clearTimeout(timer); f(x); };
      this.waiting.push({ resolve: done(resolve), reject: done(reject) });
      socket.write(`*${words.length}\r\n` + words.map((w) => `$${Buffer.byteLength(String(w))}\r\n${w}\r\n`).join(""));
    });
  }

  fail(socket, error) {
    if (this.socket !== socket) return;
    this.socket = undefined;
    socket.destroy();
    for (const w of this.waiting.splice(0)) w.reject(error);
  }

  take(data) {
    this.data = Buffer.concat([this.data, data]);
    for (let reply; (reply = this.reply(0)); ) {
      this.data = this.data.subarray(reply.next);
      const w = this.waiting.shift();
      if (reply.value instanceof Error) w.reject(reply.value);
      else w.resolve(reply.value);
    }
  }

  // reply reads the reply that begins at an offset: its value, and where the next one begins; nothing
  // while it has not arrived as a whole. An array's values may be arrays, or errors.
  reply(from) {
    const end = this.data.indexOf("\r\n", from);
    if (end < 0) return;
    const type = String.fromCharCode(this.data[from]), text = this.data.toString("utf8", from + 1, end), size = Number(text);
    let next = end + 2;
    if (type === "-") return { value: new Error(text), next };
    if (type === ":") return { value: size, next };
    if (type === "+") return { value: text, next };
    if (size < 0) return { value: null, next };
    if (type === "$") {
      if (this.data.length < next + size + 2) return;
      return { value: this.data.toString("utf8", next, next + size), next: next + size + 2 };
    }
    const all = [];
    while (all.length < size) {
      const one = this.reply(next);
      if (!one) return;
      all.push(one.value);
      next = one.next;
    }
    return { value: all, next };
  }
}

const us = () => Number(process.hrtime.bigint() / 1000n);
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
const pause = (ms) => new Promise((r) => setTimeout(r, ms));
const held = new Map(); // handle → { key, token, timer }
let redis;

const verbs = {
  async init(m) {
    redis = new Connection(process.env.LOCKTORTURE_NODES.split(",")[0], m.io_ms);
    return { t: "init_ok", lib: `node ${process.version}`, caps: "ttl,extend", clock: "monotonic" };
  },
  async acquire(m) {
    const token = randomUUID();
    for (const began = us(); (await redis.call("SET", m.key, token, "NX", "PX", m.ttl_ms)) !== "OK"; await pause(RETRY)) {
      if (m.wait_ms >= 0 && us() - began >= m.wait_ms * 1000) return { t: "acquire_no", why: "taken" };
    }
    held.set(m.h, { key: m.key, token });
    return { t: "acquire_ok" };
  },
  async extend(m) {
    const { key, token } = held.get(m.h);
    return { t: (await redis.call("EVAL", EXTEND, 1, key, token, m.ttl_ms)) === 1 ? "extend_ok" : "extend_no" };
  },
  async release(m) {
    const { key, token } = held.get(m.h);
    held.delete(m.h);
    return { t: (await redis.call("EVAL", RELEASE, 1, key, token)) === 1 ? "release_ok" : "release_no" };
  },
  async quit() {
    return { t: "bye" };
  },
};

for await (const line of readline.createInterface({ input: process.stdin })) {
  const m = JSON.parse(line);
  if (m.t === "release") clearInterval(held.get(m.h)?.timer); // nothing is written any more
  const us0 = us();
  let answer;
  try {
    answer = verbs[m.t] ? await verbs[m.t](m) : { t: "error", definite: true, text: `unknown: ${m.t}` };
  } catch (e) {
    answer = { t: "error", definite: false, text: String(e) }; // it may or may not have happened
  }
  if (answer.t === "extend_no") clearInterval(held.get(m.h)?.timer); // its user knows now that it has lost it
  say({ ...answer, re: m.id, h: m.h, us0, us1: us() });
  if (answer.t === "acquire_ok" && m.every_ms) {
    let n = 0;
    held.get(m.h).timer = setInterval(() => say({ t: "write", h: m.h, n: ++n, us: us() }), m.every_ms);
  }
  if (m.t === "quit") break;
}
process.exit(0);
