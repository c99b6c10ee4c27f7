package epp

import (
	"container/list"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Priority is the priority class of a command. Each class has its own queue; a
// command is sent when no higher class has one that may be sent.
type Priority uint8

const (
	// PriorityOrder is for paid items and payments in progress. It is the default
	// and the class of every transform command.
	PriorityOrder Priority = iota
	// PriorityQuote is for quotes to signed-in customers and agents, and for views
	// of their domains.
	PriorityQuote
	// PriorityLookup is for public searches.
	PriorityLookup
	priorityCount = 3
)

// isShared reports whether a class may not use the connections and the share of the
// rate that are reserved for orders.
func (c Priority) isShared() bool { return c != PriorityOrder }

// pool assigns jobs to connections. See the package comment for its rules.
type pool struct {
	account *Account
	dial    dialer
	// ctx ends when all connections must be cut at once.
	ctx    context.Context //nolint:containedctx // lifetime of the pool, not of a caller
	cancel context.CancelFunc
	// dialCtx ends when no more connections may be opened.
	dialCtx    context.Context //nolint:containedctx // as above
	cancelDial context.CancelFunc

	workersDone sync.WaitGroup

	mu     sync.Mutex
	closed bool
	// waiting holds the queued *jobs of each class in FIFO order.
	waiting [priorityCount]*list.List
	// idle holds workers without a job. The last one is used first, so that
	// unneeded ones stay idle.
	idle           []*worker
	workers        int // all workers, including those that are connecting
	leaving        int // of them, those whose connection another node gets
	dialing        int
	sharedInFlight int // running jobs that must not use the reserved connections
	rateLimit      rateLimit
	timer          *time.Timer
	backoff        backoff
	sessionAt      time.Time // when a connection may be asked for again, after other nodes had all
}

// jobState is the progress of a job. The pool's lock guards it.
type jobState uint8

const (
	jobQueued jobState = iota
	jobRunning
	jobDone
)

// job is a call and its result.
type job struct {
	call *call
	// prepare, if set, builds the call when a connection is ready; false means that
	// it has no waiters left.
	prepare func() (*call, bool)

	priority Priority
	state    jobState
	element  *list.Element
	tries    int
	// abandoned means that the caller gave up while the job was running.
	abandoned bool

	done     chan struct{}
	response *response
	err      error
}

var (
	errClosed       = errors.New("epp: pool is closing")
	errQueueFull    = errors.New("epp: command queue is full")
	errQueueTimeout = errors.New("epp: no connection available in time")
	errAbandoned    = errors.New("epp: command was abandoned by its caller")
)

func newPool(a *Account, dial dialer) *pool {
	alive, kill := context.WithCancel(context.Background())
	opening, stopOpen := context.WithCancel(alive)
	p := &pool{
		account: a, dial: dial, ctx: alive, cancel: kill, dialCtx: opening, cancelDial: stopOpen,
		rateLimit: newRateLimit(a.PerSecond, a.OrderShare),
	}
	for priority := range p.waiting {
		p.waiting[priority] = list.New()
	}
	return p
}

// submit queues a job. Its result is available when done is closed.
func (p *pool) submit(j *job) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return registrar.Fault(registrar.FaultBusy, p.account.host(), errClosed)
	case p.workers == 0 && p.backoff.remaining(time.Now()) > 0:
		return p.backoff.fault(time.Now())
	case p.waiting[j.priority].Len() >= p.account.MaxWaiting:
		return registrar.Fault(registrar.FaultBusy, p.account.host(), errQueueFull)
	}
	j.state, j.element = jobQueued, p.waiting[j.priority].PushBack(j)
	p.dispatch()
	return nil
}

// abandon is called when the caller stops waiting. It returns false if the job is
// running or finished.
func (p *pool) abandon(j *job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.state != jobQueued {
		j.abandoned = true
		return false
	}
	p.waiting[j.priority].Remove(j.element)
	j.state = jobDone
	return true
}

// dispatch assigns jobs to idle workers and opens connections for the rest. The
// caller holds the lock.
func (p *pool) dispatch() {
	for len(p.idle) > 0 {
		j := p.next()
		if j == nil {
			break
		}
		last := len(p.idle) - 1
		w := p.idle[last]
		p.idle[last] = nil
		p.idle = p.idle[:last]
		w.jobs <- j // the channel buffers one job, and only idle workers get one
	}
	if len(p.idle) > 0 || p.closed {
		return
	}
	now := time.Now()
	for p.dialing < p.servableJobs() && p.workers < p.account.limit() && p.backoff.allows(now, p.dialing) && !now.Before(p.sessionAt) {
		p.workers++
		p.dialing++
		w := &worker{pool: p, jobs: make(chan *job, 1)}
		p.workersDone.Go(w.run)
	}
}

// next removes and returns the next job to run; nil if none may run now.
func (p *pool) next() *job {
	now := time.Now()
	if p.account.Sessions != nil {
		p.rateLimit.divide(p.account.PerSecond, p.account.OrderShare, p.account.Sessions.Nodes())
	}
	var soonest time.Duration
	for priority := PriorityOrder; priority < priorityCount; priority++ {
		front := p.waiting[priority].Front()
		if front == nil || priority.isShared() && p.sharedCapacity() == 0 {
			continue
		}
		if wait := p.rateLimit.wait(now, priority); wait > 0 {
			if soonest == 0 || wait < soonest {
				soonest = wait
			}
			continue
		}
		j, ok := p.waiting[priority].Remove(front).(*job)
		if !ok { // unreachable: the lists hold only jobs
			continue
		}
		p.rateLimit.take(priority)
		j.state = jobRunning
		if priority.isShared() {
			p.sharedInFlight++
		}
		return j
	}
	if soonest > 0 {
		p.dispatchAfter(soonest)
	}
	return nil
}

// servableJobs counts the jobs that a new connection could serve.
func (p *pool) servableJobs() int {
	sharing := 0
	for priority := PriorityOrder + 1; priority < priorityCount; priority++ {
		sharing += p.waiting[priority].Len()
	}
	return p.waiting[PriorityOrder].Len() + min(sharing, p.sharedCapacity())
}

// sharedCapacity is how many more commands may use unreserved connections.
func (p *pool) sharedCapacity() int {
	limit := p.account.limit()
	reserved := min(p.account.OrderConnections, limit-1) // a single connection can't be reserved
	return max(0, limit-reserved-p.sharedInFlight)
}

// dispatchAfter calls dispatch when the rate limit allows the next command.
func (p *pool) dispatchAfter(wait time.Duration) {
	if p.timer != nil {
		p.timer.Stop()
	}
	p.timer = time.AfterFunc(wait, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dispatch()
	})
}

// finish completes a job. The caller holds the lock.
func (p *pool) finish(j *job, a *response, err error) {
	if j.state == jobRunning && j.priority.isShared() {
		p.sharedInFlight--
	}
	j.state, j.response, j.err = jobDone, a, err
	close(j.done)
}

// requeueFront puts a job that was not sent, or may be sent again, first in its
// class. The caller holds the lock.
func (p *pool) requeueFront(j *job) {
	if j.priority.isShared() {
		p.sharedInFlight--
	}
	j.state, j.element = jobQueued, p.waiting[j.priority].PushFront(j)
}

// failQueued fails all queued jobs. The caller holds the lock.
func (p *pool) failQueued(err error) {
	for priority := range p.waiting {
		for p.waiting[priority].Len() > 0 {
			if j, ok := p.waiting[priority].Remove(p.waiting[priority].Front()).(*job); ok {
				p.finish(j, nil, err)
			}
		}
	}
}

// connected is called by a worker whose connection is ready.
func (p *pool) connected() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialing--
	if p.backoff.cause != nil {
		p.account.Logger.Info("registry account reconnected", "account", p.account.label(), "address", p.account.Address)
	}
	p.backoff.reset()
}

// connectFailed is called by a worker that could not connect and ends.
func (p *pool) connectFailed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialing--
	p.workers--
	fault := p.account.toFault("connect", err)
	var cause *registrar.Cause
	if errors.As(fault, &cause) {
		cause.Outage = true // logUnreachable logs it
	}
	if p.backoff.cause == nil || registrar.CauseOf(p.backoff.cause) != registrar.CauseOf(fault) {
		p.account.logUnreachable(fault)
	}
	p.backoff.recordFailure(time.Now(), fault)
	if p.workers == 0 {
		p.failQueued(p.backoff.fault(time.Now()))
	}
}

// markIdle makes a worker idle or assigns it a job. false means that the pool is closed, or
// another node gets the connection, and the worker must exit.
func (p *pool) markIdle(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.leaveToOthers(w) {
		return false
	}
	p.idle = append(p.idle, w)
	p.dispatch()
	return true
}

// removeIdle removes a worker from the idle list; false means that it has been
// assigned a job.
func (p *pool) removeIdle(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.idle, w)
	if i < 0 {
		return false
	}
	p.idle = slices.Delete(p.idle, i, i+1)
	return true
}

// workerExited is called by a worker whose connection ended.
func (p *pool) workerExited(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workers--
	if w.leaving {
		p.leaving--
	}
	if p.workers == 0 && p.backoff.remaining(time.Now()) > 0 {
		p.failQueued(p.backoff.fault(time.Now()))
		return
	}
	p.dispatch()
}

// close fails queued jobs, waits for running ones, logs out and returns when all
// workers have exited. When ctx ends, remaining connections are cut.
func (p *pool) close(ctx context.Context) {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.failQueued(registrar.Fault(registrar.FaultBusy, p.account.host(), errClosed))
	for _, w := range p.idle {
		close(w.jobs)
	}
	p.idle = nil
	p.mu.Unlock()
	p.cancelDial()

	quiet := make(chan struct{})
	go func() {
		p.workersDone.Wait()
		close(quiet)
	}()
	select {
	case <-quiet:
	case <-ctx.Done():
	}
	p.cancel()
	<-quiet
}

// PoolStatus is a snapshot of an account's connections for operators.
type PoolStatus struct {
	Host string
	// Open counts the connections, Waiting the commands without one.
	Open, MaxConnections, Waiting int
	// Since is when connections began to fail, RetryAt the next attempt, and Cause
	// the reason; all are zero while connections work.
	Since, RetryAt time.Time
	Cause          registrar.Code
}

// PoolStatus returns the current state of the connections.
func (c *Client) PoolStatus() PoolStatus {
	p := c.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	s := PoolStatus{Host: c.Host(), Open: p.workers - p.dialing, MaxConnections: c.account.MaxConnections}
	for _, waiting := range p.waiting {
		s.Waiting += waiting.Len()
	}
	if p.backoff.cause != nil {
		s.Cause, s.Since, s.RetryAt = p.backoff.cause.Code, p.backoff.since, p.backoff.until
	}
	return s
}
