package domainchange

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
)

const clientHold = "clientHold"

// retryRefused is how long a change that the registry refused is not stored again for the same
// dispute.
const retryRefused = 20 * time.Hour

// Progress is how far a change for a dispute has come.
type Progress int

// The progress of a change.
const (
	InProgress Progress = iota // it is open, or another change comes first: look again soon
	Blocked                    // refused by the registry or by the domain's status: look again later
	Done                       // executed, or the registry offers no such change
)

// progressOf returns the progress of a stored change.
func progressOf(change Change) Progress {
	switch {
	case !change.State.Final():
		return InProgress
	case change.State == StatusDone:
		return Done
	default:
		return Blocked
	}
}

// SecureFor prevents a domain from being transferred away because of a payment dispute: by the
// transfer lock or, where the registry has none, by a new auth code that is disclosed to no one.
// It stores a change unless there is one for the dispute, and once more if the domain was
// unlocked or got an auth code since, while the dispute was won.
func (s *Service) SecureFor(ctx context.Context, customer, id, dispute string) (Progress, error) {
	domain, err := s.customerDomain(ctx, customer, id)
	if err != nil {
		return Blocked, err
	}
	kind := Lock
	if !s.HasTransferLockAt(domain.Account, domain.TLD) {
		kind = Secure
	}
	last, found, err := s.cfg.Store.GetLastChangeFor(ctx, id, dispute, Lock, Secure)
	if err != nil {
		return Blocked, err
	}
	if found && !s.mayRepeat(last) {
		opened, err := s.cfg.Store.IsOpenedSince(ctx, id, last.ID)
		if err != nil || !opened {
			return progressOf(last), err
		}
	}
	return s.storeFor(ctx, domain, dispute, kind)
}

// HoldFor takes a domain out of the DNS (clientHold) because a dispute was lost, an address is not
// confirmed (package contactcheck), or an operator has locked it (package admin). It gets the id of that
// reason. A domain that is on hold for another one is left as it is.
func (s *Service) HoldFor(ctx context.Context, customer, id, dispute string) (Progress, error) {
	domain, err := s.customerDomain(ctx, customer, id)
	if err != nil {
		return Blocked, err
	}
	last, found, err := s.cfg.Store.GetLastChangeFor(ctx, id, dispute, Hold, Release)
	switch {
	case err != nil:
		return Blocked, err
	case found && last.Kind == Hold && !s.mayRepeat(last):
		return progressOf(last), nil
	case found && last.Kind == Release && !last.State.Final():
		return InProgress, nil
	}
	progress, err := s.storeFor(ctx, domain, dispute, Hold)
	if err == nil && progress == Blocked { // such as expired, which ends with a hold, too
		if record, _, err := s.cfg.Store.GetRegistryRecord(ctx, id); err != nil || record.Held() {
			return Done, err
		}
	}
	return progress, err
}

// ReleaseFor ends a hold that was set by HoldFor, unless another reason needs it.
func (s *Service) ReleaseFor(ctx context.Context, customer, id, dispute string) (Progress, error) {
	last, found, err := s.cfg.Store.GetLastChangeFor(ctx, id, dispute, Hold, Release)
	switch {
	case err != nil:
		return Blocked, err
	case !found, last.Kind == Hold && last.State == StatusRefused:
		return Done, nil
	case !last.State.Final():
		return InProgress, nil
	case last.Kind == Release && !s.mayRepeat(last):
		return progressOf(last), nil
	}
	if held, err := s.cfg.HeldOtherwise(ctx, id, dispute); err != nil || held {
		return Done, err
	}
	domain, err := s.customerDomain(ctx, customer, id)
	switch {
	case err != nil:
		return Blocked, err
	case domain.Status == registrar.DomainTransferredOut: // its new registrar decides
		return Done, nil
	}
	return s.storeFor(ctx, domain, dispute, Release)
}

// RepeatDisputed stores the change that sets the holder of a domain transferred to us once more, if
// the lock of a payment dispute refused it and the lock has ended. Its data are the holder's now.
func (s *Service) RepeatDisputed(ctx context.Context, customer, id string) (Progress, error) {
	changes, err := s.cfg.Store.ListDomainChanges(ctx, id, maxShownChanges)
	if err != nil {
		return Blocked, err
	}
	last := slices.IndexFunc(changes, func(change Change) bool { return change.Kind == UpdateRegistrant })
	if last < 0 || changes[last].Desired.Reason != holder.ReasonTransfer {
		return Done, nil
	}
	refused := changes[last]
	switch {
	case !refused.State.Final():
		return InProgress, nil
	case refused.State != StatusRefused || refused.Failure != DomainDisputed:
		return Done, nil
	}
	domain, err := s.customerDomain(ctx, customer, id)
	if err != nil {
		return Blocked, err
	}
	system := registrar.Actor{Kind: registrar.ActorSystem, Customer: customer}
	change, _, err := s.prepareChange(ctx, system, domain, ChangeRequest{Kind: UpdateRegistrant, Holder: refused.Desired.Holder, Reason: holder.ReasonCorrection})
	switch kind := registrar.KindOf(err); {
	case err == nil:
	case kind == registrar.KindConflict: // locked for another reason, or being transferred or deleted
		return Blocked, nil
	case registrar.IsTransient(err):
		return Blocked, err
	default: // the holder is gone or no longer eligible: the customer chooses another one
		return Done, nil //nolint:nilerr // the domain page says that the holder was not set
	}
	change.Desired.Reason, change.Node, change.Attempts, change.DueAt = holder.ReasonTransfer, "", 0, s.worker.Now()
	err = s.cfg.Store.AddDomainChange(ctx, change)
	if registrar.CodeOf(err) == ChangeInProgress {
		return InProgress, nil
	}
	if err == nil {
		s.worker.Wake()
	}
	return InProgress, err
}

// LastChangeFor returns the last change of two kinds that was stored for a dispute; false if
// there is none.
func (s *Service) LastChangeFor(ctx context.Context, operator registrar.Actor, domain, dispute string, kind, or ChangeKind) (Change, bool, error) {
	if err := operator.RequireOperator(); err != nil {
		return Change{}, false, err
	}
	return s.cfg.Store.GetLastChangeFor(ctx, domain, dispute, kind, or)
}

// mayRepeat reports whether a change that was not executed is worth another attempt.
func (s *Service) mayRepeat(change Change) bool {
	keptHeld := change.Kind == Release && change.Failure == DomainRestricted // by another reason, not by the registry
	return change.State == StatusCanceled || change.State == StatusRefused && keptHeld || change.State == StatusRefused && s.cfg.Now().Sub(change.UpdatedAt) > retryRefused
}

// HasTransferLockAt reports whether domains of an account and TLD can be locked.
func (s *Service) HasTransferLockAt(account, tld string) bool {
	registry, served := s.registryFor(account, tld)
	return served && registry.Registry.Capabilities(tld).Lock
}

// storeFor stores a change of the service for a dispute and leaves it to Run. Another open change
// of the domain comes first, but a nameserver change that waits for a day does not delay the lock
// of a domain that is not locked.
func (s *Service) storeFor(ctx context.Context, domain Domain, dispute string, kind ChangeKind) (Progress, error) {
	system := registrar.Actor{Kind: registrar.ActorSystem, Customer: domain.Customer}
	change, _, err := s.prepareChange(ctx, system, domain, ChangeRequest{Kind: kind})
	switch kind := registrar.KindOf(err); {
	case err == nil:
	case kind == registrar.KindUnsupported: // the registry has neither lock nor code, or no account serves it
		return Done, nil
	case kind == registrar.KindConflict: // the domain is being transferred or deleted, which may change
		return Blocked, nil
	default:
		return Blocked, err
	}
	change.Desired.Lock, change.Node, change.Attempts, change.DueAt = dispute, "", 0, s.worker.Now()
	err = s.cfg.Store.AddDomainChange(ctx, change)
	if registrar.CodeOf(err) == ChangeInProgress && (kind == Lock || kind == Secure) {
		record, _, recordErr := s.cfg.Store.GetRegistryRecord(ctx, domain.ID)
		if recordErr == nil && !record.Locked() {
			_ = s.endWaiting(ctx, domain.ID, StatusRefused, DomainDisputed, *s.auditEvent(change, ActionDisputed)) // or it is not waiting
			err = s.cfg.Store.AddDomainChange(ctx, change)
		}
	}
	if registrar.CodeOf(err) == ChangeInProgress {
		return InProgress, nil
	}
	if err == nil {
		s.worker.Wake()
	}
	return InProgress, err
}
