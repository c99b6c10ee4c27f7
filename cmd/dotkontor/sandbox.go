package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/smtp"
	"github.com/dotkontor/dotkontor/internal/store"
)

// SandboxData is where the sandbox keeps its things unless told otherwise.
const SandboxData = ".dotkontor/sandbox"

// SandboxConfigFile is the sandbox's configuration file in its data folder.
const SandboxConfigFile = "serve.toml"

// defaultChaos is the share of a bare --chaos.
const defaultChaos = "0.2"

type sandboxCommand struct {
	Listen       string        `default:"127.0.0.1:8080" help:"Address and port of the product."`
	Data         string        `default:"${sandbox_data}" help:"Folder for everything that is kept."`
	BaseURL      string        `name:"base-url" help:"Address under which clients reach the product. Default: http:// and --listen."`
	WorldLatency time.Duration `help:"Time that every answer of the simulated world takes longer, like 80ms."`
	Chaos        float64       `help:"Share (0 to 1) of the world's answers that are slow, broken, throttled or dropped. Alone it means 0.2." placeholder:"SHARE"`
	Seed         uint64        `help:"Number from which the chaos is drawn, to repeat a run. Default: another one each time." placeholder:"N"`
	Time         string        `help:"What time it is in the sandbox, like 2027-01-31 or 2027-01-31T12:00:00Z." placeholder:"TIME"`
	Info         string        `help:"File that gets what the welcome text says, as JSON for scripts." placeholder:"FILE"`
	WorldOnly    bool          `help:"Run the simulated world alone, and write a configuration file for 'dotkontor serve' that points at it."`

	Start sandboxStart `cmd:"" default:"1" hidden:"" help:"Run the sandbox; the same as no further word."`
	Clock sandboxClock `cmd:"" help:"Look at the clock of the sandbox that runs on --data, or move it on."`
}

// sandboxStart is what 'dotkontor sandbox' does without a further word. It is a
// command of its own because a command with others below it can't be run.
type sandboxStart struct{}

// Run starts the sandbox with the flags of the command above.
func (sandboxStart) Run(sandbox *sandboxCommand, t *Terminal) error { return sandbox.start(t) }

// AfterApply refuses values that no world can have.
func (c sandboxCommand) AfterApply() error {
	if c.Chaos < 0 || c.Chaos > 1 {
		return fmt.Errorf("--chaos is a share from 0 to 1, not %v", c.Chaos)
	}
	if c.WorldLatency < 0 || c.WorldLatency > time.Minute {
		return fmt.Errorf("--world-latency is from 0s to 1m, not %s", c.WorldLatency)
	}
	_, err := parseClock(c.Time)
	return err
}

// ExpandChaosFlag lets --chaos stand alone.
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

// parseClock returns a clock that shows the given time now and goes on from
// there; empty means the real time.
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

// start starts the world, and the product in front of it.
func (c sandboxCommand) start(t *Terminal) error {
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

// unsourcedTLDs are the extensions without a public source, as an account leaves them
// out.
func unsourcedTLDs(list *catalog.Catalog) []string {
	var all []string
	for _, ext := range list.All() {
		if ext.RDAP == "" && ext.WHOIS == "" {
			all = append(all, "!"+ext.TLD)
		}
	}
	return all
}

// zones tells the world which extensions exist: those of the list in force, and
// the shipped ones, so that an import of a larger list finds a world behind it.
func zones(list *catalog.Catalog) []registry.Zone {
	extensions := list.All()
	if shipped, err := catalog.Shipped(); err == nil {
		for _, ext := range shipped.All() {
			if _, known := list.Extension(ext.TLD); !known {
				extensions = append(extensions, ext)
			}
		}
	}
	all := make([]registry.Zone, 0, len(extensions))
	for _, ext := range extensions {
		all = append(all, registry.Zone{
			TLD: ext.TLD, RDAP: ext.RDAP, WHOIS: ext.WHOIS, Popular: ext.Popular, MinYears: ext.MinYears, MaxYears: ext.MaxYears,
		})
	}
	return all
}

// newConfig is what an operator would write to reach this world.
func (c sandboxCommand) newConfig(sim simulation) (config.Config, error) {
	world := sim.registry
	cfg := config.Default()
	data, err := filepath.Abs(c.Data)
	if err != nil {
		return cfg, err
	}
	cfg.Data = data
	cfg.Server.Listen = c.Listen
	cfg.Server.MetricsListen = "off"
	cfg.BaseURL = c.BaseURL
	if cfg.BaseURL == "" {
		cfg.BaseURL = "http://" + c.Listen
	}
	cfg.BaseURL = strings.TrimSuffix(cfg.BaseURL, "/")
	cfg.Upstream.Bootstrap = world.BootstrapURL()
	cfg.Upstream.DNS = []string{world.DNS()}
	cfg.Upstream.Hosts = world.Hosts()
	if err := c.configureRegistry(&cfg, sim); err != nil {
		return cfg, err
	}
	// The simulated world has no applications' documents, and the sandbox asks no other.
	cfg.OAuth.ClientMetadata = "off"
	sim.payments.configure(&cfg)
	cfg.Mail = config.Mail{Server: sim.mailbox.Address(), TLS: "none", From: "dotkontor <noreply@dotkontor.example>"}
	err = cfg.Check()
	return cfg, err
}

// pollInterval is how often the simulated registry's messages are fetched: nobody
// wants to wait for a minute while trying something out.
const pollInterval = config.Duration(time.Second)

// configureRegistry tells how the simulated registry is reached, which presents all
// extensions as a wholesale gateway does. Extensions of which the price list knows
// no public source are left out, so that they can be tried as what they are.
func (c sandboxCommand) configureRegistry(cfg *config.Config, sim simulation) error {
	world := sim.registry
	if world.EPPCAFile() == "" {
		return nil // a world that keeps nothing, whose registry nobody can verify
	}
	account, found := world.Account(registry.ProductAccount)
	ca, err := filepath.Abs(world.EPPCAFile())
	if err != nil || !found {
		return errors.Join(errors.New("the simulated registry has no account for the product"), err)
	}
	cfg.Registration.Nameservers = []string{"ns1.dotkontor.example", "ns2.dotkontor.example"}
	cfg.EPP = []config.EPP{{
		Name: "sandbox", Server: world.EPP(), CA: ca, User: account.ID, Password: config.Secret(account.Password),
		Extensions: append([]string{"*"}, sim.unsourced...), Connections: 4, Poll: pollInterval,
		Policy: []config.EPPPolicy{
			{Extensions: []string{"*"}, Contacts: []string{"registrant", "admin", "tech"}, Nameservers: "objects", AuthCode: "set", Transfer: "waits"},
			{Extensions: []string{".com", ".net", ".dev"}, Contacts: []string{"none"}},
			{Extensions: []string{".de"}, Contacts: []string{"registrant"}, Nameservers: "attributes", Transfer: "at_once"},
		},
	}}
	return nil
}

func (c sandboxCommand) runProduct(t *Terminal, cfg config.Config, sim simulation) error {
	logPath := filepath.Join(cfg.Data, "dotkontor.log")
	logFile, err := os.OpenFile(logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("the log: %w", err)
	}
	defer logFile.Close()
	logger, flush := NewLogger(cfg.Log, logFile)
	defer flush()
	p, err := New(t.Ctx, cfg, logger, sim.now)
	if err != nil {
		return WithPortHint(err, "--listen")
	}
	if err := errors.Join(sim.seed(t.Ctx, cfg), sim.payments.registerWebhook(p.server.address())); err != nil {
		return p.Abort(err)
	}
	// With the real port, so that links of the operator's commands lead here.
	cfg.BaseURL, cfg.Server.Listen = p.cfg.BaseURL, p.server.address()
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
		if announceErr = c.printWelcome(t, newSandboxInfo(baseURL, p.server.address(), configPath, sim), logPath); announceErr != nil {
			stop()
		}
	})
	return errors.Join(announceErr, err)
}

// seed makes the demo customer, or finds it. Passwords are hashed right here: the
// service would have it done at a low priority, and somebody waits for the start.
func (s *simulation) seed(ctx context.Context, cfg config.Config) error {
	services, err := OpenServices(ctx, cfg, slog.New(slog.DiscardHandler), s.now)
	if err != nil {
		return err
	}
	return errors.Join(s.demo.seed(ctx, services, cfg.Data, s.payments.provider), services.Close())
}

// runWorld keeps the world up for a product in another process.
func (c sandboxCommand) runWorld(t *Terminal, cfg config.Config, sim simulation) error {
	if err := errors.Join(sim.seed(t.Ctx, cfg), sim.payments.registerWebhook(c.Listen)); err != nil {
		return err
	}
	path, err := c.writeConfig(cfg)
	if err != nil {
		return err
	}
	if c.Info != "" {
		if err := newSandboxInfo(cfg.BaseURL, "", path, sim).write(c.Info); err != nil {
			return err
		}
	}
	fmt.Fprintf(t.Out, "Die simulierte Welt läuft. / The simulated world is up.\n\n  dotkontor serve --config %s\n\nready %s\n", path, path)
	<-t.Ctx.Done()
	return nil
}

// writeConfig writes the file by which 'dotkontor serve' and the operator's
// commands find this world.
func (c sandboxCommand) writeConfig(cfg config.Config) (string, error) {
	path := filepath.Join(c.Data, SandboxConfigFile)
	if err := cfg.Write(path); err != nil {
		return "", fmt.Errorf("the configuration file: %w", err)
	}
	return path, nil
}

// printWelcome tells people and scripts where everything is.
func (c sandboxCommand) printWelcome(t *Terminal, info sandboxInfo, logPath string) error {
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
