package admin

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/store"
)

type databaseFlags struct {
	Config string `help:"Configuration file of the service. Default: $$DOTKONTOR_CONFIG, or the environment's $$DOTKONTOR_DATA and $$DOTKONTOR_DATABASE_URL." xor:"place" placeholder:"FILE"`
	Data   string `help:"Data folder of a service with SQLite, such as the sandbox's." xor:"place" placeholder:"FOLDER"`
}

func (p databaseFlags) options(t *cli.Terminal) (store.Options, error) {
	if p.Data != "" {
		return store.Options{Data: p.Data}, nil
	}
	path := cmp.Or(p.Config, t.Getenv("DOTKONTOR_CONFIG"))
	if path == "" && t.Getenv("DOTKONTOR_DATABASE_URL") == "" && t.Getenv("DOTKONTOR_DATA") == "" {
		// There is no default, because backing up the wrong database is worse than failing.
		return store.Options{}, cli.UsageError("select a service with --config FILE or --data FOLDER (the sandbox uses " + cli.SandboxData + ")")
	}
	cfg, err := config.Load(path, t.Env)
	if err != nil {
		return store.Options{}, err
	}
	return app.StoreOptions(cfg), nil
}

type BackupCommand struct {
	databaseFlags
	File string `arg:"" help:"Backup file, or - for standard output."`
}

// Run writes a backup of a running service. The file appears only once it is complete.
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
		return fmt.Errorf("backup failed: %w", err)
	}
	key := "secret_key of the configuration"
	if options.URL == "" {
		key = "secret.key in the data folder"
	}
	t.Notice("%d rows of %d tables, schema %d", summary.Rows, summary.Tables, summary.Schema)
	t.Notice("not included: %s; no service starts with this database without it", key)
	return nil
}

type RestoreCommand struct {
	databaseFlags
	File string `arg:"" help:"Backup file, or - for standard input."`
}

// Run restores a backup into an empty database of either engine.
func (c RestoreCommand) Run(t *cli.Terminal) error {
	options, err := c.options(t)
	if err != nil {
		return err
	}
	in, err := t.Open(c.File)
	if err != nil {
		return err
	}
	defer in.Close()
	summary, err := store.Restore(t.Ctx, options, bufio.NewReaderSize(in, 256<<10))
	if err != nil {
		return err
	}
	return t.Println("restored: %d rows of %d tables, as of %s", summary.Rows, summary.Tables, summary.MadeAt.UTC().Format(time.RFC3339))
}
