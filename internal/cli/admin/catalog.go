package admin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

type CatalogCommand struct {
	Export         catalogExportCommand    `cmd:"" help:"Print the current price list as CSV."`
	Diff           catalogDiffCommand      `cmd:"" help:"Show what importing a file would change."`
	Sales          catalogSalesCommand     `cmd:"" help:"Show which listed extensions can be ordered, the first charge of each, and why others are lookup only."`
	AllowBelowCost catalogBelowCostCommand `cmd:"" help:"Allow prices of an extension below what its registry charges."`
	Import         catalogImportCommand    `cmd:"" help:"Replace the price list. All nodes use it within a second; one invalid row rejects the whole list."`
	Reset          catalogResetCommand     `cmd:"" help:"Return to the price list that ships with the program."`
}

type catalogFlags struct {
	Config string `help:"Configuration file of the service. Default: $$DOTKONTOR_CONFIG." xor:"place"`
	Data   string `help:"Data folder of the service. Default: that of the sandbox." xor:"place"`
}

func (p catalogFlags) load(t *cli.Terminal) (config.Config, error) {
	folder := p.folder(t)
	if folder == "" {
		return config.Load(cmp.Or(p.Config, t.Getenv("DOTKONTOR_CONFIG")), t.Env)
	}
	cfg := config.Default()
	cfg.Data = folder
	if p.Data == "" {
		if _, err := os.Stat(folder); err != nil {
			return cfg, errors.New("select a service with --config FILE or --data FOLDER; there is no sandbox in this folder")
		}
	}
	return cfg, nil
}

// current returns the price list in force.
func (p catalogFlags) current(t *cli.Terminal) (*catalog.Catalog, error) {
	cfg, err := p.load(t)
	if err != nil {
		return nil, err
	}
	edition, err := store.ReadPriceList(t.Ctx, app.StoreOptions(cfg))
	return edition.List, err
}

// folder returns the selected data folder, "" if a configuration selects the service. A
// flag takes precedence over the environment.
func (p catalogFlags) folder(t *cli.Terminal) string {
	if p.Data != "" || p.Config != "" || t.Getenv("DOTKONTOR_CONFIG") != "" {
		return p.Data
	}
	return cli.SandboxData
}

type catalogExportCommand struct{ catalogFlags }

func (c catalogExportCommand) Run(t *cli.Terminal) error {
	current, err := c.current(t)
	if err != nil {
		return err
	}
	return current.Write(t.Out)
}

type catalogDiffCommand struct {
	catalogFlags
	File string `arg:"" help:"The new price list (CSV), or - for standard input."`
}

func (c catalogDiffCommand) Run(t *cli.Terminal) error {
	current, err := c.current(t)
	if err != nil {
		return err
	}
	next, err := readPriceList(t, c.File)
	if err != nil {
		return err
	}
	printChanges(t.Out, current.Diff(next))
	return nil
}

type catalogImportCommand struct {
	catalogFlags
	Yes  bool   `help:"Import even if prices change by more than catalog.confirm_factor, are below cost, or extensions disappear."`
	File string `arg:"" help:"The new price list (CSV), or - for standard input."`
}

// Run validates the whole list and then replaces the current one.
func (c catalogImportCommand) Run(t *cli.Terminal) error {
	next, err := readPriceList(t, c.File)
	if err != nil {
		return err
	}
	return c.replace(t, next, c.Yes)
}

type catalogResetCommand struct {
	catalogFlags
	Yes bool `help:"Reset even if prices change by more than catalog.confirm_factor, or extensions disappear."`
}

// Run activates the shipped list, also that of later versions of the program.
func (c catalogResetCommand) Run(t *cli.Terminal) error { return c.replace(t, nil, c.Yes) }

// replace activates next; nil means the shipped list.
func (p catalogFlags) replace(t *cli.Terminal, next *catalog.Catalog, confirmed bool) error {
	cfg, err := p.load(t)
	if err != nil {
		return err
	}
	// Never create a database in a wrong folder, or in that of a service that uses
	// PostgreSQL. A configuration selects its database itself.
	if folder := p.folder(t); folder != "" && !sqldb.Exists(app.StoreOptions(cfg)) {
		return fmt.Errorf("there is no database in %s; select the service with --config", folder)
	}
	openCtx, cancel := context.WithTimeout(t.Ctx, app.OpenTimeout)
	defer cancel()
	db, err := store.Open(openCtx, app.StoreOptions(cfg))
	if err != nil {
		return err
	}
	return errors.Join(replacePriceList(t, db, cfg.Catalog.ConfirmFactor, next, confirmed), db.Close())
}

func replacePriceList(t *cli.Terminal, db *store.DB, factor float64, next *catalog.Catalog, confirmed bool) error {
	shipped, err := catalog.Shipped()
	if err != nil {
		return err
	}
	current, err := db.PriceList(t.Ctx)
	if current.List == nil {
		if current.Number == 0 {
			return err
		}
		// An invalid current list must not prevent its replacement.
		fmt.Fprintf(t.Err, "dotkontor: %v\ndotkontor: comparing with the shipped list instead\n", err)
		current.List = shipped
	}
	compared := cmp.Or(next, shipped)
	changes := current.List.Diff(compared)
	printChanges(t.Out, changes)
	if risky := catalog.NeedConfirmation(changes, factor); risky > 0 && !confirmed {
		return fmt.Errorf("nothing was changed: %d prices change by more than a factor of %g, or extensions disappear; check the list above, then repeat with --yes", risky, factor)
	}
	below, err := printBelowCost(t, t.Out, db, compared)
	if err != nil {
		return err
	}
	if below > 0 && !confirmed {
		return fmt.Errorf("nothing was changed: %d prices are below cost; raise them, allow it with below_cost, or repeat with --yes", below)
	}
	edition, err := db.ReplacePriceList(t.Ctx, current, next, app.PriceListEvent(
		registrar.Actor{Kind: registrar.ActorOperator, Through: cli.SystemUser()}, compared, len(changes), time.Now()))
	if errors.Is(err, catalog.ErrEditionConflict) {
		return errors.New("nothing was changed: another import came first; run catalog diff again")
	}
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	return t.Println("in force: %d extensions, edition %d", edition.List.Len(), edition.Number)
}

func readPriceList(t *cli.Terminal, path string) (*catalog.Catalog, error) {
	in, err := t.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	// One byte more than allowed, so that catalog.Parse detects the excess.
	text, err := io.ReadAll(io.LimitReader(in, catalog.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	list, err := catalog.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s is invalid, nothing was changed:\n%w", path, err)
	}
	return list, nil
}

func printChanges(out io.Writer, changes []catalog.Change) {
	if len(changes) == 0 {
		fmt.Fprintln(out, "no changes")
		return
	}
	came, went, changed := 0, 0, 0
	for _, change := range changes {
		switch {
		case change.Field != "":
			changed++
			fmt.Fprintf(out, "~ %s %s: %s -> %s\n", change.TLD, change.Field, cmp.Or(change.Old, "(empty)"), cmp.Or(change.New, "(empty)"))
		case change.Old == "":
			came++
			fmt.Fprintf(out, "+ %s\n", change.New)
		default:
			went++
			fmt.Fprintf(out, "- %s\n", change.Old)
		}
	}
	fmt.Fprintf(out, "%d extensions added, %d removed, %d values changed\n", came, went, changed)
}

type catalogSalesCommand struct {
	cli.ServiceFlags
	LookupOnly bool `help:"Show only extensions that can't be ordered."`
}

// Run decides like the service, from its configuration. It queries no registry.
func (c catalogSalesCommand) Run(t *cli.Terminal) error {
	cfg, err := c.Load(t)
	if err != nil {
		return err
	}
	edition, err := store.ReadPriceList(t.Ctx, app.StoreOptions(cfg))
	if err != nil {
		return err
	}
	list := edition.List
	registries, err := app.OpenRegistries(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer registries.Close()
	// Only costs in euros count: reading rates would have to upgrade the schema.
	prices := &cost.Prices{}
	sold, shown := app.NewSales(cfg, registries), 0
	sold.Costs, sold.Now = prices, time.Now
	for _, ext := range list.All() {
		sale := sold.SaleOf(ext)
		if c.LookupOnly && sale.NoRegistration == "" {
			continue
		}
		shown++
		label := "orderable"
		switch {
		case sale.NoRegistration != "":
			label = "lookup only: " + string(sale.NoRegistration)
			if _, below := order.BelowCost(prices, ext, order.Register, time.Now()); below {
				label += " (below cost)"
			}
			if ext.Requires != "" {
				label += " (" + ext.Requires + ")"
			}
		case sale.NoTransfer != "":
			label = "orderable, no transfers: " + string(sale.NoTransfer)
		}
		fmt.Fprintf(t.Out, "%-24s %2dy %9s EUR  %s\n", ext.TLD, ext.Term(), ext.Register*registrar.Cents(ext.Term()), label)
	}
	return t.Println("%d of %d extensions", shown, list.Len())
}
