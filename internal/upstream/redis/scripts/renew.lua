-- Records how many connections a process has.
-- KEYS: the connections by process, when each process's expire
-- ARGV: the process, the number, for how many µs it is valid
if ARGV[2] == '0' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  redis.call('ZREM', KEYS[2], ARGV[1])
  return 1
end
local clock = redis.call('TIME')
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[2], string.format('%.0f', clock[1] * 1000000 + clock[2] + ARGV[3]), ARGV[1])
return 1
