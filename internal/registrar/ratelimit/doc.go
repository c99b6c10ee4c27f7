// Package ratelimit counts requests in strict sliding windows, such as 30 a minute and 300
// in six hours for one address.
//
// It guarantees that no span of a window's length, wherever it begins, contains more
// accepted requests than the window's limit; that a refused request counts in no window;
// and that RetryAfter is exact: without other requests for the key, a call after exactly
// that time is accepted and an earlier one is refused.
//
// # Algorithm
//
// Counters and token buckets can't give the first guarantee: a bucket of 30 that refills
// over a minute lets almost 60 through in that minute. So each key has a log of the times
// of its accepted requests, as long as the largest limit. One log serves all windows, so a
// request that one window refuses is not counted in another: a window with limit n refuses
// while the n-th newest time in the log is inside it.
//
// Times are whole ticks of 10 µs, rounded down. Two ticks exactly one window apart may
// represent moments slightly closer than that, so a time is inside its window up to and
// including that difference, and capacity is free one tick later. Rounding thus costs a
// caller at most one tick and never admits one too many.
//
// The log stores the low 32 bits of a tick, which limits a window to eleven hours: 2^32
// ticks are just short of twelve. The newest time of a key is stored in full, and all
// others are read as differences to it.
//
// # The clock
//
// Time is read when a call begins and measured from the limiter's start. With time.Now it
// is monotonic, so a corrected wall clock neither opens nor closes a window. If the clock
// does go backwards, no time passes for a key until the clock reaches the key's last time
// again, and RetryAfter includes that.
//
// # Memory
//
// A key with one request takes about 55 bytes, one with 300 about 1.4 KiB. Sweep removes
// keys that have been idle for the longest window and frees their memory.
//
// The number of keys is bounded, because a client with many networks could otherwise grow
// the memory at will. At the bound a new key replaces one with few requests. Removing such
// a key gives away little, whereas removing a busy one would lift an active limit: an
// attacker could unblock an address by flooding from others.
//
// # Many nodes
//
// With a Shared, a server that all nodes can reach keeps the logs and decides with its own
// clock, and the guarantees above hold over all nodes. Each process also remembers what it has
// accepted itself, because the server may lose its logs:
//
//	STATE     WHO DECIDES                                     UNTIL
//	online    the server                                      a call fails, or it has lost logs
//	offline   the process, within its share of each limit     the server answers
//	seeding   the process, as before; it sends the server     the server has all of it, and that
//	          what it has accepted                            of the other processes
//
// The shares of all processes that were last seen add up to the limit. So a window that touches
// an outage has less than twice the limit: at most the limit counted before by the server, and
// the shares. A process that alone loses the server counts within its share as well, while the
// others go on with the server. A process that starts is offline; it waits for the server before
// its first request (AwaitFirst), because its share would come on top of what the others admit.
//
// The same key is decided by a process alone and by the server only in this order: no decision
// is in flight when seeding begins, and none when the server takes over.
//
// # Out of scope
//
// The package does not decide which requests or addresses count. Without a Shared, state is
// neither shared between processes nor kept across restarts. Keys are never logged, because they
// are personal data.
package ratelimit
