package contactcheck

import (
	"context"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

// LinkState is what a link is good for.
type LinkState int

// States of a link. Those of a bad link are an error.
const (
	LinkOpen      LinkState = iota // a button confirms the address
	LinkConfirmed                  // the address is confirmed
	LinkObsolete                   // there is nothing to confirm any more
)

// LinkState returns what the link from a mail is good for, and changes nothing.
func (s *Service) LinkState(ctx context.Context, secret string) (LinkState, error) {
	checks, err := s.linkedChecks(ctx, secret)
	if err != nil {
		return 0, err
	}
	state := LinkObsolete
	for _, check := range checks {
		switch {
		case check.Open():
			return LinkOpen, nil
		case check.State == Confirmed:
			state = LinkConfirmed
		}
	}
	return state, nil
}

// LinkDomains returns the names of the first domains that wait for a link to be used, and how many
// more there are.
func (s *Service) LinkDomains(ctx context.Context, secret string) (names []string, further int, err error) {
	checks, err := s.linkedChecks(ctx, secret)
	for _, check := range checks {
		if err != nil || !check.Open() {
			continue
		}
		var domains []Domain
		domains, err = s.listDomains(ctx, check)
		names = append(names, namesOf(domains)...)
	}
	further = max(len(names)-maxNamed, 0)
	return names[:len(names)-further], further, err
}

func (s *Service) linkedChecks(ctx context.Context, secret string) ([]Check, error) {
	customer, email, err := s.linkedAddress(ctx, secret)
	if err != nil {
		return nil, err
	}
	return s.cfg.Store.ListChecksOfAddress(ctx, customer, email, maxListed)
}

func (s *Service) linkedAddress(ctx context.Context, secret string) (customer, email string, err error) {
	hash, ok := registrar.HashSecret(registrar.LinkSecret, secret)
	if ok {
		customer, email, ok, err = s.cfg.Store.LinkedAddress(ctx, hash, s.cfg.Clock())
	}
	if err == nil && !ok {
		err = registrar.NotFound(BadLink)
	}
	return customer, email, err
}

// Confirm confirms the address that a link was mailed to. Whoever has the link may do so, signed
// in or not, and repeatedly.
func (s *Service) Confirm(ctx context.Context, actor registrar.Actor, secret string) (LinkState, error) {
	customer, email, err := s.linkedAddress(ctx, secret)
	if err != nil {
		return 0, err
	}
	visitor := registrar.Actor{Kind: registrar.ActorPerson, Address: actor.Address} // not the account that is signed in
	if confirmed, err := s.confirm(ctx, customer, email, ByLink, visitor, ""); err != nil || confirmed > 0 {
		return LinkConfirmed, err
	}
	return s.LinkState(ctx, secret)
}

// ConfirmByHand confirms the address of a check by an operator's decision. The note says how the
// address was verified.
func (s *Service) ConfirmByHand(ctx context.Context, operator registrar.Actor, id, note string) error {
	check, err := s.openCheck(ctx, operator, id)
	if err != nil {
		return err
	}
	note = strings.TrimSpace(note)
	if note == "" || len(note) > maxNoteLength {
		return registrar.Invalid(NoteMissing)
	}
	confirmed, err := s.confirm(ctx, check.Customer, check.Email, ByOperator, operator, note)
	if err == nil && confirmed == 0 {
		err = registrar.NotFound(NoSuchCheck)
	}
	return err
}

// Suspend suspends the domains of a check by an operator's decision, for example because the
// address does not accept mails. Neither notices nor the brake apply.
func (s *Service) Suspend(ctx context.Context, operator registrar.Actor, id string) error {
	for range maxSuspendAttempts {
		check, err := s.openCheck(ctx, operator, id)
		if err != nil {
			return err
		}
		if check.State != Pending || check.WaitsFor == "" {
			return registrar.NotFound(NoSuchCheck)
		}
		verdict, _, err := s.begin(ctx, check, Suspension{})
		if err != nil || verdict == Begun {
			s.steps.Wake()
			return err
		}
	}
	return registrar.NotFound(NoSuchCheck)
}

// maxSuspendAttempts bounds how often an operator's suspension is tried again because a step of
// the job came first.
const maxSuspendAttempts = 3

func (s *Service) openCheck(ctx context.Context, operator registrar.Actor, id string) (Check, error) {
	if err := operator.RequireOperator(); err != nil {
		return Check{}, err
	}
	check, found, err := s.cfg.Store.GetContactCheck(ctx, id)
	if err == nil && (!found || !check.Open()) {
		err = registrar.NotFound(NoSuchCheck)
	}
	return check, err
}

func (s *Service) confirm(ctx context.Context, customer, email string, by Means, actor registrar.Actor, note string) (int, error) {
	check := Check{Customer: customer, Email: email}
	from := actor.Through
	if by == ByLink && actor.Address.IsValid() {
		from = actor.Address.String()
	}
	event := s.auditEvent(ActionConfirmed, check)
	event.Actor = actor
	confirmed, err := s.cfg.Store.ConfirmAddress(ctx, Confirmation{
		Customer: customer, Email: email, By: by, From: from, Note: note, Event: event,
		Mail: registrar.Mail{Kind: registrar.MailContactConfirmed, Customer: customer, Data: map[string]string{"email": email}},
		Now:  s.cfg.Now(), At: s.cfg.Clock(),
	})
	if err == nil && confirmed > 0 {
		failpoint.Hit("contact_confirmed")
		s.cfg.OnState(Confirmed)
		s.cfg.MailQueued()
		s.releases.Wake()
	}
	return confirmed, err
}

// Resend sends the mail of a check again for its customer.
func (s *Service) Resend(ctx context.Context, actor registrar.Actor, id string) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	check, found, err := s.cfg.Store.GetContactCheck(ctx, id)
	switch now := s.cfg.Now(); {
	case err != nil:
		return err
	case !found || check.Customer != actor.Customer:
		return registrar.NotFound(NoSuchCheck)
	case !check.Open():
		return registrar.Conflict(Ended)
	case now.Sub(check.ResentAt).Abs() < resendInterval:
		return &registrar.Error{Kind: registrar.KindRateLimited, Code: ResentToo, RetryAfter: check.ResentAt.Add(resendInterval).Sub(now)}
	}
	next := check
	next.ResentAt = s.cfg.Now()
	domains, err := s.listDomains(ctx, check)
	if err != nil {
		return err
	}
	mail, err := s.mailTo(ctx, next, domains)
	if err != nil {
		return err
	}
	updated, err := s.cfg.Store.UpdateContactCheck(ctx, Transition{From: check, To: next, Mails: []registrar.Mail{mail}, At: s.cfg.Clock()})
	if err == nil && !updated { // a job or another tab has sent one
		return &registrar.Error{Kind: registrar.KindRateLimited, Code: ResentToo, RetryAfter: resendInterval}
	}
	s.cfg.MailQueued()
	return err
}

// OfDomain returns the open check of a customer's domain; false if it has none.
func (s *Service) OfDomain(ctx context.Context, actor registrar.Actor, domain string) (Check, bool, error) {
	if err := actor.RequirePerson(); err != nil {
		return Check{}, false, err
	}
	return s.cfg.Store.GetContactCheckOfDomain(ctx, actor.Customer, domain)
}

// MustConfirm reports whether an address has to be confirmed before the end of Term once it is the
// registrant's of a customer's domain.
func (s *Service) MustConfirm(ctx context.Context, actor registrar.Actor, email string) (bool, error) {
	if err := actor.RequirePerson(); err != nil {
		return false, err
	}
	confirmed, err := s.cfg.Store.IsConfirmedAddress(ctx, actor.Customer, email)
	if err != nil || confirmed {
		return false, err
	}
	checks, err := s.cfg.Store.ListChecksOfAddress(ctx, actor.Customer, email, maxListed)
	return !slices.ContainsFunc(checks, func(check Check) bool { return check.State == Confirmed }), err
}

// ListOwn returns a customer's open checks with their domains, the first that are due first.
func (s *Service) ListOwn(ctx context.Context, actor registrar.Actor) ([]Check, error) {
	if err := actor.RequirePerson(); err != nil {
		return nil, err
	}
	checks, err := s.cfg.Store.ListCustomerContactChecks(ctx, actor.Customer, maxNamed)
	if err != nil {
		return nil, err
	}
	for i := range checks {
		domains, err := s.cfg.Store.ListDomainsOfCheck(ctx, checks[i].ID, "", maxOwnDomains)
		if err != nil {
			return nil, err
		}
		if checks[i].Domains = len(domains); len(domains) == maxOwnDomains {
			if checks[i].Domains, err = s.cfg.Store.CountDomainsOfCheck(ctx, checks[i].ID); err != nil {
				return nil, err
			}
		}
		going, kept := s.split(domains)
		checks[i].Names, checks[i].Kept = namesOf(going), namesOf(kept)
	}
	return checks, nil
}

// split returns the domains that a suspension takes out of the DNS, and those whose registry does not
// offer that.
func (s *Service) split(domains []Domain) (going, kept []Domain) {
	for _, domain := range domains {
		if s.cfg.LacksHold(domain.TLD) {
			kept = append(kept, domain)
		} else {
			going = append(going, domain)
		}
	}
	return going, kept
}

// ListOpen returns all open checks, the first that are due first.
func (s *Service) ListOpen(ctx context.Context, operator registrar.Actor) ([]Check, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	checks, err := s.cfg.Store.ListOpenContactChecks(ctx, maxListed)
	for i := range checks {
		if err == nil && checks[i].WaitsFor == WaitsForRegistry {
			checks[i].Refused, err = s.refusedHolds(ctx, operator, checks[i])
		}
	}
	return checks, err
}

// refusedHolds returns the domains of a check that are not on hold, and why.
func (s *Service) refusedHolds(ctx context.Context, operator registrar.Actor, check Check) (refused []RefusedHold, err error) {
	domains, err := s.cfg.Store.ListDomainsOfCheck(ctx, check.ID, "", maxNamed)
	for _, domain := range domains {
		if domain.Held {
			continue
		}
		change, _, err := s.cfg.Changes.LastChangeFor(ctx, operator, domain.ID, domain.Hold, domainchange.Hold, domainchange.Release)
		if err != nil {
			return nil, err
		}
		refused = append(refused, RefusedHold{domain.Name, change.Failure})
	}
	return refused, err
}

// FirstDomain returns the name of the first domain of a check; empty if none is left.
func (s *Service) FirstDomain(ctx context.Context, operator registrar.Actor, check string) (string, error) {
	if err := operator.RequireOperator(); err != nil {
		return "", err
	}
	domains, err := s.cfg.Store.ListDomainsOfCheck(ctx, check, "", 1)
	if err != nil || len(domains) == 0 {
		return "", err
	}
	return domains[0].Name, nil
}
