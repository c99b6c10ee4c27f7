// Command soak runs the product for a long time under load and checks that no answer is
// wrong or late, and that afterwards no goroutine, connection or memory is leaked.
//
// There are two scenarios. In "hostile" few clients send requests as fast as they get
// responses, in a world with injected faults. In "agents" two thousand agents, each
// with its own address and connection, stay within the product's default limits; nearly
// all calls must have valid results, and the only other response is that a limit was
// reached.
//
// The product is the real binary in front of the sandbox's world, both on 127.0.0.1.
// Before the measured time it is loaded for a while and then idles, so that what it
// retains by design (connections, cached answers) is there from the start; afterwards
// it idles for the same time and is compared.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	exitOK     = 0
	exitBroken = 1 // a check failed
	exitFailed = 2 // the run failed, so there is no result
)

// settleTime is how long the product idles before it is measured: longer than idle
// connections are kept open, and than the interval of Go's forced collection.
const settleTime = 130 * time.Second

type settings struct {
	scenario scenario
	duration time.Duration
	warmUp   time.Duration
	settle   time.Duration
	workers  int
	chaos    float64
}

// scenario is one kind of load. The figures are its defaults.
type scenario struct {
	name     string
	duration time.Duration
	workers  int
	chaos    float64
	// product is the product's configuration.
	product []string
	// load sends requests until duration is over. Warm-up uses other clients than the
	// measurement, which keep their budgets.
	load func(ctx context.Context, base string, s settings, duration time.Duration, warmUp bool) (outcome, error)
	// check prints the outcome and reports whether it is good.
	check func(t *checklist, seen outcome)
}

var scenarios = []scenario{
	{
		name: "hostile", duration: 10 * time.Minute, workers: 64, chaos: 0.2,
		product: []string{
			// Names are drawn from a set that is larger than the cache, so that sources
			// are queried all the time and the cache is full from the start.
			"DOTKONTOR_LOOKUP_MAX_CACHED=500",
			"DOTKONTOR_LIMITS_LOOKUP_PER_MINUTE=100000",
			"DOTKONTOR_LIMITS_LOOKUP_PER_6_HOURS=100000",
			"DOTKONTOR_LOG_LEVEL=warn",
			hostRateOff,
		},
		load: func(ctx context.Context, base string, s settings, duration time.Duration, _ bool) (outcome, error) {
			return runLoad(ctx, base, s.workers, duration)
		},
		check: checkHostile,
	},
	{
		name: "agents", duration: time.Minute, workers: 2000,
		product: []string{"DOTKONTOR_LOG_LEVEL=warn", hostRateOff},
		load: func(ctx context.Context, base string, s settings, duration time.Duration, warmUp bool) (outcome, error) {
			first := 0
			if warmUp {
				first = s.workers
			}
			return runAgents(ctx, base, first, s.workers, duration)
		},
		check: checkAgents,
	},
}

// Under full load no lookup waits for a registry host's rate limit.
const hostRateOff = "DOTKONTOR_UPSTREAM_PER_HOST_PER_SECOND=-1"

func scenarioNamed(name string) (scenario, error) {
	for _, s := range scenarios {
		if s.name == name {
			return s, nil
		}
	}
	return scenario{}, fmt.Errorf("unknown scenario %q", name)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	s, err := parse(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintln(errOut, "soak:", err)
		return exitFailed
	}
	kept, err := soak(ctx, s, out, errOut)
	switch {
	case err != nil:
		fmt.Fprintln(errOut, "soak:", err)
		return exitFailed
	case !kept:
		return exitBroken
	default:
		return exitOK
	}
}

// parse parses the flags. The scenario has the defaults.
func parse(args []string, errOut io.Writer) (settings, error) {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(errOut)
	var s settings
	name := flags.String("scenario", scenarios[0].name, "hostile or agents")
	flags.DurationVar(&s.duration, "duration", 0, "how long the measured load lasts (hostile 10m, agents 1m)")
	flags.DurationVar(&s.warmUp, "warm-up", 30*time.Second, "how long the load before it lasts")
	flags.DurationVar(&s.settle, "settle", settleTime, "how long the product idles before it is measured")
	flags.IntVar(&s.workers, "workers", 0, "how many clients there are at once (hostile 64, agents 2000)")
	flags.Float64Var(&s.chaos, "chaos", -1, "share of hostile answers in the world (hostile 0.2, agents 0)")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	var err error
	if s.scenario, err = scenarioNamed(*name); err != nil {
		return s, err
	}
	if s.duration == 0 {
		s.duration = s.scenario.duration
	}
	if s.workers == 0 {
		s.workers = s.scenario.workers
	}
	if s.chaos < 0 {
		s.chaos = s.scenario.chaos
	}
	if s.workers < 1 || s.workers > maxAgents {
		return s, fmt.Errorf("-workers is from 1 to %d", maxAgents)
	}
	return s, nil
}

func soak(ctx context.Context, s settings, out, errOut io.Writer) (kept bool, err error) {
	folder, err := os.MkdirTemp("", "dotkontor-soak-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	binary := filepath.Join(folder, "dotkontor")
	if err := testkit.Build(ctx, binary, errOut); err != nil {
		return false, err
	}
	product, err := testkit.StartProduct(ctx, binary, folder,
		[]string{"--chaos", strconv.FormatFloat(s.chaos, 'f', -1, 64)},
		s.scenario.product)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, product.Stop()) }()

	fmt.Fprintf(errOut, "warming up for %s, then idling for %s\n", s.warmUp, s.settle)
	if _, err := s.scenario.load(ctx, product.Server.Ready, s, s.warmUp, true); err != nil {
		return false, err
	}
	before, err := sampleIdle(ctx, product, s.settle)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(errOut, "%d clients for %s, %.0f %% chaos\n", s.workers, s.duration, s.chaos*100)
	seen, err := s.scenario.load(ctx, product.Server.Ready, s, s.duration, false)
	if err != nil {
		return false, err
	}
	after, err := sampleIdle(ctx, product, s.settle)
	if err != nil {
		return false, err
	}
	return report(out, s, seen, before, after), nil
}
