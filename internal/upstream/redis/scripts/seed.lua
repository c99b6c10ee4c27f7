-- Replaces the entries of one process in a log by those that it remembers.
-- KEYS: the log
-- ARGV: the process (3 bytes), its ticks (6 bytes each, the oldest first), the largest limit, for
--       how many ms the log is kept
local old, mine, depth = redis.call('GET', KEYS[1]) or '', ARGV[2], tonumber(ARGV[3])
local entries = {}
for i = 7, #old, 9 do
  if string.sub(old, i + 6, i + 8) ~= ARGV[1] then entries[#entries + 1] = string.sub(old, i, i + 8) end
end
for i = 1, #mine, 6 do
  entries[#entries + 1] = string.sub(mine, i, i + 5) .. ARGV[1]
end
if #entries == 0 then return 0 end
-- Strings are compared by the server's locale, so ticks must be numbers.
table.sort(entries, function(a, b) return struct.unpack('>I6', a) < struct.unpack('>I6', b) end)
local clock = redis.call('TIME')
local log = struct.pack('>I6', math.floor((clock[1] * 1000000 + clock[2]) / 10))
  .. table.concat(entries, '', math.max(1, #entries - depth + 1))
redis.call('SET', KEYS[1], log, 'PX', ARGV[4])
return #entries
