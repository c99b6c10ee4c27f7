package epp

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// worker owns one connection from its greeting to its end.
type worker struct {
	pool *pool
	// jobs buffers one job. It is closed when an idle worker must exit.
	jobs    chan *job
	session *session
	leaving bool // another node gets the connection; the pool's lock guards it
}

// maxTries is how often a command that is safe to repeat is sent.
const maxTries = 2

func (w *worker) run() {
	p := w.pool
	if !p.acquireSession() {
		return
	}
	defer p.releaseSession()
	s, err := connect(p.dialCtx, p.account, p.dial, "")
	if err != nil {
		p.connectFailed(err)
		return
	}
	w.session = s
	p.connected()
	p.account.Logger.DebugContext(p.ctx, "registry connection opened", "host", s.host)
	stop := context.AfterFunc(p.ctx, func() { s.close(errClosed) })
	defer stop()
	w.serve()
	ctx, cancel := context.WithTimeout(p.ctx, logoutTimeout)
	defer cancel()
	if s.isUsable() {
		s.logout(ctx)
	}
	p.account.Logger.DebugContext(p.ctx, "registry connection closed", "host", s.host, "fault", string(p.account.toFault("read", s.closeCause).Code))
	p.workerExited(w)
}

// serve runs jobs until the connection ends or the pool is closed.
func (w *worker) serve() {
	idle := time.NewTimer(keepAlive)
	defer idle.Stop()
	used := time.Now()
	for w.session.isUsable() && w.pool.markIdle(w) {
		idle.Reset(w.pool.account.idleTime())
		select {
		case j, open := <-w.jobs:
			if !open {
				return
			}
			w.execute(j)
			used = time.Now()
			continue
		case <-w.session.closed:
		case <-w.session.responses:
			w.session.close(errUnsolicited)
		case <-idle.C:
			if w.pool.removeIdle(w) {
				if time.Since(used) >= keepAlive {
					w.hello()
					used = time.Now()
				}
				continue
			}
		}
		// The connection ended, or a job arrived at the same moment.
		if !w.pool.removeIdle(w) {
			if j, open := <-w.jobs; open {
				w.execute(j)
			} else {
				return
			}
		}
	}
}

func (w *worker) hello() {
	ctx, cancel := context.WithTimeout(w.pool.ctx, w.pool.account.QueryTimeout)
	defer cancel()
	if err := w.session.hello(ctx); err != nil {
		w.pool.account.Logger.DebugContext(ctx, "registry did not respond to hello", "host", w.session.host)
	}
}

// execute runs one job and completes or requeues it.
func (w *worker) execute(j *job) {
	p := w.pool
	c := j.call
	if j.prepare != nil {
		made, wanted := j.prepare()
		if !wanted {
			p.complete(j, nil, registrar.Fault(registrar.FaultBusy, p.account.host(), errAbandoned))
			return
		}
		c = made
	}
	timeout := p.account.TransformTimeout
	if c.safe {
		timeout = p.account.QueryTimeout
	}
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	j.tries++
	a, sent, err := w.session.do(ctx, c)
	host := p.account.host()
	switch {
	case err == nil:
		if a.code >= CodeFailedClosing && c.safe && j.tries < maxTries {
			p.retry(j)
			return
		}
		p.complete(j, a, nil)
	case !sent && !w.session.isUsable():
		// Nothing was written, because the connection had ended unnoticed.
		p.retry(j)
	case !sent:
		p.complete(j, nil, err) // the command can't be encoded
	case !c.safe:
		p.complete(j, nil, outcomeUnknown(host, err))
	case j.tries < maxTries && p.account.toFault(c.Verb, err).Code == registrar.FaultRefused:
		// The connection was cut. A slow server is not retried: the caller has
		// waited long enough.
		p.retry(j)
	default:
		p.complete(j, nil, p.account.toFault(c.Verb, err))
	}
}

func (p *pool) complete(j *job, a *response, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finish(j, a, err)
}

// retry requeues a job unless the pool is closing. A job whose caller gave up must
// not be sent.
func (p *pool) retry(j *job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || j.abandoned {
		p.finish(j, nil, registrar.Fault(registrar.FaultBusy, p.account.host(), errClosed))
		return
	}
	p.requeueFront(j)
}
