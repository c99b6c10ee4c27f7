package access

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
)

const (
	cleanEvery = 10 * time.Minute
	// cleanBatch rows are removed in one transaction, for others wait for it.
	cleanBatch = 200
	// usedCodesKept is how long a used code still betrays its theft.
	usedCodesKept = 24 * time.Hour
	// clientsKept is how long an application without a connection is known on.
	// Some can't register again by themselves. The same time is given after the
	// end of its last connection.
	clientsKept = 30 * 24 * time.Hour
)

// Clean removes what no longer matters, in small batches: expired tokens, codes
// and questions, connections that ended long ago, and applications that nobody
// has connected for as long. An application with a connection is never removed:
// the database itself refuses that. Used refresh tokens stay until they expire,
// because coming again they betray a theft.
// It returns for how many of them that was settled.
func (a *Applications) Clean(ctx context.Context) (settled int, err error) {
	now := a.now()
	due := Due{
		Tokens: now, Consents: now, Codes: now.Add(-usedCodesKept), Grants: now.Add(-clientsKept), Clients: now.Add(-clientsKept),
	}
	return duty.InBatches(ctx, func(ctx context.Context) (int, error) { return a.store.Clean(ctx, due, cleanBatch) })
}

// Run cleans, and writes when connections were last used, until ctx ends; then it
// writes once more.
func (a *Applications) Run(ctx context.Context) {
	write, clean := time.NewTicker(writeEvery), time.NewTicker(cleanEvery)
	defer write.Stop()
	defer clean.Stop()
	failed := duty.Report(a.log, "application cleanup")
	for {
		select {
		case <-write.C:
			a.writeUses(ctx)
		case <-clean.C:
			if _, err := a.Clean(ctx); err != nil && ctx.Err() == nil {
				failed(ctx, err)
			}
		case <-ctx.Done():
			a.writeLastUses(ctx)
			return
		}
	}
}

// writeLastUses writes after ctx has ended.
func (a *Applications) writeLastUses(ctx context.Context) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLast)
	defer cancel()
	a.writeUses(last)
}

// writeUses is Service.writeUses for connections.
func (a *Applications) writeUses(ctx context.Context) {
	uses := a.used.take()
	for len(uses) > 0 {
		some := uses[:min(batch, len(uses))]
		if err := a.store.GrantsUsed(ctx, some); err != nil {
			for _, use := range uses {
				a.used.note(use.TokenID, use.At)
			}
			duty.Report(a.log, "last use of applications")(ctx, err)
			return
		}
		uses = uses[len(some):]
	}
}
