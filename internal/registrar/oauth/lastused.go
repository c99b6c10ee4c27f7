package oauth

import (
	"context"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
)

const (
	// writeInterval is how often last uses are written.
	writeInterval = time.Minute
	// writeBatch limits the rows per write, to keep lock times short.
	writeBatch = 200
	// finalWriteTimeout bounds the last write, after the context of Run has ended.
	finalWriteTimeout = 5 * time.Second
)

// lastUseBuffer holds the last use of each token until it is written.
type lastUseBuffer struct {
	max int

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

// Run writes last uses until ctx ends, and then once more.
func (s *Service) Run(ctx context.Context) {
	ticker := time.NewTicker(writeInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.writeUses(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalWriteTimeout)
			s.writeUses(last)
			cancel()
			return
		}
	}
}

// writeUses writes the buffered uses. On failure they are buffered again, unless the
// token was used since.
func (s *Service) writeUses(ctx context.Context) {
	uses := s.lastUses.drain()
	for len(uses) > 0 {
		some := uses[:min(writeBatch, len(uses))]
		if err := s.store.RecordTokenUses(ctx, some); err != nil {
			for _, use := range uses {
				s.lastUses.record(use.TokenID, use.At)
			}
			jobs.ErrorLogger(s.log, "last use of tokens")(ctx, err)
			return
		}
		uses = uses[len(some):]
	}
}

// Run deletes expired rows and writes last uses until ctx ends, then writes once more.
func (a *AuthorizationServer) Run(ctx context.Context) {
	write, clean := time.NewTicker(writeInterval), time.NewTicker(cleanInterval)
	defer write.Stop()
	defer clean.Stop()
	failed := jobs.ErrorLogger(a.log, "application cleanup")
	for {
		select {
		case <-write.C:
			a.writeUses(ctx)
		case <-clean.C:
			if _, err := a.DeleteExpired(ctx); err != nil && ctx.Err() == nil {
				failed(ctx, err)
			}
		case <-ctx.Done():
			a.flushUses(ctx)
			return
		}
	}
}

// flushUses writes the last uses after ctx has ended.
func (a *AuthorizationServer) flushUses(ctx context.Context) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalWriteTimeout)
	defer cancel()
	a.writeUses(last)
}

// writeUses is Service.writeUses for grants.
func (a *AuthorizationServer) writeUses(ctx context.Context) {
	uses := a.lastUses.drain()
	for len(uses) > 0 {
		some := uses[:min(writeBatch, len(uses))]
		if err := a.store.RecordGrantUses(ctx, some); err != nil {
			for _, use := range uses {
				a.lastUses.record(use.TokenID, use.At)
			}
			jobs.ErrorLogger(a.log, "last use of applications")(ctx, err)
			return
		}
		uses = uses[len(some):]
	}
}
