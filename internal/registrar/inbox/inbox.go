package inbox

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Stored is a message as operators read it.
type Stored struct {
	Message
	Number   string    // ours, in the order of arrival
	Account  string    // the registry account
	Domain   string    // the id of the domain that we hold or last held; empty if there is none
	Customer string    // who holds it
	Order    string    // the last order with the name
	StoredAt time.Time // business time
	Unread   bool
	ReadAt   time.Time // zero if the program handled it
	ReadBy   string    // the operator's account
	Note     string
}

// ReportedAt returns when the registry reported, by its clock, but not after the report was stored.
// Bookings after that are not part of the report.
func (s Stored) ReportedAt() time.Time {
	if s.StoredAt.Before(s.Queued) { // by the registry's clock, which may be ahead
		return s.StoredAt
	}
	return s.Queued
}

// Filter selects messages; empty fields mean all.
type Filter struct {
	Kind    Kind
	Account string
}

// Error codes.
const (
	NoSuchMessage registrar.Code = "no_such_registry_message" // with KindNotFound
	AlreadyRead   registrar.Code = "registry_message_read"    // with KindConflict: another operator was first
	BadNote       registrar.Code = "bad_read_note"            // with KindInvalid: too long, or not printable
)

// PolledElsewhere means that another node polls the account.
const PolledElsewhere registrar.Code = "registry_polled_elsewhere" // with KindConflict

// Audited actions of operators.
const (
	MarkedRead    registrar.Action = "registry_message_read"
	MarkedAllRead registrar.Action = "registry_messages_read" // of a kind
)

// MaxNote is the maximum length of a note in characters.
const MaxNote = 500

const (
	pageSize    = 50
	markBatch   = 1000
	maxBookings = 1000 // since a message; there are a few
)

// Store persists messages; package provision adds them.
type Store interface {
	GetRegistryMessage(ctx context.Context, number string) (Stored, bool, error)
	// ListRegistryMessages returns the page before a number, the newest first, without Raw,
	// Customer and Order; an empty number starts at the top.
	ListRegistryMessages(ctx context.Context, filter Filter, unread bool, before string, limit int) ([]Stored, error)
	CountUnreadRegistryMessages(ctx context.Context) (int, error)
	// NewestBalance returns the newest message about the balance of an account, or the
	// QueriedBalance if that is newer.
	NewestBalance(ctx context.Context, account string) (Stored, bool, error)
	// ListRegistryBookings returns what operators have booked on an account since a time, the
	// oldest first.
	ListRegistryBookings(ctx context.Context, account string, since time.Time, limit int) ([]Booking, error)
	// AccountCurrency returns the currency in which operators have booked last on the account, or
	// else that in which the registry charges it; empty if neither is known.
	AccountCurrency(ctx context.Context, account string) (string, error)
	// MarkRegistryMessageRead stores ReadAt, ReadBy and Note with the event. It returns false
	// and changes nothing if there is no such unread message.
	MarkRegistryMessageRead(ctx context.Context, message Stored, event registrar.AuditEvent) (bool, error)
	// MarkRegistryMessagesRead marks at most limit unread messages of a kind up to a number,
	// with one event, and returns how many there were.
	MarkRegistryMessagesRead(ctx context.Context, kind Kind, last string, event registrar.AuditEvent, limit int) (int, error)
}

// Config configures a Service. Store is required.
type Config struct {
	Store    Store
	Accounts []string         // the names of the registry accounts
	Now      func() time.Time // the business time; nil means time.Now
}

// Service lets operators read messages. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("inbox: Config.Store is required")
	}
	registrar.Default(&cfg.Now, time.Now)
	return &Service{cfg}, nil
}

// Accounts returns the names of the registry accounts.
func (s *Service) Accounts() []string { return s.cfg.Accounts }

// List returns a page of unread or read messages, the newest first. older is the number to
// continue with; empty on the last page.
func (s *Service) List(ctx context.Context, operator registrar.Actor, filter Filter, unread bool, before string) (messages []Stored, older string, err error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, "", err
	}
	messages, err = s.cfg.Store.ListRegistryMessages(ctx, filter, unread, before, pageSize+1)
	if len(messages) > pageSize {
		messages = messages[:pageSize]
		older = messages[pageSize-1].Number
	}
	return messages, older, err
}

// CountUnread returns the number of unread messages. It stops counting at 1000.
func (s *Service) CountUnread(ctx context.Context, operator registrar.Actor) (int, error) {
	if err := operator.RequireOperator(); err != nil {
		return 0, err
	}
	return s.cfg.Store.CountUnreadRegistryMessages(ctx)
}

// Balances returns the newest balance of each account that has one.
func (s *Service) Balances(ctx context.Context) (balances []Stored, err error) {
	if balances, err = s.newestBalances(ctx); err != nil {
		return nil, err
	}
	for i := range balances {
		if balances[i], err = s.withCurrency(ctx, balances[i]); err != nil {
			return nil, err
		}
	}
	return balances, nil
}

// newestBalances returns the balances as the registries reported them.
func (s *Service) newestBalances(ctx context.Context) (balances []Stored, err error) {
	for _, account := range s.cfg.Accounts {
		newest, found, err := s.cfg.Store.NewestBalance(ctx, account)
		if err != nil {
			return nil, err
		}
		if found && newest.Details.Balance != nil {
			balances = append(balances, newest)
		}
	}
	return balances, nil
}

// LowBalances returns the newest balance of each account that is low, or an unread message. Reading
// the message does not end a low balance: a newer report does, or what an operator has booked since,
// also before the message is read.
func (s *Service) LowBalances(ctx context.Context, operator registrar.Actor) (low []Stored, err error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	balances, err := s.newestBalances(ctx)
	if err != nil {
		return nil, err
	}
	for _, newest := range balances {
		isLow := newest.Unread || newest.Details.Balance.IsLow()
		if !isLow {
			continue
		}
		bookings, err := s.cfg.Store.ListRegistryBookings(ctx, newest.Account, newest.ReportedAt(), maxBookings)
		if err != nil {
			return nil, err
		}
		if after, booked := newest.Details.Balance.After(bookings); booked {
			isLow = after.IsLow()
		}
		if isLow {
			if newest, err = s.withCurrency(ctx, newest); err != nil {
				return nil, err
			}
			low = append(low, newest)
		}
	}
	return low, nil
}

// withCurrency adds the currency in which operators have booked on the account, or else that of
// the registry's charges, if the registry does not state one: the balance mapping has none.
func (s *Service) withCurrency(ctx context.Context, stored Stored) (Stored, error) {
	if stored.Details.Balance.Currency != "" {
		return stored, nil
	}
	currency, err := s.cfg.Store.AccountCurrency(ctx, stored.Account)
	if err != nil {
		return stored, err
	}
	balance := *stored.Details.Balance
	balance.Currency, stored.Details.Balance = currency, &balance
	return stored, nil
}

// Get returns a message.
func (s *Service) Get(ctx context.Context, operator registrar.Actor, number string) (Stored, error) {
	if err := operator.RequireOperator(); err != nil {
		return Stored{}, err
	}
	message, found, err := s.cfg.Store.GetRegistryMessage(ctx, number)
	if err == nil && !found {
		err = registrar.NotFound(NoSuchMessage)
	}
	return message, err
}

// MarkRead marks an unread message as read. The note is optional.
func (s *Service) MarkRead(ctx context.Context, operator registrar.Actor, number, note string) error {
	message, err := s.Get(ctx, operator, number)
	if err != nil {
		return err
	}
	note = strings.TrimSpace(strings.ReplaceAll(note, "\r\n", "\n"))
	if utf8.RuneCountInString(note) > MaxNote || !utf8.ValidString(note) || strings.ContainsFunc(note, registrar.IsUnprintableInLines) {
		return registrar.Invalid(BadNote)
	}
	message.ReadAt, message.ReadBy, message.Note = s.now(), operator.Through, note
	marked, err := s.cfg.Store.MarkRegistryMessageRead(ctx, message, registrar.AuditEvent{
		Actor: operator, Action: MarkedRead, Object: message.Number, At: message.ReadAt,
	})
	if err == nil && !marked {
		err = registrar.Conflict(AlreadyRead)
	}
	return err
}

// MarkKindRead marks all unread messages of a kind as read, up to the newest that the operator
// has seen, and returns how many there were.
func (s *Service) MarkKindRead(ctx context.Context, operator registrar.Actor, kind Kind, newest string) (total int, err error) {
	if err := operator.RequireOperator(); err != nil {
		return 0, err
	}
	if !kind.Valid() {
		return 0, registrar.NotFound(NoSuchMessage)
	}
	event := registrar.AuditEvent{Actor: operator, Action: MarkedAllRead, Object: string(kind), At: s.now()}
	for {
		marked, err := s.cfg.Store.MarkRegistryMessagesRead(ctx, kind, newest, event, markBatch)
		total += marked
		if err != nil || marked < markBatch {
			return total, err
		}
	}
}

func (s *Service) now() time.Time { return s.cfg.Now().UTC().Truncate(time.Second) }
