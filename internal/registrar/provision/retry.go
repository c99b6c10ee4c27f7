package provision

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// handleError decides what an error means: to wait and try again, or the end.
func (r *run) handleError(ctx context.Context, err error) bool {
	if registrar.IsTransient(err) {
		return r.retryLater(ctx, err)
	}
	// The text of the error names the rule or the result code, never the name.
	r.cfg.Logger.WarnContext(ctx, "a line was refused for good", "line", r.item.ID, "extension", r.item.TLD, "account", r.item.Account,
		"state", string(r.item.State), "detail", err.Error())
	item := r.item
	r.markRefused(&item, registrar.CodeOf(err))
	if !r.advance(ctx, item, StateUndoing) {
		return false
	}
	failpoint.Hit(failpointUndoing)
	return true
}

func (r *run) markRefused(item *Item, code registrar.Code) {
	item.Failure, item.RefundDue = code, true
}

// retryLater leaves the line for later. An account without money, a fault of our own and
// a contact that can't be taken back need a person, and nobody else will notice.
func (r *run) retryLater(ctx context.Context, err error) bool {
	kind, code := registrar.KindOf(err), registrar.CodeOf(err)
	delay := jobs.Backoff(r.item.Attempts, minBackoff, maxBackoff)
	log := r.cfg.Logger.With("line", r.item.ID, "extension", r.item.TLD, "account", r.item.Account, "state", string(r.item.State),
		"reason", kind.String(), "code", string(code), "attempts", r.item.Attempts, "again_in", delay.String())
	r.cfg.OnRetry(code)
	r.cfg.RecordError(ctx, r.item.ID, code)
	if code == Billing || kind == registrar.KindInternal || !registrar.IsTransient(err) {
		log.ErrorContext(ctx, "a paid line waits, and somebody has to do something", "detail", err.Error())
	} else {
		log.WarnContext(ctx, "a paid line waits for the registry")
	}
	return r.postpone(ctx, delay)
}

// postpone gives the line back until later.
func (r *run) postpone(ctx context.Context, delay time.Duration) bool {
	item := r.item
	item.DueAt, item.Node = r.clock().Add(delay), ""
	_ = r.transition(ctx, Transition{To: item}) // it is logged there, and the lease ends by itself
	return false
}

// releaseLease gives the line back at once: the service stops.
func (r *run) releaseLease(ctx context.Context) { r.postpone(ctx, 0) }

// undo takes back what a refused line has left at the registry.
func (r *run) undo(ctx, call context.Context) bool {
	if r.item.Handle != "" {
		err := r.account.DeleteContact(call, r.item.Handle, r.item.ID+"-x")
		if err != nil {
			// Whatever the reason, a contact that is left behind is never forgotten.
			return r.retryLater(ctx, err)
		}
	}
	failpoint.Hit(failpointUndone)
	item := r.item
	item.State = StateFailed
	return r.finish(ctx, Transition{To: item, DropDomain: item.Kind != Renew})
}
