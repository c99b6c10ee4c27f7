package oauth

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
)

const (
	writeInterval     = time.Minute     // how often last uses are written
	writeBatch        = 200             // limits the rows per write, to keep lock times short
	finalWriteTimeout = 5 * time.Second // bounds the last write, after the context of run has ended
	// maxPendingUses limits the tokens with a buffered last use. Uses of further tokens
	// are dropped until the next write.
	maxPendingUses = 100_000
)

// lastUseBuffer holds the last use of each token or grant until it is written.
type lastUseBuffer struct {
	store func(ctx context.Context, uses []TokenUse) error
	log   *slog.Logger
	job   string // for the log
	max   int

	mu   sync.Mutex
	uses map[string]time.Time
}

func (m *lastUseBuffer) record(token string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, known := m.uses[token]
	if !known && len(m.uses) >= m.max {
		return
	}
	if m.uses == nil {
		m.uses = make(map[string]time.Time)
	}
	if at.After(last) {
		m.uses[token] = at
	}
}

// drain returns and clears the buffered uses.
func (m *lastUseBuffer) drain() []TokenUse {
	m.mu.Lock()
	defer m.mu.Unlock()
	uses := make([]TokenUse, 0, len(m.uses))
	for token, at := range m.uses {
		uses = append(uses, TokenUse{TokenID: token, At: at})
	}
	m.uses = nil
	return uses
}

// run writes last uses until ctx ends, and then once more.
func (m *lastUseBuffer) run(ctx context.Context) {
	ticker := time.NewTicker(writeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m.write(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalWriteTimeout)
			m.write(last)
			cancel()
			return
		}
	}
}

// write writes the buffered uses, or buffers them again if that fails.
func (m *lastUseBuffer) write(ctx context.Context) {
	uses := m.drain()
	for len(uses) > 0 {
		some := uses[:min(writeBatch, len(uses))]
		if err := m.store(ctx, some); err != nil {
			for _, use := range uses {
				m.record(use.TokenID, use.At)
			}
			jobs.ErrorLogger(m.log, m.job)(ctx, err)
			return
		}
		uses = uses[len(some):]
	}
}
