package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
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
	if cfg.SecretKey == "" {
		var err error
		if keys, err = readKeyFile(filepath.Join(cfg.Data, KeyFile)); err != nil {
			return nil, err
		}
	} else {
		key, err := config.ParseKey(string(cfg.SecretKey))
		if err != nil {
			return nil, fmt.Errorf("secret_key: %w", err)
		}
		keys = append(keys, key)
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
	for _, word := range strings.Fields(string(text)) {
		var key registrar.SealKey
		if key, err = config.ParseKey(word); err != nil {
			break
		}
		keys = append(keys, key)
	}
	if err != nil || len(keys) == 0 { // a new key would make all sealed data unreadable
		return nil, fmt.Errorf("%s: %w, but a new key can't open existing values; restore the file from the backup", path, config.ErrBadKey)
	}
	return keys, nil
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

// WriteFileAtomic writes a file with mode 0600 through a temporary file, which replaces
// path once it is complete and synced.
func WriteFileAtomic(path string, write func(io.Writer) error) (err error) {
	draft, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // its mode is 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = draft.Close() // it may already be closed
			err = errors.Join(err, os.Remove(draft.Name()))
		}
	}()
	buffered := bufio.NewWriterSize(draft, 256<<10)
	if err := write(buffered); err != nil {
		return err
	}
	if err := errors.Join(buffered.Flush(), draft.Sync(), draft.Close()); err != nil {
		return err
	}
	return os.Rename(draft.Name(), path)
}
