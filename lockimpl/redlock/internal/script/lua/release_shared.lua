-- release_shared.lua: give a reader's lease back on one node. When the last
-- reader leaves, the lock key goes and the first waiter is woken; otherwise
-- the lock key lives as long as the longest lease that is left.
-- KEYS[1..7] see release.lua   KEYS[8] readers
-- ARGV       see release.lua
-- reply: 1 removed | 0 was not a reader here
-- include queue.lua
local mine = redis.call('ZREM', KEYS[8], ARGV[1]) == 1
local held = redis.call('GET', KEYS[2])
if mine and held == 'r' then
  local ms = now_ms()
  redis.call('ZREMRANGEBYSCORE', KEYS[8], '-inf', ms)
  local last = redis.call('ZRANGE', KEYS[8], -1, -1, 'WITHSCORES')
  if last[2] then
    redis.call('PEXPIRE', KEYS[2], tonumber(last[2]) - ms)
    redis.call('PEXPIRE', KEYS[8], tonumber(last[2]) - ms)
  else
    redis.call('DEL', KEYS[2])
    wake(KEYS[6], KEYS[7], ms, tonumber(ARGV[5]), ARGV[4])
  end
end
local T = tonumber(ARGV[2])
if T > 0 then
  local n = redis.call('MGET', KEYS[1], KEYS[3])
  if n[1] then
    local a, b = string.match(n[2] or '', '^(%d+) ?(%d*)$')
    if a and tonumber(a) < T then redis.call('SET', KEYS[3], ARGV[2] .. ' ' .. (b ~= '' and b or a)) end
    local run, floor, hw, maxttl = string.match(n[1], '^(%S+) (%d+) (%d+) (%d+)$')
    if tonumber(hw) < T then
      redis.call('SET', KEYS[1], string.format('%s %s %s %s', run, floor, ARGV[2], maxttl))
    end
  end
end
if ARGV[3] ~= '0' then leave_tombstone(KEYS[4], KEYS[5], ARGV[3]) end
return mine and 1 or 0
