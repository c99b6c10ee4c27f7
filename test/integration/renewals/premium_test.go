package renewals

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
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
	var all []cost.Charge
	for charge, err := range s.db.ReconciliationCharges(s.t.Context()) {
		s.must(err)
		all = append(all, charge)
		if charge.ID == item && charge.Amount.String() == amount && charge.Source == cost.FromRegistry && charge.Revenue == o.Totals.Net {
			return
		}
	}
	s.t.Errorf("no charge of %s for a revenue of %s in %+v", amount, o.Totals.Net, all)
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

func TestPremium_CheckoutNamesRenewalPriceAndItsConsentIsStored(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		const name, renewalGross = "premium-zehn.com", registrar.Cents(261_80) // 200 EUR, 10 % and VAT
		s.world.SetPremiumFees(250_00, 200_00)
		o, err := s.registration(name)
		s.must(err)
		view, err := s.orders.View(t.Context(), ada, s.secret(o))
		s.must(err)
		if price := view.Renewals[o.Items[0].ID]; price != (order.TermPrice{Years: 1, Gross: renewalGross}) {
			t.Errorf("the checkout shows %+v", price)
		}
		page, err := s.orders.Pay(t.Context(), ada, s.secret(o), order.Confirmation{
			Gross: o.Totals.Gross, Items: o.ItemsDigest(), Consent: order.ConsentWording("de"),
			AutoRenew: true, RenewalWording: renewal.ConsentWording("de"), RenewalPrices: order.FormatRenewalPrices(view.Order, view.Renewals),
		})
		s.must(err)
		s.finishPaying(o, page)
		testkit.Eventually(t, "registration", func() bool { return s.order(o.ID).State == order.Completed })
		if view, err = s.orders.View(t.Context(), ada, s.secret(o)); err != nil || view.Renewals[o.Items[0].ID].Gross != renewalGross {
			t.Errorf("the page after the purchase shows %+v, %v", view.Renewals, err)
		}
		if mail := s.wantMails(registrar.MailOrderCompleted, 1)[0]; mail["item1_renewal"] != renewalGross.String() {
			t.Errorf("the mail says %v", mail)
		}
		if mail := s.wantMails(registrar.MailRenewalOn, 1)[0]; mail["gross"] != renewalGross.String() {
			t.Errorf("the confirmation of automatic renewal says %v", mail)
		}
		s.advanceTo(name, 44*day)
		s.announce()
		if got := s.wantState(name, renewal.Announced, ""); got.Gross != renewalGross {
			t.Errorf("announced %+v", got)
		}
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

func TestPremium_TransferredAtFeeAndMargin(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		const name = "premium-sieben.com"
		_, err := s.connect(registry.DefaultAccounts()[1].ID).CreateDomain(t.Context(), epp.CreateDomain{
			Name: name, Years: 1, AuthInfo: "auth-sieben-7", Fee: registrar.Money{Amount: 2_500_000, Currency: cost.Euro},
		})
		s.must(err)
		o, err := s.orders.Create(t.Context(), ada, order.Request{
			Channel: order.ChannelPortal, Items: []order.RequestedItem{{Name: splitName(name), Kind: order.Transfer, Code: "auth-sieben-7"}},
		})
		s.must(err)
		page, err := s.startPaying(o)
		s.must(err)
		s.finishPaying(o, page)
		testkit.Eventually(t, "transfer requested", func() bool {
			item, found, err := s.db.ProvisionItemByID(t.Context(), s.order(o.ID).Items[0].ProvisionItem)
			return err == nil && found && item.State == provision.StatePending
		})
		s.must(s.world.Advance(6 * day))
		testkit.Eventually(t, "transfer", func() bool { return s.order(o.ID).State == order.Completed })
		if o.Items[0].Net != premiumNet {
			t.Errorf("ordered %+v", o.Items[0])
		}
		s.wantCharge(o, "250.00 EUR")
	})
}

func TestPremium_RestoreCostsItsFeeAndThatOfTheYears(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deletedAfter int // days after the end of the term
		net          registrar.Cents
	}{
		"during the term": {-300, 275_00},
		"after its end":   {10, 385_00},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t, sqliteOptions(t))
			const name = "premium-acht.com"
			bought := s.buy(name)
			testkit.Eventually(t, "registration", func() bool { return s.order(bought.ID).State == order.Completed })
			s.world.SetPremiumFees(100_00, 100_00)
			s.must(s.world.Advance(s.domain(name).PaidUntil.AddDate(0, 0, test.deletedAfter).Sub(s.world.Now())))
			_, _, err := s.connect(registry.ProductAccount).DeleteDomain(t.Context(), name, "delete-1")
			s.must(err)
			s.exec("UPDATE domains SET status = 'redemption' WHERE name = $1", name)
			o, refused, err := s.orders.AddRenewals(t.Context(), ada, []order.RequestedItem{{Name: splitName(name), Kind: order.Restore}})
			if err != nil || len(refused) > 0 || o.Items[0].Net != test.net {
				t.Fatalf("%+v, %v, %v", o.Items, refused, err)
			}
			page, err := s.startPaying(o)
			s.must(err)
			s.finishPaying(o, page)
			testkit.Eventually(t, "restore", func() bool { return s.order(o.ID).State.Final() })
			if now := s.order(o.ID); now.State != order.Completed {
				t.Fatalf("%+v", now.Items)
			}
			s.wantCharge(o, "250.00 EUR") // the simulated registry adds the missing year without a charge
		})
	}
}

func TestPremium_RestoreIsRefusedIfFeesHaveRisen(t *testing.T) {
	t.Parallel()
	s := newEnv(t, sqliteOptions(t))
	const name = "premium-neun.com"
	bought := s.buy(name)
	testkit.Eventually(t, "registration", func() bool { return s.order(bought.ID).State == order.Completed })
	s.world.SetPremiumFees(100_00, 100_00)
	s.must(s.world.Advance(s.domain(name).PaidUntil.AddDate(0, 0, 10).Sub(s.world.Now())))
	_, _, err := s.connect(registry.ProductAccount).DeleteDomain(t.Context(), name, "delete-1")
	s.must(err)
	s.stopProvisioning()
	s.exec("UPDATE domains SET status = 'redemption' WHERE name = $1", name)
	o, _, err := s.orders.AddRenewals(t.Context(), ada, []order.RequestedItem{{Name: splitName(name), Kind: order.Restore}})
	s.must(err)
	page, err := s.startPaying(o)
	s.must(err)
	s.finishPaying(o, page)
	s.world.SetPremiumFees(100_00, 101_00) // of the year that the restore adds
	s.startProvisioning()
	testkit.Eventually(t, "refund", func() bool { return s.order(o.ID).Items[0].State == order.ItemRefunded })
	if item := s.order(o.ID).Items[0]; item.Failure != provision.FeeRaised || s.charged() != premiumGross {
		t.Errorf("%+v, charged %s", item, s.charged())
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
