// Command soak runs the product for a long time in a hostile world and holds it
// to what must be true at any time: no answer is wrong, none is late, and
// afterwards no goroutine, connection or byte is left over.
//
// The product is the real binary in front of a world with chaos, both on
// 127.0.0.1. Before the measured time it is loaded for a while and left alone,
// so that what it keeps by design (connections, remembered answers) is there
// from the start; afterwards it is left alone for the same time and compared.
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

	"github.com/dotkontor/dotkontor/test/rig"
)

const (
	exitOK     = 0
	exitBroken = 1 // a promise was broken
	exitFailed = 2 // nothing can be said
)

// settle is how long the product is left alone before it is looked at: longer
// than idle connections are kept, and than Go's forced collection waits.
const settle = 130 * time.Second

type settings struct {
	duration time.Duration
	warmUp   time.Duration
	settle   time.Duration
	workers  int
	chaos    float64
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("soak", flag.ContinueOnError)
	flags.SetOutput(errOut)
	var s settings
	flags.DurationVar(&s.duration, "duration", 10*time.Minute, "how long the measured load lasts")
	flags.DurationVar(&s.warmUp, "warm-up", 30*time.Second, "how long the load before it lasts")
	flags.DurationVar(&s.settle, "settle", settle, "how long the product is left alone before it is looked at")
	flags.IntVar(&s.workers, "workers", 64, "how many clients ask at once")
	flags.Float64Var(&s.chaos, "chaos", 0.2, "share of hostile answers in the world")
	if err := flags.Parse(args); err != nil {
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

func soak(ctx context.Context, s settings, out, errOut io.Writer) (kept bool, err error) {
	folder, err := os.MkdirTemp("", "dotkontor-soak-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	binary := filepath.Join(folder, "dotkontor")
	if err := rig.Build(ctx, binary, errOut); err != nil {
		return false, err
	}
	product, err := rig.StartProduct(ctx, binary, folder,
		[]string{"--chaos", strconv.FormatFloat(s.chaos, 'f', -1, 64)},
		[]string{
			// Names are drawn from a set that is larger than the memory, so that
			// sources are asked all the time and the memory is full from the start.
			"DOTKONTOR_LOOKUP_MAX_KEPT=500",
			"DOTKONTOR_LIMITS_LOOKUP_PER_MINUTE=100000",
			"DOTKONTOR_LIMITS_LOOKUP_PER_6_HOURS=100000",
			"DOTKONTOR_LOG_LEVEL=warn",
			// Full load means that nobody waits for a turn at a registry's host.
			"DOTKONTOR_UPSTREAM_PER_HOST_PER_SECOND=-1",
		})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, product.Stop()) }()

	fmt.Fprintf(errOut, "warming up for %s, then leaving it alone for %s\n", s.warmUp, s.settle)
	if _, err := load(ctx, product.Server.Ready, s.workers, s.warmUp); err != nil {
		return false, err
	}
	before, err := rest(ctx, product, s.settle)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(errOut, "%d clients for %s, %.0f %% chaos\n", s.workers, s.duration, s.chaos*100)
	seen, err := load(ctx, product.Server.Ready, s.workers, s.duration)
	if err != nil {
		return false, err
	}
	after, err := rest(ctx, product, s.settle)
	if err != nil {
		return false, err
	}
	return report(out, s, seen, before, after), nil
}
