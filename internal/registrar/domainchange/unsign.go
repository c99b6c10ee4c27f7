package domainchange

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// removeDS is the first step of a nameserver change of a domain with DS records. That there
// were some is stored before they are removed: after a crash the registry has none, and the
// TTL must be waited for nevertheless.
func (s *Service) removeDS(ctx context.Context, change Change, record Record) (after Change, code string, err error) {
	removing := change
	removing.State, removing.Desired.RemovedDS = StatusRemovingDS, record.DS
	transition := Transition{From: change, To: removing}
	if change.Desired.RemovedDSAt.IsZero() { // otherwise DS records were added while it waited
		transition.AuditEvent = s.auditEvent(change, ActionPlanned)
	}
	removing, updated := s.applyTransition(ctx, transition)
	if !updated {
		return removing, "", nil
	}
	failpoint.Hit("ds_found")
	return s.execute(ctx, removing)
}

// waitForTTL stores that the registry has no DS records any more and when the second step
// begins.
func (s *Service) waitForTTL(ctx context.Context, change Change, record Record) Change {
	failpoint.Hit("ds_removed")
	record.ReadAt = s.cfg.Now()
	ttl := DSTTL(change.TLD)
	waiting := s.asleep(change, s.cfg.Now().Add(ttl).Truncate(time.Microsecond))
	waiting.Desired.RemovedDSAt = s.cfg.Now().UTC()
	mail := changeMail(change)
	mail.Data["change"], mail.Data["at"] = string(RemoveDS), waiting.WaitUntil.UTC().Format(time.DateOnly)
	after, updated := s.applyTransition(ctx, Transition{
		From: change, To: waiting, Record: &record, AuditEvent: s.auditEvent(change, actions[RemoveDS]), Mail: mail,
	})
	if updated {
		failpoint.Hit("ds_waiting")
		s.cfg.MailQueued()
	}
	return after
}

// asleep returns a change that waits until a business time, without a lease.
func (s *Service) asleep(change Change, until time.Time) Change {
	change.State, change.WaitUntil, change.Node, change.Attempts = StatusWaiting, until, "", 0
	change.DueAt = s.worker.Now().Add(max(until.Sub(s.cfg.Now()), time.Second))
	return change
}

// endWait begins the second step of a claimed change; false if its time has not come, or the
// lease is lost.
func (s *Service) endWait(ctx context.Context, change Change) (Change, bool) {
	if s.cfg.Now().Before(change.WaitUntil) {
		after, _ := s.applyTransition(ctx, Transition{From: change, To: s.asleep(change, change.WaitUntil)})
		return after, false
	}
	begun := change
	begun.State, begun.WaitUntil = StatusOpen, time.Time{}
	begun, updated := s.applyTransition(ctx, Transition{From: change, To: begun})
	if updated {
		failpoint.Hit("ns_begun")
	}
	return begun, updated
}

// Cancelable reports whether a nameserver change can be canceled now: its second step has not
// begun, and no node works on it.
func (c Change) Cancelable(now time.Time) bool {
	return (c.State == StatusRemovingDS || c.State == StatusWaiting) && (c.Node == "" || !c.DueAt.After(now))
}

// CancelChange ends a nameserver change of the customer's domain before its second step. The
// nameservers stay, and removed DS records are not added again.
func (s *Service) CancelChange(ctx context.Context, actor registrar.Actor, id string) error {
	domain, err := s.getOwnDomain(ctx, actor, id)
	if err != nil {
		return err
	}
	return s.endWaiting(ctx, domain.ID, StatusCanceled, "", registrar.AuditEvent{
		Actor: actor, Action: ActionCanceled, Customer: domain.Customer, Object: domain.Name, At: s.cfg.Now(),
	})
}

// MayBeUnsigned reports whether the change was refused after the removal of DS records had begun: the
// registry may have none any more, unless some were added since.
func (c Change) MayBeUnsigned() bool {
	return c.Kind == Nameservers && c.State == StatusRefused && (!c.Desired.RemovedDSAt.IsZero() || len(c.Desired.RemovedDS) > 0)
}

// endWaiting ends the domain's cancelable change; it returns NotCancelable if there is none.
func (s *Service) endWaiting(ctx context.Context, domain string, status ChangeStatus, failure registrar.Code, event registrar.AuditEvent) error {
	changes, err := s.cfg.Store.ListDomainChanges(ctx, domain, 1)
	if err != nil {
		return err
	}
	if len(changes) == 0 || !changes[0].Cancelable(s.worker.Now()) {
		return registrar.Conflict(NotCancelable)
	}
	ended := withFinalStatus(changes[0], status)
	ended.Failure = failure
	if after := s.finalize(ctx, Transition{From: changes[0], To: ended, AuditEvent: &event}); after.State != status {
		return registrar.Conflict(NotCancelable) // the second step has just begun
	}
	return nil
}
