-- leave.lua: stop waiting on one node; whoever is first then is woken when the
-- lock may be had.
-- KEYS[1] lock  KEYS[2] tickets  KEYS[3] beats    see queue.lua
-- ARGV[1] member  ARGV[2] channel  ARGV[3] patience ms
-- reply: 1 left | 0 was not queued
-- include queue.lua
local was = redis.call('ZSCORE', KEYS[2], ARGV[1])
quit(KEYS[2], KEYS[3], ARGV[1])
local held = redis.call('GET', KEYS[1])
if was and (not held or held == 'r') then
  wake(KEYS[2], KEYS[3], now_ms(), tonumber(ARGV[3]), ARGV[2])
end
return was and 1 or 0
