-- limit.lua: let an admitted node grant longer leases. It never lowers the limit.
-- KEYS[1] node  string "run floor hw maxttl"
-- ARGV[1] run  ARGV[2] maxttl ms
-- reply: 1 it grants that long | -2 not admitted
local m = redis.call('GET', KEYS[1])
if not m then return -2 end
local run, floor, hw, maxttl = string.match(m, '^(%S+) (%d+) (%d+) (%d+)$')
if run ~= ARGV[1] then return -2 end
if tonumber(maxttl) < tonumber(ARGV[2]) then
  redis.call('SET', KEYS[1], string.format('%s %s %s %s', run, floor, hw, ARGV[2]))
end
return 1
