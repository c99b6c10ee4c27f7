package provision

import (
	"context"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	minBackoff = time.Second
	maxBackoff = 10 * time.Minute
	// A pending request is polled with backoff; a poll message makes it due at once.
	minPendingPoll = 3 * time.Second
	maxPendingPoll = time.Hour
)

// refuse marks an item for a refund after a final refusal.
func (r *run) refuse(ctx context.Context, err error) error {
	// The error text names the rule or the result code, never the domain name.
	r.cfg.Logger.WarnContext(ctx, "order item refused", "item", r.item.ID, "extension", r.item.TLD, "account", r.item.Account,
		"state", string(r.item.State), "detail", err.Error())
	item := r.item
	item.Failure, item.RefundDue = registrar.CodeOf(err), true
	if err := r.advance(ctx, item, StateUndoing); err != nil {
		return err
	}
	failpoint.Hit("undoing")
	return nil
}

// onRetry reports that an item has to wait. An account without funds, an internal fault and
// a contact that can't be deleted need an operator, so they are logged as errors.
func (s *Service) onRetry(ctx context.Context, log *slog.Logger, item Item, err error) {
	code := registrar.CodeOf(err)
	s.cfg.OnRetry(code)
	log = log.With("item", item.ID, "extension", item.TLD, "account", item.Account, "state", string(item.State))
	if code == Billing || registrar.KindOf(err) == registrar.KindInternal || !registrar.IsTransient(err) {
		log.ErrorContext(ctx, "order item blocked, operator action required", "detail", err.Error())
	} else {
		log.WarnContext(ctx, "order item waiting for the registry")
	}
}

func (s *Service) postpone(ctx context.Context, item Item, due time.Time) {
	next := item
	next.DueAt, next.Node = due, ""
	_ = (&run{Service: s, item: item}).transition(ctx, Transition{To: next}) // logged; otherwise the lease expires
}

// undo deletes what a refused item has left at the registry. A contact left behind is
// retried whatever the reason.
func (r *run) undo(ctx, call context.Context) error {
	if r.item.Handle != "" {
		if err := r.account.DeleteContact(call, r.item.Handle, r.item.ID+"-x"); err != nil {
			return err
		}
	}
	failpoint.Hit("undone")
	item := r.item
	item.State = StateFailed
	return r.finish(ctx, Transition{To: item, DropDomain: !item.Kind.ForHeldDomain()})
}
