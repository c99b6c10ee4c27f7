package provision

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Drift is a difference between our records and a registry's.
type Drift string

// The differences.
const (
	// DriftMissing: the registry does not know the name.
	DriftMissing Drift = "missing"
	// DriftElsewhere: another registrar has it. Its status follows.
	DriftElsewhere Drift = "elsewhere"
	// DriftRedemption: it was deleted. Its status follows.
	DriftRedemption Drift = "redemption"
	// DriftShort: it is paid for longer than it is registered.
	DriftShort Drift = "expires_before_paid"
	// DriftHandle: it has another holder's contact than ours.
	DriftHandle Drift = "other_contact"
)

// expiryTolerance is how much earlier than the paid date a registry may expire: dates of
// registries are days, in time zones of their own.
const expiryTolerance = 48 * time.Hour

// SyncResult is what a look at one domain brought.
type SyncResult struct {
	Domain Domain
	Drift  []Drift
	// Err is why the registry could not be asked.
	Err error
}

// pollMessages fetches the messages of one account until ctx ends.
func (s *Service) pollMessages(ctx context.Context, account NamedAccount) {
	every := account.PollInterval
	if every == 0 {
		every = defaultPollInterval
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	logged := "" // the reason that was logged last; empty after a success
	for {
		_, err := s.Poll(ctx, account.Name, nil)
		var cause *registrar.Cause
		switch {
		case err == nil:
			logged = ""
		case ctx.Err() != nil, errors.As(err, &cause) && cause.Outage: // outages have a record of their own
		case logged != err.Error()+registrar.CauseOf(err):
			logged = err.Error() + registrar.CauseOf(err)
			s.cfg.Logger.WarnContext(ctx, "a registry's messages can't be fetched", "account", account.Name,
				"reason", registrar.KindOf(err).String(), "code", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Poll takes all messages that wait at an account. Each is stored, and what it is
// about made due, before it is acknowledged. seen is told each one; nil means
// nobody.
func (s *Service) Poll(ctx context.Context, account string, onMessage func(Message)) (taken int, err error) {
	registry := s.accountByName(account)
	if registry == nil {
		return 0, &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoRegistryAccount}
	}
	for last := ""; ctx.Err() == nil; {
		message, err := s.nextMessage(ctx, registry)
		if err != nil || message == nil {
			return taken, err
		}
		if message.ID == last { // acknowledged and still there: not again before the next time
			return taken, &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultBroken, Detail: "a message stays though it was acknowledged"}
		}
		if _, err := s.cfg.Domains.StoreRegistryMessage(ctx, account, *message, s.clock()); err != nil {
			return taken, err
		}
		failpoint.Hit(failpointMessageStored)
		s.itemLoop.Wake()
		s.domainLoop.Wake()
		if onMessage != nil {
			onMessage(*message)
		}
		if err := s.acknowledge(ctx, registry, message.ID); err != nil {
			return taken, err
		}
		failpoint.Hit(failpointMessageGone)
		s.cfg.OnMessage(account)
		taken++
		last = message.ID
	}
	return taken, ctx.Err()
}

func (s *Service) nextMessage(ctx context.Context, registry Account) (*Message, error) {
	call, cancel := jobs.CallContext(ctx, s.cfg.Deadline)
	defer cancel()
	return registry.NextMessage(call)
}

func (s *Service) acknowledge(ctx context.Context, registry Account, id string) error {
	call, cancel := jobs.CallContext(ctx, s.cfg.Deadline)
	defer cancel()
	return registry.Acknowledge(call, id)
}

// syncDue is the loop's look at one domain.
func (s *Service) syncDue(ctx context.Context, domain Domain) {
	if finding := s.SyncDomain(ctx, domain); finding.Err != nil && ctx.Err() == nil {
		s.cfg.Logger.WarnContext(ctx, "a domain can't be compared with its registry", "domain", domain.ID,
			"reason", registrar.KindOf(finding.Err).String(), "code", string(registrar.CodeOf(finding.Err)), "cause", registrar.CauseOf(finding.Err))
	}
}

// SyncDomain asks the registry about a domain, stores what belongs to the registry,
// and reports the rest.
func (s *Service) SyncDomain(ctx context.Context, was Domain) SyncResult {
	call, cancel := jobs.CallContext(ctx, s.cfg.Deadline)
	defer cancel()
	record, err := s.fetchRecord(call, was)
	now := was
	if !was.SyncDue.IsZero() {
		now.SyncDue = s.clock().Add(syncInterval)
	}
	if err != nil && (registrar.IsTransient(err) || registrar.CodeOf(err) == registrar.NoRegistryAccount) {
		if !was.SyncDue.IsZero() {
			now.SyncDue = s.clock().Add(maxBackoff)
			_, _ = s.cfg.Domains.UpdateDomainFromRegistry(call, was, now, nil) // it is due still, and tried again
		}
		return SyncResult{Domain: was, Err: err}
	}
	now, drift := compareRecord(now, record, err)
	now.SyncedAt = s.cfg.Now()
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
		err = &registrar.Error{Kind: registrar.KindConflict, Detail: "the domain changed meanwhile"}
	}
	for _, what := range drift {
		s.cfg.OnDrift(what)
		s.cfg.Logger.WarnContext(ctx, "a domain differs from its registry", "domain", was.ID, "extension", was.TLD, "what", string(what))
	}
	return SyncResult{Domain: now, Drift: drift, Err: err}
}

// fetchRecord asks the account that has the domain. Another account would say that it
// is somebody else's, and a slip in the configuration must not take domains away
// from their holders; it is asked only where nobody knows which account has it.
func (s *Service) fetchRecord(call context.Context, domain Domain) (Record, error) {
	account := s.accountByName(domain.Account)
	if serving, found := s.accountForTLD(domain.TLD); found && domain.Account == "" {
		account = serving.Account
	}
	if account == nil {
		return Record{}, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.NoRegistryAccount}
	}
	return account.Record(call, domain.Name)
}

// compareRecord puts the registry's fields into the domain and says what differs.
func compareRecord(domain Domain, record Record, err error) (Domain, []Drift) {
	switch {
	case errors.Is(err, &registrar.Error{Code: registrar.OtherRegistrar}):
		if domain.Status == registrar.DomainTransferredOut || domain.Status == registrar.DomainTransit {
			return domain, nil // DENIC's own registrar has what is in transit
		}
		domain.Status, domain.SyncDue = registrar.DomainTransferredOut, time.Time{}
		return domain, []Drift{DriftElsewhere}
	case err != nil: // the registry's clear word that there is nothing
		return domain, []Drift{DriftMissing}
	}
	var drift []Drift
	domain.RegistryStatus, domain.RegistryExpires = slices.Sorted(slices.Values(record.Statuses)), record.Expires
	switch {
	case record.Redemption && domain.Status != registrar.DomainRedemption:
		domain.Status = registrar.DomainRedemption
		drift = append(drift, DriftRedemption)
	case !record.Redemption && !record.Expires.IsZero() && record.Expires.Add(expiryTolerance).Before(domain.PaidUntil):
		drift = append(drift, DriftShort)
	}
	if domain.Handle != "" && record.Handle != "" && domain.Handle != record.Handle {
		drift = append(drift, DriftHandle)
	}
	return domain, drift
}

// SyncAll looks at every domain that a registry account serves and that is ours, and
// tells each finding.
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
			if _, served := s.accountForTLD(domain.TLD); !served || domain.Status == registrar.DomainPending || domain.Status == registrar.DomainTransferredOut {
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
