-- Decides about requests of one key over all windows, and counts them if all accept.
-- KEYS: the log, the marker of its generation
-- ARGV: the generation, the process (3 bytes), how many requests, '1' to count them,
--       then limit and length in ticks of each window
-- Returns allowed, tick, wait, window, remaining, reset; times in µs. Empty: no such generation.
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return {} end
local clock = redis.call('TIME')
local micros = clock[1] * 1000000 + clock[2]
local log = redis.call('GET', KEYS[1]) or ''
local count, size = #log / 9, tonumber(ARGV[3])

local function nth(n) -- the tick of the n-th newest request
  return (struct.unpack('>I6', log, (count - n) * 9 + 1))
end

local tick = math.floor(micros / 10)
if count > 0 then tick = math.max(tick, nth(1)) end

local wait, longest, depth = 0, 0, 0
for i = 5, #ARGV, 2 do
  local limit, per = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
  longest, depth = math.max(longest, per), math.max(depth, limit)
  local decisive = limit - size + 1
  if count >= decisive then
    local hit = nth(decisive)
    if tick - hit <= per then wait = math.max(wait, (hit + per + 1) * 10 - micros) end
  end
end

if wait == 0 and ARGV[4] == '1' then
  local keep = math.min(count, depth - size)
  while keep > 0 and tick - nth(keep) > longest do keep = keep - 1 end
  log = string.sub(log, (count - keep) * 9 + 1) .. string.rep(struct.pack('>I6', tick) .. ARGV[2], size)
  count = keep + size
  redis.call('SET', KEYS[1], log, 'PX', math.ceil(longest / 100) + 1)
end

local window, remaining, reset = 0, nil, 0
for i = 5, #ARGV, 2 do
  local limit, per = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
  local low, high = 0, count
  while low < high do
    local middle = math.floor((low + high) / 2)
    if tick - nth(middle + 1) <= per then low = middle + 1 else high = middle end
  end
  local left, free = math.max(0, limit - low), 0
  if low > 0 then free = (nth(low) + per + 1) * 10 - micros end
  if not remaining or left < remaining or (left == remaining and free > reset) then
    window, remaining, reset = (i - 5) / 2, left, free
  end
end
return {wait == 0 and 1 or 0, tick, wait, window, remaining, reset}
