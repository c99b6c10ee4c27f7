package domainchange

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// retryRefused is how long a change that the registry refused is not stored again for the same
// dispute.
const retryRefused = 20 * time.Hour

// SecureFor prevents a domain from being transferred away because of a payment dispute: by the
// transfer lock or, where the registry has none, by a new auth code that is disclosed to no one.
// It stores a change unless there is one for the dispute. done means that the registry has
// executed it, or never will; otherwise it is to be called again.
func (s *Service) SecureFor(ctx context.Context, customer, id, dispute string) (done bool, err error) {
	domain, err := s.customerDomain(ctx, customer, id)
	if err != nil {
		return false, err
	}
	kind := Lock
	if !s.HasTransferLockAt(domain.Account, domain.TLD) {
		kind = Secure
	}
	last, err := s.lastChangeFor(ctx, id, dispute, Lock, Secure)
	if err != nil || last != nil && !s.mayRepeat(*last) {
		return last != nil && last.State.Final(), err
	}
	return s.storeFor(ctx, domain, dispute, kind)
}

// HoldFor takes a domain out of the DNS (clientHold) because a dispute was lost, as SecureFor.
func (s *Service) HoldFor(ctx context.Context, customer, id, dispute string) (done bool, err error) {
	domain, err := s.customerDomain(ctx, customer, id)
	if err != nil {
		return false, err
	}
	last, err := s.lastChangeFor(ctx, id, dispute, Hold, Release)
	if err != nil || last != nil && last.Kind == Hold && !s.mayRepeat(*last) {
		return last != nil && last.State.Final(), err
	}
	if last != nil && last.Kind == Release && !last.State.Final() {
		return false, nil
	}
	return s.storeFor(ctx, domain, dispute, Hold)
}

// ReleaseFor ends a hold that was set for a dispute, as SecureFor.
func (s *Service) ReleaseFor(ctx context.Context, customer, id, dispute string) (done bool, err error) {
	last, err := s.lastChangeFor(ctx, id, dispute, Hold, Release)
	switch {
	case err != nil:
		return false, err
	case last == nil, last.Kind == Hold && last.State == StatusRefused:
		return true, nil
	case !last.State.Final():
		return false, nil
	case last.Kind == Release && !s.mayRepeat(*last):
		return true, nil
	}
	domain, err := s.customerDomain(ctx, customer, id)
	if err != nil {
		return false, err
	}
	return s.storeFor(ctx, domain, dispute, Release)
}

// LastChangeFor returns the last change of the kinds that was stored for a dispute; nil if there
// is none.
func (s *Service) LastChangeFor(ctx context.Context, operator registrar.Actor, domain, dispute string, kinds ...ChangeKind) (*Change, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	return s.lastChangeFor(ctx, domain, dispute, kinds...)
}

func (s *Service) lastChangeFor(ctx context.Context, domain, dispute string, kinds ...ChangeKind) (*Change, error) {
	changes, err := s.cfg.Store.ListDomainChanges(ctx, domain, maxShownChanges)
	for i := range changes {
		if changes[i].Desired.Lock == dispute && slices.Contains(kinds, changes[i].Kind) {
			return &changes[i], err
		}
	}
	return nil, err
}

// mayRepeat reports whether a refused change is worth another attempt.
func (s *Service) mayRepeat(change Change) bool {
	return change.State == StatusRefused && s.cfg.Now().Sub(change.UpdatedAt) > retryRefused
}

// HasTransferLockAt reports whether domains of an account and TLD can be locked.
func (s *Service) HasTransferLockAt(account, tld string) bool {
	registry, served := s.registryFor(account, tld)
	return served && registry.Registry.Capabilities(tld).Lock
}

// storeFor stores a change of the service for a dispute and leaves it to Run. Another open change
// of the domain comes first, but a nameserver change that waits for a day does not delay the lock
// of a domain that is not locked.
func (s *Service) storeFor(ctx context.Context, domain Domain, dispute string, kind ChangeKind) (done bool, err error) {
	system := registrar.Actor{Kind: registrar.ActorSystem, Customer: domain.Customer}
	change, _, err := s.prepareChange(ctx, system, domain, ChangeRequest{Kind: kind})
	switch kind := registrar.KindOf(err); {
	case err == nil:
	case kind == registrar.KindUnsupported: // the registry has neither lock nor code, or no account serves it
		return true, nil
	case kind == registrar.KindConflict: // the domain is being transferred or deleted, which may change
		return false, nil
	default:
		return false, err
	}
	change.Desired.Lock, change.Node, change.Attempts, change.DueAt = dispute, "", 0, s.worker.Now()
	err = s.cfg.Store.AddDomainChange(ctx, change)
	if registrar.CodeOf(err) == ChangeInProgress && (kind == Lock || kind == Secure) {
		record, _, recordErr := s.cfg.Store.GetRegistryRecord(ctx, domain.ID)
		if recordErr == nil && !record.Locked() {
			_ = s.endWaiting(ctx, domain.ID, StatusRefused, DomainDisputed, *s.auditEvent(change, ActionRefused)) // or it is not waiting
			err = s.cfg.Store.AddDomainChange(ctx, change)
		}
	}
	if registrar.CodeOf(err) == ChangeInProgress {
		return false, nil
	}
	if err == nil {
		s.worker.Wake()
	}
	return false, err
}
