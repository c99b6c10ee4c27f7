package renewals

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	sandbox "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// startMethods returns the service of payment methods at the simulated provider.
func (s *env) startMethods() (*renewal.Consents, *jobs.Worker[renewal.Detachment]) {
	s.t.Helper()
	detacher, err := renewal.NewDetacher(renewal.DetacherConfig{Store: s.db, Provider: s.stripe, Now: s.world.Now})
	s.must(err)
	s.inBackground(detacher.Run)
	consents, err := renewal.NewConsents(renewal.ConsentConfig{
		Store: s.db, Provider: s.stripe, BaseURL: baseURL, Now: s.world.Now, MethodDetached: detacher.Wake,
		Price: func(context.Context, string, order.RenewalTerm) (order.RenewalPrice, error) {
			return order.RenewalPrice{Years: 1, Gross: 1428, RateBasisPoints: 1900}, nil
		},
	})
	s.must(err)
	return consents, detacher
}

// addCard enters a card at the provider's page, and returns what is saved.
func (s *env) addCard(consents *renewal.Consents, number string, asDefault bool) []renewal.SavedMethod {
	s.t.Helper()
	page, err := consents.BeginMethodSetup(s.t.Context(), ada, asDefault, "/done?session="+renewal.SessionPlaceholder, "/back")
	s.must(err)
	s.post(page, url.Values{"cardNumber": {number}})
	saved, err := consents.FinishMethodSetup(s.t.Context(), ada, page[strings.LastIndex(page, "/")+1:])
	s.must(err)
	if !saved {
		s.t.Fatalf("%s is not saved", number)
	}
	methods, err := consents.Methods(s.t.Context(), ada)
	s.must(err)
	return methods.Saved
}

func labelsOf(saved []renewal.SavedMethod) (labels []string) {
	for _, method := range saved {
		labels = append(labels, method.Label)
	}
	return labels
}

// A customer adds cards, changes the default between announcement and charge, and removes the
// card that was announced: the new default is charged.
func TestMethods_RenewalChargesNewDefault(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, s *env) {
		consents, _ := s.startMethods()
		first := s.addCard(consents, "4242424242424242", false)
		s.register("wechsel.com")
		s.advanceTo("wechsel.com", 45*day-time.Hour)
		s.announce()
		if mail := s.wantMails(registrar.MailRenewalUpcoming, 1)[0]; mail["method"] != "Visa •••• 4242" {
			s.t.Errorf("the announcement is %v", mail)
		}
		s.addCard(consents, "5555555555554444", false)
		saved := s.addCard(consents, "5555 5555 5555 4444", false) // the same card again
		if got := labelsOf(saved); !slices.Equal(got, []string{"Visa •••• 4242", "Mastercard •••• 4444"}) || saved[1].Expires == "" || saved[0].ID != first[0].ID {
			s.t.Fatalf("saved %+v", saved)
		}
		// The provider does not respond to the first calls that detach a card.
		s.must(s.provider.Fault(sandbox.Fault{On: "method.detach", Do: "fail_before", Times: 3}))
		s.must(consents.SetDefaultMethod(s.t.Context(), ada, saved[1].ID, saved[0].ID))
		s.must(consents.RemoveMethod(s.t.Context(), ada, saved[0].ID, saved[1].ID, ""))
		s.advanceTo("wechsel.com", 14*day-time.Hour)
		s.charge()
		s.waitRenewed("wechsel.com")
		orders := s.automaticOrders()
		if len(orders) != 1 || orders[0].State != order.Completed || orders[0].Payments[0].Card != saved[1].Fingerprint {
			s.t.Errorf("the orders are %+v, the default is %+v", orders, saved[1])
		}
		if receipt := s.wantMails(registrar.MailOrderPaid, 1)[0]; receipt["method"] != "Mastercard •••• 4444" {
			s.t.Errorf("the receipt is %v", receipt)
		}
		testkit.Eventually(s.t, "the removed card is detached", func() bool {
			s.must(s.world.Advance(time.Minute)) // over the backoff
			return !s.provider.HasMethod(saved[0].ID)
		})
		if !s.provider.HasMethod(saved[1].ID) {
			s.t.Error("the default is detached")
		}
		s.wantMails(registrar.MailPaymentMethod, 5) // three additions, a new default, a removal
		s.reconcile()
	})
}
