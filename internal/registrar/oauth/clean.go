package oauth

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
)

const (
	cleanInterval = 10 * time.Minute
	// cleanBatch rows are removed in one transaction, for others wait for it.
	cleanBatch = 200
	// usedCodeRetention is how long a used code still betrays its theft.
	usedCodeRetention = 24 * time.Hour
	// clientRetention is how long an application without a connection is known on.
	// Some can't register again by themselves. The same time is given after the
	// end of its last connection.
	clientRetention = 30 * 24 * time.Hour
)

// DeleteExpired removes what no longer matters, in small batches: expired tokens, codes
// and questions, connections that ended long ago, and applications that nobody
// has connected for as long. An application with a connection is never removed:
// the database itself refuses that. Used refresh tokens stay until they expire,
// because coming again they betray a theft.
// It returns for how many of them that was settled.
func (a *AuthorizationServer) DeleteExpired(ctx context.Context) (settled int, err error) {
	now := a.now()
	due := ExpiryCutoffs{
		Tokens: now, Consents: now, Codes: now.Add(-usedCodeRetention), Grants: now.Add(-clientRetention), Clients: now.Add(-clientRetention),
	}
	return jobs.DeleteInBatches(ctx, func(ctx context.Context) (int, error) { return a.store.DeleteExpiredOAuth(ctx, due, cleanBatch) })
}

// Run cleans, and writes when connections were last used, until ctx ends; then it
// writes once more.
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

// flushUses writes after ctx has ended.
func (a *AuthorizationServer) flushUses(ctx context.Context) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalWriteTimeout)
	defer cancel()
	a.writeUses(last)
}

// writeUses is Service.writeUses for connections.
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
