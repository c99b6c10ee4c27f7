package domainchange

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// View is everything about one domain that its customer may see.
type View struct {
	Domain Domain
	// Record is the last known registry record; HasRecord means that there is one,
	// Unreachable that the registry did not respond just now.
	Record                 Record
	HasRecord, Unreachable bool
	// Missing is set if the registry has just said that it has no such domain of ours:
	// registrar.RegistryNotFound or registrar.OtherRegistrar.
	Missing      registrar.Code
	Served       bool // a registry account serves the TLD, with these Capabilities
	Capabilities Capabilities
	// Open is the change in progress, nil if there is none. Stuck means that it can't be
	// executed because its registry account is no longer configured.
	Open  *Change
	Stuck bool
	// Cancelable means that the customer can cancel Open. ChangeAt is when nameservers would
	// be changed if they were requested now and the DS records had to be removed first.
	Cancelable bool
	ChangeAt   time.Time
	// Changes and AuditEvents are the history, the newest first. AuditEvents excludes
	// those about changes.
	Changes     []Change
	AuditEvents []registrar.AuditEvent
	// PastRegistrants are the former ones, the newest first; the domain has the current one.
	PastRegistrants []PastRegistrant

	// Closed maps each kind of change that is not possible now to the reason.
	Closed map[ChangeKind]registrar.Code
}

// View returns a domain to its customer.
func (s *Service) View(ctx context.Context, actor registrar.Actor, id string) (View, error) {
	domain, err := s.getOwnDomain(ctx, actor, id)
	if err != nil {
		return View{}, err
	}
	view := View{Domain: domain, ChangeAt: s.cfg.Now().Add(DSTTL(domain.TLD)), Closed: make(map[ChangeKind]registrar.Code)}
	registry, served := s.registryFor(domain.Account, domain.TLD)
	if view.Served = served; served {
		view.Capabilities = registry.Registry.Capabilities(domain.TLD)
	}
	if domain.Status != registrar.DomainTransferredOut { // of which the last record says nothing any more
		if view.Record, view.HasRecord, err = s.cfg.Store.GetRegistryRecord(ctx, domain.ID); err != nil {
			return View{}, err
		}
	}
	ours := domain.Status == registrar.DomainActive || domain.Status == registrar.DomainExpired || domain.Status == registrar.DomainRedemption
	renewed := domain.RegistryExpires.Sub(view.Record.Expires) > 24*time.Hour // since the record was read
	if age := s.cfg.Now().Sub(view.Record.ReadAt); served && ours && (!view.HasRecord || age < 0 || age > recordMaxAge || renewed) {
		s.refreshRecord(ctx, actor, registry.Registry, &view)
	}
	if err := s.loadHistory(ctx, &view); err != nil {
		return View{}, err
	}
	err = s.fillClosed(ctx, &view)
	return view, err
}

// refreshRecord queries the registry within the actor's rate limit. On failure the stored
// record stays.
func (s *Service) refreshRecord(ctx context.Context, actor registrar.Actor, registry Registry, view *View) {
	callCtx, cancel := context.WithTimeout(ctx, recordFetchTimeout)
	defer cancel()
	admit := func() error {
		if retryAfter := s.cfg.RateLimit(actor); retryAfter > 0 {
			return &registrar.Error{Kind: registrar.KindRateLimited, Code: "too_many_looks", RetryAfter: retryAfter}
		}
		return nil
	}
	answer, err := s.records.Get(callCtx, view.Domain.ID, admit, func(callCtx context.Context) (Record, error) {
		return s.fetchRecord(callCtx, registry, view.Domain)
	})
	code := registrar.CodeOf(err)
	if code == registrar.OtherRegistrar && s.leave(ctx, actor, view) {
		return
	}
	if code == registrar.RegistryNotFound || code == registrar.OtherRegistrar {
		view.Missing = code
		return
	}
	if err != nil {
		view.Unreachable = true
		s.cfg.Logger.WarnContext(ctx, "registry lookup failed", "domain", view.Domain.ID, "extension", view.Domain.TLD, registrar.LogFailure(err))
		return
	}
	view.Record, view.HasRecord = answer.Value, true
}

// leave compares a domain that another registrar sponsors with its registry, and reports whether
// it is transferred out by then.
func (s *Service) leave(ctx context.Context, actor registrar.Actor, view *View) bool {
	if err := s.cfg.Sync(ctx, view.Domain.Name); err != nil {
		s.cfg.Logger.WarnContext(ctx, "registry sync failed", "domain", view.Domain.ID, registrar.LogFailure(err))
		return false
	}
	domain, err := s.getOwnDomain(ctx, actor, view.Domain.ID)
	if err != nil || domain.Status != registrar.DomainTransferredOut {
		return false
	}
	view.Domain, view.Record, view.HasRecord = domain, Record{}, false
	return true
}

func (s *Service) fetchRecord(ctx context.Context, registry Registry, domain Domain) (Record, error) {
	record, err := registry.FetchRecord(ctx, domain.Name)
	if err != nil {
		return Record{}, err
	}
	record.ReadAt = s.cfg.Now()
	if err := s.cfg.Store.PutRegistryRecord(ctx, domain.ID, record); err != nil {
		s.cfg.Logger.WarnContext(ctx, "registry record not stored", "domain", domain.ID, "error", err.Error())
	}
	return record, nil
}

func (s *Service) loadHistory(ctx context.Context, view *View) (err error) {
	if view.Changes, err = s.cfg.Store.ListDomainChanges(ctx, view.Domain.ID, maxShownChanges); err != nil {
		return err
	}
	if view.PastRegistrants, err = s.cfg.Store.ListPastRegistrants(ctx, view.Domain.ID, maxShownChanges); err != nil {
		return err
	}
	if view.Domain.Registrant, err = s.currentRegistrant(ctx, view.Domain); err != nil {
		return err
	}
	for i := range view.Changes {
		if !view.Changes[i].State.Final() {
			view.Open = &view.Changes[i]
			_, served := s.registryFor(view.Open.Account, view.Open.TLD)
			view.Stuck, view.Cancelable = !served, view.Open.Cancelable(s.worker.Now())
		}
	}
	changeActions := Actions()
	for _, object := range []string{view.Domain.Name, view.Domain.ID} {
		events, err := s.cfg.Store.ListObjectAuditEvents(ctx, view.Domain.Customer, object, maxShownAuditEvents)
		if err != nil {
			return err
		}
		for _, event := range events {
			if !slices.Contains(changeActions, event.Action) {
				view.AuditEvents = append(view.AuditEvents, event)
			}
		}
	}
	slices.SortStableFunc(view.AuditEvents, func(a, b registrar.AuditEvent) int { return b.At.Compare(a.At) })
	return nil
}

func (s *Service) fillClosed(ctx context.Context, view *View) error {
	for _, kind := range CustomerChangeKinds() {
		code := statusRefusal(view.Domain.Status, kind)
		switch {
		case code != "":
		case !view.Served:
			code = registrar.NoRegistryAccount
		case view.Open != nil:
			code = ChangeInProgress
		default:
			code = view.Capabilities.lacks(kind)
		}
		var err error
		if code == "" {
			code, err = s.cfg.CheckRestrictions(ctx, view.Domain, kind)
		}
		if err != nil {
			return err
		}
		if code != "" {
			view.Closed[kind] = code
		}
	}
	return nil
}
