package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/keyring"
	"github.com/dotkontor/dotkontor/internal/store"
)

// KeyFile holds the keys that encrypt columns of the database, one per line. The first
// start creates it with one key, and a rotation adds one.
const KeyFile = "secret.key"

// openKeyring checks the keys against the database. It creates a key if there is none
// and nothing is sealed yet.
func openKeyring(ctx context.Context, cfg config.Config, db *store.DB, logger *slog.Logger) (*keyring.Keyring, error) {
	if _, err := SealKeys(cfg); errors.Is(err, fs.ErrNotExist) {
		if err := keyring.CheckUnused(ctx, db); err != nil {
			return nil, err
		}
		if err := createKeyFile(filepath.Join(cfg.Data, KeyFile)); err != nil {
			return nil, fmt.Errorf("secret key in the data folder: %w", err)
		}
	}
	return keyring.Open(ctx, keyring.Config{
		Store: db, Load: func() ([]registrar.SealKey, error) { return SealKeys(cfg) }, Logger: logger,
	})
}

// SealKeys returns the configured keys, or those in the data folder, primary key first.
// The error is fs.ErrNotExist if there are neither.
func SealKeys(cfg config.Config) ([]registrar.SealKey, error) {
	var keys []registrar.SealKey
	if cfg.SecretKey != "" {
		key, err := config.ParseKey(string(cfg.SecretKey))
		if err != nil {
			return nil, fmt.Errorf("secret_key: %w", err)
		}
		keys = append(keys, key)
	} else {
		var err error
		if keys, err = readKeyFile(filepath.Join(cfg.Data, KeyFile)); err != nil {
			return nil, err
		}
	}
	for _, text := range cfg.AdditionalSecretKeys {
		key, err := config.ParseKey(string(text))
		if err != nil {
			return nil, fmt.Errorf("additional_secret_keys: %w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func readKeyFile(path string) ([]registrar.SealKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("secret key in the data folder: %w", err)
	}
	var keys []registrar.SealKey
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		key, err := config.ParseKey(line)
		if err != nil {
			return nil, keyFileError(path, err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, keyFileError(path, config.ErrBadKey)
	}
	return keys, nil
}

func keyFileError(path string, err error) error {
	// A new key would make all sealed data unreadable.
	return fmt.Errorf("%s: %w, but what was sealed with the lost one stays sealed; better restore the file from the backup", path, err)
}

// EditKeyFile replaces the keys in the data folder atomically.
func EditKeyFile(path string, edit func([]registrar.SealKey) []registrar.SealKey) error {
	keys, err := readKeyFile(path)
	if err != nil {
		return err
	}
	keys = edit(keys)
	return WriteFileAtomic(path, func(out io.Writer) error {
		for _, key := range keys {
			if _, err := fmt.Fprintln(out, config.FormatKey(key)); err != nil {
				return err
			}
		}
		return nil
	})
}

// WithoutKey returns an edit that removes the key with this id.
func WithoutKey(id string) func([]registrar.SealKey) []registrar.SealKey {
	return func(keys []registrar.SealKey) []registrar.SealKey {
		return slices.DeleteFunc(keys, func(key registrar.SealKey) bool { return key.KeyID() == id })
	}
}

// createKeyFile creates the file atomically, unless another process has created it.
func createKeyFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), KeyFile+".*") // mode 0600
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
