# A lock over redis-rb (Debian: ruby-redis): SET NX PX with an owner token,
# compared at release and extension in a script, as its users write it.
require "json"
require "redis"
require "securerandom"

RELEASE = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0".freeze
EXTEND = "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0".freeze
RETRY = 0.05 # seconds between two tries of one that waits

$stdout.sync = true
MOUTH = Mutex.new
HELD = {}    # handle => [key, token]
WRITERS = {} # handle => the thread that writes
STOP = ConditionVariable.new
$redis = nil

def us
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :microsecond)
end

def say(message)
  MOUTH.synchronize { $stdout.write(JSON.generate(message) + "\n") }
end

def init(m)
  node = ENV.fetch("LOCKTORTURE_NODES").split(",").first # with user, password and database
  $redis = Redis.new(url: node, timeout: m["io_ms"] / 1000.0, reconnect_attempts: 0)
  { t: "init_ok", lib: "redis-rb #{Redis::VERSION}", caps: "ttl,extend", clock: "monotonic" }
end

def acquire(m)
  token, start = SecureRandom.hex(20), us
  until $redis.set(m["key"], token, nx: true, px: m["ttl_ms"])
    waited = (us - start) / 1000
    return { t: "acquire_no", why: "taken" } if m["wait_ms"] >= 0 && waited >= m["wait_ms"]
    sleep RETRY
  end
  HELD[m["h"]] = [m["key"], token]
  { t: "acquire_ok" }
end

def start_writing(m)
  h, every = m["h"], m["every_ms"].to_i / 1000.0
  return if every.zero?
  WRITERS[h] = Thread.new { write(h, every) }
end

def write(h, every)
  n = 0
  MOUTH.synchronize do
    loop do
      STOP.wait(MOUTH, every)
      break unless WRITERS[h]
      $stdout.write(JSON.generate(t: "write", h: h, n: n += 1, us: us) + "\n")
    end
  end
end

def stop_writing(m)
  writer = MOUTH.synchronize { WRITERS.delete(m["h"]).tap { STOP.broadcast } }
  writer&.join
end

def release(m)
  key, token = HELD.delete(m["h"])
  { t: $redis.eval(RELEASE, [key], [token]) == 1 ? "release_ok" : "release_no" }
end

def extend_lease(m)
  key, token = HELD[m["h"]]
  { t: $redis.eval(EXTEND, [key], [token, m["ttl_ms"]]) == 1 ? "extend_ok" : "extend_no" }
end

VERBS = {
  "init" => method(:init), "acquire" => method(:acquire), "release" => method(:release),
  "extend" => method(:extend_lease), "quit" => ->(_) { { t: "bye" } }
}.freeze

$stdin.each_line do |line|
  m = JSON.parse(line)
  stop_writing(m) if m["t"] == "release"
  us0 = us
  begin
    answer = VERBS.fetch(m["t"]).call(m)
  rescue KeyError => e # no such verb
    answer = { t: "error", definite: true, text: e.message }
  rescue StandardError => e # it may or may not have happened
    answer = { t: "error", definite: false, text: "#{e.class}: #{e.message}" }
  end
  stop_writing(m) if answer[:t] == "extend_no" # its user knows now that it has lost it
  say(answer.merge(re: m["id"], h: m["h"], us0: us0, us1: us))
  start_writing(m) if answer[:t] == "acquire_ok"
  break if m["t"] == "quit"
end
