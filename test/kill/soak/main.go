// Command soak is the long run of package kill: two hundred kills over five
// hundred paid lines, in front of a hostile registry. It prints the seed, with
// which a run can be repeated, and ends with 1 if the books do not agree.
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
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/test/kill"
	"github.com/dotkontor/dotkontor/test/rig"
)

func main() {
	settings := kill.Settings{}
	flag.IntVar(&settings.Lines, "lines", 500, "paid lines")
	flag.IntVar(&settings.Kills, "kills", 200, "kills")
	flag.Float64Var(&settings.Chaos, "chaos", 0.2, "share of the registry's answers that go wrong")
	flag.Uint64Var(&settings.Seed, "seed", rand.Uint64(), "what the kills and the chaos are drawn from")
	flag.DurationVar(&settings.Patience, "patience", 10*time.Minute, "how long the rest may take after the last kill")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, settings)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(1)
	}
	fmt.Println("the books agree")
}

func run(ctx context.Context, settings kill.Settings) (err error) {
	if settings.Kills < 1 || settings.Lines < settings.Kills {
		return errors.New("there must be a kill, and at least as many lines as kills")
	}
	folder, err := os.MkdirTemp("", "dotkontor-kill-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	binary := filepath.Join(folder, "dotkontor")
	if err := rig.Build(ctx, binary, os.Stderr); err != nil {
		return err
	}
	return kill.Random(ctx, binary, folder, settings, os.Stdout)
}
