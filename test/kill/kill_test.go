package kill_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/test/kill"
	"github.com/dotkontor/dotkontor/test/rig"
)

// binary can be killed at boundaries; an ordinary build can't.
var binary string

func TestMain(m *testing.M) { os.Exit(rig.Main(m, &binary, "-tags", "faults")) }

// patience bounds what takes seconds, on a machine that is busy otherwise.
const patience = 2 * time.Minute

func open(t *testing.T, flags ...string) *kill.Stage {
	t.Helper()
	stage, err := kill.Open(t.Context(), binary, t.TempDir(), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stage.Close(); err != nil {
			t.Error(err)
		}
	})
	return stage
}

// The binary is built by a command, so the go tool has to be told.
func TestAChangeOfTheProductRunsTheseTestsAgain(t *testing.T) {
	t.Parallel()
	seen, err := rig.Sources()
	if err != nil || !slices.Contains(seen, "provisioning.go") {
		t.Errorf("%d files were looked at, %v", len(seen), err)
	}
}

func TestAKillAtEveryBoundaryLeavesTheBooksRight(t *testing.T) {
	t.Parallel()
	stage := open(t)
	for i, boundary := range provision.Boundaries() {
		// One that is registered, one that the registry decides about later, one
		// that it denies, and one that it refuses at once: together they pass every
		// boundary.
		for _, prefix := range []string{"ruhig-", "pending-", "pendingfail-"} {
			if _, err := stage.Order(t.Context(), fmt.Sprintf("%s%d", prefix, i), ".org"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := stage.Order(t.Context(), "google", []string{".org", ".info", ".shop", ".io"}[i%4]); err != nil {
			t.Fatal(err)
		}
		if err := killedAt(t.Context(), stage, boundary); err != nil {
			t.Fatalf("%s: %v", boundary, err)
		}
		server, err := stage.Serve(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", boundary, err)
		}
		began := time.Now()
		if err := finish(t.Context(), stage); err != nil {
			t.Errorf("%s: %v", boundary, err)
		}
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		t.Logf("%s: done %s after the next start", boundary, time.Since(began).Round(time.Millisecond))
		if err := stage.Check(t.Context()); err != nil {
			t.Fatalf("after a kill at %s:\n%v", boundary, err)
		}
	}
}

// finish lets the registry decide what is pending, and waits for the rest.
func finish(ctx context.Context, stage *kill.Stage) error {
	for range 60 {
		if err := stage.Control.Advance(ctx, 10*time.Second); err != nil {
			return err
		}
		if stage.Finish(ctx, time.Second) == nil {
			return nil
		}
	}
	return errors.New("lines are open after a minute")
}

// killedAt runs the product until it dies at a boundary.
func killedAt(ctx context.Context, stage *kill.Stage, boundary string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	server := exec.CommandContext(ctx, stage.Binary, "serve", "--config", stage.World.Ready)
	server.Env = append(os.Environ(), "KILL_AT="+boundary, "DOTKONTOR_LOG_LEVEL=error")
	if err := server.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	for {
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL && ctx.Err() == nil {
					return nil
				}
			}
			return fmt.Errorf("the product was not killed at the boundary but ended with %w", err)
		case <-time.After(time.Second):
			if err := stage.Control.Advance(ctx, 10*time.Second); err != nil {
				return err
			}
		}
	}
}

func TestRandomKillsInFrontOfAHostileRegistryLeaveTheBooksRight(t *testing.T) {
	t.Parallel()
	settings := kill.Settings{Lines: 50, Kills: 20, Chaos: 0.15, Seed: rand.Uint64(), Patience: patience}
	if err := kill.Random(t.Context(), binary, t.TempDir(), settings, t.Output()); err != nil {
		t.Fatalf("seed %d:\n%v", settings.Seed, err)
	}
}
