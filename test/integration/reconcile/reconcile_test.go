// Package reconcile tests the reconciliation of the real product's database with the
// payment provider and the registry, each in its own process, and that public pages
// contain no personal data.
package reconcile

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
	"github.com/dotkontor/dotkontor/test/crash"
	"github.com/dotkontor/dotkontor/test/testkit"
)

var binary string

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, &binary)) }

// The go tool does not see the sources of a binary built by a command, so this test
// reads them.
func TestSources_AreInputsOfTheTestCache(t *testing.T) {
	t.Parallel()
	seen, err := testkit.Sources()
	if err != nil || !slices.Contains(seen, "reconcile.go") {
		t.Errorf("%d sources, %v", len(seen), err)
	}
}

// waitTimeout bounds waits on a busy machine.
const waitTimeout = 2 * time.Minute

// env is a running shop with a signed-in customer.
type env struct {
	*crash.Shop
	t *testing.T
}

func newEnv(t *testing.T) *env {
	t.Helper()
	shop, err := crash.NewShop(t.Context(), binary, t.TempDir())
	must(t, err)
	t.Cleanup(func() { must(t, shop.Close()) })
	supervisor := shop.Supervise(t.Context(), func(int) string { return "" }) // no failpoint
	t.Cleanup(func() { must(t, supervisor.Stop()) })
	must(t, shop.SignIn(t.Context()))
	return &env{shop, t}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// purchase orders as an agent, pays as the customer and waits for the outcome.
func (s *env) purchase(names ...string) crash.Purchase {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), waitTimeout)
	defer cancel()
	purchase, err := s.StartOrder(ctx, names...)
	must(s.t, err)
	must(s.t, s.Pay(ctx, purchase, true))
	must(s.t, s.WaitSettled(ctx, waitTimeout))
	return purchase
}

func (s *env) order(id string) order.Order {
	s.t.Helper()
	o, found, err := s.DB.OrderByID(s.t.Context(), id)
	if err != nil || !found {
		s.t.Fatalf("the order %s: %t, %v", id, found, err)
	}
	return o
}

// provider returns a client of the payment provider with our key.
func (s *env) provider() *stripe.Client {
	s.t.Helper()
	cfg, err := config.Load(s.World.Ready, nil)
	must(s.t, err)
	return stripe.New(stripe.Options{Key: string(cfg.Stripe.SecretKey), URL: cfg.Stripe.APIURL, Methods: []string{"card"}})
}

// wantOneProblem fails unless reconciliation finds exactly one problem with this
// prefix.
func (s *env) wantOneProblem(want string) {
	s.t.Helper()
	problems, err := testkit.ReconcileProblems(s.t.Context(), s.World.Ready, nil, 0)
	must(s.t, err)
	if len(problems) != 1 || !strings.HasPrefix(problems[0], want) {
		s.t.Errorf("found %q, want one with prefix %q", problems, want)
	}
}

func TestReconcile_CompletedRefundedAndDeclinedOrdersAgree(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	if got := s.order(s.purchase("buch-eins.org").ID); got.State != order.Completed {
		t.Errorf("the first order is %s", got.State)
	}
	if got := s.order(s.purchase("buch-zwei.org", "pendingfail-buch.org").ID); got.State != order.PartiallyCompleted || len(got.Refunds) != 1 {
		t.Errorf("the second order is %s with %d refunds", got.State, len(got.Refunds))
	}
	declined, err := s.StartOrder(t.Context(), "buch-drei.org")
	must(t, err)
	must(t, s.Decline(t.Context(), declined))
	waiting, err := s.StartOrder(t.Context(), "buch-vier.org")
	must(t, err)
	if _, err := s.OpenPaymentPage(t.Context(), waiting); err != nil { // the customer has the page open
		t.Fatal(err)
	}
	testkit.Reconcile(t, s.World.Ready)
}

func TestReconcile_ReportsChargeWithoutOrder(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.purchase("fremd.org")
	page, err := s.provider().OpenPage(t.Context(), order.PaymentPage{
		ID: "pay_unknown", Order: "ord_unknown", Items: []order.Item{{Name: "something else", Gross: 700}}, Amount: 700,
		Email: "person@example.org", Language: "de", PaidURL: s.Base + "/", BackURL: s.Base + "/", EndsAt: time.Now().Add(time.Hour),
	})
	must(t, err)
	_, err = s.PayByCard(t.Context(), page.URL, crash.CardGood)
	must(t, err)
	s.wantOneProblem("stray ch_")
	// A full refund resolves the problem.
	status, err := s.provider().FetchPage(t.Context(), page.Session)
	must(t, err)
	_, err = s.provider().Refund(t.Context(), order.RefundRequest{ID: "ref_by_hand", Order: "ord_unknown", Intent: status.Intent, Amount: 700, Reason: "unmatched"}, false)
	must(t, err)
	testkit.Reconcile(t, s.World.Ready)
}
