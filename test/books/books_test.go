// Package books proves that the audit of the books sees what happens between the
// real product, its database, the payment provider and the registry, each in another
// process, and that what is public names nobody.
package books

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
	"github.com/dotkontor/dotkontor/test/kill"
	"github.com/dotkontor/dotkontor/test/rig"
)

var binary string

func TestMain(m *testing.M) { os.Exit(rig.Main(m, &binary)) }

// The binary is built by a command, so the go tool has to be told.
func TestAChangeOfTheProductRunsTheseTestsAgain(t *testing.T) {
	t.Parallel()
	seen, err := rig.Sources()
	if err != nil || !slices.Contains(seen, "doctorbooks.go") {
		t.Errorf("%d files were looked at, %v", len(seen), err)
	}
}

// patience bounds what takes seconds, on a machine that is busy otherwise.
const patience = 2 * time.Minute

// stage is a shop that is open, whose human has signed in.
type stage struct {
	*kill.Shop
	t *testing.T
}

func open(t *testing.T) *stage {
	t.Helper()
	shop, err := kill.OpenShop(t.Context(), binary, t.TempDir())
	check(t, err)
	t.Cleanup(func() { check(t, shop.Close()) })
	keeper := shop.Keep(t.Context(), func(int) string { return "" }) // nobody is killed here
	t.Cleanup(func() { check(t, keeper.Stop()) })
	check(t, shop.SignIn(t.Context()))
	return &stage{shop, t}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// buy has an agent order and the human pay, and waits for what comes of it.
func (s *stage) buy(names ...string) kill.Purchase {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	purchase, err := s.Prepare(ctx, names...)
	check(s.t, err)
	check(s.t, s.Pay(ctx, purchase, true))
	check(s.t, s.Settled(ctx, patience))
	return purchase
}

func (s *stage) stored(id string) order.Order {
	s.t.Helper()
	o, found, err := s.DB.OrderByID(s.t.Context(), id)
	if err != nil || !found {
		s.t.Fatalf("the order %s: %t, %v", id, found, err)
	}
	return o
}

// provider is the payment provider, as somebody with our key reaches it.
func (s *stage) provider() *stripe.Client {
	s.t.Helper()
	cfg, err := config.Load(s.World.Ready, nil)
	check(s.t, err)
	return stripe.New(stripe.Options{Key: string(cfg.Stripe.SecretKey), URL: cfg.Stripe.APIURL, Methods: []string{"card"}})
}

// found fails unless the books have exactly one problem, which begins so.
func (s *stage) found(want string) {
	s.t.Helper()
	problems, err := rig.AuditBooks(s.t.Context(), s.World.Ready, nil, 0)
	check(s.t, err)
	if len(problems) != 1 || !strings.HasPrefix(problems[0], want) {
		s.t.Errorf("found %q, want one that begins with %q", problems, want)
	}
}

func TestWhatWasBoughtRefusedAndDeclinedStandsRightInTheBooks(t *testing.T) {
	t.Parallel()
	s := open(t)
	if got := s.stored(s.buy("buch-eins.org").ID); got.State != order.Completed {
		t.Errorf("the first order is %s", got.State)
	}
	if got := s.stored(s.buy("buch-zwei.org", "pendingfail-buch.org").ID); got.State != order.PartiallyCompleted || len(got.Refunds) != 1 {
		t.Errorf("the second order is %s with %d refunds", got.State, len(got.Refunds))
	}
	declined, err := s.Prepare(t.Context(), "buch-drei.org")
	check(t, err)
	check(t, s.Decline(t.Context(), declined))
	waiting, err := s.Prepare(t.Context(), "buch-vier.org")
	check(t, err)
	if _, err := s.Open(t.Context(), waiting); err != nil { // the human sits before the page
		t.Fatal(err)
	}
	rig.CheckBooks(t, s.World.Ready)
}

func TestMoneyThatNoOrderKnowsOfIsFound(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.buy("fremd.org")
	page, err := s.provider().OpenPage(t.Context(), order.Page{
		ID: "pay_unknown", Order: "ord_unknown", Lines: []order.PageLine{{Name: "something else", Amount: 700}}, Amount: 700,
		Email: "person@example.org", Language: "de", Paid: s.Base + "/", Back: s.Base + "/", EndsAt: time.Now().Add(time.Hour),
	})
	check(t, err)
	_, err = s.Swipe(t.Context(), page.URL, kill.CardGood)
	check(t, err)
	s.found("stray ch_")
	// Given back whole it is nobody's trouble any more.
	standing, err := s.provider().Look(t.Context(), page.Session)
	check(t, err)
	_, err = s.provider().Refund(t.Context(), order.RefundCall{ID: "ref_by_hand", Order: "ord_unknown", Intent: standing.Intent, Amount: 700, Reason: "surplus"}, false)
	check(t, err)
	rig.CheckBooks(t, s.World.Ready)
}

func TestARefundWithoutAReasonIsFound(t *testing.T) {
	t.Parallel()
	s := open(t)
	bought := s.stored(s.buy("geschenkt.org").ID)
	payment := bought.Payments[len(bought.Payments)-1]
	_, err := s.provider().Refund(t.Context(), order.RefundCall{ID: "ref_by_hand", Order: bought.ID, Intent: payment.Intent, Amount: 1, Reason: "surplus"}, false)
	check(t, err)
	problems, err := rig.AuditBooks(t.Context(), s.World.Ready, nil, 0)
	check(t, err)
	want := []string{
		"refund " + bought.ID + ": 0.00 of payment " + payment.ID + " was given back here, 0.01 at the provider",
		": the provider gave 0.01 of " + bought.ID + " back, and we know of no reason",
	}
	if len(problems) != 2 || !strings.HasPrefix(problems[0], want[0]) && !strings.HasPrefix(problems[1], want[0]) || !strings.HasSuffix(problems[0], want[1]) && !strings.HasSuffix(problems[1], want[1]) {
		t.Errorf("found %q", problems)
	}
}
