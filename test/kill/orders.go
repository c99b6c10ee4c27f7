package kill

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

// OrderSettings say how hard it is for orders.
type OrderSettings struct {
	Orders, Kills int
	Chaos         float64
	Seed          uint64
	// Patience is how long all of it may take.
	Patience time.Duration
}

// buyers is how many order at once.
const buyers = 6

// RandomOrders kills the product at boundaries and at random moments while an agent
// orders and people pay, in front of a hostile registry and a hostile payment
// provider. Boundaries exist in a binary that was built with the tag faults.
func RandomOrders(ctx context.Context, binary, folder string, s OrderSettings, out io.Writer) error {
	fmt.Fprintf(out, "%d orders, %d kills, %.0f %% chaos, seed %d\n", s.Orders, s.Kills, s.Chaos*100, s.Seed)
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	shop, err := OpenShop(ctx, binary, folder, "--chaos", strconv.FormatFloat(s.Chaos, 'f', -1, 64), "--seed", strconv.FormatUint(s.Seed, 10))
	if err != nil {
		return err
	}
	return errors.Join(shop.random(ctx, s, out), shop.Close())
}

func (s *Shop) random(ctx context.Context, settings OrderSettings, out io.Writer) error {
	keeper := s.Keep(ctx, ends(settings))
	err := s.SignIn(ctx)
	if err == nil {
		err = s.underFire(ctx, keeper, settings)
	}
	if err == nil {
		err = s.Settled(ctx, settings.Patience)
	}
	err = errors.Join(err, keeper.Stop())
	if err != nil {
		return err
	}
	if err := s.report(ctx, keeper, out); err != nil {
		return err
	}
	if n := s.InFlight(); n > 0 {
		return fmt.Errorf("%d retries after a restart got 409 idempotency_in_flight", n)
	}
	return s.Check(ctx)
}

// ends draws where lives end: every second one at a boundary, after it was passed
// a few times, and the others whenever the time has come.
func ends(settings OrderSettings) func(int) string {
	boundaries := slices.Concat(order.Boundaries(), provision.Boundaries())
	return func(life int) string {
		dice := rand.New(rand.NewPCG(settings.Seed, ^uint64(life)))
		if life >= settings.Kills || dice.IntN(2) == 0 {
			return ""
		}
		return boundaries[dice.IntN(len(boundaries))] + ":" + strconv.Itoa(dice.IntN(3))
	}
}

// underFire has all orders made and paid while the product is killed.
func (s *Shop) underFire(ctx context.Context, keeper *Keeper, settings OrderSettings) error {
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
				if err := s.buyAny(over, rand.New(rand.NewPCG(settings.Seed, uint64(n))), n); err != nil {
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
	for keeper.Deaths() < settings.Kills {
		select {
		case <-bought:
			return failed
		case <-over.Done():
		// Time enough to start and to begin something, most of the time.
		case <-time.After(100*time.Millisecond + time.Duration(dice.Int64N(int64(900*time.Millisecond)))):
			keeper.Kill()
			continue
		}
		break
	}
	<-bought
	return failed
}

// buyAny is the n-th order: what is ordered and how the human behaves are drawn.
func (s *Shop) buyAny(ctx context.Context, dice *rand.Rand, n int) error {
	names := []string{s.anyName(dice, n, "")}
	if dice.IntN(4) == 0 {
		names = append(names, s.anyName(dice, n, "b"), s.anyName(dice, n, "c"))
	}
	p, err := s.Prepare(ctx, names...)
	if err != nil {
		return err
	}
	switch draw := dice.IntN(13); {
	case draw == 10: // the customer's agent has a token
		return s.CompleteAtLast(ctx, p.ID)
	case draw == 11: // it is declined at first
		_, _ = s.Complete(ctx, p.ID, TokenDeclined)
		return s.CompleteAtLast(ctx, p.ID)
	case draw == 12: // the agent and the human at once
		var all sync.WaitGroup
		var first, second error
		all.Go(func() { first = s.CompleteAtLast(ctx, p.ID) })
		all.Go(func() { second = s.Pay(ctx, p, true) })
		all.Wait()
		return errors.Join(first, second)
	case draw < 3:
		return s.Pay(ctx, p, true)
	case draw < 5:
		return s.Pay(ctx, p, false)
	case draw < 6: // thinks better of it
		_, _ = s.Open(ctx, p)
		return s.Decline(ctx, p)
	case draw < 7: // goes back once
		_, _ = s.Open(ctx, p)
		_ = s.Back(ctx, p)
		return s.Pay(ctx, p, true)
	case draw < 8: // has no luck with the first card
		if page, err := s.Open(ctx, p); err == nil && page != "" {
			_, _ = s.Swipe(ctx, page, CardDeclined)
		}
		return s.Pay(ctx, p, true)
	default: // two at once, one of whom goes back in between
		var all sync.WaitGroup
		all.Go(func() {
			_, _ = s.Open(ctx, p)
			_ = s.Back(ctx, p)
		})
		var first, second error
		all.Go(func() { first = s.Pay(ctx, p, true) })
		all.Go(func() { second = s.Pay(ctx, p, false) })
		all.Wait()
		return errors.Join(first, second)
	}
}

// anyName is a name that can be had, whatever the registry then makes of it.
func (s *Shop) anyName(dice *rand.Rand, n int, suffix string) string {
	draw := dice.IntN(100)
	for _, kind := range kinds {
		if draw -= kind.share; draw < 0 && kind.label == "" {
			return kind.prefix + "o" + strconv.Itoa(n) + suffix + extensions[dice.IntN(len(extensions))]
		}
	}
	return "ruhig-o" + strconv.Itoa(n) + suffix + ".org"
}

// report says what came of it, so that a run in which nothing happened is seen.
func (s *Shop) report(ctx context.Context, keeper *Keeper, out io.Writer) error {
	orders, err := s.orders(ctx)
	if err != nil {
		return err
	}
	states, refunds, surplus := make(map[order.State]int), 0, 0
	for _, o := range orders {
		states[o.State]++
		refunds += len(o.Refunds)
		for _, payment := range o.Payments {
			if payment.State == order.PaymentReturned {
				surplus++
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
		keeper.Deaths(), states, len(money.Charges), refunds, surplus, hooks)
	return err
}
