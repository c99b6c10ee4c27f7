package check

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/store"
)

// oneShotDeadline bounds the lookup of one name in a batch. Many names may queue for the
// same host, while each query to a source has its own short timeout.
const oneShotDeadline = 5 * time.Minute

// lookupFlags select the sources of a command: the service's own configuration file.
type lookupFlags struct {
	Config  string `env:"DOTKONTOR_CONFIG" help:"Configuration file of the service (TOML): sources, limits, timeouts, price list. Default: the public registries." placeholder:"FILE"`
	Refresh bool   `help:"Fetch IANA's RDAP bootstrap first instead of using the embedded copy."`
}

// load returns the configuration and the current price list.
func (o lookupFlags) load(t *cli.Terminal) (config.Config, *catalog.Catalog, error) {
	cfg, err := config.Load(o.Config, t.Env)
	if err != nil {
		return cfg, nil, err
	}
	edition, err := store.ReadPriceList(t.Ctx, app.StoreOptions(cfg))
	return cfg, edition.List, err
}

// open connects to the sources. concurrency bounds the names that are looked up at a
// time.
func (o lookupFlags) open(t *cli.Terminal, cfg config.Config, list *catalog.Catalog, concurrency int) (*app.Lookups, error) {
	cfg.Lookup.Deadline = config.Duration(max(oneShotDeadline, time.Duration(cfg.Lookup.Deadline)))
	cfg.Lookup.MaxConcurrent = concurrency
	// All of them may queue for one host, and none may be rejected there.
	cfg.Upstream.PerHostWaiting = max(cfg.Upstream.PerHostWaiting, concurrency)
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
