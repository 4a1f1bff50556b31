-- hello.lua: is this node admitted? Its quarantine begins at first sight.
-- KEYS[1] node        string "run floor hw maxttl"
-- KEYS[2] quarantine  string "run id until_ms length_ms"
-- ARGV[1] run  ARGV[2] quarantine ms (>= the longest ttl, plus drift); clients
--         may differ in it, and the longest one that was asked for counts
-- reply: {state, ticket, hw, maxttl, left_ms, now_us}; maxttl 0: not known here
--   state 1 admitted | 0 in quarantine, left_ms to go | 2 over: seed it
--   ticket names this very quarantine; admit.lua wants it back
local m = redis.call('MGET', KEYS[1], KEYS[2])
if not m[1] and redis.call('EXISTS', KEYS[1]) == 1 or m[1] and not string.match(m[1], '^%S+ %d+ %d+ %d+$') then
  return redis.error_reply('WRONGTYPE the node key holds something else')
end
if not m[2] and redis.call('EXISTS', KEYS[2]) == 1 or m[2] and not string.match(m[2], '^%S+ %d+ %d+ %d+$') then
  return redis.error_reply('WRONGTYPE the quarantine key holds something else')
end
local t = redis.call('TIME')
local ms, us = t[1] * 1000 + math.floor(t[2] / 1000), t[1] * 1000000 + t[2]
local run, floor, hw, maxttl = string.match(m[1] or 'none 0 0 0', '^(%S+) (%d+) (%d+) (%d+)$')
hw, maxttl = math.max(tonumber(floor), tonumber(hw)), tonumber(maxttl)
if m[1] and run == ARGV[1] then return {1, run, hw, maxttl, 0, us} end
local qrun, id, till, length
if m[2] then qrun, id, till, length = string.match(m[2], '^(%S+) (%d+) (%d+) (%d+)$') end
till, length = tonumber(till), tonumber(length)
local wait = math.max(tonumber(ARGV[2]), math.ceil(maxttl * 1.02) + 10)
if qrun ~= ARGV[1] or till > ms + length then -- the second: this node's clock was set back
  id, length = string.format('%.0f', us), math.max(wait, length or 0)
  till = ms + length
elseif wait > length then
  till, length = till - length + wait, wait
end
local now = string.format('%s %s %.0f %.0f', ARGV[1], id, till, length)
if m[2] ~= now then redis.call('SET', KEYS[2], now) end
local left = math.max(0, till - ms)
return {left > 0 and 0 or 2, ARGV[1] .. '/' .. id, hw, maxttl, left, us}
