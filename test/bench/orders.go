package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

const (
	wantedOrdersSQLite   = 40.0
	wantedOrdersPostgres = 50.0
	wantedRequest        = 500.0 // milliseconds, at p99
	// buyers is large enough that no account reaches its limits, which are not raised.
	buyers = 600
	// concurrentOrders is the number of orders in progress at a time. The clients poll every
	// pollInterval, which caps the rate at four times this number.
	concurrentOrders = 48
	// warmupOrders are not counted: they open connections and registry sessions and
	// fill caches.
	warmupOrders  = 100
	ordersTimeout = 15 * time.Minute
)

// saleScenario is a way to sell domains.
type saleScenario struct {
	// name is the section's name, unit what is counted, and firstStep the first
	// request.
	name, unit, firstStep string
	// kinds are the requests whose times are reported.
	kinds []string
	// note says which processes share the cores.
	note string
	// setUp prepares the scenario. The function that it returns sells one name.
	setUp func(ctx context.Context, b bench, place deployment) (*workload, error)
}

// deployment is a product with its database.
type deployment struct {
	running  *testkit.Product
	provider testkit.Provider
	opts     store.Options
	settings []string
}

// benchOrders has agents order and customers pay: each order is a start_order call with
// a token, the page at payment_url, the form, the provider's page with a card, the
// return, and get_order_status until the domain is registered. The provider sends
// webhooks in between, and each name is checked at the registry three times. The
// simulated world has no latency.
func benchOrders(ctx context.Context, b bench) ([]measurement, error) {
	return benchSales(ctx, b, saleScenario{
		name: "orders", unit: "orders", firstStep: startOrder, kinds: requestKinds,
		note: "agents, humans, product, registry, payment provider and database share the cores",
		setUp: func(ctx context.Context, _ bench, at deployment) (*workload, error) {
			accounts, err := seedBuyers(ctx, at.opts, buyers)
			if err != nil {
				return nil, err
			}
			shop := newShopClient(at.running.Server.Ready)
			return newWorkload(func(ctx context.Context, number int64, note func(string, time.Duration)) error {
				return shop.buy(ctx, accounts[int(number)%len(accounts)], note, domainName(number))
			}, shop.close), nil
		},
	})
}

// benchSales measures on both databases.
func benchSales(ctx context.Context, b bench, t saleScenario) ([]measurement, error) {
	return onBothDatabases(ctx, b, func(ctx context.Context, where, url string) ([]measurement, error) {
		wanted := wantedOrdersSQLite
		if url != "" {
			where, wanted = where+", fsync on", wantedOrdersPostgres
		}
		return t.measureOn(ctx, b, where, wanted, url)
	})
}

// onBothDatabases measures on SQLite, with an empty url, and on PostgreSQL if it is installed.
func onBothDatabases(ctx context.Context, b bench, measure func(ctx context.Context, where, url string) ([]measurement, error)) (lines []measurement, err error) {
	lines, err = measure(ctx, onSQLite.name, "")
	if err != nil {
		return nil, err
	}
	server, err := pgtest.Start() //nolint:contextcheck // the server must start and stop completely, even if the run is canceled
	if errors.Is(err, pgtest.ErrMissing) {
		b.progress("  left out: %s", err)
		return lines, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }() //nolint:contextcheck // the server must start and stop completely, even if the run is canceled
	url, drop, err := server.NewDatabase()                   //nolint:contextcheck // the server must start and stop completely, even if the run is canceled
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	more, err := measure(ctx, onPostgres.name, url)
	return append(lines, more...), err
}

// deploy starts the product with the database at url; empty is SQLite.
func deploy(ctx context.Context, b bench, name, url string, settings ...string) (at deployment, err error) {
	folder := filepath.Join(b.folder, name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return at, err
	}
	at = deployment{opts: store.Options{Data: filepath.Join(folder, "world")}, settings: slices.Clone(settings)}
	if url != "" {
		at.settings = append(at.settings, "DOTKONTOR_DATABASE_URL="+url, "DOTKONTOR_SECRET_KEY="+config.NewKey())
		at.opts = store.Options{URL: url}
	}
	if at.running, err = testkit.StartProduct(ctx, b.binary, folder, nil, at.settings); err != nil {
		return at, err
	}
	if at.provider, err = testkit.FindProvider(filepath.Join(folder, "world")); err == nil {
		err = at.provider.SetWebhookURL(ctx, at.running.Server.Ready)
	}
	if err != nil {
		err = errors.Join(err, at.running.Stop())
	}
	return at, err
}

// measureOn measures with the database at url; empty is SQLite.
func (t saleScenario) measureOn(ctx context.Context, b bench, where string, wanted float64, url string) (lines []measurement, err error) {
	at, err := deploy(ctx, b, t.name+"-"+strings.ToLower(strings.Fields(where)[0]), url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, at.running.Stop()) }()
	m, err := t.setUp(ctx, b, at)
	if err != nil {
		return nil, err
	}
	defer m.close()
	b.progress("%s on %s: the first %d", t.unit, where, warmupOrders)
	if _, err := m.runAll(ctx, warmupOrders); err != nil {
		return nil, err
	}
	m.reset()
	count := int(b.ordering.Seconds() * wanted)
	b.progress("%s on %s: %d, %d at a time", t.unit, where, count, concurrentOrders)
	traffic, err := at.running.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	before, known := cpuTimes(at.running)
	took, err := m.runAll(ctx, count)
	if err != nil {
		return nil, err
	}
	after, _ := cpuTimes(at.running)
	trafficAfter, err := at.running.Metrics(ctx)
	if err != nil {
		return nil, err
	}
	if m.check != nil {
		if err := m.check(ctx, warmupOrders+count); err != nil {
			return nil, err
		}
	}
	lines = []measurement{
		newMeasurement(t.unit+" on "+where+", from "+t.firstStep+" to registered", float64(count)/took.Seconds(), perSecond, atLeast(wanted),
			fmt.Sprintf("%d %s, %d at a time; %s", count, t.unit, concurrentOrders, t.note)),
	}
	for _, kind := range t.kinds {
		times := m.times(kind)
		lines = append(lines, newMeasurement("  "+kind+", p99", percentile(times, 0.99), milliseconds, atMost(wantedRequest),
			fmt.Sprintf("median %.1f ms, %.1f for each", percentile(times, 0.5), float64(len(times))/float64(count))))
	}
	whole := m.times(wholeOrder)
	lines = append(lines, newMeasurement("  from "+t.firstStep+" to registered, p99", percentile(whole, 0.99), milliseconds, nil,
		fmt.Sprintf("median %.0f ms", percentile(whole, 0.5))))
	if known {
		for i, name := range []string{"product", "world (registry, provider, mail)"} {
			lines = append(lines, newMeasurement("  CPU time of the "+name+" for each", float64((after[i]-before[i]).Microseconds())/1000/float64(count), milliseconds, nil, ""))
		}
		lines = append(lines, newMeasurement("  product's CPU time as a multiple of the world's", float64(after[0]-before[0])/float64(after[1]-before[1]), ratio, nil,
			"comparable between machines"))
	}
	for _, name := range []string{"statements", "commits"} {
		series := "dotkontor_database_" + name + "_total"
		lines = append(lines, newMeasurement("  SQL "+name+" for each", (trafficAfter.Sample(series)-traffic.Sample(series))/float64(count), each, nil,
			"with the polls of all jobs meanwhile"))
	}
	return lines, runDoctor(ctx, b, at.running, at.settings)
}

// cpuTimes returns the CPU times of the product and of the world.
func cpuTimes(running *testkit.Product) (times [2]time.Duration, known bool) {
	server, known := running.Server.CPU()
	world, alsoKnown := running.World.CPU()
	return [2]time.Duration{server, world}, known && alsoKnown
}

// runDoctor checks that the measured results are also correct.
func runDoctor(ctx context.Context, b bench, running *testkit.Product, settings []string) error {
	doctor := exec.CommandContext(ctx, b.binary, "doctor", "--reconcile", "--config", running.World.Ready)
	doctor.Env = append(os.Environ(), settings...)
	if text, err := doctor.CombinedOutput(); err != nil {
		return fmt.Errorf("the books do not agree: %w\n%s", err, text)
	}
	return nil
}

// workload sells names.
type workload struct {
	purchase func(ctx context.Context, number int64, note func(string, time.Duration)) error
	close    func()
	// check checks the results of the sales; nil means that reconciliation is enough.
	check      func(ctx context.Context, sold int) error
	lastNumber atomic.Int64

	mu        sync.Mutex
	durations map[string][]float64 // by kind of request, milliseconds
}

func newWorkload(sell func(ctx context.Context, number int64, note func(string, time.Duration)) error, closeIt func()) *workload {
	return &workload{purchase: sell, close: closeIt, durations: make(map[string][]float64)}
}

func (m *workload) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.durations)
}

func (m *workload) record(kind string, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.durations[kind] = append(m.durations[kind], float64(took.Microseconds())/1000)
}

func (m *workload) times(kind string) []float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.durations[kind]
}

// runAll processes count orders and returns the time until the last domain is
// registered.
func (m *workload) runAll(ctx context.Context, orders int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, ordersTimeout)
	defer cancel()
	var (
		left     atomic.Int64
		all      sync.WaitGroup
		failures = make([]error, concurrentOrders)
	)
	left.Store(int64(orders))
	began := time.Now()
	for i := range concurrentOrders {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if err := m.runOne(ctx); err != nil {
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

// runOne sells one name.
func (m *workload) runOne(ctx context.Context) error {
	number, began := m.lastNumber.Add(1), time.Now()
	if err := m.purchase(ctx, number, m.record); err != nil {
		return fmt.Errorf("%s: %w", domainName(number), err)
	}
	m.record(wholeOrder, time.Since(began))
	return nil
}

// domainName returns an available name.
func domainName(number int64) string {
	return fmt.Sprintf("bestellt-%d%s", number, []string{".org", ".info", ".com", ".net"}[number%4])
}
