package epp

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// worker owns one connection from its greeting to its end.
type worker struct {
	pool *pool
	// jobs has room for one. It is closed when an idle worker shall end.
	jobs    chan *job
	session *session
}

func newWorker(p *pool) *worker { return &worker{pool: p, jobs: make(chan *job, 1)} }

// mostTries is how often a command that is safe to repeat is sent.
const mostTries = 2

func (w *worker) run() {
	p := w.pool
	defer p.ended.Done()
	s, err := connect(p.opening, p.account, p.dial, "", newTRID(p.account.Now()))
	if err != nil {
		p.notConnected(err)
		return
	}
	w.session = s
	p.connected()
	p.account.Logger.DebugContext(p.alive, "epp: connected", "host", s.host)
	stop := context.AfterFunc(p.alive, func() { s.close(errClosed) })
	defer stop()
	w.serve()
	ctx, cancel := context.WithTimeout(p.alive, logoutTime)
	defer cancel()
	if s.quiet() {
		s.logout(ctx, newTRID(p.account.Now()))
	}
	p.account.Logger.DebugContext(p.alive, "epp: disconnected", "host", s.host, "fault", string(p.account.fault("read", s.why).Code))
	p.gone()
}

// serve works until the connection ends or the pool is closed.
func (w *worker) serve() {
	keepAlive := time.NewTimer(w.pool.account.KeepAlive)
	defer keepAlive.Stop()
	for w.session.quiet() && w.pool.rest(w) {
		keepAlive.Reset(w.pool.account.KeepAlive)
		select {
		case j, open := <-w.jobs:
			if !open {
				return
			}
			w.work(j)
			continue
		case <-w.session.gone:
		case <-w.session.answers:
			w.session.close(errUnasked)
		case <-keepAlive.C:
			if w.pool.wakeUp(w) {
				w.keepAlive()
				continue
			}
		}
		// The connection ended, or a job came in the same moment.
		if !w.pool.wakeUp(w) {
			if j, open := <-w.jobs; open {
				w.work(j)
			} else {
				return
			}
		}
	}
}

func (w *worker) keepAlive() {
	ctx, cancel := context.WithTimeout(w.pool.alive, w.pool.account.AskTimeout)
	defer cancel()
	if _, err := w.session.hello(ctx); err != nil {
		w.pool.account.Logger.DebugContext(ctx, "epp: no answer to hello", "host", w.session.host)
	}
}

// work carries out one job and settles what becomes of it.
func (w *worker) work(j *job) {
	p := w.pool
	c := j.call
	if j.prepare != nil {
		made, wanted := j.prepare()
		if !wanted {
			p.settle(j, nil, registrar.Fault(registrar.FaultBusy, p.account.host(), errGivingUp))
			return
		}
		c = made
	}
	timeout := p.account.ChangeTimeout
	if c.safe {
		timeout = p.account.AskTimeout
	}
	ctx, cancel := context.WithTimeout(p.alive, timeout)
	defer cancel()
	j.tries++
	a, sent, err := w.session.do(ctx, c)
	host := p.account.host()
	switch {
	case err == nil:
		if a.code >= CodeFailedClosing && c.safe && j.tries < mostTries {
			p.again(j)
			return
		}
		p.settle(j, a, nil)
	case !sent && !w.session.quiet():
		// Not a byte left us, because the connection had ended unseen.
		p.again(j)
	case !sent:
		p.settle(j, nil, err) // it can't be encoded
	case !c.safe:
		p.settle(j, nil, outcomeUnknown(host, err))
	case j.tries < mostTries && p.account.fault(c.Verb, err).Code == registrar.FaultRefused:
		// The connection was cut. A server that is merely slow is not asked
		// twice: the caller has waited long enough.
		p.again(j)
	default:
		p.settle(j, nil, p.account.fault(c.Verb, err))
	}
}

func (p *pool) settle(j *job, a *answer, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish(j, a, err)
}

// again puts a job back, unless everything is about to end. A job that nobody
// waits for must not be sent behind the back of a caller that gave up.
func (p *pool) again(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || j.abandoned {
		p.finish(j, nil, registrar.Fault(registrar.FaultBusy, p.account.host(), errClosed))
		return
	}
	p.putBack(j)
}
