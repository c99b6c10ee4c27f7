package steward

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// own is a domain of the actor's account.
func (s *Service) own(ctx context.Context, actor registrar.Actor, id string) (Domain, error) {
	if actor.Customer == "" {
		return Domain{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	if actor.Kind != registrar.ActorPerson {
		return Domain{}, &registrar.Error{Kind: registrar.KindForbidden, Code: "persons_only"}
	}
	domain, found, err := s.cfg.Store.DomainOf(ctx, actor.Customer, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchDomain}
	}
	return domain, err
}

// Ask writes a change down and tries to carry it out. The change that it returns is
// done, refused, or open if the registry has not decided yet. code is the auth code,
// if that was asked for and is set: it is told nowhere else.
func (s *Service) Ask(ctx context.Context, actor registrar.Actor, id string, wish Wish) (change Change, code string, err error) {
	domain, err := s.own(ctx, actor, id)
	if err != nil {
		return Change{}, "", err
	}
	if !slices.Contains(Kinds(), wish.Kind) {
		return Change{}, "", invalid(NoSuchChange)
	}
	if wish.Kind != Lock {
		if err := actor.RequireRecentSignIn(s.cfg.Clock()); err != nil {
			return Change{}, "", err
		}
	}
	change, code, err = s.prepare(ctx, actor, domain, wish)
	if err != nil {
		return Change{}, "", err
	}
	if err := s.spend(ctx, domain.ID, change.CreatedAt); err != nil {
		return Change{}, "", err
	}
	if err := s.cfg.Store.AddChange(ctx, change); err != nil {
		return Change{}, "", err
	}
	// Whoever asked may go away; the change is theirs all the same.
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.Patience)
	defer cancel()
	change, chosen := s.carry(call, change)
	if change.State != StateDone || change.Kind != AuthCode {
		return change, "", nil
	}
	if chosen != "" {
		code = chosen
	}
	return change, code, nil
}

// holder is the customer's registrant, whom the extension admits.
func (s *Service) holder(ctx context.Context, customer, tld string) (Holder, error) {
	holder, told, err := s.cfg.Store.HolderData(ctx, customer)
	if err != nil {
		return Holder{}, err
	}
	if !told {
		return Holder{}, &registrar.Error{Kind: registrar.KindConflict, Code: HolderMissing}
	}
	return holder, s.cfg.Admits(ctx, customer, tld, holder)
}

// spend refuses a holder who changes a domain without end. Operators are not bounded: what
// a court orders must not wait for the holder's budget.
func (s *Service) spend(ctx context.Context, domain string, now time.Time) error {
	changes, err := s.cfg.Store.ChangesOf(ctx, domain, mostChanges)
	if err != nil || len(changes) < mostChanges {
		return err
	}
	if wait := changes[mostChanges-1].CreatedAt.Add(changesWithin).Sub(now); wait > 0 {
		return &registrar.Error{Kind: registrar.KindRateLimited, Code: TooMany, RetryAfter: wait}
	}
	return nil
}

// prepare checks a wish and chooses everything that its call will use.
func (s *Service) prepare(ctx context.Context, actor registrar.Actor, domain Domain, wish Wish) (change Change, code string, err error) {
	if why := forbids(domain.Status, wish.Kind); why != "" {
		return Change{}, "", &registrar.Error{Kind: registrar.KindConflict, Code: why}
	}
	registry, served := s.serving(domain.Account, domain.TLD)
	if !served {
		return Change{}, "", &registrar.Error{Kind: registrar.KindUnsupported, Code: NoAccount}
	}
	powers := registry.Registry.Powers(domain.TLD)
	wanted, err := wish.wanted(domain, powers)
	if err != nil {
		return Change{}, "", err
	}
	why, err := s.cfg.Barred(ctx, domain, wish.Kind)
	switch {
	case err != nil:
		return Change{}, "", err
	case why != "":
		return Change{}, "", &registrar.Error{Kind: registrar.KindConflict, Code: why}
	}
	now := s.cfg.Now().Truncate(time.Microsecond)
	change = Change{
		ID: registrar.NewID("chg_", now), Customer: domain.Customer, Domain: domain.ID, Name: domain.Name, TLD: domain.TLD,
		Account: registry.Name, Kind: wish.Kind, Wanted: wanted, State: StateOpen, Actor: actor,
		DueAt: s.leaseEnd(), Node: s.cfg.Node, Attempts: 1, CreatedAt: now, UpdatedAt: now,
	}
	switch {
	case wish.Kind == TakeHolder:
		if _, err := s.holder(ctx, domain.Customer, domain.TLD); err != nil {
			return Change{}, "", err
		}
		change.Handle, change.OldHandle = "DK"+rand.Text()[:14], domain.Handle
	case (wish.Kind == AuthCode || wish.Kind == Secure) && powers.setsCode():
		code = registrar.NewAuthCode(powers.CodeLength)
		change.SealedCode = s.cfg.Seal.Close(registrar.CodePurpose(domain.Name), code)
	}
	return change, code, nil
}
