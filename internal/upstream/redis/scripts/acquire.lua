-- Acquires one of an account's connections for a process.
-- KEYS: the connections by process, when each process's expire, the generation
-- ARGV: the process, the limit of the account, the share of the process, the generation, for how
--       many µs it is valid
-- Returns 1 if it was acquired, 0 if not, -1 if the generation is another one.
local state = redis.call('HMGET', KEYS[3], 'id', 'ready')
if state[1] ~= ARGV[4] or state[2] ~= '1' then return -1 end
local clock = redis.call('TIME')
local micros = clock[1] * 1000000 + clock[2]
for _, process in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', micros))) do
  redis.call('HDEL', KEYS[1], process)
  redis.call('ZREM', KEYS[2], process)
end
local total = 0
for _, count in ipairs(redis.call('HVALS', KEYS[1])) do total = total + count end
local mine = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
if total >= tonumber(ARGV[2]) or mine >= tonumber(ARGV[3]) then return 0 end
redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('ZADD', KEYS[2], string.format('%.0f', micros + ARGV[5]), ARGV[1])
return 1
