package inquiry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/mail"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Topic is what an inquiry is about.
type Topic string

// Topics returns all topics in the order of the form.
func Topics() []Topic {
	return []Topic{"domain", "transfer", "payment", "account", "privacy", "complaint", "abuse", "other"}
}

// Inquiry is a message from the contact form.
type Inquiry struct {
	ID       string
	Customer string // the account of a signed-in sender; empty for others
	// Name and Email are as the sender entered them; the address is not verified.
	Name, Email string
	Topic       Topic
	About       string // an order number or a domain, optional
	Message     string
	Language    string // de or en
	At          time.Time
	DoneAt      time.Time // when an operator closed it; zero while it is open
	DoneBy      string    // the operator's account
	DoneNote    string    // what was done about it
	Digest      string    // equal for a repetition on the same day
}

// Open reports whether an operator still has to handle it.
func (q Inquiry) Open() bool { return q.DoneAt.IsZero() }

// Deadline returns when the sender should have a reply; doc.go has the table.
func (q Inquiry) Deadline() time.Time {
	switch q.Topic {
	case "privacy":
		return q.At.AddDate(0, 1, 0)
	case "abuse":
		return q.At.AddDate(0, 0, 1)
	default:
		return q.At.AddDate(0, 0, 3)
	}
}

// Overdue reports whether the deadline has passed.
func (q Inquiry) Overdue(now time.Time) bool { return q.Open() && !now.Before(q.Deadline()) }

// Form fields, as named in a FieldError.
const (
	FieldName    = "name"
	FieldEmail   = "email"
	FieldTopic   = "topic"
	FieldAbout   = "about"
	FieldMessage = "message"
)

// Error codes of fields and inquiries.
const (
	Missing   registrar.Code = "field_missing"
	TooLong   registrar.Code = "field_too_long"
	Malformed registrar.Code = "field_form"

	TooMany        registrar.Code = "too_many_inquiries" // with KindRateLimited
	NoSuchInquiry  registrar.Code = "no_such_inquiry"    // with KindNotFound
	AlreadyHandled registrar.Code = "inquiry_handled"    // with KindConflict: another operator was first
	BadNote        registrar.Code = "bad_note"           // with KindInvalid: empty, too long, or not printable
)

// Handled is the audited action of an operator who closes an inquiry.
const Handled registrar.Action = "inquiry_handled"

// FieldError lists the invalid fields.
type FieldError struct{ Fields map[string]registrar.Code }

func (*FieldError) Error() string { return "inquiry: invalid fields" }

// Maximum lengths in characters.
const (
	MaxText    = 100
	MaxMessage = 4000
	MaxNote    = 500
	MaxEmail   = 254
)

const (
	maxOpen     = 1000
	openPage    = 50
	summarySize = 10
	handledPage = 25

	retention       = 365 * 24 * time.Hour // of a handled inquiry
	cleanupInterval = time.Hour
	cleanupBatch    = 500
)

// Store persists inquiries.
type Store interface {
	// AddInquiry stores an inquiry and queues its mails at the time of the wall clock. If one with
	// the same digest exists, it returns that one and changes nothing.
	AddInquiry(ctx context.Context, inquiry Inquiry, mails []registrar.Mail, clock time.Time) (stored Inquiry, added bool, err error)
	GetInquiry(ctx context.Context, id string) (Inquiry, bool, error)
	// ListOpenInquiries returns the page after an id, the oldest first; ListHandledInquiries
	// returns the page before an id, the newest first; empty starts at the top.
	ListOpenInquiries(ctx context.Context, after string, limit int) ([]Inquiry, error)
	ListHandledInquiries(ctx context.Context, before string, limit int) ([]Inquiry, error)
	CountOpenInquiries(ctx context.Context) (int, error)
	// MarkInquiryDone stores DoneAt, DoneBy and DoneNote with the event. It returns false and
	// changes nothing if there is no such open inquiry.
	MarkInquiryDone(ctx context.Context, inquiry Inquiry, event registrar.AuditEvent) (bool, error)
	// DeleteHandledInquiries deletes at most limit inquiries handled before a time.
	DeleteHandledInquiries(ctx context.Context, before time.Time, limit int) (int, error)
}

// Config configures a Service. Store is required.
type Config struct {
	Store         Store
	OperatorEmail string // receives a mail for each inquiry; empty means none
	// RateLimit counts one inquiry for a network or a mail address, NeighbourhoodLimit one for
	// registrar.Neighbourhood, so that nobody can use up TotalLimit, which counts one of all
	// without signing in. They return the wait. Optional.
	RateLimit, NeighbourhoodLimit func(key string) (retryAfter time.Duration)
	TotalLimit                    func() (retryAfter time.Duration)
	MailQueued                    func() // called after mails were stored; optional
	// Now is the business time, by which inquiries arrive and deadlines pass, Clock the wall
	// clock, for mails. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger // nil discards
}

// Service accepts inquiries. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("inquiry: Config.Store is required")
	}
	registrar.Default(&cfg.RateLimit, func(string) time.Duration { return 0 })
	registrar.Default(&cfg.NeighbourhoodLimit, func(string) time.Duration { return 0 })
	registrar.Default(&cfg.TotalLimit, func() time.Duration { return 0 })
	registrar.Default(&cfg.MailQueued, func() {})
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{cfg}, nil
}

// now returns the time in the precision of an inquiry.
func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Second) }

// Submit stores an inquiry and returns it, or reports all invalid fields as a *FieldError.
func (s *Service) Submit(ctx context.Context, actor registrar.Actor, inquiry Inquiry) (Inquiry, error) {
	inquiry, err := inquiry.validate()
	if err != nil {
		return inquiry, err
	}
	if wait := s.spend(actor, inquiry.Email); wait > 0 {
		return inquiry, &registrar.Error{Kind: registrar.KindRateLimited, Code: TooMany, RetryAfter: wait}
	}
	now := s.now()
	inquiry.ID, inquiry.At, inquiry.Customer = registrar.NewID("inq_", now), now, actor.Customer
	inquiry.Digest = inquiry.digest()
	arrived := inquiry.At.UTC().Format(time.RFC3339)
	mails := []registrar.Mail{{
		Kind: registrar.MailInquiryConfirmed, Customer: inquiry.Customer, To: inquiry.Email, Language: inquiry.Language,
		Data: map[string]string{"number": inquiry.ID, registrar.MailOccurredAt: arrived},
	}}
	if s.cfg.OperatorEmail != "" {
		mails = append(mails, registrar.Mail{Kind: registrar.MailInquiryReceived, To: s.cfg.OperatorEmail, Language: "de", Data: map[string]string{
			"number": inquiry.ID, "topic": string(inquiry.Topic), "name": inquiry.Name, "email": inquiry.Email,
			"about": inquiry.About, "message": inquiry.Message, registrar.MailOccurredAt: arrived,
		}})
	}
	stored, added, err := s.cfg.Store.AddInquiry(ctx, inquiry, mails, s.cfg.Clock())
	if err != nil {
		return inquiry, err
	}
	if added {
		s.cfg.MailQueued()
	}
	return stored, nil
}

// spend counts an inquiry, the narrowest limit first: a refused one must not use up what others
// share.
func (s *Service) spend(actor registrar.Actor, email string) (wait time.Duration) {
	if wait = s.cfg.RateLimit("network " + registrar.Network(actor.Address)); wait > 0 {
		return wait
	}
	if wait = s.cfg.RateLimit("mail " + strings.ToLower(email)); wait > 0 || actor.Customer != "" {
		return wait
	}
	if wait = s.cfg.NeighbourhoodLimit(registrar.Neighbourhood(actor.Address)); wait > 0 {
		return wait
	}
	return s.cfg.TotalLimit()
}

// digest identifies a repetition on the same day.
func (q Inquiry) digest() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{
		q.At.Format(time.DateOnly), q.Customer, q.Name, strings.ToLower(q.Email), string(q.Topic), q.About, q.Message,
	}, "\x00")))
	return hex.EncodeToString(sum[:])
}

// validate returns the inquiry in its stored form.
func (q Inquiry) validate() (Inquiry, error) {
	problems := make(map[string]registrar.Code)
	check := func(field string, value *string, limit int, required bool, unprintable func(rune) bool) {
		*value = strings.TrimSpace(*value)
		switch {
		case *value == "" && required:
			problems[field] = Missing
		case utf8.RuneCountInString(*value) > limit:
			problems[field] = TooLong
		case !utf8.ValidString(*value) || strings.ContainsFunc(*value, unprintable):
			problems[field] = Malformed
		}
	}
	q.Message = strings.ReplaceAll(strings.ReplaceAll(q.Message, "\r\n", "\n"), "\t", " ")
	check(FieldName, &q.Name, MaxText, true, registrar.IsUnprintable)
	check(FieldEmail, &q.Email, MaxEmail, true, registrar.IsUnprintable)
	check(FieldAbout, &q.About, MaxText, false, registrar.IsUnprintable)
	check(FieldMessage, &q.Message, MaxMessage, true, registrar.IsUnprintableInLines)
	if address, err := mail.ParseAddress(q.Email); problems[FieldEmail] == "" && (err != nil || address.Address != q.Email) {
		problems[FieldEmail] = Malformed
	}
	known := false
	for _, topic := range Topics() {
		known = known || topic == q.Topic
	}
	if !known {
		problems[FieldTopic] = Missing
	}
	if q.Language != "en" {
		q.Language = "de"
	}
	if len(problems) > 0 {
		return q, &FieldError{problems}
	}
	return q, nil
}

// ListOpen returns a page of open inquiries, the earliest deadline first. next is the position to
// continue with; empty on the last page. Of more than 1000, the others are listed once these are
// handled.
func (s *Service) ListOpen(ctx context.Context, operator registrar.Actor, after string) (open []Inquiry, next string, err error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, "", err
	}
	if open, err = s.cfg.Store.ListOpenInquiries(ctx, "", maxOpen); err != nil {
		return nil, "", err
	}
	open, next = registrar.PageByDeadline(open, func(q Inquiry) (string, time.Time) { return q.ID, q.Deadline() }, after, openPage)
	return open, next, nil
}

// ListUrgent returns the open inquiries with the earliest deadlines, for a summary, and the number
// of the others, which stops counting like CountOpen.
func (s *Service) ListUrgent(ctx context.Context, operator registrar.Actor) (urgent []Inquiry, more int, err error) {
	urgent, next, err := s.ListOpen(ctx, operator, "")
	if err != nil || len(urgent) <= summarySize {
		return urgent, 0, err
	}
	more = len(urgent) - summarySize
	if next != "" {
		var open int
		if open, err = s.cfg.Store.CountOpenInquiries(ctx); err == nil {
			more = open - summarySize
		}
	}
	return urgent[:summarySize], more, err
}

// CountOpen returns the number of open inquiries. It stops counting at 1000.
func (s *Service) CountOpen(ctx context.Context, operator registrar.Actor) (int, error) {
	if err := operator.RequireOperator(); err != nil {
		return 0, err
	}
	return s.cfg.Store.CountOpenInquiries(ctx)
}

// ListHandled returns a page of handled inquiries, the newest first. older is the id to
// continue with; empty on the last page.
func (s *Service) ListHandled(ctx context.Context, operator registrar.Actor, before string) (handled []Inquiry, older string, err error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, "", err
	}
	handled, err = s.cfg.Store.ListHandledInquiries(ctx, before, handledPage+1)
	if len(handled) > handledPage {
		handled = handled[:handledPage]
		older = handled[handledPage-1].ID
	}
	return handled, older, err
}

// Get returns an inquiry.
func (s *Service) Get(ctx context.Context, operator registrar.Actor, id string) (Inquiry, error) {
	if err := operator.RequireOperator(); err != nil {
		return Inquiry{}, err
	}
	inquiry, found, err := s.cfg.Store.GetInquiry(ctx, id)
	if err == nil && !found {
		err = registrar.NotFound(NoSuchInquiry)
	}
	return inquiry, err
}

// Close marks an open inquiry as handled. The note says what was done about it.
func (s *Service) Close(ctx context.Context, operator registrar.Actor, id, note string) error {
	note = strings.TrimSpace(strings.ReplaceAll(note, "\r\n", "\n"))
	inquiry, err := s.Get(ctx, operator, id)
	if err != nil {
		return err
	}
	if note == "" || utf8.RuneCountInString(note) > MaxNote || !utf8.ValidString(note) || strings.ContainsFunc(note, registrar.IsUnprintableInLines) {
		return registrar.Invalid(BadNote)
	}
	inquiry.DoneAt, inquiry.DoneBy, inquiry.DoneNote = s.now(), operator.Through, note
	closed, err := s.cfg.Store.MarkInquiryDone(ctx, inquiry, registrar.AuditEvent{
		Actor: operator, Action: Handled, Object: inquiry.ID, At: inquiry.DoneAt,
	})
	if err == nil && !closed {
		err = registrar.Conflict(AlreadyHandled)
	}
	return err
}

// Run deletes inquiries that were handled long ago, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	jobs.RunEvery(ctx, cleanupInterval, s.DeleteOld, jobs.ErrorLogger(s.cfg.Logger, "old inquiries"))
}

// DeleteOld deletes inquiries that were handled a year ago.
func (s *Service) DeleteOld(ctx context.Context) error {
	_, err := jobs.DeleteInBatches(ctx, func(ctx context.Context) (int, error) {
		return s.cfg.Store.DeleteHandledInquiries(ctx, s.now().Add(-retention), cleanupBatch)
	})
	return err
}
