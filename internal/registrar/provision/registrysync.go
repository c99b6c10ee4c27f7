package provision

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Drift is a difference between our records and a registry's.
type Drift string

// Kinds of drift.
const (
	DriftMissing    Drift = "missing"             // the registry does not know the name
	DriftElsewhere  Drift = "elsewhere"           // another registrar sponsors it; its status is updated
	DriftRedemption Drift = "redemption"          // it was deleted; its status is updated
	DriftShort      Drift = "expires_before_paid" // the registry expires it before the end of the paid term
	DriftHandle     Drift = "other_contact"       // its registrant contact is not the stored one
)

// expiryTolerance is how much earlier than the paid date a registry may expire: registry
// dates are days in the registry's own time zone.
const expiryTolerance = 48 * time.Hour

// SyncResult is the result of comparing one domain with its registry.
type SyncResult struct {
	Domain Domain
	Drift  []Drift
	Err    error // why the registry could not be queried or the result not stored
}

func (s *Service) syncDue(ctx context.Context, domain Domain) {
	if finding := s.SyncDomain(ctx, domain); finding.Err != nil && ctx.Err() == nil {
		s.cfg.Logger.WarnContext(ctx, "registry sync failed", "domain", domain.ID, registrar.LogFailure(finding.Err))
	}
}

// SyncName compares the domain that is held under a name; it does nothing if there is none.
func (s *Service) SyncName(ctx context.Context, name string) error {
	domain, found, err := s.cfg.Domains.DomainByName(ctx, name)
	if err != nil || !found {
		return err
	}
	return s.SyncDomain(ctx, domain).Err
}

// SyncDomain reads a domain's registry data, stores the fields that the registry owns and
// reports the drift.
func (s *Service) SyncDomain(ctx context.Context, was Domain) SyncResult {
	call, cancel := s.items.CallContext(ctx)
	defer cancel()
	readAt := s.cfg.Now() // before the call, so that a change during it is the newer one
	record, rules, err := s.fetchRecord(call, was)
	now := was
	if !was.SyncDue.IsZero() {
		now.SyncDue = s.items.Now().Add(syncInterval)
	}
	if err != nil && (registrar.IsTransient(err) || registrar.CodeOf(err) == registrar.NoRegistryAccount) {
		if !was.SyncDue.IsZero() {
			now.SyncDue = s.items.Now().Add(maxBackoff)
			_, _ = s.cfg.Domains.UpdateDomainFromRegistry(call, was, now, nil) // on failure the domain stays due
		}
		return SyncResult{Domain: was, Err: err}
	}
	now.SyncedAt = s.cfg.Now()
	now, drift := compareRecord(now, record, rules, err)
	if err == nil {
		now.Record, record.Full.ReadAt = &record.Full, readAt
		now.DeletedAt = deletedAt(now, record)
	}
	var event *registrar.AuditEvent
	if now.Status != was.Status {
		now.UpdatedAt = now.SyncedAt
		event = &registrar.AuditEvent{
			Actor:  registrar.Actor{Kind: registrar.ActorSystem, Through: was.Account},
			Action: ActionSynced, Customer: was.Customer, Object: was.Name, At: now.SyncedAt,
		}
	}
	stored, err := s.cfg.Domains.UpdateDomainFromRegistry(call, was, now, event)
	if err == nil && !stored {
		err = &registrar.Error{Kind: registrar.KindConflict, Detail: "domain changed concurrently"}
	}
	for _, what := range drift {
		s.cfg.OnDrift(what)
		s.cfg.Logger.WarnContext(ctx, "domain differs from registry", "domain", was.ID, "extension", was.TLD, "drift", string(what))
	}
	return SyncResult{Domain: now, Drift: drift, Err: err}
}

// fetchRecord queries the domain's own account. Any other account would report a foreign
// sponsor, and a configuration mistake must not mark domains as transferred out; the
// TLD's account is used only if the domain has none.
func (s *Service) fetchRecord(call context.Context, domain Domain) (Record, Rules, error) {
	account := s.accountByName(domain.Account)
	if serving, found := s.cfg.Accounts.forTLD(domain.TLD); found && domain.Account == "" {
		account = serving.Account
	}
	if account == nil {
		return Record{}, Rules{}, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.NoRegistryAccount}
	}
	record, err := account.Record(call, domain.Name)
	return record, account.Rules(domain.TLD), err
}

// compareRecord copies the registry's fields into the domain and returns the drift.
func compareRecord(domain Domain, record Record, rules Rules, err error) (Domain, []Drift) {
	switch {
	case domain.Status == registrar.DomainPending: // added without an order, so no item waits for it
		if err != nil || slices.Contains(record.Statuses, "pendingCreate") {
			return domain, nil
		}
		domain.Status, domain.PaidUntil = registrar.DomainActive, record.Expires
		if record.Expires.IsZero() { // the registry has no terms: ours starts now
			domain.PaidUntil = domain.SyncedAt.AddDate(1, 0, 0)
		}
	case errors.Is(err, &registrar.Error{Code: registrar.OtherRegistrar}):
		if domain.Status == registrar.DomainTransferredOut || domain.Status == registrar.DomainTransit {
			return domain, nil // DENIC's own registrar sponsors a domain in TRANSIT
		}
		domain.Status, domain.SyncDue = registrar.DomainTransferredOut, time.Time{}
		return domain, []Drift{DriftElsewhere}
	case err != nil: // the registry has no such domain
		return domain, []Drift{DriftMissing}
	}
	paidUntil := domain.PaidUntil
	if rules.NoRenew && paidUntil.After(domain.SyncedAt) { // the registry adds the years as they come
		paidUntil = domain.SyncedAt
	}
	var drift []Drift
	domain.RegistryStatus, domain.RegistryExpires = slices.Sorted(slices.Values(record.Statuses)), record.Expires
	switch {
	case record.Redemption && domain.Status != registrar.DomainRedemption:
		domain.Status = registrar.DomainRedemption
		drift = append(drift, DriftRedemption)
	case !record.Redemption && !record.Expires.IsZero() && record.Expires.Add(expiryTolerance).Before(paidUntil):
		drift = append(drift, DriftShort)
	}
	if domain.Handle != "" && record.Handle != "" && domain.Handle != record.Handle {
		drift = append(drift, DriftHandle)
	}
	return domain, drift
}

// deletedAt returns when the registry deleted a domain whose term is over: the deletion is usually its
// last change. If that was before the end of the term, it is not a deletion, and the day on which we
// have seen it has to do. It is zero if the registry has not deleted it.
func deletedAt(domain Domain, record Record) time.Time {
	changed := record.Full.Updated
	switch {
	case !record.Redemption || domain.PaidUntil.After(domain.SyncedAt):
		return time.Time{}
	case changed.Before(domain.PaidUntil) || changed.After(domain.SyncedAt):
		return domain.SyncedAt
	default:
		return changed
	}
}

// SyncAll synchronises every domain that a registry account serves and that is still ours,
// and reports each result.
func (s *Service) SyncAll(ctx context.Context, actor registrar.Actor, report func(SyncResult) error) error {
	if err := actor.RequireOperator(); err != nil {
		return err
	}
	const page = 100
	last := ""
	for {
		domains, err := s.cfg.Domains.ListDomainsAfter(ctx, last, page)
		if err != nil {
			return err
		}
		for _, domain := range domains {
			last = domain.ID
			if _, served := s.cfg.Accounts.forTLD(domain.TLD); !served || domain.Status == registrar.DomainPending || domain.Status == registrar.DomainTransferredOut {
				continue
			}
			if err := report(s.SyncDomain(ctx, domain)); err != nil {
				return err
			}
		}
		if len(domains) < page {
			return ctx.Err()
		}
	}
}
