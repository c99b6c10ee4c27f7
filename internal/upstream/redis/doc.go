// Package redis connects nodes by a Valkey or Redis server: it counts rate limits over all
// nodes, and keeps the answers to lookups for all of them.
//
// # What is stored
//
//	KEY                          VALUE                                         EXPIRES
//	dk:{TAG}:l:HMAC              the log of one key of one limiter             after twice the longest window
//	dk:{cluster}:nodes           the processes and when they last joined       after 5 s without one
//	dk:{cluster}:generation      the current generation, who has seeded it     never
//	dk:{TAG}:c:HMAC              a cached answer, sealed                       with the answer
//	dk:{TAG}:q:HMAC              the process that is querying for it           after two seconds
//
// HMAC is 16 bytes of an HMAC-SHA256 with a key from the database, so the server learns no
// address, token, mail address or searched name. TAG is one of 16 hash tags: a script's keys
// are in one slot of a cluster, and the logs are spread over all of them.
//
// A log is a string of 9 bytes per accepted request: its time in ticks of 10 µs since 1970 by
// the server's clock, in 6 bytes that last until 2059, and 3 bytes that identify the process
// that accepted it. A key with 300 requests takes 2.7 to 5.4 kB. One script reads the log,
// decides over all windows and appends to it, as hits.go of package ratelimit does in memory.
// It returns the log as it was, from which ratelimit.LogRules computes what is left in which
// window: the server is one thread for all nodes, so it does only what must be atomic. Both must
// come to the same verdict. Decisions that are requested while a call is in flight share the next
// one.
//
// # Generations
//
// A server that restarts or fails over has lost logs, perhaps only the last second of them.
// Deciding on what is left would accept too many requests. So the scripts that decide name a
// generation, which makes them unknown to a server process that was not there when it began,
// and a new one begins:
//
//  1. A process whose script is unknown, or that sees with its next Join, within a second, that
//     the server process is another one, begins a generation.
//  2. Every process replaces its own entries in all logs by those that it remembers.
//  3. When all processes that were known have done so, or ten seconds have passed, they load
//     the scripts of the new generation, and decisions are shared again.
//
// Until then every process counts on its own, within its share of the limits.
package redis
