package renewals

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	sandbox "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/test/testkit"
)

func TestCharge_FailuresAreRetriedOnDaysThreeAndSeven(t *testing.T) {
	t.Parallel()
	for card, failure := range map[string]registrar.Code{
		cardDeclines: order.CardDeclined, cardAsks: order.AuthenticationRequired, cardEmpty: order.InsufficientFunds, cardExpired: order.CardExpired,
	} {
		t.Run(string(failure), func(t *testing.T) {
			t.Parallel()
			eachEngine(t, func(t *testing.T, s *env) {
				s.announced("abgelehnt.com")
				s.behave(card)
				began := s.world.Now()
				for attempt, wait := range []time.Duration{3 * day, 4 * day, 0} {
					s.charge()
					row := s.renewal("abgelehnt.com")
					if row.Attempts != attempt+1 || row.Failure != failure {
						t.Fatalf("after attempt %d: %+v", attempt+1, row)
					}
					last := s.automaticOrders()[attempt]
					if wait == 0 {
						break
					}
					if late := row.ChargeAt.Sub(began.Add(wait)); row.State != renewal.Announced || late < 0 || late > time.Minute {
						t.Fatalf("the next attempt is on %s, %s after the %d. one", row.ChargeAt, row.ChargeAt.Sub(began), attempt+1)
					}
					if last.State != order.AwaitingPayment || last.ExpiresAt.After(row.ChargeAt) {
						t.Fatalf("the order is %s and expires at %s", last.State, last.ExpiresAt)
					}
					s.wantMails(registrar.MailRenewalDeclined, attempt+1)
					s.must(s.world.Advance(wait - time.Hour)) // the clock keeps running
					s.charge()
					if len(s.automaticOrders()) != attempt+1 {
						t.Fatal("charged before the day of the next attempt")
					}
					s.must(s.world.Advance(time.Hour + time.Minute))
					began = s.world.Now()
				}
				s.wantState("abgelehnt.com", renewal.Failed, failure)
				s.wantMails(registrar.MailRenewalDeclined, 2)
				mail := s.wantMails(registrar.MailRenewalFailed, 1)[0]
				orders := s.automaticOrders()
				if mail["order"] != orders[2].ID || mail["failure"] != string(failure) || mail["payable_until"] != orders[2].ExpiresAt.UTC().Format(time.RFC3339) {
					t.Errorf("the last mail says %v", mail)
				}
				if orders[0].State != order.Expired || orders[1].State != order.Expired || orders[2].State != order.AwaitingPayment {
					t.Errorf("the orders are %s, %s and %s", orders[0].State, orders[1].State, orders[2].State)
				}
				if s.charged() != 0 {
					t.Errorf("charged %s", s.charged())
				}
				s.reconcile()
			})
		})
	}
}

func TestCharge_SecondAttemptSucceeds(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("spaeter.com")
		s.behave(cardEmpty)
		s.charge()
		s.behave("")
		s.must(s.world.Advance(3*day + time.Minute))
		s.charge()
		row := s.waitRenewed("spaeter.com")
		if s.charged() != s.order(row.Order).Totals.Gross || len(s.automaticOrders()) != 2 {
			t.Errorf("charged %s in %d orders", s.charged(), len(s.automaticOrders()))
		}
		s.reconcile()
	})
}

func TestCharge_CustomerPaysLinkAfterBankAsked(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("freigabe.com")
		s.behave(cardAsks)
		s.list(".com", 9999) // a higher price does not apply
		s.charge()
		mail := s.wantMails(registrar.MailRenewalDeclined, 1)[0]
		o := s.order(mail["order"])
		s.must(s.world.Advance(3*day - 20*time.Minute))
		page, err := s.startPaying(o)
		s.must(err)
		// The next attempt is due while the customer is paying.
		s.must(s.world.Advance(30 * time.Minute))
		s.charge()
		s.finishPaying(o, page)
		s.waitRenewed("freigabe.com")
		s.must(s.world.Advance(7 * day))
		s.charge()
		if row := s.renewal("freigabe.com"); s.charged() != o.Totals.Gross || o.Totals.Gross > row.Gross || len(s.automaticOrders()) != 1 {
			t.Errorf("charged %s, announced %s", s.charged(), row.Gross)
		}
		s.reconcile()
	})
}

func TestCharge_WithoutSavedMethodSendsLink(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("ohne-karte.com")
		s.exec("UPDATE payment_methods SET method = '', label = '' WHERE customer_id = $1", customerID)
		s.charge()
		s.wantState("ohne-karte.com", renewal.Announced, order.NoPaymentMethod)
		mail := s.wantMails(registrar.MailRenewalDeclined, 1)[0]
		if o := s.order(mail["order"]); o.State != order.AwaitingPayment || len(o.Payments) != 0 || mail["method"] != "" {
			t.Errorf("the order is %+v", o)
		}
		// A method that only the provider has deleted.
		s.must(s.db.PutPaymentMethod(s.t.Context(), customerID, order.PaymentMethod{ProviderCustomer: "cus_gone", ID: "pm_gone", Label: "x"}, s.world.Now()))
		s.must(s.world.Advance(3*day + time.Minute))
		s.charge()
		s.wantState("ohne-karte.com", renewal.Announced, order.NoPaymentMethod)
		s.reconcile()
	})
}

func TestCharge_ReplacedCardIsCharged(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("neue-karte.com")
		s.behave(cardDeclines) // the card that was announced
		s.saveCard()
		s.charge()
		s.waitRenewed("neue-karte.com")
		if len(s.automaticOrders()) != 1 {
			t.Errorf("%d orders", len(s.automaticOrders()))
		}
		s.reconcile()
	})
}

func TestCharge_RegistryRefusalAfterPaymentIsRefunded(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("verweigert.com", "geht.com")
		s.stopProvisioning()
		s.charge()
		o := s.automaticOrders()[0]
		if o.State != order.Provisioning {
			t.Fatalf("the order is %s", o.State)
		}
		for _, item := range o.Items {
			if row := s.renewal(item.Name); row.State != renewal.Charging || !row.ChargeAt.IsZero() {
				t.Errorf("%s is %+v while its item is provisioned", item.Name, row)
			}
			was, found, err := s.db.ProvisionItemByID(s.t.Context(), item.ProvisionItem)
			s.must(err)
			if !found {
				t.Fatalf("no provision item of %s", item.Name)
			}
			now := was
			now.DueAt, now.UpdatedAt = time.Time{}, s.world.Now()
			move := provision.Transition{From: was, To: now, At: s.world.Now()}
			if item.Name == "verweigert.com" {
				move.To.State, move.To.Failure, move.To.RefundDue = provision.StateFailed, "epp_status_prohibits", true
			} else {
				domain := s.domain(item.Name)
				move.To.State = provision.StateActive
				move.Renewal = &provision.Renewal{Domain: domain.ID, From: domain.PaidUntil, Until: domain.PaidUntil.AddDate(1, 0, 0), At: s.world.Now()}
			}
			if stored, err := s.db.UpdateProvisionItem(s.t.Context(), move); err != nil || !stored {
				t.Fatal(stored, err)
			}
		}
		s.orders.Wake()
		testkit.Eventually(s.t, "refund", func() bool { o = s.order(o.ID); return o.State.Final() && o.RefundsDue() == 0 })
		s.wantState("verweigert.com", renewal.Failed, "epp_status_prohibits")
		row := s.wantState("geht.com", renewal.Renewed, "")
		if o.State != order.PartiallyCompleted || s.charged() > row.Gross {
			t.Errorf("the order is %s, kept %s", o.State, s.charged())
		}
		s.wantMails(registrar.MailOrderEnded, 1)
		s.reconcile()
	})
}

func TestCharge_ProviderOutageDoesNotCountAsAttempt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("ausfall.com")
		s.must(s.provider.Fault(sandbox.Fault{On: "intent.create", Do: "fail_before", Times: 3}))
		s.charge()
		row := s.wantState("ausfall.com", renewal.Announced, "")
		if wait := row.ChargeAt.Sub(s.world.Now()); row.Attempts != 0 || wait < 50*time.Minute || wait > time.Hour {
			t.Fatalf("after an outage: %+v", row)
		}
		s.wantMails(registrar.MailRenewalDeclined, 0)
		s.must(s.world.Advance(time.Hour))
		s.charge()
		s.waitRenewed("ausfall.com")
		s.reconcile()
	})
}

func TestCharge_LostAnswerIsFoundPaid(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		s.announced("verloren.com")
		s.must(s.provider.Fault(sandbox.Fault{On: "intent.confirm", Do: "fail_kept", Times: 3}))
		s.charge()
		testkit.Eventually(s.t, "the order is found paid", func() bool { return s.automaticOrders()[0].State != order.Paying })
		s.waitRenewed("verloren.com")
		if len(s.automaticOrders()) != 1 || s.charged() != s.automaticOrders()[0].Totals.Gross {
			t.Errorf("%d orders, charged %s", len(s.automaticOrders()), s.charged())
		}
		s.reconcile()
	})
}
