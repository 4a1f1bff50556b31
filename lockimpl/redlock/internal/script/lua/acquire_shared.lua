-- acquire_shared.lua: take a reader's lease on one node. Readers share a
-- generation: the value above the last writer's.
-- KEYS[1..5] see acquire.lua   KEYS[6] tickets  KEYS[7] beats   see queue.lua
-- KEYS[8] readers zset  member = owner, score = lease end in node ms
-- ARGV[1..4] see acquire.lua
-- ARGV[5] member ('' = does not queue)  ARGV[6] ticket us  ARGV[7] patience ms, '' as in acquire.lua
-- reply: {v, f}   granted with value v; f is the highest value stored here
--        otherwise as acquire.lua
-- include queue.lua
local m = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5])
if not m[1] then
  if redis.call('EXISTS', KEYS[1]) == 1 then return redis.error_reply('WRONGTYPE the node key holds something else') end
  return -2
end
local run, floor, hw, maxttl = string.match(m[1], '^(%S+) (%d+) (%d+) (%d+)$')
if not run then return redis.error_reply('WRONGTYPE the node key holds something else') end
if run ~= ARGV[3] then return -2 end
local ttl = tonumber(ARGV[2])
if ttl > tonumber(maxttl) then return {-3, tonumber(maxttl)} end
if m[4] then return -1 end
local t = redis.call('TIME')
local ms, us = t[1] * 1000 + math.floor(t[2] / 1000), math.min(t[1] * 1000000 + t[2], 2 ^ 52)
local patience = tonumber(ARGV[7])
floor, hw = tonumber(floor), tonumber(hw)
local f, w = hw, hw -- for a fence that is not there
if m[3] then
  local a, b = string.match(m[3], '^(%d+) ?(%d*)$')
  if not a then return redis.error_reply('WRONGTYPE the fence key holds something else') end
  f, w = tonumber(a), tonumber(b ~= '' and b or a)
end
f, w = math.max(f, floor), math.max(w, floor)
local queues = ARGV[5] ~= ''
if m[2] == 'r' then
  local e = redis.call('ZSCORE', KEYS[8], ARGV[1])
  if e and tonumber(e) > ms then return {w + 1, f} end
end
if m[2] and m[2] ~= 'r' then
  if not string.match(m[2], '^%S+ %d+$') then return redis.error_reply('WRONGTYPE the lock key holds something else') end
  if queues then enter(KEYS[6], KEYS[7], KEYS[5], ms, patience, ARGV[5], tonumber(ARGV[6])) end
  return {0, left_of(KEYS[2], maxttl), 0}
end
if queues then enter(KEYS[6], KEYS[7], KEYS[5], ms, patience, ARGV[5], tonumber(ARGV[6])) end
if m[5] and patience then
  -- A reader goes ahead only of readers: no live writer may be before it.
  local first = next_waiter(KEYS[1], KEYS[6], KEYS[7], ms, patience, ARGV[5])
  if first and not queues then return {0, 0, 2} end
  for _, member in ipairs(redis.call('ZRANGE', KEYS[6], 0, -1)) do
    if member == ARGV[5] then break end
    local beat = tonumber(redis.call('ZSCORE', KEYS[7], member) or '0')
    if string.sub(member, 1, 1) == 'x' and lives(member, beat, ms, patience) then return {0, 0, 2} end
  end
end
local hint = tonumber(ARGV[4])
if hint > us + 2000000 then hint = 0 end
f = math.max(f, w + 1, hint)
local s = string.format('%.0f %.0f', f, w)
if m[3] then
  redis.call('SET', KEYS[3], s)
elseif not redis.call('SET', KEYS[3], s, 'NX') then
  return redis.error_reply('WRONGTYPE the fence key holds something else')
end
if f > hw then
  hw = hint > 0 and math.max(f, us + 50000) or f
  redis.call('SET', KEYS[1], string.format('%s %.0f %.0f %s', run, floor, hw, maxttl))
end
if queues then quit(KEYS[6], KEYS[7], ARGV[5]) end
if not m[2] then redis.call('DEL', KEYS[8]) end
redis.call('ZADD', KEYS[8], ms + ttl, ARGV[1])
outlive(KEYS[8], ttl, ARGV[1])
-- The lock key comes last: a command that is refused before it leaves nothing taken.
if m[2] then
  if redis.call('PTTL', KEYS[2]) < ttl then redis.call('PEXPIRE', KEYS[2], ttl) end
elseif not redis.call('SET', KEYS[2], 'r', 'PX', ttl, 'NX') then
  return redis.error_reply('WRONGTYPE the lock key holds something else')
end
return {w + 1, f}
