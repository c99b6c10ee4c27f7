package check

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/store"
)

// oneShotDeadline is how long a command waits for the answer about one name. Many names
// of a batch stand behind one host and wait for their turn there, while each
// question to a source keeps its own, short time-out.
const oneShotDeadline = 5 * time.Minute

// lookupFlags is where the commands that ask once find their world: the same
// configuration file as the service's.
type lookupFlags struct {
	Config  string `env:"DOTKONTOR_CONFIG" help:"Configuration file of the service (TOML): which world, limits, time-outs, price list. Default: the real world." placeholder:"FILE"`
	Refresh bool   `help:"Fetch IANA's list of RDAP services first. Without it the list that came with the program is used, which saves a question."`
}

// load is the configuration and the price list in force.
func (o lookupFlags) load(t *cli.Terminal) (config.Config, *catalog.Catalog, error) {
	cfg, err := config.Load(o.Config, t.Env)
	if err != nil {
		return cfg, nil, err
	}
	edition, err := store.ReadPriceList(t.Ctx, app.StoreOptions(cfg))
	return cfg, edition.List, err
}

// open connects to the world. underWay bounds the names that are asked about at
// one moment.
func (o lookupFlags) open(t *cli.Terminal, cfg config.Config, list *catalog.Catalog, underWay int) (*app.Lookups, error) {
	cfg.Lookup.Deadline = config.Duration(max(oneShotDeadline, time.Duration(cfg.Lookup.Deadline)))
	cfg.Lookup.MaxConcurrent = underWay
	// All of them may stand behind one host, and none must be turned away there.
	cfg.Upstream.PerHostWaiting = max(cfg.Upstream.PerHostWaiting, underWay)
	look, err := app.OpenLookups(cfg, list)
	if err != nil {
		return nil, err
	}
	if !o.Refresh {
		return look, nil
	}
	if err := look.RDAP.Refresh(t.Ctx); err != nil {
		t.Notice("Die Liste der RDAP-Dienste ist nicht abrufbar, die mitgelieferte gilt.",
			"IANA's list of RDAP services can't be fetched; the one that came with the program is used.")
	}
	return look, nil
}
