package main

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

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/store"
)

type catalogCommand struct {
	Export catalogExportCommand `cmd:"" help:"Print the price list in force, as CSV."`
	Diff   catalogDiffCommand   `cmd:"" help:"Show what importing a file would change."`
	Sales  catalogSalesCommand  `cmd:"" help:"Show which extensions of the price list can be ordered, what is charged first, and why others are lookup only."`
	Import catalogImportCommand `cmd:"" help:"Replace the price list. All nodes use it within a second; one invalid row, and nothing changes."`
	Reset  catalogResetCommand  `cmd:"" help:"Return to the price list that ships with the program."`
}

// catalogPlace says which service's price list is meant.
type catalogPlace struct {
	Config string `help:"Configuration file of the service. Default: $$DOTKONTOR_CONFIG." xor:"place"`
	Data   string `help:"Data folder of the service. Default: that of the sandbox." xor:"place"`
}

func (p catalogPlace) load(t *terminal) (config.Config, error) {
	folder := p.folder(t)
	if folder == "" {
		return config.Load(cmp.Or(p.Config, t.variable("DOTKONTOR_CONFIG")), t.environment)
	}
	cfg := config.Default()
	cfg.Data = folder
	if p.Data == "" {
		if _, err := os.Stat(folder); err != nil {
			return cfg, errors.New("use --config FILE or --data FOLDER to name the service; there is no sandbox here")
		}
	}
	return cfg, nil
}

// folder is the data folder that is meant; it is empty if a configuration names the
// service. A flag beats the environment.
func (p catalogPlace) folder(t *terminal) string {
	if p.Data != "" || p.Config != "" || t.variable("DOTKONTOR_CONFIG") != "" {
		return p.Data
	}
	return sandboxData
}

type catalogExportCommand struct{ catalogPlace }

// Run prints the list.
func (c catalogExportCommand) Run(t *terminal) error {
	cfg, err := c.load(t)
	if err != nil {
		return err
	}
	edition, err := store.ReadPriceList(t.ctx, storeOptions(cfg))
	if err != nil {
		return err
	}
	return edition.List.Write(t.out)
}

type catalogDiffCommand struct {
	catalogPlace
	File string `arg:"" help:"The new price list (CSV), or - for standard input."`
}

// Run prints the differences.
func (c catalogDiffCommand) Run(t *terminal) error {
	cfg, err := c.load(t)
	if err != nil {
		return err
	}
	next, err := readPriceList(t, c.File)
	if err != nil {
		return err
	}
	current, err := store.ReadPriceList(t.ctx, storeOptions(cfg))
	if err != nil {
		return err
	}
	return printChanges(t.out, current.List.Diff(next))
}

type catalogImportCommand struct {
	catalogPlace
	Yes  bool   `help:"Import even if prices change by more than catalog.confirm_factor, or extensions disappear."`
	File string `arg:"" help:"The new price list (CSV), or - for standard input."`
}

// Run checks the whole list and then replaces the old one.
func (c catalogImportCommand) Run(t *terminal) error {
	next, err := readPriceList(t, c.File)
	if err != nil {
		return err
	}
	return c.replace(t, next, c.Yes)
}

type catalogResetCommand struct {
	catalogPlace
	Yes bool `help:"Reset even if prices change by more than catalog.confirm_factor, or extensions disappear."`
}

// Run puts the shipped list in force, also that of a later version of the program.
func (c catalogResetCommand) Run(t *terminal) error { return c.replace(t, nil, c.Yes) }

// replace puts next in force, nil for the shipped list.
func (p catalogPlace) replace(t *terminal, next *catalog.Catalog, confirmed bool) error {
	cfg, err := p.load(t)
	if err != nil {
		return err
	}
	// A folder that was named by mistake, or that of a service on PostgreSQL, must not get
	// a database that no service reads. A configuration names its database itself.
	if folder := p.folder(t); folder != "" && !store.Exists(storeOptions(cfg)) {
		return fmt.Errorf("there is no database in %s; use --config to name the service", folder)
	}
	opening, cancel := context.WithTimeout(t.ctx, openTimeout)
	defer cancel()
	db, err := store.Open(opening, storeOptions(cfg))
	if err != nil {
		return err
	}
	return errors.Join(replacePriceList(t, db, cfg.Catalog.ConfirmFactor, next, confirmed), db.Close())
}

func replacePriceList(t *terminal, db *store.DB, factor float64, next *catalog.Catalog, confirmed bool) error {
	shipped, err := catalog.Shipped()
	if err != nil {
		return err
	}
	current, err := db.PriceList(t.ctx)
	if current.List == nil {
		if current.Number == 0 {
			return err
		}
		// An invalid list in force must not stand in the way of its replacement.
		fmt.Fprintf(t.err, "dotkontor: %v\ndotkontor: comparing with the shipped list instead\n", err)
		current.List = shipped
	}
	compared := next
	if compared == nil {
		compared = shipped
	}
	changes := current.List.Diff(compared)
	if err := printChanges(t.out, changes); err != nil {
		return err
	}
	if risky := catalog.NeedConfirmation(changes, factor); risky > 0 && !confirmed {
		return fmt.Errorf("nothing was changed: %d prices change by more than a factor of %g, or extensions disappear; check the list above, then repeat with --yes", risky, factor)
	}
	edition, err := db.ReplacePriceList(t.ctx, current, next, priceListEvent(
		registrar.Actor{Kind: registrar.ActorOperator, Through: systemUser()}, compared, len(changes)))
	if errors.Is(err, catalog.ErrEditionConflict) {
		return errors.New("nothing was changed: another import was faster; run catalog diff again")
	}
	if err != nil {
		return fmt.Errorf("nothing was changed: %w", err)
	}
	_, err = fmt.Fprintf(t.out, "in force: %d extensions, edition %d\n", edition.List.Len(), edition.Number)
	return err
}

// priceListEvent is what the audit log says about a new price list.
func priceListEvent(by registrar.Actor, next *catalog.Catalog, changes int) registrar.Deed {
	return registrar.Deed{
		Actor: by, Action: office.Repriced, Object: fmt.Sprintf("%d extensions, %d changes", next.Len(), changes), At: time.Now(),
	}
}

// readPriceList reads and checks a file, or standard input.
func readPriceList(t *terminal, path string) (*catalog.Catalog, error) {
	text, err := readInput(t, path)
	if err != nil {
		return nil, err
	}
	list, err := catalog.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s is invalid, nothing was changed:\n%w", path, err)
	}
	return list, nil
}

func readInput(t *terminal, path string) ([]byte, error) {
	in := t.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
	}
	// One byte more than is allowed, so that catalog.Parse sees that it is too much.
	return io.ReadAll(io.LimitReader(in, catalog.MaxBytes+1))
}

func printChanges(out io.Writer, changes []catalog.Change) error {
	if len(changes) == 0 {
		_, err := fmt.Fprintln(out, "no changes")
		return err
	}
	came, went, changed := 0, 0, 0
	for _, change := range changes {
		var err error
		switch {
		case change.Field != "":
			changed++
			_, err = fmt.Fprintf(out, "~ %s %s: %s -> %s\n", change.TLD, change.Field, orNothing(change.Old), orNothing(change.New))
		case change.Old == "":
			came++
			_, err = fmt.Fprintf(out, "+ %s\n", change.New)
		default:
			went++
			_, err = fmt.Fprintf(out, "- %s\n", change.Old)
		}
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d extensions come, %d go, %d values change\n", came, went, changed)
	return err
}

func orNothing(text string) string {
	if text == "" {
		return "(empty)"
	}
	return text
}

type catalogSalesCommand struct {
	servicePlace
	LookupOnly bool `help:"Show only extensions that can't be ordered."`
}

// Run decides as the service does, from its configuration. No registry is asked.
func (c catalogSalesCommand) Run(t *terminal) error {
	cfg, err := c.load(t)
	if err != nil {
		return err
	}
	edition, err := store.ReadPriceList(t.ctx, storeOptions(cfg))
	if err != nil {
		return err
	}
	list := edition.List
	registries, err := openRegistries(cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer registries.close()
	sold, shown := newSales(cfg, registries), 0
	for _, ext := range list.All() {
		sale := sold.of(ext)
		if c.LookupOnly && sale.NoRegistration == "" {
			continue
		}
		shown++
		if _, err := fmt.Fprintln(t.out, saleLine(ext, sale)); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(t.out, "%d of %d extensions\n", shown, list.Len())
	return err
}

// saleLine is one extension: what is charged first, and whether it can be ordered.
func saleLine(ext registrar.Extension, sale registrar.Sale) string {
	words := "orderable"
	switch {
	case sale.NoRegistration != "":
		words = "lookup only: " + string(sale.NoRegistration)
		if ext.Requires != "" {
			words += " (" + ext.Requires + ")"
		}
	case sale.NoTransfer != "":
		words = "orderable, no transfers: " + string(sale.NoTransfer)
	}
	return fmt.Sprintf("%-24s %2dy %9s EUR  %s", ext.TLD, ext.Term(), ext.Register*registrar.Cents(ext.Term()), words)
}
