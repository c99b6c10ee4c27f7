-- Decides about requests of some keys over all windows, and counts those that all windows accept.
-- The lines before this one name the generation and define limits, lengths (in ticks), longest and
-- depth.
-- KEYS: the logs
-- ARGV: the process (3 bytes), then for each log how many requests; negative: only look
-- Returns for each log 24 bytes: allowed (1), tick (6), wait (6), window (1), remaining (4), reset
-- (6); times in µs.
--
-- A log begins with the tick at which its expiry was set. It expires after twice the longest
-- window, so it is written anew only once in that time, or when it is twice as long as needed.
local get, pack, max, floor = struct.unpack, struct.pack, math.max, math.floor
local clock = redis.call('TIME')
local micros = clock[1] * 1000000 + clock[2]
local answers = {}
for k = 1, #KEYS do
  local log, size = redis.call('GET', KEYS[k]), ARGV[k + 1] + 0
  local counts = size > 0
  if not counts then size = -size end
  local tick, count, wait = floor(micros / 10), 0, 0
  if log then
    count = (#log - 6) / 9
    tick = max(tick, (get('>I6', log, #log - 8)))
    for i = 1, #limits do
      local decisive = limits[i] - size + 1 -- the request that must have left the window
      if count >= decisive then
        local opens = get('>I6', log, (count - decisive) * 9 + 7) + lengths[i] + 1
        if tick < opens then wait = max(wait, opens * 10 - micros) end
      end
    end
  end

  if wait == 0 and counts then
    local entry = pack('>I6', tick) .. ARGV[1]
    if size > 1 then entry = string.rep(entry, size) end
    if log and count < 2 * depth and tick - get('>I6', log, 1) <= longest then
      redis.call('APPEND', KEYS[k], entry)
      log = log .. entry
    else
      local first = max(0, count + size - depth) -- of those that stay
      while first < count and tick - get('>I6', log, first * 9 + 7) > longest do first = first + 1 end
      log = pack('>I6', tick) .. (log and string.sub(log, first * 9 + 7) or '') .. entry
      count = count - first
      redis.call('SET', KEYS[k], log, 'PX', expiry)
    end
    count = count + size
  end

  local window, remaining, reset = 0, nil, 0
  for i = 1, #limits do
    local length, low = lengths[i], 0 -- how many are older than the window
    if count > 0 and tick - get('>I6', log, 7) > length then
      local high = count
      while low < high do
        local middle = floor((low + high) / 2)
        if tick - get('>I6', log, middle * 9 + 7) > length then low = middle + 1 else high = middle end
      end
    end
    local left, free = max(0, limits[i] - count + low), 0
    if low < count then free = (get('>I6', log, low * 9 + 7) + length + 1) * 10 - micros end
    if not remaining or left < remaining or (left == remaining and free > reset) then
      window, remaining, reset = i - 1, left, free
    end
  end
  answers[k] = pack('>I1I6I6I1I4I6', wait == 0 and 1 or 0, tick, wait, window, remaining, reset)
end
return table.concat(answers)
