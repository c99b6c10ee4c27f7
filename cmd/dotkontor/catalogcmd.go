package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/store"
)

type catalogCommand struct {
	Export catalogExportCommand `cmd:"" help:"Print the price list in force, as CSV."`
	Diff   catalogDiffCommand   `cmd:"" help:"Say what an import of a file would change."`
	Import catalogImportCommand `cmd:"" help:"Put a price list in force. A running service takes it up within seconds; one wrong row, and nothing changes."`
}

// catalogPlace says which service's price list is meant.
type catalogPlace struct {
	Config string `help:"Configuration file of the service. Default: $$DOTKONTOR_CONFIG." xor:"place"`
	Data   string `help:"Data folder of the service. Default: that of the sandbox." xor:"place"`
}

func (p catalogPlace) file(t *terminal) (store.CatalogFile, error) {
	path := p.Config
	if p.Data != "" {
		return store.NewCatalogFile(p.Data), nil
	}
	if path == "" { // a flag beats the environment, so it is looked at last
		path = t.variable("DOTKONTOR_CONFIG")
	}
	if path == "" {
		return store.NewCatalogFile(sandboxData), nil
	}
	cfg, err := config.Load(path, t.environment)
	if err != nil {
		return store.CatalogFile{}, err
	}
	return store.NewCatalogFile(cfg.Data), nil
}

type catalogExportCommand struct{ catalogPlace }

// Run prints the list.
func (c catalogExportCommand) Run(t *terminal) error {
	file, err := c.file(t)
	if err != nil {
		return err
	}
	list, err := file.Load()
	if err != nil {
		return err
	}
	return list.Write(t.out)
}

type catalogDiffCommand struct {
	catalogPlace
	File string `arg:"" help:"The new price list (CSV), or - for standard input."`
}

// Run prints the differences.
func (c catalogDiffCommand) Run(t *terminal) error {
	_, _, changes, err := compare(t, c.catalogPlace, c.File)
	if err != nil {
		return err
	}
	return printChanges(t.out, changes)
}

type catalogImportCommand struct {
	catalogPlace
	File string `arg:"" help:"The new price list (CSV), or - for standard input."`
}

// Run checks the whole list and then replaces the old one.
func (c catalogImportCommand) Run(t *terminal) error {
	file, next, changes, err := compare(t, c.catalogPlace, c.File)
	if err != nil {
		return err
	}
	if err := file.Replace(next); err != nil {
		return fmt.Errorf("the price list was not replaced: %w", err)
	}
	if err := printChanges(t.out, changes); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, "in force: %d extensions, in %s\n", next.Len(), file.Path())
	return err
}

func compare(t *terminal, place catalogPlace, path string) (store.CatalogFile, *catalog.Catalog, []catalog.Change, error) {
	file, err := place.file(t)
	if err != nil {
		return file, nil, nil, err
	}
	text, err := readInput(t, path)
	if err != nil {
		return file, nil, nil, err
	}
	next, err := catalog.Parse(bytes.NewReader(text))
	if err != nil {
		return file, nil, nil, fmt.Errorf("%s was refused, nothing was changed:\n%w", path, err)
	}
	current, err := file.Load()
	if err != nil {
		// A broken list in force must not stand in the way of its replacement.
		fmt.Fprintln(t.err, "dotkontor:", err)
		if current, err = catalog.Shipped(); err != nil {
			return file, nil, nil, err
		}
	}
	return file, next, current.Diff(next), nil
}

func readInput(t *terminal, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(t.in)
	}
	return os.ReadFile(path)
}

func printChanges(out io.Writer, changes []catalog.Change) error {
	if len(changes) == 0 {
		_, err := fmt.Fprintln(out, "no changes")
		return err
	}
	for _, change := range changes {
		var err error
		switch {
		case change.Field != "":
			_, err = fmt.Fprintf(out, "~ %s %s: %s -> %s\n", change.TLD, change.Field, orNothing(change.Old), orNothing(change.New))
		case change.Old == "":
			_, err = fmt.Fprintf(out, "+ %s\n", change.New)
		default:
			_, err = fmt.Fprintf(out, "- %s\n", change.Old)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func orNothing(text string) string {
	if text == "" {
		return "(empty)"
	}
	return text
}
