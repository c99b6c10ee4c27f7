package store

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// testOrder returns a new order: one item for each name, 12 EUR and VAT.
func testOrder(customer string, names ...string) order.Order {
	const net, vat = 1200, 228
	o := order.Order{
		ID: registrar.NewID(orderPrefix, testTime), Customer: customer, Email: "Anna@Example.com", State: order.AwaitingPayment, Channel: order.ChannelMCP,
		By: registrar.Actor{
			Kind: registrar.ActorToken, Customer: customer, Through: "tok_1", Address: netip.MustParseAddr("192.0.2.1"),
		},
		ByName: "Laptop", Claimed: true,
		Totals: order.Totals{RateBasisPoints: 1900, Rule: "germany", Country: "DE", VATID: "DE1", Unchecked: true},
		// Hashes and sealed texts are opaque here; they only have to differ.
		ItemsKey: fmt.Sprint(names), PayLink: registrar.SecretHash(registrar.NewID("pay", testTime)), SealedPayLink: "sealed-pay",
		CreatedAt: testTime, UpdatedAt: testTime, ExpiresAt: testTime.Add(24 * time.Hour), Version: 1, DueAt: testTime.Add(24 * time.Hour),
	}
	for _, name := range names {
		o.Items = append(o.Items, order.Item{
			ID: registrar.NewID("itm_", testTime), Name: name, TLD: ".org", Kind: order.Register, Years: 1, Net: net, VAT: vat, Gross: net + vat,
			Account: "sandbox", State: order.ItemWaiting,
		})
		o.Totals.Net += net
		o.Totals.VAT += vat
		o.Totals.Gross += net + vat
	}
	return o
}

func orderEvent(o order.Order) registrar.AuditEvent {
	return registrar.AuditEvent{Actor: o.By, Action: "order_created", Customer: o.Customer, Object: o.ID, At: testTime}
}

func addOrder(t *testing.T, db *DB, o order.Order) order.Order {
	t.Helper()
	stored, added, err := db.AddOrder(t.Context(), o, 1000, orderEvent(o))
	if err != nil || !added {
		t.Fatalf("added %t, %v", added, err)
	}
	return stored
}

func getOrder(t *testing.T, db *DB, id string) order.Order {
	t.Helper()
	o, found, err := db.OrderByID(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("found %t, %v", found, err)
	}
	return o
}

// mustUpdateOrder applies a transition and fails the test on a conflict.
func mustUpdateOrder(t *testing.T, db *DB, was order.Order, change func(*order.Order, *order.Transition)) order.Order {
	t.Helper()
	ok, err := updateOrder(t, db, was, change)
	if err != nil || !ok {
		t.Fatalf("moved %t, %v", ok, err)
	}
	return getOrder(t, db, was.ID)
}

func updateOrder(t *testing.T, db *DB, was order.Order, change func(*order.Order, *order.Transition)) (bool, error) {
	t.Helper()
	next := was
	next.Items = append([]order.Item(nil), was.Items...)
	next.Payments = append([]order.Payment(nil), was.Payments...)
	next.Refunds = append([]order.Refund(nil), was.Refunds...)
	transition := order.Transition{From: was}
	change(&next, &transition)
	transition.To = next
	return db.UpdateOrder(t.Context(), transition)
}

// newPayment returns a payment whose page is open.
func newPayment(o order.Order, id string) order.Payment {
	return order.Payment{
		ID: id, Kind: order.ByPage, State: order.PaymentOpen, Amount: o.Totals.Gross, Session: "cs_" + id, URL: "https://pay.example/" + id,
		CreatedAt: testTime, EndsAt: testTime.Add(time.Hour), UpdatedAt: testTime,
	}
}

func toPaying(id string) func(*order.Order, *order.Transition) {
	return func(o *order.Order, _ *order.Transition) {
		o.State = order.Paying
		o.Payments = append(o.Payments, newPayment(*o, id))
	}
}

// toPaid captures the last payment and creates the provision items.
func toPaid(o *order.Order, m *order.Transition) {
	o.State, o.PaidAt, o.DueAt, m.Provision = order.Provisioning, testTime, time.Time{}, true
	if len(o.Payments) > 0 {
		payment := &o.Payments[len(o.Payments)-1]
		payment.State, payment.Intent, payment.Card = order.PaymentCaptured, "pi_"+payment.ID, "card"
	}
	for i := range o.Items {
		o.Items[i].ProvisionItem, o.Items[i].State = "prv_"+o.Items[i].ID, order.ItemProvisioning
	}
}

func TestAddOrder_RoundTrip(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		want := testOrder(anna, "b.org", "a.org")
		want.VerifyLink, want.SealedVerifyLink, want.AutoRenew = "hash", "sealed-verify", true
		want.Items[1].SealedCode, want.Items[1].Kind = "sealed-code", order.Transfer
		stored := addOrder(t, db, want)
		want.Email = "anna@example.com" // normalised for comparison
		if !reflect.DeepEqual(stored, want) {
			t.Errorf("returned:\n%+v\nwant\n%+v", stored, want)
		}
		if got := getOrder(t, db, want.ID); !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v\nwant\n%+v", got, want)
		}
		open := mustUpdateOrder(t, db, want, toPaying("pay_1"))
		if len(open.Payments) != 1 || open.Payments[0] != newPayment(want, "pay_1") || open.Version != 2 {
			t.Errorf("got %+v", open)
		}
		done := mustUpdateOrder(t, db, open, toPaid)
		refund := order.Refund{ID: "rfd_1", Payment: "pay_1", Item: done.Items[0].ID, Amount: 1428, CreatedAt: testTime}
		want = mustUpdateOrder(t, db, done, func(o *order.Order, _ *order.Transition) {
			o.Items[0].State, o.Refunds = order.ItemFailed, append(o.Refunds, refund)
		})
		if len(want.Refunds) != 1 || !want.Refunds[0].Equal(refund) {
			t.Errorf("got %+v", want.Refunds)
		}
		for name, find := range map[string]func() (order.Order, bool, error){
			"pay link":    func() (order.Order, bool, error) { return db.OrderByPayLink(ctx, want.PayLink) },
			"verify link": func() (order.Order, bool, error) { return db.OrderByVerifyLink(ctx, want.VerifyLink) },
			"session":     func() (order.Order, bool, error) { return db.OrderBySession(ctx, "cs_pay_1") },
			"intent":      func() (order.Order, bool, error) { return db.OrderByIntent(ctx, "pi_pay_1") },
			"customer":    func() (order.Order, bool, error) { return db.GetCustomerOrder(ctx, anna, want.ID) },
			"page": func() (order.Order, bool, error) {
				page, err := db.ListOrders(ctx, anna, "", 5)
				return page[0], len(page) == 1, err
			},
			"books": func() (order.Order, bool, error) {
				page, err := db.ListOrdersAfter(ctx, "", 5)
				return page[0], len(page) == 1, err
			},
		} {
			if got, found, err := find(); err != nil || !found || !reflect.DeepEqual(got, want) {
				t.Errorf("by %s: %t, %v\n%+v\nwant\n%+v", name, found, err, got, want)
			}
		}
	})
}

func TestGetOrder_UnknownKeysFindNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		mine := addOrder(t, db, testOrder(anna, "a.org"))
		// An empty link, session or intent finds nothing, though rows have empty ones.
		mustUpdateOrder(t, db, mine, func(o *order.Order, _ *order.Transition) {
			o.State = order.Paying
			o.Payments = []order.Payment{{ID: "pay_1", State: order.PaymentOpening, CreatedAt: testTime, UpdatedAt: testTime, EndsAt: testTime}}
		})
		for name, find := range map[string]func(string) (order.Order, bool, error){
			"id":          func(x string) (order.Order, bool, error) { return db.OrderByID(ctx, x) },
			"another's":   func(string) (order.Order, bool, error) { return db.GetCustomerOrder(ctx, bert, mine.ID) },
			"pay link":    func(x string) (order.Order, bool, error) { return db.OrderByPayLink(ctx, registrar.SecretHash(x)) },
			"verify link": func(x string) (order.Order, bool, error) { return db.OrderByVerifyLink(ctx, registrar.SecretHash(x)) },
			"session":     func(x string) (order.Order, bool, error) { return db.OrderBySession(ctx, x) },
			"intent":      func(x string) (order.Order, bool, error) { return db.OrderByIntent(ctx, x) },
		} {
			for _, text := range []string{"", "ord_nothing", "a\x00b", "\xff"} {
				if got, found, err := find(text); err != nil || found {
					t.Errorf("by %s %q: %+v, %v", name, text, got, err)
				}
			}
		}
	})
}

func TestAddOrder_RacingCallersSameItemsOneOrder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		var added atomic.Int64
		var ids sync.Map
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				o := testOrder(anna, "a.org")
				stored, ok, err := db.AddOrder(t.Context(), o, 20, orderEvent(o))
				if err != nil {
					t.Error(err)
					return
				}
				if ok {
					added.Add(1)
				}
				if len(stored.Items) != 1 || stored.Items[0].Name != "a.org" {
					t.Errorf("got %+v", stored)
				}
				ids.Store(stored.ID, true)
			})
		}
		all.Wait()
		different := 0
		ids.Range(func(any, any) bool { different++; return true })
		if added.Load() != 1 || different != 1 || count(t, db, "SELECT count(*) FROM orders") != 1 || count(t, db, "SELECT count(*) FROM audit_events") != 1 {
			t.Errorf("%d added, %d conflicts", added.Load(), different)
		}
	})
}

func TestAddOrder_RacingCallersStayWithinLimit(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		var added, refused atomic.Int64
		var all sync.WaitGroup
		for i := range 30 {
			all.Go(func() {
				o := testOrder(anna, fmt.Sprintf("n%d.org", i))
				_, ok, err := db.AddOrder(t.Context(), o, 5, orderEvent(o))
				switch {
				case registrar.CodeOf(err) == order.TooManyOpen:
					refused.Add(1)
				case err != nil:
					t.Error(err)
				case ok:
					added.Add(1)
				}
			})
		}
		all.Wait()
		if added.Load() != 5 || refused.Load() != 25 || count(t, db, "SELECT count(*) FROM orders") != 5 {
			t.Errorf("%d added, %d refused", added.Load(), refused.Load())
		}
		// A final order does not count.
		page, err := db.ListOrders(t.Context(), anna, "", 1)
		if err != nil {
			t.Fatal(err)
		}
		mustUpdateOrder(t, db, page[0], func(o *order.Order, _ *order.Transition) { o.State = order.Canceled })
		o := testOrder(anna, "room.org")
		if _, ok, err := db.AddOrder(t.Context(), o, 5, orderEvent(o)); err != nil || !ok {
			t.Errorf("added %t, %v", ok, err)
		}
	})
}

func TestAddOrder_RequiresOpenConfirmedAccount(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		gone, new := newCustomer(t, db, "gone"), newCustomer(t, db, "new")
		execStatement(t, db, "UPDATE customers SET disabled_at = 5 WHERE id = $1", gone)
		execStatement(t, db, "UPDATE customers SET confirmed_at = 0 WHERE id = $1", new)
		for _, id := range []string{gone, new, "cus_nobody"} {
			o := testOrder(id, "a.org")
			if _, _, err := db.AddOrder(ctx, o, 5, orderEvent(o)); registrar.CodeOf(err) != registrar.NoSuchCustomer {
				t.Errorf("%s can order: %v", id, err)
			}
			if _, err := db.GetBuyer(ctx, id); registrar.CodeOf(err) != registrar.NoSuchCustomer {
				t.Errorf("%s is a buyer: %v", id, err)
			}
		}
		if count(t, db, "SELECT count(*) FROM customers WHERE disabled_at = 5") != 1 {
			t.Error("ordering opened a closed account")
		}
	})
}

func TestGetBuyer_JoinsRegistrantAndPaymentMethod(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		want := order.Buyer{Customer: anna, Email: "anna@example.com", Language: "de"}
		check := func() {
			t.Helper()
			if got, err := db.GetBuyer(ctx, anna); err != nil || got != want {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		}
		check()
		execStatement(t, db, `INSERT INTO registrants (customer_id, kind, name, organisation, street, postal_code, city, state, country, phone, vat_id, updated_at)
			VALUES ($1, 'company', 'Anna Ahrens', 'Ahrens GmbH', 'Weg 1', '10115', 'Berlin', '', 'DE', '+49.30', 'DE1', 1)`, anna)
		want.HasRegistrant, want.Company, want.Name, want.Organisation = true, true, "Anna Ahrens", "Ahrens GmbH"
		want.Street, want.PostalCode, want.City, want.Country, want.VATID = "Weg 1", "10115", "Berlin", "DE", "DE1"
		want.Phone = "+49.30"
		check()
		keep := func(method order.PaymentMethod) {
			t.Helper()
			if err := db.PutPaymentMethod(ctx, anna, method, testTime); err != nil {
				t.Fatal(err)
			}
			check()
		}
		want.ProviderCustomer = "cus_1"
		keep(order.PaymentMethod{ProviderCustomer: "cus_1"})
		if _, kept, err := db.GetPaymentMethod(ctx, anna); err != nil || kept {
			t.Errorf("saved %t, %v", kept, err)
		}
		want.MethodID, want.MethodLabel = "pm_1", "Visa •••• 4242"
		keep(order.PaymentMethod{ProviderCustomer: "cus_1", ID: "pm_1", Label: "Visa •••• 4242"})
		keep(order.PaymentMethod{ProviderCustomer: "cus_1"}) // a payment that saves no method keeps the stored one
		if got, kept, err := db.GetPaymentMethod(ctx, anna); err != nil || !kept || got.ID != "pm_1" {
			t.Errorf("got %+v, %t, %v", got, kept, err)
		}
		want.ProviderCustomer, want.MethodID, want.MethodLabel = "cus_2", "", ""
		keep(order.PaymentMethod{ProviderCustomer: "cus_2"})
	})
}

func TestListOrders_Pages(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		for i := range 5 {
			at := testTime.Add(time.Duration(i) * time.Second)
			for _, customer := range []string{anna, bert} {
				o := testOrder(customer, fmt.Sprintf("%d.org", i))
				o.ID, o.DueAt = registrar.NewID(orderPrefix, at), testTime.Add(-time.Duration(i)*time.Second)
				addOrder(t, db, o)
			}
		}
		names := func(page []order.Order, err error) (text, last string) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range page {
				text += o.Items[0].Name[:1]
				last = o.ID
			}
			return text, last
		}
		first, last := names(db.ListOrders(ctx, anna, "", 2))
		second, last := names(db.ListOrders(ctx, anna, last, 2))
		third, last := names(db.ListOrders(ctx, anna, last, 2))
		none, _ := names(db.ListOrders(ctx, anna, last, 2))
		if first != "43" || second != "21" || third != "0" || none != "" {
			t.Errorf("the customer's pages: %q %q %q %q", first, second, third, none)
		}
		some, last := names(db.ListOrdersAfter(ctx, "", 7))
		rest, last := names(db.ListOrdersAfter(ctx, last, 7))
		none, _ = names(db.ListOrdersAfter(ctx, last, 7))
		if some+rest != "0011223344" || none != "" {
			t.Errorf("all customers' pages: %q %q %q", some, rest, none)
		}
		if due, _ := names(db.ListDueOrders(ctx, testTime.Add(-2*time.Second), 5)); due != "44332" {
			t.Errorf("due: %q", due)
		}
	})
}

// The clock of the sandbox jumps, and due_at is real time.
func TestMakeOverdueOrdersDue_UnpaidOrdersWhoseHoldIsOver(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		clock := testTime.Add(time.Minute)
		now := testTime.AddDate(0, 0, 14)
		for i, test := range []struct {
			state   order.State
			expires time.Time
			due     bool
		}{
			{order.AwaitingPayment, testTime.AddDate(0, 0, 1), true},
			{order.AwaitingVerification, testTime.AddDate(0, 0, 1), true},
			{order.AwaitingPayment, now.Add(time.Hour), false},
			{order.Paying, testTime.AddDate(0, 0, 1), false},
		} {
			o := testOrder(anna, fmt.Sprintf("%d.org", i))
			o.ID, o.State, o.ExpiresAt, o.DueAt = registrar.NewID(orderPrefix, testTime.Add(time.Duration(i)*time.Second)), test.state, test.expires, testTime.AddDate(0, 0, 1)
			addOrder(t, db, o)
			if err := db.MakeOverdueOrdersDue(ctx, now, clock); err != nil {
				t.Fatal(err)
			}
			due, err := db.ListDueOrders(ctx, clock, 10)
			if err != nil || slices.ContainsFunc(due, func(d order.Order) bool { return d.ID == o.ID }) != test.due {
				t.Errorf("%s until %v: due %v, %v", test.state, test.expires, due, err)
			}
		}
	})
}

func TestPageOfOrders_ByStateWithTotal(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		for i := range 5 {
			at := testTime.Add(time.Duration(i) * time.Second)
			for _, customer := range []string{anna, bert} {
				o := testOrder(customer, fmt.Sprintf("%d.org", i))
				o.ID, o.ExpiresAt = registrar.NewID(orderPrefix, at), at
				if i%2 == 1 {
					o.State = order.Canceled
				}
				addOrder(t, db, o)
			}
		}
		for _, test := range []struct {
			state         order.State
			limit, offset int
			want          string
			total         int
		}{
			{"", 10, 0, "43210", 5},
			{"", 2, 1, "32", 5},
			{"", 2, 5, "", 5},
			{"", 2, 1 << 30, "", 5},
			{order.Canceled, 10, 0, "31", 2},
			{order.AwaitingPayment, 2, 1, "20", 3},
			{order.Failed, 10, 0, "", 0},
		} {
			page, total, err := db.PageOrders(ctx, anna, test.state, test.limit, test.offset)
			var got string
			for _, o := range page {
				got += o.Items[0].Name[:1]
			}
			if err != nil || got != test.want || total != test.total {
				t.Errorf("%q %d+%d: %q of %d, %v", test.state, test.offset, test.limit, got, total, err)
			}
		}
		overdue, err := db.ListOverdueOrders(ctx, anna, testTime.Add(2*time.Second), 10)
		if err != nil || len(overdue) != 2 || overdue[0].Items[0].Name != "0.org" || overdue[1].Items[0].Name != "2.org" {
			t.Errorf("overdue: %v, %v", overdue, err)
		}
	})
}
