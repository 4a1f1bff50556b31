-- acquire.lua: take the exclusive lock on one node and issue the node's token.
-- It does not queue, and a lock that somebody queues for is refused.
-- KEYS[1] node   string "run floor hw maxttl"                    no TTL
-- KEYS[2] lock   string "owner value", or "r" held by readers    PX lease
-- KEYS[3] fence  string "f", or "f w": highest value ever
--                stored, highest given to a writer, of all locks that share
--                this key; hw stands in for one that is not there no TTL
-- KEYS[4] tombstone   string, exists: this attempt was released
-- KEYS[5] flag   string, exists: somebody may be queued, or this attempt may
--                have been released; without it the next two and the tombstone are
--                not looked at
-- KEYS[6] tickets  KEYS[7] beats   see queue.lua
-- ARGV[1] owner  unique per attempt
-- ARGV[2] ttl    ms
-- ARGV[3] run    run id of the server, learned on this connection, or all of
--                the node's record as last seen, when
--                floor < proposal <= hw and ttl <= maxttl hold for it
-- ARGV[4] proposal  the token that is preferred (0 = none); it is ignored when
--                further ahead of this node's clock than 2 s
-- ARGV[5] patience ms; '' does not heed the queue (the owner's own repair)
-- reply: v > 0              granted with this node's value v
--        {v, record}        the same, and the node's record for the next time
--        -1                 this attempt was released here before
--        -2                 the node is not admitted
--        {-3, maxttl}       longer than the node was admitted for
--        {0, pttl, kind}    held by another: kind 0 writer, 1 readers, 2 queued for
local m = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[5])
if m[1] == ARGV[3] and m[3] and not m[2] and not m[4]
   and #m[3] == #ARGV[4] and m[3] < ARGV[4] then
  -- The record is as the client knows it, so that the proposal is above the
  -- floor, and it is above the fence (numbers of equal length compare as text).
  redis.call('SET', KEYS[3], ARGV[4])
  if redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. ARGV[4], 'PX', ARGV[2], 'NX') then
    return tonumber(ARGV[4])
  end
  return redis.error_reply('WRONGTYPE the lock key holds something else')
end
if not m[1] then
  if redis.call('EXISTS', KEYS[1]) == 1 then return redis.error_reply('WRONGTYPE the node key holds something else') end
  return -2
end
local run, floor, hw, maxttl = string.match(m[1], '^(%S+) (%d+) (%d+) (%d+)$')
if not run then return redis.error_reply('WRONGTYPE the node key holds something else') end
if run ~= string.match(ARGV[3], '^%S+') then return -2 end
if tonumber(ARGV[2]) > tonumber(maxttl) then return {-3, tonumber(maxttl)} end
if m[4] and redis.call('EXISTS', KEYS[4]) == 1 then return -1 end
if m[2] then
  local n = #ARGV[1]
  if string.sub(m[2], 1, n) == ARGV[1] then return tonumber(string.sub(m[2], n + 2)) end
  if m[2] ~= 'r' and not string.match(m[2], '^%S+ %d+$') then return redis.error_reply('WRONGTYPE the lock key holds something else') end
  local left = redis.call('PTTL', KEYS[2])
  if left > tonumber(maxttl) then -- given before this node's clock was set back: no lease is that long
    left = tonumber(maxttl)
    redis.call('PEXPIRE', KEYS[2], left)
  end
  return {0, left, m[2] == 'r' and 1 or 0}
end
if m[4] and ARGV[5] ~= '' then
-- include queue.lua
  if next_waiter(KEYS[1], KEYS[6], KEYS[7], now_ms(), tonumber(ARGV[5]), '') then return {0, 0, 2} end
end
floor, hw = tonumber(floor), tonumber(hw)
local f = hw
if m[3] then
  local stored = string.match(m[3], '^(%d+) ?%d*$')
  if not stored then return redis.error_reply('WRONGTYPE the fence key holds something else') end
  f = math.max(floor, tonumber(stored))
end
local hint, us = tonumber(ARGV[4]) - 1
if hint > f then
  if hint > hw then
    local t = redis.call('TIME')
    us = math.min(t[1] * 1000000 + t[2], 2 ^ 52)
  end
  if not us or hint <= us + 2000000 then f = hint end
end
local v = f + 1
local s = string.format('%.0f', v)
if m[3] then
  redis.call('SET', KEYS[3], s)
elseif not redis.call('SET', KEYS[3], s, 'NX') then
  return redis.error_reply('WRONGTYPE the fence key holds something else')
end
if v > hw then
  -- Where tokens follow clocks the high-water mark runs ahead of them, so that
  -- it is seldom written; only a little, since new fences begin above it.
  if hint > 0 and not us then
    local t = redis.call('TIME')
    us = math.min(t[1] * 1000000 + t[2], 2 ^ 52)
  end
  hw = hint > 0 and math.max(v, us + 50000) or v
  m[1] = string.format('%s %.0f %.0f %s', run, floor, hw, maxttl)
  redis.call('SET', KEYS[1], m[1])
end
if not redis.call('SET', KEYS[2], ARGV[1] .. ' ' .. s, 'PX', ARGV[2], 'NX') then
  return redis.error_reply('WRONGTYPE the lock key holds something else')
end
return {v, m[1]}
