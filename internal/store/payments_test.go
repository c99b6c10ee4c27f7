package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestSpent_MaximumOfAccountAddressAndCard(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		n := 0
		// pay adds a paid order of a customer with an address and a card.
		pay := func(customer, email, card string, items int, at time.Time) {
			t.Helper()
			n++
			var names []string
			for i := range items {
				names = append(names, fmt.Sprintf("n%d-%d.org", n, i))
			}
			o := testOrder(customer, names...)
			o.Email = email
			mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, o), toPaying(fmt.Sprint("pay_", n))), func(o *order.Order, m *order.Transition) {
				toPaid(o, m)
				o.PaidAt, o.Payments[0].UpdatedAt, o.Payments[0].Card = at, at, card
			})
		}
		spent := func(customer, email string) int {
			t.Helper()
			sum, err := db.SpentSince(ctx, customer, email, testTime)
			if err != nil || sum.Total()%1428 != 0 {
				t.Fatalf("got %d, %v", sum.Total(), err)
			}
			return int(sum.Total() / 1428)
		}
		anna, bert, carl := newCustomer(t, db, "anna"), newCustomer(t, db, "bert"), newCustomer(t, db, "carl")
		if got := spent(anna, "a@example.com"); got != 0 {
			t.Errorf("unpaid orders count %d", got)
		}
		pay(anna, "a@example.com", "red", 2, testTime)
		pay(anna, "a@example.com", "", 1, testTime.Add(-time.Second)) // before the window
		addOrder(t, db, testOrder(anna, "unpaid.org"))
		if got := spent(anna, "a@example.com"); got != 2 {
			t.Errorf("by account: %d, want 2", got)
		}
		pay(bert, "A@Example.com", "blue", 3, testTime)
		if got := spent(anna, "a@example.com"); got != 5 {
			t.Errorf("by an address of two accounts: %d, want 5", got)
		}
		if got := spent(anna, "other@example.com"); got != 2 {
			t.Errorf("by another address: %d, want 2", got)
		}
		pay(carl, "c@example.com", "red", 5, testTime)
		if got := spent(anna, "a@example.com"); got != 7 {
			t.Errorf("by a card of two accounts: %d, want 7", got)
		}
		if got := spent(bert, "b@example.com"); got != 3 {
			t.Errorf("with a card that the account never used: %d, want 3", got)
		}
		sales, err := db.SalesSince(ctx, "germany", testTime)
		if err != nil || sales != 10*1200 {
			t.Errorf("sales of %d, %v", sales, err)
		}
		if none, err := db.SalesSince(ctx, "oss", testTime); err != nil || none != 0 {
			t.Errorf("sales of %d, %v", none, err)
		}
	})
}

func TestSetIdentity_RequiresUnchangedIdentity(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		if _, asked, err := db.GetIdentity(ctx, anna); err != nil || asked {
			t.Errorf("asked %t, %v", asked, err)
		}
		open := order.Identity{Customer: anna, Session: "vs_1", URL: "https://verify.example/1", UpdatedAt: testTime}
		done := order.Identity{Customer: anna, Session: "vs_1", Name: "Anna Ahrens", VerifiedAt: testTime, UpdatedAt: testTime.Add(time.Second)}
		event := registrar.AuditEvent{Actor: personActor(anna), Action: "identity_verified", Customer: anna, At: testTime}
		set := func(was *order.Identity, now order.Identity, want bool) {
			t.Helper()
			if stored, err := db.UpdateIdentity(ctx, was, now, &event); err != nil || stored != want {
				t.Errorf("stored %t, %v", stored, err)
			}
		}
		set(nil, open, true)
		set(nil, done, false)   // a concurrent change was faster
		set(&done, done, false) // not the current state
		set(&open, done, true)
		set(&open, done, false)
		if got, asked, err := db.GetIdentity(ctx, anna); err != nil || !asked || got != done {
			t.Errorf("got %+v, %t, %v", got, asked, err)
		}
		if got := count(t, db, "SELECT count(*) FROM audit_events"); got != 2 {
			t.Errorf("%d audit events for 2 changes", got)
		}
		for session, want := range map[string]string{"vs_1": anna, "vs_2": "", "": "", "a\x00": ""} {
			if got, found, err := db.CustomerByVerification(ctx, session); err != nil || found != (want != "") || got != want {
				t.Errorf("%q belongs to %q, %t, %v", session, got, found, err)
			}
		}
	})
}

func TestListOrdersAwaitingIdentity_FindsOpenOrders(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		var want []string
		for i, customer := range []string{anna, anna, bert} {
			o := testOrder(customer, fmt.Sprint(i, ".org"))
			o.State = order.AwaitingVerification
			if addOrder(t, db, o); customer == anna {
				want = append(want, o.ID)
			}
		}
		addOrder(t, db, testOrder(anna, "no.org"))
		slices.Sort(want)
		got, err := db.ListOrdersAwaitingIdentity(t.Context(), anna)
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		// A verification that becomes necessary later has a link.
		page, _ := db.ListOrders(t.Context(), bert, "", 1)
		after := mustUpdateOrder(t, db, page[0], func(o *order.Order, _ *order.Transition) { o.VerifyLink, o.SealedVerifyLink = "late", "sealed" })
		if found, ok, err := db.OrderByVerifyLink(t.Context(), "late"); err != nil || !ok || found.ID != after.ID || found.SealedVerifyLink != "sealed" {
			t.Errorf("got %+v, %t, %v", found, ok, err)
		}
	})
}

func TestSetVATCheck_KeepsNewestResult(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		if _, _, known, err := db.VATCheck(ctx, "ATU1"); err != nil || known {
			t.Errorf("known %t, %v", known, err)
		}
		for _, check := range []struct {
			valid bool
			after time.Duration
		}{{true, 0}, {false, time.Hour}, {true, time.Minute}} { // the last response was slow
			if err := db.SetVATCheck(ctx, "ATU1", check.valid, testTime.Add(check.after)); err != nil {
				t.Fatal(err)
			}
		}
		if valid, at, known, err := db.VATCheck(ctx, "ATU1"); err != nil || !known || valid || !at.Equal(testTime.Add(time.Hour)) {
			t.Errorf("valid %t at %v, known %t, %v", valid, at, known, err)
		}
	})
}

// Everything written here must survive backup and restore.
func TestBackup_KeepsOrdersAndPayments(t *testing.T) {
	t.Parallel()
	eachMigrated(t, func(t *testing.T, place Options) {
		db := openAt(t, place)
		anna := newCustomer(t, db, "anna")
		o := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "a.org")), toPaying("pay_1")), func(o *order.Order, m *order.Transition) {
			toPaid(o, m)
			m.Method = &order.PaymentMethod{ProviderCustomer: "cus_1", ID: "pm_1", Label: "Visa"}
		})
		o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.Items[0].State = order.ItemFailed
			o.Refunds = []order.Refund{{ID: "rfd_1", Payment: "pay_1", Item: o.Items[0].ID, Amount: 1428, CreatedAt: testTime}}
		})
		if _, err := db.UpdateIdentity(t.Context(), nil, order.Identity{Customer: anna, Name: "Anna", UpdatedAt: testTime}, nil); err != nil {
			t.Fatal(err)
		}
		if err := db.SetVATCheck(t.Context(), "ATU1", true, testTime); err != nil {
			t.Fatal(err)
		}
		fresh := Options{Data: t.TempDir()}
		if _, err := Restore(t.Context(), fresh, strings.NewReader(string(backupOf(t, place)))); err != nil {
			t.Fatal(err)
		}
		restored := openAt(t, fresh)
		if got, want := sortedRows(dumpOf(t, restored)), sortedRows(dumpOf(t, db)); !slices.Equal(got, want) {
			t.Errorf("restored:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for _, table := range []string{"orders", "order_items", "payments", "refunds", "identities", "payment_methods", "vat_checks", "provision_items"} {
			if count(t, restored, "SELECT count(*) FROM "+table) != 1 {
				t.Errorf("%s does not have one row", table)
			}
		}
		if again := getOrder(t, restored, o.ID); again.Totals != o.Totals || len(again.Refunds) != 1 {
			t.Errorf("got %+v", again)
		}
	})
}

func TestSpent_IncludesPaymentsInProgress(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		spent := func(want registrar.Cents) {
			t.Helper()
			if got, err := db.SpentSince(ctx, anna, "anna@example.com", testTime); err != nil || got.Total() != want {
				t.Errorf("got %d, %v; want %d", got.Total(), err, want)
			}
		}
		first, second := addOrder(t, db, testOrder(anna, "a.org")), addOrder(t, db, testOrder(anna, "b.org", "c.org"))
		mustUpdateOrder(t, db, addOrder(t, db, testOrder(bert, "d.org")), toPaying("pay_bert"))
		spent(0)
		first, second = mustUpdateOrder(t, db, first, toPaying("pay_1")), mustUpdateOrder(t, db, second, toPaying("pay_2"))
		spent(3 * 1428)
		mustUpdateOrder(t, db, first, toPaid)
		spent(3 * 1428)
		mustUpdateOrder(t, db, second, func(o *order.Order, _ *order.Transition) {
			o.State, o.Payments[0].State = order.AwaitingPayment, order.PaymentClosed
		})
		spent(1428)
	})
}
