package transferaway

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// View is what a customer sees of the transfers of a domain.
type View struct {
	// Transfers are all of the domain, the newest first.
	Transfers []Transfer
	// Open is the one in progress; nil if there is none. Rules are those of its registry, and
	// Forbidden means that an operator's lock or a payment dispute forbids its approval.
	Open      *Transfer
	Rules     Rules
	Forbidden bool
}

// View returns the transfers of a customer's domain.
func (s *Service) View(ctx context.Context, actor registrar.Actor, domain string) (view View, err error) {
	if err := s.requireHolder(ctx, actor, domain); err != nil {
		return View{}, err
	}
	if view.Transfers, err = s.cfg.Store.ListDomainOutgoingTransfers(ctx, domain, maxOfDomain); err != nil {
		return View{}, err
	}
	open := slices.IndexFunc(view.Transfers, func(t Transfer) bool { return !t.State.Final() })
	if open < 0 {
		return view, nil
	}
	view.Open = &view.Transfers[open]
	view.Rules = s.rulesOf(*view.Open)
	view.Forbidden, err = s.cfg.Forbids(ctx, domain)
	return view, err
}

func (s *Service) requireHolder(ctx context.Context, actor registrar.Actor, domain string) error {
	if actor.Customer == "" {
		return &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	holds, err := s.cfg.HoldsDomain(ctx, actor.Customer, domain)
	if err == nil && !holds {
		err = registrar.NotFound(registrar.NoSuchDomain)
	}
	return err
}

// Stop stores the registrant's objection with the sentence that they confirmed, and makes the
// first attempt to reject the transfer. The returned transfer is stopped, has ended in another
// way, is pending again if the registry refused, or is stopping if it has not answered yet.
func (s *Service) Stop(ctx context.Context, actor registrar.Actor, domain, statement string) (Transfer, error) {
	return s.decideAsHolder(ctx, actor, domain, Transfer{State: StateStopping, Reason: ReasonObjection, Statement: statement})
}

// Approve stores the registrant's approval with the sentence that they confirmed, and makes the
// first attempt to approve the transfer.
func (s *Service) Approve(ctx context.Context, actor registrar.Actor, domain, statement string) (Transfer, error) {
	return s.decideAsHolder(ctx, actor, domain, Transfer{State: StateApproving, Statement: statement})
}

func (s *Service) decideAsHolder(ctx context.Context, actor registrar.Actor, domain string, decision Transfer) (Transfer, error) {
	view, err := s.View(ctx, actor, domain)
	if err != nil {
		return Transfer{}, err
	}
	if err := actor.RequireRecentSignIn(s.cfg.Clock()); err != nil {
		return Transfer{}, err
	}
	switch {
	case view.Open == nil && len(view.Transfers) == 0:
		return Transfer{}, registrar.NotFound(NoSuchTransfer)
	case view.Open == nil:
		return Transfer{}, registrar.Conflict(AlreadyDecided)
	case view.Forbidden && decision.State == StateApproving:
		return Transfer{}, registrar.Conflict(NotApprovable)
	}
	return s.decide(ctx, actor, *view.Open, decision)
}

// Reject stores an operator's rejection for a policy reason, and makes the first attempt.
func (s *Service) Reject(ctx context.Context, operator registrar.Actor, id string, reason Reason) (Transfer, error) {
	t, err := s.Get(ctx, operator, id)
	if err != nil {
		return Transfer{}, err
	}
	if !slices.Contains(Reasons(), reason) {
		return Transfer{}, registrar.Invalid(BadReason)
	}
	return s.decide(ctx, operator, t, Transfer{State: StateStopping, Reason: reason})
}

// ApproveAsOperator stores an operator's approval, and makes the first attempt. A lock that
// forbids the transfer has to be lifted first.
func (s *Service) ApproveAsOperator(ctx context.Context, operator registrar.Actor, id string) (Transfer, error) {
	t, err := s.Get(ctx, operator, id)
	if err != nil {
		return Transfer{}, err
	}
	forbidden, err := s.cfg.Forbids(ctx, t.Domain)
	switch {
	case err != nil:
		return Transfer{}, err
	case forbidden:
		return Transfer{}, registrar.Conflict(NotApprovable)
	}
	return s.decide(ctx, operator, t, Transfer{State: StateApproving})
}

// RejectUnpaid rejects the pending transfer of a domain for non-payment, which requires that a
// gTLD domain is on hold. It returns false while the registry has not answered. If it refuses, or
// lets us answer nothing, the transfer goes on.
func (s *Service) RejectUnpaid(ctx context.Context, domain string) (done bool, err error) {
	transfers, err := s.cfg.Store.ListDomainOutgoingTransfers(ctx, domain, maxOfDomain)
	if err != nil {
		return false, err
	}
	open := slices.IndexFunc(transfers, func(t Transfer) bool { return !t.State.Final() })
	switch {
	case open < 0 || !s.rulesOf(transfers[open]).Answer:
		return true, nil
	case transfers[open].State != StatePending: // it is stopped already, or just opens or ends
		return false, nil
	case transfers[open].Reason == ReasonNonPayment: // the registry has refused it
		return true, nil
	}
	after, err := s.decide(ctx, registrar.Actor{Kind: registrar.ActorSystem}, transfers[open], Transfer{State: StateStopping, Reason: ReasonNonPayment})
	if registrar.CodeOf(err) == AlreadyDecided {
		return false, nil
	}
	return after.State.Final(), err
}

// decide stores a decision and executes it, also if the client disconnects.
func (s *Service) decide(ctx context.Context, actor registrar.Actor, t, decision Transfer) (Transfer, error) {
	if !s.rulesOf(t).Answer {
		return Transfer{}, registrar.Unsupported(NotAnswerable)
	}
	if statement := []rune(decision.Statement); len(statement) > maxStatement {
		decision.Statement = string(statement[:maxStatement])
	}
	t.State, t.Reason, t.Statement, t.Actor, t.Failure = decision.State, decision.Reason, decision.Statement, actor, ""
	t.DecidedAt = s.cfg.Now().Truncate(time.Microsecond)
	t.DueAt, t.Node, t.Attempts = s.worker.LeaseEnd(), s.cfg.Node, 1
	event := registrar.AuditEvent{Actor: actor, Action: ActionApprove, Customer: t.Customer, Object: t.Name, At: t.DecidedAt}
	if t.State == StateStopping {
		event.Action = ActionStop
	}
	stored, err := s.cfg.Store.DecideOutgoingTransfer(ctx, t, event)
	switch {
	case err != nil:
		return Transfer{}, err
	case !stored:
		return Transfer{}, registrar.Conflict(AlreadyDecided)
	}
	failpoint.Hit("transfer_decided")
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.RequestTimeout)
	defer cancel()
	after, err := s.execute(call, t)
	s.worker.Settle(call, after, err)
	return after, nil
}

// Get returns a transfer to an operator.
func (s *Service) Get(ctx context.Context, operator registrar.Actor, id string) (Transfer, error) {
	if err := operator.RequireOperator(); err != nil {
		return Transfer{}, err
	}
	t, found, err := s.cfg.Store.GetOutgoingTransfer(ctx, id)
	if err == nil && !found {
		err = registrar.NotFound(NoSuchTransfer)
	}
	return t, err
}

// List returns a page of transfers: those in progress, the one that the registry approves first
// in front, or ended ones, the newest first. next is what to continue with; empty on the last page.
// Of more than 1000 in progress, the others are listed once these have ended.
func (s *Service) List(ctx context.Context, operator registrar.Actor, ended bool, after string) (transfers []Transfer, next string, err error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, "", err
	}
	if !ended {
		if transfers, err = s.cfg.Store.ListOutgoingTransfers(ctx, false, "", maxOpenListed); err != nil {
			return nil, "", err
		}
		transfers, next = registrar.PageByDeadline(transfers, func(t Transfer) (string, time.Time) { return t.ID, t.ActsAt }, after, pageSize)
		return transfers, next, nil
	}
	transfers, err = s.cfg.Store.ListOutgoingTransfers(ctx, true, after, pageSize+1)
	if len(transfers) > pageSize {
		transfers = transfers[:pageSize]
		next = transfers[pageSize-1].ID
	}
	return transfers, next, err
}

// Answerable reports whether an operator can approve or reject a transfer now.
func (s *Service) Answerable(t Transfer) bool { return t.State == StatePending && s.rulesOf(t).Answer }
