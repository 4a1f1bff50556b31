-- give_back.lua: release.lua for an attempt that no doubt hangs over and that
-- has nothing to tell: the common case.
-- KEYS[1] lock  KEYS[2] flag  KEYS[3] tickets  KEYS[4] beats    see release.lua
-- ARGV[1] owner  ARGV[2] channel  ARGV[3] patience ms
-- reply: 1 deleted | 0 was not this attempt's
local m = redis.call('MGET', KEYS[1], KEYS[2])
if not m[1] or string.sub(m[1], 1, #ARGV[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
if m[2] then
-- include queue.lua
  wake(KEYS[3], KEYS[4], now_ms(), tonumber(ARGV[3]), ARGV[2])
end
return 1
