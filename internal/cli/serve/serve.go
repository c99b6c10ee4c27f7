// Package serve is the command that runs the service.
package serve

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/pwhash"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

type Command struct {
	Config string `env:"DOTKONTOR_CONFIG" help:"Configuration file (TOML). Default: none, only defaults and the environment apply."`
}

// Run serves until the process is interrupted.
func (c Command) Run(t *cli.Terminal) error {
	cfg, err := config.Load(c.Config, t.Env)
	if err != nil {
		return err
	}
	// Changed files are reloaded automatically, but log rotation may still send SIGHUP,
	// which would end the process.
	signal.Ignore(syscall.SIGHUP)
	logger, flush := app.NewLogger(cfg.Log, t.Err)
	defer flush()
	p, err := app.New(t.Ctx, cfg, logger, app.Options{})
	flush() // the start is logged even if the process is killed next
	if err != nil {
		return app.WithPortHint(err, "server.listen")
	}
	p.ReloadKeys(func() ([]registrar.SealKey, error) {
		cfg, err := config.Load(c.Config, t.Env)
		if err != nil {
			return nil, err
		}
		return app.SealKeys(cfg)
	})
	tuneMemory(t.Ctx, cfg)
	return p.Run(t.Ctx, func(baseURL string) { fmt.Fprintln(t.Out, "ready", baseURL) })
}

const (
	// Collecting a small heap at every doubling costs a tenth of the CPU under load, so it
	// may grow by gcHeadroom, but at most to five times its size. A heap larger than that
	// doubles, within the limit.
	maxGCPercent = 400
	minGCPercent = 100
	gcHeadroom   = 64 << 20
	gcInterval   = time.Second // between adjustments

	startDuration = 3 * time.Second // until the first round of all jobs is done

	// The limit is the sum of the service itself and of what the settings allow it to
	// keep. An address with few requests takes about 55 bytes, a cached result less than 512.
	baseBytes         = 256 << 20
	addressBytes      = 128
	cachedAnswerBytes = 512
)

// tuneMemory configures the garbage collector unless GOGC or GOMEMLIMIT is set.
func tuneMemory(ctx context.Context, cfg config.Config) {
	// The garbage of the start, the first round of all jobs included, is a tenth of an idle
	// process. Pooled buffers, which migrations leave, survive the first collection.
	go func() {
		select {
		case <-ctx.Done():
		case <-time.After(startDuration):
			runtime.GC()
			debug.FreeOSMemory()
			_, _ = releaseBinaryPages() // without it, the process only stays larger
		}
	}()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(maxGCPercent)
		go adjustGCPercent(ctx)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(cfg))
	}
}

// adjustGCPercent follows the size of the heap until ctx ends. A fixed percentage would
// let the memory grow by four times what the remembered addresses take, although they have
// no pointers and cost a collection nothing.
func adjustGCPercent(ctx context.Context) {
	ticker := time.NewTicker(gcInterval)
	defer ticker.Stop()
	current := maxGCPercent
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		wanted := gcPercentFor(live[0].Value.Uint64())
		if wanted < current*9/10 || wanted > current*11/10 { // a change stops all goroutines for a moment
			current = wanted
			debug.SetGCPercent(current)
		}
	}
}

func gcPercentFor(live uint64) int {
	return int(min(maxGCPercent, max(minGCPercent, 100*gcHeadroom/max(live, 1))))
}

func memoryLimit(cfg config.Config) int64 {
	return baseBytes + int64(cfg.Limits.MaxAddresses)*addressBytes + int64(cfg.Lookup.MaxCached)*cachedAnswerBytes
}

// HashWorkerCommand hashes passwords for the service, which starts it as a child process.
type HashWorkerCommand struct{}

// Run returns when its input ends. It ignores signals, which are sent to every process of
// a service at once, because the service needs it until its last request is done.
func (HashWorkerCommand) Run(t *cli.Terminal) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return pwhash.Serve(t.In, t.Out)
}
