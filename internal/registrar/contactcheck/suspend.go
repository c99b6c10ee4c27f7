package contactcheck

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// suspend stores the intent to suspend the domains of a check and begins with it.
func (s *Service) suspend(ctx context.Context, check Check, domains int) error {
	now := s.cfg.Now()
	_, _, limit, err := s.cfg.Brake.Budget(ctx, now)
	if err != nil {
		return err
	}
	verdict, suspended, err := s.begin(ctx, check, Suspension{Domains: domains, Day: lifecycle.DayOf(now), DayLimit: limit, Notices: LastNotice})
	if err != nil {
		return err
	}
	waiting := check
	switch verdict {
	case Begun:
		return s.holdDomains(ctx, suspended)
	case Stopped:
		return s.cfg.Brake.StopByVolume(ctx, now)
	case MailQueued:
		waiting.StepAt = now.Add(minRecheck)
		return s.update(ctx, Transition{From: check, To: waiting})
	case Unaccepted:
		if check.WaitsFor == "" {
			s.cfg.Logger.WarnContext(ctx, "contact check waits for an operator: mails not accepted", "check", check.ID)
		}
		waiting.WaitsFor, waiting.StepAt = WaitsForNotices, now.Add(recheckInterval)
		return s.update(ctx, Transition{From: check, To: waiting})
	default:
		return nil
	}
}

// begin stores the intent.
func (s *Service) begin(ctx context.Context, check Check, suspension Suspension) (Verdict, Check, error) {
	now := s.cfg.Now()
	next := check
	next.State, next.SuspendedAt, next.StepAt, next.WaitsFor = Suspended, now, now, ""
	mail, err := s.customerMail(ctx, registrar.MailContactSuspended, check)
	if err != nil {
		return "", check, err
	}
	event := s.auditEvent(ActionSuspended, check)
	suspension.Transition = Transition{From: check, To: next, Mail: &mail, Event: &event, At: s.cfg.Clock()}
	verdict, err := s.cfg.Store.BeginSuspension(ctx, suspension)
	if err == nil && verdict == Begun {
		s.cfg.OnState(Suspended)
		s.cfg.MailQueued()
		failpoint.Hit("suspension_written")
	}
	return verdict, next, err
}

// holdDomains puts every domain of a suspended check on hold that is not yet.
func (s *Service) holdDomains(ctx context.Context, check Check) error {
	worst := domainchange.Done
	for after := ""; ; {
		domains, err := s.cfg.Store.ListDomainsOfCheck(ctx, check.ID, after, batch)
		if err != nil {
			return err
		}
		for _, domain := range domains {
			progress, err := s.cfg.Changes.HoldFor(ctx, domain.Customer, domain.ID, domain.Hold)
			switch {
			case registrar.CodeOf(err) == registrar.NoSuchDomain: // it has left
			case err != nil:
				return err
			default:
				worst = min(worst, progress)
			}
		}
		if len(domains) < batch {
			break
		}
		after = domains[len(domains)-1].ID
	}
	now := s.cfg.Now()
	next := check
	switch worst {
	case domainchange.Done:
		next.StepAt, next.WaitsFor = time.Time{}, ""
	case domainchange.Blocked:
		next.StepAt, next.WaitsFor = now.Add(recheckInterval), WaitsForRegistry
	default:
		next.StepAt = now.Add(min(max(now.Sub(check.SuspendedAt)/4, minRecheck), maxRecheck))
	}
	return s.update(ctx, Transition{From: check, To: next})
}

// release ends the hold of a domain that waits for no confirmation any more.
func (s *Service) release(ctx context.Context, domain Domain) {
	storeCtx, cancel := storeContext(ctx)
	defer cancel()
	progress, err := s.cfg.Changes.ReleaseFor(storeCtx, domain.Customer, domain.ID, domain.Hold)
	if err == nil && progress == domainchange.Done {
		err = s.cfg.Store.ClearContactHold(storeCtx, domain.ID, domain.Hold)
	}
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "suspended domain not released, will retry", "domain", domain.ID, "error", err.Error())
	}
}
