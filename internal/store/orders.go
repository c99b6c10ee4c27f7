package store

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ order.Store = (*DB)(nil)

// orderPrefix and lastOrder bound the ids of orders, as those of audit events.
const (
	orderPrefix = "ord_"
	lastOrder   = orderPrefix + "zzzzzzzzzzzzzzzzzzzzzzzzzzz"
)

func orderOf(row query.Order) order.Order {
	address, _ := netip.ParseAddr(row.ByAddress)
	return order.Order{
		ID: row.ID, Customer: row.CustomerID, Email: row.EmailKey, State: order.State(row.State), Channel: order.Channel(row.Channel),
		By:     registrar.Actor{Kind: registrar.ActorKind(row.ByKind), Customer: row.CustomerID, Through: row.ByID, Address: address},
		ByName: row.ByName, Agent: row.AgentID, Completer: row.CompleterID, Contact: order.Contact(fromJSON[contactJSON](row.Contact)),
		Claimed: row.Claimed != 0, ClaimMailedAt: fromMicros(row.ClaimMailedAt),
		Totals: order.Totals{
			Net: registrar.Cents(row.Net), VAT: registrar.Cents(row.Vat), Gross: registrar.Cents(row.Gross),
			RateBasisPoints: int(row.VatRate), Rule: row.VatRule, Country: row.VatCountry, VATID: row.VatID, Unchecked: row.VatUnchecked != 0,
		},
		ItemsKey: row.ItemsKey, PayLink: registrar.SecretHash(row.PayLink), VerifyLink: registrar.SecretHash(row.VerifyLink),
		SealedPayLink: row.PaySealed, SealedVerifyLink: row.VerifySealed, AutoRenew: row.AutoRenew != 0,
		Registrant: fromJSON[registrar.Registrant](row.Registrant),
		Renewal: order.RenewalConsent{
			Wording: row.RenewalWording, At: fromMicros(row.RenewalAt), Session: row.RenewalSession, Address: row.RenewalAddress,
		},
		Consent:   order.Consent{At: fromMicros(row.ConsentAt), Wording: row.ConsentWording},
		CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt),
		ExpiresAt: fromMicros(row.ExpiresAt), PaidAt: fromMicros(row.PaidAt),
		Version: row.Version, DueAt: fromMicros(row.DueAt), Node: row.Node, Attempts: int(row.Attempts), RefundCount: int(row.RefundCount),
	}
}

func itemOf(row query.OrderItem) order.Item {
	return order.Item{
		ID: row.ID, Name: row.Name, TLD: row.Tld, Kind: order.Kind(row.Kind), Years: int(row.Years),
		Net: registrar.Cents(row.Net), VAT: registrar.Cents(row.Vat), Gross: registrar.Cents(row.Gross),
		Account: row.Account, ProvisionItem: row.ProvisionItemID, Domain: row.DomainID, SealedCode: row.CodeSealed,
		State: order.ItemState(row.State), Failure: registrar.Code(row.Failure),
		RenewalYears: int(row.RenewalYears), RenewalGross: registrar.Cents(row.RenewalGross),
		TermEnd: fromMicros(row.TermEnd), PaidUntil: fromMicros(row.PaidUntil), PremiumFee: moneyOf(row.PremiumFee), PremiumRenewal: registrar.Cents(row.PremiumRenewal), FailureMailedAt: fromMicros(row.FailureMailedAt), Holder: row.HolderID, Registrant: fromJSON[registrar.Registrant](row.Registrant),
	}
}

// orderRow is a row of a whole order: an item and a payment of it. The queries have the
// same columns.
type orderRow interface {
	query.GetOrderRow | query.GetOrderByPayLinkRow | query.GetOrderBySessionRow | query.GetOrderByIntentRow |
		query.ListDueOrdersRow | query.ListOrdersRow | query.ListOrdersOfDeliveriesRow |
		query.ListOrdersOfPendingInvoicesRow
}

// assembleOrders returns orders without refunds from their rows, which are sorted by order,
// item and payment.
func assembleOrders[Row orderRow](rows []Row) (orders []order.Order) {
	for _, r := range rows {
		row := query.GetOrderRow(r)
		if len(orders) == 0 || orders[len(orders)-1].ID != row.Order.ID {
			orders = append(orders, orderOf(row.Order))
		}
		o := &orders[len(orders)-1]
		if len(o.Items) == 0 || o.Items[len(o.Items)-1].ID != row.OrderItem.ID {
			o.Items = append(o.Items, itemOf(row.OrderItem))
		}
		if len(o.Items) == 1 && row.PaymentID != "" { // every item has the same payments
			o.Payments = append(o.Payments, paymentOf(row))
		}
	}
	return orders
}

// wholeOrders adds the refunds, which are read only where there may be some.
func wholeOrders[Row orderRow](ctx context.Context, q *query.Queries) func([]Row, error) ([]order.Order, error) {
	return func(rows []Row, err error) ([]order.Order, error) {
		orders := assembleOrders(rows)
		for i := range orders {
			if o := &orders[i]; err == nil && o.MayHaveRefunds() {
				o.Refunds, err = rowsAs(refundOf)(q.ListOrderRefunds(ctx, o.ID))
			}
		}
		return orders, err
	}
}

// wholeOrder is wholeOrders for one order; false if there is none.
func wholeOrder[Row orderRow](ctx context.Context, q *query.Queries) func([]Row, error) (order.Order, bool, error) {
	return func(rows []Row, err error) (order.Order, bool, error) {
		orders, err := wholeOrders[Row](ctx, q)(rows, err)
		if err != nil || len(orders) == 0 {
			return order.Order{}, false, err
		}
		return orders[0], true, nil
	}
}

func orderByID(ctx context.Context, q *query.Queries, id string) (order.Order, bool, error) {
	return wholeOrder[query.GetOrderRow](ctx, q)(q.GetOrder(ctx, id))
}

// ordersByID reads the orders with the ids that a query returns.
func ordersByID(ctx context.Context, q *query.Queries) func([]string, error) ([]order.Order, error) {
	return func(ids []string, err error) ([]order.Order, error) {
		var orders []order.Order
		for _, id := range ids {
			o, found, err := orderByID(ctx, q, id)
			if err != nil {
				return nil, err
			}
			if found {
				orders = append(orders, o)
			}
		}
		return orders, err
	}
}

// OrderByID returns an order.
func (db *DB) OrderByID(ctx context.Context, id string) (order.Order, bool, error) {
	return orderByID(ctx, db.read(), id)
}

// OrderByPayLink returns the order of a payment link.
func (db *DB) OrderByPayLink(ctx context.Context, link registrar.SecretHash) (order.Order, bool, error) {
	q := db.read()
	return wholeOrder[query.GetOrderByPayLinkRow](ctx, q)(q.GetOrderByPayLink(ctx, string(link)))
}

// OrderByVerifyLink returns the order of a verification link.
func (db *DB) OrderByVerifyLink(ctx context.Context, link registrar.SecretHash) (order.Order, bool, error) {
	id, ok, err := foundValue(db.read().GetOrderIDByVerifyLink(ctx, string(link)))
	if err != nil || !ok {
		return order.Order{}, false, err
	}
	return db.OrderByID(ctx, id)
}

// OrderBySession returns the order of the provider's checkout session.
func (db *DB) OrderBySession(ctx context.Context, session string) (order.Order, bool, error) {
	q := db.read()
	return wholeOrder[query.GetOrderBySessionRow](ctx, q)(q.GetOrderBySession(ctx, session))
}

// OrderByIntent returns the order of the provider's payment intent.
func (db *DB) OrderByIntent(ctx context.Context, intent string) (order.Order, bool, error) {
	q := db.read()
	return wholeOrder[query.GetOrderByIntentRow](ctx, q)(q.GetOrderByIntent(ctx, intent))
}

// GetCustomerOrder returns an order of a customer.
func (db *DB) GetCustomerOrder(ctx context.Context, customer, id string) (order.Order, bool, error) {
	o, ok, err := db.OrderByID(ctx, id)
	if o.Customer != customer {
		return order.Order{}, false, err
	}
	return o, ok, err
}

// ListOrders returns a page of a customer's orders, the newest first.
func (db *DB) ListOrders(ctx context.Context, customer, before string, limit int) ([]order.Order, error) {
	if sqldb.IsUnstorable(before) {
		return nil, nil
	}
	q := db.read()
	return ordersByID(ctx, q)(q.ListCustomerOrderIDs(ctx, query.ListCustomerOrderIDsParams{
		CustomerID: customer, ID: cmp.Or(before, lastOrder), Limit: int32(limit),
	}))
}

// ListOrdersOfNotices returns a customer's orders of which something was refunded for one of some
// withdrawal notices.
func (db *DB) ListOrdersOfNotices(ctx context.Context, customer string, notices []string) ([]order.Order, error) {
	q := db.read()
	var ids []string
	for _, notice := range notices { // a list would not use the index of notices
		some, err := q.ListOrderIDsOfNotice(ctx, notice, customer)
		if err != nil {
			return nil, err
		}
		ids = append(ids, some...)
	}
	return ordersByID(ctx, q)(slices.Compact(slices.Sorted(slices.Values(ids))), nil)
}

// PageOrders returns a page of a customer's orders, the newest first, and their number.
func (db *DB) PageOrders(ctx context.Context, customer string, state order.State, limit, offset int) ([]order.Order, int, error) {
	q := db.read()
	total, err := q.CountOrders(ctx, customer, string(state))
	if err != nil || total <= int64(offset) {
		return nil, int(total), err
	}
	orders, err := ordersByID(ctx, q)(q.SearchOrderIDs(ctx, query.SearchOrderIDsParams{
		CustomerID: customer, State: string(state), MaxRows: int32(limit), SkipRows: int32(offset),
	}))
	return orders, int(total), err
}

// ListOverdueOrders returns a customer's unpaid orders whose quoted prices have expired.
func (db *DB) ListOverdueOrders(ctx context.Context, customer string, now time.Time, limit int) ([]order.Order, error) {
	q := db.read()
	return ordersByID(ctx, q)(q.ListOverdueOrderIDs(ctx, query.ListOverdueOrderIDsParams{
		CustomerID: customer, Now: micros(now), MaxRows: int32(limit),
	}))
}

// MakeOverdueOrdersDue makes all customers' unpaid orders due whose quoted prices have expired at a
// business time, which has jumped since their jobs were scheduled by the real time.
func (db *DB) MakeOverdueOrdersDue(ctx context.Context, now, clock time.Time) error {
	return db.write(ctx, func(q *query.Queries) error { return q.MakeOverdueOrdersDue(ctx, micros(clock), micros(now)) })
}

// ListOpenRenewalOrders returns a customer's renewal baskets that can still be paid.
func (db *DB) ListOpenRenewalOrders(ctx context.Context, customer string) ([]order.Order, error) {
	q := db.read()
	return ordersByID(ctx, q)(q.ListOpenRenewalOrderIDs(ctx, customer))
}

// ListDueOrders returns due orders, the longest overdue first.
func (db *DB) ListDueOrders(ctx context.Context, now time.Time, limit int) ([]order.Order, error) {
	q := db.read()
	return wholeOrders[query.ListDueOrdersRow](ctx, q)(q.ListDueOrders(ctx, micros(now), int32(limit)))
}

// ListOrdersAfter returns a page of all orders, by id. It is for reconciliation, so it reads
// all refunds, whatever the orders' states.
func (db *DB) ListOrdersAfter(ctx context.Context, id string, limit int) ([]order.Order, error) {
	q := db.read()
	rows, err := q.ListOrders(ctx, id, int32(limit))
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	orders := assembleOrders(rows)
	refunds, err := q.ListRefundsInOrderRange(ctx, orders[0].ID, orders[len(orders)-1].ID)
	for i := range orders {
		for _, row := range refunds {
			if row.OrderID == orders[i].ID {
				orders[i].Refunds = append(orders[i].Refunds, refundOf(row))
			}
		}
	}
	return orders, err
}

// SpentSince sums up what this account, this address and the cards of this account have
// paid since then, and what the account is paying now.
func (db *DB) SpentSince(ctx context.Context, customer, email string, since time.Time) (order.Spending, error) {
	sums, err := db.read().SumSpending(ctx, query.SumSpendingParams{CustomerID: customer, EmailKey: emailKey(email), Since: micros(since)})
	return order.Spending{
		Paying: registrar.Cents(sums.Paying), ByAccount: registrar.Cents(sums.ByAccount),
		ByEmail: registrar.Cents(sums.ByEmail), ByCard: registrar.Cents(sums.ByCard),
	}, err
}

// emailKey returns the comparable form of an account's address.
func emailKey(email string) string { return strings.ToLower(email) }

// SalesSince returns the net sum paid under a VAT rule since a time.
func (db *DB) SalesSince(ctx context.Context, rule string, since time.Time) (registrar.Cents, error) {
	sum, err := db.read().SumSalesByVATRule(ctx, rule, micros(since))
	return registrar.Cents(sum), err
}

// ListOrdersAwaitingIdentity returns the ids of a customer's orders that await verification.
func (db *DB) ListOrdersAwaitingIdentity(ctx context.Context, customer string) ([]string, error) {
	return db.read().ListOrderIDsAwaitingIdentity(ctx, customer)
}
