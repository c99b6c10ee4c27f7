-- Returns a stored value, or claims the query for it.
-- KEYS: the value, the claim
-- ARGV: the process, for how many ms the claim holds
-- Returns the value, or 1: claimed by this process, 0: claimed by another
local value = redis.call('GET', KEYS[1])
if value then return value end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
return 0
