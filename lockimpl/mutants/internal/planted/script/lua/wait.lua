-- wait.lua: as acquire.lua, for a client that queues: granted only to the
-- first live waiter; a refused one is queued.
-- KEYS[1..5] see acquire.lua   KEYS[6] tickets  KEYS[7] beats   see queue.lua
-- ARGV[1..4] see acquire.lua
-- ARGV[5] member  ARGV[6] ticket us  ARGV[7] patience ms
-- reply: as acquire.lua
-- include queue.lua
local m = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
if not m[1] then
  if redis.call('EXISTS', KEYS[1]) == 1 then return redis.error_reply('WRONGTYPE the node key holds something else') end
  return -2
end
local run, floor, hw, maxttl = string.match(m[1], '^(%S+) (%d+) (%d+) (%d+)$')
if not run then return redis.error_reply('WRONGTYPE the node key holds something else') end
if run ~= ARGV[3] then return -2 end
if tonumber(ARGV[2]) > tonumber(maxttl) then return {-3, tonumber(maxttl)} end
if m[4] then return -1 end
local t = redis.call('TIME')
local ms, us = t[1] * 1000 + math.floor(t[2] / 1000), math.min(t[1] * 1000000 + t[2], 2 ^ 52)
local patience = tonumber(ARGV[7])
if m[2] then
  local n = #ARGV[1]
  if string.sub(m[2], 1, n) == ARGV[1] then return tonumber(string.sub(m[2], n + 2)) end
  if m[2] ~= 'r' and not string.match(m[2], '^%S+ %d+$') then return redis.error_reply('WRONGTYPE the lock key holds something else') end
  enter(KEYS[6], KEYS[7], KEYS[5], ms, patience, ARGV[5], tonumber(ARGV[6]))
  return {0, left_of(KEYS[2], maxttl), m[2] == 'r' and 1 or 0}
end
enter(KEYS[6], KEYS[7], KEYS[5], ms, patience, ARGV[5], tonumber(ARGV[6]))
if next_waiter(KEYS[1], KEYS[6], KEYS[7], ms, patience, ARGV[5]) ~= ARGV[5] then return {0, 0, 2} end
local f = tonumber(hw) -- for a fence that is not there
if m[3] then
  local stored = string.match(m[3], '^(%d+) ?%d*$')
  if not stored then return redis.error_reply('WRONGTYPE the fence key holds something else') end
  f = math.max(tonumber(floor), tonumber(stored))
end
local hint = tonumber(ARGV[4])
if hint > f and hint <= us + 2000000 then f = hint end
local v = f + 1
local s = string.format('%.0f', v)
if m[3] then
  redis.call('SET', KEYS[3], s)
elseif not redis.call('SET', KEYS[3], s, 'NX') then
  return redis.error_reply('WRONGTYPE the fence key holds something else')
end
if v > tonumber(hw) then
  hw = hint > 0 and math.max(v, us + 50000) or v
  redis.call('SET', KEYS[1], string.format('%s %s %.0f %s', run, floor, hw, maxttl))
end
quit(KEYS[6], KEYS[7], ARGV[5])
-- The lock key comes last: a command that is refused before it leaves nothing taken.
if not redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. s, 'PX', ARGV[2], 'NX') then
  return redis.error_reply('WRONGTYPE the lock key holds something else')
end
return v
