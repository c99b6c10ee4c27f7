package lifecycle

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
)

const (
	// followInterval is how often the registry is asked about a domain that it deletes
	// itself, and recheckInterval how often a term that waits for an operator is checked.
	// Both are business time.
	followInterval, recheckInterval = day, day
	// minDelay and maxDelay bound how long a term is left alone while its domain is being
	// paid, a notice is being sent, or the registry does not show a deletion yet.
	minDelay, maxDelay = time.Second, time.Minute
)

// listDueTerms returns what the brake lets through. If more would be held or deleted today
// than the limit allows, it engages the brake before anything has begun.
func (s *Service) listDueTerms(ctx context.Context, clock time.Time, limit int) ([]Term, error) {
	now := s.cfg.Now()
	status, err := s.cfg.Brake.check(ctx, now, statusMaxAge)
	if err != nil || status.StoppedByClock() {
		return nil, err
	}
	stopped := status.Engaged()
	due, err := s.cfg.Store.ListDueTerms(ctx, now, clock, stopped, limit)
	if err != nil || stopped || len(due) == 0 {
		return due, err
	}
	dayLimit, err := s.cfg.Brake.dayLimit(ctx)
	if err != nil {
		return nil, err
	}
	remaining := status.remaining(DayOf(now), dayLimit)
	if len(due) < limit && len(due) <= remaining {
		return due, nil
	}
	planned, err := s.plan(ctx, now, max(remaining, 0)+batch)
	if err != nil {
		return nil, err
	}
	if len(planned) == 0 || len(planned) <= remaining {
		return due, nil
	}
	if err := s.cfg.Brake.stopByVolume(ctx, now); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListDueTerms(ctx, now, clock, true, limit)
}

// maxPlanned bounds the rows that a plan reads.
const maxPlanned = 100_000

// plan returns up to limit holds and deletions that are due.
func (s *Service) plan(ctx context.Context, now time.Time, limit int) ([]PlannedAction, error) {
	for rows := 2 * limit; ; rows *= 4 {
		terms, err := s.cfg.Store.ListPlannedTerms(ctx, now, min(rows, maxPlanned))
		if err != nil {
			return nil, err
		}
		var planned []PlannedAction
		for _, term := range terms {
			if action := PolicyOf(term.TLD).NextAction(term.State); action != ActFollow && action != ActWait && len(planned) < limit {
				planned = append(planned, PlannedAction{Term: term, Action: action})
			}
		}
		if len(planned) == limit || len(terms) < rows || rows >= maxPlanned {
			return planned, nil
		}
	}
}

func (s *Service) claim(ctx context.Context, term Term, leaseEnd time.Time) (Term, bool) {
	claimed := term
	claimed.DueAt, claimed.Node = leaseEnd, s.cfg.Node
	claimed.Attempts++
	return s.apply(ctx, TermTransition{From: term, To: claimed})
}

func (s *Service) postpone(ctx context.Context, term Term, due time.Time) {
	next := term
	next.DueAt, next.Node = due, ""
	s.apply(ctx, TermTransition{From: term, To: next}) // otherwise the lease expires by itself
}

func (s *Service) onRetry(ctx context.Context, log *slog.Logger, term Term, err error) {
	log = log.With("domain", term.Domain, "extension", term.TLD, "account", term.Account, "state", string(term.State))
	if registrar.KindOf(err) == registrar.KindInternal {
		log.ErrorContext(ctx, "unpaid term blocked, operator action required")
	} else {
		log.WarnContext(ctx, "unpaid term waiting for the registry")
	}
}

// apply stores a transition and reports whether this node still has the lease.
func (s *Service) apply(ctx context.Context, transition TermTransition) (Term, bool) {
	storeCtx, cancel := s.terms.StoreContext(ctx)
	defer cancel()
	transition.Now, transition.At = s.cfg.Now(), s.terms.Now()
	transition.To.UpdatedAt = transition.Now
	if transition.To.State.Final() {
		transition.To.StepAt, transition.To.DueAt, transition.To.Node, transition.To.WaitsFor = time.Time{}, time.Time{}, "", ""
		transition.To.EndedAt = transition.Now
	}
	var err error
	if transition.Mail != nil {
		err = s.addDeclared(storeCtx, transition.Mail.Data, transition.From.Customer, transition.From.End)
	}
	if err == nil && transition.Mail != nil {
		transition.HolderMail, err = s.holderMail(storeCtx, *transition.Mail)
	}
	updated := false
	if err == nil {
		updated, err = s.cfg.Store.UpdateTerm(storeCtx, transition)
	}
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "unpaid term not stored", "domain", transition.From.Domain, "state", string(transition.To.State), "error", err.Error())
	}
	if err != nil || !updated {
		return transition.From, false
	}
	if transition.To.State != transition.From.State {
		s.cfg.OnTransition(transition.To.State)
		s.cfg.Logger.InfoContext(ctx, "unpaid term changed state", "domain", transition.To.Domain, "extension", transition.To.TLD, "state", string(transition.To.State))
	}
	if transition.Mail != nil {
		s.cfg.MailQueued()
	}
	return transition.To, true
}

// settle stores the last transition of a run, which ends the lease.
func (s *Service) settle(ctx context.Context, transition TermTransition) (Term, error) {
	transition.To.DueAt, transition.To.Node = s.terms.Now(), ""
	after, stored := s.apply(ctx, transition)
	if !stored {
		return after, jobs.ErrSettled
	}
	return after, nil
}

// handle does the next step of a claimed term.
func (s *Service) handle(ctx context.Context, term Term) (Term, error) {
	if term.State == Unpaid || term.State == Held {
		if term.WaitsFor == WaitsForReview {
			return s.wait(ctx, term, WaitsForReview)
		}
		action := PolicyOf(term.TLD).NextAction(term.State)
		if action == ActFollow {
			return s.follow(ctx, term)
		}
		if action == ActWait {
			return s.wait(ctx, term, WaitsForOperator)
		}
		begun, err := s.begin(ctx, term, action)
		if err != nil || begun.State != Holding && begun.State != Deleting {
			return begun, err
		}
		term = begun
	}
	switch term.State {
	case Holding:
		return s.hold(ctx, term)
	case Deleting:
		return s.remove(ctx, term)
	case Redemption:
		return s.follow(ctx, term)
	case Releasing:
		return s.release(ctx, term)
	default:
		s.cfg.Logger.ErrorContext(ctx, "unpaid term has an unknown state", "domain", term.Domain, "state", string(term.State))
		return term, jobs.ErrSettled
	}
}

// begin stores the intent of an action under this node's lease. If the term has to wait, it
// is returned in its old state.
func (s *Service) begin(ctx context.Context, term Term, action Action) (Term, error) {
	now := s.cfg.Now()
	limit, err := s.cfg.Brake.dayLimit(ctx)
	if err != nil {
		return term, registrar.DatabaseError(err)
	}
	next := intent(term, action)
	next.UpdatedAt = now
	storeCtx, cancel := s.terms.StoreContext(ctx)
	defer cancel()
	verdict, err := s.cfg.Store.BeginAction(storeCtx, BeginAction{
		From: term, To: next, Consent: PolicyOf(term.TLD).Unpaid == UnpaidConsent, Notices: action != ActHold,
		Counted: true, Day: DayOf(now), DayLimit: limit, Now: now,
	})
	if err != nil {
		return term, registrar.DatabaseError(err)
	}
	switch verdict {
	case Begun:
		s.cfg.OnTransition(next.State)
		if next.State == Holding {
			failpoint.Hit("hold_written")
		} else {
			failpoint.Hit("delete_written")
		}
		return next, nil
	case Changed:
		return term, jobs.ErrSettled
	case Paying, MailQueued:
		return term, again(term)
	case Stopped:
		if err := s.cfg.Brake.stopByVolume(ctx, now); err != nil {
			return term, registrar.DatabaseError(err)
		}
		return term, jobs.Again(pollInterval)
	case NotUnpaid:
		return s.resolve(ctx, term)
	default:
		return s.wait(ctx, term, registrar.Code(verdict))
	}
}

// again makes a term due again soon: nothing is wrong with it.
func again(term Term) error { return jobs.Again(jobs.Backoff(term.Attempts, minDelay, maxDelay)) }

// intent returns the term as it is stored before the command of an action.
func intent(term Term, action Action) Term {
	term.State, term.WaitsFor, term.Attempts = Deleting, "", 1
	if action == ActHold {
		term.State = Holding
	}
	return term
}

// resolve ends a term whose domain has changed otherwise: it left, or was renewed.
func (s *Service) resolve(ctx context.Context, term Term) (Term, error) {
	state, err := s.registryState(ctx, term)
	if err != nil {
		return term, err
	}
	if state == Registered { // under another term
		ended := term
		ended.State = Paid
		return s.settle(ctx, TermTransition{From: term, To: ended})
	}
	return s.settleAs(ctx, term, state)
}

func (s *Service) registryState(ctx context.Context, term Term) (RegistryState, error) {
	return s.call(ctx, term, func(ctx context.Context, registry Registry) (RegistryState, error) {
		return registry.RegistryState(ctx, term.Name)
	})
}

// call calls the term's registry account.
func (s *Service) call(ctx context.Context, term Term, do func(context.Context, Registry) (RegistryState, error)) (RegistryState, error) {
	registry, served := s.registryFor(term.Account, term.TLD)
	if !served {
		return "", &registrar.Error{Kind: registrar.KindInternal, Code: registrar.NoRegistryAccount}
	}
	callCtx, cancel := s.terms.CallContext(ctx)
	defer cancel()
	return do(callCtx, registry)
}

// transaction derives the transaction id of a command from the term, so that a repetition
// has the same.
func transaction(term Term, suffix string) string { return term.Domain + suffix }

// hold takes the domain out of the DNS.
func (s *Service) hold(ctx context.Context, term Term) (Term, error) {
	state, err := s.call(ctx, term, func(ctx context.Context, registry Registry) (RegistryState, error) {
		return registry.Hold(ctx, term.Name, transaction(term, "-h"))
	})
	failpoint.Hit("hold_made")
	switch {
	case err != nil:
		return s.refused(ctx, term, err)
	case state != Registered:
		return s.settleAs(ctx, term, state)
	}
	now := s.cfg.Now()
	held := term
	held.State, held.HeldAt, held.WaitsFor, held.Attempts = Held, now, "", 0
	held.StepAt = PolicyOf(term.TLD).DeletionAt(term.End, now)
	data := noticeData(term.Domain, term.Name, term.End)
	data["at"], data["delete_at"] = dateText(now), dateText(held.StepAt)
	after, err := s.settle(ctx, TermTransition{
		From: term, To: held, DomainStatus: registrar.DomainExpired,
		AuditEvent: s.auditEvent(ActionHeld, term.Customer, term.Name),
		Mail:       &registrar.Mail{Kind: registrar.MailDomainHeld, Customer: term.Customer, Data: data},
	})
	if errors.Is(err, jobs.ErrSettled) {
		return s.releaseIfPaid(ctx, term)
	}
	return after, err
}

// releaseIfPaid removes a hold at once if the domain was renewed while the command was in
// flight. Otherwise the stored state does so later.
func (s *Service) releaseIfPaid(ctx context.Context, term Term) (Term, error) {
	storeCtx, cancel := s.terms.StoreContext(ctx)
	defer cancel()
	current, found, err := s.cfg.Store.GetTerm(storeCtx, term.Domain, term.End)
	if err != nil || !found || current.State != Releasing {
		return term, jobs.ErrSettled
	}
	return s.release(ctx, current)
}

// release removes the hold of a domain that was renewed. Package provision has done so
// already, unless the hold was set later.
func (s *Service) release(ctx context.Context, term Term) (Term, error) {
	paid := term
	paid.State = Paid
	storeCtx, cancel := s.terms.StoreContext(ctx)
	suspended, err := s.cfg.Store.IsDomainSuspended(storeCtx, term.Domain)
	cancel()
	if err != nil {
		return term, registrar.DatabaseError(err)
	}
	if suspended { // the hold has another reason, too
		return s.settle(ctx, TermTransition{From: term, To: paid})
	}
	_, err = s.call(ctx, term, func(ctx context.Context, registry Registry) (RegistryState, error) {
		return Registered, registry.Unhold(ctx, term.Name, transaction(term, "-u"))
	})
	switch kind := registrar.KindOf(err); {
	case err != nil && (kind == registrar.KindNotFound || kind == registrar.KindForbidden): // nothing of ours to release
	case err != nil:
		return s.refused(ctx, term, err)
	}
	return s.settle(ctx, TermTransition{From: term, To: paid})
}

// remove deletes the domain, or hands it over to the registry. A lock that was set since the
// intent was stored stops the command if it has not been executed.
func (s *Service) remove(ctx context.Context, term Term) (Term, error) {
	storeCtx, cancel := s.terms.StoreContext(ctx)
	locked, err := s.cfg.Store.IsLocked(storeCtx, term.Domain)
	cancel()
	if err != nil {
		return term, registrar.DatabaseError(err)
	}
	if locked {
		state, err := s.registryState(ctx, term)
		switch {
		case err != nil:
			return s.refused(ctx, term, err)
		case state == Registered:
			return s.settle(ctx, TermTransition{From: term, To: s.waiting(withoutIntent(term), WaitsForLock)})
		}
		return s.settleAs(ctx, term, state)
	}
	var fee registrar.Money
	sentAt := s.cfg.Now()
	state, err := s.call(ctx, term, func(ctx context.Context, registry Registry) (state RegistryState, err error) {
		state, fee, err = registry.Delete(ctx, term.Name, transaction(term, "-x"))
		return state, err
	})
	failpoint.Hit("delete_made")
	switch {
	case err != nil:
		return s.refused(ctx, term, err)
	case state == Registered: // accepted, and not visible yet
		return term, again(term)
	case state == Elsewhere && PolicyOf(term.TLD).Unpaid == UnpaidTransit:
		return s.close(ctx, term, ActionHandedOver, nil)
	case !fee.IsZero():
		return s.settleDeleted(ctx, term, state, s.reportedFee(term, fee, sentAt))
	}
	return s.settleAs(ctx, term, state)
}

// follow looks at what the registry does.
func (s *Service) follow(ctx context.Context, term Term) (Term, error) {
	state, err := s.registryState(ctx, term)
	switch {
	case err != nil:
		return s.refused(ctx, term, err)
	case term.State == Redemption && state == Registered:
		// Not by one of our restores: the customer can renew it, and an operator decides.
		again := s.waiting(term, WaitsForReview)
		again.State, again.DeletedAt = Unpaid, time.Time{}
		return s.settle(ctx, TermTransition{From: term, To: again, DomainStatus: registrar.DomainExpired, UnlessPaid: true})
	case state == Registered, term.State == Redemption && state == Deleted:
		next := term
		next.StepAt, next.WaitsFor, next.Attempts = s.cfg.Now().Add(followInterval), "", 0
		transition := TermTransition{From: term, To: next}
		if state == Registered { // its statuses change without us, so the comparison with the registry is due, too
			transition.DomainStatus = registrar.DomainExpired
		}
		return s.settle(ctx, transition)
	}
	return s.settleAs(ctx, term, state)
}

// settleAs stores that the registry no longer has the domain registered for us.
func (s *Service) settleAs(ctx context.Context, term Term, state RegistryState) (Term, error) {
	returned, err := s.unreportedFee(ctx, term, state)
	if err != nil {
		return term, err
	}
	return s.settleDeleted(ctx, term, state, returned)
}

// settleDeleted is settleAs with the fee that the registry returned; nil if none.
func (s *Service) settleDeleted(ctx context.Context, term Term, state RegistryState, returned *cost.Charge) (Term, error) {
	switch state {
	case Deleted:
		return s.deleted(ctx, term, returned)
	case Elsewhere:
		left := term
		left.State = Closed
		return s.settle(ctx, TermTransition{From: term, To: left, DomainStatus: registrar.DomainTransferredOut})
	default:
		return s.close(ctx, term, ActionClosed, returned)
	}
}

// deleted stores that the domain was deleted and can be restored.
func (s *Service) deleted(ctx context.Context, term Term, returned *cost.Charge) (Term, error) {
	now := s.cfg.Now()
	until := RestorableUntil(term.TLD, now)
	next := term
	next.State, next.DeletedAt, next.WaitsFor, next.Attempts = Redemption, now, "", 0
	next.StepAt = notBefore(until, now.Add(followInterval))
	data := noticeData(term.Domain, term.Name, term.End)
	data["at"] = dateText(now)
	if term.Cause == CauseRefund {
		data["change"] = "refunded"
	}
	if price, restorable := s.cfg.RestorePrice(ctx, term, now); restorable && !until.IsZero() {
		data["until"] = dateText(registrar.LastFullDay(until))
		if price > 0 {
			data["gross"] = price.String()
		}
	}
	return s.settle(ctx, TermTransition{
		From: term, To: next, DomainStatus: registrar.DomainRedemption,
		AuditEvent: s.auditEvent(ActionDeleted, term.Customer, term.Name),
		Mail:       &registrar.Mail{Kind: registrar.MailDomainDeleted, Customer: term.Customer, Data: data}, ReturnedFee: returned,
	})
}

// deleteContact deletes the registrant's contact of a domain that is gone: personal data
// must not stay at the registry. A contact that is still in use stays.
func (s *Service) deleteContact(ctx context.Context, term Term) error {
	handle, err := s.cfg.Store.GetDomainHandle(ctx, term.Domain)
	if err != nil || handle == "" {
		return registrar.DatabaseError(err)
	}
	_, err = s.call(ctx, term, func(ctx context.Context, registry Registry) (RegistryState, error) {
		return Gone, registry.DeleteContact(ctx, handle, transaction(term, "-c"))
	})
	if err != nil && !registrar.IsTransient(err) {
		s.cfg.Logger.WarnContext(ctx, "contact of a closed domain not deleted", "domain", term.Domain, "extension", term.TLD, "detail", err.Error())
		return nil
	}
	return err
}

// close removes the domain from its customer's list.
func (s *Service) close(ctx context.Context, term Term, action registrar.Action, returned *cost.Charge) (Term, error) {
	if err := s.deleteContact(ctx, term); err != nil {
		return term, err
	}
	closed := term
	closed.State = Closed
	if closed.DeletedAt.IsZero() {
		closed.DeletedAt = s.cfg.Now()
	}
	data := noticeData(term.Domain, term.Name, term.End)
	data["at"] = dateText(s.cfg.Now())
	switch {
	case term.Cause == CauseRefund && action == ActionHandedOver:
		data["change"] = "refunded_handed_over"
	case term.Cause == CauseRefund:
		data["change"] = "refunded"
	case action == ActionHandedOver:
		data["change"] = "handed_over"
	}
	return s.settle(ctx, TermTransition{
		From: term, To: closed, Close: true, AuditEvent: s.auditEvent(action, term.Customer, term.Name),
		Mail: &registrar.Mail{Kind: registrar.MailDomainClosed, Customer: term.Customer, Data: data}, ReturnedFee: returned,
	})
}

// wait stores why an operator is needed. It is checked again every day. The customer is reminded of a
// domain that runs on meanwhile.
func (s *Service) wait(ctx context.Context, term Term, reason registrar.Code) (Term, error) {
	if term.WaitsFor != reason {
		s.cfg.Logger.WarnContext(ctx, "unpaid term waits for an operator", "domain", term.Domain, "extension", term.TLD, "reason", string(reason))
	}
	transition := TermTransition{From: term, To: s.waiting(term, reason)}
	if PolicyOf(term.TLD).Lasts() && (reason == WaitsForConsent || reason == WaitsForOperator) {
		storeCtx, cancel := s.terms.StoreContext(ctx)
		defer cancel()
		var err error
		if transition.Mail, err = s.unpaidReminder(storeCtx, term, s.cfg.Now()); err != nil {
			return term, registrar.DatabaseError(err)
		}
	}
	return s.settle(ctx, transition)
}

func (s *Service) waiting(term Term, reason registrar.Code) Term {
	term.WaitsFor, term.StepAt, term.Attempts = reason, s.cfg.Now().Add(recheckInterval), 0
	return term
}

// refused retries what the registry has not decided; otherwise an operator decides.
func (s *Service) refused(ctx context.Context, term Term, err error) (Term, error) {
	if registrar.IsTransient(err) {
		return term, err
	}
	// The error text names the rule or the result code, never the domain name.
	s.cfg.Logger.WarnContext(ctx, "registry refused a command about an unpaid term", "domain", term.Domain, "extension", term.TLD,
		"account", term.Account, "state", string(term.State), "detail", err.Error())
	return s.settle(ctx, TermTransition{From: term, To: s.waiting(withoutIntent(term), WaitsForRegistry)})
}

// withoutIntent takes back the intent of a command that was refused and thus not executed:
// the domain can be renewed again.
func withoutIntent(term Term) Term {
	switch {
	case term.State != Holding && term.State != Deleting:
	case term.Cause == CauseRefund: // its term is not unpaid; the deletion is tried again every day
	case term.HeldAt.IsZero():
		term.State = Unpaid
	default:
		term.State = Held
	}
	return term
}
