"""redis-py's redis.asyncio.lock.Lock as a child (Debian: python3-redis).

Each request is a task of its own, so that one that waits keeps no other."""
import asyncio
import json
import os
import sys
import time

import redis
import redis.asyncio
import redis.asyncio.retry
import redis.asyncio.sentinel
import redis.backoff

ONCE = redis.asyncio.retry.Retry(redis.backoff.NoBackoff(), 0)  # later releases try again unless they are told
conn, held, writers = None, {}, {}


def us():
    return time.monotonic_ns() // 1000


def say(**message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


async def write(handle, every_ms):
    n = 0
    while True:
        await asyncio.sleep(every_ms / 1000)
        n += 1
        say(t="write", h=handle, n=n, us=us())


async def init(m):
    global conn
    io = m["io_ms"] / 1000
    node = os.environ["LOCKTORTURE_NODES"].split(",")[0]  # with user, password and database
    if m.get("sentinel"):  # the nodes are Sentinels, which know the master by that name
        watchers = [(host, int(port)) for host, port in (n.rsplit(":", 1) for n in m["nodes"].split(","))]
        conn = redis.asyncio.sentinel.Sentinel(watchers, socket_timeout=io).master_for(m["sentinel"], socket_timeout=io, retry=ONCE)
    else:
        conn = redis.asyncio.Redis.from_url(node, socket_timeout=io, socket_connect_timeout=io, retry=ONCE)
    return dict(t="init_ok", lib="redis-py asyncio " + redis.__version__, clock="monotonic", caps="ttl,extend,check,parallel")


async def acquire(m):
    wait = m["wait_ms"]
    lock = conn.lock(m["key"], timeout=m["ttl_ms"] / 1000 or None)
    if not await lock.acquire(blocking=wait != 0, blocking_timeout=None if wait < 0 else wait / 1000):
        return dict(t="acquire_no", why="taken")
    held[m["h"]] = lock
    return dict(t="acquire_ok")


async def release(m):
    await held.pop(m["h"]).release()
    return dict(t="release_ok")


async def extend(m):
    await held[m["h"]].extend(m["ttl_ms"] / 1000, replace_ttl=True)
    return dict(t="extend_ok")


async def check(m):
    return dict(t="check_ok", held=await held[m["h"]].owned())


VERBS = dict(init=init, acquire=acquire, release=release, extend=extend, check=check)


async def answer(m):
    t = m["t"]
    if t == "release" and m["h"] in writers:
        writers.pop(m["h"]).cancel()  # nothing is written any more
    us0 = us()
    try:
        said = await VERBS[t](m)
    except redis.exceptions.LockError as e:  # not, or no longer, the owner
        said = dict(t=t + "_no", why="lost", text=str(e))
    except Exception as e:  # it may or may not have happened
        said = dict(t="error", definite=t not in VERBS, text=f"{type(e).__name__}: {e}")
    if (said["t"] == "extend_no" or said.get("held") is False) and m["h"] in writers:
        writers.pop(m["h"]).cancel()  # its user knows now that it has lost it
    say(re=m["id"], h=m.get("h"), us0=us0, us1=us(), **said)
    if said["t"] == "acquire_ok" and m.get("every_ms"):
        writers[m["h"]] = asyncio.create_task(write(m["h"], m["every_ms"]))


async def main():
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    tasks = set()  # which the loop itself does not keep
    while line := await lines.readline():
        m = json.loads(line)
        if m["t"] == "quit":
            say(t="bye", re=m["id"])
            break
        task = asyncio.create_task(answer(m))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


asyncio.run(main())
