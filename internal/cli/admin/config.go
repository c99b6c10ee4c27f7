// Package admin has the commands with which operators manage a service.
package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

type ConfigCommand struct {
	Check  configCheckCommand  `cmd:"" help:"Report every problem with a configuration file."`
	NewKey configNewKeyCommand `cmd:"" help:"Print a new key for secret_key."`
	KeyID  configKeyIDCommand  `cmd:"" name:"key-id" help:"Print the IDs of the configured secret keys, or of one on standard input."`
	Rotate rotateKeyCommand    `cmd:"" name:"rotate-key" help:"Replace the secret key while nodes are running, or show what is sealed with which key."`
}

type configNewKeyCommand struct{}

// Run prints a key and stores it nowhere.
func (configNewKeyCommand) Run(t *cli.Terminal) error {
	return t.Println("%s", config.NewKey())
}

type configCheckCommand struct {
	Config  string `arg:"" optional:"" env:"DOTKONTOR_CONFIG" help:"The file (TOML). Without one, the defaults and the environment are checked."`
	Connect bool   `help:"Also connect to every upstream: database, registries, payment provider, mail server, VIES, resolvers, IANA."`
}

// Run checks everything that serve reads, and starts nothing. It prints a line for each
// finding, so that one run shows all of them.
func (c configCheckCommand) Run(t *cli.Terminal) error {
	f := findings{out: t.Out}
	cfg, err := config.Load(c.Config, t.Env)
	f.fail(err)
	if err != nil && cfg.Data == "" { // the file itself could not be read
		return cli.ExitCode(cli.ExitError)
	}
	if cfg.Data != "" {
		if err := checkFolder(cfg.Data); err != nil {
			f.fail(fmt.Errorf("data: %w", err))
		}
	}
	f.fail(errors.Join(app.CheckTLSFiles(cfg)...))                      // config.Load reports files that do not exist
	if err == nil || !strings.Contains(err.Error(), "database.url: ") { // reported already
		f.fail(sqldb.CheckTransport(app.StoreOptions(cfg)))
	}
	for _, warning := range cfg.Warnings() {
		fmt.Fprintln(t.Out, cli.StatusWarn, warning)
	}
	if f.failed {
		if c.Connect {
			f.fail(errors.New("--connect: not tried; correct the configuration first"))
		}
		return cli.ExitCode(cli.ExitError)
	}
	extensions := checkDatabase(t, cfg, &f, c.Connect)
	if c.Connect {
		f.fail(probeUpstreams(t, cfg, &f))
	}
	if f.failed {
		return cli.ExitCode(cli.ExitError)
	}
	return t.Println("ok: %s on %s, %d extensions", cfg.BaseURL, cfg.Server.Listen, extensions)
}

// findings prints each failure as a line, in the order in which they are found.
type findings struct {
	out    io.Writer
	failed bool
}

// fail prints a line for each error that err joins, and nothing for nil.
func (f *findings) fail(err error) {
	if err == nil {
		return
	}
	f.failed = true
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintln(f.out, cli.StatusFail, strings.TrimSuffix(line, "\n"))
	}
}

// checkDatabase compares the secret keys with the database and reads the price list. A
// database that can't be opened is reported once.
func checkDatabase(t *cli.Terminal, cfg config.Config, f *findings, connect bool) (extensions int) {
	ctx, cancel := context.WithTimeout(t.Ctx, databaseCheckTimeout)
	defer cancel()
	begun := time.Now()
	engine := "database (SQLite)"
	if cfg.Database.URL != "" {
		engine = "database (PostgreSQL)"
	}
	if err := app.CheckLostDatabase(app.StoreOptions(cfg)); err != nil {
		f.fail(err)
		return 0
	}
	db, err := store.OpenExisting(ctx, app.StoreOptions(cfg))
	if err != nil {
		f.fail(fmt.Errorf("%s: %w; secret_key and the price list were not checked", engine, databaseSettings.explain(err)))
		return 0
	}
	if connect {
		printConnected(t.Out, engine, time.Since(begun))
	}
	f.fail(checkKeys(ctx, cfg, db))
	if db != nil {
		f.fail(db.Close())
	}
	edition, err := store.ReadPriceList(ctx, app.StoreOptions(cfg))
	if err != nil {
		f.fail(fmt.Errorf("price list: %w", err))
		return 0
	}
	return edition.List.Len()
}

// checkFolder returns the reason why a folder can't be created or written to. It creates nothing.
func checkFolder(folder string) error {
	at, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	for {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s can't be used as a folder: %s is a file", folder, at)
		case err == nil && !canWrite(at):
			return fmt.Errorf("%s can't be created or written to: this user has no write permission for %s", folder, at)
		case err == nil:
			return nil
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return err
		}
		parent := filepath.Dir(at)
		if parent == at {
			return err
		}
		at = parent
	}
}
