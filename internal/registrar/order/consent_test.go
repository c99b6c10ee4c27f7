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

// consentTo is the confirmation of a consumer who ticks the consent.
func consentTo(gross registrar.Cents) order.Confirmation {
	return order.Confirmation{Gross: gross, Consent: order.ConsentWording("de")}
}

func TestWithdrawalEnds_WeekendExtendsTheFourteenDays(t *testing.T) {
	t.Parallel()
	for ordered, want := range map[string]string{
		"2026-11-18T10:00:00Z": "2026-12-02", // a Wednesday
		"2026-11-17T23:30:00Z": "2026-12-02", // the 18th in Germany
		"2026-11-14T10:00:00Z": "2026-11-30", // ends on a Saturday
		"2026-11-15T10:00:00Z": "2026-11-30",
	} {
		at, err := time.Parse(time.RFC3339, ordered)
		if err != nil {
			t.Fatal(err)
		}
		if got := (order.Order{Consent: order.Consent{At: at}, PaidAt: at}).WithdrawalEnds().Format(time.DateOnly); got != want {
			t.Errorf("ordered at %s: until %s, want %s", ordered, got, want)
		}
	}
}

func TestWithdrawalEnds_HolidaysExtendThem(t *testing.T) {
	t.Parallel()
	for ordered, want := range map[string]string{
		"2026-12-11": "2026-12-28", // Christmas Day, Boxing Day and a Sunday
		"2026-03-20": "2026-04-07", // Good Friday to Easter Monday
		"2027-03-12": "2027-03-30",
		"2028-03-31": "2028-04-18",
		"2026-04-30": "2026-05-15", // Ascension
		"2026-05-11": "2026-05-26", // Whit Monday
		"2026-09-19": "2026-10-05", // Day of German Unity, a Saturday
		"2026-12-18": "2027-01-04", // New Year's Day
		"2026-05-21": "2026-06-04", // Corpus Christi, a holiday of some states
	} {
		at, err := time.Parse(time.DateOnly, ordered)
		if err != nil {
			t.Fatal(err)
		}
		o := order.Order{Consent: order.Consent{At: at.Add(12 * time.Hour)}}
		if got := o.WithdrawalEnds().Format(time.DateOnly); got != want {
			t.Errorf("ordered on %s: until %s, want %s", ordered, got, want)
		}
		// A holiday of a state may still extend it.
		if last := o.WithdrawalEnds(); o.WithdrawalEnded(last.AddDate(0, 0, 1)) || !o.WithdrawalEnded(last.AddDate(0, 0, 4)) {
			t.Errorf("ordered on %s: ends too early or never", ordered)
		}
	}
}

// The contract is concluded with the payment.
func TestWithdrawalEnds_CountsFromPayment(t *testing.T) {
	t.Parallel()
	o := order.Order{Consent: order.Consent{At: time.Date(2026, 11, 18, 22, 50, 0, 0, time.UTC)}}
	if got := o.WithdrawalEnds().Format(time.DateOnly); got != "2026-12-02" {
		t.Errorf("not paid: until %s", got)
	}
	o.PaidAt = o.Consent.At.Add(15 * time.Minute) // the 19th in Germany
	if got := o.WithdrawalEnds().Format(time.DateOnly); got != "2026-12-03" {
		t.Errorf("paid after midnight: until %s", got)
	}
}

// ownerActions returns the audit actions of people on an order.
func (env *testEnv) ownerActions(id string) (actions []registrar.Action) {
	env.store.mu.Lock()
	defer env.store.mu.Unlock()
	for _, event := range env.store.events {
		if event.Object == id && event.Actor == annaInPerson {
			actions = append(actions, event.Action)
		}
	}
	return actions
}

// receiptMail returns the receipt of an order.
func (env *testEnv) receiptMail(id string) registrar.Mail {
	env.t.Helper()
	env.store.mu.Lock()
	defer env.store.mu.Unlock()
	for _, mail := range env.store.mails {
		if mail.Kind == registrar.MailOrderPaid && mail.Data["order"] == id {
			return mail
		}
	}
	env.t.Fatalf("no receipt of %s", id)
	return registrar.Mail{}
}

func TestPay_ConsumerMustConsent(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"de", "en"} {
		env := newEnv(t)
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		for _, ticked := range []string{"", "on", "2020-01-de", order.ConsentWording("de") + "x"} {
			_, err := env.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, AutoRenew: true, Consent: ticked})
			if code(err) != order.ConsentMissing || registrar.KindOf(err) != registrar.KindInvalid {
				t.Fatalf("%q: %v", ticked, err)
			}
			if now := env.wantState(o.ID, order.AwaitingPayment); len(now.Payments) > 0 || now.AutoRenew || now.Consent.Given() || len(env.provider.pages) > 0 {
				t.Fatalf("%q has left %+v", ticked, now)
			}
		}
		wording, before := order.ConsentWording(language), env.now()
		url, err := env.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, Consent: wording})
		if err != nil {
			t.Fatal(err)
		}
		given := env.wantState(o.ID, order.Paying).Consent
		if given.Wording != wording || given.At.Before(before.Truncate(time.Microsecond)) || given.Text() == "" {
			t.Errorf("stored is %+v", given)
		}
		if actions := env.ownerActions(o.ID); !slices.Equal(actions, []registrar.Action{order.ActionConsent}) {
			t.Errorf("audit actions %v", actions)
		}
		// Paying again returns the same payment, whatever is ticked.
		if again, err := env.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross}); err != nil || again != url {
			t.Errorf("again: %q, %v", again, err)
		}
		env.provider.pay(url)
		if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
			t.Fatal(err)
		}
		if paid := env.wantState(o.ID, order.Provisioning); paid.Consent != given {
			t.Errorf("paid with %+v", paid.Consent)
		}
		data := env.receiptMail(o.ID).Data
		if data["consent"] != order.ConsentText(wording) || data["consent_at"] != given.At.UTC().Format(time.RFC3339) || data["consumer"] != "true" {
			t.Errorf("receipt data %v", data)
		}
		env.checkInvariants()
	}
}

func TestPay_FreeOrderRequiresConsumerConsent(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.net = 0
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{}); code(err) != order.ConsentMissing {
		t.Fatalf("without: %v", err)
	}
	env.wantState(o.ID, order.AwaitingPayment)
	env.pay(secret, 0)
	if now := env.wantState(o.ID, order.Provisioning); now.Consent.Wording != order.ConsentWording("de") {
		t.Errorf("stored is %+v", now.Consent)
	}
	if actions := env.ownerActions(o.ID); !slices.Equal(actions, []registrar.Action{order.ActionConsent, order.ActionConfirmed}) {
		t.Errorf("audit actions %v", actions)
	}
	if env.receiptMail(o.ID).Data["consent"] == "" {
		t.Error("the receipt does not repeat the consent")
	}
}

func TestPay_BusinessNeedsNoConsent(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*order.Buyer){
		"a company":        func(b *order.Buyer) { b.Company, b.Organisation = true, "Laden GmbH" },
		"a sole trader":    func(b *order.Buyer) { b.VATID = "DE123456789" },
		"a foreign trader": func(b *order.Buyer) { b.VATID, b.Country = "ATU12345675", "AT" },
	} {
		for _, ticked := range []string{"", order.ConsentWording("de")} {
			env := newEnv(t)
			buyer := env.store.buyers[anna]
			change(&buyer)
			env.store.buyers[anna] = buyer
			o, secret := env.createOrder(newRequest(order.Register, "laden"))
			url, err := env.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, Consent: ticked})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if again, err := env.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross, Consent: ticked}); err != nil || again != url {
				t.Errorf("%s, again: %q, %v", name, again, err)
			}
			env.provider.pay(url)
			if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
				t.Fatal(err)
			}
			if now := env.wantState(o.ID, order.Provisioning); now.Consent != (order.Consent{}) || env.receiptMail(o.ID).Data["consent"] != "" {
				t.Errorf("%s has consented to %+v", name, now.Consent)
			}
			if consumer := env.receiptMail(o.ID).Data["consumer"]; consumer != "false" {
				t.Errorf("%s counts as a consumer: %q", name, consumer)
			}
			if actions := env.ownerActions(o.ID); !slices.Equal(actions, []registrar.Action{order.ActionConfirmed}) {
				t.Errorf("audit actions of %s: %v", name, actions)
			}
		}
	}
}

// Otherwise any made-up number would do.
func TestPay_InvalidVATIDCountsAsConsumer(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	buyer := env.store.buyers[anna]
	buyer.VATID, buyer.Country = invalidVATID, "AT"
	env.store.buyers[anna] = buyer
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross}); code(err) != order.ConsentMissing {
		t.Errorf("without: %v", err)
	}
	env.pay(secret, o.Totals.Gross)
	if now := env.wantState(o.ID, order.Paying); !now.Consent.Given() {
		t.Error("the consent is not stored")
	}
	buyer.Company = true // a company is no consumer, whatever its VAT id
	if buyer.Consumer(o.Totals) {
		t.Error("a company is taken for a consumer")
	}
}

// The registrant may be changed in another tab while a registry responds slowly.
func TestPay_CompanyTurnedConsumerMustConsent(t *testing.T) {
	t.Parallel()
	for _, net := range []registrar.Cents{0, 1000} {
		env := newEnv(t)
		env.market.net = net
		person := env.store.buyers[anna]
		company := person
		company.Company, company.Organisation = true, "Laden GmbH"
		env.store.buyers[anna] = company
		o, secret := env.createOrder(newRequest(order.Register, "laden"))
		env.market.set(func(m *fakeMarket) {
			m.duringQuote = func() {
				env.store.mu.Lock()
				defer env.store.mu.Unlock()
				env.store.buyers[anna] = person
			}
		})
		if _, err := env.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross}); code(err) != order.ConsentMissing {
			t.Errorf("for %s: %v", net, err)
		}
		env.wantState(o.ID, order.AwaitingPayment)
	}
}

func TestCompleteSession_StoresNoConsent(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.store.linked = map[string]string{shopper.Through: anna}
	// Not even if the consumer gave consent for an abandoned payment.
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.pay(secret, o.Totals.Gross)
	if err := env.service.AbortPayment(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if now := env.wantState(o.ID, order.AwaitingPayment); now.Consent.Given() {
		t.Errorf("an abandoned payment leaves %+v", now.Consent)
	}
	unclaimed := env.createSession(order.Register, &carla, "eins").Order.ID
	for _, id := range []string{o.ID, unclaimed} {
		if _, err := env.complete(id, "spt_ok_"+id); err != nil {
			t.Fatal(err)
		}
		if now := env.wantState(id, order.Provisioning); now.Consent != (order.Consent{}) || env.receiptMail(id).Data["consent"] != "" {
			t.Errorf("%s was completed with %+v", id, now.Consent)
		}
	}
	env.checkInvariants()
}

func TestPay_PageOpenedWithoutConsentIsReplaced(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	first := env.pay(secret, o.Totals.Gross)
	env.store.mu.Lock()
	before := env.store.orders[o.ID]
	before.Consent = order.Consent{} // as stored by a release that did not ask
	env.store.orders[o.ID] = before
	env.store.mu.Unlock()
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, order.Confirmation{Gross: o.Totals.Gross}); code(err) != order.ConsentMissing {
		t.Fatalf("without: %v", err)
	}
	env.wantState(o.ID, order.Paying)
	second := env.pay(secret, o.Totals.Gross)
	if second == first || env.provider.pay(first) || !env.provider.pay(second) {
		t.Errorf("%s after %s", second, first)
	}
	if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	if now := env.wantState(o.ID, order.Provisioning); !now.Consent.Given() {
		t.Error("paid without a consent")
	}
	env.checkInvariants()
}

// Orders store the wording's name, so published texts never change.
func TestConsentText_PublishedWordingsNeverChange(t *testing.T) {
	t.Parallel()
	for wording, want := range map[string]string{
		"2026-11-de":    "399667086aca5a74f3ecbe06faf692df361a19cd8e0d2038f61b1730bffc38e3",
		"2026-11-en":    "bbcfa0608d9c4554ba76aab7adc8f89a372b5d565ad70bacfff314ba27b6cbf2",
		"2026-11-18-de": "9f03f21ec7996a96df317ebc12b89d6f2c72d1430520214a6650ede616a88b44",
		"2026-11-18-en": "80a8c2452ea926781971049febe325247cc7af5324cb45dacc2d29b8d10dd614",
	} {
		sum := sha256.Sum256([]byte(order.ConsentText(wording)))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s is another text now (%s): add a version instead", wording, got)
		}
	}
	for _, language := range []string{"de", "en", "", "fr"} {
		if order.ConsentText(order.ConsentWording(language)) == "" {
			t.Errorf("no text in %q", language)
		}
	}
}
