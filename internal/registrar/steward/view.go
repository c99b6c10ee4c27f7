package steward

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
	Record        Record
	Known, Silent bool
	// Served says that a registry account looks after the extension. Powers is what
	// its holders can do.
	Served bool
	Powers Powers
	// Open is the change that is under way; nil if none is. Stuck says that nobody can
	// carry it out, because its registry account is not ours any more.
	Open  *Change
	Stuck bool
	// Changes and Deeds are the history, the newest first. Deeds are those that are
	// not about changes.
	Changes []Change
	Deeds   []registrar.Deed

	// Closed says why a kind of change can't be made now; kinds that can are not in
	// it.
	Closed map[Kind]registrar.Code
}

// View is what the holder of a domain sees.
func (s *Service) View(ctx context.Context, actor registrar.Actor, id string) (View, error) {
	domain, err := s.own(ctx, actor, id)
	if err != nil {
		return View{}, err
	}
	view := View{Domain: domain, Closed: make(map[Kind]registrar.Code)}
	registry, served := s.serving(domain.Account, domain.TLD)
	if view.Served = served; served {
		view.Powers = registry.Registry.Powers(domain.TLD)
	}
	if view.Record, view.Known, err = s.cfg.Store.RecordOf(ctx, domain.ID); err != nil {
		return View{}, err
	}
	ours := domain.Status == domainActive || domain.Status == domainExpired || domain.Status == domainRedemption
	if age := s.clock().Sub(view.Record.ReadAt); served && ours && (!view.Known || age < 0 || age > freshFor) {
		s.look(ctx, actor, registry.Registry, &view)
	}
	if err := s.history(ctx, &view); err != nil {
		return View{}, err
	}
	err = s.close(ctx, &view)
	return view, err
}

// look asks the registry, if the actor's budget suffices. What it told before stands
// if it does not answer.
func (s *Service) look(ctx context.Context, actor registrar.Actor, registry Registry, view *View) {
	call, cancel := context.WithTimeout(ctx, lookFor)
	defer cancel()
	admit := func() error {
		if wait := s.cfg.Admit(actor); wait > 0 {
			return &registrar.Error{Kind: registrar.KindRateLimited, Code: "too_many_looks", RetryAfter: wait}
		}
		return nil
	}
	answer, err := s.looks.Ask(call, view.Domain.ID, admit, func(call context.Context) (Record, error) {
		return s.read(call, registry, view.Domain)
	})
	if err != nil {
		view.Silent = true
		s.cfg.Logger.WarnContext(ctx, "a domain can't be looked up at its registry", "domain", view.Domain.ID, "extension", view.Domain.TLD,
			"reason", registrar.KindOf(err).String(), "code", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
		return
	}
	view.Record, view.Known = answer.Value, true
}

// read asks the registry about a domain and stores what it says.
func (s *Service) read(ctx context.Context, registry Registry, domain Domain) (Record, error) {
	record, err := registry.Look(ctx, domain.Name)
	if err != nil {
		return Record{}, err
	}
	record.ReadAt = s.clock()
	if err := s.cfg.Store.KeepRecord(ctx, domain.ID, record); err != nil {
		s.cfg.Logger.WarnContext(ctx, "steward: registry record not stored", "domain", domain.ID, "error", err.Error())
	}
	return record, nil
}

func (s *Service) history(ctx context.Context, view *View) (err error) {
	if view.Changes, err = s.cfg.Store.ChangesOf(ctx, view.Domain.ID, shownChanges); err != nil {
		return err
	}
	for i := range view.Changes {
		if !view.Changes[i].State.Final() {
			view.Open = &view.Changes[i]
			_, served := s.serving(view.Open.Account, view.Open.TLD)
			view.Stuck = !served
		}
	}
	changes := Actions()
	for _, object := range []string{view.Domain.Name, view.Domain.ID} {
		deeds, err := s.cfg.Store.DeedsAbout(ctx, view.Domain.Customer, object, shownDeeds)
		if err != nil {
			return err
		}
		for _, deed := range deeds {
			if !slices.Contains(changes, deed.Action) {
				view.Deeds = append(view.Deeds, deed)
			}
		}
	}
	slices.SortStableFunc(view.Deeds, func(a, b registrar.Deed) int { return b.At.Compare(a.At) })
	return nil
}

// close says for each kind why it can't be asked for.
func (s *Service) close(ctx context.Context, view *View) error {
	for _, kind := range Kinds() {
		code := forbids(view.Domain.Status, kind)
		switch {
		case code != "":
		case !view.Served:
			code = NoAccount
		case view.Open != nil:
			code = UnderWay
		case (kind == Lock || kind == Unlock) && !view.Powers.Lock:
			code = NoLock
		case kind == AuthCode && !view.Powers.Code:
			code = NoCode
		case kind == TakeHolder && !view.Powers.Contacts:
			code = NoContacts
		default:
			var err error
			if code, err = s.cfg.Barred(ctx, view.Domain, kind); err != nil {
				return err
			}
			if code == "" && kind == TakeHolder {
				if code, err = s.refusesHolder(ctx, view.Domain); err != nil {
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

// refusesHolder is why the extension does not admit the account's registrant; empty
// if it does, or if there is none.
func (s *Service) refusesHolder(ctx context.Context, domain Domain) (registrar.Code, error) {
	_, err := s.holder(ctx, domain.Customer, domain.TLD)
	switch {
	case registrar.CodeOf(err) == HolderMissing:
		return "", nil
	case registrar.KindOf(err) == registrar.KindConflict && err != nil:
		return registrar.CodeOf(err), nil
	default:
		return "", err
	}
}
