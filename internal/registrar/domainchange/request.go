package domainchange

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func (s *Service) getOwnDomain(ctx context.Context, actor registrar.Actor, id string) (Domain, error) {
	if actor.Customer == "" {
		return Domain{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	if err := actor.RequirePerson(); err != nil {
		return Domain{}, err
	}
	return s.customerDomain(ctx, actor.Customer, id)
}

func (s *Service) customerDomain(ctx context.Context, customer, id string) (Domain, error) {
	domain, found, err := s.cfg.Store.GetCustomerDomain(ctx, customer, id)
	if err == nil && !found {
		err = registrar.NotFound(registrar.NoSuchDomain)
	}
	return domain, err
}

// RequestChange stores a change and makes the first attempt. The returned change is done,
// refused, or open if the registry has not decided yet. code is the auth code if it was
// requested and set; it is available nowhere else.
func (s *Service) RequestChange(ctx context.Context, actor registrar.Actor, id string, request ChangeRequest) (change Change, code string, err error) {
	change, code, err = s.checkRequest(ctx, actor, id, request)
	if err != nil {
		return Change{}, "", err
	}
	err = s.cfg.Store.AddDomainChange(ctx, change)
	if registrar.CodeOf(err) == ChangeInProgress && s.isBeingLocked(ctx, change.Domain) {
		err = s.addWhenNoneOpen(ctx, &change)
	}
	if err != nil {
		return Change{}, "", err
	}
	change, registryCode := s.firstAttempt(ctx, change)
	if change.State != StatusDone || change.Kind != AuthCode {
		return change, "", nil
	}
	return change, cmp.Or(registryCode, code), nil
}

// QueueChange stores a change and leaves it to Run, for requests about many domains. bulk is
// the id of that request. Auth codes can't be requested this way: they are shown only in
// the response.
func (s *Service) QueueChange(ctx context.Context, actor registrar.Actor, id string, request ChangeRequest, bulk string) (Change, error) {
	if request.Kind == AuthCode {
		return Change{}, registrar.Invalid(NoSuchChange)
	}
	change, _, err := s.checkRequest(ctx, actor, id, request)
	if err != nil {
		return Change{}, err
	}
	change.Bulk, change.Node, change.Attempts, change.DueAt = bulk, "", 0, s.worker.Now()
	if err := s.cfg.Store.AddDomainChange(ctx, change); err != nil {
		return Change{}, err
	}
	s.worker.Wake()
	return change, nil
}

// NameserverPlan is what a change of a domain's nameservers would do.
type NameserverPlan struct {
	// Now and Signed, whether it has DS records, are as the registry last said; Known means that it did.
	Now           []Nameserver
	Known, Signed bool
	Then          []Nameserver
	ChangeAt      time.Time // when the nameservers of a signed domain would change
}

// PlanNameservers returns what a change would do, or why it would not be stored.
func (s *Service) PlanNameservers(ctx context.Context, actor registrar.Actor, id, servers string) (NameserverPlan, error) {
	change, _, err := s.checkRequest(ctx, actor, id, ChangeRequest{Kind: Nameservers, Nameservers: servers})
	if err != nil {
		return NameserverPlan{}, err
	}
	last, err := s.cfg.Store.ListDomainChanges(ctx, id, 1)
	if err != nil {
		return NameserverPlan{}, err
	}
	if len(last) > 0 && !last[0].State.Final() {
		return NameserverPlan{}, registrar.Conflict(ChangeInProgress)
	}
	record, known, err := s.cfg.Store.GetRegistryRecord(ctx, id)
	return NameserverPlan{
		Now: record.Nameservers, Known: known, Signed: len(record.DS) > 0, Then: change.Desired.Nameservers, ChangeAt: s.cfg.Now().Add(DSTTL(change.TLD)),
	}, err
}

// checkRequest returns the change that a customer requests, if it is allowed.
func (s *Service) checkRequest(ctx context.Context, actor registrar.Actor, id string, request ChangeRequest) (change Change, code string, err error) {
	domain, err := s.getOwnDomain(ctx, actor, id)
	if err != nil {
		return Change{}, "", err
	}
	if !slices.Contains(CustomerChangeKinds(), request.Kind) {
		return Change{}, "", registrar.Invalid(NoSuchChange)
	}
	if request.Kind != Lock {
		if err := actor.RequireRecentSignIn(s.cfg.Clock()); err != nil {
			return Change{}, "", err
		}
	}
	change, code, err = s.prepareChange(ctx, actor, domain, request)
	if err != nil {
		return Change{}, "", err
	}
	return change, code, s.checkChangeRate(ctx, domain.ID, change.CreatedAt)
}

// isBeingLocked reports whether the open change is the automatic lock of a new domain. It ends
// in a moment, and the customer did not request it.
func (s *Service) isBeingLocked(ctx context.Context, domain string) bool {
	changes, err := s.cfg.Store.ListDomainChanges(ctx, domain, 1)
	return err == nil && len(changes) == 1 && changes[0].Actor.Kind == registrar.ActorSystem
}

// checkChangeRate limits a customer's changes of a domain. Operators are not limited: a
// court order must not depend on the customer's budget.
func (s *Service) checkChangeRate(ctx context.Context, domain string, now time.Time) error {
	changes, err := s.cfg.Store.ListDomainChanges(ctx, domain, maxChanges)
	if err != nil || len(changes) < maxChanges {
		return err
	}
	if retryAfter := changes[maxChanges-1].CreatedAt.Add(changeWindow).Sub(now); retryAfter > 0 {
		return &registrar.Error{Kind: registrar.KindRateLimited, Code: TooManyChanges, RetryAfter: retryAfter}
	}
	return nil
}

// prepareChange validates a request and chooses everything that its call will use.
func (s *Service) prepareChange(ctx context.Context, actor registrar.Actor, domain Domain, request ChangeRequest) (change Change, code string, err error) {
	if reason := statusRefusal(domain.Status, request.Kind); reason != "" {
		return Change{}, "", registrar.Conflict(reason)
	}
	registry, served := s.registryFor(domain.Account, domain.TLD)
	if !served {
		return Change{}, "", registrar.Unsupported(registrar.NoRegistryAccount)
	}
	capabilities := registry.Registry.Capabilities(domain.TLD)
	desired, err := request.desiredState(domain, capabilities)
	if err != nil {
		return Change{}, "", err
	}
	reason, err := s.cfg.CheckRestrictions(ctx, domain, request.Kind)
	switch {
	case err != nil:
		return Change{}, "", err
	case reason != "":
		return Change{}, "", registrar.Conflict(reason)
	}
	now := s.cfg.Now().Truncate(time.Microsecond)
	change = Change{
		ID: registrar.NewID("chg_", now), Customer: domain.Customer, Domain: domain.ID, Name: domain.Name, TLD: domain.TLD,
		Account: registry.Name, Kind: request.Kind, Desired: desired, State: StatusOpen, Actor: actor,
		DueAt: s.worker.LeaseEnd(), Node: s.cfg.Node, Attempts: 1, CreatedAt: now, UpdatedAt: now,
	}
	switch {
	case request.Kind == UpdateRegistrant:
		registrant, err := s.eligibleRegistrant(ctx, domain.Customer, desired.Holder, domain.TLD)
		if err != nil {
			return Change{}, "", err
		}
		change.Desired.Registrant = &registrant
		change.replaceRegistrant(domain, capabilities)
	case (request.Kind == AuthCode || request.Kind == Secure) && capabilities.canSetAuthCode():
		code = registrar.NewAuthCode(capabilities.CodeLength)
		change.SealedCode = s.cfg.Seal.Seal(registrar.AuthCodePurpose(domain.Name), code)
	}
	return change, code, nil
}
