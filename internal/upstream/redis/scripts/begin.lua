-- Begins a generation after the given one, unless another process has, and returns the current one.
-- KEYS: the generation
-- ARGV: the generation to replace, the new one
local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local state = redis.call('HMGET', KEYS[1], 'id', 'server')
if state[1] and state[1] ~= ARGV[1] and state[2] == server then return state[1] end
local clock = redis.call('TIME')
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'id', ARGV[2], 'server', server, 'begun', clock[1] * 1000000 + clock[2], 'ready', '0')
return ARGV[2]
