package main

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/upstream/redis"
	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/limittest"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
	"github.com/dotkontor/dotkontor/test/testkit/redistest"
)

const (
	wantedDecisionRatio = 0.8
	wantedSharedREST    = 0.6
	wantedThreeNodes    = 1.15
	decisionMeasure     = "shared limiter, decisions as a share of bare EVALSHA round trips to the same server, by rate"
	sharedRESTMeasure   = "REST check with shared limits, as a share of a single node, by CPU time of product and Redis"
	threeNodesMeasure   = "CPU time of products and Redis for a REST check on three nodes, as a multiple of one"

	// bareScript does nothing but answer.
	bareScript      = "return 1"
	sharedAddresses = 200_000
	// sharedConnections is how many clients a busy node serves. With few, the node waits for Redis
	// most of the time, and its CPU time is that of Go's search for work.
	sharedConnections = 64
	startTimeout      = 30 * time.Second
)

// benchShared measures what it costs to count over all nodes.
func benchShared(ctx context.Context, b bench) (lines []measurement, err error) {
	folder := filepath.Join(b.folder, "shared")
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, err
	}
	server, err := redistest.Launch(folder) //nolint:contextcheck // Kill stops it, not the end of ctx
	if errors.Is(err, redistest.ErrMissing) {
		b.progress("shared limits are not measured: %v", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer server.Kill()
	for _, part := range []func(context.Context, bench, *redistest.Server) ([]measurement, error){compareDecisions, compareSharedREST, compareThreeNodes} {
		more, err := part(ctx, b, server)
		if err != nil {
			return nil, err
		}
		lines = append(lines, more...)
	}
	return lines, nil
}

// compareDecisions takes turns between decisions and scripts that do nothing. Each of those has
// the key and arguments of a decision, and a round trip to itself.
func compareDecisions(ctx context.Context, b bench, server *redistest.Server) ([]measurement, error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{server.Address}, DisableCache: true, DisableAutoPipelining: true, BlockingPoolSize: sharedConnections,
	})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if err := client.Do(ctx, client.B().ScriptLoad().Script(bareScript).Build()).Error(); err != nil {
		return nil, err
	}
	sum := sha1.Sum([]byte(bareScript)) // the server names scripts by it
	name := hex.EncodeToString(sum[:])
	bare := func(ctx context.Context, n int) error {
		key := fmt.Sprintf("dk:{00}:l:%022d", n%sharedAddresses)
		return client.Do(ctx, client.B().Evalsha().Sha1(name).Numkeys(1).Key(key).Arg("abc", "1").Build()).Error()
	}

	shared, limiter, stop, err := newSharedLimiter(ctx, server)
	if err != nil {
		return nil, err
	}
	defer stop()
	var next, refused atomic.Int64
	decide := func(context.Context, int) error {
		if !limiter.Allow(limittest.Key(int(next.Add(1) % sharedAddresses))).Allowed {
			refused.Add(1)
		}
		return nil
	}
	var lines []measurement
	for _, callers := range []int{b.connections, sharedConnections, 1} {
		var ours, theirs []float64
		for round := range b.rounds + 1 {
			oursNow, err := callRate(ctx, b.duration, callers, decide)
			if err != nil {
				return nil, err
			}
			theirsNow, err := callRate(ctx, b.duration, callers, bare)
			if err != nil {
				return nil, err
			}
			if round == 0 {
				continue // warms up
			}
			ours, theirs = append(ours, oursNow), append(theirs, theirsNow)
			b.progress("  round %d: %.0f decisions, %.0f bare scripts a second, %d at a time", round, oursNow, theirsNow, callers)
		}
		share := median(elementRatios(ours, theirs))
		if callers == b.connections {
			lines = append(lines, newMeasurement(decisionMeasure, share, ratio, atLeast(wantedDecisionRatio), fmt.Sprintf("%d at a time; client and server share the cores", callers)))
		} else {
			lines = append(lines, newMeasurement(fmt.Sprintf("  the same, %d at a time", callers), share, ratio, nil, ""))
		}
		lines = append(lines,
			newMeasurement("  decisions", median(ours), perSecond, nil, fmt.Sprintf("over %d addresses", sharedAddresses)),
			newMeasurement("  bare scripts", median(theirs), perSecond, nil, ""))
	}
	if status := shared.Status(); !status.Online || refused.Load() > 0 {
		return nil, fmt.Errorf("not all was accepted by the server: %d were refused; %+v", refused.Load(), status)
	}
	return lines, nil
}

func newSharedLimiter(ctx context.Context, server *redistest.Server) (*ratelimit.Shared, *ratelimit.Limiter, func(), error) {
	connection, err := redis.New(redis.Config{URL: server.URL, Key: make([]byte, 32)})
	if err != nil {
		return nil, nil, nil, err
	}
	shared := ratelimit.NewShared(connection, 1, slog.New(slog.DiscardHandler))
	limiter, err := ratelimit.New(ratelimit.Config{Windows: windows(), Shared: shared, Name: "bench"})
	if err != nil {
		return nil, nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { shared.Run(ctx) })
	stop := func() { cancel(); running.Wait(); connection.Close() } //nolint:contextcheck // it leaves after ctx has ended
	for deadline := time.Now().Add(startTimeout); !shared.Status().Online; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			stop()
			return nil, nil, nil, errors.New("the limiter does not reach Redis")
		}
	}
	return shared, limiter, stop, nil
}

// callRate returns how many calls a second several callers make.
func callRate(ctx context.Context, duration time.Duration, callers int, call func(ctx context.Context, n int) error) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*duration+startTimeout)
	defer cancel()
	began := time.Now()
	var calls atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for time.Since(began) < duration {
				if err := call(ctx, int(calls.Add(1))); err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(calls.Load()) / time.Since(began).Seconds(), nil
}

// cpuMeter adds the CPU time of Redis to that of the products.
type cpuMeter struct {
	processes []*testkit.Process
	pid       int
}

func (m cpuMeter) total() (spent time.Duration, known bool) {
	known = true
	for _, p := range m.processes {
		more, ok := p.CPU()
		spent, known = spent+more, known && ok
	}
	if m.pid != 0 {
		more, ok := testkit.CPUOf(m.pid)
		spent, known = spent+more, known && ok
	}
	return spent, known
}

// measuredRound loads some servers at once and returns rate and CPU time for each request, in µs.
func measuredRound(ctx context.Context, b bench, meter cpuMeter, loads ...*load) (rate, cost float64, err error) {
	var sent int64
	for _, l := range loads {
		sent -= l.sent.Load()
	}
	before, known := meter.total()
	rates, errs := make([]float64, len(loads)), make([]error, len(loads))
	var all sync.WaitGroup
	for i, l := range loads {
		all.Go(func() { rates[i], errs[i] = l.run(ctx, b.duration) })
	}
	all.Wait()
	after, stillKnown := meter.total()
	if err := errors.Join(errs...); err != nil {
		return 0, 0, err
	}
	if !known || !stillKnown {
		return 0, 0, errors.New("the system does not report CPU time")
	}
	for i, l := range loads {
		sent += l.sent.Load()
		rate += rates[i]
	}
	return rate, float64((after - before).Microseconds()) / float64(sent), nil
}

// compareSharedREST compares a node that shares its limits with one that does not.
func compareSharedREST(ctx context.Context, b bench, server *redistest.Server) (lines []measurement, err error) {
	start := func(name string, settings ...string) (*testkit.Product, *load, error) {
		folder := filepath.Join(b.folder, "shared", name)
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return nil, nil, err
		}
		running, err := testkit.StartProduct(ctx, b.binary, folder, nil, settings)
		if err != nil {
			return nil, nil, err
		}
		side, _, err := newSide(ctx, name, running.Server, checkSpec(), sharedConnections)
		if err != nil {
			return nil, nil, errors.Join(err, running.Stop())
		}
		return running, side.load, nil
	}
	alone, aloneLoad, err := start("alone")
	if err != nil {
		return nil, err
	}
	defer func() { aloneLoad.close(); err = errors.Join(err, alone.Stop()) }()
	sharing, sharingLoad, err := start("sharing", "DOTKONTOR_SHARED_URL="+server.URL)
	if err != nil {
		return nil, err
	}
	defer func() { sharingLoad.close(); err = errors.Join(err, sharing.Stop()) }()
	var rates, costs, aloneCosts, sharedCosts []float64
	for round := range b.rounds + 1 {
		aloneRate, aloneCost, err := measuredRound(ctx, b, cpuMeter{processes: []*testkit.Process{alone.Server}}, aloneLoad)
		if err != nil {
			return nil, err
		}
		sharedRate, sharedCost, err := measuredRound(ctx, b, cpuMeter{[]*testkit.Process{sharing.Server}, server.PID()}, sharingLoad)
		if err != nil {
			return nil, err
		}
		b.progress("  round %d: %.0f/s alone, %.0f/s sharing; %.1f and %.1f µs", round, aloneRate, sharedRate, aloneCost, sharedCost)
		if round == 0 {
			continue // warms up
		}
		rates, costs = append(rates, sharedRate/aloneRate), append(costs, aloneCost/sharedCost)
		aloneCosts, sharedCosts = append(aloneCosts, aloneCost), append(sharedCosts, sharedCost)
	}
	return []measurement{
		newMeasurement(sharedRESTMeasure, median(costs), ratio, atLeast(wantedSharedREST), fmt.Sprintf("%d connections; Redis on the same cores", sharedConnections)),
		newMeasurement("  by rate", median(rates), ratio, nil, "client, product and Redis share the cores"),
		newMeasurement("  single node", median(aloneCosts), microseconds, nil, ""),
		newMeasurement("  with shared limits, and Redis", median(sharedCosts), microseconds, nil, ""),
	}, nil
}

// compareThreeNodes loads one of three nodes, and all of them, in turns.
func compareThreeNodes(ctx context.Context, b bench, server *redistest.Server) (lines []measurement, err error) {
	postgres, err := pgtest.Start() //nolint:contextcheck // the server must start and stop completely, even if the run is canceled
	if errors.Is(err, pgtest.ErrMissing) {
		b.progress("three nodes are not measured: %v", err)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, postgres.Stop()) }() //nolint:contextcheck // as above
	address, drop, err := postgres.NewDatabase()               //nolint:contextcheck // as above
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	var cleanups []func() error
	defer func() {
		for _, cleanup := range slices.Backward(cleanups) {
			err = errors.Join(err, cleanup())
		}
	}()
	key := config.NewKey()
	meter := cpuMeter{pid: server.PID()}
	var loads []*load
	for n := range 3 {
		folder := filepath.Join(b.folder, "shared", fmt.Sprintf("node%d", n))
		if err := os.MkdirAll(folder, 0o750); err != nil {
			return nil, err
		}
		running, err := testkit.StartProduct(ctx, b.binary, folder, nil, []string{
			"DOTKONTOR_SHARED_URL=" + server.URL, "DOTKONTOR_DATABASE_URL=" + address, "DOTKONTOR_SECRET_KEY=" + key,
		})
		if err != nil {
			return nil, err
		}
		cleanups = append(cleanups, running.Stop)
		meter.processes = append(meter.processes, running.Server)
		side, _, err := newSide(ctx, "node", running.Server, checkSpec(), sharedConnections)
		if err != nil {
			return nil, err
		}
		cleanups = append(cleanups, func() error { side.load.close(); return nil })
		loads = append(loads, side.load)
	}
	var multiples []float64
	for round := range b.rounds + 1 {
		oneRate, one, err := measuredRound(ctx, b, meter, loads[0])
		if err != nil {
			return nil, err
		}
		threeRate, three, err := measuredRound(ctx, b, meter, loads...)
		if err != nil {
			return nil, err
		}
		b.progress("  round %d: one node %.0f/s at %.1f µs, three %.0f/s at %.1f µs", round, oneRate, one, threeRate, three)
		if round > 0 {
			multiples = append(multiples, three/one)
		}
	}
	return []measurement{newMeasurement(threeNodesMeasure, median(multiples), ratio, atMost(wantedThreeNodes), fmt.Sprintf("each with %d connections; the idle nodes count in both", sharedConnections))}, nil
}
