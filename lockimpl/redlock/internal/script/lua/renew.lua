-- renew.lua: extend an exclusive lease on one node. It never shortens a lease
-- and never creates a key.
-- KEYS[1] node  KEYS[2] lock  KEYS[3] fence      see acquire.lua
-- ARGV[1] owner  ARGV[2] run  ARGV[3] ttl ms  ARGV[4] gossip: the token, or 0
-- reply: 1 extended | 0 no key here | 3 held by another | -2 not admitted
--        {-3, maxttl} longer than the node was admitted for
local m = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3])
if not m[1] then return -2 end
local run, floor, hw, maxttl = string.match(m[1], '^(%S+) (%d+) (%d+) (%d+)$')
if run ~= ARGV[2] then return -2 end
local ttl, T = tonumber(ARGV[3]), tonumber(ARGV[4])
if ttl > tonumber(maxttl) then return {-3, tonumber(maxttl)} end
local said = 1
if not m[2] then
  said = 0
elseif string.sub(m[2], 1, #ARGV[1]) ~= ARGV[1] then
  said = 3
elseif redis.call('PTTL', KEYS[2]) < ttl then -- before the gossip: a server that is out of memory refuses that as the first write
  redis.call('PEXPIRE', KEYS[2], ttl)
end
if T > 0 then
  local f, w = string.match(m[3] or '', '^(%d+) ?(%d*)$')
  if f and tonumber(f) < T then
    redis.call('SET', KEYS[3], w ~= '' and (ARGV[4] .. ' ' .. w) or ARGV[4])
  end
  if tonumber(hw) < T then
    redis.call('SET', KEYS[1], string.format('%s %s %s %s', run, floor, ARGV[4], maxttl))
  end
end
return said
