package renewals

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// The simulated registry charges 250 EUR a year, and the margin is 10 %.
const (
	premiumNet   = registrar.Cents(275_00)
	premiumGross = registrar.Cents(327_25)
)

// registration orders a registration as the customer in the portal.
func (s *env) registration(name string) (order.Order, error) {
	return s.orders.Create(s.t.Context(), ada, order.Request{
		Channel: order.ChannelPortal, Items: []order.RequestedItem{{Name: splitName(name), Kind: order.Register}},
	})
}

func (s *env) buy(name string) order.Order {
	s.t.Helper()
	o, err := s.registration(name)
	s.must(err)
	page, err := s.startPaying(o)
	s.must(err)
	s.finishPaying(o, page)
	return o
}

// wantCharge checks what the registry has charged for the item of a paid order.
func (s *env) wantCharge(o order.Order, amount string) {
	s.t.Helper()
	item := s.order(o.ID).Items[0].ProvisionItem
	for charge, err := range s.db.ReconciliationCharges(s.t.Context()) {
		s.must(err)
		if charge.ID == item && charge.Amount.String() == amount && charge.Source == cost.FromRegistry && charge.Revenue == o.Totals.Net {
			return
		}
	}
	s.t.Errorf("no charge of %s for a revenue of %s", amount, o.Totals.Net)
}

func TestPremium_RegisteredAtFeeAndMargin(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		o := s.buy("premium-eins.com")
		if item := o.Items[0]; item.Net != premiumNet || item.PremiumFee.String() != "250.00 EUR" || o.Totals.Gross != premiumGross {
			t.Errorf("ordered %+v", item)
		}
		testkit.Eventually(t, "registration", func() bool { return s.order(o.ID).State == order.Completed })
		s.wantCharge(o, "250.00 EUR")
		s.reconcile()
	})
}

func TestPremium_FeeRaisedBeforePaymentMustBeConfirmed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		o, err := s.registration("premium-zwei.com")
		s.must(err)
		s.world.SetPremiumFees(300_00, 300_00)
		if _, err := s.startPaying(o); registrar.CodeOf(err) != order.PriceChanged {
			t.Fatalf("paying got %v", err)
		}
		o = s.order(o.ID)
		if o.Items[0].Net != 330_00 || o.Items[0].PremiumFee.String() != "300.00 EUR" {
			t.Errorf("repriced %+v", o.Items[0])
		}
		page, err := s.startPaying(o)
		s.must(err)
		s.finishPaying(o, page)
		testkit.Eventually(t, "registration", func() bool { return s.order(o.ID).State == order.Completed })
		s.wantCharge(o, "300.00 EUR")
	})
}

func TestPremium_FeeRaisedAfterPaymentIsRefunded(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.stopProvisioning()
		o := s.buy("premium-drei.com")
		s.world.SetPremiumFees(300_00, 300_00)
		s.startProvisioning()
		testkit.Eventually(t, "refund", func() bool { return s.order(o.ID).Items[0].State == order.ItemRefunded })
		if item := s.order(o.ID).Items[0]; item.Failure != provision.FeeRaised || s.charged() != 0 {
			t.Errorf("%+v, charged %s", item, s.charged())
		}
		s.reconcile()
	})
}

func TestPremium_WithoutRateIsNotSold(t *testing.T) {
	t.Parallel()
	s := newEnv(t, sqliteOptions(t))
	s.mu.Lock()
	s.currency = "USD"
	s.mu.Unlock()
	if _, err := s.registration("premium-vier.com"); !refusedWith(err, registrar.NamePremium) {
		t.Errorf("without a rate: %v", err)
	}
	s.rates.Set([]cost.Rate{{Day: s.world.Now().AddDate(0, 0, -1).Format(time.DateOnly), Currency: "USD", Value: 1_250_000}})
	o, err := s.registration("premium-vier.com")
	s.must(err)
	if o.Items[0].Net != 220_00 {
		t.Errorf("with a rate: %+v", o.Items[0])
	}
}

// ownPremium buys a premium domain, and agrees to renew it automatically at its price.
func (s *env) ownPremium(name string) {
	s.t.Helper()
	o := s.buy(name)
	testkit.Eventually(s.t, name+" registered", func() bool { return s.order(o.ID).State == order.Completed })
	s.consent(name)
}

func TestPremium_AutomaticRenewalAnnouncesAndChargesLiveFee(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		const name = "premium-fuenf.com"
		s.saveCard()
		s.ownPremium(name)
		s.world.SetPremiumFees(250_00, 200_00)
		s.advanceTo(name, 44*day)
		s.announce()
		if got := s.wantState(name, renewal.Announced, ""); got.Gross != 261_80 {
			t.Errorf("announced %+v", got)
		}
		s.advanceTo(name, 14*day-time.Hour)
		s.charge()
		s.waitRenewed(name)
		o := s.automaticOrders()[0]
		if o.Totals.Net != 220_00 {
			t.Errorf("charged %+v", o.Totals)
		}
		s.wantCharge(o, "200.00 EUR")
		s.reconcile()
	})
}

func TestPremium_RenewalIsRefusedIfFeeHasRisenAboveAnnouncement(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		const name = "premium-sechs.com"
		s.saveCard()
		s.ownPremium(name)
		s.advanceTo(name, 44*day)
		s.announce()
		s.advanceTo(name, 14*day-time.Hour)
		s.world.SetPremiumFees(250_00, 260_00)
		before := s.charged()
		s.charge()
		s.wantState(name, renewal.Failed, registrar.NamePremium)
		if s.charged() != before || len(s.automaticOrders()) != 0 {
			t.Errorf("charged %s", s.charged()-before)
		}
		s.wantMails(registrar.MailRenewalFailed, 1)
		// By hand, the customer sees the present price first.
		if o, err := s.manualOrder(name); err != nil || o.Items[0].Net != 286_00 {
			t.Errorf("by hand: %+v, %v", o.Items, err)
		}
	})
}
