package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/pg"
	"github.com/dotkontor/dotkontor/test/rig"
)

const (
	wantedOrdersSQLite   = 40.0
	wantedOrdersPostgres = 50.0
	wantedRequest        = 500.0 // milliseconds, at p99
	// buyers are so many that none of them comes near the limits of an account,
	// which stay as they are.
	buyers = 600
	// shoppers is how many orders are under way at a time.
	shoppers = 24
	// ordersFirst are not counted: connections, caches and sessions with the registry
	// come up with them.
	ordersFirst  = 100
	ordersWithin = 3 * time.Minute
)

// trade is a way in which domains are sold.
type trade struct {
	// name is the section's, sold what is counted, and from where it begins.
	name, sold, from string
	// kinds are the requests whose times are shown.
	kinds []string
	// note says who shares the cores.
	note string
	// open gets everything ready. What it returns sells one name.
	open func(ctx context.Context, b bench, place place) (*market, error)
}

// place is where something is sold.
type place struct {
	running  *rig.Product
	opts     store.Options
	settings []string
}

// benchOrders lets agents order and humans pay: each order is a call of start_order
// with a token, the page at payment_url, the button, the provider's page with a card,
// the way back, and get_order_status until the domain is there. The provider's
// messages come in between, and each name is asked for at the registry three times.
// The whole world is the sandbox's, without latency.
func benchOrders(ctx context.Context, b bench) ([]line, error) {
	return benchTrade(ctx, b, trade{
		name: "orders", sold: "orders", from: startOrder, kinds: requestKinds,
		note: "agents, humans, product, registry, payment provider and database share the cores",
		open: func(ctx context.Context, _ bench, at place) (*market, error) {
			people, err := seedBuyers(ctx, at.opts, buyers)
			if err != nil {
				return nil, err
			}
			shop := newShop(at.running.Server.Ready)
			return newMarket(func(ctx context.Context, number int64, note func(string, time.Duration)) error {
				return shop.buy(ctx, people[int(number)%len(people)], nameOf(number), note)
			}, shop.close), nil
		},
	})
}

// benchTrade measures on both databases.
func benchTrade(ctx context.Context, b bench, t trade) (lines []line, err error) {
	lines, err = t.on(ctx, b, onSQLite.name, wantedOrdersSQLite, "")
	if err != nil {
		return nil, err
	}
	server, err := pg.Start() //nolint:contextcheck // the server must start and end whole, also when the run is stopped
	if errors.Is(err, pg.ErrMissing) {
		b.progress("  left out: %s", err)
		return lines, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }() //nolint:contextcheck // the server must start and end whole, also when the run is stopped
	url, drop, err := server.NewDatabase()                   //nolint:contextcheck // the server must start and end whole, also when the run is stopped
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	more, err := t.on(ctx, b, onPostgres.name+", fsync on", wantedOrdersPostgres, url)
	return append(lines, more...), err
}

// on measures with the database at url; empty is SQLite.
func (t trade) on(ctx context.Context, b bench, where string, wanted float64, url string) (lines []line, err error) {
	folder := filepath.Join(b.folder, t.name+"-"+strings.ToLower(strings.Fields(where)[0]))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	at := place{opts: store.Options{Data: filepath.Join(folder, "world")}}
	if url != "" {
		at.settings = []string{"DOTKONTOR_DATABASE_URL=" + url, "DOTKONTOR_SECRET_KEY=" + config.NewKey()}
		at.opts = store.Options{URL: url}
	}
	at.running, err = rig.StartProduct(ctx, b.binary, folder, nil, at.settings)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, at.running.Stop()) }()
	provider, err := rig.FindProvider(filepath.Join(folder, "world"))
	if err != nil {
		return nil, err
	}
	if err := provider.Announce(ctx, at.running.Server.Ready); err != nil {
		return nil, err
	}
	m, err := t.open(ctx, b, at)
	if err != nil {
		return nil, err
	}
	defer m.close()
	b.progress("%s on %s: the first %d", t.sold, where, ordersFirst)
	if _, err := m.open(ctx, ordersFirst); err != nil {
		return nil, err
	}
	m.forget()
	count := int(b.ordering.Seconds() * wanted)
	b.progress("%s on %s: %d, %d at a time", t.sold, where, count, shoppers)
	before, known := costs(at.running)
	took, err := m.open(ctx, count)
	if err != nil {
		return nil, err
	}
	after, _ := costs(at.running)
	if m.check != nil {
		if err := m.check(ctx, ordersFirst+count); err != nil {
			return nil, err
		}
	}
	lines = []line{
		measured(t.sold+" on "+where+", from "+t.from+" to registered", float64(count)/took.Seconds(), perSecond, atLeast(wanted),
			fmt.Sprintf("%d %s, %d at a time; %s", count, t.sold, shoppers, t.note)),
	}
	for _, kind := range t.kinds {
		times := m.times(kind)
		lines = append(lines, measured("  "+kind+", p99", percentile(times, 0.99), milliseconds, atMost(wantedRequest),
			fmt.Sprintf("median %.1f ms, %.1f for each", percentile(times, 0.5), float64(len(times))/float64(count))))
	}
	whole := m.times(wholeOrder)
	lines = append(lines, measured("  from "+t.from+" to registered, p99", percentile(whole, 0.99), milliseconds, nil,
		fmt.Sprintf("median %.0f ms", percentile(whole, 0.5))))
	if known {
		for i, name := range []string{"product", "world (registry, provider, mail)"} {
			lines = append(lines, measured("  CPU time of the "+name+" for each", float64((after[i]-before[i]).Microseconds())/1000/float64(count), milliseconds, nil, ""))
		}
	}
	return lines, checkBooks(ctx, b, at.running, at.settings)
}

// costs are the CPU times of the product and of the world.
func costs(running *rig.Product) (times [2]time.Duration, known bool) {
	server, known := running.Server.CPU()
	world, alsoKnown := running.World.CPU()
	return [2]time.Duration{server, world}, known && alsoKnown
}

// checkBooks makes sure that what was measured was right, too.
func checkBooks(ctx context.Context, b bench, running *rig.Product, settings []string) error {
	doctor := exec.CommandContext(ctx, b.binary, "doctor", "--books", "--config", running.World.Ready)
	doctor.Env = append(os.Environ(), settings...)
	if text, err := doctor.CombinedOutput(); err != nil {
		return fmt.Errorf("the books do not agree: %w\n%s", err, text)
	}
	return nil
}

// market is where names are sold.
type market struct {
	sell  func(ctx context.Context, number int64, note func(string, time.Duration)) error
	close func()
	// check makes sure that so many sales have left what they should; nil means that
	// the books say enough.
	check func(ctx context.Context, sold int) error
	names atomic.Int64

	mu    sync.Mutex
	taken map[string][]float64 // by kind of request, milliseconds
}

func newMarket(sell func(ctx context.Context, number int64, note func(string, time.Duration)) error, closeIt func()) *market {
	return &market{sell: sell, close: closeIt, taken: make(map[string][]float64)}
}

func (m *market) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.taken)
}

func (m *market) note(kind string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.taken[kind] = append(m.taken[kind], float64(took.Microseconds())/1000)
}

func (m *market) times(kind string) []float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.taken[kind]
}

// open carries out so many orders, and says how long it took until the last domain
// was there.
func (m *market) open(ctx context.Context, orders int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, ordersWithin)
	defer cancel()
	var (
		left     atomic.Int64
		all      sync.WaitGroup
		failures = make([]error, shoppers)
	)
	left.Store(int64(orders))
	began := time.Now()
	for i := range shoppers {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := m.order(ctx); err != nil {
					failures[i] = err
					cancel()
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(began), errors.Join(failures...)
}

// order sells one name.
func (m *market) order(ctx context.Context) error {
	number, began := m.names.Add(1), time.Now()
	if err := m.sell(ctx, number, m.note); err != nil {
		return fmt.Errorf("%s: %w", nameOf(number), err)
	}
	m.note(wholeOrder, time.Since(began))
	return nil
}

// nameOf is a name that nobody has.
func nameOf(number int64) string {
	return fmt.Sprintf("bestellt-%d%s", number, []string{".org", ".info", ".com", ".net"}[number%4])
}
