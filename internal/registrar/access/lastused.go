package access

import (
	"context"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
)

const (
	// writeEvery is how often last uses are written, and so how old a list's
	// "last used" may be.
	writeEvery = time.Minute
	// batch keeps each write short: others wait for it.
	batch = 200
	// writeLast bounds the last write, after the context of Run has ended.
	writeLast = 5 * time.Second
)

// memory holds the last use of each token until it is written.
type memory struct {
	bound int

	mu   sync.Mutex
	uses map[string]time.Time
}

func (m *memory) note(token string, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last, known := m.uses[token]
	if !known && len(m.uses) >= m.bound {
		return
	}
	if m.uses == nil {
		m.uses = make(map[string]time.Time)
	}
	if at.After(last) {
		m.uses[token] = at
	}
}

// take empties the memory.
func (m *memory) take() []Use {
	m.mu.Lock()
	defer m.mu.Unlock()
	uses := make([]Use, 0, len(m.uses))
	for token, at := range m.uses {
		uses = append(uses, Use{TokenID: token, At: at})
	}
	m.uses = nil
	return uses
}

// Run writes when tokens were last used, until ctx ends, and then once more.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(writeEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.writeUses(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLast)
			s.writeUses(last)
			cancel()
			return
		}
	}
}

// writeUses writes what is remembered. What could not be written is remembered
// on, unless the token has been used since.
func (s *Service) writeUses(ctx context.Context) {
	uses := s.used.take()
	for len(uses) > 0 {
		some := uses[:min(batch, len(uses))]
		if err := s.store.TokensUsed(ctx, some); err != nil {
			for _, use := range uses {
				s.used.note(use.TokenID, use.At)
			}
			duty.Report(s.log, "last use of tokens")(ctx, err)
			return
		}
		uses = uses[len(some):]
	}
}
