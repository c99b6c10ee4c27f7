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
	Listen       string        `default:"127.0.0.1:8080" help:"Address and port of the product."`
	Data         string        `default:"${sandbox_data}" help:"Folder for everything that is kept."`
	BaseURL      string        `name:"base-url" help:"Address under which clients reach the product. Default: http:// and --listen."`
	WorldLatency time.Duration `help:"Time that every answer of the simulated world takes longer, like 80ms."`
	Chaos        float64       `help:"Share (0 to 1) of the world's answers that are slow, broken, throttled or dropped. Alone it means 0.2." placeholder:"SHARE"`
	Seed         uint64        `help:"Number from which the chaos is drawn, to repeat a run. Default: another one each time." placeholder:"N"`
	Time         string        `help:"What time it is in the sandbox, like 2027-01-31 or 2027-01-31T12:00:00Z." placeholder:"TIME"`
	Info         string        `help:"File that gets what the welcome text says, as JSON for scripts." placeholder:"FILE"`
	WorldOnly    bool          `help:"Run the simulated world alone, and write a configuration file for 'dotkontor serve' that points at it."`

	Start startCommand `cmd:"" default:"1" hidden:"" help:"Run the sandbox; the same as no further word."`
	Clock clockCommand `cmd:"" help:"Look at the clock of the sandbox that runs on --data, or move it on."`
}

// startCommand is what 'dotkontor sandbox' does without a further word. It is a
// command of its own because a command with others below it can't be run.
type startCommand struct{}

// Run starts the sandbox with the flags of the command above.
func (startCommand) Run(sandbox *Command, t *cli.Terminal) error { return sandbox.start(t) }

// AfterApply refuses values that no world can have.
func (c Command) AfterApply() error {
	if c.Chaos < 0 || c.Chaos > 1 {
		return fmt.Errorf("--chaos is a share from 0 to 1, not %v", c.Chaos)
	}
	if c.WorldLatency < 0 || c.WorldLatency > time.Minute {
		return fmt.Errorf("--world-latency is from 0s to 1m, not %s", c.WorldLatency)
	}
	_, err := parseClock(c.Time)
	return err
}

// start starts the world, and the product in front of it.
func (c Command) start(t *cli.Terminal) error {
	if err := os.MkdirAll(c.Data, 0o750); err != nil {
		return fmt.Errorf("the data folder: %w", err)
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
		c.Seed = rand.Uint64() //nolint:gosec // chaos is no secret
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
		return fmt.Errorf("the simulated world: %w", err)
	}
	mailbox, err := smtp.Start(smtp.Options{Chaos: c.Chaos, Seed: c.Seed})
	if err != nil {
		return errors.Join(fmt.Errorf("the simulated world: %w", err), world.Close())
	}
	payments, err := c.startPayments(world.Now)
	if err != nil {
		return errors.Join(fmt.Errorf("the simulated world: %w", err), mailbox.Close(), world.Close())
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

// simulation is everything around the product.
type simulation struct {
	registry *registry.Registry
	mailbox  *smtp.Server
	payments payments
	demo     demo
	// now is the world's clock, which can be moved on. A product in another
	// process has the time of its machine instead.
	now func() time.Time
	// unsourced are extensions that the registry account leaves out.
	unsourced []string
}

func (c Command) runProduct(t *cli.Terminal, cfg config.Config, sim simulation) error {
	logPath := filepath.Join(cfg.Data, "dotkontor.log")
	logFile, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("the log: %w", err)
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
	// With the real port, so that links of the operator's commands lead here.
	cfg.BaseURL, cfg.Server.Listen = p.BaseURL(), p.Address()
	configPath, err := c.writeConfig(cfg)
	if err != nil {
		return p.Abort(err)
	}
	// Only now is it certain that no other sandbox on this port writes here.
	if err := logFile.Truncate(0); err != nil {
		return p.Abort(fmt.Errorf("the log: %w", err))
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

// seed makes the demo customer, or finds it. Passwords are hashed right here: the
// service would have it done at a low priority, and somebody waits for the start.
func (s *simulation) seed(ctx context.Context, cfg config.Config) error {
	services, err := app.OpenServices(ctx, cfg, slog.New(slog.DiscardHandler), s.now)
	if err != nil {
		return err
	}
	return errors.Join(s.demo.seed(ctx, services, cfg.Data, s.payments.provider), services.Close())
}

// runWorld keeps the world up for a product in another process.
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

// printWelcome tells people and scripts where everything is.
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
