-- release.lua: give the exclusive lock back on one node, and wake who waits.
-- KEYS[1] node  KEYS[2] lock  KEYS[3] fence  KEYS[4] tombstone  KEYS[5] flag
-- KEYS[6] tickets  KEYS[7] beats      see acquire.lua, queue.lua
-- ARGV[1] owner
-- ARGV[2] gossip   highest value this attempt saw (0 = nothing to tell)
-- ARGV[3] tombstone ms  how long to refuse a late copy of the acquire (0 = none)
-- ARGV[4] channel  prefix of the waiters' channels
-- ARGV[5] patience ms
-- reply: 1 deleted | 0 was not this attempt's
-- include queue.lua
local m = redis.call('MGET', KEYS[2], KEYS[5])
local mine = m[1] and string.sub(m[1], 1, #ARGV[1]) == ARGV[1]
if mine then
  redis.call('DEL', KEYS[2])
  if m[2] then wake(KEYS[6], KEYS[7], now_ms(), tonumber(ARGV[5]), ARGV[4]) end
end
local T = tonumber(ARGV[2])
if T > 0 then
  local n = redis.call('MGET', KEYS[1], KEYS[3])
  if n[1] then
    local f, w = string.match(n[2] or '', '^(%d+) ?(%d*)$')
    if f and tonumber(f) < T then
      redis.call('SET', KEYS[3], w ~= '' and (ARGV[2] .. ' ' .. w) or ARGV[2])
    end
    local run, floor, hw, maxttl = string.match(n[1], '^(%S+) (%d+) (%d+) (%d+)$')
    if tonumber(hw) < T then
      redis.call('SET', KEYS[1], string.format('%s %s %s %s', run, floor, ARGV[2], maxttl))
    end
  end
end
if ARGV[3] ~= '0' then leave_tombstone(KEYS[4], KEYS[5], ARGV[3]) end
return mine and 1 or 0
