package epp

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

// batches merges availability queries into check commands.
type batches struct {
	client *Client

	mu sync.Mutex
	// open holds the batches that still accept names, by what is queried.
	open map[batchKey]*batch
	// isolated are names that are sent alone until the given time.
	isolated isolation
}

// batchKey is what the names of one batch have in common.
type batchKey struct {
	priority Priority
	fee      FeeCommand
	alone    string // the only name of the batch; empty if it is shared
}

// batch is a check command under construction. The lock of batches guards it until
// a connection takes it; after that it is immutable.
type batch struct {
	key   batchKey
	names []string
	seen  map[string]bool
	trid  string
	// waiters counts the callers that wait for the result.
	waiters   int
	submitted bool // handed to the pool
	noted     bool // its failure is in isolated

	job     *job
	done    chan struct{}
	results map[string]CheckResult
	// refused holds names that the registry refused to check.
	refused map[string]error
	err     error
}

// check is collect with a span: a command serves many callers, each of which waits for it. A quote
// whose shared check fails is repeated once, alone, so that another name does not fail it.
func (b *batches) check(ctx context.Context, q CheckDomains) ([]CheckResult, error) {
	ctx, span := b.client.startSpan(ctx, "check", "domain")
	shared := q.Priority == PriorityQuote && !b.hasIsolated(q.Names)
	results, err := b.collect(ctx, q, shared)
	if shared && registrar.KindOf(err) == registrar.KindUpstream && ctx.Err() == nil && b.hasIsolated(q.Names) {
		results, err = b.collect(ctx, q, false)
	}
	if err == nil {
		span.SetInt(tracing.Result, codeCompleted)
	}
	endSpan(span, err)
	return results, err
}

// hasIsolated reports whether one of the names is to be sent alone.
func (b *batches) hasIsolated(names []string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	return slices.ContainsFunc(names, func(name string) bool { return b.isolated.has(strings.ToLower(name), now) })
}

// collect adds the names to batches and collects their results. If repeats is set, it gives up a
// shared check after half of the time that a query has, which leaves the caller time for another one.
func (b *batches) collect(ctx context.Context, q CheckDomains, repeats bool) ([]CheckResult, error) {
	var halfway <-chan time.Time
	if repeats {
		timer := time.NewTimer(b.client.account.QueryTimeout / 2)
		defer timer.Stop()
		halfway = timer.C
	}
	joined := b.join(q) //nolint:contextcheck // a batch serves many callers and outlives each of them
	defer b.leave(joined)
	answers := make([]CheckResult, len(q.Names))
	for _, one := range joined {
		for waiting := true; waiting; {
			select {
			case <-one.done:
				if waiting = false; one.err != nil {
					return nil, one.err
				}
			case <-halfway:
				halfway = nil
				b.noteFailure(one)
				if b.hasIsolated(q.Names) {
					return nil, registrar.Fault(registrar.FaultTimeout, b.client.Host(), context.DeadlineExceeded)
				}
			case <-ctx.Done():
				if errors.Is(ctx.Err(), context.DeadlineExceeded) {
					b.noteFailure(one)
				}
				return nil, registrar.Fault(registrar.FaultTimeout, b.client.Host(), ctx.Err())
			}
		}
	}
	for i, name := range q.Names {
		key, ok := strings.ToLower(name), false
		for _, one := range joined {
			if err := one.refused[key]; err != nil {
				return nil, err
			}
			if answers[i], ok = one.results[key]; ok {
				break
			}
		}
		if !ok {
			return nil, registrar.Fault(registrar.FaultBroken, b.client.Host(), errMissingData)
		}
	}
	return answers, nil
}

func (b *batches) noteFailure(one *batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.isolated.failed(one, time.Now())
}

// join adds names to the open batch and, when it is full, to the next.
func (b *batches) join(q CheckDomains) []*batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	var joined []*batch
	now := time.Now()
	for _, name := range q.Names {
		name = strings.ToLower(name)
		key := batchKey{priority: q.Priority, fee: q.Fee}
		if b.isolated.has(name, now) {
			key.alone = name
		}
		one := b.openBatch(key)
		if len(joined) == 0 || joined[len(joined)-1] != one {
			one.waiters++
			joined = append(joined, one)
		}
		if !one.seen[name] {
			one.seen[name] = true
			one.names = append(one.names, name)
		}
		if len(one.names) >= b.client.account.BatchNames || key.alone != "" {
			b.detach(one)
			b.submit(one)
		}
	}
	return joined
}

// openBatch returns a batch that accepts at least one more name. The caller holds
// the lock.
func (b *batches) openBatch(key batchKey) *batch {
	if one := b.open[key]; one != nil {
		return one
	}
	one := &batch{key: key, seen: make(map[string]bool, 8), done: make(chan struct{})}
	b.open[key] = one
	time.AfterFunc(max(0, b.client.account.BatchDelay), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.submit(one)
	})
	return one
}

func (b *batches) leave(joined []*batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range joined {
		one.waiters--
	}
}

// submit hands a batch to the pool. It stays open until a connection takes it, so
// it collects names while all connections are busy. The caller holds the lock.
func (b *batches) submit(one *batch) {
	if one.submitted {
		return
	}
	one.submitted = true
	one.job = &job{priority: one.key.priority, done: make(chan struct{}), prepare: func() (*call, bool) { return b.seal(one) }}
	if err := b.client.pool.submit(one.job); err != nil {
		b.detach(one)
		one.err = err
		close(one.done)
		return
	}
	go b.await(one)
}

// seal closes a batch and builds its command. A batch without waiters is not sent.
func (b *batches) seal(one *batch) (*call, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.detach(one)
	if one.trid == "" {
		one.trid = newTRID()
	}
	return checkCall(one.names, one.key.fee, one.key.priority, one.trid), one.waiters > 0
}

// detach stops further names from joining. The caller holds the lock.
func (b *batches) detach(one *batch) {
	if b.open[one.key] == one {
		delete(b.open, one.key)
	}
}

// await returns when the job is done, which the pool and its timeouts bound, or
// after the maximum queue time.
func (b *batches) await(one *batch) {
	err := b.client.await(context.Background(), one.job, true)
	if err == nil {
		var a *response
		if a, err = b.client.checkResponse(checkCall(nil, one.key.fee, one.key.priority, one.trid), one.job.response); err == nil {
			one.results = readCheckResults(a)
		}
	}
	if len(one.names) > 1 && rejectedForOneName(err) {
		one.results, one.refused = make(map[string]CheckResult), make(map[string]error)
		b.checkInHalves(one, one.names)
		err = nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.detach(one)
	if registrar.KindOf(err) == registrar.KindUpstream {
		b.isolated.failed(one, time.Now())
	} else {
		b.isolated.answered(one)
	}
	one.err = err
	close(one.done)
}

// rejectedForOneName reports whether a registry refused a whole check because of
// one of its names.
func rejectedForOneName(err error) bool {
	return ResultCode(err) != 0 && registrar.KindOf(err) == registrar.KindInvalid
}

// checkInHalves repeats the check in halves, so that a name that the registry
// rejects does not fail the others.
func (b *batches) checkInHalves(one *batch, names []string) {
	ctx, cancel := context.WithTimeout(context.Background(), maxQueueTime)
	defer cancel()
	for _, half := range [][]string{names[:len(names)/2], names[len(names)/2:]} {
		a, err := b.client.send(ctx, checkCall(half, one.key.fee, one.key.priority, ""))
		switch {
		case err == nil:
			maps.Copy(one.results, readCheckResults(a))
		case len(half) > 1 && rejectedForOneName(err):
			b.checkInHalves(one, half)
		default:
			for _, name := range half {
				one.refused[name] = err
			}
		}
	}
}
