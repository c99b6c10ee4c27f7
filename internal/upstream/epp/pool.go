package epp

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// pool hands jobs to connections. See the package comment for its rules.
type pool struct {
	account *Account
	dial    dialer
	// alive ends when the pool must let go of everything at once.
	alive context.Context //nolint:containedctx // the life of the pool itself, not a caller's
	kill  context.CancelFunc
	// opening ends when no connection shall be opened any more.
	opening  context.Context //nolint:containedctx // as above
	stopOpen context.CancelFunc

	ended sync.WaitGroup

	mu     sync.Mutex
	closed bool
	// waiting holds the *jobs of each class, first come, first served.
	waiting [classes]*list.List
	// idle are workers without a job; the last one is used first, so that the
	// others can be seen to be idle.
	idle    []*worker
	workers int // all of them, those that connect included
	dialing int
	sharing int // jobs under way that leave the reserved connections alone
	pace    pace
	alarm   *time.Timer
	backoff backoff
}

// stage is how far a job has come. The pool's lock guards it.
type stage uint8

const (
	queued stage = iota
	underWay
	over
)

// job is a call and its outcome.
type job struct {
	call *call
	// prepare, if set, makes the call when a connection is ready for it; false
	// means that nobody waits for it any more.
	prepare func() (*call, bool)

	class Class
	stage stage
	place *list.Element
	tries int
	// abandoned: the caller left while it was under way.
	abandoned bool

	done   chan struct{}
	answer *answer
	err    error
}

var (
	errClosed   = errors.New("the connections are being closed")
	errFull     = errors.New("too many commands wait for a connection")
	errTooLate  = errors.New("no connection became free in time")
	errGivingUp = errors.New("nobody waits for the answer")
)

func newPool(a *Account, dial dialer) *pool {
	alive, kill := context.WithCancel(context.Background())
	opening, stopOpen := context.WithCancel(alive)
	p := &pool{
		account: a, dial: dial, alive: alive, kill: kill, opening: opening, stopOpen: stopOpen,
		pace: newPace(a.PerSecond, a.Burst, a.OrderShare),
	}
	for class := range p.waiting {
		p.waiting[class] = list.New()
	}
	return p
}

// submit puts a job into the queue. The outcome is there when done is closed.
func (p *pool) submit(j *job) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return registrar.Fault(registrar.FaultBusy, p.account.host(), errClosed)
	case p.workers == 0 && p.backoff.left(p.account.Now()) > 0:
		return p.backoff.fault(p.account.Now())
	case p.waiting[j.class].Len() >= p.account.MaxWaiting:
		return registrar.Fault(registrar.FaultBusy, p.account.host(), errFull)
	}
	j.stage, j.place = queued, p.waiting[j.class].PushBack(j)
	p.dispatch()
	return nil
}

// leave is called when the caller does not want to wait any longer. It says
// whether the job can be forgotten: false means that it is under way or over.
func (p *pool) leave(j *job) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if j.stage != queued {
		j.abandoned = true
		return false
	}
	p.waiting[j.class].Remove(j.place)
	j.stage = over
	return true
}

// dispatch pairs jobs with idle workers and opens connections for the rest. The
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
		w.jobs <- j // it has room for one, and only idle workers get one
	}
	if len(p.idle) > 0 || p.closed {
		return
	}
	now := p.account.Now()
	for p.dialing < p.waitingNow() && p.workers < p.account.MaxConnections && p.backoff.allows(now, p.dialing) {
		p.workers++
		p.dialing++
		p.ended.Add(1)
		go newWorker(p).run()
	}
}

// next takes the job whose turn it is, nil if none may run now.
func (p *pool) next() *job {
	now := p.account.Now()
	var soonest time.Duration
	for class := Orders; class < classes; class++ {
		front := p.waiting[class].Front()
		if front == nil || class.shared() && p.sharedRoom() == 0 {
			continue
		}
		if wait := p.pace.wait(now, class); wait > 0 {
			if soonest == 0 || wait < soonest {
				soonest = wait
			}
			continue
		}
		j, ok := p.waiting[class].Remove(front).(*job)
		if !ok { // only jobs are put there
			continue
		}
		p.pace.take(class)
		j.stage = underWay
		if class.shared() {
			p.sharing++
		}
		return j
	}
	if soonest > 0 {
		p.wakeAfter(soonest)
	}
	return nil
}

// waitingNow counts the jobs that a new connection could serve.
func (p *pool) waitingNow() int {
	sharing := 0
	for class := Orders + 1; class < classes; class++ {
		sharing += p.waiting[class].Len()
	}
	return p.waiting[Orders].Len() + min(sharing, p.sharedRoom())
}

// sharedRoom is how many more commands may use a connection that is not reserved.
func (p *pool) sharedRoom() int {
	return max(0, p.account.MaxConnections-p.account.OrderConnections-p.sharing)
}

// wakeAfter lets dispatch look again when the pace allows the next command.
func (p *pool) wakeAfter(wait time.Duration) {
	if p.alarm != nil {
		p.alarm.Stop()
	}
	p.alarm = time.AfterFunc(wait, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dispatch()
	})
}

// finish ends a job. The caller holds the lock.
func (p *pool) finish(j *job, a *answer, err error) {
	if j.stage == underWay && j.class.shared() {
		p.sharing--
	}
	j.stage, j.answer, j.err = over, a, err
	close(j.done)
}

// putBack makes a job that was not sent, or that may be sent again, the first of
// its class. The caller holds the lock.
func (p *pool) putBack(j *job) {
	if j.class.shared() {
		p.sharing--
	}
	j.stage, j.place = queued, p.waiting[j.class].PushFront(j)
}

// refuseAll tells everyone who waits. The caller holds the lock.
func (p *pool) refuseAll(err error) {
	for class := range p.waiting {
		for p.waiting[class].Len() > 0 {
			if j, ok := p.waiting[class].Remove(p.waiting[class].Front()).(*job); ok {
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
	if p.backoff.why != nil {
		p.account.Logger.Info("registry account connected again", "account", p.account.label(), "address", p.account.Address)
	}
	p.backoff.reset()
}

// notConnected is called by a worker that could not connect and ends.
func (p *pool) notConnected(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialing--
	p.workers--
	why := p.account.fault("connect", err)
	var cause *registrar.Cause
	if errors.As(why, &cause) {
		cause.Outage = true // logUnreachable has logged it
	}
	if p.backoff.why == nil || registrar.CauseOf(p.backoff.why) != registrar.CauseOf(why) {
		p.account.logUnreachable(why)
	}
	p.backoff.set(p.account.Now(), why)
	if p.workers == 0 {
		p.refuseAll(p.backoff.fault(p.account.Now()))
	}
}

// rest makes a worker idle, or gives it a job at once. false means that the pool
// is closed and the worker must end.
func (p *pool) rest(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.idle = append(p.idle, w)
	p.dispatch()
	return true
}

// wakeUp takes an idle worker out of the row; false means that it has a job
// already or soon.
func (p *pool) wakeUp(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.idle {
		if other == w {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			return true
		}
	}
	return false
}

// gone is called by a worker whose connection ended.
func (p *pool) gone() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workers--
	if left := p.backoff.left(p.account.Now()); p.workers == 0 && left > 0 {
		p.refuseAll(p.backoff.fault(p.account.Now()))
		return
	}
	p.dispatch()
}

// close refuses what waits, lets what is under way end, logs out and returns when
// all is quiet or ctx ends; then what is left is cut off.
func (p *pool) close(ctx context.Context) {
	p.mu.Lock()
	p.closed = true
	if p.alarm != nil {
		p.alarm.Stop()
	}
	p.refuseAll(registrar.Fault(registrar.FaultBusy, p.account.host(), errClosed))
	for _, w := range p.idle {
		close(w.jobs)
	}
	p.idle = nil
	p.mu.Unlock()
	p.stopOpen()

	quiet := make(chan struct{})
	go func() {
		p.ended.Wait()
		close(quiet)
	}()
	select {
	case <-quiet:
	case <-ctx.Done():
	}
	p.kill()
	<-quiet
}
