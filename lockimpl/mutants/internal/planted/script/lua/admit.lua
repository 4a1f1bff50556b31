-- admit.lua: let a node serve, with a floor no lower than every token issued.
-- KEYS[1] node  KEYS[2] quarantine      see hello.lua
-- ARGV[1] run  ARGV[2] ticket that hello.lua gave
-- ARGV[3] floor   highest mark of a quorum of other admitted nodes, all read
--                 after the quarantine was over (or the clock, when no quorum
--                 is admitted)
-- ARGV[4] maxttl  ms, the longest lease that this node will grant
-- ARGV[5] force   '1' skips the quarantine: brand-new set of nodes only
-- reply: 1 admitted | 0 refused (other run, other quarantine, or not over)
local m = redis.call('MGET', KEYS[1], KEYS[2])
if not m[2] then return 0 end
local qrun, id, till = string.match(m[2], '^(%S+) (%d+) (%d+)')
if qrun ~= ARGV[1] or ARGV[2] ~= qrun .. '/' .. id then return 0 end
local t = redis.call('TIME')
if ARGV[5] ~= '1' and t[1] * 1000 + math.floor(t[2] / 1000) < tonumber(till) then return 0 end
local _, floor, hw = string.match(m[1] or 'none 0 0 0', '^(%S+) (%d+) (%d+)')
local f = math.max(tonumber(ARGV[3]), tonumber(floor), tonumber(hw))
redis.call('SET', KEYS[1], string.format('%s %.0f %.0f %s', ARGV[1], f, f, ARGV[4]))
redis.call('DEL', KEYS[2])
return 1
