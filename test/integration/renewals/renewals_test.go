package renewals

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/test/testkit"
)

func TestRenewal_AnnouncedChargedAndRenewedInOneOrder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.saveCard()
		s.register("eins.com", "zwei.org")
		before := s.domain("eins.com")
		s.advanceTo("eins.com", 46*day)
		s.announce()
		if got := s.renewals("eins.com"); len(got) != 0 {
			t.Fatalf("announced too early: %+v", got)
		}
		s.advanceTo("eins.com", 45*day-time.Minute)
		s.announce()
		s.announce()
		row := s.wantState("eins.com", renewal.Announced, "")
		if want := before.PaidUntil.Add(-14 * day); !row.ChargeAt.Equal(want) || row.Gross != s.price("eins.com") || row.Years != 1 {
			t.Errorf("announced %+v, want the charge on %s", row, want)
		}
		mail := s.wantMails(registrar.MailRenewalUpcoming, 1)[0]
		if mail["items"] != "2" || mail["method"] != "Visa •••• 4242" || mail["charge_at"] != row.ChargeAt.UTC().Format(time.DateOnly) ||
			mail["gross"] != (s.price("eins.com")+s.price("zwei.org")).String() {
			t.Errorf("announced %v", mail)
		}
		// The mail is evidence for each domain.
		subjects := registrar.NoticeSubjects(mail)
		if len(subjects) != 2 || subjects[0] != (registrar.NoticeSubject{ID: before.ID, Name: "eins.com", TermEnd: before.PaidUntil}) || subjects[1].Name != "zwei.org" {
			t.Errorf("the announcement is evidence for %+v", subjects)
		}
		s.charge()
		if len(s.automaticOrders()) != 0 {
			t.Fatal("charged before the day")
		}
		s.advanceTo("eins.com", 14*day-time.Hour)
		s.charge()
		s.charge()
		row = s.waitRenewed("eins.com")
		s.waitRenewed("zwei.org")
		orders := s.automaticOrders()
		if len(orders) != 1 || orders[0].State != order.Completed || len(orders[0].Items) != 2 || orders[0].By.Kind != registrar.ActorSystem {
			t.Fatalf("the orders are %+v", orders)
		}
		if got := s.charged(); got != orders[0].Totals.Gross || got > s.price("eins.com")+s.price("zwei.org") {
			t.Errorf("charged %s for %s", got, orders[0].Totals.Gross)
		}
		if after := s.domain("eins.com"); !after.PaidUntil.Equal(before.PaidUntil.AddDate(1, 0, 0)) || !row.ChargeAt.IsZero() {
			t.Errorf("paid until %s", after.PaidUntil)
		}
		// The renewal's worker is not that of purchases.
		items, err := s.db.ListProvisionItemsByName(t.Context(), "eins.com")
		if err != nil || len(items) != 2 || items[0].Automatic || !items[1].Automatic {
			t.Errorf("the items are %+v, %v", items, err)
		}
		if receipt := s.wantMails(registrar.MailOrderPaid, 1)[0]; receipt["automatic"] != "true" || receipt["method"] != "Visa •••• 4242" {
			t.Errorf("the receipt is %v", receipt)
		} else if at := slices.IndexFunc(orders[0].Items, func(item order.Item) bool { return item.Name == "eins.com" }); receipt[fmt.Sprintf("item%d_paid_until", at+1)] != s.domain("eins.com").PaidUntil.Format(time.DateOnly) {
			t.Errorf("the receipt does not name the new end: %v", receipt)
		}
		s.wantMails(registrar.MailOrderEnded, 0)
		s.reconcile()
	})
}

func TestCharge_AllDomainsOfADayAreChargedTogether(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.must(s.world.Advance(s.world.Now().UTC().Truncate(day).Add(day + 6*time.Hour).Sub(s.world.Now()))) // six in the morning
		s.saveCard()
		s.register("morgens.com")
		s.must(s.world.Advance(5 * time.Hour))
		s.register("mittags.com")
		s.must(s.world.Advance(day))
		s.register("tags-darauf.com")
		for _, name := range []string{"morgens.com", "tags-darauf.com"} {
			s.advanceTo(name, 44*day)
			s.announce()
		}
		s.advanceTo("morgens.com", 14*day+time.Hour)
		s.charge()
		if len(s.automaticOrders()) != 0 {
			t.Fatal("charged before the first one of the day was due")
		}
		s.advanceTo("morgens.com", 14*day-time.Minute)
		s.charge()
		s.waitRenewed("morgens.com")
		s.waitRenewed("mittags.com")
		if orders := s.automaticOrders(); len(orders) != 1 || len(orders[0].Items) != 2 {
			t.Errorf("the orders are %+v", orders)
		}
		s.wantState("tags-darauf.com", renewal.Announced, "")
		s.reconcile()
	})
}

func TestAnnounce_TermEndingWithinNoticePeriodIsNotAnnounced(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.saveCard()
		s.register("spaet.com")
		s.advanceTo("spaet.com", 31*day-time.Minute)
		s.announce()
		if got := s.renewals("spaet.com"); len(got) != 0 {
			t.Errorf("announced %+v", got)
		}
		s.wantMails(registrar.MailRenewalUpcoming, 0)
	})
}

func TestAnnounce_LateAnnouncementKeepsThirtyDays(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.saveCard()
		s.register("knapp.com")
		s.advanceTo("knapp.com", 33*day)
		s.announce()
		row := s.renewal("knapp.com")
		if notice := row.ChargeAt.Sub(row.AnnouncedAt); notice != 30*day {
			t.Errorf("%s between announcement and charge", notice)
		}
	})
}

func TestAnnounce_WarnsOfCardThatExpiresBeforeTheCharge(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.saveCard()
		s.register("bald.com")
		s.advanceTo("bald.com", 44*day)
		before := s.world.Now().Format(order.ExpiresLayout)
		for _, test := range []struct{ expires, want string }{{before, before}, {"2099-12", ""}} {
			s.exec("UPDATE saved_methods SET expires = $1", test.expires)
			s.exec("DELETE FROM renewals")
			s.exec("DELETE FROM mails")
			s.announce()
			if mail := s.wantMails(registrar.MailRenewalUpcoming, 1)[0]; mail["method_expires"] != test.want {
				t.Errorf("valid through %s: the mail has %q", test.expires, mail["method_expires"])
			}
			domain := s.domain("bald.com")
			charge, announced, err := s.db.AnnouncedRenewal(t.Context(), customerID, domain.ID, domain.PaidUntil)
			if err != nil || !announced || charge.MethodExpires != test.want {
				t.Errorf("valid through %s: the reminder gets %+v, %v", test.expires, charge, err)
			}
		}
	})
}

func TestAnnounce_PriceRiseNamesBothPrices(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.saveCard()
		s.register("teurer.com", "gleich.org")
		was := s.price("teurer.com")
		s.list(".com", 2000)
		s.advanceTo("teurer.com", 44*day)
		s.announce()
		mail := s.wantMails(registrar.MailRenewalPriceRise, 1)[0]
		if mail["items"] != "1" || mail["item1_name"] != "teurer.com" || mail["item1_was"] != was.String() || mail["item1_gross"] != "23.80" {
			t.Errorf("the mail says %v, before it was %s", mail, was)
		}
		if mail := s.wantMails(registrar.MailRenewalUpcoming, 1)[0]; mail["items"] != "1" || mail["domain"] != "gleich.org" {
			t.Errorf("the other mail says %v", mail)
		}
	})
}

func TestCharge_NeverMoreThanAnnounced(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("fest.com")
		announced := s.renewal("fest.com").Gross
		s.list(".com", 9999)
		s.charge()
		s.waitRenewed("fest.com")
		if got := s.charged(); got != announced {
			t.Errorf("charged %s, announced %s", got, announced)
		}
		// The next term costs the new price.
		s.advanceTo("fest.com", 44*day)
		s.announce()
		rows := s.renewals("fest.com")
		if len(rows) != 2 || rows[1].Gross != s.price("fest.com") || rows[1].Gross <= announced {
			t.Errorf("the next renewal is %+v", rows)
		}
		s.wantMails(registrar.MailRenewalPriceRise, 1)
		s.reconcile()
	})
}

// VAT is rounded once over an order, so six equal prices don't add up to their total.
func TestCharge_IsTheAnnouncedTotalWithListPrices(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		var names []string
		for i := range 6 {
			names = append(names, fmt.Sprintf("sechs-%d.com", i))
		}
		s.list(".com", 1290)
		s.announced(names...)
		announced := s.mails(registrar.MailRenewalUpcoming)
		s.charge()
		s.waitRenewed(names[5])
		if got := s.charged(); len(announced) != 1 || announced[0]["gross"] != got.String() {
			t.Errorf("charged %s, announced %v", got, announced)
		}
		for _, item := range s.automaticOrders()[0].Items {
			if item.Net != 1290 || item.Gross > s.renewal(item.Name).Gross {
				t.Errorf("%s costs %s net and %s, announced %s", item.Name, item.Net, item.Gross, s.renewal(item.Name).Gross)
			}
		}
		s.reconcile()
	})
}

// list changes the renewal price of a TLD; 0 removes it from the price list.
func (s *env) list(tld string, net registrar.Cents) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed[tld] = net
}

func TestCharge_ConsentWithdrawnJustBeforeStopsIt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("doch-nicht.com", "weiter.com")
		// While the registry is queried, after the renewals were listed.
		var once sync.Once
		s.onQuote = func(string) { once.Do(func() { s.withdraw("doch-nicht.com") }) }
		s.charge()
		s.wantState("doch-nicht.com", renewal.Stopped, "")
		s.waitRenewed("weiter.com")
		if o := s.automaticOrders(); len(o) != 1 || len(o[0].Items) != 1 {
			t.Errorf("the orders are %+v", o)
		}
		s.reconcile()
	})
}

func TestCharge_ManualPaymentJustBeforeComesFirst(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("von-hand.com")
		o, err := s.manualOrder("von-hand.com")
		s.must(err)
		page, err := s.startPaying(o)
		s.must(err)
		s.charge()
		if row := s.wantState("von-hand.com", renewal.Announced, ""); !row.ChargeAt.After(s.world.Now()) || len(s.automaticOrders()) != 0 {
			t.Fatalf("charged beside the customer's payment: %+v", row)
		}
		s.finishPaying(o, page)
		testkit.Eventually(s.t, "manual renewal", func() bool { return s.order(o.ID).State == order.Completed })
		s.wantState("von-hand.com", renewal.Stopped, "")
		s.must(s.world.Advance(2 * time.Hour))
		s.charge()
		if len(s.automaticOrders()) != 0 || s.charged() != o.Totals.Gross {
			t.Errorf("charged %s", s.charged())
		}
		s.reconcile()
	})
}

func TestPay_RefusedWhileAutomaticRenewalIsInFlight(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("laeuft.com")
		o, err := s.manualOrder("laeuft.com")
		s.must(err)
		// The customer presses the button when the automatic order has just been stored.
		s.exec(`UPDATE renewals SET state = 'charging', order_id = 'ord_other' WHERE name = 'laeuft.com'`)
		if _, err := s.startPaying(o); registrar.CodeOf(err) != order.RenewalInProgress && !refusedWith(err, order.RenewalInProgress) {
			t.Errorf("paying got %v", err)
		}
		if _, err := s.manualOrder("laeuft.com"); !refusedWith(err, order.RenewalInProgress) {
			t.Errorf("ordering got %v", err)
		}
		// The transaction that starts the payment decides, whatever was quoted before.
		from := s.order(o.ID)
		to := from
		to.State = order.Paying
		if _, err := s.db.UpdateOrder(s.t.Context(), order.Transition{From: from, To: to}); registrar.CodeOf(err) != order.RenewalInProgress {
			t.Errorf("the store returned %v", err)
		}
		if s.order(o.ID).State != order.AwaitingPayment {
			t.Errorf("the order is %s", s.order(o.ID).State)
		}
	})
}

func TestCharge_TwoNodesInOneNightChargeOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("nacht-1.com", "nacht-2.com", "nacht-3.org")
		list, err := catalog.Shipped()
		s.must(err)
		orders, second := s.newNode("node2", list)
		s.inBackground(orders.Run)
		var both sync.WaitGroup
		for _, worker := range []*renewal.Worker{s.worker, second, s.worker, second} {
			both.Go(func() {
				if err := worker.Charge(s.t.Context(), customerID); err != nil {
					t.Error(err)
				}
			})
		}
		both.Wait()
		sum := registrar.Cents(0)
		for _, name := range []string{"nacht-1.com", "nacht-2.com", "nacht-3.org"} {
			s.waitRenewed(name)
		}
		for _, o := range s.automaticOrders() {
			sum += o.Totals.Gross
		}
		if len(s.automaticOrders()) != 1 || s.charged() != sum {
			t.Errorf("%d orders, charged %s of %s", len(s.automaticOrders()), s.charged(), sum)
		}
		s.reconcile()
	})
}

func TestCharge_UnsoldExtensionFailsAlone(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("weg.org", "bleibt.com")
		s.list(".org", 0)
		s.charge()
		s.wantState("weg.org", renewal.Failed, registrar.ExtensionNotCarried)
		s.waitRenewed("bleibt.com")
		if mail := s.wantMails(registrar.MailRenewalFailed, 1)[0]; mail["domain"] != "weg.org" || mail["order"] != "" {
			t.Errorf("the mail says %v", mail)
		}
		s.reconcile()
	})
}

func TestPay_AutomaticOrderIsClosedOnceTermWasRenewedByHand(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("zweimal.com")
		s.behave(cardEmpty)
		s.charge()
		failed := s.automaticOrders()[0]
		o, err := s.manualOrder("zweimal.com")
		s.must(err)
		page, err := s.startPaying(o)
		s.must(err)
		s.finishPaying(o, page)
		testkit.Eventually(s.t, "manual renewal", func() bool { return s.order(o.ID).State == order.Completed })
		s.wantState("zweimal.com", renewal.Stopped, order.InsufficientFunds)
		testkit.Eventually(s.t, "the unpaid order has ended", func() bool { return s.order(failed.ID).State == order.Expired })
		if _, err := s.startPaying(s.order(failed.ID)); registrar.CodeOf(err) != order.NotOpen {
			t.Errorf("the same term can be paid again: %v", err)
		}
		s.reconcile()
	})
}

func TestAnnounce_UnsoldExtensionFailsWithOneMail(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.saveCard()
		s.register("vorbei.org")
		s.list(".org", 0)
		s.advanceTo("vorbei.org", 44*day)
		s.announce()
		s.announce()
		s.wantState("vorbei.org", renewal.Failed, registrar.ExtensionNotCarried)
		s.wantMails(registrar.MailRenewalFailed, 1)
	})
}

func TestBrake_StopsAnnouncementsAndCharges(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("gebremst.com")
		s.register("auch.com")
		s.stopped = true
		s.advanceTo("gebremst.com", 13*day)
		s.charge()
		s.wantState("gebremst.com", renewal.Announced, "")
		s.stopped = false
		s.charge()
		s.waitRenewed("gebremst.com")
	})
}

func TestCharge_ManyDomainsOverIdentityLimitInOneOrder(t *testing.T) {
	t.Parallel()
	s := newEnv(t, sqliteOptions(t))
	var names []string
	for i := range 25 { // more than a person can order at once
		names = append(names, "viele-"+string(rune('a'+i))+".com")
	}
	s.list(".com", 5000) // 25 × 59.50 EUR, far above 500
	s.announced(names...)
	s.charge()
	for _, name := range names {
		s.waitRenewed(name)
	}
	orders := s.automaticOrders()
	if len(orders) != 1 || len(orders[0].Items) != 25 || s.charged() != orders[0].Totals.Gross {
		t.Fatalf("%d orders, charged %s", len(orders), s.charged())
	}
	for _, item := range orders[0].Items {
		if item.Gross > s.renewal(item.Name).Gross {
			t.Errorf("%s costs %s, announced was %s", item.Name, item.Gross, s.renewal(item.Name).Gross)
		}
	}
	s.reconcile()
}
