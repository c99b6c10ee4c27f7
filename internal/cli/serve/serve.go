// Package serve is the command that runs the service.
package serve

import (
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
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
	p, err := app.New(t.Ctx, cfg, logger, time.Now)
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
