package domainchange

import (
	"context"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// View is everything about one domain that its holder may see.
type View struct {
	Domain Domain
	// Record is what the registry told last; Known says that it told anything,
	// Silent that it did not answer just now.
	Record                 Record
	HasRecord, Unreachable bool
	// Served says that a registry account looks after the extension. Powers is what
	// its holders can do.
	Served       bool
	Capabilities Capabilities
	// Open is the change that is under way; nil if none is. Stuck says that nobody can
	// carry it out, because its registry account is not ours any more.
	Open  *Change
	Stuck bool
	// Changes and Deeds are the history, the newest first. Deeds are those that are
	// not about changes.
	Changes     []Change
	AuditEvents []registrar.AuditEvent

	// Closed says why a kind of change can't be made now; kinds that can are not in
	// it.
	Closed map[ChangeKind]registrar.Code
}

// View is what the holder of a domain sees.
func (s *Service) View(ctx context.Context, actor registrar.Actor, id string) (View, error) {
	domain, err := s.getOwnDomain(ctx, actor, id)
	if err != nil {
		return View{}, err
	}
	view := View{Domain: domain, Closed: make(map[ChangeKind]registrar.Code)}
	registry, served := s.registryFor(domain.Account, domain.TLD)
	if view.Served = served; served {
		view.Capabilities = registry.Registry.Capabilities(domain.TLD)
	}
	if view.Record, view.HasRecord, err = s.cfg.Store.GetRegistryRecord(ctx, domain.ID); err != nil {
		return View{}, err
	}
	ours := domain.Status == registrar.DomainActive || domain.Status == registrar.DomainExpired || domain.Status == registrar.DomainRedemption
	if age := s.realTime().Sub(view.Record.ReadAt); served && ours && (!view.HasRecord || age < 0 || age > recordMaxAge) {
		s.refreshRecord(ctx, actor, registry.Registry, &view)
	}
	if err := s.loadHistory(ctx, &view); err != nil {
		return View{}, err
	}
	err = s.fillClosed(ctx, &view)
	return view, err
}

// refreshRecord asks the registry, if the actor's budget suffices. What it told before stands
// if it does not answer.
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
	if err != nil {
		view.Unreachable = true
		s.cfg.Logger.WarnContext(ctx, "a domain can't be looked up at its registry", "domain", view.Domain.ID, "extension", view.Domain.TLD,
			"reason", registrar.KindOf(err).String(), "code", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
		return
	}
	view.Record, view.HasRecord = answer.Value, true
}

// fetchRecord asks the registry about a domain and stores what it says.
func (s *Service) fetchRecord(ctx context.Context, registry Registry, domain Domain) (Record, error) {
	record, err := registry.FetchRecord(ctx, domain.Name)
	if err != nil {
		return Record{}, err
	}
	record.ReadAt = s.realTime()
	if err := s.cfg.Store.PutRegistryRecord(ctx, domain.ID, record); err != nil {
		s.cfg.Logger.WarnContext(ctx, "steward: registry record not stored", "domain", domain.ID, "error", err.Error())
	}
	return record, nil
}

func (s *Service) loadHistory(ctx context.Context, view *View) (err error) {
	if view.Changes, err = s.cfg.Store.ListDomainChanges(ctx, view.Domain.ID, maxShownChanges); err != nil {
		return err
	}
	for i := range view.Changes {
		if !view.Changes[i].State.Final() {
			view.Open = &view.Changes[i]
			_, served := s.registryFor(view.Open.Account, view.Open.TLD)
			view.Stuck = !served
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

// fillClosed says for each kind why it can't be asked for.
func (s *Service) fillClosed(ctx context.Context, view *View) error {
	for _, kind := range CustomerChangeKinds() {
		code := statusRefusal(view.Domain.Status, kind)
		switch {
		case code != "":
		case !view.Served:
			code = registrar.NoRegistryAccount
		case view.Open != nil:
			code = ChangeInProgress
		case (kind == Lock || kind == Unlock) && !view.Capabilities.Lock:
			code = NoTransferLock
		case kind == AuthCode && !view.Capabilities.Code:
			code = NoAuthCode
		case kind == UpdateRegistrant && !view.Capabilities.Contacts:
			code = NoContacts
		default:
			var err error
			if code, err = s.cfg.CheckRestrictions(ctx, view.Domain, kind); err != nil {
				return err
			}
			if code == "" && kind == UpdateRegistrant {
				if code, err = s.registrantRefusal(ctx, view.Domain); err != nil {
					return err
				}
			}
		}
		if code != "" {
			view.Closed[kind] = code
		}
	}
	return nil
}

// registrantRefusal is why the extension does not admit the account's registrant; empty
// if it does, or if there is none.
func (s *Service) registrantRefusal(ctx context.Context, domain Domain) (registrar.Code, error) {
	_, err := s.eligibleRegistrant(ctx, domain.Customer, domain.TLD)
	switch {
	case registrar.CodeOf(err) == RegistrantMissing:
		return "", nil
	case registrar.KindOf(err) == registrar.KindConflict && err != nil:
		return registrar.CodeOf(err), nil
	default:
		return "", err
	}
}
