package lifecycle

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Notice is the last notice sent for the current term. The numbers are stored, and grow
// in the course of a term.
type Notice int

// Notices of a term.
const (
	NoticeNone    Notice = iota // none sent yet
	NoticeMonth                 // it ends in about a month
	NoticeWeek                  // it ends in about a week
	NoticeExpired               // it has ended
)

// expiryNotices are the notices to send, each with its lead time and mail.
var expiryNotices = []struct {
	notice Notice
	before time.Duration
	mail   registrar.MailKind
}{
	{NoticeExpired, 0, registrar.MailExpired},
	{NoticeWeek, 7 * day, registrar.MailExpiringWeek},
	{NoticeMonth, noticeMonth, registrar.MailExpiringMonth},
}

const noticeMonth = 30 * day

// SentNotice is the evidence of a notice.
type SentNotice struct {
	ID, Customer string
	Domain, Name string    // empty: it is not about one domain
	TermEnd      time.Time // zero: it is about no term
	Kind         registrar.MailKind
	Recipient    string
	Subject      string
	Text         string
	QueuedAt     time.Time
	SentAt       time.Time // when the mail server answered
	Accepted     bool      // false: abandoned
	Response     string    // the mail server's
}

// Domain is a domain whose term ends.
type Domain struct {
	ID, Customer, Name, TLD string
	PaidUntil               time.Time
	LastNotice              Notice // the notice that was sent last
	Renews                  bool   // its customer chose automatic renewal
	Expires                 bool   // its customer chose to let it expire
}

// Declared is what a customer has declared about a domain and its contract; zero if nothing.
type Declared struct {
	Expires     bool      // they chose to let it expire
	CancelledAt time.Time // of a termination that is open or, once it was handled, ends the term
	WithdrawnAt time.Time // of an open withdrawal
}

// RenewalPrice is the price of a domain's next term for its customer, including VAT at a rate, which
// may be 0.
type RenewalPrice struct {
	Gross           registrar.Cents
	Years           int
	RateBasisPoints int
}

// NoticeUpdate is one notice.
type NoticeUpdate struct {
	Domain     Domain
	Notice     Notice
	Mail       registrar.Mail
	HolderMail *registrar.Mail       // to the registrant; nil if they get none
	AuditEvent *registrar.AuditEvent // nil except at the end of a term
	StepAt     time.Time             // the first step of the unpaid term
	// Now is the business time; At the real time, used for mails and leases.
	Now, At time.Time
}

// listDueNotices returns the domains whose next notice, or a later one, is due.
func (s *Service) listDueNotices(ctx context.Context, limit int) ([]Domain, error) {
	now := s.cfg.Now()
	if stopped, err := s.cfg.Brake.StoppedByClock(ctx, now); err != nil || stopped {
		return nil, err
	}
	var due []Domain
	for _, next := range expiryNotices {
		domains, err := s.cfg.Store.ListEndingDomains(ctx, next.notice-1, now.Add(next.before), limit-len(due))
		if err != nil {
			return nil, err
		}
		if due = append(due, domains...); len(due) == limit {
			break
		}
	}
	return due, nil
}

// sendNotice stores the notice that fits the day.
func (s *Service) sendNotice(ctx context.Context, domain Domain) {
	now := s.cfg.Now()
	for _, next := range expiryNotices {
		if now.Before(domain.PaidUntil.Add(-next.before)) {
			continue
		}
		if next.notice > domain.LastNotice {
			s.storeNotice(ctx, domain, next.notice, next.mail, now)
		}
		return
	}
}

func (s *Service) storeNotice(ctx context.Context, domain Domain, notice Notice, kind registrar.MailKind, now time.Time) {
	storeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	mail, err := s.expiryMail(storeCtx, kind, domain, now)
	var holderMail *registrar.Mail
	if err == nil {
		holderMail, err = s.holderMail(storeCtx, mail)
	}
	sent := false
	if err == nil {
		update := NoticeUpdate{
			Domain: domain, Notice: notice, Mail: mail, HolderMail: holderMail, StepAt: PolicyOf(domain.TLD).FirstStep(domain.PaidUntil), Now: now, At: s.cfg.Clock(),
		}
		if notice == NoticeExpired {
			update.AuditEvent = s.auditEvent(ActionExpired, domain.Customer, domain.Name)
		}
		sent, err = s.cfg.Store.StoreExpiryNotice(storeCtx, update)
	}
	switch {
	case err != nil:
		s.cfg.Logger.ErrorContext(ctx, "expiry notice not stored", "domain", domain.ID, "error", err.Error())
	case sent:
		s.cfg.OnNotice(kind)
		s.cfg.MailQueued()
		s.terms.Wake()
	}
}

// reminderDays are the days after the end of an unpaid term on which the customer is reminded, if the
// registry has renewed the domain and it is not deleted without their consent or an operator.
var reminderDays = [...]int{14, 30, 60, 90}

// unpaidReminder is the reminder about a waiting term, if one has become due since it was last checked;
// nil otherwise. A term is checked once a day; of several that were missed, one is sent.
func (s *Service) unpaidReminder(ctx context.Context, term Term, now time.Time) (*registrar.Mail, error) {
	checked := term.StepAt.Add(-recheckInterval)
	due := func(days int) bool {
		at := term.End.AddDate(0, 0, days)
		return at.After(checked) && !at.After(now)
	}
	if term.WaitsFor == "" || !slices.ContainsFunc(reminderDays[:], due) {
		return nil, nil
	}
	domain := Domain{ID: term.Domain, Customer: term.Customer, Name: term.Name, TLD: term.TLD, PaidUntil: term.End, LastNotice: NoticeExpired}
	mail, err := s.expiryMail(ctx, registrar.MailExpired, domain, now)
	if err != nil || mail.Data["choice"] == "expire" { // they don't want it any more
		return nil, err
	}
	mail.Data["reminder"] = "true"
	return &mail, nil
}

// daysBetween counts the calendar days from one time to another, as the dates in mails do.
func daysBetween(from, to time.Time) int {
	day := func(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }
	return int(day(to).Sub(day(from)) / (24 * time.Hour))
}

// expiryMail says what happens to the domain, and when: an announced charge, or what the
// policy of the TLD has in store for an unpaid domain.
func (s *Service) expiryMail(ctx context.Context, kind registrar.MailKind, domain Domain, now time.Time) (registrar.Mail, error) {
	data := noticeData(domain.ID, domain.Name, domain.PaidUntil)
	if err := s.addDeclared(ctx, data, domain.Customer, domain.PaidUntil); err != nil {
		return registrar.Mail{}, err
	}
	switch { // nothing is charged while a cancellation or withdrawal is open
	case !domain.Renews || data["cancelled_at"] != "":
	case data["withdrawn_at"] != "":
		if kind != registrar.MailExpired {
			data["on_hold"] = "true"
		}
	default:
		charge, announced, err := s.cfg.Store.AnnouncedRenewal(ctx, domain.Customer, domain.ID, domain.PaidUntil)
		if err != nil {
			return registrar.Mail{}, err
		}
		switch {
		case !announced:
		case charge.NextTerm:
			data["next_term"] = "true"
		case kind != registrar.MailExpired:
			data["charge_at"], data["gross"] = dateText(charge.At), charge.Gross.String()
			if charge.MethodExpires != "" {
				data["method_expires"] = charge.MethodExpires
			}
		}
	}
	if domain.Expires {
		data["choice"] = "expire"
	}
	if kind == registrar.MailExpired {
		data["expired"] = "true"
	}
	if left := daysBetween(now, domain.PaidUntil); left > 0 {
		data["days_left"] = strconv.Itoa(left)
	}
	s.addPolicy(data, domain, now)
	if EndsWithTerm(domain.TLD, domain.Expires) {
		data["over"] = "true"
	}
	if price := s.cfg.RenewalPrice(ctx, domain, now); price.Gross > 0 {
		data["renewal"], data["renewal_years"], data["vat_rate"] = price.Gross.String(), strconv.Itoa(price.Years), strconv.Itoa(price.RateBasisPoints)
	}
	return registrar.Mail{Kind: kind, Customer: domain.Customer, Data: data}, nil
}

// addDeclared adds that the customer has let the domain expire, terminated the contract or withdrawn
// from it: the term then ends because of that, not because they forgot it.
func (s *Service) addDeclared(ctx context.Context, data map[string]string, customer string, termEnd time.Time) error {
	declared, err := s.cfg.Store.GetDeclared(ctx, customer, data[registrar.NoticeDomain], termEnd)
	if err != nil {
		return err
	}
	if declared.Expires {
		data["choice"] = "expire"
	}
	for key, at := range map[string]time.Time{"cancelled_at": declared.CancelledAt, "withdrawn_at": declared.WithdrawnAt} {
		if !at.IsZero() {
			data[key] = at.In(registrar.Germany()).Format(time.DateOnly)
		}
	}
	return nil
}

// holderMail is the mail to the registrant, if that is another person than the customer: ICANN
// requires the notices to reach the registered name holder. Its Data is that of the customer's
// mail without prices, whose kind is in change; name is the customer's.
func (s *Service) holderMail(ctx context.Context, mail registrar.Mail) (*registrar.Mail, error) {
	if mail.Data["change"] != "" { // refunded, or handed over to a registry that writes to the registrant itself
		return nil, nil
	}
	registrant, err := s.cfg.Store.GetDomainRegistrant(ctx, mail.Customer, mail.Data[registrar.NoticeDomain])
	if err != nil || registrant.Email == "" {
		return nil, err
	}
	own, _, err := s.cfg.Store.GetRegistrantData(ctx, mail.Customer)
	if err != nil || strings.EqualFold(registrant.Email, own.Email) {
		return nil, err
	}
	data := maps.Clone(mail.Data)
	for _, key := range []string{"gross", "renewal", "renewal_years", "vat_rate", "method_expires", "next_term"} {
		delete(data, key)
	}
	data["change"], data["name"] = string(mail.Kind), own.DisplayName()
	return &registrar.Mail{Kind: registrar.MailHolderExpiry, Customer: mail.Customer, To: registrant.Email, Data: data}, nil
}

// addPolicy adds the dates on which an unpaid domain is held, deleted and gone.
func (s *Service) addPolicy(data map[string]string, domain Domain, now time.Time) {
	plan := PlanFor(domain.TLD, domain.PaidUntil, domain.Expires, now)
	data["unpaid"] = string(plan.Action)
	if !plan.HoldAt.IsZero() {
		data["hold_at"] = dateText(plan.HoldAt)
	}
	if !plan.DeleteAt.IsZero() {
		data["delete_at"] = dateText(plan.DeleteAt)
	}
	if days := PolicyOf(domain.TLD).RedemptionDays; days > 0 && plan.Ours() {
		data["redemption_days"] = strconv.Itoa(days)
	}
}

func notBefore(at, now time.Time) time.Time {
	if at.Before(now) {
		return now
	}
	return at
}

func dateText(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// noticeData identifies the domain and the term that a notice is about. The mailer keeps
// them with the evidence.
func noticeData(domain, name string, termEnd time.Time) map[string]string {
	return map[string]string{
		"domain": name, "paid_until": dateText(termEnd), registrar.NoticeDomain: domain, registrar.NoticeTerm: registrar.NoticeTermText(termEnd),
	}
}

func (s *Service) auditEvent(action registrar.Action, customer, name string) *registrar.AuditEvent {
	return &registrar.AuditEvent{Actor: registrar.Actor{Kind: registrar.ActorSystem}, Action: action, Customer: customer, Object: name, At: s.cfg.Now()}
}
