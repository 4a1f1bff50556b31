-- keep.lua: keep the places of several waiting writers of one client, as each would by asking.
-- KEYS[1] node  KEYS[2] lock  KEYS[3] flag  KEYS[4] tickets  KEYS[5] beats    see acquire.lua, queue.lua
-- ARGV[1] run  ARGV[2] patience ms
-- ARGV[3] ahead  how many of the client's waiters for the lock are kept before these
-- ARGV[4…] member, ticket us and ttl ms of each, in their order
-- reply: {0, member}  who may have the lock now, or ''
--        -2           the node is not admitted
-- include queue.lua
local m = redis.call('MGET', KEYS[1], KEYS[2])
local run, maxttl = string.match(m[1] or '', '^(%S+) %d+ %d+ (%d+)$')
if run ~= ARGV[1] then return -2 end
local ms, patience, ahead = now_ms(), tonumber(ARGV[2]), tonumber(ARGV[3])
local places, signs, members = {}, {}, {}
for i = 4, #ARGV, 3 do
  if tonumber(ARGV[i + 2]) <= tonumber(maxttl) then
    -- Those who lost old places get new ones in the order of the old.
    local n = #places
    places[n + 1], places[n + 2] = within(tonumber(ARGV[i + 1]), ms, ahead + n / 2), ARGV[i]
    signs[n + 1], signs[n + 2] = ms + patience, ARGV[i]
    members[n / 2 + 1] = ARGV[i]
  end
end
if #places > 0 then
  rise(KEYS[3], patience)
  redis.call('ZADD', KEYS[4], 'NX', unpack(places))
  outlive(KEYS[4], 2 * patience, unpack(members))
  redis.call('ZADD', KEYS[5], unpack(signs))
  outlive(KEYS[5], 2 * patience, unpack(members))
end
return {0, not m[2] and next_waiter(KEYS[1], KEYS[4], KEYS[5], ms, patience, '') or ''}
