package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/store"
)

// keyFile holds the key that seals second factors, beside the database that they
// are in.
const keyFile = "secret.key"

// accounts is everything about customers. The service and the operator's
// commands open the same.
type accounts struct {
	db *store.DB
}

// openAccounts opens the database and what works on it. The caller closes it.
func openAccounts(ctx context.Context, cfg config.Config, _ *slog.Logger, _ func() time.Time) (*accounts, error) {
	if _, err := sealKey(cfg); err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, store.Options{
		URL: cfg.Database.URL, Data: cfg.Data, MaxConnections: cfg.Database.MaxConnections,
	})
	if err != nil {
		return nil, err
	}
	return &accounts{db: db}, nil
}

func (a *accounts) close() error { return a.db.Close() }

// sealKey is the configured key, or the one in the data folder, which is made if
// there is none yet.
func sealKey(cfg config.Config) ([config.KeySize]byte, error) {
	if cfg.SecretKey != "" {
		return config.ParseKey(cfg.SecretKey)
	}
	path := filepath.Join(cfg.Data, keyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKeyFile(path); err != nil {
			return [config.KeySize]byte{}, fmt.Errorf("the key in the data folder: %w", err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return [config.KeySize]byte{}, fmt.Errorf("the key in the data folder: %w", err)
	}
	key, err := config.ParseKey(string(text))
	if err != nil {
		// A new one would make every second factor useless without a word.
		return key, fmt.Errorf("%s: %w, but what was sealed with the lost one stays sealed; better restore the file from the backup", path, err)
	}
	return key, nil
}

// makeKeyFile puts a whole key in place, or leaves the one that another process
// has put there meanwhile.
func makeKeyFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), keyFile+".*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	_, err = fmt.Fprintln(draft, config.NewKey())
	if err := errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
