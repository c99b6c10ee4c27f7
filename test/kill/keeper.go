package kill

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

	"github.com/dotkontor/dotkontor/test/rig"
)

// Keeper keeps the product running, whatever it dies of, as an operator's machine
// would.
type Keeper struct {
	stop context.CancelFunc
	done chan struct{}
	// gone ends when the product was not killed and ended all the same.
	gone context.Context //nolint:containedctx // it is what others wait for
	fail context.CancelCauseFunc

	mu      sync.Mutex
	running *exec.Cmd
	deaths  int
	err     error
}

// Keep starts the product, and starts it again each time that it was killed. end
// says at which boundary a life ends by itself, the first one being 0; empty means
// at none.
func (s *Stage) Keep(ctx context.Context, end func(life int) (boundary string), environment ...string) *Keeper {
	ctx, stop := context.WithCancel(ctx)
	k := &Keeper{stop: stop, done: make(chan struct{})}
	k.gone, k.fail = context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		defer close(k.done)
		for life := 0; ctx.Err() == nil && k.once(ctx, s, end(life), environment); life++ {
		}
	}()
	return k
}

// OnceAt ends the first life at a boundary, and no other.
func OnceAt(boundary string) func(int) string {
	return func(life int) string {
		if life > 0 {
			return ""
		}
		return boundary
	}
}

// once runs the product until it ends, and says whether it was killed.
func (k *Keeper) once(ctx context.Context, s *Stage, boundary string, environment []string) bool {
	command := exec.CommandContext(ctx, s.Binary, "serve", "--config", s.World.Ready)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 20 * time.Second
	command.Env = append(append(rig.Environment(), "DOTKONTOR_LOG_LEVEL=error"), environment...)
	if boundary != "" {
		command.Env = append(command.Env, "KILL_AT="+boundary)
	}
	var said strings.Builder
	command.Stderr = &said
	k.mu.Lock()
	err := command.Start()
	k.running = command
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
			k.deaths++
			return true
		}
	}
	k.err = fmt.Errorf("the product was not killed but ended by itself: %w\n%s", err, said.String())
	k.fail(k.err)
	return false
}

// Kill ends the product as a power cut would.
func (k *Keeper) Kill() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running != nil && k.running.Process != nil {
		_ = k.running.Process.Kill() // one that is dead already is as good
	}
}

// Deaths is how often it was killed.
func (k *Keeper) Deaths() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.deaths
}

// Stop ends the product properly.
func (k *Keeper) Stop() error {
	k.stop()
	<-k.done
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}
