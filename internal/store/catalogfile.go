package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
)

// CatalogFile is the imported price list in the data folder. Where there is
// none, the shipped list is in force.
//
// An import replaces the file by a rename, so a reader sees the old list or the
// new one and never half of each. A running service looks at the file every few
// seconds: no signal and no restart is needed, and it also works where the
// folder is shared between nodes.
type CatalogFile struct{ path string }

// NewCatalogFile is the price list of the data folder.
func NewCatalogFile(dataFolder string) CatalogFile {
	return CatalogFile{path: filepath.Join(dataFolder, "extensions.csv")}
}

// Path is where the file is.
func (f CatalogFile) Path() string { return f.path }

// Load returns the list in force.
func (f CatalogFile) Load() (*catalog.Catalog, error) {
	text, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return catalog.Shipped()
	}
	if err != nil {
		return nil, fmt.Errorf("the price list can't be read: %w", err)
	}
	list, err := catalog.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s is not a valid price list; mend it, or remove it to go back to the shipped one:\n%w", f.path, err)
	}
	return list, nil
}

// Replace writes list as the one in force. Prices are public, and whoever
// imports may be another user than the service, so everybody may read the file.
func (f CatalogFile) Replace(list *catalog.Catalog) error {
	folder := filepath.Dir(f.path)
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	draft, err := os.CreateTemp(folder, ".extensions-*.csv")
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name()) //nolint:errcheck // gone after the rename
	if err := errors.Join(list.Write(draft), draft.Chmod(0o644), draft.Sync(), draft.Close()); err != nil {
		return err
	}
	if err := os.Rename(draft.Name(), f.path); err != nil {
		return err
	}
	return syncFolder(folder)
}

// syncFolder makes a rename survive a power cut.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Watch puts each new version of the file in force until ctx ends. A list with
// mistakes is logged once and changes nothing.
func (f CatalogFile) Watch(ctx context.Context, every time.Duration, live *catalog.Live, logger *slog.Logger) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var seen fileVersion // the first look reloads, in case an import came between Load and Watch
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := f.version()
		if now == seen {
			continue
		}
		seen = now
		list, err := f.Load()
		if err != nil {
			logger.ErrorContext(ctx, "the new price list was refused, the old one stays in force", "error", err.Error())
			continue
		}
		changes := len(live.Catalog().Diff(list))
		if changes == 0 {
			continue
		}
		live.Replace(list)
		logger.InfoContext(ctx, "a new price list is in force", "extensions", list.Len(), "changes", changes)
	}
}

// fileVersion changes whenever the file does.
type fileVersion struct {
	modified time.Time
	size     int64
}

func (f CatalogFile) version() fileVersion {
	info, err := os.Stat(f.path)
	if err != nil {
		return fileVersion{}
	}
	return fileVersion{modified: info.ModTime(), size: info.Size()}
}
