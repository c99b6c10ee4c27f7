package stripe_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	stripego "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

func (s *testEnv) addFault(f stripe.Fault) {
	s.Helper()
	if err := s.server.Fault(f); err != nil {
		s.Fatal(err)
	}
}

func TestFaults_BeforeHasNoEffectAfterHidesEffect(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		do   string
		done int // sessions after the first call
		// again is whether the same key then returns the session.
		again bool
	}{
		{"fail_before", 0, true},
		{"drop_before", 0, true},
		{"throttle", 0, true},
		{"lock", 0, true},
		{"fail_after", 1, true},
		{"drop_after", 1, true},
		{"fail_kept", 1, false},
	} {
		s := newEnv(t, stripe.Options{})
		s.addFault(stripe.Fault{On: "checkout.create", Do: test.do, Times: 1})
		params := s.sessionParams("pay-1", 1000)
		if made, err := s.client.V1CheckoutSessions.Create(t.Context(), params); err == nil {
			t.Errorf("%s: %+v", test.do, made)
		}
		if pages := len(s.server.Records().Sessions); pages != test.done {
			t.Errorf("%s: %d pages", test.do, pages)
		}
		_, err := s.client.V1CheckoutSessions.Create(t.Context(), params)
		if (err == nil) != test.again {
			t.Errorf("%s, repeated: %v", test.do, err)
		}
		if pages := len(s.server.Records().Sessions); pages != 1 {
			t.Errorf("%s, repeated: %d sessions", test.do, pages)
		}
	}
}

func TestFaults_HangLastsUntilCallerLeaves(t *testing.T) {
	t.Parallel()
	for do, done := range map[string]int{"hang_before": 0, "hang_after": 1} {
		s := newEnv(t, stripe.Options{})
		s.addFault(stripe.Fault{On: "*", Do: do})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		go func() { // cancel when all effects have happened
			time.Sleep(100 * time.Millisecond)
			for len(s.server.Records().Sessions) < done && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		_, err := s.client.V1CheckoutSessions.Create(ctx, s.sessionParams("pay-1", 1000))
		cancel()
		if err == nil {
			t.Errorf("%s was answered", do)
		}
		if pages := len(s.server.Records().Sessions); pages != done {
			t.Errorf("%s: %d pages", do, pages)
		}
	}
}

func TestFaults_FailAfterStillCharges(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{})
	s.addFault(stripe.Fault{On: "page.pay", Do: "fail_after", Times: 1})
	made := s.createSession("pay-1", 1000)
	if status, _, _ := s.payWithCard(made.URL, "4242424242424242"); status != http.StatusInternalServerError {
		t.Errorf("%d", status)
	}
	if got := s.getSession(made.ID); got.PaymentStatus != "paid" {
		t.Errorf("%s", got.PaymentStatus)
	}
	// The customer tries again and is not charged again.
	if status, to, _ := s.payWithCard(made.URL, "4242424242424242"); status != http.StatusSeeOther || to != "http://shop.example/paid" {
		t.Errorf("%d %s", status, to)
	}
	if charges := s.server.Records().Charges; len(charges) != 1 {
		t.Errorf("%d charges", len(charges))
	}
}

func TestFaults_WebhooksLostDuplicatedReorderedGarbled(t *testing.T) {
	t.Parallel()
	const completed = "checkout.session.completed"
	count := func(s *testEnv) int {
		return strings.Count(strings.Join(s.receiver.eventTypes(), " "), completed)
	}
	payOne := func(s *testEnv, do string) {
		s.addFault(stripe.Fault{On: "webhook", Do: do, Times: 1, Type: completed, Delay: "300ms"})
		s.payWithCard(s.createSession("pay-1", 1000).URL, "4242424242424242")
	}
	t.Run("lose", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t, stripe.Options{})
		payOne(s, "lose")
		s.waitFor("the other one", func() bool { return len(s.receiver.eventTypes()) == 1 && s.server.Webhooks().Waiting == 0 })
		if got := s.server.Webhooks(); got.Lost != 1 || got.Delivered != 1 || count(s) != 0 {
			t.Errorf("%+v", got)
		}
		s.server.Redeliver()
		s.waitFor("delivered on request", func() bool { return count(s) == 1 })
	})
	t.Run("double", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t, stripe.Options{})
		payOne(s, "double")
		s.waitFor("delivered twice", func() bool { return count(s) == 2 })
	})
	t.Run("delay", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t, stripe.Options{})
		payOne(s, "delay")
		s.waitFor("delivered", func() bool { return count(s) == 1 })
		if received := s.receiver.eventTypes(); received[1] != completed {
			t.Errorf("%v", received)
		}
	})
	t.Run("reorder", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t, stripe.Options{})
		s.addFault(stripe.Fault{On: "webhook", Do: "reorder", Times: 1, Type: "payment_intent.succeeded"})
		s.payWithCard(s.createSession("pay-1", 1000).URL, "4242424242424242")
		s.waitFor("both", func() bool { return len(s.receiver.eventTypes()) == 2 })
		if received := s.receiver.eventTypes(); !slices.Equal(received, []string{completed, "payment_intent.succeeded"}) {
			t.Errorf("%v", received)
		}
	})
	t.Run("reorder without a next one", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t, stripe.Options{})
		payOne(s, "reorder") // the last event of its payment
		s.waitFor("delivered", func() bool { return count(s) == 1 })
	})
	t.Run("garble", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t, stripe.Options{})
		payOne(s, "garble")
		s.waitFor("delivered after the refusal", func() bool { return count(s) == 1 })
		if s.receiver.badSignatures != 1 {
			t.Errorf("%d with a bad signature", s.receiver.badSignatures)
		}
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		s := newEnv(t, stripe.Options{})
		s.receiver.mu.Lock()
		s.receiver.refusals = 4
		s.receiver.mu.Unlock()
		s.payWithCard(s.createSession("pay-1", 1000).URL, "4242424242424242")
		s.waitFor("both delivered in the end", func() bool { return len(s.receiver.eventTypes()) == 2 })
	})
}

func TestServer_StateSurvivesRestart(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	first := newEnv(t, stripe.Options{Data: folder})
	first.addFault(stripe.Fault{On: "webhook", Do: "lose"}) // no webhook arrives before the restart
	params := first.sessionParams("pay-1", 1000)
	made, err := first.client.V1CheckoutSessions.Create(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	first.payWithCard(made.URL, "4242424242424242")
	waiting := first.createSession("pay-2", 500)
	asked := first.createSession("pay-3", 700)
	first.payWithCard(asked.URL, "4000002500003155")
	before, address, key, card := first.server.Records(), first.server.API(), first.server.SecretKey(), cardFingerprintOf(first, made.ID)
	saved, err := first.server.SavedMethod("demo@example.com", "Demo")
	if err != nil {
		t.Fatal(err)
	}
	if err := first.server.Close(); err != nil {
		t.Fatal(err)
	}
	second := newEnv(t, stripe.Options{Data: folder, Now: first.clock.now})
	if second.server.API() != address || second.server.SecretKey() != key {
		t.Error("the address or the key changed")
	}
	if after := second.server.Records(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%+v became %+v", before, after)
	}
	if again, err := second.client.V1CheckoutSessions.Create(t.Context(), params); err != nil || again.ID != made.ID {
		t.Errorf("the key was forgotten: %v %v", again, err)
	}
	if cardFingerprintOf(second, made.ID) != card {
		t.Error("the card has another fingerprint")
	}
	if again, err := second.server.SavedMethod("demo@example.com", "Demo"); err != nil || again != saved {
		t.Errorf("another saved card: %+v, %v", again, err)
	}
	second.waitFor("undelivered webhooks", func() bool { return len(second.receiver.eventTypes()) == 2 })
	if status, _, _ := second.payWithCard(waiting.URL, "4242424242424242"); status != http.StatusSeeOther {
		t.Errorf("an open page: %d", status)
	}
	if status, to, _ := second.postForm(asked.URL+"/bank", url.Values{"answer": {"approve"}}); status != http.StatusSeeOther || to != "http://shop.example/paid" {
		t.Errorf("the bank's authentication: %d %s", status, to)
	}
}

func cardFingerprintOf(s *testEnv, session string) string {
	s.Helper()
	return s.getSession(session).PaymentIntent.LatestCharge.PaymentMethodDetails.Card.Fingerprint
}

func TestControl_SetsFaultsFromOtherProcess(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s := newEnv(t, stripe.Options{Data: folder})
	control, err := stripe.ReadControl(folder)
	if err != nil || control != s.server.Control() {
		t.Fatalf("%+v %v", control, err)
	}
	ask := func(method, path, body string) int {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, control.Address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+control.Secret)
		response, err := s.browser.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	for body, want := range map[string]int{
		`{"on":"checkout.create","do":"fail_before"}`: 200,
		`{"on":"checkout.create","do":"lose"}`:        400,
		`{"on":"webhook","do":"fail_before"}`:         400,
		`{"do":"fail_before"}`:                        400,
		`{"on":"*","do":"slow","delay":"soon"}`:       400,
		`{"on":"*","do":"slow","colour":"blue"}`:      400,
	} {
		if got := ask(http.MethodPost, "/faults", body); got != want {
			t.Errorf("%s: %d", body, got)
		}
	}
	if _, err := s.client.V1CheckoutSessions.Create(t.Context(), s.sessionParams("pay-1", 1000)); err == nil {
		t.Error("the fault had no effect")
	}
	if got := ask(http.MethodDelete, "/faults", ""); got != http.StatusOK {
		t.Errorf("%d", got)
	}
	s.createSession("pay-1", 1000)
	if err := s.server.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := stripe.ReadControl(folder); err == nil {
		t.Error("the stale control file was not removed")
	}
}

func TestChaos_RetriesWithOneKeyChargeOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t, stripe.Options{Chaos: 0.3, Seed: 11})
	const many = 30
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			params := s.sessionParams(fmt.Sprintf("pay-%d", i), 1000)
			var made *stripego.CheckoutSession
			s.waitFor("a page", func() (done bool) {
				var err error
				made, err = s.client.V1CheckoutSessions.Create(t.Context(), params)
				return err == nil
			})
			s.payWithCard(made.URL, "4242424242424242")
		})
	}
	all.Wait()
	if money := s.server.Records(); len(money.Sessions) != many || len(money.Charges) != many {
		t.Errorf("%d pages, %d charges", len(money.Sessions), len(money.Charges))
	}
}

func BenchmarkPayments(b *testing.B) {
	folder := b.TempDir()
	server, err := stripe.Start(stripe.Options{Data: folder})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	client := newClient(server, server.SecretKey())
	human := &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	defer human.CloseIdleConnections()
	template := (&testEnv{clock: &clock{}}).sessionParams("x", 1000)
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			params := *template
			params.IdempotencyKey = stripego.String(stripego.NewIdempotencyKey())
			made, err := client.V1CheckoutSessions.Create(b.Context(), &params)
			if err != nil {
				b.Error(err)
				return
			}
			response, err := human.PostForm(made.URL, url.Values{"cardNumber": {"4242424242424242"}})
			if err != nil {
				b.Error(err)
				return
			}
			_ = response.Body.Close()
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "payments/s")
}
