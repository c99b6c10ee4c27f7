package redis

import (
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

const (
	// maxBatch bounds the decisions of one call, and with them how long the server is busy.
	maxBatch = 64
	// answerBytes is the length of one answer of the script.
	answerBytes = 24
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
	amount string // negative: only look
	turn   chan []*request

	decision ratelimit.Decision
	tick     int64
	err      error
}

// do returns when the request is answered. send answers some of them.
func (b *batch) do(r *request, send func([]*request)) {
	b.mu.Lock()
	if b.sending {
		r.turn = make(chan []*request, 1)
		b.waiting = append(b.waiting, r)
		b.mu.Unlock()
		mine := <-r.turn
		if mine == nil {
			return // another one has sent it
		}
		b.sendAll(mine, send)
		return
	}
	b.sending = true
	b.mu.Unlock()
	b.sendAll([]*request{r}, send)
}

// sendAll sends requests, of which the first is the caller's, and hands the next ones to the
// first of those that have come meanwhile. If the call failed, those fail as well: one after the
// other, they would wait for many timeouts.
func (b *batch) sendAll(mine []*request, send func([]*request)) {
	send(mine)
	answered := mine[1:]
	b.mu.Lock()
	var next []*request
	switch err := mine[0].err; {
	case len(b.waiting) == 0:
		b.sending = false
	case err != nil:
		for _, r := range b.waiting {
			r.err = err
		}
		answered = slices.Concat(answered, b.waiting)
		b.waiting, b.sending = nil, false
	default:
		next = b.waiting[:min(maxBatch, len(b.waiting))]
		b.waiting = slices.Clone(b.waiting[len(next):])
	}
	b.mu.Unlock()
	if next != nil {
		next[0].turn <- next
	}
	for _, r := range answered {
		r.turn <- nil
	}
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
	keys, arguments := make([]string, len(requests)), make([]string, len(requests)+1)
	arguments[0] = s.mark
	for i, r := range requests {
		keys[i], arguments[i+1] = r.key, r.amount
	}
	answers, err := client.Do(ctx, client.B().Evalsha().Sha1(*script).Numkeys(int64(len(keys))).Key(keys...).Arg(arguments...).Build()).ToString()
	switch {
	case isNoScript(err):
		return ratelimit.ErrUnseeded
	case err != nil:
		return s.fault("decide", err)
	case len(answers) != answerBytes*len(requests):
		return registrar.Fault(registrar.FaultBroken, s.target, nil)
	}
	for i, r := range requests {
		r.read(answers[i*answerBytes:])
	}
	return nil
}

// read takes the answer of the script.
func (r *request) read(answer string) {
	number := func(from, length int) int64 {
		var bytes [8]byte
		copy(bytes[8-length:], answer[from:from+length])
		return int64(binary.BigEndian.Uint64(bytes[:]))
	}
	r.tick = number(1, 6)
	r.decision = ratelimit.Decision{
		Allowed: answer[0] == 1, RetryAfter: micros(number(7, 6)), Window: int(answer[13]), Remaining: int(number(14, 4)), Reset: micros(number(18, 6)),
	}
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// Decide decides with one script.
func (l *limiterLog) Decide(key ratelimit.Key, n int, count bool) (ratelimit.Decision, int64, error) {
	if !count {
		n = -n
	}
	hidden, tag := l.key(key)
	r := &request{key: hidden, amount: strconv.Itoa(n)}
	l.batches[tag%l.server.batches()].do(r, l.send)
	return r.decision, r.tick, r.err
}
