package transferaway

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// execute works on a transfer under this node's lease and returns its new state; after an error
// it must be postponed.
func (s *Service) execute(ctx context.Context, t Transfer) (Transfer, error) {
	if t.State == StateNew && t.RegistryStatus == statusPending && t.Gaining != "" && !t.ActsAt.IsZero() {
		return s.notify(ctx, t), nil // the message says everything, so the notice waits for nothing
	}
	registry, served := s.registryOf(t)
	if !served {
		return t, &registrar.Error{Kind: registrar.KindInternal, Code: registrar.NoRegistryAccount}
	}
	found, err := registry.QueryTransfer(ctx, t.Name)
	switch {
	case err != nil && t.State == StateNew && t.Attempts >= maxUnnotified:
		return s.notify(ctx, t), nil
	case err != nil:
		return t, err
	}
	var refusal error
	if answers := t.State == StateStopping || t.State == StateApproving; answers && found.Status == statusPending && t.isRequest(found) {
		if forbidden, err := s.forbidden(ctx, t); err != nil {
			return t, err
		} else if forbidden {
			return s.markRefused(ctx, withDetails(t, found), registrar.Conflict(NotApprovable)), nil
		}
		failpoint.Hit("transfer_queried")
		if refusal = registry.AnswerTransfer(ctx, t.Name, t.State == StateApproving, t.ID); refusal != nil && registrar.IsTransient(refusal) {
			return t, refusal
		}
		failpoint.Hit("transfer_answered")
		// Also after a refusal: the transfer may just have ended in another way.
		if found, err = registry.QueryTransfer(ctx, t.Name); err != nil {
			return t, err
		}
	}
	return s.follow(ctx, t, found, refusal)
}

// forbidden reports whether an approval must not be executed: a lock may be younger than it.
func (s *Service) forbidden(ctx context.Context, t Transfer) (bool, error) {
	if t.State != StateApproving {
		return false, nil
	}
	return s.cfg.Forbids(ctx, t.Domain)
}

// follow stores what the registry reports. refusal is why it did not accept our answer.
func (s *Service) follow(ctx context.Context, t Transfer, found RegistryTransfer, refusal error) (Transfer, error) {
	current := t.isRequest(found)
	if found.Status == statusPending && current && found.Held {
		t := withDetails(t, found)
		switch {
		case t.State == StateNew || t.State == StateEnding:
			return s.notify(ctx, t), nil
		case refusal != nil:
			return s.markRefused(ctx, t, refusal), nil
		case t.State == StatePending:
			next := t
			next.DueAt, next.Node, next.Attempts = s.worker.Now().Add(s.pollDelay(t)), "", 0
			after, _ := s.apply(ctx, Transition{From: t, To: next})
			return after, nil
		}
		// The answer was accepted and the registry still reports the transfer as pending.
		return t, jobs.Again(lagDelay)
	}
	if current {
		t = withDetails(t, found)
	}
	status := t.RegistryStatus
	if current && found.Status != "" {
		status = found.Status
	}
	approved := status == statusClientApproved || status == statusServerApproved
	switch {
	case found.Held && approved && current && found.Status != "":
		return t, jobs.Again(lagDelay) // the registry moves it just now
	case found.Held && t.State == StateNew:
		_, _ = s.apply(ctx, Transition{From: t, To: t, Drop: true}) // nothing happened
		return t, nil
	case found.Held || found.Missing:
		return s.end(ctx, t, stayed(status), status), nil
	case status == statusClientApproved:
		return s.end(ctx, t, StateApproved, status), nil
	}
	if t.Gaining == "" {
		t.Gaining = found.Sponsor
	}
	return s.end(ctx, t, StateCompleted, status), nil
}

// pollDelay is how long a pending transfer is left alone. In business time the registry may act
// before that; its message makes the row due.
func (s *Service) pollDelay(t Transfer) time.Duration {
	left := t.ActsAt.Sub(s.cfg.Now())
	if left > 0 && left < pollInterval {
		return left + time.Second
	}
	return pollInterval
}

// stayed is the end of a transfer by its registry status, if the domain has not left.
func stayed(status string) State {
	switch status {
	case statusClientRejected:
		return StateStopped
	case statusClientCancelled, statusServerCancelled:
		return StateCancelled
	default:
		return StateKept
	}
}

// withDetails fills in what the registry says about the request.
func withDetails(t Transfer, found RegistryTransfer) Transfer {
	if t.Gaining == "" {
		t.Gaining = found.Gaining
	}
	if t.RequestedAt.IsZero() {
		t.RequestedAt = found.RequestedAt
	}
	if found.Status == statusPending && !found.ActsAt.IsZero() {
		t.ActsAt = found.ActsAt
	}
	return t
}

// notify makes a transfer pending, with the notice to the registrant.
func (s *Service) notify(ctx context.Context, t Transfer) Transfer {
	next := t
	next.State, next.RegistryStatus = StatePending, statusPending
	next.DueAt, next.Node, next.Attempts = s.worker.Now().Add(s.pollDelay(t)), "", 0
	after, _ := s.apply(ctx, Transition{
		From: t, To: next, AuditEvent: s.systemEvent(t, ActionOpened), Mail: requestMail(next, s.rulesOf(t)),
	})
	return after
}

// markRefused makes a transfer pending again whose answer the registry refused.
func (s *Service) markRefused(ctx context.Context, t Transfer, refusal error) Transfer {
	// The error text names the rule or the result code, never the domain name.
	s.cfg.Logger.WarnContext(ctx, "answer to outgoing transfer refused", "transfer", t.ID, "state", string(t.State), "extension", t.TLD,
		"account", t.Account, "detail", refusal.Error())
	next := t
	next.State, next.Failure = StatePending, registrar.CodeOf(refusal)
	if next.Failure == "" {
		next.Failure = registrar.RegistryDenied
	}
	next.DueAt, next.Node, next.Attempts = s.worker.Now().Add(s.pollDelay(t)), "", 0
	after, _ := s.apply(ctx, Transition{From: t, To: next, AuditEvent: s.systemEvent(t, ActionRefused), Mail: refusalMail(t)})
	return after
}

func (s *Service) end(ctx context.Context, t Transfer, state State, status string) Transfer {
	next := t
	next.State, next.RegistryStatus, next.DueAt, next.Node = state, status, time.Time{}, ""
	next.EndedAt = s.cfg.Now().Truncate(time.Microsecond)
	if status == statusServerApproved && !t.ActsAt.IsZero() && t.ActsAt.Before(next.EndedAt) {
		next.EndedAt = t.ActsAt // we may learn of it days later
	}
	after, stored := s.apply(ctx, Transition{
		From: t, To: next, SyncDomain: true, AuditEvent: s.systemEvent(t, endActions[state]), Mail: endMail(next),
	})
	if stored {
		failpoint.Hit("transfer_ended")
		s.cfg.OnEnded(state)
	}
	return after
}

func (s *Service) systemEvent(t Transfer, action registrar.Action) *registrar.AuditEvent {
	return &registrar.AuditEvent{
		Actor:  registrar.Actor{Kind: registrar.ActorSystem, Through: t.Account},
		Action: action, Customer: t.Customer, Object: t.Name, At: s.cfg.Now(),
	}
}
