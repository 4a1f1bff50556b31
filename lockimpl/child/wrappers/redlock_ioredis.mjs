// node-redlock over ioredis as a child process of the harness:
//   npm install ioredis redlock@5.0.0-beta.2
//   torture run --lock 'exec:node my_lock.mjs'
// Replace what acquires, extends and releases by your library.
import Redis from "ioredis";
import Redlock, { ExecutionError, ResourceLockedError } from "redlock";
import readline from "node:readline";

const RETRY = 50; // milliseconds between two tries, and before the next connection
const us = () => Number(process.hrtime.bigint() / 1000n);
const say = (message) => process.stdout.write(JSON.stringify(message) + "\n");
const pause = (ms) => new Promise((r) => setTimeout(r, ms));
const held = new Map(); // handle → { lock, timer }
let redlock;

// connect makes a client that sends each command once: what the lock does about an
// answer that it did not get is what is judged.
function connect(url, ioMs) {
  const redis = new Redis(url, {
    lazyConnect: true, connectTimeout: ioMs, commandTimeout: ioMs, retryStrategy: () => RETRY,
    maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false, enableOfflineQueue: false,
  });
  redis.on("error", () => {}); // the commands fail too
  return redis;
}

// promise is until when a lock holds by its own word, which it keeps by the wall clock.
const promise = (lock) => ({ until_us: us() + (lock.expiration - Date.now()) * 1000 });

// definite reports whether every server has answered, and said that the key is another's.
async function definite(e) {
  if (!(e instanceof ExecutionError)) return false;
  const stats = await Promise.all(e.attempts);
  return stats.every((s) => [...s.votesAgainst.values()].every((v) => v instanceof ResourceLockedError));
}

const verbs = {
  async init(m) {
    const clients = process.env.LOCKTORTURE_NODES.split(",").map((url) => connect(url, m.io_ms));
    await Promise.allSettled(clients.map((c) => c.connect())); // who fails goes on trying
    redlock = new Redlock(clients, { retryCount: 0, automaticExtensionThreshold: 0 });
    return { t: "init_ok", lib: `redlock on node ${process.version}`, caps: "ttl,extend,until", clock: "monotonic" };
  },
  async acquire(m) {
    for (const began = us(); ; await pause(RETRY)) {
      try {
        const lock = await redlock.acquire([m.key], m.ttl_ms);
        held.set(m.h, { lock });
        return { t: "acquire_ok", ...promise(lock) };
      } catch (e) {
        if (!(await definite(e)) || (m.wait_ms >= 0 && us() - began >= m.wait_ms * 1000)) throw e;
      }
    }
  },
  async extend(m) {
    const h = held.get(m.h);
    h.lock = await h.lock.extend(m.ttl_ms);
    return { t: "extend_ok", ...promise(h.lock) };
  },
  async release(m) {
    const { lock } = held.get(m.h);
    held.delete(m.h);
    await lock.release();
    return { t: "release_ok" };
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
    const no = await definite(e); // or else it may have happened, or not
    answer = no ? { t: m.t + "_no", why: e.message } : { t: "error", definite: false, text: String(e) };
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
