package store

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// requestedItem adds an item whose command may have been sent.
func requestedItem(t *testing.T, db *DB, customer, name string) provision.Item {
	t.Helper()
	return mustUpdateItem(t, db, itemTransition(addProvisionItem(t, db, customer, name, "manual:"+name), func(l *provision.Item, m *provision.Transition) {
		l.State, l.DueAt, l.Node, l.Domain = provision.StateRequested, testTime.Add(time.Minute), "here", "dom_"+l.Name
		m.AddDomain = &provision.Domain{ID: l.Domain, Customer: l.Customer, Name: l.Name, TLD: l.TLD, Status: "pending", Account: "sandbox", UpdatedAt: testTime}
	}))
}

// activation is the transition that completes an item with its charge.
func activation(item provision.Item, charge cost.Charge) provision.Transition {
	return itemTransition(item, func(l *provision.Item, m *provision.Transition) {
		l.State, l.DueAt, l.Node = provision.StateActive, time.Time{}, ""
		m.ActivateDomain = &provision.Domain{ID: l.Domain, Status: "active", PaidUntil: testTime.AddDate(1, 0, 0), UpdatedAt: testTime}
		charge.ID, charge.Domain, charge.Account, charge.TLD, charge.At = l.ID, l.Domain, l.Account, l.TLD, testTime
		m.Charge = &charge
	})
}

func TestUpdateProvisionItem_StoresOneChargePerCompletedItem(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		charge := cost.Charge{
			Operation: cost.Register, Years: 1, Amount: registrar.Money{Amount: 82_500, Currency: "USD"}, Source: cost.FromRegistry, Euros: 794, EurosKnown: true,
		}
		item := requestedItem(t, db, anna, "neu.org")
		mustUpdateItem(t, db, activation(item, charge))
		if moved, err := db.UpdateProvisionItem(t.Context(), activation(item, charge)); moved || err != nil {
			t.Fatalf("a second node completed the item again: %t, %v", moved, err)
		}
		got, found, err := db.GetRegistryCharge(t.Context(), item.ID)
		if err != nil || !found || got.Amount.String() != "8.25 USD" || got.Euros != 794 || !got.EurosKnown || got.Source != cost.FromRegistry || !got.At.Equal(testTime) {
			t.Errorf("stored %+v, %t, %v", got, found, err)
		}
		unknown := requestedItem(t, db, anna, "teuer.org")
		mustUpdateItem(t, db, activation(unknown, cost.Charge{Operation: cost.Register, Years: 1, Source: cost.Unknown}))
		if got, _, _ := db.GetRegistryCharge(t.Context(), unknown.ID); !got.Amount.IsZero() || got.EurosKnown {
			t.Errorf("an unknown cost was stored as %+v", got)
		}
		sums := marginOf(t, db)
		if sums.Items != 2 || sums.Cost != 794 || sums.UnknownItems != 1 {
			t.Errorf("sums %+v", sums)
		}
	})
}

func marginOf(t *testing.T, db *DB) (sum cost.Margin) {
	t.Helper()
	rows, err := db.ListMargins(t.Context(), "0000-01", "9999-12")
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		sum.Add(row.Margin)
		if i > 0 && row.Month == rows[i-1].Month && row.TLD == rows[i-1].TLD {
			t.Errorf("two sums of %s in %s", row.TLD, row.Month)
		}
	}
	return sum
}

// The sums equal the charges also if many items of one extension complete at once.
func TestMarginMonths_EqualChargesAfterConcurrentItems(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		items := make([]provision.Item, 24)
		for i := range items {
			items[i] = requestedItem(t, db, anna, fmt.Sprintf("neu%d.org", i))
		}
		var all sync.WaitGroup
		for i, item := range items {
			all.Go(func() {
				charge := cost.Charge{Operation: cost.Register, Years: 1, Source: cost.Unknown}
				if i%3 > 0 {
					charge.Amount, charge.Source = registrar.Money{Amount: 10_000, Currency: cost.Euro}, cost.FromRegistry
					charge.Euros, charge.EurosKnown = 100, true
				}
				if moved, err := db.UpdateProvisionItem(t.Context(), activation(item, charge)); err != nil || !moved {
					t.Errorf("moved %t, %v", moved, err)
				}
			})
		}
		all.Wait()
		if sums := marginOf(t, db); sums.Items != 24 || sums.UnknownItems != 8 || sums.Cost != 1600 {
			t.Errorf("sums %+v", sums)
		}
		charges, err := db.ListRegistryCharges(t.Context(), "", 100)
		if err != nil || len(charges) != 24 {
			t.Errorf("%d charges, %v", len(charges), err)
		}
	})
}

func TestProvisionItem_KeepsReportedFeeWhilePending(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		item := requestedItem(t, db, newCustomer(t, db, "anna"), "neu.org")
		fee := registrar.Money{Amount: 80_000, Currency: cost.Euro}
		mustUpdateItem(t, db, itemTransition(item, func(l *provision.Item, _ *provision.Transition) { l.State, l.Fee = provision.StatePending, fee }))
		if stored, _, err := db.ProvisionItemByID(t.Context(), item.ID); err != nil || stored.Fee != fee {
			t.Errorf("fee %v, %v", stored.Fee, err)
		}
	})
}

func TestRatesAndFunds_AreStoredWithAuditEvent(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		event := registrar.AuditEvent{Actor: operatorActor(), Action: cost.RatesImported, Object: "1 rate", At: testTime}
		day := testTime.Format(time.DateOnly)
		for _, value := range []int64{1_100_000, 1_250_000} { // a corrected rate replaces the first
			if err := db.ImportExchangeRates(ctx, []cost.Rate{{Day: day, Currency: "USD", Value: value}}, event); err != nil {
				t.Fatal(err)
			}
		}
		rates, err := db.ListExchangeRates(ctx, testTime)
		if err != nil || len(rates) != 1 || rates[0].Value != 1_250_000 {
			t.Errorf("rates %v, %v", rates, err)
		}
		entry := cost.Funds{Account: "sandbox", Kind: cost.Opening, Amount: registrar.Money{Amount: 5_000_000, Currency: cost.Euro}, At: testTime, Reference: "Kontoauszug 1"}
		if err := cost.AddFunds(ctx, db, operatorActor(), entry, testTime); err != nil {
			t.Fatal(err)
		}
		if err := cost.AddFunds(ctx, db, operatorActor(), entry, testTime); registrar.CodeOf(err) != cost.SecondOpening {
			t.Errorf("a second opening balance: %v", err)
		}
		funds, err := db.ListRegistryFunds(ctx, 10)
		if err != nil || len(funds) != 1 || funds[0].Amount != entry.Amount || funds[0].Reference != entry.Reference || !funds[0].At.Equal(testTime) {
			t.Errorf("funds %+v, %v", funds, err)
		}
		if events := count(t, db, "SELECT count(*) FROM audit_events"); events != 3 {
			t.Errorf("%d audit events", events)
		}
	})
}
