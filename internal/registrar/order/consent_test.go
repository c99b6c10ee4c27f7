package order_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// agreed is what a consumer says who pays as asked.
func agreed(gross registrar.Cents) order.Confirmation {
	return order.Confirmation{Gross: gross, Consent: order.ConsentWording("de")}
}

// told are the actions that the audit tells of an order, of people alone.
func (w *world) told(id string) (actions []registrar.Action) {
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	for _, deed := range w.store.deeds {
		if deed.Object == id && deed.Actor == annaInPerson {
			actions = append(actions, deed.Action)
		}
	}
	return actions
}

// receipt is the letter that confirms an order.
func (w *world) receipt(id string) registrar.Letter {
	w.t.Helper()
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	for _, letter := range w.store.letters {
		if letter.Kind == registrar.LetterOrderPaid && letter.Facts["order"] == id {
			return letter
		}
	}
	w.t.Fatalf("there is no receipt of %s", id)
	return registrar.Letter{}
}

func TestAConsumerPaysOnlyAfterConsenting(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"de", "en"} {
		w := newWorld(t)
		o, secret := w.made(wanted(order.Register, "laden"))
		for _, ticked := range []string{"", "on", "2020-01-de", order.ConsentWording("de") + "x"} {
			_, err := w.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, AutoRenew: true, Consent: ticked})
			if code(err) != order.ConsentMissing || registrar.KindOf(err) != registrar.KindInvalid {
				t.Fatalf("%q: %v", ticked, err)
			}
			if now := w.state(o.ID, order.AwaitingPayment); len(now.Payments) > 0 || now.AutoRenew || now.Consent.Given() || len(w.provider.pages) > 0 {
				t.Fatalf("%q has left %+v", ticked, now)
			}
		}
		wording, before := order.ConsentWording(language), w.now()
		url, err := w.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, Consent: wording})
		if err != nil {
			t.Fatal(err)
		}
		given := w.state(o.ID, order.Paying).Consent
		if given.Wording != wording || given.At.Before(before.Truncate(time.Microsecond)) || given.Words() == "" {
			t.Errorf("stored is %+v", given)
		}
		if actions := w.told(o.ID); !slices.Equal(actions, []registrar.Action{order.ActionConsent}) {
			t.Errorf("the audit tells %v", actions)
		}
		// Pressing again is the same payment, whatever is ticked by then.
		if again, err := w.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross}); err != nil || again != url {
			t.Errorf("again: %q, %v", again, err)
		}
		w.provider.pay(url)
		if err := w.service.Returned(t.Context(), annaInPerson, secret); err != nil {
			t.Fatal(err)
		}
		if paid := w.state(o.ID, order.Provisioning); paid.Consent != given {
			t.Errorf("paid with %+v", paid.Consent)
		}
		facts := w.receipt(o.ID).Facts
		if facts["consent"] != order.ConsentWords(wording) || facts["consent_at"] != given.At.UTC().Format(time.RFC3339) {
			t.Errorf("the receipt says %v", facts)
		}
		w.books()
	}
}

func TestWhatCostsNothingWantsAConsumersConsentToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.market.net = 0
	o, secret := w.made(wanted(order.Register, "laden"))
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{}); code(err) != order.ConsentMissing {
		t.Fatalf("without: %v", err)
	}
	w.state(o.ID, order.AwaitingPayment)
	w.pay(secret, 0)
	if now := w.state(o.ID, order.Provisioning); now.Consent.Wording != order.ConsentWording("de") {
		t.Errorf("stored is %+v", now.Consent)
	}
	if actions := w.told(o.ID); !slices.Equal(actions, []registrar.Action{order.ActionConsent, order.ActionFree}) {
		t.Errorf("the audit tells %v", actions)
	}
	if w.receipt(o.ID).Facts["consent"] == "" {
		t.Error("the letter does not repeat it")
	}
}

func TestBusinessesAreNotAskedForConsent(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*order.Buyer){
		"a company":        func(b *order.Buyer) { b.Company, b.Organisation = true, "Laden GmbH" },
		"a sole trader":    func(b *order.Buyer) { b.VATID = "DE123456789" },
		"a foreign trader": func(b *order.Buyer) { b.VATID, b.Country = "ATU12345675", "AT" },
	} {
		for _, ticked := range []string{"", order.ConsentWording("de")} {
			w := newWorld(t)
			buyer := w.store.buyers[anna]
			change(&buyer)
			w.store.buyers[anna] = buyer
			o, secret := w.made(wanted(order.Register, "laden"))
			url, err := w.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, Consent: ticked})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if again, err := w.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, Consent: ticked}); err != nil || again != url {
				t.Errorf("%s, again: %q, %v", name, again, err)
			}
			w.provider.pay(url)
			if err := w.service.Returned(t.Context(), annaInPerson, secret); err != nil {
				t.Fatal(err)
			}
			if now := w.state(o.ID, order.Provisioning); now.Consent != (order.Consent{}) || w.receipt(o.ID).Facts["consent"] != "" || len(w.told(o.ID)) > 0 {
				t.Errorf("%s has consented to %+v", name, now.Consent)
			}
		}
	}
}

// Otherwise any number would do that looks like one.
func TestAVATIDThatIsNotValidMakesNobodyABusiness(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	buyer := w.store.buyers[anna]
	buyer.VATID, buyer.Country = refuted, "AT"
	w.store.buyers[anna] = buyer
	o, secret := w.made(wanted(order.Register, "laden"))
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross}); code(err) != order.ConsentMissing {
		t.Errorf("without: %v", err)
	}
	w.pay(secret, o.Totals.Gross)
	if now := w.state(o.ID, order.Paying); !now.Consent.Given() {
		t.Error("the consent is not stored")
	}
	buyer.Company = true // which is no consumer, whatever its number
	if buyer.Consumer(o.Totals) {
		t.Error("a company is taken for a consumer")
	}
}

// The form of the registrant is open in another tab, and a registry takes its time.
func TestACompanyThatBecomesAConsumerMeanwhileIsAsked(t *testing.T) {
	t.Parallel()
	for _, net := range []registrar.Cents{0, 1000} {
		w := newWorld(t)
		w.market.net = net
		person := w.store.buyers[anna]
		company := person
		company.Company, company.Organisation = true, "Laden GmbH"
		w.store.buyers[anna] = company
		o, secret := w.made(wanted(order.Register, "laden"))
		w.market.set(func(m *market) {
			m.meanwhile = func() {
				w.store.mu.Lock()
				defer w.store.mu.Unlock()
				w.store.buyers[anna] = person
			}
		})
		if _, err := w.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross}); code(err) != order.ConsentMissing {
			t.Errorf("for %s: %v", net, err)
		}
		w.state(o.ID, order.AwaitingPayment)
	}
}

func TestAnAgentsCompletionHasNoConsent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store.linked = map[string]string{shopper.Through: anna}
	// Not even if the consumer has given one for a payment that they gave up.
	o, secret := w.made(wanted(order.Register, "laden"))
	w.pay(secret, o.Totals.Gross)
	if err := w.service.Back(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if now := w.state(o.ID, order.AwaitingPayment); now.Consent.Given() {
		t.Errorf("a payment that was given up leaves %+v", now.Consent)
	}
	unclaimed := w.opened(order.Register, &carla, "eins").Order.ID
	for _, id := range []string{o.ID, unclaimed} {
		if _, err := w.complete(id, "spt_ok_"+id); err != nil {
			t.Fatal(err)
		}
		if now := w.state(id, order.Provisioning); now.Consent != (order.Consent{}) || w.receipt(id).Facts["consent"] != "" {
			t.Errorf("%s was completed with %+v", id, now.Consent)
		}
	}
	w.books()
}

func TestAPageThatWasOpenedWithoutConsentIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	first := w.pay(secret, o.Totals.Gross)
	w.store.mu.Lock()
	before := w.store.orders[o.ID]
	before.Consent = order.Consent{} // as a release left it that did not ask
	w.store.orders[o.ID] = before
	w.store.mu.Unlock()
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross}); code(err) != order.ConsentMissing {
		t.Fatalf("without: %v", err)
	}
	w.state(o.ID, order.Paying)
	second := w.pay(secret, o.Totals.Gross)
	if second == first || w.provider.pay(first) || !w.provider.pay(second) {
		t.Errorf("%s after %s", second, first)
	}
	if err := w.service.Returned(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if now := w.state(o.ID, order.Provisioning); !now.Consent.Given() {
		t.Error("paid without a consent")
	}
	w.books()
}

// What people have ticked stands in their orders by its name: these words never change.
func TestTheWordsOfAWordingStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for wording, want := range map[string]string{
		"2026-11-de": "399667086aca5a74f3ecbe06faf692df361a19cd8e0d2038f61b1730bffc38e3",
		"2026-11-en": "bbcfa0608d9c4554ba76aab7adc8f89a372b5d565ad70bacfff314ba27b6cbf2",
	} {
		sum := sha256.Sum256([]byte(order.ConsentWords(wording)))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s is another text now (%s): add a version instead", wording, got)
		}
	}
	for _, language := range []string{"de", "en", "", "fr"} {
		if order.ConsentWords(order.ConsentWording(language)) == "" {
			t.Errorf("there are no words in %q", language)
		}
	}
}
