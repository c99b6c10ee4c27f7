package reconcile

import (
	"context"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	sandbox "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/test/testkit"
)

var root = registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}

func (s *env) refunds() *order.Refunds {
	s.t.Helper()
	refunds, err := order.NewRefunds(order.RefundsConfig{Store: s.DB})
	must(s.t, err)
	return refunds
}

// refund confirms a refund as previewed.
func (s *env) refund(request order.RefundRequested) {
	s.t.Helper()
	request.Reason, request.Note = "goodwill", "Test"
	preview, err := s.refunds().Preview(s.t.Context(), root, request)
	must(s.t, err)
	request.Seen = preview.Seen
	_, err = s.refunds().Order(s.t.Context(), root, request)
	must(s.t, err)
	must(s.t, s.WaitSettled(s.t.Context(), waitTimeout))
}

// waitForRefund waits until an order has a refund like this.
func (s *env) waitForRefund(id string, matches func(order.Refund) bool) (found order.Refund) {
	s.t.Helper()
	testkit.Eventually(s.t, "the refund", func() bool {
		for _, refund := range s.order(id).Refunds {
			if matches(refund) {
				found = refund
				return true
			}
		}
		return false
	})
	return found
}

// wantCorrections waits until an order has this many corrections, and checks their sum.
func (s *env) wantCorrections(id string, count int, gross registrar.Cents) {
	s.t.Helper()
	o := s.order(id)
	testkit.Eventually(s.t, "the corrections", func() bool {
		documents, err := s.DB.ListOrderDocuments(s.t.Context(), o.Customer, id)
		must(s.t, err)
		found, sum := 0, registrar.Cents(0)
		for _, document := range documents {
			if document.Kind == invoice.Correction {
				found, sum = found+1, sum+document.Gross
			}
		}
		return found == count && sum == gross
	})
}

func (s *env) intent(id string) string {
	s.t.Helper()
	o := s.order(id)
	return o.CapturedPayment().Intent
}

func TestRefund_PartsThenRestReconcileToTheCent(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("teil-eins.org", "teil-zwei.org", "teil-drei.org").ID)
	s.refund(order.RefundRequested{Order: bought.ID, Item: bought.Items[1].ID, Amount: 333})
	s.refund(order.RefundRequested{Order: bought.ID, Amount: 101})
	s.refund(order.RefundRequested{Order: bought.ID, Item: bought.Items[0].ID})
	testkit.Reconcile(t, s.World.Ready)
	s.refund(order.RefundRequested{Order: bought.ID})
	s.wantCorrections(bought.ID, 4, bought.Totals.Gross)
	testkit.Reconcile(t, s.World.Ready)
	after := s.order(bought.ID)
	vat := registrar.Cents(0)
	for _, refund := range after.Refunds {
		for _, part := range refund.Parts {
			vat += part.VAT
		}
	}
	if after.Remaining() != 0 || vat != after.Totals.VAT || after.State != order.Completed {
		t.Errorf("%s left, VAT %s of %s, %s", after.Remaining(), vat, after.Totals.VAT, after.State)
	}
	if _, err := s.refunds().Preview(t.Context(), root, order.RefundRequested{Order: bought.ID, Item: bought.Items[0].ID}); registrar.CodeOf(err) != order.NothingToRefund {
		t.Errorf("a refunded item: %v", err)
	}
}

func TestRefund_AtProviderIsBookedAndAssigned(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("anbieter-eins.org", "anbieter-zwei.org").ID)
	_, err := s.RefundPayment(t.Context(), s.intent(bought.ID), 500)
	must(t, err)
	booked := s.waitForRefund(bought.ID, func(r order.Refund) bool { return r.Source == order.ByProvider })
	if booked.Amount != 500 || booked.Task != order.TaskAssign || !booked.Made() {
		t.Errorf("booked %+v", booked)
	}
	s.wantCorrections(bought.ID, 1, 500)
	testkit.Reconcile(t, s.World.Ready)
	item := bought.Items[1].ID
	for name, amounts := range map[string]map[string]registrar.Cents{"too little": {item: 499}, "too much for one": {item: 100_000}} {
		if err := s.refunds().Assign(t.Context(), root, bought.ID, booked.ID, amounts); registrar.KindOf(err) != registrar.KindInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, s.refunds().Assign(t.Context(), root, bought.ID, booked.ID, map[string]registrar.Cents{item: 500}))
	if err := s.refunds().Assign(t.Context(), root, bought.ID, booked.ID, map[string]registrar.Cents{item: 500}); registrar.CodeOf(err) != order.NothingToDecide {
		t.Errorf("assigned twice: %v", err)
	}
	testkit.Reconcile(t, s.World.Ready)
	// With the rest, the customer has all the money back and still has the domains.
	_, err = s.RefundPayment(t.Context(), s.intent(bought.ID), 0)
	must(t, err)
	rest := s.waitForRefund(bought.ID, func(r order.Refund) bool { return r.Source == order.ByProvider && r.ID != booked.ID })
	if rest.Task != order.TaskDomains || rest.Amount != bought.Totals.Gross-500 {
		t.Errorf("the rest is %+v", rest)
	}
	must(t, s.refunds().KeepDomain(t.Context(), root, bought.ID, rest.ID, item, "behält sie bis zum Ende der Laufzeit"))
	s.waitForRefund(bought.ID, func(r order.Refund) bool { return r.ID == rest.ID && r.Task == order.TaskDomains })
	must(t, s.refunds().DeleteDomain(t.Context(), root, bought.ID, rest.ID, bought.Items[0].ID))
	s.waitForRefund(bought.ID, func(r order.Refund) bool { return r.ID == rest.ID && r.Task == order.TaskNone && r.Made() })
	testkit.Eventually(t, "the deletion of the one domain", func() bool {
		_, deleted, err := s.DB.DomainByName(t.Context(), bought.Items[0].Name)
		must(t, err)
		_, kept, err := s.DB.DomainByName(t.Context(), bought.Items[1].Name)
		must(t, err)
		return !deleted && kept
	})
	s.notices(bought.Customer, registrar.MailDomainClosed, 1)
	s.wantCorrections(bought.ID, 2, bought.Totals.Gross)
	testkit.Reconcile(t, s.World.Ready)
}

func TestRefund_ReturnedByBankStaysReconciledAndIsRepeated(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("zurueck.org").ID)
	s.refund(order.RefundRequested{Order: bought.ID})
	s.wantCorrections(bought.ID, 1, bought.Totals.Gross)
	first := s.order(bought.ID).Refunds[0]
	must(t, s.ReturnRefund(t.Context(), first.Provider))
	s.waitForRefund(bought.ID, func(r order.Refund) bool { return r.Returned() && r.Task == order.TaskReturned })
	s.notices(bought.Customer, registrar.MailRefundReturned, 1)
	testkit.Reconcile(t, s.World.Ready)
	must(t, s.refunds().Repeat(t.Context(), root, bought.ID, first.ID))
	again := s.waitForRefund(bought.ID, func(r order.Refund) bool { return r.Replaces == first.ID && r.Made() })
	if again.ReasonOf() != first.ReasonOf() || again.Note != first.Note {
		t.Errorf("the repetition has another reason: %+v", again)
	}
	s.notices(bought.Customer, registrar.MailOrderRefunded, 2)
	s.wantCorrections(bought.ID, 1, bought.Totals.Gross)
	testkit.Reconcile(t, s.World.Ready)
}

func TestRefund_SecondOperatorGetsConflict(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("zu-zweit.org").ID)
	request := order.RefundRequested{Order: bought.ID, Reason: "goodwill", Note: "Test"}
	preview, err := s.refunds().Preview(t.Context(), root, request)
	must(t, err)
	request.Seen = preview.Seen
	results := make(chan error)
	for range 2 {
		go func() {
			_, err := s.refunds().Order(t.Context(), root, request)
			results <- err
		}()
	}
	first, second := <-results, <-results
	if first != nil {
		first, second = second, first
	}
	if first != nil || registrar.CodeOf(second) != order.RefundChanged {
		t.Errorf("got %v and %v", first, second)
	}
	must(t, s.WaitSettled(t.Context(), waitTimeout))
	testkit.Reconcile(t, s.World.Ready)
	if money, err := s.Money(t.Context()); err != nil || len(money.Refunds) != 1 {
		t.Errorf("%d refunds, %v", len(money.Refunds), err)
	}
}

func TestRefund_LostWebhookIsFoundByListing(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.order(s.purchase("verpasst.org").ID)
	must(t, s.InjectFault(t.Context(), sandbox.Fault{On: "webhook", Do: "lose"}))
	_, err := s.RefundPayment(t.Context(), s.intent(bought.ID), 0)
	must(t, err)
	problems, err := testkit.ReconcileProblems(t.Context(), s.World.Ready, nil, 0)
	must(t, err)
	if len(problems) != 2 {
		t.Errorf("an unknown refund is reported as %q", problems)
	}
	rates, err := billing.EmbeddedRates()
	must(t, err)
	seal, err := registrar.NewSeal([32]byte{1})
	must(t, err)
	service, err := order.New(order.Config{
		Store: s.DB, Provider: s.provider(), Taxes: billing.New(billing.Config{Rates: rates}), Seal: seal, Node: "listing", BaseURL: s.Base,
		Quote: func(context.Context, provision.QuoteRequest) (order.Quote, error) { return order.Quote{}, nil },
	})
	must(t, err)
	must(t, service.SyncAllRefunds(t.Context()))
	s.wantCorrections(bought.ID, 1, bought.Totals.Gross)
	testkit.Reconcile(t, s.World.Ready)
}
