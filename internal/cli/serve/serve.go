// Package serve is the command that runs the service.
package serve

import (
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

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
	tuneMemory(cfg)
	return p.Run(t.Ctx, func(baseURL string) { fmt.Fprintln(t.Out, "ready", baseURL) })
}

const (
	// Collecting a small heap at every doubling costs a tenth of the CPU under load.
	// Growing to five times uses memory within the limit, which takes over beyond that.
	gcPercent = 400

	// The limit is the sum of the service itself and of what the settings allow it to
	// keep. An address with few requests takes about 55 bytes, a cached result less than 512.
	baseBytes         = 256 << 20
	addressBytes      = 128
	cachedAnswerBytes = 512
)

// tuneMemory configures the garbage collector unless GOGC or GOMEMLIMIT is set.
func tuneMemory(cfg config.Config) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(cfg))
	}
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
