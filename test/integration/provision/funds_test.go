package provision

import (
	"strconv"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
	"github.com/dotkontor/dotkontor/test/testkit"
)

func (s *env) chargeOf(t *testing.T, item string) cost.Charge {
	t.Helper()
	charge, found, err := s.db.GetRegistryCharge(t.Context(), item)
	if err != nil || !found {
		t.Fatalf("charge of %s: %t, %v", item, found, err)
	}
	return charge
}

// booksFindings returns the differences between charges, items and balance.
func (s *env) booksFindings(t *testing.T) []reconcile.Finding {
	t.Helper()
	report, err := reconcile.RunBooks(t.Context(), s.db, []string{"sandbox"})
	if err != nil {
		t.Fatal(err)
	}
	return report.Findings
}

// An item waits while the account has no funds, without a charge, and continues after a top-up;
// the books then match the balance that the registry states.
func TestFunds_ItemWaitsForTopUpAndBooksMatch(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	if err := s.world.SetFunds(registry.ProductAccount, 1000, 500); err != nil {
		t.Fatal(err)
	}
	funds := func(kind cost.FundsKind, amount registrar.Amount) {
		t.Helper()
		entry := cost.Funds{Account: "sandbox", Kind: kind, Amount: registrar.Money{Amount: amount, Currency: cost.Euro}, At: s.world.Now()}
		if err := cost.AddFunds(t.Context(), s.db, operator, entry, s.world.Now()); err != nil {
			t.Fatal(err)
		}
	}
	funds(cost.Opening, 100_000)
	s.registerDomain(t, "erste-buchung", ".com")
	testkit.Eventually(t, "the low balance message", func() bool {
		message, found, err := s.db.NewestBalance(t.Context(), "sandbox")
		return err == nil && found && message.Details.Balance.Available == "2.00" && message.Unread
	})
	if found := s.booksFindings(t); len(found) > 0 {
		t.Errorf("findings before the account ran dry: %v", found)
	}
	item, err := s.service.CreateItem(t.Context(), operator, provision.PaidItem{
		Customer: customerID, Name: registrar.NewName("zweite-buchung", ".com"), Kind: provision.Register, Payment: "manual:second",
	})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "a refused command", func() bool {
		waiting, err := s.service.GetItem(t.Context(), operator, item.ID)
		return err == nil && waiting.State == provision.StateRequested && waiting.Attempts > 1
	})
	if _, found, _ := s.db.GetRegistryCharge(t.Context(), item.ID); found {
		t.Error("a command that the registry refused has a charge")
	}
	if balance := s.world.FundsOf(registry.ProductAccount).Balance; balance != 200 {
		t.Errorf("the balance is %d", balance)
	}
	if err := s.world.TopUp(registry.ProductAccount, 1400); err != nil {
		t.Fatal(err)
	}
	funds(cost.Deposit, 140_000)
	s.waitForState(t, item.ID, provision.StateActive)
	if charge := s.chargeOf(t, item.ID); charge.Amount.String() != "8.00 EUR" || charge.Source != cost.FromRegistry || charge.Euros != 800 {
		t.Errorf("charge %+v", charge)
	}
	if _, err := s.world.SendMessages(registry.ProductAccount, []registry.MessageRequest{{Kind: ledger.MessageBalance}}); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the statement", func() bool {
		message, found, err := s.db.NewestBalance(t.Context(), "sandbox")
		return err == nil && found && message.Details.Balance.Available == "8.00"
	})
	if found := s.booksFindings(t); len(found) > 0 {
		t.Errorf("findings: %v", found)
	}
}

// The fee of a transfer is reported with the request, five days before it completes.
func TestFunds_TransferKeepsFeeOfItsRequest(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	item, err := s.requestTransfer(t, "transfer-ruhig", ".com", "auth-transfer-ruhig")
	if err != nil {
		t.Fatal(err)
	}
	s.waitForState(t, item.ID, provision.StatePending)
	if err := s.world.Advance(6 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	s.waitForState(t, item.ID, provision.StateActive)
	if charge := s.chargeOf(t, item.ID); charge.Amount.String() != "8.00 EUR" || charge.Source != cost.FromRegistry || charge.Operation != cost.Transfer {
		t.Errorf("charge %+v", charge)
	}
}

func TestSandboxMessages_ArriveWithTheirKind(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	domain := s.registerDomain(t, "dritte-buchung", ".com")
	for _, one := range []struct {
		request registry.MessageRequest
		want    inbox.Kind
		unread  bool
	}{
		{registry.MessageRequest{Kind: ledger.MessageTransfer, Name: domain.Name}, inbox.KindTransfer, false},
		{registry.MessageRequest{Kind: ledger.MessageTransfer, Name: "fremd.com"}, inbox.KindTransfer, true},
		{registry.MessageRequest{Kind: ledger.MessagePerformed, Name: domain.Name}, inbox.KindPendingAction, false},
		{registry.MessageRequest{Kind: ledger.MessageRefused, Name: domain.Name}, inbox.KindPendingAction, true},
		{registry.MessageRequest{Kind: ledger.MessageRenewal, Name: domain.Name}, inbox.KindUpdate, false},
		{registry.MessageRequest{Kind: ledger.MessageChange, Name: domain.Name}, inbox.KindChange, true},
		{registry.MessageRequest{Kind: ledger.MessageMaintenance}, inbox.KindMaintenance, true},
		{registry.MessageRequest{Kind: ledger.MessageText}, inbox.KindText, true},
		{registry.MessageRequest{Kind: ledger.MessageUnknown}, inbox.KindUnparsed, true},
	} {
		ids, err := s.world.SendMessages(registry.ProductAccount, []registry.MessageRequest{one.request})
		if err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, one.request.Kind, func() bool {
			messages, err := s.db.ListRegistryMessages(t.Context(), inbox.Filter{Kind: one.want}, one.unread, "", 1)
			return err == nil && len(messages) == 1 && messages[0].ID == strconv.FormatUint(ids[0], 10) && messages[0].Name == one.request.Name
		})
	}
	if _, err := s.world.SendMessages(registry.ProductAccount, []registry.MessageRequest{{Kind: ledger.MessageText}, {Kind: "unsinn"}}); err == nil {
		t.Error("an unknown kind of message was sent")
	}
}

// The sandbox announces the balance mapping. An account that is not paid in advance has no balance.
func TestBalance_IsQueriedAtTheRegistry(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	if _, err := s.account.Balance(t.Context()); registrar.KindOf(err) != registrar.KindUnsupported {
		t.Errorf("not paid in advance: %v", err)
	}
	for _, cents := range []int64{1000, -250} {
		if err := s.world.SetFunds(registry.ProductAccount, cents, 500); err != nil {
			t.Fatal(err)
		}
		balance, err := s.account.Balance(t.Context())
		want := inbox.Balance{Limit: "0.00", Available: registrar.Cents(cents).String(), Threshold: "5.00", ThresholdType: inbox.FixedThreshold}
		if err != nil || balance != want || balance.IsLow() != (cents < 500) {
			t.Errorf("%d: %+v, %v", cents, balance, err)
		}
	}
}
