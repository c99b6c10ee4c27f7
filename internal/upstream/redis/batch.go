package redis

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

const (
	// maxBatch bounds the decisions of one call, and with them how long the server is busy.
	maxBatch = 64
	// A log has the tick of its expiry and its entries: a tick and the process.
	stampBytes, entryBytes = 6, 9
	// refusedMark begins the log of a key that a window refused. No log begins with it by itself:
	// the first byte of a tick of this century is at least 0x56.
	refusedMark = "!"
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
	turn   chan []*request

	decision ratelimit.Decision
	tick     int64
	err      error
}

// argument is the number of requests for the script; negative means only look.
func (r *request) argument() string {
	if r.count {
		return strconv.Itoa(r.amount)
	}
	return strconv.Itoa(-r.amount)
}

// do returns when the request is answered. send answers some of them.
func (b *batch) do(r *request, send func([]*request)) {
	b.mu.Lock()
	if b.sending {
		if r.turn == nil {
			r.turn = make(chan []*request, 1)
		}
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
	runtime.Gosched() // on a busy node, lets requests that have been read already come along
	b.mu.Lock()
	mine = append(mine, b.take(maxBatch-len(mine))...)
	b.mu.Unlock()
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
		next = b.take(maxBatch)
	}
	b.mu.Unlock()
	if next != nil {
		next[0].turn <- next
	}
	for _, r := range answered {
		r.turn <- nil
	}
}

// take removes at most so many of those that wait.
func (b *batch) take(most int) []*request {
	taken := slices.Clip(b.waiting[:min(most, len(b.waiting))])
	b.waiting = slices.Clone(b.waiting[len(taken):])
	return taken
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
		keys[i], arguments[i+1] = r.key, r.argument()
	}
	answers, err := client.Do(ctx, client.B().Evalsha().Sha1(*script).Numkeys(int64(len(keys))).Key(keys...).Arg(arguments...).Build()).ToArray()
	switch {
	case isNoScript(err):
		return ratelimit.ErrUnseeded
	case err != nil:
		return s.fault("decide", err)
	case len(answers) != 1+len(requests):
		return s.brokenAnswer()
	}
	now, err := answers[0].AsInt64()
	if err != nil {
		return s.brokenAnswer()
	}
	for i, r := range requests {
		if !r.read(answers[i+1], now, l.rules) {
			return s.brokenAnswer()
		}
	}
	return nil
}

func (s *Server) brokenAnswer() error {
	return s.fault("decide", errors.New("the response does not fit the request"))
}

// read takes the log as it was before, and the server's verdict. They must agree.
func (r *request) read(answer rueidis.RedisMessage, now int64, rules ratelimit.LogRules) bool {
	log, err := answer.ToString()
	if err != nil {
		return false
	}
	log, refused := strings.CutPrefix(log, refusedMark)
	count := max(0, len(log)-stampBytes) / entryBytes
	r.decision, r.tick = rules.Decide(time.UnixMicro(now), r.amount, r.count, count, func(n int) int64 { return tickAt(log, len(log)-n*entryBytes) })
	return r.decision.Allowed != refused
}

func tickAt(log string, from int) int64 {
	var bytes [8]byte
	copy(bytes[8-stampBytes:], log[from:from+stampBytes])
	return int64(binary.BigEndian.Uint64(bytes[:]))
}

// requests keeps their channels, which are empty once a request is answered.
var requests = sync.Pool{New: func() any { return &request{} }}

// Decide decides with one script.
func (l *limiterLog) Decide(key ratelimit.Key, n int, count bool) (ratelimit.Decision, int64, error) {
	hidden, tag := l.key(key)
	r, _ := requests.Get().(*request)
	*r = request{key: hidden, amount: n, count: count, turn: r.turn}
	l.batches[tag%l.server.batches()].do(r, l.send)
	decision, tick, err := r.decision, r.tick, r.err
	requests.Put(r)
	return decision, tick, err
}
