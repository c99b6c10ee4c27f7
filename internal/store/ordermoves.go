package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// firstVersion is that of an order to which nothing has happened.
const firstVersion = 1

// errMoved rolls back a change whose order is not what it was.
var errMoved = errors.New("the order is not what it was")

// AddOrder stores an order, or finds the open one with the same items.
func (db *DB) AddOrder(ctx context.Context, wanted order.Order, most int, deed registrar.Deed) (stored order.Order, added bool, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		held, err := q.HoldBuyer(ctx, wanted.Customer)
		if err != nil {
			return err
		}
		if held == 0 {
			return &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchCustomer}
		}
		row, err := q.OpenOrderOf(ctx, query.OpenOrderOfParams{CustomerID: wanted.Customer, ItemsKey: wanted.ItemsKey})
		if err == nil {
			stored, err = wholeOrder(ctx, q, row)
			return err
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := checkRoom(ctx, q, wanted.Customer, most); err != nil {
			return err
		}
		stored, added = wanted, true
		stored.Email, stored.Version = emailKey(wanted.Email), firstVersion
		if err := insertOrder(ctx, q, stored); err != nil {
			return err
		}
		return recordDeed(ctx, q, deed)
	})
	if err != nil {
		return order.Order{}, false, err
	}
	return stored, added, nil
}

// CheckOpen returns TooManyOpen if AddOrder would.
func (db *DB) CheckOpen(ctx context.Context, wanted order.Order, most int) error {
	q := db.read()
	_, err := q.OpenOrderOf(ctx, query.OpenOrderOfParams{CustomerID: wanted.Customer, ItemsKey: wanted.ItemsKey})
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return checkRoom(ctx, q, wanted.Customer, most)
}

// checkRoom returns TooManyOpen if a customer has most open orders.
func checkRoom(ctx context.Context, q *query.Queries, customer string, most int) error {
	open, err := q.CountOpenOrders(ctx, customer)
	if err == nil && open >= int64(most) {
		err = &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}
	}
	return err
}

func insertOrder(ctx context.Context, q *query.Queries, o order.Order) error {
	if err := q.InsertOrder(ctx, query.InsertOrderParams{
		ID: o.ID, CustomerID: o.Customer, EmailKey: o.Email, State: string(o.State), Channel: string(o.Channel),
		ByKind: string(o.By.Kind), ByID: o.By.Through, ByAddress: addressText(o.By.Address), ByName: o.ByName, ItemsKey: o.ItemsKey,
		Net: int64(o.Totals.Net), Vat: int64(o.Totals.VAT), Gross: int64(o.Totals.Gross), VatRate: int64(o.Totals.RateBasisPoints),
		VatRule: o.Totals.Rule, VatCountry: o.Totals.Country, VatID: o.Totals.VATID, VatUnchecked: number(o.Totals.Unchecked),
		PayLink: string(o.PayLink), PaySealed: o.SealedPayLink, VerifyLink: string(o.VerifyLink), VerifySealed: o.SealedVerifyLink,
		AutoRenew: number(o.AutoRenew), CreatedAt: micros(o.CreatedAt), UpdatedAt: micros(o.UpdatedAt),
		ExpiresAt: micros(o.ExpiresAt), PaidAt: micros(o.PaidAt), Version: o.Version, DueAt: micros(o.DueAt), Node: o.Node,
		Attempts: int64(o.Attempts), OpenOrder: number(o.State.Open()),
		AgentID: o.Agent, CompleterID: o.Completer, Contact: contactText(o.Contact), Claimed: number(o.Claimed), ClaimAskedAt: micros(o.ClaimAskedAt),
		Registrant: holderText(o.Registrant),
	}); err != nil {
		return err
	}
	return insertItems(ctx, q, o)
}

func insertItems(ctx context.Context, q *query.Queries, o order.Order) error {
	for place, item := range o.Items {
		if err := q.InsertItem(ctx, query.InsertItemParams{
			ID: item.ID, OrderID: o.ID, Place: int64(place), Name: item.Name, Tld: item.TLD, Kind: string(item.Kind), Years: int64(item.Years),
			Net: int64(item.Net), Vat: int64(item.VAT), Gross: int64(item.Gross), Account: item.Account, LineID: item.Line,
			DomainID: item.Domain, CodeSealed: item.SealedCode, State: string(item.State), Failure: string(item.Failure),
		}); err != nil {
			return err
		}
	}
	return nil
}

// MoveOrder makes one change of an order. Rows that stay as they were are not
// written.
func (db *DB) MoveOrder(ctx context.Context, move order.Move) (bool, error) {
	if move.At.IsZero() {
		move.At = move.Order.UpdatedAt
	}
	now := move.Order
	now.Items = slices.Clone(now.Items)
	for i, item := range now.Items {
		now.Items[i].SealedCode = db.resealed(registrar.CodePurpose(item.Name), item.SealedCode)
	}
	err := db.write(ctx, func(q *query.Queries) error {
		if err := holdBuyerFor(ctx, q, move); err != nil {
			return err
		}
		// The order comes next: on PostgreSQL its row is the lock for all the rest.
		moved, err := q.MoveOrder(ctx, query.MoveOrderParams{
			State: string(now.State), OpenOrder: number(now.State.Open()),
			CustomerID: now.Customer, EmailKey: emailKey(now.Email), ItemsKey: now.ItemsKey,
			Contact: contactText(now.Contact), Claimed: number(now.Claimed), ClaimAskedAt: micros(now.ClaimAskedAt), CompleterID: now.Completer,
			Registrant: holderText(now.Registrant),
			Net:        int64(now.Totals.Net), Vat: int64(now.Totals.VAT), Gross: int64(now.Totals.Gross),
			VatRate: int64(now.Totals.RateBasisPoints), VatRule: now.Totals.Rule, VatCountry: now.Totals.Country,
			VatID: now.Totals.VATID, VatUnchecked: number(now.Totals.Unchecked),
			VerifyLink: string(now.VerifyLink), VerifySealed: db.resealed(registrar.VerifyLinkPurpose(now.ID), now.SealedVerifyLink), AutoRenew: number(now.AutoRenew),
			ConsentAt: micros(now.Consent.At), ConsentWording: now.Consent.Wording,
			UpdatedAt: micros(now.UpdatedAt), ExpiresAt: micros(now.ExpiresAt), PaidAt: micros(now.PaidAt),
			DueAt: micros(now.DueAt), Node: now.Node, Attempts: int64(now.Attempts),
			ID: now.ID, WasState: string(move.Was.State), WasVersion: move.Was.Version,
		})
		if err != nil {
			return err
		}
		if moved == 0 {
			return errMoved
		}
		if err := movePayments(ctx, q, move); err != nil {
			return err
		}
		if err := moveBuyer(ctx, q, move); err != nil {
			return err
		}
		if move.Lines {
			if err := addItemLines(ctx, q, now, move.At); err != nil {
				return err
			}
		}
		if err := moveItems(ctx, q, move.Was, now); err != nil {
			return err
		}
		if err := tellMove(ctx, q, move.Was, now, move.At); err != nil {
			return err
		}
		return moveRest(ctx, q, move)
	})
	if errors.Is(err, errMoved) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	copy(move.Order.Items, now.Items) // the items that got no line come back as failed
	return true, nil
}

// holdBuyerFor locks the account that claims an order or begins to pay for it. It does so
// before the order's row is locked, as every transaction that locks both. Then the account
// is not closed and its registrant not changed before the order says that it is being
// paid; and if the buyer is no longer the one who was quoted, nothing changes.
func holdBuyerFor(ctx context.Context, q *query.Queries, move order.Move) error {
	was, now := move.Was, move.Order
	waited := was.State == order.AwaitingPayment || was.State == order.AwaitingVerification
	begins := waited && (now.State == order.Paying || now.State == order.Provisioning)
	if !now.Claimed || was.Claimed && !begins {
		return nil
	}
	held, err := q.HoldBuyer(ctx, now.Customer)
	if err != nil {
		return err
	}
	if held == 0 {
		return &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchCustomer}
	}
	if move.For == nil {
		return nil
	}
	buyer, err := buyerOf(ctx, q, now.Customer)
	if err == nil && buyer != *move.For {
		err = errMoved
	}
	return err
}

// addItemLines writes a paid line for each item that has an id for one. An item
// whose name can't be had any more fails. If none gets a line, nobody will wake
// the order, so it is due at once.
func addItemLines(ctx context.Context, q *query.Queries, o order.Order, at time.Time) error {
	held := false
	// Two orders for the same names take them in the same order: otherwise each
	// could wait for a name that the other has.
	places := make([]int, len(o.Items))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return strings.Compare(o.Items[a].Name, o.Items[b].Name) })
	for _, place := range places {
		item := &o.Items[place]
		if item.Line == "" {
			continue
		}
		added, err := addItemLine(ctx, q, o, *item, at)
		if err != nil {
			return err
		}
		item.State = order.ItemProvisioning
		if added == 0 {
			item.Line, item.State, item.Failure, held = "", order.ItemFailed, order.NameHeld, true
		}
	}
	if !held {
		return nil
	}
	return q.WakeOrder(ctx, query.WakeOrderParams{ID: o.ID, DueAt: micros(at)})
}

func addItemLine(ctx context.Context, q *query.Queries, o order.Order, item order.Item, at time.Time) (int64, error) {
	if item.Kind == order.Renew {
		return q.InsertRenewalLine(ctx, query.InsertRenewalLineParams{
			ID: item.Line, Kind: string(item.Kind), Years: int64(item.Years), Payment: order.PaymentOf(o.ID), Account: item.Account,
			Now: micros(at), DomainID: item.Domain, CustomerID: o.Customer,
		})
	}
	return q.InsertItemLine(ctx, query.InsertItemLineParams{
		ID: item.Line, CustomerID: o.Customer, Name: item.Name, Tld: item.TLD, Kind: string(item.Kind), Years: int64(item.Years),
		Payment: order.PaymentOf(o.ID), Account: item.Account, CodeSealed: item.SealedCode, Registrant: holderText(o.Registrant), Now: micros(at),
	})
}

func moveItems(ctx context.Context, q *query.Queries, was, now order.Order) error {
	if !slices.EqualFunc(was.Items, now.Items, func(a, b order.Item) bool { return a.ID == b.ID }) {
		if !was.State.Open() || now.Agent == "" {
			return fmt.Errorf("order %s can't get other items", now.ID)
		}
		if err := q.DeleteItems(ctx, now.ID); err != nil {
			return err
		}
		return insertItems(ctx, q, now)
	}
	for _, item := range now.Items {
		if slices.Contains(was.Items, item) {
			continue
		}
		changed, err := q.ChangeItem(ctx, query.ChangeItemParams{
			Years: int64(item.Years), Net: int64(item.Net), Vat: int64(item.VAT), Gross: int64(item.Gross), Account: item.Account,
			LineID: item.Line, DomainID: item.Domain, CodeSealed: item.SealedCode, State: string(item.State), Failure: string(item.Failure),
			ID: item.ID, OrderID: now.ID,
		})
		if err != nil {
			return err
		}
		if changed == 0 {
			return fmt.Errorf("the item %s is not one of order %s", item.ID, now.ID)
		}
	}
	return nil
}

// moveRest writes what goes with a change: what papers are owed, the means of
// payment, the audit, mails.
func moveRest(ctx context.Context, q *query.Queries, move order.Move) error {
	if err := oweInvoices(ctx, q, move); err != nil {
		return err
	}
	if move.Method != nil {
		if err := putMethod(ctx, q, move.Order.Customer, *move.Method, move.Order.UpdatedAt); err != nil {
			return err
		}
	}
	for _, deed := range move.Deeds {
		if err := recordDeed(ctx, q, deed); err != nil {
			return err
		}
	}
	for _, letter := range move.Letters {
		if err := recordLetter(ctx, q, letter, move.At); err != nil {
			return err
		}
	}
	return nil
}

// endItem notes on an order's item that its line has come to its end, and makes
// the order due. The order's version changes, so that somebody who read the item
// as under way does not put the order to sleep.
func endItem(ctx context.Context, q *query.Queries, line provision.Line) error {
	id, ordered := strings.CutPrefix(line.Payment, order.PaymentOf(""))
	if !ordered || !line.State.Final() {
		return nil
	}
	state := order.ItemActive
	if line.State == provision.StateFailed {
		state = order.ItemFailed
	}
	if err := q.EndItem(ctx, query.EndItemParams{State: string(state), Failure: string(line.Failure), LineID: line.ID}); err != nil {
		return err
	}
	if state == order.ItemActive {
		if err := q.KeepRenewing(ctx, query.KeepRenewingParams{DomainID: line.Domain, OrderID: id}); err != nil {
			return err
		}
	}
	if err := q.HurryOrder(ctx, query.HurryOrderParams{ID: id, Now: micros(line.UpdatedAt)}); err != nil {
		return err
	}
	// After the order, whose row is the lock: MoveOrder takes the two in the same order.
	return q.TellAgent(ctx, query.TellAgentParams{OrderID: id, Now: micros(line.UpdatedAt)})
}

// Backlog is what waits to be done about orders.
type Backlog struct {
	// Due are orders whose time has come, Refunds those that are not made yet; both
	// are counted to a thousand. The oldest of each is zero if there is none.
	Due, Refunds            int
	OldestDue, OldestRefund time.Time
}

// OrderBacklog counts what waits.
func (db *DB) OrderBacklog(ctx context.Context, now time.Time) (Backlog, error) {
	due, err := db.read().OrdersDue(ctx, micros(now))
	if err != nil {
		return Backlog{}, err
	}
	refunds, err := db.read().RefundsDue(ctx)
	return Backlog{
		Due: int(due.Waiting), OldestDue: fromMicros(due.Oldest), Refunds: int(refunds.Waiting), OldestRefund: fromMicros(refunds.Oldest),
	}, err
}
