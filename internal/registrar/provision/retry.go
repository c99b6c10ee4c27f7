package provision

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// handleError retries the item or fails it, depending on the error.
func (r *run) handleError(ctx context.Context, err error) bool {
	if registrar.IsTransient(err) {
		return r.retryLater(ctx, err)
	}
	// The error text names the rule or the result code, never the domain name.
	r.cfg.Logger.WarnContext(ctx, "order item refused", "item", r.item.ID, "extension", r.item.TLD, "account", r.item.Account,
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

// retryLater postpones the item with backoff. An account without funds, an internal fault
// and a contact that can't be deleted need an operator, so they are logged as errors.
func (r *run) retryLater(ctx context.Context, err error) bool {
	kind, code := registrar.KindOf(err), registrar.CodeOf(err)
	delay := jobs.Backoff(r.item.Attempts, minBackoff, maxBackoff)
	log := r.cfg.Logger.With("item", r.item.ID, "extension", r.item.TLD, "account", r.item.Account, "state", string(r.item.State),
		"reason", kind.String(), "code", string(code), "attempts", r.item.Attempts, "retry_in", delay.String())
	r.cfg.OnRetry(code)
	r.cfg.RecordError(ctx, r.item.ID, code)
	if code == Billing || kind == registrar.KindInternal || !registrar.IsTransient(err) {
		log.ErrorContext(ctx, "order item blocked, operator action required", "detail", err.Error())
	} else {
		log.WarnContext(ctx, "order item waiting for the registry")
	}
	return r.postpone(ctx, delay)
}

// postpone releases the lease and makes the item due after delay.
func (r *run) postpone(ctx context.Context, delay time.Duration) bool {
	item := r.item
	item.DueAt, item.Node = r.clock().Add(delay), ""
	_ = r.transition(ctx, Transition{To: item}) // transition logs the error, and the lease expires by itself
	return false
}

// releaseLease makes the item due at once, for the next node or start.
func (r *run) releaseLease(ctx context.Context) { r.postpone(ctx, 0) }

// undo deletes what a refused item has left at the registry.
func (r *run) undo(ctx, call context.Context) bool {
	if r.item.Handle != "" {
		err := r.account.DeleteContact(call, r.item.Handle, r.item.ID+"-x")
		if err != nil {
			// A contact left behind is retried whatever the reason.
			return r.retryLater(ctx, err)
		}
	}
	failpoint.Hit(failpointUndone)
	item := r.item
	item.State = StateFailed
	return r.finish(ctx, Transition{To: item, DropDomain: item.Kind != Renew})
}
