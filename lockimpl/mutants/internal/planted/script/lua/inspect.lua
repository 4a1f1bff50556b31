-- inspect.lua: who holds a lock on one node? It changes nothing.
-- KEYS[1] lock  KEYS[2] readers  KEYS[3] tickets      see acquire.lua, queue.lua
-- reply: {pttl, waiting, held, reader, ...}
--   pttl     ms that the lock key has left; below 0: nobody holds it
--   waiting  how many are queued
--   held     the lock key: "owner value", 'r' or ''
--   reader   up to three live readers' owners: the first by name, the same on every node
local held = redis.call('GET', KEYS[1]) or ''
local reply = {redis.call('PTTL', KEYS[1]), redis.call('ZCARD', KEYS[3]), held}
if held == 'r' then
  local t = redis.call('TIME')
  local ms = t[1] * 1000 + math.floor(t[2] / 1000)
  local readers = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. ms, '+inf')
  table.sort(readers)
  for i = 1, math.min(#readers, 3) do
    reply[#reply + 1] = readers[i]
  end
end
return reply
