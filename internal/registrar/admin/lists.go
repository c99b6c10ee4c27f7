package admin

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PageSize bounds a page of orders, payments or refunds.
const PageSize = 50

// Subject is what an order, a payment or a refund is about.
type Subject struct {
	Name  string // of the first item
	Items int
	Email string // the customer's address
}

// More is the number of items besides the first.
func (s Subject) More() int { return max(0, s.Items-1) }

// OrderEntry is an order in a list.
type OrderEntry struct {
	Subject
	ID, Customer, State, Channel string
	Gross                        registrar.Cents
	CreatedAt, PaidAt            time.Time
	Refunded                     bool // all that was paid
}

// PaymentEntry is a payment in a list.
type PaymentEntry struct {
	Subject
	ID, Order, Kind, State string
	Intent                 string // the provider's id
	Failure                registrar.Code
	Amount                 registrar.Cents
	Refunded               registrar.Cents
	Withdrawn              registrar.Cents // by the bank, and not returned
	UpdatedAt              time.Time
}

// RefundEntry is a refund in a list, about the items that it is for. MadeAt is zero unless the
// refund was made, and Provider is empty until the provider was called.
type RefundEntry struct {
	Subject
	ID, Order, Customer, Payment, Provider string
	// Notice is the withdrawal that the refund is for, Declared when it arrived; zero without one.
	Notice   string
	Declared time.Time
	// Source, Reason, State and Task are those of package order.
	Source, Reason, State, Task string
	Failure                     registrar.Code
	Amount                      registrar.Cents
	CreatedAt, MadeAt, FailedAt time.Time
	PaidAt                      time.Time // when an operator paid another way what the bank had returned; zero if none did
}

// RefundFilter selects refunds.
type RefundFilter string

// The filters.
const (
	AllRefunds       RefundFilter = ""
	PendingRefunds   RefundFilter = "pending"
	UndecidedRefunds RefundFilter = "open" // an operator has to do something about them
)

// OrderFilter selects orders: all, those in a state, those of a domain, or those of an address in
// the form in which account.EmailKey compares them.
type OrderFilter struct{ State, Name, EmailKey string }

// List is a page of a list, the newest first.
type List[T any] struct {
	Rows  []T
	Older string // the id to continue with; empty on the last page
	// Unaudited means that the view could not be recorded, so the rows have no addresses.
	Unaudited bool
}

// ListOrders returns a page of orders. The lists contain customers' addresses: each page is
// audited before it is read. If the audit event can't be stored, for example because the disk
// is full, the operator who has to repair that still sees the list, without the addresses.
func (s *Service) ListOrders(ctx context.Context, operator registrar.Actor, filter OrderFilter, before string) (List[OrderEntry], error) {
	return page(ctx, s, operator, "orders", func() ([]OrderEntry, error) {
		return s.cfg.Store.ListAllOrders(ctx, filter, before, PageSize+1)
	}, func(o *OrderEntry) (string, *Subject) { return o.ID, &o.Subject })
}

// ListPayments returns a page of payments, of all states or one. Refunded payments are those of
// which something was refunded.
func (s *Service) ListPayments(ctx context.Context, operator registrar.Actor, state, before string) (List[PaymentEntry], error) {
	return page(ctx, s, operator, "payments", func() ([]PaymentEntry, error) {
		return s.cfg.Store.ListAllPayments(ctx, state, before, PageSize+1)
	}, func(p *PaymentEntry) (string, *Subject) { return p.ID, &p.Subject })
}

// ListRefunds returns a page of refunds.
func (s *Service) ListRefunds(ctx context.Context, operator registrar.Actor, filter RefundFilter, before string) (List[RefundEntry], error) {
	return page(ctx, s, operator, "refunds", func() ([]RefundEntry, error) {
		return s.cfg.Store.ListAllRefunds(ctx, filter, before, PageSize+1)
	}, func(r *RefundEntry) (string, *Subject) { return r.ID, &r.Subject })
}

// auditTimeout bounds the write before a list is read, so that a slow disk does not take the
// time of the whole request.
const auditTimeout = 3 * time.Second

// RecordListView audits that an operator views a list with customers' addresses that another
// service returns. If it returns false, the list must be shown without them.
func (s *Service) RecordListView(ctx context.Context, operator registrar.Actor, what string) (audited bool, err error) {
	if err := operator.RequireOperator(); err != nil {
		return false, err
	}
	return s.recordListView(ctx, operator, what), nil
}

func (s *Service) recordListView(ctx context.Context, operator registrar.Actor, what string) bool {
	ctx, cancel := context.WithTimeout(ctx, auditTimeout)
	defer cancel()
	return s.cfg.Store.RecordAuditEvent(ctx, registrar.AuditEvent{Actor: operator, Action: ListViewed, Object: what, At: s.cfg.Business()}) == nil
}

// page checks the operator, audits the view and cuts a list that was read with one row more
// than a page has.
func page[T any](
	ctx context.Context, s *Service, operator registrar.Actor, what string, list func() ([]T, error), of func(*T) (id string, subject *Subject),
) (shown List[T], err error) {
	if err := operator.RequireOperator(); err != nil {
		return shown, err
	}
	shown.Unaudited = !s.recordListView(ctx, operator, what)
	if shown.Rows, err = list(); err != nil {
		return List[T]{}, err
	}
	if len(shown.Rows) > PageSize {
		shown.Rows = shown.Rows[:PageSize]
		shown.Older, _ = of(&shown.Rows[PageSize-1])
	}
	if shown.Unaudited {
		for i := range shown.Rows {
			_, subject := of(&shown.Rows[i])
			subject.Email = ""
		}
	}
	return shown, nil
}

// FindOrder returns the order that a number stands for: that of an order, a payment, a
// refund or an invoice, or the provider's payment.
func (s *Service) FindOrder(ctx context.Context, operator registrar.Actor, number string) (id string, found bool, err error) {
	if err := operator.RequireOperator(); err != nil {
		return "", false, err
	}
	return s.cfg.Store.FindOrderID(ctx, number)
}

// ListOrderJobs returns the unfinished jobs of an order, with their last errors: its own, its
// items, its webhook, and its queued mails.
func (s *Service) ListOrderJobs(ctx context.Context, operator registrar.Actor, customer, order string) ([]Job, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	jobs, err := s.cfg.Store.ListOrderJobs(ctx, customer, order, maxListed)
	if err != nil {
		return nil, err
	}
	if err := s.addErrorsAndTimes(ctx, jobs); err != nil || len(jobs) == 0 {
		return jobs, err
	}
	return jobs, s.loadUnfunded(ctx, jobs)
}
