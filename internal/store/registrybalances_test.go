package store

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

func TestNewestBalance_IsTheNewerOfMessageAndQuery(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		inboxes, err := inbox.New(inbox.Config{Store: db, Accounts: []string{"sandbox"}})
		if err != nil {
			t.Fatal(err)
		}
		want := func(available string, low int) {
			t.Helper()
			newest, found, err := db.NewestBalance(ctx, "sandbox")
			if err != nil || found != (available != "") || found && newest.Details.Balance.Available != available {
				t.Errorf("got %+v, %t, %v", newest, found, err)
			}
			if alerts, err := inboxes.LowBalances(ctx, operatorActor()); err != nil || len(alerts) != low {
				t.Errorf("%s: %d alerts, %v", available, len(alerts), err)
			}
		}
		query := func(available string, at time.Time) {
			t.Helper()
			if err := db.StoreQueriedBalance(ctx, "sandbox", inbox.Balance{Available: available, Threshold: "5.00"}, at, at); err != nil {
				t.Fatal(err)
			}
		}
		want("", 0)
		query("20.00", testTime)
		want("20.00", 0)
		query("-2.00", testTime.Add(time.Hour)) // replaces it
		want("-2.00", 1)
		if _, err := db.StoreRegistryMessage(ctx, "sandbox", inbox.Message{
			ID: "1", Kind: inbox.KindBalance, Queued: testTime.Add(2 * time.Hour), Details: inbox.Details{Balance: &inbox.Balance{Available: "1.00"}},
		}, testTime, testTime); err != nil {
			t.Fatal(err)
		}
		want("1.00", 1)
		query("50.00", testTime.Add(3*time.Hour)) // topped up: the message is no alert any more
		want("50.00", 0)
	})
}

func TestLowBalances_StatementEndsWarningBeforeMessageIsRead(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		inboxes, err := inbox.New(inbox.Config{Store: db, Accounts: []string{"queried", "told"}})
		if err != nil {
			t.Fatal(err)
		}
		ahead := testTime.AddDate(0, 1, 0) // the clock of the sandbox's registries was moved
		if err := db.StoreQueriedBalance(ctx, "queried", inbox.Balance{Available: "1.00", Threshold: "5.00"}, ahead, testTime); err != nil {
			t.Fatal(err)
		}
		if _, err := db.StoreRegistryMessage(ctx, "told", inbox.Message{
			ID: "1", Kind: inbox.KindBalance, Queued: ahead, Details: inbox.Details{Balance: &inbox.Balance{Available: "40.00", Currency: "USD"}},
		}, testTime, testTime); err != nil {
			t.Fatal(err)
		}
		for i, step := range []struct {
			account, currency string
			amount            registrar.Amount
			low               int
		}{
			{"queried", "EUR", 40_000, 2}, // 4.00 is below the threshold
			{"queried", "EUR", 500_000, 1},
			{"told", "EUR", 500_000, 1}, // not the account's currency
			{"told", "USD", 500_000, 0},
		} {
			entry := cost.Funds{Account: step.account, Kind: cost.Statement, Amount: registrar.Money{Amount: step.amount, Currency: step.currency}, At: testTime.Add(time.Duration(i+1) * time.Minute)}
			if err := cost.AddFunds(ctx, db, operatorActor(), entry, testTime); err != nil {
				t.Fatal(err)
			}
			if low, err := inboxes.LowBalances(ctx, operatorActor()); err != nil || len(low) != step.low {
				t.Errorf("%+v: %+v, %v", step, low, err)
			}
		}
	})
}

// A queried balance counts in the books, except close to a charge, which it may or may not include.
func TestBooks_CompareQueriedBalance(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		mustUpdateItem(t, db, activation(requestedItem(t, db, newCustomer(t, db, "anna"), "eins.org"), eightEuros))
		opening := cost.Funds{Account: "sandbox", Kind: cost.Opening, Amount: registrar.Money{Amount: 50_000, Currency: cost.Euro}, At: testTime.Add(-time.Hour)}
		if err := cost.AddFunds(ctx, db, operatorActor(), opening, testTime); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			available string
			at        time.Time
			stated    string
			findings  int
		}{
			{"5.00", testTime.Add(30 * time.Second), "", 0},
			{"-3.00", testTime.Add(time.Hour), "-3.00", 0},
			{"5.00", testTime.Add(2 * time.Hour), "5.00", 1},
		} {
			if err := db.StoreQueriedBalance(ctx, "sandbox", inbox.Balance{Available: test.available}, test.at, test.at); err != nil {
				t.Fatal(err)
			}
			report, err := reconcile.RunBooks(ctx, db, []string{"sandbox"})
			if err != nil || len(report.Findings) != test.findings || report.Balances[0].Stated != test.stated || report.Balances[0].Expected != "-3.00" {
				t.Errorf("%+v: %+v, %v", test, report, err)
			}
		}
	})
}
