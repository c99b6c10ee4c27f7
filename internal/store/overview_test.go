package store

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/overview"
)

func TestOverviewFacts_OnlyTheAccountsOwn(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		day := 24 * time.Hour
		soon := addDomain(t, db, anna, "soon", registrar.DomainActive, testTime.Add(10*day))
		addDomain(t, db, anna, "later", registrar.DomainActive, testTime.Add(300*day))
		addDomain(t, db, anna, "latest", registrar.DomainActive, testTime.Add(400*day))
		addDomain(t, db, anna, "gone", registrar.DomainTransferredOut, testTime.Add(10*day))
		addDomain(t, db, bert, "other", registrar.DomainActive, testTime.Add(10*day))
		change := newOpenChange(anna, soon.ID)
		if err := db.AddDomainChange(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		unpaid := addOrder(t, db, testOrder(anna, "a.org", "b.org"))
		paid := addPaidOrder(t, db, anna, "paid.org")
		refunded := refundFirstItem(t, db, addPaidOrder(t, db, anna, "refunded.org"), "ref_1")
		addPaidOrder(t, db, bert, "berts.org")
		execStatement(t, db, `INSERT INTO links (hash, kind, customer_id, email, expires_at) VALUES ('h', 'change_email', $1, 'new@example.org', $2)`, anna, micros(testTime.Add(day)))

		bounds := overview.Bounds{Clock: testTime, PaidBefore: testTime.Add(60 * day), SpentSince: testTime.Add(-day)}
		for i := range bounds.Months {
			bounds.Months[i] = time.Date(2026, time.November+time.Month(i), 1, 0, 0, 0, 0, time.UTC)
		}
		bounds.Limit = 50
		facts, err := db.OverviewFacts(t.Context(), anna, bounds)
		if err != nil {
			t.Fatal(err)
		}
		if facts.HasRegistrant || facts.NewEmail != "new@example.org" || !facts.NewEmailUntil.Equal(testTime.Add(day)) {
			t.Errorf("account: %+v", facts)
		}
		orders := make(map[string]overview.Order)
		for _, o := range facts.Orders {
			orders[o.ID] = o
		}
		if open := orders[unpaid.ID]; len(orders) != 3 || open.Items != 2 || open.Name != "a.org" || open.ByName != "Laptop" ||
			orders[paid.ID].State != order.Provisioning || orders[refunded.ID].State != order.Provisioning {
			t.Errorf("orders: %+v", facts.Orders)
		}
		if len(facts.Changes) != 1 || facts.Changes[0].Domain != soon.ID || facts.Changes[0].Kind != string(change.Kind) {
			t.Errorf("changes: %+v", facts.Changes)
		}
		if len(facts.Expiring) != 1 || facts.Expiring[0].Name != "soon.org" || facts.ExpiringCount != 1 {
			t.Errorf("expiring: %+v of %d", facts.Expiring, facts.ExpiringCount)
		}
		if facts.Months != [12]int{0: 1, 10: 1} || facts.Later != 1 {
			t.Errorf("months: %v, later %d", facts.Months, facts.Later)
		}
		if len(facts.Spent) != 1 || facts.Spent[0].Spent != paid.Totals.Gross {
			t.Errorf("spent: %+v, want %d", facts.Spent, paid.Totals.Gross)
		}
		bounds.Limit = 1
		addDomain(t, db, anna, "soon-too", registrar.DomainExpired, testTime.Add(-day))
		if facts, err = db.OverviewFacts(t.Context(), anna, bounds); err != nil || len(facts.Expiring) != 1 || facts.Expiring[0].Name != "soon-too.org" || facts.ExpiringCount != 2 {
			t.Errorf("beyond the limit: %+v of %d, %v", facts.Expiring, facts.ExpiringCount, err)
		}
	})
}
