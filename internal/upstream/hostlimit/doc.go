// Package hostlimit protects upstream servers from too many calls.
//
// A registry that is overloaded bans the client, and then every name below it is
// unknown for hours. More than half of the supported TLDs are behind one host, so
// a single search over all of them looks like an attack. A Limiter therefore
// enforces four rules for each host, identified by its public name:
//
//   - Rate. No period w sees more than Burst + PerSecond·w calls begin (the generic
//     cell rate algorithm, see rate.go).
//   - Capacity. At most MaxConcurrent calls are in flight, and at most MaxWaiting
//     wait in FIFO order. Further calls are refused at once, and so are calls whose
//     turn would come too late: the caller can try another source instead.
//   - Throttling. A host that sends Retry-After is paused for that long (ten
//     minutes at most). One that throttles three times in a row without a
//     Retry-After is paused for two seconds, then four, up to a minute.
//   - Circuit breaker. A host that fails half or more of its recent calls is paused
//     for ten seconds, then gets a trial call. If that fails too, the pause doubles,
//     up to two minutes (see breaker.go).
//
// Hosts do not affect each other. Waiting counts against the caller's deadline but
// not against the call's own timeout, which starts when the call begins.
//
// The package never retries or reorders calls and starts no goroutines: calls wait
// in the caller's goroutine and end with its context. It tracks at most MaxHosts
// hosts and evicts idle ones.
package hostlimit
