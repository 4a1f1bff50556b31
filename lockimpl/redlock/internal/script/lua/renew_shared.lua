-- renew_shared.lua: as renew.lua, for a reader.
-- KEYS[1] node  KEYS[2] lock  KEYS[3] fence  KEYS[4] readers
-- ARGV[1] owner  ARGV[2] run  ARGV[3] ttl ms  ARGV[4] gossip: the token, or 0
-- reply: 1 extended | 0 not a live reader here | -2 | {-3, maxttl}
local m = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3])
if not m[1] then return -2 end
local run, floor, hw, maxttl = string.match(m[1], '^(%S+) (%d+) (%d+) (%d+)$')
if run ~= ARGV[2] then return -2 end
local ttl, T = tonumber(ARGV[3]), tonumber(ARGV[4])
if ttl > tonumber(maxttl) then return {-3, tonumber(maxttl)} end
local t = redis.call('TIME')
local ms = t[1] * 1000 + math.floor(t[2] / 1000)
-- A server that is out of memory refuses what may need some only as the first write of a
-- script, and this one never does.
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', ms)
if T > 0 then
  local a, b = string.match(m[3] or '', '^(%d+) ?(%d*)$')
  if a and tonumber(a) < T then redis.call('SET', KEYS[3], ARGV[4] .. ' ' .. (b ~= '' and b or a)) end
  if tonumber(hw) < T then
    redis.call('SET', KEYS[1], string.format('%s %s %s %s', run, floor, ARGV[4], maxttl))
  end
end
local e = m[2] == 'r' and redis.call('ZSCORE', KEYS[4], ARGV[1])
if not e or tonumber(e) <= ms then return 0 end
if tonumber(e) < ms + ttl then redis.call('ZADD', KEYS[4], ms + ttl, ARGV[1]) end
for i = 2, 4, 2 do
  if redis.call('PTTL', KEYS[i]) < ttl then redis.call('PEXPIRE', KEYS[i], ttl) end
end
return 1
