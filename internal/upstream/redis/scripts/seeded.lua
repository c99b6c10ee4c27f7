-- Records that a process has seeded a generation.
-- KEYS: the processes, the generation
-- ARGV: the generation, the process, how many µs the others have, the processes known to this one
-- Returns 0: others are missing, 1: the generation is ready, -1: it is no longer the current one.
local state = redis.call('HMGET', KEYS[2], 'id', 'begun', 'ready')
if state[1] ~= ARGV[1] then return -1 end
if state[3] == '1' then return 1 end
redis.call('HSET', KEYS[2], 'seeded:' .. ARGV[2], '1')
local clock = redis.call('TIME')
if clock[1] * 1000000 + clock[2] - state[2] < tonumber(ARGV[3]) then
  local expected = redis.call('ZRANGE', KEYS[1], 0, -1)
  for i = 4, #ARGV do expected[#expected + 1] = ARGV[i] end
  for _, process in ipairs(expected) do
    if redis.call('HEXISTS', KEYS[2], 'seeded:' .. process) == 0 then return 0 end
  end
end
redis.call('HSET', KEYS[2], 'ready', '1')
return 1
