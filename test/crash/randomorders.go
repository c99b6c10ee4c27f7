package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// OrderSettings configure a run of orders with random kills.
type OrderSettings struct {
	Orders, Kills int
	Chaos         float64
	Seed          uint64
	// Timeout bounds the run.
	Timeout time.Duration
}

// buyers is the number of concurrent buyers.
const buyers = 6

// RunRandomOrderKills kills the product at failpoints and at random moments while agents
// order and customers pay, with a faulty registry and payment provider. Failpoints need
// the build tag failpoint.
func RunRandomOrderKills(ctx context.Context, binary, folder string, s OrderSettings, out io.Writer) error {
	fmt.Fprintf(out, "%d orders, %d kills, %.0f %% chaos, seed %d\n", s.Orders, s.Kills, s.Chaos*100, s.Seed)
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	shop, err := NewShop(ctx, binary, folder, "--chaos", strconv.FormatFloat(s.Chaos, 'f', -1, 64), "--seed", strconv.FormatUint(s.Seed, 10))
	if err != nil {
		return err
	}
	return errors.Join(shop.runRandomKills(ctx, s, out), shop.Close())
}

func (s *Shop) runRandomKills(ctx context.Context, settings OrderSettings, out io.Writer) error {
	supervisor := s.Supervise(ctx, killSchedule(settings))
	err := s.SignIn(ctx)
	if err == nil {
		err = s.orderDuringKills(ctx, supervisor, settings)
	}
	if err == nil {
		err = s.WaitSettled(ctx, settings.Timeout)
	}
	err = errors.Join(err, supervisor.Stop())
	if err != nil {
		return err
	}
	if err := s.report(ctx, supervisor, out); err != nil {
		return err
	}
	if n := s.InFlightConflicts(); n > 0 {
		return fmt.Errorf("%d retries after a restart got 409 idempotency_in_flight", n)
	}
	return s.Reconcile(ctx)
}

// killSchedule chooses where each run of the product ends: every second one at a
// failpoint after a few passes, the others at a random time.
func killSchedule(settings OrderSettings) func(int) string {
	failpoints := slices.Concat(order.Failpoints(), provision.Failpoints())
	return func(life int) string {
		dice := rand.New(rand.NewPCG(settings.Seed, ^uint64(life)))
		if life >= settings.Kills || dice.IntN(2) == 0 {
			return ""
		}
		return failpoints[dice.IntN(len(failpoints))] + ":" + strconv.Itoa(dice.IntN(3))
	}
}

// orderDuringKills creates and pays all orders while the product is killed.
func (s *Shop) orderDuringKills(ctx context.Context, supervisor *Supervisor, settings OrderSettings) error {
	over, stop := context.WithCancel(ctx)
	defer stop()
	var (
		next   atomic.Int64
		wait   sync.WaitGroup
		mu     sync.Mutex
		failed error
	)
	for range buyers {
		wait.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= settings.Orders || over.Err() != nil {
					return
				}
				if err := s.buyRandom(over, rand.New(rand.NewPCG(settings.Seed, uint64(n))), n); err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					stop()
				}
			}
		})
	}
	bought := make(chan struct{})
	go func() { wait.Wait(); close(bought) }()
	dice := rand.New(rand.NewPCG(settings.Seed, settings.Seed))
	for supervisor.Kills() < settings.Kills {
		select {
		case <-bought:
			return failed
		case <-over.Done():
		// Usually enough time to start and to begin work.
		case <-time.After(100*time.Millisecond + time.Duration(dice.Int64N(int64(900*time.Millisecond)))):
			supervisor.Kill()
			continue
		}
		break
	}
	<-bought
	return failed
}

// buyRandom places the n-th order with random items and behaviour.
func (s *Shop) buyRandom(ctx context.Context, dice *rand.Rand, n int) error {
	names := []string{s.randomName(dice, n, "")}
	if dice.IntN(4) == 0 {
		names = append(names, s.randomName(dice, n, "b"), s.randomName(dice, n, "c"))
	}
	p, err := s.StartOrder(ctx, names...)
	if err != nil {
		return err
	}
	switch draw := dice.IntN(13); {
	case draw == 10: // the agent pays with a token
		return s.CompleteUntilPaid(ctx, p.ID)
	case draw == 11: // the first token is declined
		_, _ = s.CompleteSession(ctx, p.ID, TokenDeclined)
		return s.CompleteUntilPaid(ctx, p.ID)
	case draw == 12: // agent and customer pay concurrently
		var all sync.WaitGroup
		var first, second error
		all.Go(func() { first = s.CompleteUntilPaid(ctx, p.ID) })
		all.Go(func() { second = s.Pay(ctx, p, true) })
		all.Wait()
		return errors.Join(first, second)
	case draw < 3:
		return s.Pay(ctx, p, true)
	case draw < 5:
		return s.Pay(ctx, p, false)
	case draw < 6: // declines the order
		_, _ = s.OpenPaymentPage(ctx, p)
		return s.Decline(ctx, p)
	case draw < 7: // goes back once
		_, _ = s.OpenPaymentPage(ctx, p)
		_ = s.LeavePaymentPage(ctx, p)
		return s.Pay(ctx, p, true)
	case draw < 8: // the first card is declined
		if page, err := s.OpenPaymentPage(ctx, p); err == nil && page != "" {
			_, _ = s.PayByCard(ctx, page, CardDeclined)
		}
		return s.Pay(ctx, p, true)
	default: // two browsers, one of which goes back in between
		var all sync.WaitGroup
		all.Go(func() {
			_, _ = s.OpenPaymentPage(ctx, p)
			_ = s.LeavePaymentPage(ctx, p)
		})
		var first, second error
		all.Go(func() { first = s.Pay(ctx, p, true) })
		all.Go(func() { second = s.Pay(ctx, p, false) })
		all.Wait()
		return errors.Join(first, second)
	}
}

// randomName returns an available name with a random reaction of the registry.
func (s *Shop) randomName(dice *rand.Rand, n int, suffix string) string {
	draw := dice.IntN(100)
	for _, kind := range labelKinds {
		if draw -= kind.share; draw < 0 && kind.label == "" {
			return kind.prefix + "o" + strconv.Itoa(n) + suffix + tlds[dice.IntN(len(tlds))]
		}
	}
	return "ruhig-o" + strconv.Itoa(n) + suffix + ".org"
}

// report summarises the run, which shows if nothing happened.
func (s *Shop) report(ctx context.Context, supervisor *Supervisor, out io.Writer) error {
	orders, err := s.allOrders(ctx)
	if err != nil {
		return err
	}
	states, refunds, unmatched := make(map[order.State]int), 0, 0
	for _, o := range orders {
		states[o.State]++
		refunds += len(o.Refunds)
		for _, payment := range o.Payments {
			if payment.State == order.PaymentRefunded {
				unmatched++
			}
		}
	}
	money, err := s.Money(ctx)
	if err != nil {
		return err
	}
	hooks, err := s.Webhooks(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "killed %d times; orders %v; %d charges, %d refunds, %d of them of money that came too late or twice; webhooks %+v\n",
		supervisor.Kills(), states, len(money.Charges), refunds, unmatched, hooks)
	return err
}
