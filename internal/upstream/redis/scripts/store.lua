-- Stores a value, or none, and ends this process's claim to the query for it.
-- KEYS: the value, the claim
-- ARGV: the process, the value, for how many ms it is kept
if ARGV[2] ~= '' then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
return 1
