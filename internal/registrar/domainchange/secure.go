package domainchange

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// How long addWhenNoneOpen waits for another change of the domain: such a change usually ends
// in a moment, or is refused because of an operator's lock.
const (
	otherChangeTimeout      = 3 * time.Second
	secureStoreTimeout      = 10 * time.Second
	otherChangePollInterval = 100 * time.Millisecond
)

// Secure prevents a customer's domain from being transferred away, on behalf of an
// operator. It also sets a new auth code that is disclosed to no one, so issued codes stop
// working. lock is the operator's lock behind it. nil means that the domain is secured, or
// will be as soon as the registry responds.
func (s *Service) Secure(ctx context.Context, operator registrar.Actor, customer, id, lock string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	// The operator's lock is stored by now, so the work continues without their browser.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), otherChangeTimeout+secureStoreTimeout)
	defer cancel()
	domain, err := s.customerDomain(ctx, customer, id)
	if err != nil {
		return err
	}
	change, _, err := s.prepareChange(ctx, operator, domain, ChangeRequest{Kind: Secure})
	if err != nil {
		return err
	}
	change.Desired.Lock = lock
	// A nameserver change that waits for a day must not delay the lock.
	if err := s.endWaiting(ctx, domain.ID, StatusRefused, DomainRestricted, *s.auditEvent(change, ActionRefused)); err != nil && registrar.CodeOf(err) != NotCancelable {
		return err
	}
	if err := s.addWhenNoneOpen(ctx, &change); err != nil {
		return err
	}
	if change, _ = s.firstAttempt(ctx, change); change.State == StatusRefused {
		return registrar.Conflict(change.Failure)
	}
	return nil
}

const maxSecureChanges = 10 // read at most; operators request few

// SecuredFor reports whether a domain was secured for a lock, or is being secured.
func (s *Service) SecuredFor(ctx context.Context, domain, lock string) (secured, inProgress bool, err error) {
	changes, err := s.cfg.Store.ListSecureChanges(ctx, domain, maxSecureChanges)
	for _, change := range changes {
		secured = secured || change.Desired.Lock == lock && change.State == StatusDone
		inProgress = inProgress || change.Desired.Lock == lock && !change.State.Final()
	}
	return secured, inProgress, err
}

// addWhenNoneOpen stores a change as soon as its domain has no other open one, which may have
// set another registrant.
func (s *Service) addWhenNoneOpen(ctx context.Context, change *Change) error {
	waitCtx, cancel := context.WithTimeout(ctx, otherChangeTimeout)
	defer cancel()
	registry, served := s.registryFor(change.Account, change.TLD)
	for {
		if change.Kind == UpdateRegistrant && served {
			domain, err := s.customerDomain(ctx, change.Customer, change.Domain)
			if err != nil {
				return err
			}
			change.replaceRegistrant(domain, registry.Registry.Capabilities(change.TLD))
		}
		change.DueAt = s.worker.LeaseEnd()
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

// AbandonChange ends a change whose registry account is no longer configured. Whether the
// registry has executed it remains unknown.
func (s *Service) AbandonChange(ctx context.Context, operator registrar.Actor, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	change, found, err := s.cfg.Store.GetDomainChange(ctx, id)
	if err == nil && !found {
		err = registrar.NotFound(NoSuchChange)
	}
	if err != nil {
		return err
	}
	errNotAbandonable := registrar.Conflict(NotAbandonable)
	if _, served := s.registryFor(change.Account, change.TLD); served || change.State.Final() || change.Node != "" && change.DueAt.After(s.worker.Now()) {
		return errNotAbandonable
	}
	refused := withFinalStatus(change, StatusRefused)
	refused.Failure = Abandoned
	event := registrar.AuditEvent{Actor: operator, Action: ActionAbandoned, Customer: change.Customer, Object: change.Name, At: s.cfg.Now()}
	if after := s.finalize(ctx, Transition{From: change, To: refused, AuditEvent: &event}); after.Failure != Abandoned {
		return errNotAbandonable // a node holds the lease right now
	}
	return nil
}
