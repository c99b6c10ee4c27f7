package oauth

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
)

const (
	cleanInterval = 10 * time.Minute
	// cleanBatch rows are deleted per transaction, to keep lock times short.
	cleanBatch = 200
	// usedCodeRetention is how long the reuse of a code is detected.
	usedCodeRetention = 24 * time.Hour
	// clientRetention is how long a client without a grant is retained, counted from
	// registration or the end of its last grant. Some clients can't register again by
	// themselves.
	clientRetention = 30 * 24 * time.Hour
)

// DeleteExpired deletes, in small batches, expired tokens, codes and consents, grants
// that ended long ago, and clients unused for as long. A client with a grant is never
// deleted; a foreign key prevents it. Used refresh tokens stay until they expire,
// because their reuse reveals a theft. It returns the number of rows processed.
func (a *AuthorizationServer) DeleteExpired(ctx context.Context) (settled int, err error) {
	now := a.now()
	due := ExpiryCutoffs{
		Tokens: now, Consents: now, Codes: now.Add(-usedCodeRetention), Grants: now.Add(-clientRetention), Clients: now.Add(-clientRetention),
	}
	return jobs.DeleteInBatches(ctx, func(ctx context.Context) (int, error) { return a.store.DeleteExpiredOAuth(ctx, due, cleanBatch) })
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
