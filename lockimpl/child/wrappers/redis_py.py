"""redis-py's redis.lock.Lock as a child (Debian: python3-redis).

With --no-timeout locks are taken as redis-py takes them by default: without an
expiry."""
import json
import os
import sys
import threading
import time

import redis
import redis.backoff
import redis.retry
import redis.sentinel

ONCE = redis.retry.Retry(redis.backoff.NoBackoff(), 0)  # later releases try again unless they are told
EXPIRES = "--no-timeout" not in sys.argv[1:]
mouth = threading.Lock()
conn, held, writers = None, {}, {}


def us():
    return time.monotonic_ns() // 1000


def say(**message):
    with mouth:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def write(handle, every_ms, stop):
    n = 0
    while not stop.wait(every_ms / 1000):
        n += 1
        say(t="write", h=handle, n=n, us=us())


def init(m):
    global conn
    io = m["io_ms"] / 1000
    node = os.environ["LOCKTORTURE_NODES"].split(",")[0]  # with user, password and database
    if m.get("sentinel"):  # the nodes are Sentinels, which know the master by that name
        watchers = [(host, int(port)) for host, port in (n.rsplit(":", 1) for n in m["nodes"].split(","))]
        conn = redis.sentinel.Sentinel(watchers, socket_timeout=io).master_for(m["sentinel"], socket_timeout=io, retry=ONCE)
    else:
        conn = redis.Redis.from_url(node, socket_timeout=io, socket_connect_timeout=io, retry=ONCE)
    return dict(t="init_ok", lib="redis-py " + redis.__version__, clock="monotonic",
                caps="ttl,extend,check" if EXPIRES else "check")


def acquire(m):
    wait = m["wait_ms"]
    lock = conn.lock(m["key"], timeout=m["ttl_ms"] / 1000 or None)
    if not lock.acquire(blocking=wait != 0, blocking_timeout=None if wait < 0 else wait / 1000):
        return dict(t="acquire_no", why="taken")
    held[m["h"]] = lock
    return dict(t="acquire_ok")


def start_writing(m):
    if m.get("every_ms"):
        stop = threading.Event()
        thread = threading.Thread(target=write, args=(m["h"], m["every_ms"], stop), daemon=True)
        writers[m["h"]] = thread, stop
        thread.start()


def stop_writing(m):
    thread, stop = writers.pop(m["h"], (None, None))
    if thread:
        stop.set()
        thread.join()


def release(m):
    held.pop(m["h"]).release()
    return dict(t="release_ok")


def extend(m):
    held[m["h"]].extend(m["ttl_ms"] / 1000, replace_ttl=True)
    return dict(t="extend_ok")


def check(m):
    return dict(t="check_ok", held=held[m["h"]].owned())


def quit(m):
    return dict(t="bye")


VERBS = dict(init=init, acquire=acquire, release=release, extend=extend, check=check, quit=quit)

for line in sys.stdin:
    m = json.loads(line)
    t = m["t"]
    if t == "release":
        stop_writing(m)
    us0 = us()
    try:
        answer = VERBS[t](m)
    except redis.exceptions.LockError as e:  # not, or no longer, the owner
        answer = dict(t=t + "_no", why="lost", text=str(e))
    except Exception as e:  # it may or may not have happened
        answer = dict(t="error", definite=t not in VERBS, text=f"{type(e).__name__}: {e}")
    if answer["t"] == "extend_no" or answer.get("held") is False:
        stop_writing(m)  # its user knows now that it has lost it
    say(re=m["id"], h=m.get("h"), us0=us0, us1=us(), **answer)
    if answer["t"] == "acquire_ok":
        start_writing(m)
    if t == "quit":
        break
