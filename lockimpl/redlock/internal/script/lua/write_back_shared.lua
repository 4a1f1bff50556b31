-- write_back_shared.lua: as write_back.lua, for a reader's token: only while its lease
-- is alive here. Where a writer was given T or more, the value above the writer's is stored.
-- KEYS[1] node  KEYS[2] lock  KEYS[3] fence  KEYS[4] readers
-- ARGV[1] owner  ARGV[2] run  ARGV[3] T
-- reply: as write_back.lua; {2, v} v = w+1 > T was stored instead: a writer of another lock that
--        shares the fence came in between
local m = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3])
if not m[1] then return -2 end
local run, floor, hw, maxttl = string.match(m[1], '^(%S+) (%d+) (%d+) (%d+)$')
if run ~= ARGV[2] then return -2 end
local t = redis.call('TIME')
local e = m[2] == 'r' and redis.call('ZSCORE', KEYS[4], ARGV[1])
if not e or tonumber(e) <= t[1] * 1000 + math.floor(t[2] / 1000) then return 0 end
local T, s = tonumber(ARGV[3]), ARGV[3]
local a, b = string.match(m[3] or hw, '^(%d+) ?(%d*)$') -- for a fence that is not there stands hw
local f, w = tonumber(a), tonumber(b ~= '' and b or a)
w = math.max(w, tonumber(floor))
local overtaken = w >= T
if overtaken then
  T = w + 1
  s = string.format('%.0f', T)
end
if m[3] and f < T then redis.call('SET', KEYS[3], string.format('%s %.0f', s, w)) end
if tonumber(hw) < T then
  redis.call('SET', KEYS[1], string.format('%s %s %s %s', run, floor, s, maxttl))
end
return overtaken and {2, T} or 1
