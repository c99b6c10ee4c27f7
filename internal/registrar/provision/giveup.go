package provision

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// GivenUp is the failure of an item that an operator has given up.
const GivenUp registrar.Code = "given_up"

// GiveUpAfter is how long an item is retried after its payment before an operator may give it up.
const GiveUpAfter = time.Minute

// Why an item can't be given up. All are KindConflict.
const (
	ItemEnded    registrar.Code = "item_ended"        // nothing is left to give up
	NotStuck     registrar.Code = "item_not_stuck"    // it is being processed, or waits for its first attempt
	JustPaid     registrar.Code = "item_just_paid"    // it was paid within GiveUpAfter
	JustSent     registrar.Code = "item_just_sent"    // the registry may still execute what was sent within Config.Deadline
	Executed     registrar.Code = "item_executed"     // the registry has executed or accepted it
	Unverifiable registrar.Code = "item_unverifiable" // whether the registry has executed it can't be asked now
)

// GiveUp ends an item that waits for its registry and marks it for a refund. If its command may
// have been sent, the registry is asked first: what it has executed or accepted is not given up.
func (s *Service) GiveUp(ctx context.Context, operator registrar.Actor, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	item, found, err := s.cfg.Store.ProvisionItemByID(ctx, id)
	switch {
	case err != nil:
		return err
	case !found:
		return registrar.NotFound(NoSuchItem)
	}
	if why := s.whyNotStuck(item); why != "" {
		return registrar.Conflict(why)
	}
	r := &run{Service: s, account: s.accountByName(item.Account), item: item, maybeSent: true}
	if err := r.transition(ctx, Transition{To: item}); err != nil { // a node was faster
		return registrar.Conflict(NotStuck)
	}
	if err := r.verifyNotExecuted(ctx); err != nil {
		s.postpone(ctx, r.item, s.items.Now())
		s.Wake() // completes what the registry has executed
		return err
	}
	given := r.item
	given.State, given.Attempts, given.Failure, given.RefundDue = StateUndoing, 1, GivenUp, true
	event := registrar.AuditEvent{Actor: operator, Action: ActionGivenUp, Customer: item.Customer, Object: item.Name, At: s.cfg.Now()}
	s.cfg.Logger.WarnContext(ctx, "order item given up by an operator", "item", item.ID, "extension", item.TLD, "state", string(item.State))
	if r.account == nil { // no one can delete its contact
		given.State = StateFailed
		if err := r.finish(ctx, Transition{To: given, DropDomain: !item.Kind.ForHeldDomain(), AuditEvent: &event}); err != nil {
			return registrar.Conflict(NotStuck)
		}
		return nil
	}
	if err := r.transition(ctx, Transition{To: given, AuditEvent: &event}); err != nil {
		return registrar.Conflict(NotStuck)
	}
	s.postpone(ctx, r.item, s.items.Now())
	s.Wake()
	return nil
}

// whyNotStuck returns why an item can't be given up; empty if it can: an attempt has failed, and no node
// is working on it. The registry may still execute a command that timed out, so we wait for its answer
// once more as long.
func (s *Service) whyNotStuck(item Item) registrar.Code {
	switch {
	case item.State.Final(), item.State == StateUndoing:
		return ItemEnded
	case item.Attempts == 0, item.Node != "" && item.DueAt.After(s.items.Now()):
		return NotStuck
	case s.cfg.Now().Sub(item.CreatedAt) < GiveUpAfter:
		return JustPaid
	case item.State == StateRequested && s.cfg.Now().Sub(item.UpdatedAt) < s.cfg.Deadline:
		return JustSent
	default:
		return ""
	}
}

// verifyNotExecuted returns an error unless the registry has neither executed nor accepted the
// item's request.
func (r *run) verifyNotExecuted(ctx context.Context) error {
	if r.item.State != StateRequested && r.item.State != StatePending {
		return nil // nothing was requested
	}
	if r.account == nil || r.item.Kind == Restore { // the query of a restore continues it
		return registrar.Conflict(Unverifiable)
	}
	request, err := r.buildRequest()
	if err != nil {
		return err
	}
	call, cancel := r.items.CallContext(ctx)
	defer cancel()
	_, err = r.account.Outcome(call, request)
	switch {
	case err == nil:
		return registrar.Conflict(Executed)
	case registrar.CodeOf(err) == registrar.RegistryDenied, registrar.CodeOf(err) == registrar.TransferRejected:
		return nil
	default:
		return &registrar.Error{Kind: registrar.KindConflict, Code: Unverifiable, Err: err}
	}
}
