package store

import (
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

func TestBooks_FindEachDifference(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		eight := cost.Charge{Operation: cost.Register, Years: 1, Amount: registrar.Money{Amount: 80_000, Currency: cost.Euro}, Source: cost.FromRegistry, Euros: 800, EurosKnown: true}
		one, two := requestedItem(t, db, anna, "eins.org"), requestedItem(t, db, anna, "zwei.org")
		if two.ID < one.ID { // the books begin with the first charge, by id
			one, two = two, one
		}
		mustUpdateItem(t, db, activation(one, eight))
		mustUpdateItem(t, db, activation(two, cost.Charge{Operation: cost.Register, Years: 1, Source: cost.Unknown}))
		funds := func(kind cost.FundsKind, amount registrar.Amount, at time.Time) {
			t.Helper()
			entry := cost.Funds{Account: "sandbox", Kind: kind, Amount: registrar.Money{Amount: amount, Currency: cost.Euro}, At: at}
			if err := cost.AddFunds(ctx, db, operatorActor(), entry, testTime); err != nil {
				t.Fatal(err)
			}
		}
		funds(cost.Opening, 1_000_000, testTime.Add(-time.Hour))
		funds(cost.Deposit, 500_000, testTime.Add(-time.Minute))
		run := func(rules ...string) reconcile.BooksReport {
			t.Helper()
			report, err := reconcile.RunBooks(ctx, db, []string{"sandbox"})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, finding := range report.Findings {
				found = append(found, finding.Rule)
			}
			if strings.Join(found, " ") != strings.Join(rules, " ") {
				t.Errorf("findings %v, want %v", report.Findings, rules)
			}
			return report
		}
		if report := run(); report.Charges != 2 || report.UnknownCharges != 1 || len(report.Unknown) != 1 || report.Balances[0].Expected != "142.00" || report.Balances[0].Stated != "" {
			t.Errorf("report %+v", report)
		}
		funds(cost.Statement, 1_420_000, testTime.Add(time.Minute))
		run()
		if _, err := db.StoreRegistryMessage(ctx, "sandbox", inbox.Message{
			ID: "1", Kind: inbox.KindBalance, Queued: testTime.Add(time.Hour), Details: inbox.Details{Balance: &inbox.Balance{Available: "134.00"}},
		}, testTime, testTime); err != nil {
			t.Fatal(err)
		}
		if report := run("balance"); !strings.Contains(report.Findings[0].Text, "difference is -8.00") || !strings.Contains(report.Findings[0].Text, "1 charges of unknown amount") {
			t.Errorf("finding %v", report.Findings)
		}
		execute(t, db, "UPDATE margin_months SET euros = euros + 1")
		execute(t, db, "UPDATE provision_items SET state = 'failed' WHERE id = '"+one.ID+"'")
		run("balance", "charge", "margin")
		execute(t, db, "DELETE FROM registry_charges WHERE source = 'unknown'")
		if report := run("balance", "charge", "charge", "margin"); report.Charges != 1 {
			t.Errorf("report %+v", report)
		}
	})
}
