-- write.lua: one write to a guarded row, or one read that leaves its mark.
--
-- KEYS[1] row    hash {v value, s seq of that value, a highest token of anybody, w highest token of a writer}
-- KEYS[2] seq    last sequence number, one count over all rows
-- KEYS[3] log    stream, entry id = <seq>-0
-- ARGV[1] policy 'fenced' | 'unfenced' | 'accept-older'
-- ARGV[2] mode   'x' write | 'r' read
-- ARGV[3] fence  token of the lease, below 2^53, 0 for none
-- ARGV[4] row's name   [5] owner   [6] value   [7] base
-- reply {1 accepted | 0 rejected, seq given to this request, seq of the row's value before it}
--
-- A write needs a token no lower than anybody's and raises both marks; a read
-- needs one no lower than any writer's and raises the mark of anybody only, so
-- that readers do not reject each other.
local row = redis.call('HMGET', KEYS[1], 'a', 'w', 's')
local any, writer = tonumber(row[1] or '0'), tonumber(row[2] or '0')
local fence = tonumber(ARGV[3])
local reads = ARGV[2] == 'r'
local bar = any
if reads then bar = writer end

local accepted = 1
if ARGV[1] == 'fenced' and fence < bar then accepted = 0 end

local seq = redis.call('INCR', KEYS[2])
redis.call('XADD', KEYS[3], seq .. '-0', 'k', ARGV[4], 'o', ARGV[5], 'f', ARGV[3],
  'v', ARGV[6], 'b', ARGV[7], 'm', ARGV[2], 'a', accepted)
if accepted == 1 then
  if fence > any then redis.call('HSET', KEYS[1], 'a', ARGV[3]) end
  if not reads then
    if fence > writer then redis.call('HSET', KEYS[1], 'w', ARGV[3]) end
    redis.call('HSET', KEYS[1], 'v', ARGV[6], 's', seq)
  end
end
return {accepted, seq, tonumber(row[3] or '0')}
