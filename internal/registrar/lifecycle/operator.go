package lifecycle

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PlannedAction is a hold or deletion that would begin now.
type PlannedAction struct {
	Term   Term
	Action Action
}

// Preview is the brake and what would happen if it were released now.
type Preview struct {
	Brake   BrakeStatus
	Started bool // there was a first run
	// Planned are holds, suspensions and deletions. Limit is how many a day need no confirmation.
	Planned []PlannedAction
	Limit   int
	// Online are due for a suspension that their registry does not offer: they stay in the DNS, and
	// don't count.
	Online []PlannedAction
}

// OpenTerms are unpaid terms that need an operator.
type OpenTerms struct {
	Waiting []Term   // for a decision; WaitsFor has the reason
	Left    []Term   // those that an operator has left alone
	Overdue []Domain // whose term had ended before the first run
	Brake   BrakeStatus
}

const maxListed = 1000

// Preview returns the brake and what would happen now.
func (s *Service) Preview(ctx context.Context, operator registrar.Actor) (Preview, error) {
	if err := operator.RequireOperator(); err != nil {
		return Preview{}, err
	}
	var preview Preview
	var err error
	if preview.Brake, preview.Started, err = s.cfg.Brake.Status(ctx); err != nil {
		return Preview{}, err
	}
	if preview.Limit, err = s.cfg.Brake.dayLimit(ctx); err != nil {
		return Preview{}, err
	}
	// A command in another process does not know the business time; the last run has it.
	if preview.Planned, err = s.plan(ctx, preview.Brake.LastRun, maxPlanned); err != nil {
		return Preview{}, err
	}
	suspensions, online, err := s.cfg.Suspensions(ctx, preview.Brake.LastRun)
	preview.Planned, preview.Online = append(preview.Planned, suspensions...), online
	return preview, err
}

// Confirm releases the brake. seen is the number of rows of the preview that the operator
// has seen: if there are more by now, nothing changes.
func (s *Service) Confirm(ctx context.Context, operator registrar.Actor, seen int) error {
	preview, err := s.Preview(ctx, operator)
	switch {
	case err != nil:
		return err
	case !preview.Brake.Engaged():
		return registrar.Conflict(BrakeReleased)
	case len(preview.Planned) > seen:
		return registrar.Conflict(PreviewChanged)
	}
	event := registrar.AuditEvent{Actor: operator, Action: ActionConfirmBrake, Object: string(preview.Brake.Reason), At: s.cfg.Now()}
	confirmed, err := s.cfg.Store.ConfirmBrake(ctx, preview.Brake.StoppedAt, preview.Brake.LastRun, len(preview.Planned), event)
	if err == nil && !confirmed {
		err = registrar.Conflict(BrakeReleased)
	}
	s.Wake()
	return err
}

// ListOpen returns what needs an operator.
func (s *Service) ListOpen(ctx context.Context, operator registrar.Actor) (OpenTerms, error) {
	if err := operator.RequireOperator(); err != nil {
		return OpenTerms{}, err
	}
	var open OpenTerms
	waiting, err := s.cfg.Store.ListWaitingTerms(ctx, maxListed)
	if err != nil {
		return OpenTerms{}, err
	}
	for _, term := range waiting {
		if term.WaitsFor == LeftAlone {
			open.Left = append(open.Left, term)
		} else {
			open.Waiting = append(open.Waiting, term)
		}
	}
	status, started, err := s.cfg.Brake.Status(ctx)
	open.Brake = status
	if err == nil && started {
		open.Overdue, err = s.cfg.Store.ListOverdueDomains(ctx, status.StartedAt, maxListed)
	}
	return open, err
}

// Delete deletes a domain by an operator's decision, or hands it over to the registry
// where that is the TLD's policy. A renewal still comes first.
func (s *Service) Delete(ctx context.Context, operator registrar.Actor, domain string) error {
	term, err := s.undecidedTerm(ctx, operator, domain)
	if err != nil {
		return err
	}
	next := intent(term, ActDelete)
	next.StepAt, next.DueAt, next.Attempts = s.now(ctx), s.cfg.Clock(), 0
	next.UpdatedAt = next.StepAt
	event := s.decision(operator, ActionDeletionSet, term)
	verdict, err := s.cfg.Store.BeginAction(ctx, BeginAction{From: term, To: next, AuditEvent: &event, Now: next.StepAt})
	switch {
	case err != nil:
		return err
	case verdict == Paying, verdict == NotUnpaid:
		return registrar.Conflict(PaymentInProgress)
	case verdict == Changed:
		return registrar.Conflict(TermChanged)
	case verdict != Begun: // a dispute forbids it
		return registrar.Conflict(registrar.Code(verdict))
	}
	s.terms.Wake()
	return nil
}

// Leave leaves a domain alone until an operator decides otherwise. The registry goes on
// charging for it.
func (s *Service) Leave(ctx context.Context, operator registrar.Actor, domain string) error {
	term, err := s.undecidedTerm(ctx, operator, domain)
	if err != nil {
		return err
	}
	left := term
	left.WaitsFor, left.StepAt, left.UpdatedAt = LeftAlone, time.Time{}, s.now(ctx)
	left.DueAt, left.Node = s.terms.Now(), "" // so that a worker that has listed it can't claim it
	event := s.decision(operator, ActionLeft, term)
	updated, err := s.cfg.Store.UpdateTerm(ctx, TermTransition{From: term, To: left, AuditEvent: &event, Now: left.UpdatedAt, At: s.cfg.Clock()})
	if err == nil && !updated {
		err = registrar.Conflict(TermChanged)
	}
	return err
}

// Adopt starts the procedure for a domain whose term had ended before the first run, as if
// it ended today. Its deletion waits for an operator, because its notices are not on record.
func (s *Service) Adopt(ctx context.Context, operator registrar.Actor, domain, customer, name string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	now := s.now(ctx)
	event := s.decision(operator, ActionAdopted, Term{Customer: customer, Name: name})
	adopted, err := s.cfg.Store.AdoptTerm(ctx, domain, now, s.cfg.Clock(), event)
	if err == nil && !adopted {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchTerm}
	}
	s.terms.Wake()
	return err
}

// undecidedTerm returns the unpaid term of a domain about which nothing is in progress.
func (s *Service) undecidedTerm(ctx context.Context, operator registrar.Actor, domain string) (Term, error) {
	if err := operator.RequireOperator(); err != nil {
		return Term{}, err
	}
	term, found, err := s.cfg.Store.GetOpenTerm(ctx, domain)
	switch {
	case err != nil:
		return Term{}, err
	case !found:
		return Term{}, &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchTerm}
	case term.State != Unpaid && term.State != Held:
		return Term{}, registrar.Conflict(TermChanged)
	}
	return term, nil
}

// now is the business time of the last run, which a command in another process does not
// know otherwise.
func (s *Service) now(ctx context.Context) time.Time {
	if status, started, err := s.cfg.Brake.Status(ctx); err == nil && started {
		return status.LastRun
	}
	return s.cfg.Now()
}

func (s *Service) decision(operator registrar.Actor, action registrar.Action, term Term) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: operator, Action: action, Customer: term.Customer, Object: term.Name, At: s.cfg.Now()}
}
