package order_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// verifySecret is the secret in an order's verification_url.
func (w *world) verifySecret(o order.Order) string {
	w.t.Helper()
	address, err := w.service.VerifyURL(o)
	if err != nil || address == "" {
		w.t.Fatalf("verification_url %q, %v", address, err)
	}
	return strings.TrimPrefix(address, "https://kontor.example/checkout/verify/")
}

// shows is the human at the provider's page.
func (w *world) shows(url string, change func(*order.Verification)) (session string) {
	w.t.Helper()
	session = strings.TrimPrefix(url, "https://who.example/")
	w.provider.set(func(p *provider) { change(p.checks[session]) })
	return session
}

func TestAnIdentityIsNeededWhereTheExtensionOrTheSumWantsIt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(w *world)
		want   order.State
	}{
		"nothing":           {func(*world) {}, order.AwaitingPayment},
		"extension":         {func(w *world) { w.market.verify["laden.de"] = true }, order.AwaitingVerification},
		"exactly the limit": {func(w *world) { w.store.spent = 500_00 - 1190 }, order.AwaitingPayment},
		"over the limit":    {func(w *world) { w.store.spent = 500_00 - 1189 }, order.AwaitingVerification},
		"a dear order":      {func(w *world) { w.market.net = 500_00 }, order.AwaitingVerification},
		"verified already": {func(w *world) {
			w.store.spent = 600_00
			w.store.identities[anna] = order.Identity{Customer: anna, Session: "vs", Name: "ANNA MUELLER", VerifiedAt: time.Now()}
		}, order.AwaitingPayment},
		"verified as somebody else": {func(w *world) {
			w.store.spent = 600_00
			w.store.identities[anna] = order.Identity{Customer: anna, Session: "vs", Name: "BERTA MUELLER", VerifiedAt: time.Now()}
		}, order.AwaitingVerification},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tc.change(w)
			o, secret := w.made(wanted(order.Register, "laden"))
			w.state(o.ID, tc.want)
			_, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross))
			if tc.want == order.AwaitingVerification && code(err) != order.DataMissing || tc.want == order.AwaitingPayment && err != nil {
				t.Errorf("paying: %v", err)
			}
		})
	}
}

func TestAnOrderThatComesToNeedAnIdentityIsNotPaidWithout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, secret := w.made(wanted(order.Register, "laden"))
	w.store.mu.Lock()
	w.store.spent = 499_00
	w.store.mu.Unlock()
	if _, err := w.service.Pay(t.Context(), annaInPerson, secret, agreed(o.Totals.Gross)); code(err) != order.DataMissing {
		t.Errorf("paying: %v", err)
	}
	w.state(o.ID, order.AwaitingVerification)
}

func TestAShownIdentityLetsTheOrderBePaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.market.verify["laden.de"] = true
	o, secret := w.made(wanted(order.Register, "laden"))
	link := w.verifySecret(o)
	if _, err := w.service.Verify(t.Context(), bertInPerson, link); code(err) != order.NotYours {
		t.Errorf("Bert verifies: %v", err)
	}
	urls := make([]string, 20)
	var all sync.WaitGroup
	for i := range urls {
		all.Go(func() { urls[i], _ = w.service.Verify(t.Context(), annaInPerson, link) })
	}
	all.Wait()
	for _, url := range urls {
		if url != urls[0] || url == "" {
			t.Fatalf("two verifications: %q, %q", urls[0], url)
		}
	}
	session := w.shows(urls[0], func(v *order.Verification) { v.Done, v.Name, v.URL = true, "Anna Maria MÜLLER", "" })
	if err := w.service.Heard(t.Context(), order.Event{Verification: session}); err != nil {
		t.Fatal(err)
	}
	w.state(o.ID, order.AwaitingPayment)
	view, err := w.service.VerifyVisit(t.Context(), annaInPerson, link)
	if err != nil || view.Needed || view.Standing != order.IdentityVerified {
		t.Errorf("%+v, %v", view, err)
	}
	w.pay(secret, o.Totals.Gross)
}

func TestAnotherNameOrAFailedAttemptKeepsTheOrderWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.market.verify["laden.de"] = true
	o, _ := w.made(wanted(order.Register, "laden"))
	link := w.verifySecret(o)
	begin := func() string {
		t.Helper()
		url, err := w.service.Verify(t.Context(), annaInPerson, link)
		if err != nil || url == "" {
			t.Fatalf("%q, %v", url, err)
		}
		return url
	}
	see := func(standing order.IdentityStanding, failure registrar.Code) {
		t.Helper()
		view, err := w.service.VerifyVisit(t.Context(), annaInPerson, link)
		if err != nil || view.Standing != standing || view.Failure != failure {
			t.Errorf("%+v, %v; want %s %s", view, err, standing, failure)
		}
	}
	see(order.IdentityNone, "")
	first := begin()
	see(order.IdentityOpen, "")
	w.shows(first, func(v *order.Verification) { v.Failed, v.Failure, v.URL = true, "document_expired", "" })
	see(order.IdentityFailed, "document_expired")
	second := begin()
	if first == second {
		t.Fatal("the failed attempt is shown again")
	}
	w.shows(second, func(v *order.Verification) { v.Done, v.Name, v.URL = true, "Clara Schmidt", "" })
	see(order.IdentityFailed, order.NameMismatch)
	w.state(o.ID, order.AwaitingVerification)
	// The registrant was wrong: with the right name nothing has to be shown again.
	w.store.mu.Lock()
	buyer := w.store.buyers[anna]
	buyer.Name = "Clara Schmidt"
	w.store.buyers[anna] = buyer
	w.store.mu.Unlock()
	see(order.IdentityVerified, "")
	w.state(o.ID, order.AwaitingPayment)
}

func TestALostMessageAboutAnIdentityIsFoundByTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.market.verify["laden.de"] = true
		o, _ := w.made(wanted(order.Register, "laden"))
		url, err := w.service.Verify(t.Context(), annaInPerson, w.verifySecret(o))
		if err != nil {
			t.Fatal(err)
		}
		w.runFor(w.service, 10*time.Minute)
		w.shows(url, func(v *order.Verification) { v.Done, v.Name, v.URL = true, "Anna Müller", "" })
		w.runFor(w.service, 10*time.Minute)
		w.state(o.ID, order.AwaitingPayment)
	})
}

func TestNamesAreComparedAsDocumentsWriteThem(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"Anna Müller", "ANNA MUELLER", true},
		{"Anna Müller", "ANNA MULLER", true},
		{"Anna Müller", "Müller, Anna", true},
		{"Dr. Anna Müller", "Anna Maria Müller", true},
		{"Jürgen Groß", "JUERGEN GROSS", true},
		{"Seán O’Neil", "SEAN ONEIL", true},
		{"José García López", "Jose Garcia", true},
		{"Anne-Marie Weiß", "ANNE MARIE WEISS", true},
		{"Łukasz Żak", "LUKASZ ZAK", true},
		{"Søren Ærø", "SOEREN AEROE", true},
		{"Suharto", "SUHARTO", true},
		{"Anna Müller", "Berta Müller", false},
		{"Anna Müller", "Anna Meier", false},
		{"Anna Anna", "Anna Müller", false},
		{"Müller", "Anna Müller", false},
		{"", "", false},
		{"Anna Müller", "", false},
	} {
		if got := registrar.SameName(tc.a, tc.b); got != tc.same {
			t.Errorf("%q and %q: %v", tc.a, tc.b, got)
		}
		if got := registrar.SameName(tc.b, tc.a); got != tc.same {
			t.Errorf("%q and %q: %v", tc.b, tc.a, got)
		}
	}
}

// verifiable is an order of Anna's that waits for an identity, with its link.
func (w *world) verifiable(label string) (o order.Order, link string) {
	w.t.Helper()
	w.market.verify[label+".de"] = true
	o, _ = w.made(wanted(order.Register, label))
	return o, w.verifySecret(o)
}

func TestAVerificationThatTheProviderRemembersAsFailedIsLeftForAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		_, link := w.verifiable("laden")
		w.provider.set(func(p *provider) { p.failing = true })
		if _, err := w.service.Verify(t.Context(), annaInPerson, link); registrar.KindOf(err) != registrar.KindUpstream {
			t.Fatalf("verifying: %v", err)
		}
		w.provider.set(func(p *provider) { p.failing = false })
		time.Sleep(10 * time.Minute)
		if url, err := w.service.Verify(t.Context(), annaInPerson, link); err != nil || url == "" {
			t.Errorf("verifying: %q, %v", url, err)
		}
	})
}

func TestAVerificationBegunForOneOrderDoesNotBarAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, first := w.verifiable("laden")
	_, second := w.verifiable("haus")
	w.provider.set(func(p *provider) { p.crashing = true }) // it is made, and nobody hears of it
	if _, err := w.service.Verify(t.Context(), annaInPerson, first); err == nil {
		t.Fatal("the provider has answered")
	}
	w.provider.set(func(p *provider) { p.crashing = false })
	if url, err := w.service.Verify(t.Context(), annaInPerson, second); err != nil || url == "" {
		t.Errorf("verifying: %q, %v", url, err)
	}
}

func TestAVerificationThatTheProviderHasForgottenIsBegunAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, link := w.verifiable("laden")
	first, err := w.service.Verify(t.Context(), annaInPerson, link)
	if err != nil {
		t.Fatal(err)
	}
	w.provider.set(func(p *provider) { clear(p.checks) })
	if view, err := w.service.VerifyVisit(t.Context(), annaInPerson, link); err != nil || view.Standing != order.IdentityFailed {
		t.Errorf("%+v, %v", view, err)
	}
	if second, err := w.service.Verify(t.Context(), annaInPerson, link); err != nil || second == "" || second == first {
		t.Errorf("verifying: %q, %v", second, err)
	}
}

func TestAnAttemptThatSucceedsAfterAFailedOneCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o, link := w.verifiable("laden")
	url, err := w.service.Verify(t.Context(), annaInPerson, link)
	if err != nil {
		t.Fatal(err)
	}
	session := w.shows(url, func(v *order.Verification) { v.Failed, v.Failure = true, "document_expired" })
	if err := w.service.Heard(t.Context(), order.Event{Verification: session}); err != nil {
		t.Fatal(err)
	}
	// The page stays open, and the human has found the new document.
	w.shows(url, func(v *order.Verification) { *v = order.Verification{Done: true, Name: "Anna Müller"} })
	if err := w.service.Heard(t.Context(), order.Event{Verification: session}); err != nil {
		t.Fatal(err)
	}
	w.state(o.ID, order.AwaitingPayment)
}

func TestAProviderOfIdentitiesThatIsAwayIsAskedMoreAndMoreRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		_, link := w.verifiable("laden")
		if _, err := w.service.Verify(t.Context(), annaInPerson, link); err != nil {
			t.Fatal(err)
		}
		w.provider.set(func(p *provider) { p.down = errDown })
		w.runFor(w.service, 2*time.Hour)
		if looks := w.provider.looks; looks < 5 || looks > 30 {
			t.Errorf("%d looks in two hours", looks)
		}
	})
}
