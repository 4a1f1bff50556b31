-- hello.lua: is this node admitted? Its quarantine begins at first sight.
-- KEYS[1] node        string "run floor hw maxttl"
-- KEYS[2] quarantine  string "run id until_ms"
-- ARGV[1] run  ARGV[2] quarantine ms (>= the longest ttl, plus drift)
-- reply: {state, ticket, hw, floor, left_ms, now_us}
--   state 1 admitted | 0 in quarantine, left_ms to go | 2 over: seed it
--   ticket names this very quarantine; admit.lua wants it back
local m = redis.call('MGET', KEYS[1], KEYS[2])
local t = redis.call('TIME')
local ms, us = t[1] * 1000 + math.floor(t[2] / 1000), t[1] * 1000000 + t[2]
local run, floor, hw = string.match(m[1] or 'none 0 0 0', '^(%S+) (%d+) (%d+)')
floor, hw = tonumber(floor), tonumber(hw)
if m[1] and run == ARGV[1] then return {1, run, hw, floor, 0, us} end
local qrun, id, till
if m[2] then qrun, id, till = string.match(m[2], '^(%S+) (%d+) (%d+)$') end
local wait = tonumber(ARGV[2])
if qrun ~= ARGV[1] or tonumber(till) > ms + wait then
  id, till = string.format('%.0f', us), string.format('%.0f', ms + wait)
  redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. id .. ' ' .. till)
end
local left = math.max(0, tonumber(till) - ms)
return {left > 0 and 0 or 2, ARGV[1] .. '/' .. id, hw, floor, left, us}
