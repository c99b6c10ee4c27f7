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

// verifySecret returns the secret in an order's verification_url.
func (env *testEnv) verifySecret(o order.Order) string {
	env.t.Helper()
	address, err := env.service.VerifyURL(o)
	if err != nil || address == "" {
		env.t.Fatalf("verification_url %q, %v", address, err)
	}
	return strings.TrimPrefix(address, "https://kontor.example/checkout/verify/")
}

// setVerification sets the provider's status of a verification.
func (env *testEnv) setVerification(url string, change func(*order.Verification)) (session string) {
	env.t.Helper()
	session = strings.TrimPrefix(url, "https://who.example/")
	env.provider.set(func(p *fakeProvider) { change(p.verifications[session]) })
	return session
}

func TestIdentity_RequiredByExtensionOrAmount(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(env *testEnv)
		want   order.State
	}{
		"nothing":           {func(*testEnv) {}, order.AwaitingPayment},
		"extension":         {func(env *testEnv) { env.market.verify["laden.de"] = true }, order.AwaitingVerification},
		"exactly the limit": {func(env *testEnv) { env.store.spent = 500_00 - 1190 }, order.AwaitingPayment},
		"over the limit":    {func(env *testEnv) { env.store.spent = 500_00 - 1189 }, order.AwaitingVerification},
		"a dear order":      {func(env *testEnv) { env.market.net = 500_00 }, order.AwaitingVerification},
		"verified already": {func(env *testEnv) {
			env.store.spent = 600_00
			env.store.identities[anna] = order.Identity{Customer: anna, Session: "vs", Name: "ANNA MUELLER", VerifiedAt: time.Now()}
		}, order.AwaitingPayment},
		"verified as somebody else": {func(env *testEnv) {
			env.store.spent = 600_00
			env.store.identities[anna] = order.Identity{Customer: anna, Session: "vs", Name: "BERTA MUELLER", VerifiedAt: time.Now()}
		}, order.AwaitingVerification},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			tc.change(env)
			verify, gross := env.market.verify["laden.de"], registrar.Cents(1190)
			if env.market.net == 500_00 {
				gross = 595_00
			}
			// The basket announces what the order then requires.
			check, err := env.service.ExpectedIdentityCheck(t.Context(), annaInPerson, gross, verify)
			if err != nil || check.Needed != (tc.want == order.AwaitingVerification) || (check.Over == 0) != verify {
				t.Errorf("expected %+v, %v", check, err)
			}
			o, secret := env.createOrder(newRequest(order.Register, "laden"))
			env.wantState(o.ID, tc.want)
			_, err = env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross))
			if tc.want == order.AwaitingVerification && code(err) != order.DataMissing || tc.want == order.AwaitingPayment && err != nil {
				t.Errorf("paying: %v", err)
			}
		})
	}
}

func TestExpectedIdentityCheck_GuestBasketAboveLimit(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for gross, want := range map[registrar.Cents]bool{500_00: false, 500_01: true} {
		if check, err := env.service.ExpectedIdentityCheck(t.Context(), registrar.Actor{}, gross, false); err != nil || check.Needed != want || check.Over != 500_00 {
			t.Errorf("%s: %+v, %v", gross, check, err)
		}
	}
	if check, err := env.service.ExpectedIdentityCheck(t.Context(), registrar.Actor{}, 100, true); err != nil || !check.Needed || check.Over != 0 {
		t.Errorf("an extension that requires it: %+v, %v", check, err)
	}
}

func TestPay_IdentityRequiredMeanwhileBlocksPayment(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	env.store.mu.Lock()
	env.store.spent = 499_00
	env.store.mu.Unlock()
	if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); code(err) != order.DataMissing {
		t.Errorf("paying: %v", err)
	}
	env.wantState(o.ID, order.AwaitingVerification)
}

func TestStartVerification_SuccessMakesOrderPayable(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.verify["laden.de"] = true
	o, secret := env.createOrder(newRequest(order.Register, "laden"))
	link := env.verifySecret(o)
	if _, err := env.service.StartVerification(t.Context(), bertInPerson, link); code(err) != order.NotYours {
		t.Errorf("Bert verifies: %v", err)
	}
	urls := make([]string, 20)
	var all sync.WaitGroup
	for i := range urls {
		all.Go(func() { urls[i], _ = env.service.StartVerification(t.Context(), annaInPerson, link) })
	}
	all.Wait()
	for _, url := range urls {
		if url != urls[0] || url == "" {
			t.Fatalf("two verifications: %q, %q", urls[0], url)
		}
	}
	session := env.setVerification(urls[0], func(v *order.Verification) { v.Done, v.Name, v.URL = true, "Anna Maria MÜLLER", "" })
	if err := env.service.HandleEvent(t.Context(), order.Event{Verification: session}); err != nil {
		t.Fatal(err)
	}
	env.wantState(o.ID, order.AwaitingPayment)
	view, err := env.service.VerifyView(t.Context(), annaInPerson, link)
	if err != nil || view.Needed || view.Status != order.IdentityVerified {
		t.Errorf("%+v, %v", view, err)
	}
	env.pay(secret, o.Totals.Gross)
}

func TestVerifyView_FailureOrNameMismatchKeepsOrderWaiting(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.market.verify["laden.de"] = true
	o, _ := env.createOrder(newRequest(order.Register, "laden"))
	link := env.verifySecret(o)
	begin := func() string {
		t.Helper()
		url, err := env.service.StartVerification(t.Context(), annaInPerson, link)
		if err != nil || url == "" {
			t.Fatalf("%q, %v", url, err)
		}
		return url
	}
	see := func(status order.IdentityStatus, failure registrar.Code) {
		t.Helper()
		view, err := env.service.VerifyView(t.Context(), annaInPerson, link)
		if err != nil || view.Status != status || view.Failure != failure {
			t.Errorf("%+v, %v; want %s %s", view, err, status, failure)
		}
	}
	see(order.IdentityNone, "")
	first := begin()
	see(order.IdentityOpen, "")
	env.setVerification(first, func(v *order.Verification) { v.Failed, v.Failure, v.URL = true, "document_expired", "" })
	see(order.IdentityFailed, "document_expired")
	second := begin()
	if first == second {
		t.Fatal("the failed verification was reused")
	}
	env.setVerification(second, func(v *order.Verification) { v.Done, v.Name, v.URL = true, "Clara Schmidt", "" })
	see(order.IdentityFailed, order.NameMismatch)
	env.wantState(o.ID, order.AwaitingVerification)
	// With the corrected registrant name no new verification is needed.
	env.store.mu.Lock()
	buyer := env.store.buyers[anna]
	buyer.Name = "Clara Schmidt"
	env.store.buyers[anna] = buyer
	env.store.mu.Unlock()
	see(order.IdentityVerified, "")
	env.wantState(o.ID, order.AwaitingPayment)
}

func TestRun_FindsVerificationAfterLostEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		env.market.verify["laden.de"] = true
		o, _ := env.createOrder(newRequest(order.Register, "laden"))
		url, err := env.service.StartVerification(t.Context(), annaInPerson, env.verifySecret(o))
		if err != nil {
			t.Fatal(err)
		}
		env.runFor(env.service, 10*time.Minute)
		env.setVerification(url, func(v *order.Verification) { v.Done, v.Name, v.URL = true, "Anna Müller", "" })
		env.runFor(env.service, 10*time.Minute)
		env.wantState(o.ID, order.AwaitingPayment)
	})
}

func TestSameName_ComparesAsDocumentsSpellNames(t *testing.T) {
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

// createUnverifiedOrder creates an order of Anna's that awaits verification.
func (env *testEnv) createUnverifiedOrder(label string) (o order.Order, link string) {
	env.t.Helper()
	env.market.verify[label+".de"] = true
	o, _ = env.createOrder(newRequest(order.Register, label))
	return o, env.verifySecret(o)
}

func TestStartVerification_CachedProviderFailureGetsNewKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		_, link := env.createUnverifiedOrder("laden")
		env.provider.set(func(p *fakeProvider) { p.failing = true })
		if _, err := env.service.StartVerification(t.Context(), annaInPerson, link); registrar.KindOf(err) != registrar.KindUpstream {
			t.Fatalf("verifying: %v", err)
		}
		env.provider.set(func(p *fakeProvider) { p.failing = false })
		time.Sleep(10 * time.Minute)
		if url, err := env.service.StartVerification(t.Context(), annaInPerson, link); err != nil || url == "" {
			t.Errorf("verifying: %q, %v", url, err)
		}
	})
}

func TestStartVerification_UnansweredStartDoesNotBlockOtherOrder(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	_, first := env.createUnverifiedOrder("laden")
	_, second := env.createUnverifiedOrder("haus")
	env.provider.set(func(p *fakeProvider) { p.crashing = true }) // it is created, but the response is lost
	if _, err := env.service.StartVerification(t.Context(), annaInPerson, first); err == nil {
		t.Fatal("the provider responded")
	}
	env.provider.set(func(p *fakeProvider) { p.crashing = false })
	if url, err := env.service.StartVerification(t.Context(), annaInPerson, second); err != nil || url == "" {
		t.Errorf("verifying: %q, %v", url, err)
	}
}

func TestStartVerification_ForgottenByProviderStartsNewOne(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	_, link := env.createUnverifiedOrder("laden")
	first, err := env.service.StartVerification(t.Context(), annaInPerson, link)
	if err != nil {
		t.Fatal(err)
	}
	env.provider.set(func(p *fakeProvider) { clear(p.verifications) })
	if view, err := env.service.VerifyView(t.Context(), annaInPerson, link); err != nil || view.Status != order.IdentityFailed || view.Name != "Anna Müller" {
		t.Errorf("%+v, %v", view, err)
	}
	if second, err := env.service.StartVerification(t.Context(), annaInPerson, link); err != nil || second == "" || second == first {
		t.Errorf("verifying: %q, %v", second, err)
	}
}

func TestHandleEvent_VerificationSuccessAfterFailureCounts(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	o, link := env.createUnverifiedOrder("laden")
	url, err := env.service.StartVerification(t.Context(), annaInPerson, link)
	if err != nil {
		t.Fatal(err)
	}
	session := env.setVerification(url, func(v *order.Verification) { v.Failed, v.Failure = true, "document_expired" })
	if err := env.service.HandleEvent(t.Context(), order.Event{Verification: session}); err != nil {
		t.Fatal(err)
	}
	// The page stays open for another attempt.
	env.setVerification(url, func(v *order.Verification) { *v = order.Verification{Done: true, Name: "Anna Müller"} })
	if err := env.service.HandleEvent(t.Context(), order.Event{Verification: session}); err != nil {
		t.Fatal(err)
	}
	env.wantState(o.ID, order.AwaitingPayment)
}

func TestRun_PollsUnreachableIdentityProviderWithBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		_, link := env.createUnverifiedOrder("laden")
		if _, err := env.service.StartVerification(t.Context(), annaInPerson, link); err != nil {
			t.Fatal(err)
		}
		env.provider.set(func(p *fakeProvider) { p.down = errDown })
		env.runFor(env.service, 2*time.Hour)
		if looks := env.provider.failedFetches; looks < 5 || looks > 30 {
			t.Errorf("%d polls in two hours", looks)
		}
	})
}
