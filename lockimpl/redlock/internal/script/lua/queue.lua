-- queue.lua (a part of other scripts): who waits for a lock on this node.
-- tickets zset  member "x:client:n~patience" (writer) or "s:client:n~patience"
--               (reader), score = ticket: earlier comes first
-- beats   zset  the same members, score = node ms until which the waiter
--               counts as alive; every try of a waiter renews it
-- flag    string, exists while there may be waiters or tombstones: it spares everybody
--               else from looking
-- A beat further ahead than its member's own patience (ms; clients may differ)
-- was written under another clock: dead.

-- lives reports whether a member with that beat is alive.
local function lives(member, beat, ms, patience)
  local own = string.match(member, '~(%d+)$')
  return beat > ms and beat <= ms + (own and tonumber(own) or patience)
end

-- first_waiter returns the first live member, dropping dead ones before it, and whether
-- there were any.
local function first_waiter(tickets, beats, ms, patience)
  local dropped = false
  while true do
    local head = redis.call('ZRANGE', tickets, 0, 0)[1]
    if not head then return nil, dropped end
    local beat = tonumber(redis.call('ZSCORE', beats, head) or '0')
    if lives(head, beat, ms, patience) then return head, dropped end
    redis.call('ZREM', tickets, head)
    redis.call('ZREM', beats, head)
    dropped = true
  end
end

-- wake tells the first waiter, or all readers before the first live writer, that
-- the lock may be had. Each client listens on a channel of its own.
local function wake(tickets, beats, ms, patience, channel)
  local head = first_waiter(tickets, beats, ms, patience)
  if not head then return end
  local function tell(member)
    -- A client that may not publish has released all the same; waiters ask again.
    redis.pcall('PUBLISH', channel .. string.match(member, '^.:(.-):'), member)
  end
  if string.sub(head, 1, 1) == 'x' then return tell(head) end
  for _, member in ipairs(redis.call('ZRANGE', tickets, 0, -1)) do
    if string.sub(member, 1, 1) ~= 'x' then
      tell(member)
    elseif lives(member, tonumber(redis.call('ZSCORE', beats, member) or '0'), ms, patience) then
      return
    end
  end
end

-- next_waiter is first_waiter for member, or for one that is not queued, who finds that the
-- lock may be had. Where it drops the dead it wakes those behind them: whoever let the lock go
-- woke the dead alone. The channels' prefix is that of the node key.
local function next_waiter(node, tickets, beats, ms, patience, member)
  local head, dropped = first_waiter(tickets, beats, ms, patience)
  if dropped and head and (head ~= member or string.sub(head, 1, 1) ~= 'x') then
    wake(tickets, beats, ms, patience, string.sub(node, 1, -5) .. 'wake:')
  end
  return head
end

-- within moves a ticket that is further than a second from this node's clock to that
-- bound, behind so many others who are moved there with it.
local function within(ticket, ms, ahead)
  return math.min(math.max(ticket, ms * 1000 - 1000000 + ahead), ms * 1000 + 1000000 + ahead)
end

-- outlive has a set last for ms at least. Where the server refuses that, those go who have
-- just come: nothing of a refused script may count, and nothing may stay for ever.
local function outlive(set, ms, ...)
  local left = redis.pcall('PTTL', set)
  if type(left) == 'number' then
    if left >= ms then return end
    left = redis.pcall('PEXPIRE', set, ms)
  end
  if type(left) == 'number' then return end
  redis.call('ZREM', set, ...)
  redis.call('PTTL', set)
  redis.call('PEXPIRE', set, ms)
end

-- rise marks that there are waiters, or tombstones, for ms at least.
local function rise(flag, ms)
  if redis.call('PTTL', flag) < tonumber(ms) then redis.call('SET', flag, '1', 'PX', ms) end
end

-- enter queues a waiter, or renews its beat. The queue outlives its waiters.
local function enter(tickets, beats, flag, ms, patience, member, ticket)
  rise(flag, patience)
  redis.call('ZADD', tickets, 'NX', within(ticket, ms, 0), member)
  outlive(tickets, 2 * patience, member)
  redis.call('ZADD', beats, ms + patience, member)
  outlive(beats, 2 * patience, member)
end

-- quit takes a waiter out of the queue. The flag, which others may rest on,
-- expires by itself.
local function quit(tickets, beats, member)
  redis.call('ZREM', tickets, member)
  redis.call('ZREM', beats, member)
end

-- leave_tombstone refuses late copies of an attempt for a while.
local function leave_tombstone(tombstone, flag, ms)
  redis.call('SET', tombstone, '1', 'PX', ms)
  rise(flag, ms)
end

-- left_of returns how many ms the lock key has left. No lease is longer than maxttl:
-- one that seems to be was given before this node's clock was set back, and is shortened.
local function left_of(lock, maxttl)
  local left = redis.call('PTTL', lock)
  if left <= tonumber(maxttl) then return left end
  redis.call('PEXPIRE', lock, maxttl)
  return tonumber(maxttl)
end

local function now_ms()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
