package main

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/store"
)

type configCommand struct {
	Check  configCheckCommand  `cmd:"" help:"Report everything that is wrong with a configuration file."`
	NewKey configNewKeyCommand `cmd:"" help:"Print a fresh key for the setting secret_key."`
	KeyID  configKeyIDCommand  `cmd:"" name:"key-id" help:"Print the ids of the configured secret keys, or of one on standard input."`
	Rotate rotateKeyCommand    `cmd:"" name:"rotate-key" help:"Replace the secret key while nodes are running, or show what is sealed with which key."`
}

type configNewKeyCommand struct{}

// Run prints a key and keeps it nowhere.
func (configNewKeyCommand) Run(t *terminal) error {
	_, err := fmt.Fprintln(t.out, config.NewKey())
	return err
}

type configCheckCommand struct {
	Config  string `arg:"" optional:"" env:"DOTKONTOR_CONFIG" help:"The file (TOML). Without one, the defaults and the environment are checked."`
	Connect bool   `help:"Also connect to every upstream: database, registries, payment provider, mail server, VIES, resolvers, IANA."`
}

// Run checks all that serve would read, and starts nothing. It prints a line for
// each finding, so that one run shows everything.
func (c configCheckCommand) Run(t *terminal) error {
	cfg, err := config.Load(c.Config, t.environment)
	var problems []error
	if err != nil {
		problems = append(problems, err)
	}
	unread := err != nil && cfg.Data == "" // the file itself could not be read
	if !unread {
		problems = append(problems, checkFiles(cfg)...)
		for _, warning := range cfg.Warnings() {
			fmt.Fprintln(t.out, statusWarn, warning)
		}
	}
	extensions := 0
	if err == nil {
		err = store.CheckTransport(storeOptions(cfg))
		problems = append(problems, err)
	}
	if err == nil {
		problems = append(problems, checkKeys(t, cfg))
		edition, err := store.ReadPriceList(t.ctx, storeOptions(cfg))
		if err != nil {
			problems = append(problems, fmt.Errorf("price list: %w", err))
		} else {
			extensions = edition.List.Len()
		}
		if c.Connect {
			problems = append(problems, probeUpstreams(t, cfg)...)
		}
	} else if c.Connect && !unread {
		problems = append(problems, errors.New("--connect: not tried; correct the configuration first"))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	_, err = fmt.Fprintf(t.out, "ok: %s on %s, %d extensions\n", cfg.BaseURL, cfg.Server.Listen, extensions)
	return err
}

// checkFiles reads the certificates and keys that the configuration names.
func checkFiles(cfg config.Config) (problems []error) {
	if cfg.Server.TLSCert != "" && cfg.Server.TLSKey != "" {
		if _, err := newCertificate(cfg.Server.TLSCert, cfg.Server.TLSKey, slog.New(slog.DiscardHandler), time.Now); err != nil {
			problems = append(problems, fmt.Errorf("server.tls_cert: %w", err))
		}
	}
	for _, account := range cfg.EPP {
		if _, err := eppTLS(account); err != nil {
			problems = append(problems, fmt.Errorf("epp %s: %w", account.Name, err))
		}
	}
	return problems
}
