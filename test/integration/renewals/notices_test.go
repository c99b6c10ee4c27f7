package renewals

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// terminate stores a customer's termination now.
func (s *env) terminate(contract string) withdrawal.Notice {
	s.t.Helper()
	notice := withdrawal.Notice{
		ID: registrar.NewID("dcl_", s.world.Now()), Kind: withdrawal.Termination, Name: "Ada", Email: "Ada@Example.org", Contract: contract,
		Language: "de", At: s.world.Now().UTC().Truncate(time.Second),
	}
	s.must(s.db.AddWithdrawalNotice(s.t.Context(), notice, nil, time.Now()))
	return notice
}

// handle closes a notice without an effect on the domain.
func (s *env) handle(notice withdrawal.Notice) {
	s.t.Helper()
	notice.DoneAt = s.world.Now()
	err := s.db.StoreOutcome(s.t.Context(), withdrawal.Outcome{Notice: notice, AuditEvent: registrar.AuditEvent{Actor: operator, Action: withdrawal.NoticeHandled, Object: notice.ID, At: notice.DoneAt}})
	s.must(err)
}

// agreed confirms a customer's open order with automatic renewal as the checkout shows it.
func (s *env) agreed(o order.Order) order.Confirmation {
	s.t.Helper()
	view, err := s.orders.View(s.t.Context(), ada, s.secret(o))
	s.must(err)
	return order.Confirmation{
		Gross: view.Order.Totals.Gross, Items: view.Order.ItemsDigest(), Consent: order.ConsentWording("de"),
		AutoRenew: true, RenewalWording: renewal.ConsentWording("de"), RenewalPrices: order.FormatRenewalPrices(view.Order, view.RenewalOffers()),
	}
}

// wantRenews checks whether a domain renews automatically.
func (s *env) wantRenews(name string, want bool) {
	s.t.Helper()
	var choice string
	s.must(s.db.SQL().Reader().QueryRowContext(s.t.Context(), "SELECT at_term_end FROM domains WHERE name = $1", name).Scan(&choice))
	if renews := choice == string(renewal.Renew); renews != want {
		s.t.Errorf("%s renews automatically: %v", name, renews)
	}
}

// payment is an order that is being paid with automatic renewal.
type payment struct {
	order order.Order
	page  string
}

func (s *env) pay(o order.Order, err error) payment {
	s.t.Helper()
	s.must(err)
	page, err := s.orders.Pay(s.t.Context(), ada, s.secret(o), s.agreed(o))
	s.must(err)
	return payment{o, page}
}

// transfer orders the transfer of a domain of another registrar.
func (s *env) transfer(name string) (order.Order, error) {
	const code = "auth-sieben-7"
	_, err := s.connect(registry.DefaultAccounts()[1].ID).CreateDomain(s.t.Context(), epp.CreateDomain{Name: name, Years: 1, AuthInfo: code})
	s.must(err)
	return s.orders.Create(s.t.Context(), ada, order.Request{
		Channel: order.ChannelPortal, Items: []order.RequestedItem{{Name: splitName(name), Kind: order.Transfer, Code: code}},
	})
}

func (s *env) waitTransferRequested(o order.Order) {
	s.t.Helper()
	testkit.Eventually(s.t, "transfer requested", func() bool {
		item, found, err := s.db.ProvisionItemByID(s.t.Context(), s.order(o.ID).Items[0].ProvisionItem)
		return err == nil && found && item.State == provision.StatePending
	})
}

func TestPay_RenewalConsentRefusedWhileNoticeIsOpen(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		bought := s.buy("gekauft.com")
		s.register("frei.com", "gekuendigt.com")
		s.withdraw("frei.com")
		s.withdraw("gekuendigt.com")
		testkit.Eventually(t, "registration", func() bool { return s.order(bought.ID).State == order.Completed })
		basket := s.addRenewals("frei.com", "gekuendigt.com", "gekauft.com")
		shown := s.agreed(basket)
		// The notices arrive after the page was shown. One names an order instead of a domain.
		byName, byOrder := s.terminate("www.Gekuendigt.com"), s.terminate("Auftrag "+bought.ID)
		if _, err := s.orders.Pay(t.Context(), ada, s.secret(basket), shown); registrar.CodeOf(err) != withdrawal.NoticeOpen {
			t.Errorf("paying with a consent to all: %v", err)
		}
		view, err := s.orders.View(t.Context(), ada, s.secret(basket))
		s.must(err)
		for _, item := range view.Order.Items {
			_, offered := view.RenewalOffers()[item.ID]
			if notices := view.OpenNotices[item.ID]; offered != (item.Name == "frei.com") || offered != (len(notices) == 0) {
				t.Errorf("%s: offered %v, notices %v", item.Name, offered, notices)
			}
		}
		consents, _ := s.startMethods()
		for _, name := range []string{"gekuendigt.com", "gekauft.com"} {
			if _, err := consents.AgreeURL(t.Context(), ada, s.domain(name).ID); registrar.CodeOf(err) != withdrawal.NoticeOpen {
				t.Errorf("an agent gets a link for %s: %v", name, err)
			}
		}
		page, err := s.orders.Pay(t.Context(), ada, s.secret(basket), s.agreed(basket))
		s.must(err)
		s.finishPaying(basket, page)
		testkit.Eventually(t, "renewals", func() bool { return s.order(basket.ID).State == order.Completed })
		s.wantRenews("frei.com", true)
		s.wantRenews("gekuendigt.com", false)
		s.wantRenews("gekauft.com", false)
		s.handle(byName)
		s.handle(byOrder)
		_, err = consents.AgreeURL(t.Context(), ada, s.domain("gekuendigt.com").ID)
		s.must(err)
		s.reconcile()
	})
}

// Handled or not: the customer agreed before they ended the contract.
func TestPay_NoticeAfterRenewalConsentVoidsIt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		for name, handled := range map[string]bool{"offen.com": false, "erledigt.com": true} {
			s.register(name)
			s.withdraw(name)
			o, err := s.manualOrder(name)
			s.must(err)
			page, err := s.orders.Pay(t.Context(), ada, s.secret(o), s.agreed(o))
			s.must(err)
			if notice := s.terminate(name); handled {
				s.handle(notice)
			}
			s.finishPaying(o, page)
			testkit.Eventually(t, "renewal", func() bool { return s.order(o.ID).State == order.Completed })
			s.wantRenews(name, false)
		}
		// Nothing is provisioned yet when these arrive.
		named, byOrder := s.pay(s.registration("angemeldet.com")), s.pay(s.registration("bestellt.com"))
		s.terminate("angemeldet.com")
		s.terminate("Auftrag " + byOrder.order.ID)
		moved := s.pay(s.transfer("umgezogen.com"))
		s.terminate("umgezogen.com")
		for _, paying := range []payment{named, byOrder, moved} {
			s.finishPaying(paying.order, paying.page)
		}
		s.waitTransferRequested(moved.order)
		s.must(s.world.Advance(6 * day))
		for name, paying := range map[string]payment{"angemeldet.com": named, "bestellt.com": byOrder, "umgezogen.com": moved} {
			testkit.Eventually(t, name, func() bool { return s.order(paying.order.ID).State == order.Completed })
			s.wantRenews(name, false)
		}
		s.wantMails(registrar.MailRenewalOn, 0)
		for _, mail := range s.wantMails(registrar.MailRenewalHeld, 5) { // one for each order
			if mail["change"] != "voided" || mail["number"] == "" || mail["paid_until"] == "" {
				t.Errorf("mail %v", mail)
			}
		}
		// A notice about an earlier contract of the same name says nothing about the new one.
		s.terminate("neu.com")
		s.must(s.world.Advance(time.Minute))
		o, err := s.registration("neu.com")
		s.must(err)
		page, err := s.orders.Pay(t.Context(), ada, s.secret(o), s.agreed(o))
		s.must(err)
		s.finishPaying(o, page)
		testkit.Eventually(t, "registration", func() bool { return s.order(o.ID).State == order.Completed })
		s.wantRenews("neu.com", true)
		s.reconcile()
	})
}

func TestCharge_NothingWhileNoticeIsOpen(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("gekuendigt.com", "weiter.com")
		notice := s.terminate("gekuendigt.com")
		s.charge()
		s.waitRenewed("weiter.com")
		row := s.wantState("gekuendigt.com", renewal.Announced, "")
		if !row.ChargeAt.After(s.world.Now()) {
			t.Errorf("it is due on %s", row.ChargeAt)
		}
		// Once it is handled without ending the contract, the charge follows.
		s.handle(notice)
		s.must(s.world.Advance(2 * time.Hour))
		s.charge()
		s.waitRenewed("gekuendigt.com")
		s.reconcile()
	})
}

func TestAnnounce_OnHoldWhileNoticeIsOpen(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.saveCard()
		s.register("gekuendigt.com", "weiter.com")
		s.advanceTo("gekuendigt.com", 46*day)
		notice := s.terminate("gekuendigt.com")
		s.advanceTo("gekuendigt.com", 45*day-time.Minute)
		s.announce()
		mail := s.wantMails(registrar.MailRenewalUpcoming, 1)[0]
		if mail["gross"] != s.price("weiter.com").String() || mail["domain"] != "weiter.com" || mail["item1_held"] != "" || mail["item2_name"] != "gekuendigt.com" || mail["item2_held"] != "termination" {
			t.Errorf("announced %v", mail)
		}
		s.advanceTo("gekuendigt.com", 14*day-time.Hour)
		s.charge()
		s.waitRenewed("weiter.com")
		// It was announced in time, so it is charged once the contract is known to stay.
		s.wantState("gekuendigt.com", renewal.Announced, "")
		s.handle(notice)
		s.must(s.world.Advance(2 * time.Hour))
		s.charge()
		s.waitRenewed("gekuendigt.com")
		s.reconcile()
	})
}

// The address in the form gets no mail that depends on a contract.
func TestNotice_AccountIsMailedThatRenewalIsSuspended(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("gekuendigt.com", "weiter.com")
		foreign := withdrawal.Notice{
			ID: registrar.NewID("dcl_", s.world.Now()), Kind: withdrawal.Termination, Name: "Eve", Email: "eve@example.org", Contract: "gekuendigt.com",
			Language: "de", At: s.world.Now().UTC().Truncate(time.Second),
		}
		s.must(s.db.AddWithdrawalNotice(t.Context(), foreign, nil, time.Now()))
		s.wantMails(registrar.MailRenewalHeld, 0)
		first := s.terminate("gekuendigt.com, weiter.com")
		s.terminate("noch einmal: weiter.com") // suspended already
		mail := s.wantMails(registrar.MailRenewalHeld, 1)[0]
		if mail["items"] != "2" || mail["item1_domain"] != "gekuendigt.com" || mail["item2_domain"] != "weiter.com" || mail["number"] != first.ID || mail["change"] != "" {
			t.Errorf("mail %v", mail)
		}
	})
}

func TestCharge_OpenNoticeAtTheEndOfTheTermFailsTheRenewal(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("gekuendigt.com")
		s.terminate("gekuendigt.com")
		s.charge()
		s.advanceTo("gekuendigt.com", -time.Hour)
		s.charge()
		s.wantState("gekuendigt.com", renewal.Failed, renewal.TooLate)
		if mail := s.wantMails(registrar.MailRenewalFailed, 1)[0]; mail["item1_held"] != "termination" {
			t.Errorf("mail %v", mail)
		}
		if charged := s.charged(); charged != 0 {
			t.Errorf("charged %s", charged)
		}
		s.reconcile()
	})
}
