// Package check has the commands that look up names: check and whois.
package check

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
)

type Command struct {
	Names []string `arg:"" optional:"" help:"Names with or without an extension; - or none reads them from standard input, one per line."`

	TLDs     []string `name:"tlds" help:"Extensions for names without one: popular, all, or a list like .de,.com. Default: the eight of a search." placeholder:"LIST"`
	Suggest  bool     `help:"Also check similar names: hyphens, prefixes, plurals."`
	OnlyFree bool     `help:"Show free names only."`
	JSON     bool     `name:"json" xor:"format" help:"Print one JSON array at the end."`
	NDJSON   bool     `name:"ndjson" xor:"format" help:"Print one JSON object per line, as results arrive."`
	CSV      bool     `name:"csv" xor:"format" help:"Print CSV with a header."`
	Jobs     int      `help:"Concurrent lookups, up to 512. Default: 512, or 8 with --server." placeholder:"N"`
	Server   string   `help:"Query a running service at this URL instead of the registries, within its rate limits." placeholder:"URL"`
	lookupFlags
}

// Help extends the output of --help.
func (Command) Help() string {
	return `A name without a dot is checked under the extensions of --tlds. A name with an
extension is checked as given and, if --tlds is set, also under those
extensions. In a list, empty lines and text after # are ignored. A batch has at
most 100,000 names.

Results are in the order of the names; --ndjson prints them as they arrive.
"popular" and "all" begin with the eight extensions of a search, then those
that the price list marks as popular, then the rest by name.

Registry accounts in the configuration are queried first, with many names in
one command. Without one, each public host gets at most 20 queries per second
(per_host_per_second). More than half of all extensions share a host, so
--tlds all takes about 13 seconds; the most popular ones come first.

Exit code: 0 at least one name is free, 2 none is free, 1 every lookup failed,
64 usage error, 130 interrupted (results so far are printed). Prices are net
euros per year; 2×87.90 means that the minimum term is two years. "lookup only"
marks free names that can't be ordered from the configured service; --json and
--csv include the reason (orderableReason).

  dotkontor check kaffeehaus.de teehaus.com
  dotkontor check kaffeehaus --tlds popular --only-free
  dotkontor check kaffeehaus --suggest --tlds .de,.com --csv
  dotkontor check --ndjson < names.txt`
}

const (
	// maxJobs is enough for one name under all extensions: a registry account checks them
	// in a few commands, and a slow host delays only its own.
	maxJobs           = 512
	defaultServerJobs = 8

	// gcPercent saves a short process most of its collections: a quarter of the CPU time
	// of a name under all extensions.
	gcPercent = 400
)

// AfterApply validates the flags.
func (c *Command) AfterApply() error {
	if c.Jobs < 0 || c.Jobs > maxJobs {
		return fmt.Errorf("--jobs must be between 1 and %d, not %d", maxJobs, c.Jobs)
	}
	if c.Server == "" {
		c.Jobs = cmp.Or(c.Jobs, maxJobs)
		return nil
	}
	c.Jobs = cmp.Or(c.Jobs, defaultServerJobs)
	if c.Refresh {
		return fmt.Errorf("--refresh has no effect with --server")
	}
	address, err := url.Parse(c.Server)
	if err != nil || address.Host == "" || address.User != nil || address.RawQuery != "" || address.Fragment != "" ||
		address.Scheme != "http" && address.Scheme != "https" {
		return fmt.Errorf("--server %q is not a URL like https://domains.example", c.Server)
	}
	c.Server = strings.TrimSuffix(c.Server, "/")
	return nil
}

// Run checks every name and summarises the results in the exit code.
func (c *Command) Run(t *cli.Terminal) error {
	if t.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	cfg, list, err := c.load(t)
	if err != nil {
		return err
	}
	names, err := c.names(t, list)
	if err != nil {
		return err
	}
	b := &batch{names: names, jobs: min(c.Jobs, len(names)), redrawInterval: redrawInterval, now: time.Now}
	if c.Server != "" {
		err = c.prepareService(t, b, newService(c.Server))
	} else {
		var look *app.Lookups
		if look, err = c.open(t, cfg, list, b.jobs); err == nil {
			b.ask = func(ctx context.Context, name string) row {
				answer, err := look.Engine.Check(ctx, name)
				return newRow(name, answer, err)
			}
			if wait, text := forecastHosts(cfg, list, names); wait > 0 {
				t.Notice("%s", text)
				end := b.now().Add(wait)
				b.estimateEnd = func(int) time.Time { return end }
			}
			// Not closed: lookups in flight after Ctrl-C end with the process.
		}
	}
	if err != nil {
		return err
	}
	c.show(t, b)
	outcome, err := b.run(t.Ctx)
	if err != nil {
		return err
	}
	if outcome.interrupted {
		t.Notice("interrupted, %d of %d done", outcome.done, len(names))
	}
	if code := outcome.exitCode(); code != cli.ExitOK {
		return cli.ExitCode(code)
	}
	return nil
}

// names returns the whole batch, with names from standard input and suggestions.
func (c *Command) names(t *cli.Terminal, list *catalog.Catalog) ([]string, error) {
	given := c.Names
	if len(given) == 0 {
		given = []string{"-"}
		if cli.TerminalFile(t.In) != nil {
			t.Notice("enter one name per line, end with Ctrl-D")
		}
	}
	var texts []string
	for _, text := range given {
		if text != "-" {
			texts = append(texts, text)
			continue
		}
		read, err := readNames(t.Ctx, t.In)
		if err != nil {
			return nil, err
		}
		texts = append(texts, read...)
	}
	if len(texts) == 0 {
		return nil, cli.UsageError("no names were given")
	}
	tlds, err := chooseExtensions(c.TLDs, list, c.Server == "")
	if err != nil {
		return nil, err
	}
	return nameExpansion{
		tlds: tlds, alsoTLDs: len(c.TLDs) > 0, suggest: c.Suggest,
		listed: func(tld string) bool { _, carried := list.Extension(tld); return carried },
	}.expand(texts)
}

func (c *Command) show(t *cli.Terminal, b *batch) {
	s := newScreen(t)
	switch {
	case c.JSON:
		b.printer = newJSONPrinter(t.Out)
	case c.NDJSON:
		b.printer = ndjsonPrinter{t.Out}
	case c.CSV:
		b.printer = newCSVPrinter(t.Out)
	case s.live:
		b.printer = newLivePrinter(t.Out, s, b.names, c.OnlyFree)
	default:
		b.printer = newPlainPrinter(t.Out, b.names)
	}
	b.onlyFree = c.OnlyFree
	// Progress goes to standard error only if it can't mix with results.
	if cli.TerminalFile(t.Err) != nil && t.Getenv("TERM") != "dumb" && (c.JSON || cli.TerminalFile(t.Out) == nil) {
		b.progress = t.Err
	}
}

// prepareService checks the first name to learn the limits and prints an estimate for the rest.
func (*Command) prepareService(t *cli.Terminal, b *batch, service *service) error {
	b.ask = service.check
	b.estimateEnd = service.pacer.forecast
	first, answered, err := service.probeLimits(t.Ctx, b.names[0])
	if err != nil {
		return err
	}
	rest := len(b.names)
	if answered {
		b.first = &first
		if rest--; rest == 0 {
			return nil
		}
	}
	windows, advertised := service.pacer.limits()
	t.Notice("%s", announcement(len(b.names), windows, advertised, service.pacer.now(), service.pacer.forecast(rest)))
	return nil
}

const (
	// oneShotDeadline bounds the lookup of one name in a batch. Many names may queue for
	// the same host, while each query to a source has its own short timeout.
	oneShotDeadline = 5 * time.Minute
	// eppQueueTime is added to the timeout of a registry account for each name that may be
	// in its queue: a check command of 50 names in a second.
	eppQueueTime = 20 * time.Millisecond
)

// lookupFlags select the sources of a command: the service's own configuration file.
type lookupFlags struct {
	Config  string `env:"DOTKONTOR_CONFIG" help:"Configuration file of the service (TOML): sources, limits, timeouts, price list. Default: the public registries." placeholder:"FILE"`
	Refresh bool   `help:"Fetch IANA's RDAP bootstrap first instead of using the embedded copy."`
}

func (o lookupFlags) load(t *cli.Terminal) (config.Config, *catalog.Catalog, error) {
	cfg, err := config.Load(o.Config, t.Env)
	if err != nil {
		return cfg, nil, err
	}
	edition, err := store.ReadPriceList(t.Ctx, app.StoreOptions(cfg))
	return cfg, edition.List, err
}

// open connects to the sources. concurrency bounds the names that are looked up at a time.
func (o lookupFlags) open(t *cli.Terminal, cfg config.Config, list *catalog.Catalog, concurrency int) (*app.Lookups, error) {
	cfg.Lookup.Deadline = config.Duration(max(oneShotDeadline, time.Duration(cfg.Lookup.Deadline)))
	cfg.Lookup.MaxConcurrent = concurrency
	// All of them may queue for one host, and none may be rejected there.
	cfg.Upstream.PerHostWaiting = max(cfg.Upstream.PerHostWaiting, concurrency)
	for i := range cfg.EPP {
		timeout := &cfg.EPP[i].LookupTimeout
		*timeout = cmp.Or(*timeout, config.Duration(epp.DefaultLookupTimeout)) + config.Duration(time.Duration(concurrency)*eppQueueTime)
	}
	look, err := app.OpenLookups(cfg, list)
	if err != nil {
		return nil, err
	}
	if !o.Refresh {
		return look, nil
	}
	if err := look.RDAP.Refresh(t.Ctx); err != nil {
		t.Notice("IANA's RDAP bootstrap can't be fetched; using the embedded copy")
	}
	return look, nil
}
