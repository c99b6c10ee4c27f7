package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/upstream/dns"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/upstream/rdap"
	"github.com/dotkontor/dotkontor/internal/upstream/whois"
	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	// worldLatency is the latency of every response of the world.
	worldLatency = "80ms"

	coldSearches = 21
	warmSearches = 100
	// searchInterval keeps warm searches below the rate limit of one host: .com and
	// .net share one, so a search queries it twice.
	searchInterval = 120 * time.Millisecond
	allRounds      = 3

	unlimited = -1.0
)

// milliseconds is the unit of search times.
const milliseconds unit = "ms"

// benchLookup measures the engine with its connectors against a simulated world in
// another process, with latency.
func benchLookup(ctx context.Context, b bench) (lines []measurement, err error) {
	world, err := testkit.Start(ctx, testkit.Command{Path: b.binary, Args: []string{
		"sandbox", "--world-only", "--listen", "127.0.0.1:0", "--world-latency", worldLatency,
		"--data", filepath.Join(b.folder, "lookup-world"),
	}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, world.Stop()) }()
	cfg, err := config.Load(world.Ready, nil)
	if err != nil {
		return nil, err
	}
	searches, err := benchSearches(ctx, b, cfg)
	if err != nil {
		return nil, err
	}
	all, err := benchAll(ctx, b, cfg)
	return append(searches, all...), err
}

// newEngine wires the engine as the product does, with the given rate for each host and
// a long wait for it.
func newEngine(cfg config.Config, perSecond float64) (*lookup.Engine, func(), error) {
	list, err := catalog.Shipped()
	if err != nil {
		return nil, nil, err
	}
	concurrent := cfg.Upstream.MaxConcurrent()
	if perSecond == unlimited {
		cfg.Upstream.PerHostPerSecond = int(unlimited)
		concurrent = cfg.Upstream.MaxConcurrent()
	}
	guard := hostlimit.New(hostlimit.Options{PerSecond: perSecond, MaxConcurrent: concurrent, MaxWaiting: list.Len()})
	registryData, err := rdap.New(rdap.Options{Hosts: cfg.Upstream.Hosts, Limiter: guard, MaxConnsPerHost: concurrent})
	if err != nil {
		return nil, nil, err
	}
	records, err := whois.New(whois.Options{Hosts: cfg.Upstream.Hosts, Limiter: guard})
	if err != nil {
		return nil, nil, err
	}
	delegations, err := dns.New(dns.Options{Servers: cfg.Upstream.DNS})
	if err != nil {
		return nil, nil, err
	}
	engine, err := lookup.New(lookup.Config{
		Catalog: list, RDAP: registryData, WHOIS: records, DNS: delegations,
		Deadline: time.Minute,
	})
	if err != nil {
		return nil, nil, err
	}
	return engine, func() { engine.Close(); registryData.Close() }, nil
}

// benchSearches measures searches of eight extensions, first without and then with open
// connections. No name is looked up twice.
func benchSearches(ctx context.Context, b bench, cfg config.Config) ([]measurement, error) {
	b.progress("searching, every upstream at %s", worldLatency)
	var cold []float64
	for n := range coldSearches {
		engine, closeIt, err := newEngine(cfg, float64(cfg.Upstream.PerHostPerSecond))
		if err != nil {
			return nil, err
		}
		took, err := search(ctx, engine, "kalt-"+strconv.Itoa(n))
		closeIt()
		if err != nil {
			return nil, err
		}
		cold = append(cold, took)
	}
	engine, closeIt, err := newEngine(cfg, float64(cfg.Upstream.PerHostPerSecond))
	if err != nil {
		return nil, err
	}
	defer closeIt()
	var warm []float64
	for n := range warmSearches + 5 {
		next := time.After(searchInterval)
		took, err := search(ctx, engine, "warm-"+strconv.Itoa(n))
		if err != nil {
			return nil, err
		}
		if n >= 5 { // the first ones open the connections
			warm = append(warm, took)
		}
		select {
		case <-next:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return []measurement{
		newMeasurement("search of 8 extensions, every upstream at 80 ms, cold, p50", median(cold), milliseconds, atMost(105), "no connection open; "+strconv.Itoa(coldSearches)+" searches"),
		newMeasurement("  warm, p50", median(warm), milliseconds, atMost(90), strconv.Itoa(warmSearches)+" searches, no name twice"),
		newMeasurement("  warm, p99", percentile(warm, 0.99), milliseconds, atMost(130), ""),
	}, nil
}

// search returns the milliseconds of one search, and fails if an answer is wrong.
func search(ctx context.Context, engine *lookup.Engine, label string) (float64, error) {
	began := time.Now()
	result, err := engine.Search(ctx, label)
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	for _, entry := range result.Entries {
		if entry.Err != nil {
			return 0, fmt.Errorf("%s: %w", entry.Domain, entry.Err)
		}
		if entry.Availability != lookup.Available {
			return 0, fmt.Errorf("%s is %d", entry.Domain, entry.Availability)
		}
	}
	return float64(took.Microseconds()) / 1000, nil
}

// benchAll measures one name under every extension.
func benchAll(ctx context.Context, b bench, cfg config.Config) ([]measurement, error) {
	b.progress("one name under all extensions, %d times cold and warm, then once with limits", allRounds)
	var cold, warm []float64
	for n := range allRounds {
		engine, closeIt, err := newEngine(cfg, unlimited)
		if err != nil {
			return nil, err
		}
		for _, run := range []struct {
			label string
			times *[]float64
		}{{"alle-kalt-", &cold}, {"alle-warm-", &warm}} {
			took, err := checkAll(ctx, engine, run.label+strconv.Itoa(n))
			if err != nil {
				closeIt()
				return nil, err
			}
			*run.times = append(*run.times, took)
		}
		closeIt()
	}
	engine, closeIt, err := newEngine(cfg, float64(cfg.Upstream.PerHostPerSecond))
	if err != nil {
		return nil, err
	}
	defer closeIt()
	limited, err := checkAll(ctx, engine, "alle-begrenzt")
	if err != nil {
		return nil, err
	}
	return []measurement{
		newMeasurement("one name under all 490 extensions, host limits off, cold", median(cold), seconds, atMost(0.7), "every upstream at 80 ms"),
		newMeasurement("  warm", median(warm), seconds, atMost(0.25), "connections open, another name"),
		newMeasurement("  with host limits on", limited, seconds, nil, "267 of them are behind one host, at 20 a second"),
	}, nil
}

// checkAll returns the seconds until every extension has an answer. Without a public
// source the answer is "unknown".
func checkAll(ctx context.Context, engine *lookup.Engine, label string) (float64, error) {
	list, err := catalog.Shipped()
	if err != nil {
		return 0, err
	}
	var (
		all      sync.WaitGroup
		mu       sync.Mutex
		problems []error
	)
	began := time.Now()
	for _, ext := range list.All() {
		all.Go(func() {
			answer, err := engine.Check(ctx, label+ext.TLD)
			sourceless := ext.RDAP == "" && ext.WHOIS == ""
			if err == nil && answer.Availability != lookup.Available && !sourceless {
				err = fmt.Errorf("%s is %d", answer.Domain, answer.Availability)
			}
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				problems = append(problems, err)
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	if len(problems) > 0 {
		return 0, fmt.Errorf("%d names have no right answer: %w", len(problems), problems[0])
	}
	return took.Seconds(), nil
}

// percentile returns the value below which the given share lies.
func percentile(values []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}
