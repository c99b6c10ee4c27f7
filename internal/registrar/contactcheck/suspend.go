package contactcheck

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// suspend stores the intent to suspend the domains of a check and begins with it. Those that stay in the
// DNS don't count for the brake.
func (s *Service) suspend(ctx context.Context, check Check) error {
	now := s.cfg.Now()
	if due := endOfDay(check.DueAt); now.Before(due) { // of a release that suspended during the last day
		waiting := check
		waiting.DueAt, waiting.StepAt = due, due
		return s.update(ctx, Transition{From: check, To: waiting})
	}
	_, _, limit, err := s.cfg.Brake.Budget(ctx, now)
	if err != nil {
		return err
	}
	domains, err := s.listDomains(ctx, check)
	if err != nil {
		return err
	}
	going, _ := s.split(domains)
	verdict, suspended, err := s.begin(ctx, check, Suspension{Domains: len(going), Day: lifecycle.DayOf(now), DayLimit: limit, Notices: LastNotice})
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
	suspension.Transition = Transition{From: check, To: next, At: s.cfg.Clock()}
	verdict, err := s.cfg.Store.BeginSuspension(ctx, suspension)
	if err == nil && verdict == Begun {
		s.cfg.OnState(Suspended)
		failpoint.Hit("suspension_written")
	}
	return verdict, next, err
}

// holdDomains puts every domain of a suspended check on hold that is not yet. The customer gets
// the mail once the registries have decided about all of them; it names those that are offline.
func (s *Service) holdDomains(ctx context.Context, check Check) error {
	progress, err := s.requestHolds(ctx, check)
	if err != nil {
		return err
	}
	now := s.cfg.Now()
	next := check
	if progress == domainchange.InProgress {
		next.StepAt = now.Add(min(max(now.Sub(check.SuspendedAt)/4, minRecheck), maxRecheck))
		return s.update(ctx, Transition{From: check, To: next})
	}
	all, err := s.listDomains(ctx, check)
	if err != nil {
		return err
	}
	held := slices.DeleteFunc(slices.Clone(all), func(d Domain) bool { return !d.Held })
	if next.StepAt, next.WaitsFor = (time.Time{}), ""; len(held) < len(all) {
		next.StepAt, next.WaitsFor = now.Add(recheckInterval), WaitsForRegistry
	}
	transition := Transition{From: check, To: next}
	if len(held) > 0 && (len(held) == len(all) || check.WaitsFor != WaitsForRegistry) {
		mail, event := customerMail(registrar.MailContactSuspended, check, held), s.auditEvent(ActionSuspended, check)
		transition.Mails, transition.Event = []registrar.Mail{mail}, &event
	}
	return s.update(ctx, transition)
}

// requestHolds requests a hold for each domain of a check, and returns the least progress.
func (s *Service) requestHolds(ctx context.Context, check Check) (domainchange.Progress, error) {
	worst := domainchange.Done
	domains, err := s.listDomains(ctx, check)
	for _, domain := range domains {
		progress, err := s.cfg.Changes.HoldFor(ctx, domain.Customer, domain.ID, domain.Hold)
		switch {
		case registrar.CodeOf(err) == registrar.NoSuchDomain: // it has left
		case err != nil:
			return worst, err
		default:
			worst = min(worst, progress)
		}
	}
	return worst, err
}

// listDomains returns all domains of a check.
func (s *Service) listDomains(ctx context.Context, check Check) (all []Domain, err error) {
	for after := ""; ; after = all[len(all)-1].ID {
		domains, err := s.cfg.Store.ListDomainsOfCheck(ctx, check.ID, after, batch)
		if all = append(all, domains...); err != nil || len(domains) < batch {
			return all, err
		}
	}
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
