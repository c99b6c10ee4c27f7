package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ renewal.WorkerStore = (*DB)(nil)

func renewalOf(row query.Renewal) renewal.Renewal {
	return renewal.Renewal{
		Domain: row.DomainID, Customer: row.CustomerID, Name: row.Name, TLD: row.Tld, TermEnd: fromMicros(row.TermEnd),
		State: renewal.State(row.State), Years: int(row.Years), Gross: registrar.Cents(row.Gross), AnnouncedAt: fromMicros(row.AnnouncedAt),
		ChargeAt: fromMicros(row.ChargeAt), Attempts: int(row.Attempts), Order: row.OrderID, Failure: registrar.Code(row.Failure),
		UpdatedAt: fromMicros(row.UpdatedAt),
	}
}

// ListCustomersToAnnounce returns customers with domains whose charge is to be announced.
func (db *DB) ListCustomersToAnnounce(ctx context.Context, window renewal.Window, limit int) ([]string, error) {
	return db.read().ListCustomersToAnnounce(ctx, query.ListCustomersToAnnounceParams{
		Earliest: micros(window.From), Latest: micros(window.Until), MaxRows: int32(limit),
	})
}

// ListDomainsToAnnounce returns those domains of a customer.
func (db *DB) ListDomainsToAnnounce(ctx context.Context, customer string, window renewal.Window, limit int) ([]renewal.Candidate, error) {
	return rowsAs(func(row query.ListDomainsToAnnounceRow) renewal.Candidate {
		candidate := renewal.Candidate{
			Domain: row.ID, Name: row.Name, TLD: row.Tld, TermEnd: fromMicros(row.PaidUntil), Premium: row.Premium != 0,
			Years: int(row.ConsentYears), Shown: registrar.Cents(row.ConsentGross),
		}
		if row.LastAnnouncedAt > row.GivenAt {
			candidate.Shown = registrar.Cents(row.LastGross)
		}
		return candidate
	})(db.read().ListDomainsToAnnounce(ctx, query.ListDomainsToAnnounceParams{
		CustomerID: customer, Earliest: micros(window.From), Latest: micros(window.Until), MaxRows: int32(limit),
	}))
}

// AnnounceRenewals stores renewals of a customer with the mails that announce them.
func (db *DB) AnnounceRenewals(ctx context.Context, announcement renewal.Announcement) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		for _, one := range announcement.Renewals {
			if err := swapped(q.LockDomainToAnnounce(ctx, query.LockDomainToAnnounceParams{ID: one.Domain, CustomerID: one.Customer, TermEnd: micros(one.TermEnd)})); err != nil {
				return err
			}
			if err := insertRenewal(ctx, q, one, announcement.Now); err != nil {
				return err
			}
		}
		return queueMails(ctx, q, announcement.Mails, announcement.At)
	})
}

// insertRenewal stores the first row of a term. It returns errConflict if the term has one.
func insertRenewal(ctx context.Context, q *query.Queries, one renewal.Renewal, now time.Time) error {
	return swapped(q.InsertRenewal(ctx, query.InsertRenewalParams{
		DomainID: one.Domain, TermEnd: micros(one.TermEnd), CustomerID: one.Customer, Name: one.Name, Tld: one.TLD, State: string(one.State),
		Years: int64(one.Years), Gross: int64(one.Gross), AnnouncedAt: micros(one.AnnouncedAt), ChargeAt: micros(one.ChargeAt),
		Failure: string(one.Failure), UpdatedAt: micros(now),
	}))
}

// ListCustomersDue returns customers with due renewals, the longest overdue first.
func (db *DB) ListCustomersDue(ctx context.Context, now time.Time, limit int) ([]renewal.DueCustomer, error) {
	for maxRows := 16 * limit; ; maxRows *= 8 {
		rows, err := db.read().ListCustomersOfDueRenewals(ctx, micros(now), int32(maxRows))
		if err != nil {
			return nil, err
		}
		var customers []renewal.DueCustomer
		listed := make(map[string]bool)
		for _, row := range rows {
			if !listed[row.CustomerID] && len(customers) < limit {
				listed[row.CustomerID] = true
				customers = append(customers, renewal.DueCustomer{ID: row.CustomerID, Since: fromMicros(row.ChargeAt)})
			}
		}
		if len(customers) == limit || len(rows) < maxRows {
			return customers, nil
		}
	}
}

// ListDueRenewals returns a customer's due renewals, the longest overdue first.
func (db *DB) ListDueRenewals(ctx context.Context, customer string, dueBy time.Time, limit int) ([]renewal.Renewal, error) {
	return rowsAs(func(row query.ListDueRenewalsRow) renewal.Renewal { return renewalOf(row.Renewal) })(
		db.read().ListDueRenewals(ctx, query.ListDueRenewalsParams{CustomerID: customer, DueBy: micros(dueBy), MaxRows: int32(limit)}))
}

// ListRenewalsOfOrder returns the renewals that an order attempts or has attempted last.
func (db *DB) ListRenewalsOfOrder(ctx context.Context, id string) ([]renewal.Renewal, error) {
	return rowsAs(renewalOf)(db.read().ListRenewalsOfOrder(ctx, id))
}

// UpdateRenewals stores transitions of renewals with their mails, all or none.
func (db *DB) UpdateRenewals(ctx context.Context, update renewal.Update) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		for _, change := range update.Changes {
			if err := swapped(q.UpdateRenewal(ctx, query.UpdateRenewalParams{
				State: string(change.To.State), ChargeAt: micros(change.To.ChargeAt), Attempts: int64(change.To.Attempts),
				Failure: string(change.To.Failure), UpdatedAt: micros(update.Now), DomainID: change.From.Domain, TermEnd: micros(change.From.TermEnd),
				WasState: string(change.From.State), WasOrder: change.From.Order, WasChargeAt: micros(change.From.ChargeAt),
			})); err != nil {
				return err
			}
		}
		for _, event := range update.AuditEvents {
			if err := insertAuditEvent(ctx, q, event); err != nil {
				return err
			}
		}
		return queueMails(ctx, q, update.Mails, update.At)
	})
}

// maxCheckedRenewals bounds the due renewals that are read when one order starts: more than
// it can have.
const maxCheckedRenewals = 10 * order.MaxRenewals

// StartRenewals stores an automatic order and moves its renewals to charging.
func (db *DB) StartRenewals(ctx context.Context, start order.RenewalStart) (started bool, unfit []order.UnfitRenewal, err error) {
	started, err = db.swap(ctx, func(q *query.Queries) error {
		unfit = nil
		// The account first, as every transaction that locks both. It also keeps the
		// customer's own payments out.
		if err := rowOr(noSuchCustomer())(q.LockBuyer(ctx, start.Order.Customer)); err != nil {
			return err
		}
		buyer, err := buyerOf(ctx, q, start.Order.Customer)
		if err != nil {
			return err
		}
		if buyer != start.ExpectedBuyer {
			return errConflict
		}
		if err := q.LockDueRenewalDomains(ctx, start.Order.Customer, micros(start.DueBy)); err != nil {
			return err
		}
		due, err := q.ListDueRenewals(ctx, query.ListDueRenewalsParams{CustomerID: start.Order.Customer, DueBy: micros(start.DueBy), MaxRows: maxCheckedRenewals})
		if err != nil {
			return err
		}
		if unfit = unfitRenewals(start.Items, due); len(unfit) > 0 {
			return errConflict
		}
		o := start.Order
		o.Email, o.Version = emailKey(o.Email), firstVersion
		if err := insertOrder(ctx, q, o, 0); err != nil {
			return err
		}
		for _, payment := range o.Payments {
			if err := putPayment(ctx, q, o, payment, false); err != nil {
				return err
			}
		}
		moved, err := q.StartRenewals(ctx, query.StartRenewalsParams{
			OrderID: o.ID, ChargeAt: micros(start.LookAt), Now: micros(start.At), CustomerID: o.Customer, DueBy: micros(start.DueBy),
		})
		if err != nil {
			return err
		}
		if moved != int64(len(start.Items)) {
			return fmt.Errorf("store: start renewals of order %s: %d of %d moved", o.ID, moved, len(start.Items))
		}
		return insertAuditEvent(ctx, q, start.AuditEvent)
	})
	return started, unfit, err
}

// unfitRenewals returns the items whose renewal is not due or has an obstacle.
func unfitRenewals(items []order.RenewalItem, due []query.ListDueRenewalsRow) (unfit []order.UnfitRenewal) {
	type term struct {
		domain string
		end    int64
	}
	announced := make(map[term]query.ListDueRenewalsRow, len(due))
	for _, row := range due {
		if row.Renewal.State == string(renewal.Announced) {
			announced[term{row.Renewal.DomainID, row.Renewal.TermEnd}] = row
		}
	}
	for _, item := range items {
		row, listed := announced[term{item.Domain, micros(item.TermEnd)}]
		obstacle := order.Obstacle(row.Obstacle)
		// The order of another attempt since then has not been expired.
		if !listed || row.Renewal.OrderID != item.Former {
			obstacle = order.ObstacleTaken
		}
		if obstacle != "" {
			unfit = append(unfit, order.UnfitRenewal{Domain: item.Domain, Obstacle: obstacle})
		}
	}
	return unfit
}

// IsRenewing reports whether a domain is being renewed automatically.
func (db *DB) IsRenewing(ctx context.Context, domain string) (bool, error) {
	charging, err := db.read().CountChargingRenewals(ctx, domain)
	return charging > 0, err
}

// checkRenewalCollisions keeps an order that starts to be paid from renewing a domain twice:
// another order renews it right now, or the term was renewed since. A domain that is being
// deleted can't be paid any more.
func checkRenewalCollisions(ctx context.Context, q *query.Queries, transition order.Transition) error {
	if !transition.LocksBuyer() || !transition.To.RenewsDomains() {
		return nil
	}
	// A deletion locks the domain before it looks for payments.
	var domains []string
	for _, item := range transition.To.Items {
		if item.Domain != "" {
			domains = append(domains, item.Domain)
		}
	}
	slices.Sort(domains)
	for _, domain := range domains {
		if _, err := found(ignoreRow(q.LockDomain(ctx, domain))); err != nil {
			return err
		}
	}
	collisions, err := q.CountRenewalCollisions(ctx, transition.To.ID)
	switch {
	case err != nil:
		return err
	case collisions.Charging > 0:
		return &registrar.Error{Kind: registrar.KindConflict, Code: order.RenewalInProgress}
	case collisions.Elsewhere > 0:
		return &registrar.Error{Kind: registrar.KindConflict, Code: order.PaymentOpenElsewhere}
	case collisions.Paid > 0:
		return &registrar.Error{Kind: registrar.KindConflict, Code: order.TermPaid}
	case collisions.Renewed+collisions.Deleting > 0:
		return &registrar.Error{Kind: registrar.KindConflict, Code: order.NotOpen}
	default:
		return nil
	}
}

// updateRenewalsOfOrder passes the renewals of a paid automatic order to its items. Those of an
// item that failed at once have failed.
func updateRenewalsOfOrder(ctx context.Context, q *query.Queries, transition order.Transition) error {
	o := transition.To
	if !transition.Provision || o.Channel != order.ChannelRenewal {
		return nil
	}
	if err := q.SetRenewalsPaid(ctx, micros(o.UpdatedAt), o.ID); err != nil {
		return err
	}
	for _, item := range o.Items {
		if item.State != order.ItemFailed {
			continue
		}
		if err := q.FailPaidRenewal(ctx, query.FailPaidRenewalParams{Failure: string(item.Failure), Now: micros(o.UpdatedAt), DomainID: item.Domain, OrderID: o.ID}); err != nil {
			return err
		}
	}
	return nil
}

// RenewalBacklog returns how many renewals are due, up to 1000, and since when.
func (db *DB) RenewalBacklog(ctx context.Context, now time.Time) (due int, oldest time.Time, err error) {
	row, err := db.read().CountDueRenewals(ctx, micros(now))
	return int(row.Waiting), fromMicros(row.Oldest), err
}

// ReconciliationRenewals returns all renewals.
func (db *DB) ReconciliationRenewals(ctx context.Context) iter.Seq2[renewal.Renewal, error] {
	return func(yield func(renewal.Renewal, error) bool) {
		var last query.Renewal
		for {
			rows, err := db.read().ListRenewalsAfter(ctx, query.ListRenewalsAfterParams{DomainID: last.DomainID, TermEnd: last.TermEnd, MaxRows: reconcilePageSize})
			if err != nil {
				yield(renewal.Renewal{}, err)
				return
			}
			for _, row := range rows {
				if last = row; !yield(renewalOf(row), nil) {
					return
				}
			}
			if len(rows) < reconcilePageSize {
				return
			}
		}
	}
}
