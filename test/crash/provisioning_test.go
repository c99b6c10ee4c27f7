package crash_test

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
	"github.com/dotkontor/dotkontor/test/crash"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// binary is built with failpoints.
var binary string

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, &binary, "-tags", "failpoint")) }

// waitTimeout bounds every wait, on a busy machine.
const waitTimeout = 2 * time.Minute

func newEnv(t *testing.T, flags ...string) *crash.Env {
	t.Helper()
	env, err := crash.NewEnv(t.Context(), binary, t.TempDir(), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	})
	return env
}

// The go tool does not see that the tests depend on the built binary.
func TestSources_AreInputsOfTheTestCache(t *testing.T) {
	t.Parallel()
	seen, err := testkit.Sources()
	if err != nil || !slices.Contains(seen, "lostresponse.go") {
		t.Errorf("%d files were read, %v", len(seen), err)
	}
}

func TestKill_EveryProvisionFailpointReconciles(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for i, failpoint := range provision.Failpoints() {
		// Together these pass every failpoint: a registration, a pending one, one that
		// is denied later, and one that is rejected at once.
		for _, prefix := range []string{"ruhig-", "pending-", "pendingfail-"} {
			if _, err := env.AddPaidItem(t.Context(), fmt.Sprintf("%s%d", prefix, i), ".org"); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := env.AddPaidItem(t.Context(), "google", []string{".org", ".info", ".shop", ".io"}[i%4]); err != nil {
			t.Fatal(err)
		}
		if err := runUntilKilledAt(t.Context(), env, failpoint); err != nil {
			t.Fatalf("%s: %v", failpoint, err)
		}
		server, err := env.Serve(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", failpoint, err)
		}
		began := time.Now()
		if err := waitProvisioned(t.Context(), env); err != nil {
			t.Errorf("%s: %v", failpoint, err)
		}
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		t.Logf("%s: done %s after the next start", failpoint, time.Since(began).Round(time.Millisecond))
		if err := env.Reconcile(t.Context()); err != nil {
			t.Fatalf("after a kill at %s:\n%v", failpoint, err)
		}
	}
}

// waitProvisioned advances the clock for pending items and waits for all items.
func waitProvisioned(ctx context.Context, env *crash.Env) error {
	for range 60 {
		if err := env.Control.Advance(ctx, 10*time.Second); err != nil {
			return err
		}
		if env.WaitProvisioned(ctx, time.Second) == nil {
			return nil
		}
	}
	return errors.New("items are open after a minute")
}

// runUntilKilledAt runs the product until it is killed at a failpoint.
func runUntilKilledAt(ctx context.Context, env *crash.Env, failpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	server := exec.CommandContext(ctx, env.Binary, "serve", "--config", env.World.Ready)
	server.Env = append(os.Environ(), "KILL_AT="+failpoint, "DOTKONTOR_LOG_LEVEL=error")
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
			return fmt.Errorf("not killed at the failpoint: %w", err)
		case <-time.After(time.Second):
			if err := env.Control.Advance(ctx, 10*time.Second); err != nil {
				return err
			}
		}
	}
}

func TestKill_RandomWithHostileRegistryReconciles(t *testing.T) {
	t.Parallel()
	settings := crash.ItemSettings{Items: 50, Kills: 20, Chaos: 0.15, Seed: rand.Uint64(), Timeout: waitTimeout}
	if err := crash.RunRandomKills(t.Context(), binary, t.TempDir(), settings, t.Output()); err != nil {
		t.Fatalf("seed %d:\n%v", settings.Seed, err)
	}
}
