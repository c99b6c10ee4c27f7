package oauth

import (
	"context"
	"sync"
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
	now := a.cfg.Now()
	due := ExpiryCutoffs{
		Tokens: now, Consents: now, Codes: now.Add(-usedCodeRetention), Grants: now.Add(-clientRetention), Clients: now.Add(-clientRetention),
	}
	return jobs.DeleteInBatches(ctx, func(ctx context.Context) (int, error) { return a.cfg.Store.DeleteExpiredOAuth(ctx, due, cleanBatch) })
}

// Run deletes expired rows and writes last uses until ctx ends, then writes once more.
func (a *AuthorizationServer) Run(ctx context.Context) {
	var cleaning sync.WaitGroup
	cleaning.Go(func() {
		jobs.RunEvery(ctx, cleanInterval, func(ctx context.Context) error {
			_, err := a.DeleteExpired(ctx)
			return err
		}, jobs.ErrorLogger(a.cfg.Log, "application cleanup"))
	})
	a.lastUses.run(ctx)
	cleaning.Wait()
}
