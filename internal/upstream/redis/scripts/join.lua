-- Announces a process and returns the time, the generation, whether it is ready, and all processes.
-- KEYS: the processes, the generation
-- ARGV: the process, for how many µs it is announced
local clock = redis.call('TIME')
local micros = clock[1] * 1000000 + clock[2]
redis.call('ZADD', KEYS[1], micros, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.0f', micros - ARGV[2]))
local state = redis.call('HMGET', KEYS[2], 'id', 'ready', 'server')
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if not state[1] or state[3] ~= server then state = {'', '0'} end
return {micros, state[1], state[2] or '0', redis.call('ZRANGE', KEYS[1], 0, -1)}
