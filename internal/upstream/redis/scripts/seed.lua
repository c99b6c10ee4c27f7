-- Replaces the entries of one process in a log by those that it remembers.
-- KEYS: the log
-- ARGV: the process (3 bytes), its ticks (6 bytes each, the oldest first), the largest limit,
--       the length of the longest window in ticks
local depth, longest = tonumber(ARGV[3]), tonumber(ARGV[4])
local old, mine = redis.call('GET', KEYS[1]) or '', ARGV[2]
local entries = {}
for i = 1, #old, 9 do
  if string.sub(old, i + 6, i + 8) ~= ARGV[1] then entries[#entries + 1] = string.sub(old, i, i + 8) end
end
for i = 1, #mine, 6 do
  entries[#entries + 1] = string.sub(mine, i, i + 5) .. ARGV[1]
end
-- Strings are compared by the server's locale, so ticks must be numbers.
table.sort(entries, function(a, b) return struct.unpack('>I6', a) < struct.unpack('>I6', b) end)
local first = math.max(1, #entries - depth + 1)
if #entries == 0 then return 0 end
local log = table.concat(entries, '', first)
redis.call('SET', KEYS[1], log, 'PX', math.ceil(longest / 100) + 1)
return #entries
