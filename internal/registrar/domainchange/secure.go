package domainchange

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Secure waits this long for another change of the domain, looking this often: it is
// nearly always done in a moment, or refused because of the very lock.
const (
	otherChangeTimeout      = 3 * time.Second
	otherChangePollInterval = 100 * time.Millisecond
)

// Secure has the registry keep a customer's domain from leaving, because an operator
// says so. An auth code that is out already is worth nothing afterwards: the registry
// gets a new one, which nobody is told. lock is what it is done for. Nil means that it is
// so, or will be as soon as the registry answers.
func (s *Service) Secure(ctx context.Context, operator registrar.Actor, customer, id, lock string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	// The operator's lock stands by now. Whether their browser still waits changes nothing.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), otherChangeTimeout+storeTimeout)
	defer cancel()
	domain, found, err := s.cfg.Store.GetCustomerDomain(ctx, customer, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchDomain}
	}
	if err != nil {
		return err
	}
	change, _, err := s.prepareChange(ctx, operator, domain, ChangeRequest{Kind: Secure})
	if err != nil {
		return err
	}
	change.Desired.Lock = lock
	if err := s.addWhenNoneOpen(ctx, &change); err != nil {
		return err
	}
	callCtx, done := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.RequestTimeout)
	defer done()
	if change, _ = s.execute(callCtx, change); change.State == StatusRefused {
		return &registrar.Error{Kind: registrar.KindConflict, Code: change.Failure}
	}
	return nil
}

// maxSecureChanges is how many are looked at: an operator asks for few.
const maxSecureChanges = 10

// SecuredFor says whether a domain was secured for a lock, or is being secured.
func (s *Service) SecuredFor(ctx context.Context, domain, lock string) (secured, inProgress bool, err error) {
	changes, err := s.cfg.Store.ListSecureChanges(ctx, domain, maxSecureChanges)
	for _, change := range changes {
		secured = secured || change.Desired.Lock == lock && change.State == StatusDone
		inProgress = inProgress || change.Desired.Lock == lock && !change.State.Final()
	}
	return secured, inProgress, err
}

// addWhenNoneOpen stores a change as soon as no other one of its domain is open.
func (s *Service) addWhenNoneOpen(ctx context.Context, change *Change) error {
	waitCtx, cancel := context.WithTimeout(ctx, otherChangeTimeout)
	defer cancel()
	for {
		change.DueAt = s.leaseEnd()
		err := s.cfg.Store.AddDomainChange(ctx, *change)
		if registrar.CodeOf(err) != ChangeInProgress {
			return err
		}
		select {
		case <-waitCtx.Done():
			return err
		case <-time.After(otherChangePollInterval):
		}
	}
}

// AbandonChange ends a change that nobody can carry out any more, because its registry account
// is not in the configuration. Whether the registry had got it before, nobody can say.
func (s *Service) AbandonChange(ctx context.Context, operator registrar.Actor, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	change, found, err := s.cfg.Store.GetDomainChange(ctx, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchChange}
	}
	if err != nil {
		return err
	}
	errNotAbandonable := &registrar.Error{Kind: registrar.KindConflict, Code: NotAbandonable}
	if _, served := s.registryFor(change.Account, change.TLD); served || change.State.Final() || change.Node != "" && change.DueAt.After(s.realTime()) {
		return errNotAbandonable
	}
	refused := withFinalStatus(change, StatusRefused)
	refused.Failure = Abandoned
	event := registrar.AuditEvent{Actor: operator, Action: ActionAbandoned, Customer: change.Customer, Object: change.Name, At: s.cfg.Now()}
	if after := s.finalize(ctx, Transition{From: change, To: refused, AuditEvent: &event}); after.Failure != Abandoned {
		return errNotAbandonable // somebody has it at this moment
	}
	return nil
}
