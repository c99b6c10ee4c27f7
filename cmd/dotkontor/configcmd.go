package main

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/store"
)

type configCommand struct {
	Check  configCheckCommand  `cmd:"" help:"Say everything that is wrong with a configuration file."`
	NewKey configNewKeyCommand `cmd:"" help:"Print a fresh key for the setting secret_key."`
}

type configNewKeyCommand struct{}

// Run prints a key and keeps it nowhere.
func (configNewKeyCommand) Run(t *terminal) error {
	_, err := fmt.Fprintln(t.out, config.NewKey())
	return err
}

type configCheckCommand struct {
	Config string `arg:"" optional:"" env:"DOTKONTOR_CONFIG" help:"The file (TOML). Without one, the defaults and the environment are checked."`
}

// Run reads all that serve would read, and starts nothing.
func (c configCheckCommand) Run(t *terminal) error {
	cfg, err := config.Load(c.Config, t.environment)
	if err != nil {
		return err
	}
	list, err := store.NewCatalogFile(cfg.Data).Load()
	if err != nil {
		return err
	}
	if cfg.Server.TLSCert != "" {
		if _, err := newCertificate(cfg.Server.TLSCert, cfg.Server.TLSKey, slog.New(slog.DiscardHandler), time.Now); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(t.out, "ok: %s on %s, %d extensions\n", cfg.BaseURL, cfg.Server.Listen, list.Len())
	return err
}
