-- floor.lua: raise the floor of an admitted node: always safe, and it keeps
-- nodes in agreement after one of them was seeded.
-- KEYS[1] node  ARGV[1] run  ARGV[2] floor
-- reply: 1 raised, or was high enough | 0 not admitted
local m = redis.call('GET', KEYS[1])
if not m then return 0 end
local run, floor, hw, maxttl = string.match(m, '^(%S+) (%d+) (%d+) (%d+)$')
if run ~= ARGV[1] then return 0 end
local f = tonumber(ARGV[2])
if tonumber(floor) >= f then return 1 end
hw = math.max(tonumber(hw), f)
redis.call('SET', KEYS[1], string.format('%s %s %.0f %s', run, ARGV[2], hw, maxttl))
return 1
