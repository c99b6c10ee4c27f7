// Package manners stands between us and the servers that we ask, so that no
// question of ours is a burden to them.
//
// A registry that is hammered bans the one who hammers, and then every name
// below it is unknown to us for hours. More than half of the extensions that we
// carry sit behind one host, so one search over all of them is enough to look
// like an attack. A Guard therefore holds four promises for each host, by its
// public name:
//
//   - Pace. No span of time w ever sees more than Burst + PerSecond·w questions
//     begin (the generic cell rate algorithm, see pace.go).
//   - Room. At most MaxConcurrent questions are under way, and at most
//     MaxWaiting wait for their turn, first come, first served. One more is
//     refused at once, and so is one whose turn would come too late to be of
//     use: a caller that hears "busy" now can ask another source, a caller in a
//     queue without end can't.
//   - Obedience. A host that says Retry-After is left alone for that long (ten
//     minutes at most); one that says "slow down" three times in a row without
//     saying how long, for two seconds, then four, up to a minute.
//   - Mercy. A host of whose last calls half or more failed is left alone for
//     ten seconds, then asked one question. If that fails too, the rest doubles,
//     up to two minutes (see breaker.go).
//
// The trouble of one host is never another's. Waiting costs the caller's time
// and not the question's: the question's own time-out starts when its turn has
// come.
//
// The package refuses to retry, to reorder and to guess. It starts no
// goroutine: whoever waits, waits in the caller's own and leaves with the
// caller's context. It keeps at most MaxHosts hosts in mind and forgets those
// that are idle.
package hostlimit
