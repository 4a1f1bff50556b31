-- read.lua: one read of a guarded row by who holds its lease and may change it.
--
-- KEYS[1] row    as in write.lua
-- ARGV[1] policy 'fenced' | 'unfenced' | 'accept-older'
-- ARGV[2] fence  token of the lease, below 2^53, 0 for none
-- reply {value, seq of that value}, as HMGET tells them
--
-- A fenced row notes the token: who changes what it has read must not find the late write
-- of an older holder in between.
local row = redis.call('HMGET', KEYS[1], 'v', 's', 'a')
if ARGV[1] == 'fenced' and tonumber(ARGV[2]) > tonumber(row[3] or '0') then
  redis.call('HSET', KEYS[1], 'a', ARGV[2])
end
return {row[1], row[2]}
