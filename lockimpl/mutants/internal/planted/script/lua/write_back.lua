-- write_back.lua: second phase, when the first replies disagree: store token T on
-- this node, but only while this attempt owns the lock here and the value that
-- it was issued is not above T.
-- KEYS[1] node  KEYS[2] lock  KEYS[3] fence      see acquire.lua
-- ARGV[1] owner  ARGV[2] run  ARGV[3] T
-- reply: 1 stored | 0 not this attempt's | -2 not admitted | {2, v} v > T was issued here
local m = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3])
if not m[1] then return -2 end
local run, floor, hw, maxttl = string.match(m[1], '^(%S+) (%d+) (%d+) (%d+)$')
if run ~= ARGV[2] then return -2 end
local n = #ARGV[1]
if not m[2] or string.sub(m[2], 1, n) ~= ARGV[1] then return 0 end
local T, v = tonumber(ARGV[3]), tonumber(string.sub(m[2], n + 2))
if v > T then return {2, v} end
if m[3] then -- for a fence that is not there stands hw
  local a, b = string.match(m[3], '^(%d+) ?(%d*)$')
  local f, w = tonumber(a), tonumber(b ~= '' and b or a)
  if f < T then
    redis.call('SET', KEYS[3], ARGV[3])
  elseif w < T then -- readers' tokens are ahead of it: the next one must be above T as well
    redis.call('SET', KEYS[3], a .. ' ' .. ARGV[3])
  end
end
if tonumber(hw) < T then
  redis.call('SET', KEYS[1], string.format('%s %s %s %s', run, floor, ARGV[3], maxttl))
end
return 1
