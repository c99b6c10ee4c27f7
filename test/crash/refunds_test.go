package crash_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/test/crash"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// The intent is stored by this process, so the product finds it as after a kill at
// refund_written.
func TestKill_OperatorRefundIsMadeOnceAndDeletesDomain(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	supervisor := shop.Supervise(t.Context(), crash.KillOnceAt(""))
	inParallel(t, shop.SignIn)
	boundaries := []string{"", "refund_made", "refund_known", "delete_made"}
	domains := make([]string, len(boundaries))
	bought := make([]crash.Purchase, len(boundaries))
	for i := range boundaries {
		bought[i] = startOrder(t, shop, fmt.Sprintf("widerruf-%d.org", i))
		if err := shop.Pay(t.Context(), bought[i], true); err != nil {
			t.Fatal(err)
		}
	}
	if err := shop.WaitSettled(t.Context(), waitTimeout); err != nil {
		t.Fatal(err)
	}
	if err := supervisor.Stop(); err != nil {
		t.Fatal(err)
	}
	refunds, err := order.NewRefunds(order.RefundsConfig{Store: shop.DB})
	if err != nil {
		t.Fatal(err)
	}
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	for i, boundary := range boundaries {
		request := order.RefundRequested{Order: bought[i].ID, Reason: order.ReasonWithdrawal, Note: boundary + " Test", Delete: true}
		preview, err := refunds.Preview(t.Context(), operator, request)
		if err != nil || len(preview.Deletable) != 1 || preview.Deletable[0].Fee != order.FeeReturned {
			t.Fatalf("%s: %+v, %v", boundary, preview.Deletable, err)
		}
		request.Seen, domains[i] = preview.Seen, preview.Deletable[0].Domain
		if _, err := refunds.Order(t.Context(), operator, request); err != nil {
			t.Fatal(err)
		}
		supervisor := shop.Supervise(t.Context(), crash.KillOnceAt(boundary))
		if err := shop.WaitSettled(t.Context(), waitTimeout); err != nil {
			t.Fatalf("%s: %v", boundary, err)
		}
		name := fmt.Sprintf("widerruf-%d.org", i)
		testkit.Eventually(t, "the end of "+name, func() bool {
			_, found, err := shop.DB.DomainByName(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			return !found
		})
		kills := map[bool]int{true: 0, false: 1}[boundary == ""]
		for end := time.Now().Add(waitTimeout); supervisor.Kills() < kills && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if err := supervisor.Stop(); err != nil {
			t.Fatalf("%s: %v", boundary, err)
		}
		if supervisor.Kills() != kills {
			t.Errorf("%s: killed %d times", boundary, supervisor.Kills())
		}
		money, err := shop.Money(t.Context())
		if err != nil || len(money.Refunds) != i+1 {
			t.Errorf("%s: %d refunds at the provider, want %d, %v", boundary, len(money.Refunds), i+1, err)
		}
		if err := shop.Reconcile(t.Context()); err != nil {
			t.Fatalf("after a kill at %q:\n%v", boundary, err)
		}
		wantReturnedFee(t, shop, boundary, domains[i])
	}
	testkit.Eventually(t, "the credit notes", func() bool {
		margins, err := shop.DB.ListMargins(t.Context(), "0000-01", "9999-12")
		if err != nil {
			t.Fatal(err)
		}
		var sum cost.Margin
		for _, row := range margins {
			sum.Add(row.Margin)
		}
		return sum == cost.Margin{Items: len(boundaries)}
	})
}

// wantReturnedFee checks that the books have the fee of a deleted registration once. The response
// that reported it is lost with a kill at delete_made.
func wantReturnedFee(t *testing.T, shop *crash.Shop, boundary, domain string) {
	t.Helper()
	returned, found, err := shop.DB.GetRegistryCharge(t.Context(), domain+"-x")
	source := cost.FromRegistry
	if boundary == "delete_made" {
		source = cost.FromRegistration
	}
	registration, charged, _ := shop.DB.GetRegistrationCharge(t.Context(), domain)
	if err != nil || !found || !charged || returned.Euros >= 0 || returned.Euros != -registration.Euros || returned.Amount.Amount != -registration.Amount.Amount || returned.Operation != cost.Delete || returned.Source != source {
		t.Errorf("%s: returned %+v, %t, %v", boundary, returned, found, err)
	}
	report, err := reconcile.RunBooks(t.Context(), shop.DB, nil)
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("%s: books %v, %v", boundary, report.Findings, err)
	}
}
