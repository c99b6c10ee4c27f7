// Package quota counts requests in strict sliding windows, such as 30 a minute
// and 300 in six hours for one address.
//
// It promises that no span of a window's length, wherever it begins, holds more
// accepted requests than the window's limit; that a refused request counts in
// no window; and that the wait it names is the true one: a call after exactly
// that time is accepted if nobody else used the key meanwhile, and a call
// earlier is refused.
//
// # How it counts
//
// Counters and token buckets can't keep the first promise: a bucket of 30 that
// refills over a minute lets almost 60 through in that minute. So each key has
// a log of the times of its accepted requests, as long as the largest limit.
// One log serves all windows, and so a request that one window refuses is not
// spent in another: a window with limit n refuses while the n-th newest time in
// the log is still inside it.
//
// Times are whole ticks of 10 µs, rounded down. Two ticks that differ by
// exactly the window's length may stand for moments that are a little less than
// this apart. So a time is inside its window up to and including that
// difference, and the place opens one tick later. Rounding thus costs a caller
// at most one tick and never lets one through too many.
//
// In the log a tick keeps its low 32 bits, which is why a window may last at
// most eleven hours: 2^32 ticks are just short of twelve. The newest time of a
// key is kept in full, and all others are read as differences to it.
//
// # The clock
//
// Time is read when a call begins. It is measured from the limiter's start, and
// with time.Now on the monotonic clock, so that a corrected wall clock neither
// opens nor closes a window. Where the clock does go backwards, no time has
// passed for a key until the clock is again where the key last saw it, and the
// waits that are told include that.
//
// # Memory
//
// A key with one request costs about 80 bytes, one with 300 about 1.4 KiB. Keys
// that have been quiet for the longest window are forgotten by Sweep, which
// also gives the memory back.
//
// The number of keys is bounded, because whoever owns many networks could
// otherwise grow the memory at will. At the bound a new key takes the place of
// another one with few requests. Forgetting such a key gives away little,
// whereas forgetting a busy one would lift a limit that is just at work: an
// attacker could free a blocked address by flooding us from others.
//
// # What it refuses
//
// It does not know what a request is, whose address to count or which answers
// count. It shares nothing between processes. It remembers nothing over a
// restart. It logs nothing, because its keys are personal data.
package ratelimit
