package pwhash

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

const (
	minBackoff   = time.Second
	maxBackoff   = time.Minute
	startTimeout = 5 * time.Second
	closeTimeout = 3 * time.Second // bounds the wait for computations in progress at shutdown
)

var errUnavailable = errors.New("pwhash: no process available")

// Config configures Workers.
type Config struct {
	// Command runs Serve: a program and its arguments. The first one is the path.
	Command   []string
	Processes int          // at most, each of which computes one hash at a time; 0 means one
	Logger    *slog.Logger // may be nil
}

// Workers is a pool of processes. It is safe for concurrent use.
type Workers struct {
	cfg  Config
	idle chan *process // holds the unused processes; nil means one that is not running

	mu      sync.Mutex
	lastID  uint64
	backoff time.Duration // 0 while healthy
	retryAt time.Time     // end of the backoff
	closed  bool
}

var _ account.Deriver = (*Workers)(nil)

// New returns Workers. Processes start on first use.
func New(cfg Config) *Workers {
	cfg.Processes = max(1, cfg.Processes)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	w := &Workers{cfg: cfg, idle: make(chan *process, cfg.Processes)}
	for range cfg.Processes {
		w.idle <- nil
	}
	return w
}

// Derive computes a key in a process. ctx must have a deadline.
func (w *Workers) Derive(ctx context.Context, d account.Derivation) ([]byte, error) {
	id, err := w.nextID()
	if err != nil {
		return nil, err
	}
	select {
	case p := <-w.idle:
		key, p, err := w.derive(ctx, p, request{id: id, Derivation: d})
		w.idle <- p // never blocks: the slot is free
		w.recordResult(ctx, err)
		return key, err
	case <-ctx.Done():
		return nil, errUnavailable // all are busy, which is not a failure
	}
}

// derive starts a process if needed, and returns the one to reuse.
func (w *Workers) derive(ctx context.Context, p *process, q request) ([]byte, *process, error) {
	if p == nil || p.hasEnded() {
		var err error
		if p, err = startProcess(ctx, w.cfg.Command); err != nil {
			return nil, nil, err
		}
	}
	key, err := p.roundTrip(ctx, q)
	if err != nil {
		p.kill() // its next response would belong to this request
		return nil, nil, err
	}
	return key, p, nil
}

// nextID returns the next request id, or errUnavailable during backoff.
func (w *Workers) nextID() (uint64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || time.Now().Before(w.retryAt) {
		return 0, errUnavailable
	}
	w.lastID++
	return w.lastID, nil
}

// recordResult doubles the backoff after each failure. It logs the first failure and the recovery.
func (w *Workers) recordResult(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	switch {
	case w.closed:
	case err == nil && w.backoff > 0:
		w.backoff, w.retryAt = 0, time.Time{}
		w.cfg.Logger.InfoContext(ctx, "password hashing process recovered")
	case err != nil:
		if w.backoff == 0 {
			w.cfg.Logger.WarnContext(ctx, "password hashing process failed, hashing in the service", "err", logReason(err))
		}
		w.backoff = min(max(minBackoff, 2*w.backoff), maxBackoff)
		w.retryAt = time.Now().Add(w.backoff)
	}
}

// logReason returns our words or the system's, never a byte of what was exchanged.
func logReason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "timeout"
	}
	return err.Error()
}

// Close ends the processes and waits up to closeTimeout for computations in progress.
func (w *Workers) Close() {
	w.mu.Lock()
	alreadyClosed := w.closed
	w.closed = true
	w.mu.Unlock()
	if alreadyClosed {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for range cap(w.idle) {
		select {
		case p := <-w.idle:
			if p != nil {
				p.close(ctx)
			}
		case <-ctx.Done():
			return // callers have deadlines, and the process ends with its input
		}
	}
}
