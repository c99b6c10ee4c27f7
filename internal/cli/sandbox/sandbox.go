// Package sandbox is the command that runs the service against simulated upstreams.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/smtp"
	"github.com/dotkontor/dotkontor/internal/store"
)

type Command struct {
	Listen       string        `default:"127.0.0.1:8080" help:"Address and port of the service."`
	Data         string        `default:"${sandbox_data}" help:"Data folder."`
	BaseURL      string        `name:"base-url" help:"URL at which clients reach the service. Default: http:// and --listen."`
	WorldLatency time.Duration `help:"Delay of every response of the simulated upstreams, such as 80ms."`
	Chaos        float64       `help:"Share (0 to 1) of upstream responses that are slow, broken, throttled or dropped. Without a value: 0.2." placeholder:"SHARE"`
	Seed         uint64        `help:"Random seed of --chaos, to repeat a run. Default: a new one each time." placeholder:"N"`
	Time         string        `help:"Start time of the sandbox, such as 2027-01-31 or 2027-01-31T12:00:00Z. Default: now." placeholder:"TIME"`
	Info         string        `help:"Write the contents of the welcome text to this file, as JSON." placeholder:"FILE"`
	WorldOnly    bool          `help:"Run only the simulated upstreams, and write a configuration file for 'dotkontor serve'."`

	Start startCommand `cmd:"" default:"1" hidden:"" help:"Run the sandbox; the default."`
	Clock clockCommand `cmd:"" help:"Show or advance the clock of the sandbox that runs on --data."`
}

// startCommand is the default of 'dotkontor sandbox'. It exists because a command with
// subcommands can't be run itself.
type startCommand struct{}

// Run starts the sandbox with the flags of its parent command.
func (startCommand) Run(sandbox *Command, t *cli.Terminal) error { return sandbox.start(t) }

// AfterApply validates the flags.
func (c Command) AfterApply() error {
	if c.Chaos < 0 || c.Chaos > 1 {
		return fmt.Errorf("--chaos must be a share from 0 to 1, not %v", c.Chaos)
	}
	if c.WorldLatency < 0 || c.WorldLatency > time.Minute {
		return fmt.Errorf("--world-latency must be from 0s to 1m, not %s", c.WorldLatency)
	}
	_, err := parseClock(c.Time)
	return err
}

// start starts the simulated upstreams and, unless --world-only is set, the service.
func (c Command) start(t *cli.Terminal) error {
	if err := os.MkdirAll(c.Data, 0o750); err != nil {
		return fmt.Errorf("create data folder: %w", err)
	}
	now, err := parseClock(c.Time)
	if err != nil {
		return err
	}
	edition, err := store.ReadPriceList(t.Ctx, store.Options{Data: c.Data})
	if err != nil {
		return err
	}
	list := edition.List
	if c.Seed == 0 {
		c.Seed = rand.Uint64() //nolint:gosec // not a secret
	}
	demo, err := loadDemo(c.Data, now())
	if err != nil {
		return err
	}
	world, err := registry.Start(registry.Options{
		Zones:   zones(list),
		Seeds:   demo.registryDomains(),
		Data:    c.Data,
		Latency: c.WorldLatency,
		Chaos:   c.Chaos,
		Seed:    c.Seed,
		Now:     now,
	})
	if err != nil {
		return fmt.Errorf("start simulated upstreams: %w", err)
	}
	mailbox, err := smtp.Start(smtp.Options{Chaos: c.Chaos, Seed: c.Seed})
	if err != nil {
		return errors.Join(fmt.Errorf("start simulated upstreams: %w", err), world.Close())
	}
	payments, err := c.startPayments(world.Now)
	if err != nil {
		return errors.Join(fmt.Errorf("start simulated upstreams: %w", err), mailbox.Close(), world.Close())
	}
	sim := simulation{registry: world, mailbox: mailbox, payments: payments, demo: demo, now: world.Now, unsourced: unsourcedTLDs(list)}
	cfg, err := c.newConfig(sim)
	switch {
	case err != nil:
	case c.WorldOnly:
		err = c.runWorld(t, cfg, sim)
	default:
		err = c.runProduct(t, cfg, sim)
	}
	return errors.Join(err, payments.close(), mailbox.Close(), world.Close())
}

// simulation has the simulated upstreams and the demo customer.
type simulation struct {
	registry *registry.Registry
	mailbox  *smtp.Server
	payments payments
	demo     demo
	// now is the sandbox's clock, which can be advanced. A service in another process uses
	// real time instead.
	now func() time.Time
	// unsourced are the exclusions of the registry account.
	unsourced []string
}

func (c Command) runProduct(t *cli.Terminal, cfg config.Config, sim simulation) error {
	logPath := filepath.Join(cfg.Data, "dotkontor.log")
	logFile, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("log file: %w", err)
	}
	defer logFile.Close()
	logger, flush := app.NewLogger(cfg.Log, logFile)
	defer flush()
	p, err := app.New(t.Ctx, cfg, logger, sim.now)
	if err != nil {
		return app.WithPortHint(err, "--listen")
	}
	if err := errors.Join(sim.seed(t.Ctx, cfg), sim.payments.registerWebhook(p.Address())); err != nil {
		return p.Abort(err)
	}
	// With the actual port, so that links that operator commands print work.
	cfg.BaseURL, cfg.Server.Listen = p.BaseURL(), p.Address()
	configPath, err := c.writeConfig(cfg)
	if err != nil {
		return p.Abort(err)
	}
	// Only now it is certain that no other sandbox on this port writes to the file.
	if err := logFile.Truncate(0); err != nil {
		return p.Abort(fmt.Errorf("log file: %w", err))
	}
	flush()
	ctx, stop := context.WithCancel(t.Ctx)
	defer stop()
	var announceErr error
	err = p.Run(ctx, func(baseURL string) {
		if announceErr = c.printWelcome(t, newConnectionInfo(baseURL, p.Address(), configPath, sim), logPath); announceErr != nil {
			stop()
		}
	})
	return errors.Join(announceErr, err)
}

// seed creates the demo customer if necessary. Passwords are hashed in this process: the
// service's hash workers run at a low priority, which would delay the start.
func (s *simulation) seed(ctx context.Context, cfg config.Config) error {
	services, err := app.OpenServices(ctx, cfg, slog.New(slog.DiscardHandler), s.now)
	if err != nil {
		return err
	}
	return errors.Join(s.demo.seed(ctx, services, cfg.Data, s.payments.provider), services.Close())
}

// runWorld runs the simulated upstreams for a service in another process.
func (c Command) runWorld(t *cli.Terminal, cfg config.Config, sim simulation) error {
	if err := errors.Join(sim.seed(t.Ctx, cfg), sim.payments.registerWebhook(c.Listen)); err != nil {
		return err
	}
	path, err := c.writeConfig(cfg)
	if err != nil {
		return err
	}
	if c.Info != "" {
		if err := newConnectionInfo(cfg.BaseURL, "", path, sim).write(c.Info); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.Out, "The simulated upstreams are running.\n\n  dotkontor serve --config %s\n\nready %s\n", path, path)
	<-t.Ctx.Done()
	return nil
}

// printWelcome prints the welcome text and writes the --info file.
func (c Command) printWelcome(t *cli.Terminal, info connectionInfo, logPath string) error {
	if c.Info != "" {
		if err := info.write(c.Info); err != nil {
			return err
		}
	}
	if c.Chaos > 0 {
		fmt.Fprintf(t.Out, "Chaos %v, --seed %d\n\n", c.Chaos, c.Seed)
	}
	whoisURL, err := url.Parse("http://" + info.Registry.WHOIS)
	if err != nil {
		return err
	}
	here := "http://" + info.Listen
	_, err = fmt.Fprintf(t.Out, welcomeText, info.BaseURL, info.Listen, info.MCPURL, info.Portal, info.Inbox, c.Data, logPath, info.Registry.RDAP,
		info.Registry.WHOIS, info.Registry.DNS, info.Registry.EPP, info.Payment.API, info.VIES, info.Demo.Email, info.Demo.Password, info.Demo.Token,
		info.Agent.Key, info.Agent.Secret,
		here, here, whoisURL.Hostname(), whoisURL.Port(), info.Demo.Token, here+"/api/mcp", info.Demo.Email, info.Config, info.BaseURL)
	return err
}
