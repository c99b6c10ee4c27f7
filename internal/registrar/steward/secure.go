package steward

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Secure waits this long for another change of the domain, looking this often: it is
// nearly always done in a moment, or refused because of the very lock.
const (
	waitForOther = 3 * time.Second
	lookForOther = 100 * time.Millisecond
)

func requireOperator(actor registrar.Actor) error {
	if actor.Kind != registrar.ActorOperator {
		return &registrar.Error{Kind: registrar.KindForbidden, Code: "operators_only"}
	}
	return nil
}

// Secure has the registry keep a customer's domain from leaving, because an operator
// says so. An auth code that is out already is worth nothing afterwards: the registry
// gets a new one, which nobody is told. lock is what it is done for. Nil means that it is
// so, or will be as soon as the registry answers.
func (s *Service) Secure(ctx context.Context, operator registrar.Actor, customer, id, lock string) error {
	if err := requireOperator(operator); err != nil {
		return err
	}
	// The operator's lock stands by now. Whether their browser still waits changes nothing.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), waitForOther+storing)
	defer cancel()
	domain, found, err := s.cfg.Store.DomainOf(ctx, customer, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchDomain}
	}
	if err != nil {
		return err
	}
	change, _, err := s.prepare(ctx, operator, domain, Wish{Kind: Secure})
	if err != nil {
		return err
	}
	change.Wanted.For = lock
	if err := s.addAfterOthers(ctx, &change); err != nil {
		return err
	}
	call, done := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Patience)
	defer done()
	if change, _ = s.carry(call, change); change.State == StateRefused {
		return &registrar.Error{Kind: registrar.KindConflict, Code: change.Failure}
	}
	return nil
}

// shownSecurings is how many are looked at: an operator asks for few.
const shownSecurings = 10

// SecuredFor says whether a domain was secured for a lock, or is being secured.
func (s *Service) SecuredFor(ctx context.Context, domain, lock string) (secured, underWay bool, err error) {
	changes, err := s.cfg.Store.SecuringsOf(ctx, domain, shownSecurings)
	for _, change := range changes {
		secured = secured || change.Wanted.For == lock && change.State == StateDone
		underWay = underWay || change.Wanted.For == lock && !change.State.Final()
	}
	return secured, underWay, err
}

// addAfterOthers stores a change as soon as no other one of its domain is open.
func (s *Service) addAfterOthers(ctx context.Context, change *Change) error {
	wait, cancel := context.WithTimeout(ctx, waitForOther)
	defer cancel()
	for {
		change.DueAt = s.leaseEnd()
		err := s.cfg.Store.AddChange(ctx, *change)
		if registrar.CodeOf(err) != UnderWay {
			return err
		}
		select {
		case <-wait.Done():
			return err
		case <-time.After(lookForOther):
		}
	}
}

// GiveUp ends a change that nobody can carry out any more, because its registry account
// is not in the configuration. Whether the registry had got it before, nobody can say.
func (s *Service) GiveUp(ctx context.Context, operator registrar.Actor, id string) error {
	if err := requireOperator(operator); err != nil {
		return err
	}
	change, found, err := s.cfg.Store.ChangeByID(ctx, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchChange}
	}
	if err != nil {
		return err
	}
	hopeful := &registrar.Error{Kind: registrar.KindConflict, Code: Hopeful}
	if _, served := s.serving(change.Account, change.TLD); served || change.State.Final() || change.Node != "" && change.DueAt.After(s.clock()) {
		return hopeful
	}
	over := ended(change, StateRefused)
	over.Failure = GivenUp
	deed := registrar.Deed{Actor: operator, Action: ActionGivenUp, Customer: change.Customer, Object: change.Name, At: s.cfg.Now()}
	if after := s.end(ctx, Move{Was: change, Now: over, Deed: &deed}); after.Failure != GivenUp {
		return hopeful // somebody has it at this moment
	}
	return nil
}
