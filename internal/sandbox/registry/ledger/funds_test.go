package ledger

import (
	"errors"
	"testing"
	"time"
)

func TestFunds_DebitsRefundsAndWarnsOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	l := openTestLedger(t, folder)
	by := Request{Account: "alpha"}
	if err := l.SetFunds("alpha", 250, 120); err != nil {
		t.Fatal(err)
	}
	balance := func(want int64, what string) {
		t.Helper()
		if got := l.FundsOf("alpha").Balance; got != want {
			t.Errorf("%s: the balance is %d, want %d", what, got, want)
		}
	}
	create := func(name string) error {
		_, err := l.CreateDomain(by, DomainCreate{Name: name, Auth: "auth-info"})
		return err
	}
	for _, name := range []string{"eins.com", "zwei.com"} {
		if err := create(name); err != nil {
			t.Fatal(err)
		}
	}
	balance(50, "two registrations")
	var refusal *Refusal
	if err := create("drei.com"); !errors.As(err, &refusal) || refusal.Code != BillingFailure {
		t.Errorf("without funds: %v", err)
	}
	balance(50, "a refused registration")
	if message, waiting := l.Queue("alpha"); waiting != 1 || message.Balance == nil || message.Balance.Available != 50 {
		t.Errorf("%d messages, the first %+v", waiting, message)
	}
	if _, err := l.DeleteDomain(by, "zwei.com"); err != nil {
		t.Fatal(err)
	}
	balance(150, "a deletion in the add period")
	if err := l.TopUp("alpha", 10); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := l.RenewDomain(by, DomainRenew{Name: "eins.com", Current: epoch.AddDate(1, 0, 0)}); err != nil {
		t.Fatal(err)
	}
	balance(60, "a renewal")
	if _, waiting := l.Queue("alpha"); waiting != 2 {
		t.Errorf("%d messages after the balance fell again", waiting)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = openTestLedger(t, folder)
	balance(60, "a restart")
}

// A registry renews by itself whatever the balance is.
func TestFunds_AutoRenewalMayMakeBalanceNegative(t *testing.T) {
	t.Parallel()
	l := openTestLedger(t, "")
	by := Request{Account: "alpha"}
	if err := l.SetFunds("alpha", 150, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := l.CreateDomain(by, DomainCreate{Name: "eins.com", Auth: "auth-info"}); err != nil {
		t.Fatal(err)
	}
	if err := l.Advance(366 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := l.FundsOf("alpha").Balance; got != -50 {
		t.Fatalf("the balance is %d, want -50", got)
	}
	if _, err := l.CreateDomain(by, DomainCreate{Name: "zwei.com", Auth: "auth-info"}); err == nil {
		t.Error("a registration with a negative balance")
	}
	if _, err := l.DeleteDomain(by, "eins.com"); err != nil { // refunds, also below zero
		t.Fatal(err)
	}
	if got := l.FundsOf("alpha").Balance; got != 50 {
		t.Errorf("the balance after the refund is %d, want 50", got)
	}
}
