package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	concurrentReversals = 8
	// settleTimeout bounds the wait for refunds, webhooks and credit notes after the last
	// reversal.
	settleTimeout = 10 * time.Minute
)

// raisedLimits let an account order more than a customer's checks and identity check allow.
var raisedLimits = []string{
	"DOTKONTOR_ORDERS_VERIFY_OVER_EUR=1000000", "DOTKONTOR_LIMITS_QUOTES_PER_MINUTE=100000", "DOTKONTOR_LIMITS_QUOTES_PER_HOUR=100000",
}

// benchReversals sells orders of one to three domains, takes the money of a fifth of them back in
// every way there is, at random, and compares orders, credit notes, disputes and registry charges
// with the provider. Every difference is a missed target.
func benchReversals(ctx context.Context, b bench) ([]measurement, error) {
	return onBothDatabases(ctx, b, func(ctx context.Context, where, url string) ([]measurement, error) {
		return measureReversals(ctx, b, where, url)
	})
}

func measureReversals(ctx context.Context, b bench, where, url string) (lines []measurement, err error) {
	at, err := deploy(ctx, b, "reversals-"+strings.ToLower(where), url, raisedLimits...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, at.running.Stop()) }()
	accounts, err := seedBuyers(ctx, at.opts, buyers)
	if err != nil {
		return nil, err
	}
	shop := newShopClient(at.running.Server.Ready)
	defer shop.close()
	b.progress("reversals on %s: %d orders", where, b.reversed)
	sales := newWorkload(func(ctx context.Context, number int64, note func(string, time.Duration)) error {
		names := []string{domainName(number)}
		for more := range number % 3 {
			names = append(names, fmt.Sprintf("dazu-%d-", more)+domainName(number))
		}
		return shop.buy(ctx, accounts[int(number)%len(accounts)], note, names...)
	}, nil)
	if _, err := sales.runAll(ctx, b.reversed); err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, at.opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	cfg, err := config.Load(at.running.World.Ready, at.settings)
	if err != nil {
		return nil, err
	}
	r := &reversals{progress: b.progress, db: db, provider: at.provider, stripe: cfg.Stripe, counts: make(map[string]int)}
	if r.refunds, err = order.NewRefunds(order.RefundsConfig{Store: db}); err != nil {
		return nil, err
	}
	if r.orders, err = listOrderIDs(ctx, db); err != nil {
		return nil, err
	}
	wanted := b.reversed / 5
	b.progress("reversals on %s: %d", where, wanted)
	began := time.Now()
	if err := r.runAll(ctx, wanted, b.seed); err != nil {
		return nil, err
	}
	problems, err := r.waitForBooks(ctx)
	if err != nil {
		return nil, err
	}
	for _, problem := range problems {
		b.progress("  %s", problem)
	}
	return []measurement{
		newMeasurement("differences after refunds and disputes on "+where, float64(len(problems)), count, atMost(0),
			fmt.Sprintf("%d orders, seed %d: %s", len(r.orders), b.seed, r.summary())),
		newMeasurement("  until all of them were booked", time.Since(began).Seconds(), seconds, nil, ""),
	}, nil
}

func listOrderIDs(ctx context.Context, db *store.DB) (ids []string, err error) {
	const page = 500
	for last := ""; ; last = ids[len(ids)-1] {
		orders, err := db.ListOrdersAfter(ctx, last, page)
		if err != nil {
			return nil, err
		}
		for _, o := range orders {
			ids = append(ids, o.ID)
		}
		if len(orders) < page {
			return ids, nil
		}
	}
}

// reversals takes money back.
type reversals struct {
	progress func(format string, args ...any)
	db       *store.DB
	provider testkit.Provider
	stripe   config.Stripe
	refunds  *order.Refunds
	orders   []string

	mu     sync.Mutex
	counts map[string]int
}

var reversingOperator = registrar.Actor{Kind: registrar.ActorOperator, Through: "bench"}

// reversalKinds are the ways to take money back. Each returns how it ended.
var reversalKinds = []struct {
	name string
	run  func(r *reversals, ctx context.Context, dice *rand.Rand, o order.Order) (outcome string, err error)
}{
	{"refund", (*reversals).refundByOperator},
	{"refund at the provider", (*reversals).refundAtProvider},
	{"returned refund", (*reversals).returnRefund},
	{"dispute", (*reversals).dispute},
	{"inquiry", (*reversals).inquiry},
	{"bank return", func(r *reversals, ctx context.Context, _ *rand.Rand, o order.Order) (string, error) {
		_, err := r.provider.Dispute(ctx, stripe.DisputeRequest{Order: o.ID, Kind: "bank_return"})
		return "", err
	}},
	{"dispute of an unknown charge", func(r *reversals, ctx context.Context, _ *rand.Rand, _ order.Order) (string, error) {
		_, err := r.provider.Dispute(ctx, stripe.DisputeRequest{Amount: 999})
		return "", err
	}},
}

func (r *reversals) runAll(ctx context.Context, wanted int, seed uint64) error {
	var (
		next     atomic.Int64
		all      sync.WaitGroup
		failures = make([]error, concurrentReversals)
	)
	for i := range concurrentReversals {
		all.Go(func() {
			for n := next.Add(1) - 1; n < int64(wanted) && failures[i] == nil; n = next.Add(1) - 1 {
				failures[i] = r.runOne(ctx, rand.New(rand.NewPCG(seed, uint64(n))))
			}
		})
	}
	all.Wait()
	return errors.Join(failures...)
}

// runOne reverses a random order. Every second one is among a few, so that refunds and disputes
// meet on a payment.
func (r *reversals) runOne(ctx context.Context, dice *rand.Rand) error {
	among := len(r.orders)
	if dice.IntN(2) == 0 {
		among = max(1, among/20)
	}
	id := r.orders[dice.IntN(among)]
	o, _, err := r.db.OrderByID(ctx, id)
	if err != nil {
		return err
	}
	kind := reversalKinds[dice.IntN(len(reversalKinds))]
	outcome, err := kind.run(r, ctx, dice, o)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", kind.name, id, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[strings.TrimSpace(kind.name+" "+outcome)]++
	return nil
}

// refundByOperator refunds an order, an item, or a part of either.
func (r *reversals) refundByOperator(ctx context.Context, dice *rand.Rand, o order.Order) (string, error) {
	request := order.RefundRequested{Order: o.ID, Reason: "goodwill", Note: "bench"}
	if dice.IntN(2) == 0 {
		request.Item = o.Items[dice.IntN(len(o.Items))].ID
	}
	if dice.IntN(2) == 0 {
		request.Amount = 1 + registrar.Cents(dice.IntN(500))
	}
	preview, err := r.refunds.Preview(ctx, reversingOperator, request)
	if err == nil {
		request.Seen = preview.Seen
		_, err = r.refunds.Order(ctx, reversingOperator, request)
	}
	switch code := registrar.CodeOf(err); {
	case err == nil:
		return "", nil
	case slices.Contains([]registrar.Code{order.NothingToRefund, order.RefundTooLarge, order.RefundChanged}, code):
		return "refused", nil
	default:
		return "", err
	}
}

// refundAtProvider refunds without the product, whose operator then assigns some of them.
func (r *reversals) refundAtProvider(ctx context.Context, dice *rand.Rand, o order.Order) (string, error) {
	amount := registrar.Cents(0)
	if dice.IntN(2) == 0 {
		amount = 1 + registrar.Cents(dice.IntN(300))
	}
	if _, err := r.provider.RefundPayment(ctx, o.CapturedPayment().Intent, amount); err != nil {
		return "refused", nil //nolint:nilerr // the charge is disputed, or less is left
	}
	if dice.IntN(2) == 0 {
		return "", nil
	}
	booked, err := r.waitForRefund(ctx, o.ID, func(one order.Refund) bool { return one.Task == order.TaskAssign })
	if err != nil || booked.ID == "" {
		return "", err
	}
	current, _, err := r.db.OrderByID(ctx, o.ID)
	if err != nil {
		return "", err
	}
	amounts, left := make(map[string]registrar.Cents), booked.Amount
	for _, item := range current.Items {
		amounts[item.ID] = min(left, item.Gross-current.RefundedOf(item.ID))
		left -= amounts[item.ID]
	}
	err = r.refunds.Assign(ctx, reversingOperator, o.ID, booked.ID, amounts)
	if registrar.KindOf(err) == registrar.KindInvalid || registrar.KindOf(err) == registrar.KindConflict {
		return "", nil // another refund of the items was faster
	}
	return "assigned", err
}

// waitForRefund waits a moment for a refund; it is zero if there is none.
func (r *reversals) waitForRefund(ctx context.Context, id string, matches func(order.Refund) bool) (order.Refund, error) {
	for range 20 {
		o, _, err := r.db.OrderByID(ctx, id)
		if err != nil {
			return order.Refund{}, err
		}
		if at := slices.IndexFunc(o.Refunds, matches); at >= 0 {
			return o.Refunds[at], nil
		}
		select {
		case <-ctx.Done():
			return order.Refund{}, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return order.Refund{}, nil
}

// returnRefund refunds a payment, whose bank then returns the money; the operator repeats the
// refund, closes it, or leaves it.
func (r *reversals) returnRefund(ctx context.Context, dice *rand.Rand, o order.Order) (string, error) {
	made, err := r.provider.RefundPayment(ctx, o.CapturedPayment().Intent, 0)
	if err != nil {
		return "refused", nil //nolint:nilerr // the charge is disputed, or nothing is left
	}
	if err := r.provider.ReturnRefund(ctx, made.ID); err != nil {
		return "", err
	}
	returned, err := r.waitForRefund(ctx, o.ID, func(one order.Refund) bool { return one.Provider == made.ID && one.Task == order.TaskReturned })
	if err != nil || returned.ID == "" {
		return "", err
	}
	outcome := []string{"", "repeated", "closed"}[dice.IntN(3)]
	switch outcome {
	case "repeated":
		err = r.refunds.Repeat(ctx, reversingOperator, o.ID, returned.ID)
	case "closed":
		err = r.refunds.Settle(ctx, reversingOperator, o.ID, returned.ID, "paid by bank transfer")
	}
	return outcome, err
}

// disputePaths are how a dispute goes on.
var disputePaths = [][]string{{}, {"under_review"}, {"won"}, {"lost"}, {"under_review", "won"}, {"under_review", "lost"}, {"won", "lost"}, {"lost", "won"}}

func (r *reversals) dispute(ctx context.Context, dice *rand.Rand, o order.Order) (string, error) {
	request := stripe.DisputeRequest{Order: o.ID}
	if dice.IntN(3) == 0 {
		request.Amount = 1 + dice.Int64N(int64(o.Totals.Gross))
	}
	return r.follow(ctx, request, disputePaths[dice.IntN(len(disputePaths))])
}

func (r *reversals) inquiry(ctx context.Context, dice *rand.Rand, o order.Order) (string, error) {
	paths := [][]string{{}, {"warning_under_review", "warning_closed"}, {"warning_closed"}, {"needs_response", "won"}, {"needs_response", "lost"}}
	return r.follow(ctx, stripe.DisputeRequest{Order: o.ID, Kind: "inquiry"}, paths[dice.IntN(len(paths))])
}

// follow opens a dispute and changes its status as the bank does.
func (r *reversals) follow(ctx context.Context, request stripe.DisputeRequest, path []string) (string, error) {
	made, err := r.provider.Dispute(ctx, request)
	if err != nil {
		return "", err
	}
	for _, status := range path {
		if err := r.provider.MoveDispute(ctx, made.ID, status); err != nil {
			return "", err
		}
	}
	return strings.Join(path, ", then "), nil
}

// waitForBooks returns what is wrong once everything is booked, or at the end of settleTimeout. A
// payment that was refunded and also taken back by the bank must be reported, and nothing else.
func (r *reversals) waitForBooks(ctx context.Context) (problems []string, err error) {
	for deadline := time.Now().Add(settleTimeout); ; {
		twice, err := r.returnedTwice(ctx)
		if err != nil {
			return nil, err
		}
		found, err := testkit.PaymentProblems(ctx, r.db, r.stripe)
		if err != nil {
			return nil, err
		}
		problems = problems[:0]
		for _, problem := range found {
			about, text, _ := strings.Cut(strings.TrimPrefix(problem, "dispute "), ": ")
			if twice[about] && strings.HasPrefix(text, "of payment ") {
				delete(twice, about)
				continue
			}
			problems = append(problems, problem)
		}
		for id := range twice {
			problems = append(problems, "not reported: "+id+" was refunded and taken back")
		}
		if len(problems) == 0 || time.Now().After(deadline) {
			return problems, nil
		}
		r.progress("  %d differences left, for example: %s", len(problems), problems[0])
		select {
		case <-ctx.Done():
			return problems, ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// returnedTwice returns the orders of which the provider says that more was refunded and taken
// back than paid.
func (r *reversals) returnedTwice(ctx context.Context) (map[string]bool, error) {
	money, err := r.provider.Money(ctx)
	if err != nil {
		return nil, err
	}
	disputes, err := r.provider.Disputes(ctx)
	if err != nil {
		return nil, err
	}
	withdrawn := make(map[string]int64)
	for _, d := range disputes {
		withdrawn[d.Charge] += d.Withdrawn
	}
	twice := make(map[string]bool)
	for _, c := range money.Charges {
		if taken := withdrawn[c.ID]; taken > 0 && c.Refunded+taken > c.Amount {
			twice[c.Metadata["order"]] = true
		}
	}
	return twice, nil
}

// summary counts the reversals by kind and outcome.
func (r *reversals) summary() string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(r.counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", r.counts[what], what))
	}
	return strings.Join(parts, "; ")
}
