// Command soak is the long run of package crash: two hundred kills during five hundred
// paid items at a faulty registry, and two hundred more during three hundred orders at a
// faulty registry and payment provider. It prints the seed, which repeats a run, and
// exits with 1 if reconciliation finds a problem.
package soak

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/test/crash"
	"github.com/dotkontor/dotkontor/test/testkit"
)

func main() {
	lines, orders := crash.ItemSettings{}, crash.OrderSettings{}
	flag.IntVar(&lines.Items, "lines", 500, "paid lines; 0 leaves this part out")
	flag.IntVar(&orders.Orders, "orders", 300, "orders; 0 leaves this part out")
	flag.IntVar(&lines.Kills, "kills", 200, "kills in each part")
	flag.Float64Var(&lines.Chaos, "chaos", 0.2, "share of the world's answers that go wrong")
	flag.Uint64Var(&lines.Seed, "seed", rand.Uint64(), "what the kills and the chaos are drawn from")
	flag.DurationVar(&lines.Timeout, "patience", 10*time.Minute, "how long the rest may take after the last kill")
	flag.DurationVar(&orders.Timeout, "orders-patience", 30*time.Minute, "how long the orders may take together")
	flag.Parse()
	orders.Kills, orders.Chaos, orders.Seed = lines.Kills, lines.Chaos, lines.Seed
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, lines, orders)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(1)
	}
	fmt.Println("the books agree")
}

func run(ctx context.Context, lines crash.ItemSettings, orders crash.OrderSettings) (err error) {
	if lines.Kills < 1 || lines.Items != 0 && lines.Items < lines.Kills {
		return errors.New("at least one kill is required, and at least as many items as kills")
	}
	folder, err := os.MkdirTemp("", "dotkontor-kill-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	binary := filepath.Join(folder, "dotkontor")
	if err := testkit.Build(ctx, binary, os.Stderr, "-tags", "faults"); err != nil {
		return err
	}
	if lines.Items > 0 {
		if err := crash.RunRandomKills(ctx, binary, filepath.Join(folder, "lines"), lines, os.Stdout); err != nil {
			return err
		}
	}
	if orders.Orders == 0 {
		return nil
	}
	place := filepath.Join(folder, "orders")
	if err := os.Mkdir(place, 0o750); err != nil {
		return err
	}
	return crash.RunRandomOrderKills(ctx, binary, place, orders, os.Stdout)
}
