// Package declaration takes what customers declare about their contracts without
// signing in: that they withdraw from one, or that they end one.
//
// The law wants both to be as easy as the order was. So whoever has the form may
// use it, and nothing is checked against accounts: an answer that knew a contract
// would tell strangers of it. A declaration is stored as it was made, with the
// moment at which it came, and in the same transaction stand the letter that
// confirms it to the one who made it and, where there is an address for it, one to
// the operator. What follows from it is the operator's to decide; until then it is
// open. So that they can, the operator hears which orders a withdrawal may be about,
// and whether their consumers had asked for an early beginning.
//
// Because a letter goes to an address that anybody may type, declarations are
// bounded by where they come from and by whom they are confirmed to.
package withdrawal

import (
	"context"
	"errors"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Kind is what is declared.
type Kind string

// The kinds.
const (
	// Withdrawal undoes a contract within the time that consumers have for it.
	Withdrawal Kind = "withdrawal"
	// Termination ends a contract that goes on otherwise.
	Termination Kind = "termination"
)

// Ground is how a contract is ended.
type Ground string

// The grounds of a termination.
const (
	Ordinary      Ground = "ordinary"
	Extraordinary Ground = "extraordinary" // for a reason, at once
)

// Notice is one of them.
type Notice struct {
	ID   string
	Kind Kind
	// Name and Email are of the one who declares; the confirmation goes there.
	Name, Email string
	// Contract is what it is about, in their words: an order's number or a domain.
	Contract string
	// Ground, Reason and End are told with a termination. The reason is needed for an
	// extraordinary one. End is a day, 2026-12-31; empty means as soon as possible.
	Ground Ground
	Reason string
	End    string
	// Language is de or en.
	Language string
	At       time.Time
	// DoneAt is when the operator had dealt with it; zero while it is open.
	DoneAt time.Time
}

// The fields of a form, by which problems are told.
const (
	FieldName     = "name"
	FieldEmail    = "email"
	FieldContract = "contract"
	FieldGround   = "ground"
	FieldReason   = "reason"
	FieldEnd      = "end"
)

// What can be wrong with a field, and with a declaration.
const (
	Missing   registrar.Code = "field_missing"
	TooLong   registrar.Code = "field_too_long"
	Malformed registrar.Code = "field_form"
	InPast    registrar.Code = "field_past"
	// TooManyNotices goes with KindRateLimited.
	TooManyNotices registrar.Code = "too_many_declarations"
	// NoSuchNotice goes with KindNotFound.
	NoSuchNotice registrar.Code = "no_such_declaration"
)

// FieldError says what is wrong with which field.
type FieldError struct{ Fields map[string]registrar.Code }

func (*FieldError) Error() string { return "fields of a declaration can't be used" }

// Longest is how much each text may have: as much as the letter repeats.
const (
	MaxText   = 100
	MaxReason = 1000
	maxEmail  = 254
)

// Store keeps declarations.
type Store interface {
	// AddWithdrawalNotice stores one with its letters.
	AddWithdrawalNotice(ctx context.Context, notice Notice, mails []registrar.Mail) error
	// ListWithdrawalNotices is a page, the oldest first, after the id; empty begins with the
	// first.
	ListWithdrawalNotices(ctx context.Context, after string, limit int) ([]Notice, error)
	// ListRelatedOrders are the orders with a number, or at most limit paid ones for a domain,
	// the newest first.
	ListRelatedOrders(ctx context.Context, mention string, limit int) ([]RelatedOrder, error)
	// MarkWithdrawalNoticeDone notes that one is dealt with. It is false if there is none.
	MarkWithdrawalNoticeDone(ctx context.Context, id string, at time.Time) (bool, error)
}

// Config is what a Service is made of. Store is required.
type Config struct {
	Store Store
	// OperatorEmail is the address that hears of each; empty means none.
	OperatorEmail string
	// RateLimit counts one declaration for a key, a network or an address of mail, and
	// says how long to wait instead; nil means that nobody counts.
	RateLimit func(key string) (retryAfter time.Duration)
	// MailQueued is told that letters were stored; nil means that nobody waits.
	MailQueued func()
	// Now is the true time: a declaration counts when it comes. nil means time.Now.
	Now func() time.Time
}

// Service takes declarations. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("declaration: a store is needed")
	}
	if cfg.RateLimit == nil {
		cfg.RateLimit = func(string) time.Duration { return 0 }
	}
	if cfg.MailQueued == nil {
		cfg.MailQueued = func() {}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg}, nil
}

// Submit takes one and returns it as it is stored. Every problem comes at once, as
// a *FieldError.
func (s *Service) Submit(ctx context.Context, actor registrar.Actor, notice Notice) (Notice, error) {
	now := s.cfg.Now().UTC().Truncate(time.Second)
	notice, err := notice.validate(now)
	if err != nil {
		return notice, err
	}
	for _, key := range []string{"network " + registrar.Network(actor.Address), "mail " + strings.ToLower(notice.Email)} {
		if retryAfter := s.cfg.RateLimit(key); retryAfter > 0 {
			return notice, &registrar.Error{Kind: registrar.KindRateLimited, Code: TooManyNotices, RetryAfter: retryAfter}
		}
	}
	notice.ID, notice.At = registrar.NewID("dcl_", now), now
	mails := []registrar.Mail{{
		Kind: mailKind(notice.Kind), To: notice.Email, Language: notice.Language, Data: notice.mailData(),
	}}
	if s.cfg.OperatorEmail != "" {
		orders, err := s.ListRelatedOrders(ctx, notice)
		if err != nil {
			return notice, err
		}
		data := notice.mailData()
		addOrderData(data, orders)
		mails = append(mails, registrar.Mail{Kind: registrar.MailNoticeReceived, To: s.cfg.OperatorEmail, Language: "de", Data: data})
	}
	if err := s.cfg.Store.AddWithdrawalNotice(ctx, notice, mails); err != nil {
		return notice, err
	}
	s.cfg.MailQueued()
	return notice, nil
}

func mailKind(kind Kind) registrar.MailKind {
	if kind == Termination {
		return registrar.MailTermination
	}
	return registrar.MailWithdrawal
}

// mailData are what the letters repeat: the whole declaration.
func (d Notice) mailData() map[string]string {
	return map[string]string{
		"number": d.ID, "declared": string(d.Kind), "name": d.Name, "email": d.Email, "contract": d.Contract,
		"ground": string(d.Ground), "reason": d.Reason, "end": d.End,
	}
}

// isUnprintable is what no line of a letter may have. The letter goes to whatever
// address a stranger has typed, so what they typed must not look like our own lines:
// it can neither begin another one nor turn the direction of reading.
func isUnprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// validate is the declaration in the form in which it is stored.
func (d Notice) validate(now time.Time) (Notice, error) {
	problems := make(map[string]registrar.Code)
	checkText := func(field string, value *string, limit int, required bool) {
		*value = strings.TrimSpace(*value)
		switch {
		case *value == "" && required:
			problems[field] = Missing
		case utf8.RuneCountInString(*value) > limit:
			problems[field] = TooLong
		case !utf8.ValidString(*value) || strings.ContainsFunc(*value, isUnprintable):
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
		return d, &registrar.Error{Kind: registrar.KindInvalid, Code: Malformed}
	default:
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
