package redis

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

const (
	// maxBatch bounds the decisions of one call, and with them how long the server is busy.
	maxBatch = 64
	// A log has the tick of its expiry and its entries: a tick and the process.
	stampBytes, entryBytes = 6, 9
	// An answer has the time, and each known log after its number, the verdict and its length.
	timeBytes, logHeaderBytes = 8, 6
)

// batch collects the decisions that are requested while a call is in flight, and sends them with
// the next one. On a busy node that saves most of the cost of a call, on an idle one it changes
// nothing: whoever finds no call in flight sends at once, alone.
type batch struct {
	mu      sync.Mutex
	sending bool
	waiting []*request
}

// request is one decision. The one who asks waits for a turn: to send what is waiting, or to
// take the answer.
type request struct {
	key    string
	amount int
	count  bool // or only look

	decision ratelimit.Decision
	tick     int64
	err      error

	scratch
}

// scratch is what a request keeps when it is used again.
type scratch struct {
	turn            chan bool // whether to send
	group           []*request
	keys, arguments []string
}

// do returns when the request is answered. send answers some of them.
func (b *batch) do(r *request, send func([]*request)) {
	b.mu.Lock()
	if b.sending {
		if r.turn == nil {
			r.turn = make(chan bool, 1)
		}
		b.waiting = append(b.waiting, r)
		b.mu.Unlock()
		if sends := <-r.turn; !sends {
			return // another one has sent it
		}
	} else {
		b.sending = true
		b.mu.Unlock()
	}
	b.sendAll(r, send)
}

// sendAll sends a request with others that wait, and leaves the next call to the first of those
// that have come meanwhile. If the call failed, those fail as well: one after the other, they
// would wait for many timeouts.
func (b *batch) sendAll(first *request, send func([]*request)) {
	runtime.Gosched() // on a busy node, lets requests that have been read already come along
	b.mu.Lock()
	group := b.take(append(first.group[:0], first), maxBatch-1)
	b.mu.Unlock()
	send(group)
	var next *request
	b.mu.Lock()
	if first.err != nil {
		failed := len(group)
		group = b.take(group, len(b.waiting))
		for _, r := range group[failed:] {
			r.err = first.err
		}
	}
	if len(b.waiting) > 0 {
		next = b.take(nil, 1)[0]
	}
	b.sending = next != nil
	b.mu.Unlock()
	if next != nil {
		next.turn <- true
	}
	for _, r := range group[1:] {
		r.turn <- false
	}
	clear(group)
	first.group = group
}

// take moves at most so many of those that wait to a group.
func (b *batch) take(group []*request, most int) []*request {
	most = min(most, len(b.waiting))
	group = append(group, b.waiting[:most]...)
	b.waiting = slices.Delete(b.waiting, 0, most)
	return group
}

// send decides about some requests with one call.
func (l *limiterLog) send(requests []*request) {
	if err := l.call(requests); err != nil {
		for _, r := range requests {
			r.err = err
		}
	}
}

func (l *limiterLog) call(requests []*request) error {
	s, script := l.server, l.script.Load()
	if script == nil {
		return ratelimit.ErrUnseeded
	}
	client, err := s.connected()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), decideTimeout)
	defer cancel()
	first := requests[0]
	keys, arguments := first.keys[:0], append(first.arguments[:0], s.mark)
	for _, r := range requests {
		keys = append(keys, r.key)
	}
	if slices.ContainsFunc(requests, func(r *request) bool { return !r.count || r.amount != 1 }) {
		for _, r := range requests {
			arguments = append(arguments, r.argument())
		}
	}
	first.keys, first.arguments = keys, arguments
	answer, err := client.Do(ctx, client.B().Evalsha().Sha1(*script).Numkeys(int64(len(keys))).Key(keys...).Arg(arguments...).Build()).ToString()
	switch {
	case isNoScript(err):
		return ratelimit.ErrUnseeded
	case err != nil:
		return s.fault("decide", err)
	case !readAnswer(answer, requests, l.rules):
		return s.fault("decide", errors.New("the response does not fit the request"))
	}
	return nil
}

// argument is the number of requests for the script; negative means only look.
func (r *request) argument() string {
	if r.count {
		return strconv.Itoa(r.amount)
	}
	return strconv.Itoa(-r.amount)
}

// readAnswer answers requests. It reports whether the answer has the form and the verdicts that
// belong to them.
func readAnswer(answer string, requests []*request, rules ratelimit.LogRules) bool {
	if len(answer) < timeBytes {
		return false
	}
	micros, rest := int64(number(answer[:timeBytes])), answer[timeBytes:]
	for i, r := range requests {
		var log string
		accepted := true
		if len(rest) >= logHeaderBytes && int(rest[0]) == i {
			length := int(number(rest[2:logHeaderBytes]))
			accepted, rest = rest[1] == 1, rest[logHeaderBytes:]
			if length < stampBytes || length > len(rest) {
				return false
			}
			log, rest = rest[:length], rest[length:]
		}
		count := max(0, len(log)-stampBytes) / entryBytes
		r.decision, r.tick = rules.Decide(time.UnixMicro(micros), r.amount, r.count, count, func(n int) int64 {
			from := len(log) - n*entryBytes
			return int64(number(log[from : from+stampBytes]))
		})
		if r.decision.Allowed != accepted {
			return false
		}
	}
	return rest == ""
}

// number reads up to eight bytes.
func number(text string) (n uint64) {
	for _, b := range []byte(text) {
		n = n<<8 | uint64(b)
	}
	return n
}

// requests keeps their channels, which are empty once a request is answered, and slices.
var requests = sync.Pool{New: func() any { return &request{} }}

// Decide decides with one script.
func (l *limiterLog) Decide(key ratelimit.Key, n int, count bool) (ratelimit.Decision, int64, error) {
	hidden, tag := l.key(key)
	r, _ := requests.Get().(*request)
	*r = request{key: hidden, amount: n, count: count, scratch: r.scratch}
	l.batches[tag%l.server.batches()].do(r, l.send)
	decision, tick, err := r.decision, r.tick, r.err
	requests.Put(r)
	return decision, tick, err
}
