package order_test

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

var (
	shopper = registrar.Actor{Kind: registrar.ActorAgent, Through: "agt_1"}
	rival   = registrar.Actor{Kind: registrar.ActorAgent, Through: "agt_2"}
	carla   = order.Contact{
		FirstName: "Carla", LastName: "Neu", Email: "carla@neu.example", Phone: "+49.30123456",
		Street: "Neuweg 1", PostalCode: "10115", City: "Berlin", Country: "DE",
	}
)

// createSession creates a session for Carla, who has no account.
func (env *testEnv) createSession(kind order.Kind, contact *order.Contact, labels ...string) order.Session {
	env.t.Helper()
	session, err := env.service.CreateSession(env.t.Context(), shopper, order.SessionRequest{Items: newRequest(kind, labels...).Items, Contact: contact})
	if err != nil {
		env.t.Fatal(err)
	}
	return session
}

func (env *testEnv) complete(id, token string) (order.Session, error) {
	env.t.Helper()
	return env.service.CompleteSession(env.t.Context(), shopper, id, order.Completion{Token: token})
}

func TestCompleteSession_SecondCallChargesOnce(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	made := env.createSession(order.Register, &carla, "eins")
	if made.Status != order.Ready || made.Order.Claimed || made.Order.Agent != shopper.Through || made.PayURL == "" {
		t.Fatalf("made as %+v", made)
	}
	for range 2 { // the second call finds it completed
		done, err := env.complete(made.Order.ID, "spt_ok_1")
		if err != nil || done.Status != order.SessionCompleted || done.Order.State != order.Provisioning {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	if _, err := env.complete(env.createSession(order.Register, &carla, "zwei").Order.ID, "spt_ok_1"); code(err) != order.PaymentDeclined {
		t.Errorf("a token that is spent: %v", err)
	}
	if n := env.provider.charges(); n != 1 {
		t.Errorf("%d charges", n)
	}
	mails := 0
	for _, mail := range env.store.mails {
		if mail.Kind == registrar.MailClaim && mail.To == carla.Email {
			mails++
		}
	}
	if mails != 1 {
		t.Errorf("%d claim mails", mails)
	}
	env.checkInvariants()
}

func TestCompleteSession_ReportsProblemsInDocumentedOrder(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		kind    order.Kind
		contact *order.Contact
		token   string
		arrange func(*testEnv, order.Session)
		code    registrar.Code
		refused bool
		problem registrar.Code
		state   order.State
	}{
		"no registrant before no name": {
			token: "spt_expired", arrange: func(env *testEnv, _ order.Session) { env.market.refuse["eins.de"] = refusedName }, code: order.DataMissing,
		},
		"no name before no token": {
			contact: &carla, arrange: func(env *testEnv, _ order.Session) { env.market.refuse["eins.de"] = refusedName }, refused: true, code: refusedName.Code,
		},
		"a price before an identity": {
			contact: &carla, token: "spt_ok", arrange: func(env *testEnv, _ order.Session) { env.market.net = 2000; env.market.verify["eins.de"] = true },
			code: order.PriceChanged, state: order.AwaitingVerification,
		},
		"an identity before the token": {
			contact: &carla, token: "spt_expired", arrange: func(env *testEnv, _ order.Session) { env.market.verify["eins.de"] = true },
			problem: order.ProblemIdentity, state: order.AwaitingVerification,
		},
		"an auth code before the token": {contact: &carla, kind: order.Transfer, token: "spt_expired", problem: order.ProblemCode},
		"no token":                      {contact: &carla, problem: order.ProblemNoPayment},
		"the bank asks":                 {contact: &carla, token: "spt_human", problem: order.ProblemHuman},
		"expired":                       {contact: &carla, token: "spt_expired", code: order.TokenExpired},
		"too small":                     {contact: &carla, token: "spt_small", code: order.TokenTooSmall},
		"declined":                      {contact: &carla, token: "spt_declined", code: order.PaymentDeclined},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			if one.kind == "" {
				one.kind = order.Register
			}
			made := env.createSession(one.kind, one.contact, "eins")
			if one.arrange != nil {
				one.arrange(env, made)
			}
			got, err := env.complete(made.Order.ID, one.token)
			var items *order.ItemsRefused
			if code(err) != one.code || errors.As(err, &items) != one.refused || got.Problem != one.problem || (err == nil) != (one.problem != "") {
				t.Fatalf("%+v, %v", got, err)
			}
			if got.Order.ID != made.Order.ID || got.PayURL == "" {
				t.Errorf("session next to the error: %+v", got)
			}
			if one.problem != "" && got.Status != order.NotReady {
				t.Errorf("status with a link: %s", got.Status)
			}
			if one.state == "" {
				one.state = order.AwaitingPayment
			}
			if o := env.wantState(made.Order.ID, one.state); o.Totals != got.Order.Totals {
				t.Errorf("stored %v, returned %v", o.Totals, got.Order.Totals)
			}
			if (got.VerifyURL != "") != (one.state == order.AwaitingVerification) {
				t.Errorf("VerifyURL %q", got.VerifyURL)
			}
			if n := env.provider.charges(); n != 0 {
				t.Errorf("%d charges", n)
			}
			env.checkInvariants()
		})
	}
}

var refusedName = &registrar.Error{Kind: registrar.KindConflict, Code: "name_taken"}

func TestCompleteSession_FiftyConcurrentCallsChargeOnce(t *testing.T) {
	t.Parallel()
	t.Run("each with a token of its own", func(t *testing.T) { fiftyCompletions(t, func(i int) string { return "spt_ok_" + strconv.Itoa(i) }) })
	t.Run("all with the same", func(t *testing.T) { fiftyCompletions(t, func(int) string { return "spt_ok" }) })
}

func fiftyCompletions(t *testing.T, token func(int) string) {
	t.Parallel()
	env := newEnv(t)
	made := env.createSession(order.Register, &carla, "eins")
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[order.SessionStatus]int{}
	for i := range 50 {
		all.Go(func() {
			got, err := env.complete(made.Order.ID, token(i))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			seen[got.Status]++
		})
	}
	all.Wait()
	if seen[order.SessionCompleted] != 50 {
		t.Errorf("statuses %v", seen)
	}
	if n := env.provider.charges(); n != 1 {
		t.Errorf("%d charges", n)
	}
	env.wantState(made.Order.ID, order.Provisioning)
	env.checkInvariants()
}

func TestCompleteSession_AgentAndHumanPayOnce(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"the human has the page": "human", "the agent is charging": "agent"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			env.store.linked = map[string]string{shopper.Through: anna}
			o, secret := env.createOrder(newRequest(order.Register, "eins"))
			if first == "human" {
				url := env.pay(secret, o.Totals.Gross)
				got, err := env.complete(o.ID, "spt_ok")
				if err != nil || got.Status != order.InProgress || got.Problem != order.ProblemPaying {
					t.Fatalf("%+v, %v", got, err)
				}
				if !env.provider.pay(url) {
					t.Fatal("the page was closed")
				}
				if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
					t.Fatal(err)
				}
			} else {
				env.provider.beforeCharge = func() {
					if _, err := env.service.Pay(t.Context(), annaInPerson, secret, consentTo(o.Totals.Gross)); code(err) != order.NotOpen {
						t.Errorf("the human could pay: %v", err)
					}
				}
				if got, err := env.complete(o.ID, "spt_ok"); err != nil || got.Status != order.SessionCompleted {
					t.Fatalf("%+v, %v", got, err)
				}
			}
			env.wantState(o.ID, order.Provisioning)
			if n := env.provider.charges(); n != 1 {
				t.Errorf("%d charges", n)
			}
			env.checkInvariants()
		})
	}
}

func TestCancelSession_DuringChargeEndsPaidOrCanceled(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"before the bank has decided": true, "after it": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t)
			made := env.createSession(order.Register, &carla, "eins")
			canceled := error(nil)
			cancel := func() { _, canceled = env.service.CancelSession(t.Context(), shopper, made.Order.ID) }
			want, charges := order.Provisioning, 1
			if before {
				env.provider.beforeCharge, want, charges = cancel, order.Canceled, 0
			} else {
				env.provider.afterCharge = cancel
			}
			_, _ = env.complete(made.Order.ID, "spt_ok")
			if (canceled == nil) != before {
				t.Errorf("canceling: %v", canceled)
			}
			env.wantState(made.Order.ID, want)
			if n := env.provider.charges(); n != charges {
				t.Errorf("%d charges", n)
			}
			env.checkInvariants()
		})
	}
}

// A dying process leaves everything as last stored, and another one starts.
func TestCharge_UnansweredIsFoundOrCanceledAfterRestart(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		arrange func(*fakeProvider)
		state   order.State
		charges int
		token   string
	}{
		"the intent was not answered":   {func(p *fakeProvider) { p.crashing = true }, order.AwaitingPayment, 0, ""},
		"the charge was not answered":   {func(p *fakeProvider) { p.beforeCharge = func() { p.set(func(p *fakeProvider) { p.crashing = true }) } }, order.Provisioning, 1, ""},
		"the charge never arrived":      {func(p *fakeProvider) { p.beforeCharge = func() { p.set(func(p *fakeProvider) { p.down = errDown }) } }, order.AwaitingPayment, 0, ""},
		"the provider is gone after it": {func(p *fakeProvider) { p.afterCharge = func() { p.set(func(p *fakeProvider) { p.down = errDown }) } }, order.Provisioning, 1, ""},
		"it is declined, and then gone": {func(p *fakeProvider) { p.afterCharge = func() { p.set(func(p *fakeProvider) { p.down = errDown }) } }, order.AwaitingPayment, 0, "spt_declined"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t)
				made := env.createSession(order.Register, &carla, "eins")
				one.arrange(env.provider)
				_, _ = env.complete(made.Order.ID, cmp.Or(one.token, "spt_ok"))
				env.provider.set(func(p *fakeProvider) { p.down, p.crashing, p.beforeCharge, p.afterCharge = nil, false, nil, nil })
				env.runFor(env.startNode("node"), 5*time.Minute)
				env.wantState(made.Order.ID, one.state)
				if n := env.provider.charges(); n != one.charges {
					t.Errorf("%d charges", n)
				}
				if one.state == order.AwaitingPayment { // the agent retries
					if got, err := env.complete(made.Order.ID, "spt_ok"); err != nil || got.Status != order.SessionCompleted {
						t.Errorf("again: %+v, %v", got, err)
					}
				}
				env.checkInvariants()
			})
		})
	}
}

func TestCharge_DeclinedIntentCannotBePaid(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	made := env.createSession(order.Register, &carla, "eins")
	for _, token := range []string{"spt_declined", "spt_human"} {
		_, _ = env.complete(made.Order.ID, token)
	}
	o := env.wantState(made.Order.ID, order.AwaitingPayment)
	var failures []registrar.Code
	for _, payment := range o.Payments {
		failures = append(failures, payment.Failure)
		if payment.Kind != order.ByToken || payment.State != order.PaymentClosed || !env.provider.pageBySession(payment.Session).status.Ended {
			t.Errorf("%+v is not over", payment)
		}
	}
	if !slices.Equal(failures, []registrar.Code{order.PaymentDeclined, order.ProblemHuman}) {
		t.Errorf("the failures are %v", failures)
	}
	if got, err := env.complete(made.Order.ID, "spt_ok"); err != nil || got.Status != order.SessionCompleted {
		t.Errorf("%+v, %v", got, err)
	}
	env.checkInvariants()
}

func TestCompleteSession_WaitsForSlowCharge(t *testing.T) {
	t.Parallel()
	for name, decides := range map[string]time.Duration{"in time": 5 * time.Second, "too late": 20 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t)
				made := env.createSession(order.Register, &carla, "eins")
				var bank sync.WaitGroup
				bank.Go(func() {
					time.Sleep(decides)
					intent := env.wantState(made.Order.ID, order.Paying).Payments[0].Intent
					env.provider.forcePay(intent, func(s *order.PaymentStatus) { s.Amount, s.Intent = made.Order.Totals.Gross, intent })
					if err := env.service.HandleEvent(t.Context(), order.Event{Intent: intent}); err != nil {
						t.Error(err)
					}
				})
				got, err := env.complete(made.Order.ID, "spt_slow")
				if decides < order.CompletionWait && (err != nil || got.Status != order.SessionCompleted) ||
					decides > order.CompletionWait && (code(err) != order.PaymentInProgress || got.Status != order.InProgress) {
					t.Errorf("%s, %v", got.Status, err)
				}
				bank.Wait()
				env.wantState(made.Order.ID, order.Provisioning)
				env.checkInvariants()
			})
		})
	}
}

func TestCharge_LateAnswerLeavesHumansPageOpen(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	env.store.linked = map[string]string{shopper.Through: anna}
	o, secret := env.createOrder(newRequest(order.Register, "eins"))
	page := ""
	env.provider.beforeCharge = func() {
		if err := env.service.AbortPayment(t.Context(), annaInPerson, secret); err != nil {
			t.Error(err)
		}
		page = env.pay(secret, o.Totals.Gross)
	}
	if _, err := env.complete(o.ID, "spt_ok"); code(err) != order.PaymentDeclined {
		t.Errorf("the agent gets %v", err)
	}
	if !env.provider.pay(page) {
		t.Fatal("the agent closed the customer's page")
	}
	if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	env.wantState(o.ID, order.Provisioning)
	env.checkInvariants()
}
