package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// firstVersion is the version of an order before its first update.
const firstVersion = 1

// AddOrder stores an order, or returns the open one with the same items.
func (db *DB) AddOrder(ctx context.Context, newOrder order.Order, maxOpen int, event registrar.AuditEvent) (stored order.Order, added bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		if err := rowOr(noSuchCustomer())(q.LockBuyer(ctx, newOrder.Customer)); err != nil {
			return err
		}
		same, err := checkOpenOrderLimit(ctx, q, newOrder, maxOpen)
		if err != nil {
			return err
		}
		if same != "" {
			stored, _, err = orderByID(ctx, q, same)
			return err
		}
		stored, added = newOrder, true
		stored.Email, stored.Version = emailKey(newOrder.Email), firstVersion
		if err := insertOrder(ctx, q, stored, maxOpen); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
	if err != nil {
		return order.Order{}, false, err
	}
	return stored, added, nil
}

// CheckOpenOrderLimit returns TooManyOpen if AddOrder would.
func (db *DB) CheckOpenOrderLimit(ctx context.Context, newOrder order.Order, maxOpen int) error {
	_, err := checkOpenOrderLimit(ctx, db.read(), newOrder, maxOpen)
	return err
}

// checkOpenOrderLimit returns the id of the customer's open order with the same items, if
// there is one, and otherwise TooManyOpen if there are too many others.
func checkOpenOrderLimit(ctx context.Context, q *query.Queries, newOrder order.Order, maxOpen int) (same string, err error) {
	orders, err := q.CountOpenOrders(ctx, newOrder.ItemsKey, newOrder.Customer)
	if err == nil && orders.SameItems == "" && orders.Open >= int64(maxOpen) {
		err = tooManyOpen()
	}
	return orders.SameItems, err
}

func tooManyOpen() error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}
}

// insertOrder returns TooManyOpen if an agent would have more open orders than the limit.
func insertOrder(ctx context.Context, q *query.Queries, o order.Order, maxOpenOfAgent int) error {
	if err := rowOr(tooManyOpen())(q.InsertOrder(ctx, query.InsertOrderParams{
		ID: o.ID, CustomerID: o.Customer, EmailKey: o.Email, State: string(o.State), Channel: string(o.Channel),
		ByKind: string(o.By.Kind), ByID: o.By.Through, ByAddress: addressText(o.By.Address), ByName: o.ByName, ItemsKey: o.ItemsKey,
		Net: int64(o.Totals.Net), Vat: int64(o.Totals.VAT), Gross: int64(o.Totals.Gross), VatRate: int64(o.Totals.RateBasisPoints),
		VatRule: o.Totals.Rule, VatCountry: o.Totals.Country, VatID: o.Totals.VATID, VatUnchecked: boolToInt(o.Totals.Unchecked),
		PayLink: string(o.PayLink), PaySealed: o.SealedPayLink, VerifyLink: string(o.VerifyLink), VerifySealed: o.SealedVerifyLink,
		AutoRenew: boolToInt(o.AutoRenew), CreatedAt: micros(o.CreatedAt), UpdatedAt: micros(o.UpdatedAt),
		ExpiresAt: micros(o.ExpiresAt), PaidAt: micros(o.PaidAt), Version: o.Version, DueAt: micros(o.DueAt), Node: o.Node,
		Attempts: int64(o.Attempts), OpenOrder: boolToInt(o.State.Open()),
		AgentID: o.Agent, CompleterID: o.Completer, Contact: optionalJSON(contactJSON(o.Contact)), Claimed: boolToInt(o.Claimed), ClaimMailedAt: micros(o.ClaimMailedAt),
		Registrant: optionalJSON(o.Registrant), MaxOpenOfAgent: int64(maxOpenOfAgent),
	})); err != nil {
		return err
	}
	return insertItems(ctx, q, o)
}

func insertItems(ctx context.Context, q *query.Queries, o order.Order) error {
	for place, item := range o.Items {
		if err := q.InsertOrderItem(ctx, query.InsertOrderItemParams{
			ID: item.ID, OrderID: o.ID, Position: int64(place), Name: item.Name, Tld: item.TLD, Kind: string(item.Kind), Years: int64(item.Years),
			Net: int64(item.Net), Vat: int64(item.VAT), Gross: int64(item.Gross), Account: item.Account, ProvisionItemID: item.ProvisionItem,
			DomainID: item.Domain, CodeSealed: item.SealedCode, State: string(item.State), Failure: string(item.Failure),
			RenewalYears: int64(item.RenewalYears), RenewalGross: int64(item.RenewalGross), TermEnd: micros(item.TermEnd),
			HolderID: item.Holder, Registrant: optionalJSON(item.Registrant), PremiumFee: item.PremiumFee.String(), PremiumRenewal: int64(item.PremiumRenewal),
		}); err != nil {
			return err
		}
	}
	return nil
}

// UpdateOrder stores a transition of an order. Unchanged rows are not written.
func (db *DB) UpdateOrder(ctx context.Context, transition order.Transition) (bool, error) {
	if transition.At.IsZero() {
		transition.At = transition.To.UpdatedAt
	}
	items := transition.To.Items
	transition.To.Items = slices.Clone(items)
	for i, item := range items {
		transition.To.Items[i].SealedCode = db.reseal(registrar.AuthCodePurpose(item.Name), item.SealedCode)
	}
	transition.To.SealedVerifyLink = db.reseal(registrar.VerifyLinkPurpose(transition.To.ID), transition.To.SealedVerifyLink)
	updated, err := db.swap(ctx, func(q *query.Queries) error {
		// On PostgreSQL the order's row is the lock for all that is updated after it.
		for _, step := range []func(context.Context, *query.Queries, order.Transition) error{
			lockBuyerFor, checkRenewalCollisions, updateOrderRow, updatePayments, updateGuestBuyer, provisionOrderItems, updateItems,
			updateRenewalsOfOrder, recordUpdateEffects,
		} {
			if err := step(ctx, q, transition); err != nil {
				return err
			}
		}
		return nil
	})
	if updated {
		copy(items, transition.To.Items) // items without a provision item have failed
	}
	return updated, err
}

func updateOrderRow(ctx context.Context, q *query.Queries, transition order.Transition) error {
	now := transition.To
	return swapped(q.UpdateOrder(ctx, query.UpdateOrderParams{
		State: string(now.State), OpenOrder: boolToInt(now.State.Open()),
		CustomerID: now.Customer, EmailKey: emailKey(now.Email), ItemsKey: now.ItemsKey,
		Contact: optionalJSON(contactJSON(now.Contact)), Claimed: boolToInt(now.Claimed), ClaimMailedAt: micros(now.ClaimMailedAt), CompleterID: now.Completer,
		Registrant: optionalJSON(now.Registrant),
		Net:        int64(now.Totals.Net), Vat: int64(now.Totals.VAT), Gross: int64(now.Totals.Gross),
		VatRate: int64(now.Totals.RateBasisPoints), VatRule: now.Totals.Rule, VatCountry: now.Totals.Country,
		VatID: now.Totals.VATID, VatUnchecked: boolToInt(now.Totals.Unchecked),
		VerifyLink: string(now.VerifyLink), VerifySealed: now.SealedVerifyLink, AutoRenew: boolToInt(now.AutoRenew),
		ConsentAt: micros(now.Consent.At), ConsentWording: now.Consent.Wording,
		RenewalWording: now.Renewal.Wording, RenewalAt: micros(now.Renewal.At), RenewalSession: now.Renewal.Session, RenewalAddress: now.Renewal.Address,
		UpdatedAt: micros(now.UpdatedAt), ExpiresAt: micros(now.ExpiresAt), PaidAt: micros(now.PaidAt),
		DueAt: micros(now.DueAt), Node: now.Node, Attempts: int64(now.Attempts), RefundCount: int64(len(now.Refunds)),
		ID: now.ID, WasState: string(transition.From.State), WasVersion: transition.From.Version,
	}))
}

// lockBuyerFor locks the account that claims an order or starts to pay for it, before the
// order's row, as every transaction that locks both. The account can't be closed and its
// registrant can't change until the order is marked as being paid. If the buyer differs
// from the one who was quoted, the update fails.
func lockBuyerFor(ctx context.Context, q *query.Queries, transition order.Transition) error {
	if !transition.LocksBuyer() {
		return nil
	}
	if err := rowOr(noSuchCustomer())(q.LockBuyer(ctx, transition.To.Customer)); err != nil || transition.ExpectedBuyer == nil {
		return err
	}
	buyer, err := buyerOf(ctx, q, transition.To.Customer)
	if err == nil && buyer != *transition.ExpectedBuyer {
		err = errConflict
	}
	return err
}

// provisionOrderItems inserts a provision item for each order item that has an id for one.
// An item whose name is taken fails. If an item failed, the order is due at once.
func provisionOrderItems(ctx context.Context, q *query.Queries, transition order.Transition) error {
	if !transition.Provision {
		return nil
	}
	o, held := transition.To, false
	// Sorted, so that two orders for the same names lock them in the same order.
	places := make([]int, len(o.Items))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return strings.Compare(o.Items[a].Name, o.Items[b].Name) })
	for _, place := range places {
		item := &o.Items[place]
		if item.ProvisionItem == "" {
			continue
		}
		added, err := insertProvisionItem(ctx, q, provision.Item{
			ID: item.ProvisionItem, Customer: o.Customer, Name: item.Name, TLD: item.TLD, Kind: item.Kind, Years: item.Years,
			Payment: order.PaymentOf(o.ID), Account: item.Account, Domain: item.Domain, SealedCode: item.SealedCode,
			Registrant: item.RegistrantOr(o.Registrant), Holder: item.Holder, Automatic: o.Channel == order.ChannelRenewal,
			PremiumFee: item.PremiumFee, CreatedAt: o.UpdatedAt, DueAt: transition.At,
		})
		if err != nil {
			return err
		}
		item.MarkProvisioned(added > 0)
		held = held || added == 0
	}
	if !held {
		return nil
	}
	return q.SetOrderDue(ctx, o.ID, micros(transition.At))
}

func updateItems(ctx context.Context, q *query.Queries, transition order.Transition) error {
	now := transition.To
	if transition.ReplacesItems() {
		if !transition.MayReplaceItems() {
			return fmt.Errorf("store: update order %s: items can't be replaced", now.ID)
		}
		if err := q.DeleteOrderItems(ctx, now.ID); err != nil {
			return err
		}
		return insertItems(ctx, q, now)
	}
	for _, item := range now.Items {
		if slices.Contains(transition.From.Items, item) {
			continue
		}
		if err := rowOr(fmt.Errorf("store: update order %s: no item %s", now.ID, item.ID))(q.UpdateOrderItem(ctx, query.UpdateOrderItemParams{
			Years: int64(item.Years), Net: int64(item.Net), Vat: int64(item.VAT), Gross: int64(item.Gross), Account: item.Account,
			ProvisionItemID: item.ProvisionItem, DomainID: item.Domain, CodeSealed: item.SealedCode, State: string(item.State), Failure: string(item.Failure),
			RenewalYears: int64(item.RenewalYears), RenewalGross: int64(item.RenewalGross), TermEnd: micros(item.TermEnd), ID: item.ID, OrderID: now.ID,
			HolderID: item.Holder, Registrant: optionalJSON(item.Registrant), PremiumFee: item.PremiumFee.String(), PremiumRenewal: int64(item.PremiumRenewal),
			FailureMailedAt: micros(item.FailureMailedAt),
		})); err != nil {
			return err
		}
	}
	return nil
}

func recordUpdateEffects(ctx context.Context, q *query.Queries, transition order.Transition) error {
	if order.VisibleToAgent(transition.From, transition.To) {
		if err := q.EnqueueWebhookDelivery(ctx, micros(transition.At), transition.To.ID); err != nil {
			return err
		}
	}
	if err := insertPendingInvoices(ctx, q, transition); err != nil {
		return err
	}
	if err := recordRefundEffects(ctx, q, transition); err != nil {
		return err
	}
	if transition.Method != nil {
		if err := putPaymentMethod(ctx, q, transition.To.Customer, *transition.Method, transition.To.UpdatedAt); err != nil {
			return err
		}
	}
	for _, event := range transition.AuditEvents {
		if err := insertAuditEvent(ctx, q, event); err != nil {
			return err
		}
	}
	return queueMails(ctx, q, transition.Mails, transition.At)
}

// finishOrderItem stores the result of a provision item that has ended in its order item
// and makes the order due. The order's version changes, so that a concurrent update that
// read the item as unfinished does not postpone the order. It reports whether the order
// was paid with a consent to automatic renewal.
func finishOrderItem(ctx context.Context, q *query.Queries, transition provision.Transition) (renews, refunded bool, err error) {
	item := transition.To
	result, ok := order.ResultOf(item)
	if !ok {
		return false, false, nil
	}
	if err := q.FinishOrderItem(ctx, query.FinishOrderItemParams{
		State: string(result.State), Failure: string(result.Failure), PaidUntil: micros(transition.PaidUntil()), ProvisionItemID: item.ID,
	}); err != nil {
		return false, false, err
	}
	if result.State == order.ItemFailed && item.Kind.ForHeldDomain() {
		if err := q.FailPaidRenewal(ctx, query.FailPaidRenewalParams{
			Failure: string(result.Failure), Now: micros(item.UpdatedAt), DomainID: item.Domain, OrderID: result.Order,
		}); err != nil {
			return false, false, err
		}
	}
	made, err := q.MakeOrderDue(ctx, micros(transition.At), result.Order)
	if ok, err := found(err); !ok {
		return false, false, err
	}
	renews, refunded = result.State == order.ItemActive && made.RenewalWording != "", made.RefundCount > 0
	// Completing the order enqueues the delivery, too.
	if made.AgentID == "" && made.CompleterID == "" || made.CompletedNext != 0 {
		return renews, refunded, nil
	}
	// After the order, whose row is the lock: UpdateOrder locks the two in the same order.
	return renews, refunded, q.EnqueueWebhookDelivery(ctx, micros(transition.At), result.Order)
}

// OrderBacklog is the pending work on orders.
type OrderBacklog struct {
	// Due counts due orders and Refunds those that are not made yet, both up to 1000. The
	// oldest of each is zero if there is none.
	Due, Refunds            int
	OldestDue, OldestRefund time.Time
}

// CountOrderBacklog returns the pending work on orders.
func (db *DB) CountOrderBacklog(ctx context.Context, now time.Time) (OrderBacklog, error) {
	due, err := db.read().CountDueOrders(ctx, micros(now))
	if err != nil {
		return OrderBacklog{}, err
	}
	refunds, err := db.read().CountPendingRefunds(ctx)
	return OrderBacklog{
		Due: int(due.Waiting), OldestDue: fromMicros(due.Oldest), Refunds: int(refunds.Waiting), OldestRefund: fromMicros(refunds.Oldest),
	}, err
}
