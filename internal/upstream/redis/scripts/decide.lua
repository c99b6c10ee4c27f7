-- Decides about requests of some keys over all windows, and counts those that all windows accept.
-- The lines before this one name the generation and define limits, lengths (in ticks), longest,
-- depth and expiry (in ms, as a string: converting a number costs as much as a GET).
-- KEYS: the logs
-- ARGV: the process (3 bytes), then for each log how many requests; negative: only look. Without
--       these numbers it is one for each.
-- Returns one string, because every element of an array costs as much as a GET: the time in µs (8
-- bytes), and for each log that existed its number from 0, whether all windows accepted (1 or 0),
-- its length (4 bytes), and the log as it was before. What is left in each window is computed from
-- it by the one who asks, because this server has one core for all nodes.
--
-- A log begins with the tick at which its expiry was set. It expires after twice the longest
-- window, so it is written anew only once in that time, or when it is twice as long as needed.
local call, get, pack, process, single = redis.call, struct.unpack, struct.pack, ARGV[1], not ARGV[2]
local clock = redis.call('TIME')
local micros = clock[1] * 1000000 + clock[2]
local now = (micros - micros % 10) / 10
local stampNow = pack('>I6', now)
local entryNow = stampNow .. process
local firstNow = stampNow .. entryNow -- the log of a new key, which most have
local answer = {pack('>I8', micros)}
for k = 1, #KEYS do
  local key, size = KEYS[k], single and 1 or ARGV[k + 1] + 0
  local log, counts, allowed = call('GET', key), size > 0, true
  if not counts then size = -size end
  if not log then
    if counts then call('PSETEX', key, expiry, size == 1 and firstNow or stampNow .. string.rep(entryNow, size)) end
  else
    local bytes, tick, stamp = #log, now, stampNow
    local count, newest = (bytes - 6) / 9, get('>I6', log, bytes - 8)
    if newest > tick then tick, stamp = newest, pack('>I6', newest) end
    for i = 1, #limits do
      local decisive = limits[i] - size + 1 -- the request that must have left the window
      if count >= decisive and tick - get('>I6', log, bytes - decisive * 9 + 1) <= lengths[i] then allowed = false end
    end
    answer[#answer + 1] = pack('>BBI4', k - 1, allowed and 1 or 0, bytes) .. log
    if allowed and counts then
      local entries = string.rep(stamp .. process, size)
      if count < 2 * depth and tick - get('>I6', log, 1) <= longest then
        call('APPEND', key, entries)
      else
        local first = math.max(0, count + size - depth) -- of those that stay
        while first < count and tick - get('>I6', log, first * 9 + 7) > longest do first = first + 1 end
        call('PSETEX', key, expiry, stamp .. string.sub(log, first * 9 + 7) .. entries)
      end
    end
  end
end
return table.concat(answer)
