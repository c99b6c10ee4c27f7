package renewals

import (
	"strings"
	"sync"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/test/testkit"
)

func splitName(name string) registrar.Name {
	label, tld, _ := strings.Cut(name, ".")
	return registrar.NewName(label, "."+tld)
}

// secret is that of an order's payment link.
func (s *env) secret(o order.Order) string {
	s.t.Helper()
	address, err := s.orders.PayURL(o)
	s.must(err)
	return strings.TrimPrefix(address, baseURL+"/checkout/")
}

// addRenewals puts renewals into the customer's basket.
func (s *env) addRenewals(names ...string) order.Order {
	s.t.Helper()
	var items []order.RequestedItem
	for _, name := range names {
		items = append(items, order.RequestedItem{Name: splitName(name), Kind: order.Renew})
	}
	o, refused, err := s.orders.AddRenewals(s.t.Context(), ada, items)
	s.must(err)
	if len(refused) > 0 {
		s.t.Fatalf("refused %+v", refused)
	}
	return o
}

func TestBasket_RenewalsShareOnePayment(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.register("eins.com", "zwei.com", "drei.com")
		first := s.addRenewals("eins.com")
		o := s.addRenewals("zwei.com", "drei.com")
		if o.ID != first.ID || len(o.Items) != 3 {
			t.Fatalf("%+v", o)
		}
		before := s.domain("zwei.com").PaidUntil
		page, err := s.startPaying(o)
		s.must(err)
		s.finishPaying(o, page)
		testkit.Eventually(s.t, "renewals", func() bool { return s.order(o.ID).State == order.Completed })
		if after := s.domain("zwei.com").PaidUntil; !after.Equal(before.AddDate(1, 0, 0)) || s.charged() != o.Totals.Gross {
			t.Errorf("paid until %s, charged %s", after, s.charged())
		}
		s.reconcile()
	})
}

func TestBasket_ConcurrentClicksShareOneOrder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		names := []string{"eins.com", "zwei.com", "drei.com", "vier.com", "fuenf.com"}
		s.register(names...)
		var clicks sync.WaitGroup
		for _, name := range names {
			clicks.Go(func() {
				if _, refused, err := s.orders.AddRenewals(s.t.Context(), ada, []order.RequestedItem{{Name: splitName(name), Kind: order.Renew}}); err != nil || len(refused) > 0 {
					t.Errorf("%s: %v, %v", name, refused, err)
				}
			})
		}
		clicks.Wait()
		open, err := s.db.ListOpenRenewalOrders(s.t.Context(), customerID)
		s.must(err)
		if len(open) != 1 || len(open[0].Items) != len(names) {
			t.Errorf("%d orders: %+v", len(open), open)
		}
	})
}

func TestBasket_TermRenewedAutomaticallyCannotBePaidAgain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("laufend.com", "anders.com")
		s.withdraw("anders.com")
		o := s.addRenewals("laufend.com", "anders.com")
		s.charge()
		s.waitRenewed("laufend.com")
		if _, err := s.startPaying(o); !refusedWith(err, order.TermPaid) {
			t.Errorf("paying got %v", err)
		}
		// The transaction that starts the payment decides, whatever was quoted before.
		from := s.order(o.ID)
		to := from
		to.State = order.Paying
		if _, err := s.db.UpdateOrder(s.t.Context(), order.Transition{From: from, To: to}); registrar.CodeOf(err) != order.TermPaid {
			t.Errorf("the store returned %v", err)
		}
		view, err := s.orders.View(s.t.Context(), ada, s.secret(o))
		s.must(err)
		if len(view.Refused) != 1 || view.Payable {
			t.Fatalf("%+v", view.Refused)
		}
		for id := range view.Refused {
			s.must(s.orders.RemoveItem(s.t.Context(), ada, s.secret(o), id))
		}
		o = s.order(o.ID)
		page, err := s.startPaying(o)
		s.must(err)
		s.finishPaying(o, page)
		testkit.Eventually(s.t, "the other renewal", func() bool { return s.order(o.ID).State == order.Completed })
		s.reconcile()
	})
}

func TestBasket_DomainInAnotherPaymentIsRefused(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.register("doppelt.com")
		agent := registrar.Actor{Kind: registrar.ActorToken, Customer: customerID, Through: "tok_1"}
		prepared, err := s.orders.Create(s.t.Context(), agent, order.Request{
			Items: []order.RequestedItem{{Name: splitName("doppelt.com"), Kind: order.Renew}}, Channel: order.ChannelMCP,
		})
		s.must(err)
		o := s.addRenewals("doppelt.com")
		page, err := s.startPaying(prepared)
		s.must(err)
		if _, err := s.startPaying(o); registrar.CodeOf(err) != order.PaymentOpenElsewhere {
			t.Errorf("paying got %v", err)
		}
		s.finishPaying(prepared, page)
		testkit.Eventually(s.t, "renewal", func() bool { return s.order(prepared.ID).State == order.Completed })
		if _, err := s.startPaying(o); !refusedWith(err, order.TermPaid) {
			t.Errorf("paying got %v", err)
		}
		s.reconcile()
	})
}
