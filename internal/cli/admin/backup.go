package admin

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/store"
)

// databaseFlags says which service's database is meant.
type databaseFlags struct {
	Config string `help:"Configuration file of the service. Default: $$DOTKONTOR_CONFIG, or the environment's $$DOTKONTOR_DATA and $$DOTKONTOR_DATABASE_URL." xor:"place" placeholder:"FILE"`
	Data   string `help:"Data folder of a service with SQLite, such as the sandbox's." xor:"place" placeholder:"FOLDER"`
}

func (p databaseFlags) options(t *cli.Terminal) (store.Options, error) {
	if p.Data != "" {
		return store.Options{Data: p.Data}, nil
	}
	path := p.Config
	if path == "" { // a flag beats the environment, so it is looked at last
		path = t.Getenv("DOTKONTOR_CONFIG")
	}
	if path == "" && t.Getenv("DOTKONTOR_DATABASE_URL") == "" && t.Getenv("DOTKONTOR_DATA") == "" {
		// The wrong database is worse than none: nothing is guessed here.
		return store.Options{}, cli.UsageError("say which service is meant, with --config FILE or --data FOLDER (the sandbox's is " + cli.SandboxData + ")")
	}
	cfg, err := config.Load(path, t.Env)
	if err != nil {
		return store.Options{}, err
	}
	return app.StoreOptions(cfg), nil
}

type BackupCommand struct {
	databaseFlags
	File string `arg:"" help:"Where the backup goes, or - for standard output."`
}

// Run writes a backup while the service goes on. The file is there when it is
// whole, and not before.
func (c BackupCommand) Run(t *cli.Terminal) error {
	options, err := c.options(t)
	if err != nil {
		return err
	}
	var summary store.Summary
	write := func(out io.Writer) (err error) {
		summary, err = store.Backup(t.Ctx, options, time.Now(), out)
		return err
	}
	if c.File == "-" {
		err = write(t.Out)
	} else {
		err = app.WriteFileAtomic(c.File, write)
	}
	if err != nil {
		return fmt.Errorf("no backup was made: %w", err)
	}
	fmt.Fprintf(t.Err, "dotkontor: %d rows of %d tables, schema %d\n", summary.Rows, summary.Tables, summary.Schema)
	if options.URL == "" {
		t.Notice("Nicht enthalten: secret.key im Datenordner. Ohne den Schlüssel startet kein Dienst mit dieser Datenbank.",
			"Not in it: secret.key in the data folder. Without the key, no service starts with this database.")
	} else {
		t.Notice("Nicht enthalten: secret_key der Konfiguration. Ohne ihn startet kein Dienst mit dieser Datenbank.",
			"Not in it: the configuration's secret_key. Without it, no service starts with this database.")
	}
	return nil
}

type RestoreCommand struct {
	databaseFlags
	File string `arg:"" help:"The backup, or - for standard input."`
}

// Run fills an empty database from a backup, of the same kind or the other.
func (c RestoreCommand) Run(t *cli.Terminal) error {
	options, err := c.options(t)
	if err != nil {
		return err
	}
	in := t.In
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	summary, err := store.Restore(t.Ctx, options, bufio.NewReaderSize(in, 256<<10))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.Out, "restored: %d rows of %d tables, as of %s\n",
		summary.Rows, summary.Tables, summary.MadeAt.UTC().Format(time.RFC3339))
	return err
}
