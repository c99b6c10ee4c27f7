package withdrawal

import (
	"context"
	"errors"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Kind is the kind of a notice.
type Kind string

// Kinds of notices.
const (
	Withdrawal  Kind = "withdrawal"  // revokes a contract within the consumer's withdrawal period
	Termination Kind = "termination" // ends a continuing contract
)

// Ground is the ground of a termination.
type Ground string

// Grounds of a termination.
const (
	Ordinary      Ground = "ordinary"
	Extraordinary Ground = "extraordinary" // for cause, effective immediately
)

// Notice is a withdrawal or a termination.
type Notice struct {
	ID string
	// Customer is the account that sent it signed in, or whose confirmed address it names; empty if
	// there is none. Nothing that the sender sees depends on it.
	Customer string
	Kind     Kind
	// Name and Email are the sender's; the confirmation goes there.
	Name, Email string
	Contract    string // describes the contract in the sender's words: an order number or a domain
	// Ground, Reason and End belong to a termination. Reason is required if the ground is
	// extraordinary. End is a day, 2026-12-31; empty means as soon as possible.
	Ground   Ground
	Reason   string
	End      string
	Language string // de or en
	At       time.Time
	DoneAt   time.Time // when the operator closed it; zero while it is open
	DoneBy   string    // the operator's account, or the user at the command line; empty if an earlier release closed it
	DoneNote string    // what was done about it
	// DoneReply is what the operator wrote to the sender, DoneEnds the days on which contracts end, as
	// they were confirmed: 2026-12-31, separated by spaces. Earlier releases stored neither.
	DoneReply, DoneEnds string
	// Digest is equal for a repetition on the same day. Only that of a notice which is being stored is
	// set; empty means that it is no repetition.
	Digest string
}

// refundPeriod is how long a withdrawn payment may take to be returned.
const refundPeriod = 14 // days

// Open reports whether an operator still has to handle it.
func (d Notice) Open() bool { return d.DoneAt.IsZero() }

// SentSince reports whether it was sent at a time or later; the time of a notice is in whole seconds.
func (d Notice) SentSince(at time.Time) bool { return !d.At.Before(at.Truncate(time.Second)) }

// AtOnce reports whether the law names no day: the notice must be handled without delay.
func (d Notice) AtOnce() bool { return d.Kind == Termination }

// Deadline returns the day by whose end the notice must be handled; doc.go has the table.
func (d Notice) Deadline() time.Time {
	arrived := d.At.UTC().Truncate(24 * time.Hour)
	if d.Kind == Withdrawal {
		return arrived.AddDate(0, 0, refundPeriod)
	}
	return arrived
}

// EndDay returns the day for which a termination is declared; zero if it states none, or if it is for
// cause: earlier releases stored a day of those, too.
func (d Notice) EndDay() time.Time {
	if d.Ground == Extraordinary {
		return time.Time{}
	}
	day, _ := time.Parse(time.DateOnly, d.End)
	return day
}

// ConfirmedEnds returns the days of DoneEnds.
func (d Notice) ConfirmedEnds() (days []time.Time) {
	for text := range strings.FieldsSeq(d.DoneEnds) {
		if day, err := time.Parse(time.DateOnly, text); err == nil {
			days = append(days, day)
		}
	}
	return days
}

// ConfirmedEnd returns the day on which the contract ends of a domain that is paid until then, as it was
// confirmed: of several days, the one of its term. It is zero if none was confirmed for it.
func (d Notice) ConfirmedEnd(paidUntil time.Time) time.Time {
	days := d.ConfirmedEnds()
	if len(days) == 1 {
		return days[0]
	}
	if i := slices.IndexFunc(days, paidUntil.UTC().Truncate(24*time.Hour).Equal); i >= 0 {
		return days[i]
	}
	return time.Time{}
}

// Overdue reports whether the deadline has passed.
func (d Notice) Overdue(now time.Time) bool {
	return d.Open() && !now.Before(d.Deadline().AddDate(0, 0, 1))
}

// Form fields, as named in a FieldError.
const (
	FieldName     = "name"
	FieldEmail    = "email"
	FieldContract = "contract"
	FieldGround   = "ground"
	FieldReason   = "reason"
	FieldEnd      = "end"
)

// Error codes of fields and notices.
const (
	Missing        registrar.Code = "field_missing"
	TooLong        registrar.Code = "field_too_long"
	Malformed      registrar.Code = "field_form"
	InPast         registrar.Code = "field_past"
	TooManyNotices registrar.Code = "too_many_declarations" // with KindRateLimited
	NoSuchNotice   registrar.Code = "no_such_declaration"   // with KindNotFound
	AlreadyHandled registrar.Code = "declaration_handled"   // with KindConflict: another operator was first
	BadNote        registrar.Code = "bad_note"              // with KindInvalid: empty, too long, or not printable
	BadReply       registrar.Code = "bad_reply"             // with KindInvalid: too long, or not printable
	BadEnd         registrar.Code = "bad_end"               // with KindInvalid: the day on which a contract ends is no day
	// AlreadySent (KindConflict): the same notice is open since today. The detail is its id.
	AlreadySent registrar.Code = "declaration_sent"
	// EndOutOfRange (KindInvalid): a contract can't end on that day. The detail has the days of EndDays.
	EndOutOfRange registrar.Code = "end_out_of_range"
	// NoticeOpen (KindConflict): automatic renewal can't be turned on for a domain while a notice
	// about its contract is open.
	NoticeOpen registrar.Code = "notice_open"
)

// NoticeHandled is the audited action of an operator who closes a notice.
const NoticeHandled registrar.Action = "declaration_handled"

// FieldError lists the invalid fields.
type FieldError struct{ Fields map[string]registrar.Code }

func (*FieldError) Error() string { return "withdrawal: invalid fields" }

// Maximum lengths of the texts, which the mails repeat.
const (
	MaxText   = 100
	MaxReason = 1000
	MaxNote   = 500
	MaxReply  = 1000
	maxEmail  = 254
)

const (
	maxOpenListed = 500 // more are counted, and listed once these are handled
	handledPage   = 25
)

// Store persists notices.
type Store interface {
	// AddWithdrawalNotice stores a notice and queues its mails at the time of the wall clock. It returns
	// AlreadySent and changes nothing if the one that was stored with its Digest is open.
	AddWithdrawalNotice(ctx context.Context, notice Notice, mails []registrar.Mail, clock time.Time) error
	// ListWithdrawalNotices returns the page after an id, the oldest first.
	ListWithdrawalNotices(ctx context.Context, after string, limit int) ([]Notice, error)
	// ListRelatedOrders returns, by mention, the order with a number or the newest paid ones
	// for a domain, at most limit for each.
	ListRelatedOrders(ctx context.Context, mentions []string, limit int) (map[string][]RelatedOrder, error)
	GetWithdrawalNotice(ctx context.Context, id string) (Notice, bool, error)
	// ListOpenWithdrawalNotices is ordered by arrival, ListHandledWithdrawalNotices returns the
	// page before an id, the newest first; empty starts at the top.
	ListOpenWithdrawalNotices(ctx context.Context, limit int) ([]Notice, error)
	ListHandledWithdrawalNotices(ctx context.Context, before string, limit int) ([]Notice, error)
	CountOpenWithdrawalNotices(ctx context.Context) (int, error)
	// ListNamedDomains returns, by mention, the domain with a name or those of the order with a
	// number, at most limit for each. Domains that have left are not among them.
	ListNamedDomains(ctx context.Context, mentions []string, limit int) (map[string][]NamedDomain, error)
	// ListRefundedDomains returns those of some domains of whose orders something was refunded for a notice,
	// or is to be.
	ListRefundedDomains(ctx context.Context, notice string, domains []NamedDomain) ([]NamedDomain, error)
	// StoreOutcome closes the notice, queues its mails and lets the domains expire. It returns AlreadyHandled,
	// TerminationChanged or renewal.InProgress, and then changes nothing.
	StoreOutcome(ctx context.Context, done Outcome) error
}

// Config configures a Service. Store is required.
type Config struct {
	Store         Store
	OperatorEmail string // receives a mail for each notice; empty means none
	// RateLimit counts one notice for a network or a mail address, or returns the wait; optional.
	RateLimit  func(key string) (retryAfter time.Duration)
	MailQueued func() // called after mails were stored; optional
	// PeriodEnded is that of package order; nil means that no period is known.
	PeriodEnded func(paid, consented, arrived time.Time) (lastDay time.Time)
	Seal        Seal // seals the links of ReceiptLink, which require it
	// Now is the business time, by which notices arrive and deadlines pass, Clock the wall clock,
	// for mails. nil means time.Now.
	Now, Clock func() time.Time
}

// Service accepts notices. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("withdrawal: Config.Store is required")
	}
	if cfg.RateLimit == nil {
		cfg.RateLimit = func(string) time.Duration { return 0 }
	}
	if cfg.MailQueued == nil {
		cfg.MailQueued = func() {}
	}
	registrar.Default(&cfg.PeriodEnded, func(_, _, _ time.Time) time.Time { return time.Time{} })
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	return &Service{cfg}, nil
}

// now returns the time in the precision of a notice.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Second) }

// Submit stores a notice and returns it, or reports all invalid fields as a *FieldError.
func (s *Service) Submit(ctx context.Context, actor registrar.Actor, notice Notice) (Notice, error) {
	now := s.now()
	notice, err := notice.validate(now)
	if err != nil {
		return notice, err
	}
	sender := "network " + registrar.Network(actor.Address)
	if actor.Kind == registrar.ActorPerson && actor.Customer != "" { // an office shares one network
		sender = "account " + actor.Customer
	}
	for _, key := range []string{sender, "mail " + strings.ToLower(notice.Email)} {
		if retryAfter := s.cfg.RateLimit(key); retryAfter > 0 {
			return notice, &registrar.Error{Kind: registrar.KindRateLimited, Code: TooManyNotices, RetryAfter: retryAfter}
		}
	}
	notice.ID, notice.At, notice.Customer = registrar.NewID("dcl_", now), now, ""
	if actor.Kind == registrar.ActorPerson {
		notice.Customer = actor.Customer
	}
	orders, err := s.ListRelatedOrders(ctx, notice)
	if err != nil {
		return notice, err
	}
	mails := []registrar.Mail{{Kind: registrar.MailWithdrawal, To: notice.Email, Language: notice.Language, Data: notice.mailData()}}
	if notice.Kind == Termination {
		mails[0].Kind = registrar.MailTermination
	}
	mails[0].Data[registrar.NoticeDomain] = notice.ID // the receipt is kept as evidence for the notice
	if s.cfg.OperatorEmail != "" {
		data := notice.mailData()
		if notice.Kind == Withdrawal { // the mail about a termination lists no orders
			s.addOrderData(data, orders[0], now)
		}
		named, err := s.ListNamedDomains(ctx, notice)
		if err != nil {
			return notice, err
		}
		addNamedDomains(data, notice.about(named[0]))
		mails = append(mails, registrar.Mail{Kind: registrar.MailNoticeReceived, To: s.cfg.OperatorEmail, Language: "de", Data: data})
	}
	sent := notice
	sent.Digest = notice.digest(orders[0])
	var e *registrar.Error
	switch err := s.cfg.Store.AddWithdrawalNotice(ctx, sent, mails, s.cfg.Clock()); {
	case errors.As(err, &e) && e.Code == AlreadySent:
		stored, found, err := s.cfg.Store.GetWithdrawalNotice(ctx, e.Detail)
		if err == nil && !found {
			err = registrar.NotFound(NoSuchNotice)
		}
		return stored, err
	case err != nil:
		return notice, err
	}
	s.cfg.MailQueued()
	return notice, nil
}

// mailData is the whole notice, which the mails repeat.
func (d Notice) mailData() map[string]string {
	data := map[string]string{
		"number": d.ID, "declared": string(d.Kind), "name": d.Name, "email": d.Email, "contract": d.Contract,
		"ground": string(d.Ground), "reason": d.Reason, "end": d.End, registrar.MailOccurredAt: d.At.UTC().Format(time.RFC3339),
	}
	if d.Kind == Withdrawal {
		data["refund_by"] = d.Deadline().Format(time.DateOnly)
	}
	return data
}

// addLateness adds to the Data of the mail about what followed that our deadline has passed: the mail
// apologises.
func (d Notice) addLateness(data map[string]string, now time.Time) {
	if d.Overdue(now) {
		data["late"] = strconv.FormatBool(true)
	}
}

// Contract is what a notice about the contract of a domain may mention.
type Contract struct {
	Domain string // its id; that of the item, for an item of an order
	Name   string
	Orders []string // the numbers of its orders, which have no other contract for the domain
	// Since is when the contract was ordered. An earlier notice that mentions only the name is about
	// an earlier contract.
	Since time.Time
}

// NoticesAbout returns, by the id of the domain, the notices about each contract.
func NoticesAbout(notices []Notice, contracts ...Contract) map[string][]Notice {
	about := make(map[string][]Notice)
	for _, n := range notices {
		mentions := parseMentions(n.Contract)
		for _, c := range contracts {
			if slices.ContainsFunc(mentions, func(mention string) bool {
				return mention == c.Name && n.SentSince(c.Since) || slices.Contains(c.Orders, mention)
			}) {
				about[c.Domain] = append(about[c.Domain], n)
			}
		}
	}
	return about
}

// Kinds returns the kinds of notices, each once.
func Kinds(notices []Notice) (kinds []Kind) {
	for _, n := range notices {
		if !slices.Contains(kinds, n.Kind) {
			kinds = append(kinds, n.Kind)
		}
	}
	return kinds
}

// validate returns the notice in its stored form.
func (d Notice) validate(now time.Time) (Notice, error) {
	problems := make(map[string]registrar.Code)
	checkText := func(field string, value *string, limit int, required bool) {
		*value = strings.TrimSpace(*value)
		switch {
		case *value == "" && required:
			problems[field] = Missing
		case utf8.RuneCountInString(*value) > limit:
			problems[field] = TooLong
		case !utf8.ValidString(*value) || strings.ContainsFunc(*value, registrar.IsUnprintable):
			problems[field] = Malformed
		}
	}
	checkText(FieldName, &d.Name, MaxText, true)
	checkText(FieldContract, &d.Contract, MaxText, true)
	checkText(FieldEmail, &d.Email, maxEmail, true)
	if address, err := mail.ParseAddress(d.Email); problems[FieldEmail] == "" && (err != nil || address.Address != d.Email) {
		problems[FieldEmail] = Malformed
	}
	switch {
	case d.Kind == Withdrawal:
		d.Ground, d.Reason, d.End = "", "", ""
	case d.Kind != Termination:
		return d, registrar.Invalid(Malformed)
	default:
		if d.Ground == Extraordinary { // it takes effect when it arrives
			d.End = ""
		}
		if d.Ground != Ordinary && d.Ground != Extraordinary {
			problems[FieldGround] = Missing
		}
		checkText(FieldReason, &d.Reason, MaxReason, d.Ground == Extraordinary)
		checkText(FieldEnd, &d.End, MaxText, false)
		if day, err := time.Parse(time.DateOnly, d.End); d.End != "" && err != nil {
			problems[FieldEnd] = Malformed
		} else if d.End != "" && day.Before(now.Truncate(24*time.Hour).AddDate(0, 0, -1)) {
			problems[FieldEnd] = InPast
		}
	}
	if d.Language != "en" {
		d.Language = "de"
	}
	if len(problems) > 0 {
		return d, &FieldError{problems}
	}
	return d, nil
}

// RelatedOrder is an order that a notice may concern, with what the operator needs to
// decide: whether the consumer consented to an early start.
type RelatedOrder struct {
	ID, Customer string
	Name         string    // the domain that was mentioned, or the first of an order that was
	PaidAt       time.Time // zero for an unpaid order
	// ConsentAt is when the consumer expressly asked us to begin before the withdrawal
	// period was over, and ConsentVersion the version of the text. Both are zero without
	// consent: for businesses, and for orders completed by an agent.
	ConsentAt      time.Time
	ConsentVersion string
	// Gross is the amount of the whole order, Named that of the items that were mentioned; both are
	// the same if the order's number was.
	Gross, Named registrar.Cents
	// Items is how many items were mentioned: all of them, if the order's number was (ByNumber).
	Items    int
	ByNumber bool
	// Consumer is whether the buyer was a consumer: consumer, business, or empty if unknown.
	Consumer string
}

// IsOfBusiness reports whether the buyer was no consumer, and so has no right of withdrawal.
func (o RelatedOrder) IsOfBusiness() bool { return o.Consumer == "business" }

// More is the number of items besides the one that is named.
func (o RelatedOrder) More() int { return max(0, o.Items-1) }

// Limits of the search in a notice's text.
const (
	maxMentions = 4
	maxOrders   = 3
	maxDomains  = 100 // of an order
	orderPrefix = "ord_"
)

// ListRelatedOrders returns the orders that each notice may concern: those whose number
// it mentions, and the newest paid ones for each domain it mentions. They are for the
// operator only; the sender must not learn whether there are any. All are read in one query.
// No one withdraws from an order that was paid later.
func (s *Service) ListRelatedOrders(ctx context.Context, notices ...Notice) ([][]RelatedOrder, error) {
	merge := func(o *RelatedOrder, other RelatedOrder) {
		o.Named = min(o.Named+other.Named, o.Gross)
		if o.ByNumber || other.ByNumber {
			o.Items, o.ByNumber = max(o.Items, other.Items), true
		} else {
			o.Items += other.Items
		}
	}
	all, err := related(notices, func(o RelatedOrder) string { return o.ID }, merge, func(mentions []string) (map[string][]RelatedOrder, error) {
		return s.cfg.Store.ListRelatedOrders(ctx, mentions, maxOrders)
	})
	for i, orders := range all {
		all[i] = slices.DeleteFunc(orders, func(o RelatedOrder) bool { return o.PaidAt.Truncate(time.Second).After(notices[i].At) })
	}
	return all, err
}

// related returns, for each notice, what find returns for its mentions. merge adds a repetition to
// what was found before. find is called once, or not at all.
func related[T any](notices []Notice, id func(T) string, merge func(found *T, again T), find func(mentions []string) (map[string][]T, error)) ([][]T, error) {
	all, mentions := make([][]T, len(notices)), make([][]string, len(notices))
	for i, notice := range notices {
		mentions[i] = parseMentions(notice.Contract)
	}
	once := slices.Compact(slices.Sorted(slices.Values(slices.Concat(mentions...))))
	if len(once) == 0 {
		return all, nil
	}
	found, err := find(once)
	if err != nil {
		return nil, err
	}
	for i := range notices {
		for _, mention := range mentions[i] {
			for _, one := range found[mention] {
				if at := slices.IndexFunc(all[i], func(other T) bool { return id(other) == id(one) }); at >= 0 {
					merge(&all[i][at], one)
				} else {
					all[i] = append(all[i], one)
				}
			}
		}
	}
	return all, nil
}

// Mentions returns the order numbers and domains that the notice names, the latter as A-labels.
func (d Notice) Mentions() []string { return parseMentions(d.Contract) }

// parseMentions extracts order numbers and domains, as A-labels, from a contract description.
func parseMentions(contract string) []string {
	var found []string
	for _, word := range strings.FieldsFunc(contract, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		word = strings.TrimPrefix(strings.Trim(strings.ToLower(word), "."), "www.")
		if !strings.HasPrefix(word, orderPrefix) {
			host, err := registrar.ParseHost(word)
			if err != nil || !strings.Contains(host, ".") {
				continue
			}
			word = host
		}
		if !slices.Contains(found, word) && len(found) < maxMentions {
			found = append(found, word)
		}
	}
	return found
}

// addOrderData adds the orders to the operator's mail, and why its sender may not withdraw from them.
func (s *Service) addOrderData(data map[string]string, orders []RelatedOrder, now time.Time) {
	data["orders"] = strconv.Itoa(len(orders))
	stamp := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return at.UTC().Format(time.RFC3339)
	}
	for i, order := range orders {
		of := "order" + strconv.Itoa(i+1) + "_"
		data[of+"id"], data[of+"wording"] = order.ID, order.ConsentVersion
		data[of+"paid_at"], data[of+"consent_at"] = stamp(order.PaidAt), stamp(order.ConsentAt)
		if order.IsOfBusiness() {
			data[of+"business"] = strconv.FormatBool(true)
		}
		if last := s.cfg.PeriodEnded(order.PaidAt, order.ConsentAt, now); !last.IsZero() {
			data[of+"period_ended"] = last.Format(time.DateOnly)
		}
	}
}
