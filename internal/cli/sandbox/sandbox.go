// Package sandbox is the command that runs the service against simulated upstreams.
package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/smtp"
	sandboxstripe "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	sandboxvies "github.com/dotkontor/dotkontor/internal/sandbox/vies"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
)

type Command struct {
	Listen       string        `default:"127.0.0.1:8080" help:"Address and port of the service."`
	Data         string        `default:"${sandbox_data}" help:"Data folder."`
	BaseURL      string        `name:"base-url" help:"URL at which clients reach the service. Default: http:// and --listen."`
	WorldLatency time.Duration `help:"Delay of every response of the simulated upstreams, such as 80ms."`
	Chaos        float64       `help:"Share (0 to 1) of upstream responses that are slow, broken, throttled or dropped. Without a value: 0.2." placeholder:"SHARE"`
	ChaosDelay   time.Duration `hidden:"" help:"Longest delay of a slow response with --chaos. Default: 3s, or 2s at the payment provider."`
	Seed         uint64        `help:"Random seed of --chaos, to repeat a run. Default: a new one each time." placeholder:"N"`
	Time         string        `help:"Start time, such as 2027-01-31 or 2027-01-31T12:00:00Z; what the clock of a kept sandbox was advanced by is added. Default: now." placeholder:"TIME"`
	Info         string        `help:"Write the contents of the welcome text to this file, as JSON." placeholder:"FILE"`
	WorldOnly    bool          `help:"Run only the simulated upstreams, and write a configuration file for 'dotkontor serve'."`
	SharedClock  bool          `hidden:"" help:"With --world-only: the service follows the clock of the sandbox. Only test builds can."`

	MCP mcp.Extension `kong:"-"` // fixtures of the conformance suite

	Start    startCommand    `cmd:"" default:"1" hidden:"" help:"Run the sandbox; the default."`
	Clock    clockCommand    `cmd:"" help:"Show or advance the clock of the sandbox that runs on --data."`
	Transfer transferCommand `cmd:"" help:"Let another registrar request a domain, in the sandbox that runs on --data."`
	Funds    fundsCommand    `cmd:"" help:"Show or change the balance of the registry account, in the sandbox that runs on --data."`
}

// startCommand is the default of 'dotkontor sandbox'. It exists because a command with
// subcommands can't be run itself.
type startCommand struct{}

func (startCommand) Run(sandbox *Command, t *cli.Terminal) error { return sandbox.start(t) }

// AfterApply validates the flags.
func (c Command) AfterApply() error {
	if c.Chaos < 0 || c.Chaos > 1 {
		return fmt.Errorf("--chaos must be a share from 0 to 1, not %v", c.Chaos)
	}
	if c.ChaosDelay < 0 {
		return fmt.Errorf("--chaos-delay can't be negative, and is %s", c.ChaosDelay)
	}
	if c.WorldLatency < 0 || c.WorldLatency > time.Minute {
		return fmt.Errorf("--world-latency must be from 0s to 1m, not %s", c.WorldLatency)
	}
	_, err := parseClock(c.Time)
	return err
}

// start starts the simulated upstreams and, unless --world-only is set, the service.
func (c Command) start(t *cli.Terminal) (err error) {
	if err := os.MkdirAll(c.Data, 0o750); err != nil {
		return fmt.Errorf("create data folder: %w", err)
	}
	now, err := parseClock(c.Time)
	if err != nil {
		return err
	}
	edition, err := store.ReadPriceList(t.Ctx, store.Options{Data: c.Data})
	if err != nil {
		return app.WithDamageHint(err)
	}
	sim := simulation{unsourced: unsourcedTLDs(edition.List)}
	if sim.demo, err = loadDemo(c.Data, now()); err != nil {
		return err
	}
	c.Seed = cmp.Or(c.Seed, rand.Uint64()) //nolint:gosec // not a secret
	defer func() { err = errors.Join(err, sim.close()) }()
	if err := sim.start(c, zones(edition.List), now); err != nil {
		return fmt.Errorf("start simulated upstreams: %w", err)
	}
	cfg, err := c.newConfig(sim)
	switch {
	case err != nil:
		return err
	case c.WorldOnly:
		return c.runWorld(t, cfg, sim)
	default:
		return c.runProduct(t, cfg, sim)
	}
}

type simulation struct {
	// registry has the sandbox's clock, which can be advanced. A service in another process
	// uses real time instead, unless it shares the clock.
	registry *registry.Registry
	mailbox  *smtp.Server
	stripe   *sandboxstripe.Server
	vies     *sandboxvies.Server
	closers  []func() error
	demo     demo
	// unsourced are the exclusions of the registry account.
	unsourced []string
}

func (s *simulation) start(c Command, zones []registry.Zone, now func() time.Time) (err error) {
	if s.registry, err = registry.Start(registry.Options{
		Zones: zones, Seeds: s.demo.registryDomains(), Data: c.Data, Latency: c.WorldLatency, Chaos: c.Chaos, ChaosDelay: c.ChaosDelay, Seed: c.Seed, Now: now,
	}); err != nil {
		return err
	}
	s.closers = append(s.closers, s.registry.Close)
	// Payment pages expire by the sandbox's clock, and mails arrive by it. A service in another
	// process sets that expiry by real time, unless it shares the clock.
	if now = s.registry.Now; c.WorldOnly && !c.SharedClock {
		now = time.Now
	}
	if s.mailbox, err = smtp.Start(smtp.Options{Chaos: c.Chaos, Seed: c.Seed, Now: now}); err != nil {
		return err
	}
	s.closers = append(s.closers, s.mailbox.Close)
	if s.stripe, err = sandboxstripe.Start(sandboxstripe.Options{
		Data: c.Data, Holder: demoRegistrant, Latency: c.WorldLatency, Chaos: c.Chaos, ChaosDelay: c.ChaosDelay, Seed: c.Seed, Now: now,
	}); err != nil {
		return err
	}
	s.closers = append(s.closers, s.stripe.Close)
	if s.vies, err = sandboxvies.Start(sandboxvies.Options{Latency: c.WorldLatency, Chaos: c.Chaos, Seed: c.Seed, Now: now}); err != nil {
		return err
	}
	s.closers = append(s.closers, s.vies.Close)
	return nil
}

func (s *simulation) close() (err error) {
	for _, closeFn := range slices.Backward(s.closers) {
		err = errors.Join(err, closeFn())
	}
	return err
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
	p, err := app.New(t.Ctx, cfg, logger, app.Options{Now: sim.registry.Now, MCP: c.MCP})
	if err != nil {
		return app.WithPortHint(err, "--listen")
	}
	if err := errors.Join(sim.seed(t.Ctx, cfg), sim.registerWebhook(p.Address())); err != nil {
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
	sim.registry.FollowClock(func() { p.Settle(ctx) })
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
	services, err := app.OpenServices(ctx, cfg, slog.New(slog.DiscardHandler), s.registry.Now)
	if err != nil {
		return err
	}
	return errors.Join(s.demo.seed(ctx, services, cfg.Data, s.stripe), s.continueTerms(ctx, services), services.Close())
}

// continueTerms lets the jobs at the end of terms go on after a pause: a sandbox may be
// stopped for weeks, which in a service would engage the safety brake.
func (s *simulation) continueTerms(ctx context.Context, services *app.Services) error {
	brake, started, err := services.DB.GetBrake(ctx)
	if err != nil || !started || brake.Engaged() {
		return err
	}
	_, err = services.DB.SetBrakeRun(ctx, brake.LastRun, s.registry.Now(), false)
	return err
}

// runWorld runs the simulated upstreams for a service in another process.
func (c Command) runWorld(t *cli.Terminal, cfg config.Config, sim simulation) error {
	if err := errors.Join(sim.seed(t.Ctx, cfg), sim.registerWebhook(c.Listen)); err != nil {
		return err
	}
	path, err := c.writeConfig(cfg)
	if err != nil {
		return err
	}
	if err := c.writeInfo(newConnectionInfo(cfg.BaseURL, "", path, sim)); err != nil {
		return err
	}
	fmt.Fprintf(t.Out, "The simulated upstreams are running.\n\n  dotkontor serve --config %s\n\nready %s\n", path, path)
	<-t.Ctx.Done()
	return nil
}

// printWelcome prints the welcome text and writes the --info file.
func (c Command) printWelcome(t *cli.Terminal, info connectionInfo, logPath string) error {
	if err := c.writeInfo(info); err != nil {
		return err
	}
	if c.Chaos > 0 {
		fmt.Fprintf(t.Out, "Chaos %v, --seed %d\n\n", c.Chaos, c.Seed)
	}
	whoisHost, whoisPort, err := net.SplitHostPort(info.Registry.WHOIS)
	if err != nil {
		return err
	}
	here := "http://" + info.Listen
	_, err = fmt.Fprintf(t.Out, welcomeText, info.BaseURL, info.Listen, info.MCPURL, info.Portal, info.Inbox, c.Data, logPath, info.Registry.RDAP,
		info.Registry.WHOIS, info.Registry.DNS, info.Registry.EPP, info.Payment.API, info.VIES, info.Demo.Email, info.Demo.Password, info.Demo.Token,
		info.Agent.Key, info.Agent.Secret,
		here, here, whoisHost, whoisPort, info.Demo.Token, here+"/api/mcp", info.Demo.Email, info.Config, info.BaseURL)
	return err
}

const defaultChaos = "0.2"

// ExpandChaosFlag adds the default value to a --chaos without one.
func ExpandChaosFlag(args []string) []string {
	given := make([]string, 0, len(args)+1)
	for i, arg := range args {
		given = append(given, arg)
		if arg != "--chaos" {
			continue
		}
		if i+1 < len(args) {
			if _, err := strconv.ParseFloat(args[i+1], 64); err == nil {
				continue
			}
		}
		given = append(given, defaultChaos)
	}
	return given
}

// parseClock returns a clock that starts at the given time; empty means real time.
func parseClock(text string) (func() time.Time, error) {
	if text == "" {
		return time.Now, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"} {
		if start, err := time.Parse(layout, text); err == nil {
			offset := time.Until(start)
			return func() time.Time { return time.Now().Add(offset) }, nil
		}
	}
	return nil, fmt.Errorf("--time %q is not a time like 2027-01-31 or 2027-01-31T12:00:00Z", text)
}
