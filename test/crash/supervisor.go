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

// Supervisor keeps the product running, whatever it dies of, as an operator's machine
// would.
type Supervisor struct {
	stop context.CancelFunc
	done chan struct{}
	// failed ends when the product was not killed and ended all the same.
	failed context.Context //nolint:containedctx // it is what others wait for
	fail   context.CancelCauseFunc

	mu    sync.Mutex
	cmd   *exec.Cmd
	kills int
	err   error
}

// Supervise starts the product, and starts it again each time that it was killed. end
// says at which boundary a life ends by itself, the first one being 0; empty means
// at none.
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

// KillOnceAt ends the first life at a boundary, and no other.
func KillOnceAt(failpoint string) func(int) string {
	return func(life int) string {
		if life > 0 {
			return ""
		}
		return failpoint
	}
}

// runOnce runs the product until it ends, and says whether it was killed.
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
	k.err = fmt.Errorf("the product was not killed but ended by itself: %w\n%s", err, output.String())
	k.fail(k.err)
	return false
}

// Kill ends the product as a power cut would.
func (k *Supervisor) Kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cmd != nil && k.cmd.Process != nil {
		_ = k.cmd.Process.Kill() // one that is dead already is as good
	}
}

// Kills is how often it was killed.
func (k *Supervisor) Kills() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kills
}

// Stop ends the product properly.
func (k *Supervisor) Stop() error {
	k.stop()
	<-k.done
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}
