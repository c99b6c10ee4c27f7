package renewal

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// The audit actions of consents. Their object is the domain's name.
const (
	ActionOn         registrar.Action = "auto_renew_on"
	ActionOff        registrar.Action = "auto_renew_off"
	ActionLetExpire  registrar.Action = "domain_let_expire"
	ActionKeep       registrar.Action = "domain_keep" // let it expire, taken back
	ActionMethodSet  registrar.Action = "payment_method_saved"
	ActionMethodGone registrar.Action = "payment_method_removed"
	// ActionMethodDefault is the change of the default.
	ActionMethodDefault registrar.Action = "payment_method_default"
)

// EndReason is why a consent ended.
type EndReason string

// The reasons. They are stored.
const (
	EndCustomer    EndReason = "customer"    // turned off in the portal
	EndAgent       EndReason = "agent"       // turned off by a token or an application
	EndExpire      EndReason = "expire"      // the customer lets the domain expire
	EndTerminated  EndReason = "terminated"  // an operator ended the contract, as the customer's notice asks
	EndNoMethod    EndReason = "no_method"   // the payment method was removed
	EndTransferred EndReason = "transferred" // the domain left
	EndClosed      EndReason = "closed"      // the account was closed, or the domain is gone
)

// Domain is a domain as far as consents need it.
type Domain struct {
	ID, Name, TLD string
	Status        registrar.DomainStatus
	PaidUntil     time.Time
	Choice        Choice
	Method        string // the label of the customer's default payment method; empty if there is none
	Premium       bool   // the registry is queried for its price
}

// renewalTerm is what the price of a renewal depends on.
func (d Domain) renewalTerm(years int) order.RenewalTerm {
	term := order.RenewalTerm{TLD: d.TLD, Years: years}
	if d.Premium {
		term.PremiumName = d.Name
	}
	return term
}

// Consent is a customer's agreement to automatic renewal: evidence of what was shown.
type Consent struct {
	ID, Domain, Customer, Name string
	Wording                    string
	Years                      int
	Gross                      registrar.Cents
	ChargeAt                   time.Time
	Method                     string
	Through, Address           string // the session and the address
	GivenAt                    time.Time
}

// RecordedConsent is a stored consent. EndedAt is zero while it is in force.
type RecordedConsent struct {
	Consent
	EndedAt time.Time
	Reason  EndReason
}

// Text returns the text that the customer agreed to.
func (c RecordedConsent) Text() string { return ConsentText(c.Wording) }

// GivenConsent is a consent with everything that is stored in the same transaction.
type GivenConsent struct {
	Consent    Consent
	PaidUntil  time.Time // of the domain, compared
	Announced  *Renewal  // the row for this term; nil if the charge is announced later
	AuditEvent registrar.AuditEvent
	Mail       registrar.Mail
	// At is the wall clock, for the mail.
	At time.Time
}

// TermEndChange is a change of the choice that gives no consent.
type TermEndChange struct {
	Customer, Domain string
	From, To         Choice
	Reason           EndReason // of the consent that ends, if there is one
	AuditEvent       registrar.AuditEvent
	Mail             *registrar.Mail
	// Now is the business time, At the wall clock.
	Now, At time.Time
}

// ConsentStore persists consents and payment methods.
type ConsentStore interface {
	// ListOpenNotices returns, by domain, the kinds of the customer's open notices about its contract.
	// A notice names an order of it, or the domain and was sent since that was ordered.
	ListOpenNotices(ctx context.Context, customer string, domains []string) (map[string][]withdrawal.Kind, error)
	// GetRenewalDomain returns false if the customer does not hold the domain.
	GetRenewalDomain(ctx context.Context, customer, domain string) (Domain, bool, error)
	// GiveConsent returns withdrawal.NoticeOpen as Offer does, NoPaymentMethod if the payment
	// method is no longer the one that was shown, and OfferChanged if the domain's term has
	// changed. A domain that renews already stays as it is.
	GiveConsent(ctx context.Context, given GivenConsent) error
	// ChangeTermEnd ends the consent and stops an announced renewal. It returns false and
	// changes nothing if the choice is not From, and InProgress while a charge for the
	// domain is in flight.
	ChangeTermEnd(ctx context.Context, change TermEndChange) (bool, error)

	// BeginMethodSetup stores the id of a setup; the newest one counts.
	BeginMethodSetup(ctx context.Context, customer, setup string, asDefault bool, now time.Time) (SetupCustomer, error)
	// GetMethods returns the saved methods with the domains that renew, at most limit.
	GetMethods(ctx context.Context, customer string, limit int) (Methods, error)
	// UpdateMethods locks the payment methods, lets decide choose the change and stores it in
	// the same transaction. decide may be called again after a conflict. setup is the setup in
	// question, if any.
	UpdateMethods(ctx context.Context, customer, setup string, decide func(MethodsState) (MethodUpdate, error)) error
}

// ConsentConfig configures Consents. Store and Price are required.
type ConsentConfig struct {
	Store ConsentStore
	// Price returns what a customer pays for the next term of a domain. KindUnsupported means that it is
	// not sold, KindConflict that the registry refuses.
	Price func(ctx context.Context, customer string, term order.RenewalTerm) (order.RenewalPrice, error)
	// RestorePrice is lifecycle.Config.RestorePrice; nil means that nothing can be restored.
	RestorePrice func(ctx context.Context, term lifecycle.Term, now time.Time) (gross registrar.Cents, restorable bool)
	Provider     Provider // nil: no payment method can be added
	BaseURL      string
	// Now is the business time, Clock the wall clock. nil means time.Now.
	Now, Clock func() time.Time
	MailQueued func()
	// MethodDetached is called after a Detachment may have been stored; nil means nothing.
	MethodDetached func()
}

// Consents manages consents and payment methods. It is safe for concurrent use.
type Consents struct{ cfg ConsentConfig }

// NewConsents returns a Consents.
func NewConsents(cfg ConsentConfig) (*Consents, error) {
	if cfg.Store == nil || cfg.Price == nil {
		return nil, errors.New("renewal: ConsentConfig.Store and Price are required")
	}
	cfg.BaseURL = strings.TrimSuffix(cfg.BaseURL, "/")
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	registrar.Default(&cfg.RestorePrice, func(context.Context, lifecycle.Term, time.Time) (registrar.Cents, bool) { return 0, false })
	registrar.Default(&cfg.MailQueued, func() {})
	registrar.Default(&cfg.MethodDetached, func() {})
	return &Consents{cfg}, nil
}

func (s *Consents) now() time.Time { return s.cfg.Now().Truncate(time.Microsecond) }

func fail(kind registrar.Kind, code registrar.Code) error {
	return &registrar.Error{Kind: kind, Code: code}
}

// FirstCharge is when automatic renewal that starts now is first charged.
type FirstCharge struct {
	TermEnd  time.Time // of the term that the charge renews
	At       time.Time
	NextTerm bool // the current term ends too soon; see Offer
	// Announce means that the consent is the announcement.
	Announce bool
}

// FirstChargeOf returns the first charge for a domain whose term of so many years ends at
// paidUntil.
func FirstChargeOf(now, paidUntil time.Time, tld string, years int) FirstCharge {
	announced := paidUntil.Add(-announceAhead)
	consentAnnounces := now.After(announced)
	if consentAnnounces {
		announced = now.Truncate(day).Add(day) // so that a page shows the same day all day long
	}
	at, inTime := ChargeDay(tld, paidUntil, announced)
	if !inTime {
		next := paidUntil.AddDate(years, 0, 0)
		at, _ = ChargeDay(tld, next, next.Add(-announceAhead))
		return FirstCharge{TermEnd: next, At: at, NextTerm: true}
	}
	return FirstCharge{TermEnd: paidUntil, At: at, Announce: consentAnnounces}
}

// NextCharge returns a function that says when a customer's domain is charged next, if its term ends
// at a time; zero if it does not renew automatically. nextTerm is that of FirstCharge.
func NextCharge(domains *portfolio.Service, now func() time.Time) func(ctx context.Context, customer, name string, paidUntil time.Time) (at time.Time, nextTerm bool, err error) {
	return func(ctx context.Context, customer, name string, paidUntil time.Time) (time.Time, bool, error) {
		d, found, err := domains.FindByName(ctx, registrar.Actor{Kind: registrar.ActorSystem, Customer: customer}, name)
		if err != nil || !found || !d.Renews() {
			return time.Time{}, false, err
		}
		first := FirstChargeOf(now(), paidUntil, d.TLD, 1)
		return first.At, first.NextTerm, nil
	}
}

// Offer returns what the customer would agree to now.
func (s *Consents) Offer(ctx context.Context, actor registrar.Actor, domain string) (Offer, error) {
	if err := actor.RequirePerson(); err != nil {
		return Offer{}, err
	}
	offer, _, err := s.offer(ctx, actor.Customer, domain)
	return offer, err
}

func (s *Consents) offer(ctx context.Context, customer, domain string) (Offer, Domain, error) {
	d, found, err := s.cfg.Store.GetRenewalDomain(ctx, customer, domain)
	switch {
	case err != nil:
		return Offer{}, Domain{}, err
	case !found:
		return Offer{}, Domain{}, fail(registrar.KindNotFound, registrar.NoSuchDomain)
	case d.Status != registrar.DomainActive || d.PaidUntil.IsZero():
		return Offer{}, d, fail(registrar.KindConflict, NotRenewable)
	}
	if d.Choice != Renew { // one that renews already is left to the operator, who ends it
		if err := s.checkNotices(ctx, customer, d.ID); err != nil {
			return Offer{}, d, err
		}
	}
	price, err := s.cfg.Price(ctx, customer, d.renewalTerm(0))
	switch {
	case registrar.KindOf(err) == registrar.KindUnsupported, registrar.KindOf(err) == registrar.KindConflict:
		return Offer{}, d, fail(registrar.KindConflict, NotRenewable)
	case err != nil:
		return Offer{}, d, err
	}
	first := FirstChargeOf(s.now(), d.PaidUntil, d.TLD, price.Years)
	return Offer{
		Domain: d.ID, Name: d.Name, Years: price.Years, Gross: price.Gross, RateBasisPoints: price.RateBasisPoints, TermEnd: first.TermEnd, ChargeAt: first.At,
		Method: d.Method, NextTerm: first.NextTerm, On: d.Choice == Renew,
	}, d, nil
}

// checkNotices refuses a domain whose contract the customer has withdrawn from or terminated, until
// an operator has handled that.
func (s *Consents) checkNotices(ctx context.Context, customer, domain string) error {
	open, err := s.cfg.Store.ListOpenNotices(ctx, customer, []string{domain})
	if err == nil && len(open[domain]) > 0 {
		err = fail(registrar.KindConflict, withdrawal.NoticeOpen)
	}
	return err
}

// Revoked reports whether a notice about a domain's contract voids a consent that was given with an
// order: one that is open, or was sent since, even if it has been handled. The order may be
// provisioned days after the consent.
func Revoked(notice withdrawal.Notice, givenAt time.Time) bool {
	return notice.Open() || notice.SentSince(givenAt)
}

// Agree turns automatic renewal on if the agreement is the current offer. A domain that
// renews already stays as it is.
func (s *Consents) Agree(ctx context.Context, actor registrar.Actor, domain string, agreed Agreement) error {
	return s.agree(ctx, actor, domain, agreed, nil)
}

func (s *Consents) agree(ctx context.Context, actor registrar.Actor, domain string, agreed Agreement, batch *Batch) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	offer, d, err := s.offer(ctx, actor.Customer, domain)
	switch {
	case err != nil:
		return err
	case offer.On:
		return nil
	case offer.Method == "":
		return fail(registrar.KindConflict, NoPaymentMethod)
	case !IsCurrentWording(agreed.Wording) || agreed.Gross != offer.Gross || agreed.Method != offer.Method || !sameDay(agreed.ChargeAt, offer.ChargeAt):
		return fail(registrar.KindConflict, OfferChanged)
	}
	given := Give(ConsentTerms{
		Actor: actor, Domain: d, Wording: agreed.Wording, Years: offer.Years, Gross: offer.Gross, RateBasisPoints: offer.RateBasisPoints,
		Now: s.now(), At: s.cfg.Clock(),
	})
	batch.join(&given.Mail)
	if err := s.cfg.Store.GiveConsent(ctx, given); err != nil {
		return err
	}
	batch.joined()
	s.cfg.MailQueued()
	return nil
}

func sameDay(a, b time.Time) bool {
	return a.UTC().Format(time.DateOnly) == b.UTC().Format(time.DateOnly)
}

// ConsentTerms is what a consent is made of.
type ConsentTerms struct {
	Actor   registrar.Actor // the person who agreed
	Domain  Domain
	Wording string
	Years   int
	Gross   registrar.Cents
	// RateBasisPoints is the VAT rate of Gross, for the mail.
	RateBasisPoints int
	GivenAt         time.Time // zero means Now
	// Now is the business time, At the wall clock.
	Now, At time.Time
}

// Give returns a consent with its effects. The store calls it, too, when a domain
// that was ordered with automatic renewal becomes active.
func Give(terms ConsentTerms) GivenConsent {
	d, customer := terms.Domain, terms.Actor.Customer
	first := FirstChargeOf(terms.Now, d.PaidUntil, d.TLD, terms.Years)
	given := GivenConsent{
		Consent: Consent{
			ID: registrar.NewID("con_", terms.Now), Domain: d.ID, Customer: customer, Name: d.Name, Wording: terms.Wording,
			Years: terms.Years, Gross: terms.Gross, ChargeAt: first.At, Method: d.Method,
			Through: terms.Actor.Through, GivenAt: terms.Now,
		},
		PaidUntil:  d.PaidUntil,
		AuditEvent: registrar.AuditEvent{Actor: terms.Actor, Action: ActionOn, Customer: customer, Object: d.Name, At: terms.Now},
		Mail: registrar.Mail{Kind: registrar.MailRenewalOn, Customer: customer, Data: map[string]string{
			"domain": d.Name, "domain_id": d.ID, "consent": ConsentText(terms.Wording), "gross": terms.Gross.String(), "years": strconv.Itoa(terms.Years),
			"vat_rate": strconv.Itoa(terms.RateBasisPoints), "charge_at": first.At.UTC().Format(time.DateOnly), "paid_until": d.PaidUntil.UTC().Format(time.DateOnly), "name": d.Method,
			"term_end": d.PaidUntil.UTC().Format(time.RFC3339Nano),
		}},
		At: terms.At,
	}
	if terms.Actor.Address.IsValid() {
		given.Consent.Address = terms.Actor.Address.String()
	}
	if !terms.GivenAt.IsZero() {
		given.Consent.GivenAt, given.AuditEvent.At = terms.GivenAt, terms.GivenAt
	}
	if strings.HasSuffix(terms.Wording, "-en") {
		given.Mail.Language = "en" // that of the text that it quotes
	} else {
		given.Mail.Language = "de"
	}
	row := &Renewal{
		Domain: d.ID, Customer: customer, Name: d.Name, TLD: d.TLD, TermEnd: d.PaidUntil, Years: terms.Years, Gross: terms.Gross,
		AnnouncedAt: terms.Now,
	}
	switch {
	case first.NextTerm: // so that nothing announces a charge for this term
		given.Mail.Data["next_term"] = "true"
		row.State = Stopped
		given.Announced = row
	case first.Announce:
		given.Mail.Data["announced"] = "true"
		row.State, row.ChargeAt = Announced, first.At
		given.Announced = row
	}
	return given
}

// TurnOff ends automatic renewal at once. Nothing else changes: the domain stays until the
// end of its term, and can be renewed. Without automatic renewal it does nothing.
func (s *Consents) TurnOff(ctx context.Context, actor registrar.Actor, domain string) error {
	return s.turnOff(ctx, actor, domain, nil)
}

func (s *Consents) turnOff(ctx context.Context, actor registrar.Actor, domain string, batch *Batch) error {
	reason := EndCustomer
	switch {
	case actor.Customer == "":
		return fail(registrar.KindUnauthenticated, registrar.SignInFirst)
	case actor.Kind == registrar.ActorToken || actor.Kind == registrar.ActorApplication:
		reason = EndAgent
	case actor.Kind != registrar.ActorPerson:
		return registrar.Forbidden(registrar.PersonsOnly)
	}
	_, err := s.change(ctx, actor, domain, Renew, Undecided, reason, ActionOff, registrar.MailRenewalOff, batch)
	return err
}

// LetExpire stores that the customer lets the domain expire; KeepOpen takes it back.
func (s *Consents) LetExpire(ctx context.Context, actor registrar.Actor, domain string) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	for _, from := range []Choice{Undecided, Renew} {
		changed, err := s.change(ctx, actor, domain, from, Expire, EndExpire, ActionLetExpire, registrar.MailLetExpire, nil)
		if err != nil || changed {
			return err
		}
	}
	return nil
}

// KeepOpen takes back that the domain may expire. It does not turn on automatic renewal.
func (s *Consents) KeepOpen(ctx context.Context, actor registrar.Actor, domain string) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	_, err := s.change(ctx, actor, domain, Expire, Undecided, "", ActionKeep, "", nil)
	return err
}

// change stores a choice that gives no consent, with a mail unless its kind is empty.
func (s *Consents) change(
	ctx context.Context, actor registrar.Actor, domain string, from, to Choice, reason EndReason, action registrar.Action, mail registrar.MailKind, batch *Batch,
) (bool, error) {
	d, found, err := s.cfg.Store.GetRenewalDomain(ctx, actor.Customer, domain)
	switch {
	case err != nil:
		return false, err
	case !found:
		return false, fail(registrar.KindNotFound, registrar.NoSuchDomain)
	case d.Choice != from:
		return false, nil
	case to == Expire && d.Status != registrar.DomainActive && d.Status != registrar.DomainExpired:
		return false, fail(registrar.KindConflict, NotRenewable)
	case from == Expire && d.Status != registrar.DomainActive && d.Status != registrar.DomainExpired:
		return false, fail(registrar.KindConflict, RenewalOver) // it has been deleted, or has left
	}
	now, policy := s.now(), lifecycle.PolicyOf(d.TLD)
	if d.Status == registrar.DomainExpired && policy.RenewalOver(d.PaidUntil, now) {
		return false, fail(registrar.KindConflict, RenewalOver)
	}
	update := TermEndChange{
		Customer: actor.Customer, Domain: d.ID, From: from, To: to, Reason: reason, Now: now, At: s.cfg.Clock(),
		AuditEvent: registrar.AuditEvent{Actor: actor, Action: action, Customer: actor.Customer, Object: d.Name, At: now},
	}
	if mail != "" {
		update.Mail = &registrar.Mail{Kind: mail, Customer: actor.Customer, Data: map[string]string{
			"domain": d.Name, "domain_id": d.ID, "paid_until": d.PaidUntil.UTC().Format(time.DateOnly),
			"term_end": d.PaidUntil.UTC().Format(time.RFC3339Nano), registrar.MailOccurredAt: now.UTC().Format(time.RFC3339),
		}}
		if mail == registrar.MailRenewalOff && policy.Lasts() {
			update.Mail.Data["lasts"] = "true"
		}
		if to == Expire {
			update.Mail.Data["unpaid"] = string(lifecycle.ActionOnExpiry(d.TLD))
			if lifecycle.EndsWithTerm(d.TLD, d.Status == registrar.DomainActive) {
				update.Mail.Data["over"] = "true"
			}
			if d.Status == registrar.DomainExpired {
				update.Mail.Data["expired"] = "true"
			}
			s.addRestore(ctx, update.Mail.Data, actor.Customer, d, now)
		}
		if reason == EndAgent {
			update.Mail.Data["change"] = string(EndAgent)
		}
		update.Mail.SetAddress(actor)
		batch.join(update.Mail)
	}
	changed, err := s.cfg.Store.ChangeTermEnd(ctx, update)
	if err == nil && changed {
		batch.joined()
		s.cfg.MailQueued()
	}
	return changed, err
}

// addRestore adds how long the domain can be restored once it has been deleted, and for how much. The last
// day is known only while the deletion is planned for a day.
func (s *Consents) addRestore(ctx context.Context, data map[string]string, customer string, d Domain, now time.Time) {
	policy := lifecycle.PolicyOf(d.TLD)
	deletion := policy.PlannedDeletion(d.PaidUntil, now)
	price, restorable := s.cfg.RestorePrice(ctx, lifecycle.Term{Domain: d.ID, Customer: customer, Name: d.Name, TLD: d.TLD, End: d.PaidUntil}, deletion)
	if !restorable || policy.RedemptionDays == 0 {
		return
	}
	data["redemption_days"] = strconv.Itoa(policy.RedemptionDays)
	if d.Status == registrar.DomainActive && lifecycle.ActionOnExpiry(d.TLD) == lifecycle.UnpaidDelete {
		data["until"] = dateOf(registrar.LastFullDay(lifecycle.RestorableUntil(d.TLD, deletion)))
	}
	if price > 0 {
		data["gross"] = price.String()
	}
}

// AgreeURL returns the page where a signed-in person turns automatic renewal on, or
// withdrawal.NoticeOpen.
func (s *Consents) AgreeURL(ctx context.Context, actor registrar.Actor, domain string) (string, error) {
	if err := s.checkNotices(ctx, actor.Customer, domain); err != nil {
		return "", err
	}
	return s.cfg.BaseURL + "/portal/domains/" + domain + "/auto-renew", nil
}
