package pwhash

import (
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
	// closeTimeout is for what is still being computed when the service ends.
	closeTimeout = 3 * time.Second
)

// ErrUnavailable says that no process can be asked at the moment.
var ErrUnavailable = errors.New("hashing: no process to ask")

// Config is what Workers are made of.
type Config struct {
	// Command runs Serve: a program and its arguments. The first one is the path.
	Command []string
	// Processes is how many there are at most, each of which computes one hash at
	// a time; 0 means one.
	Processes int
	// Logger may be nil.
	Logger *slog.Logger
}

// Workers are the processes. They are safe for concurrent use.
type Workers struct {
	cfg Config
	// idle are the processes that nobody is asking. One that is not running is nil.
	idle chan *process

	mu      sync.Mutex
	lastID  uint64
	backoff time.Duration // 0: all is well
	retryAt time.Time     // when the pause ends
	closed  bool
}

var _ account.Deriver = (*Workers)(nil)

// New starts nothing: the first question does.
func New(cfg Config) *Workers {
	cfg.Processes = max(1, cfg.Processes)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	w := &Workers{cfg: cfg, idle: make(chan *process, cfg.Processes)}
	for range cfg.Processes {
		w.idle <- nil
	}
	return w
}

// Derive asks a process for a key. ctx must end.
func (w *Workers) Derive(ctx context.Context, d account.Derivation) ([]byte, error) {
	id, err := w.nextID()
	if err != nil {
		return nil, err
	}
	select {
	case p := <-w.idle:
		key, p, err := w.derive(ctx, p, request{id: id, Derivation: d})
		w.idle <- p // never blocks: its place is free
		w.recordResult(ctx, err)
		return key, err
	case <-ctx.Done():
		return nil, ErrUnavailable // all are busy, which is no fault of theirs
	}
}

// derive starts a process if there is none, and returns the one to ask next time.
func (w *Workers) derive(ctx context.Context, p *process, q request) ([]byte, *process, error) {
	if p == nil || p.hasEnded() {
		var err error
		if p, err = startProcess(ctx, w.cfg.Command); err != nil {
			return nil, nil, err
		}
	}
	key, err := p.roundTrip(ctx, q)
	if err != nil {
		p.kill() // or its next answer would be that of this question
		return nil, nil, err
	}
	return key, p, nil
}

// nextID is the number of the next question, unless nobody is to be asked.
func (w *Workers) nextID() (uint64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || time.Now().Before(w.retryAt) {
		return 0, ErrUnavailable
	}
	w.lastID++
	return w.lastID, nil
}

// recordResult makes a pause after a failure, each twice as long as the one before. It
// says once that something is wrong, and once that it is over.
func (w *Workers) recordResult(ctx context.Context, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	switch {
	case w.closed:
	case err == nil && w.backoff > 0:
		w.backoff, w.retryAt = 0, time.Time{}
		w.cfg.Logger.InfoContext(ctx, "passwords are hashed in a process of their own again")
	case err != nil:
		if w.backoff == 0 {
			w.cfg.Logger.WarnContext(ctx, "passwords are hashed inside the service for now, which slows other answers: the process for it fails", "err", logReason(err))
		}
		w.backoff = min(max(minBackoff, 2*w.backoff), maxBackoff)
		w.retryAt = time.Now().Add(w.backoff)
	}
}

// logReason is what the log may hold: words of ours and of the system, never a byte
// of what was said.
func logReason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "it was too slow"
	}
	return err.Error()
}

// Close ends the processes. What is being computed is waited for, for a while.
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
			return // whoever is still asking has a deadline, and the process our end
		}
	}
}
