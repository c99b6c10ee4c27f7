package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// Supervisor restarts the product whenever it is killed.
type Supervisor struct {
	stop context.CancelFunc
	done chan struct{}
	// failed is canceled when the product exits without being killed.
	failed context.Context //nolint:containedctx // it is what others wait for
	fail   context.CancelCauseFunc

	mu    sync.Mutex
	cmd   *exec.Cmd
	kills int
	err   error
}

// Supervise starts the product and restarts it whenever it is killed. end returns the
// failpoint of the n-th run, counted from 0, or nothing.
func (s *Env) Supervise(ctx context.Context, end func(life int) (failpoint string), environment ...string) *Supervisor {
	ctx, stop := context.WithCancel(ctx)
	k := &Supervisor{stop: stop, done: make(chan struct{})}
	k.failed, k.fail = context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		defer close(k.done)
		for life := 0; ctx.Err() == nil && k.runOnce(ctx, s, end(life), environment); life++ {
		}
	}()
	return k
}

// KillOnceAt kills the first run at a failpoint.
func KillOnceAt(failpoint string) func(int) string {
	return func(life int) string {
		if life > 0 {
			return ""
		}
		return failpoint
	}
}

// runOnce runs the product until it exits and reports whether it was killed.
func (k *Supervisor) runOnce(ctx context.Context, s *Env, failpoint string, environment []string) bool {
	command := exec.CommandContext(ctx, s.Binary, "serve", "--config", s.World.Ready)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 20 * time.Second
	command.Env = append(append(testkit.Environment(), "DOTKONTOR_LOG_LEVEL=error"), environment...)
	if failpoint != "" {
		command.Env = append(command.Env, "KILL_AT="+failpoint)
	}
	var output strings.Builder
	command.Stderr = &output
	k.mu.Lock()
	err := command.Start()
	k.cmd = command
	k.mu.Unlock()
	if err == nil {
		err = command.Wait()
	}
	if ctx.Err() != nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signal() == syscall.SIGKILL {
			k.kills++
			return true
		}
	}
	k.err = fmt.Errorf("the product exited without being killed: %w\n%s", err, output.String())
	k.fail(k.err)
	return false
}

// Kill sends SIGKILL to the product.
func (k *Supervisor) Kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cmd != nil && k.cmd.Process != nil {
		_ = k.cmd.Process.Kill() // it may have exited
	}
}

// Kills returns the number of kills.
func (k *Supervisor) Kills() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kills
}

// Stop stops the product with SIGTERM.
func (k *Supervisor) Stop() error {
	k.stop()
	<-k.done
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}
