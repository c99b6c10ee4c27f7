// Command soak is the long run of package crash: two hundred kills during five hundred
// paid items at a faulty registry, two hundred more during three hundred orders at a
// faulty registry and payment provider, twenty during a hundred thousand poll messages, and
// two hundred during three simulated years of ten thousand domains. It prints the seed, which repeats a run, and exits with 1 if
// reconciliation finds a problem.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/test/crash"
	"github.com/dotkontor/dotkontor/test/testkit"
)

func main() {
	items, orders, messages, years := crash.ItemSettings{}, crash.OrderSettings{}, crash.MessageSettings{}, crash.YearSettings{}
	flag.IntVar(&items.Items, "items", 500, "paid items; 0 skips this part")
	flag.IntVar(&orders.Orders, "orders", 300, "orders; 0 skips this part")
	flag.IntVar(&items.Kills, "kills", 200, "kills in each part but the messages")
	flag.Float64Var(&items.Chaos, "chaos", 0.2, "share of faulty responses of the registry and the payment provider")
	flag.Uint64Var(&items.Seed, "seed", rand.Uint64(), "seed of the kills and the chaos")
	flag.DurationVar(&items.Timeout, "timeout", 10*time.Minute, "limit of the time after the last kill")
	flag.DurationVar(&orders.Timeout, "orders-timeout", 30*time.Minute, "limit of the time for all orders")
	flag.IntVar(&messages.Messages, "messages", 100_000, "poll messages; 0 skips this part")
	flag.IntVar(&messages.Kills, "messages-kills", 20, "kills during the poll messages")
	flag.DurationVar(&messages.Limit, "messages-limit", 15*time.Minute, "limit of the time for all poll messages")
	flag.IntVar(&years.Domains, "domains", 10_000, "domains of the simulated years; 0 skips this part")
	flag.IntVar(&years.Customers, "customers", 500, "customers of the simulated years")
	flag.IntVar(&years.Days, "days", 3*365, "simulated days; domains are registered during the first year")
	flag.Float64Var(&years.Chaos, "years-chaos", 0.1, "share of faulty responses in the simulated years")
	flag.DurationVar(&years.Timeout, "years-timeout", time.Hour, "limit of the time for the simulated years")
	histories := flag.String("histories", "", "file for what happened to each domain of the simulated years, to compare two runs of a seed")
	flag.Parse()
	orders.Kills, orders.Chaos, orders.Seed = items.Kills, items.Chaos, items.Seed
	messages.Seed = items.Seed
	years.Kills, years.Seed, years.RegisterDays = items.Kills, items.Seed, min(365, years.Days)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, items, orders, messages, years, *histories)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
	fmt.Println("reconciliation found no problem")
}

func run(ctx context.Context, items crash.ItemSettings, orders crash.OrderSettings, messages crash.MessageSettings, years crash.YearSettings, histories string) (err error) {
	if items.Kills < 1 || items.Items != 0 && items.Items < items.Kills {
		return errors.New("at least one kill is required, and at least as many items as kills")
	}
	folder, err := os.MkdirTemp("", "dotkontor-kill-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\nthe data is kept in %s", err, folder)
			return
		}
		err = os.RemoveAll(folder)
	}()
	binary := filepath.Join(folder, "dotkontor")
	if err := testkit.Build(ctx, binary, os.Stderr, "-tags", "failpoint"); err != nil {
		return err
	}
	if items.Items > 0 {
		if err := crash.RunRandomKills(ctx, binary, filepath.Join(folder, "items"), items, os.Stdout); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name  string
		count int
		run   func(folder string) error
	}{
		{"orders", orders.Orders, func(folder string) error { return crash.RunRandomOrderKills(ctx, binary, folder, orders, os.Stdout) }},
		{"messages", messages.Messages, func(folder string) error { return crash.RunMessages(ctx, binary, folder, messages, os.Stdout) }},
		{"years", years.Domains, func(folder string) error {
			lines, err := crash.RunYears(ctx, binary, folder, years, os.Stdout)
			if err != nil || histories == "" {
				return err
			}
			return os.WriteFile(histories, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
		}},
	} {
		place := filepath.Join(folder, part.name)
		if part.count == 0 {
			continue
		}
		if err := os.Mkdir(place, 0o750); err != nil {
			return err
		}
		if err := part.run(place); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}
