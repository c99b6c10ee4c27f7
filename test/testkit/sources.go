package testkit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ModuleRoot is the nearest folder upwards that has a go.mod.
func ModuleRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("no go.mod in this folder or above it")
		}
		folder = parent
	}
}

// Sources looks at every file that the product is built of, and returns their
// base names. A test that builds the binary by a command calls it, because the go
// tool then does not see that the test depends on the product; it does see which
// files a test looks at, and without a look it would answer from its cache.
func Sources() (seen []string, err error) {
	root, err := ModuleRoot()
	if err != nil {
		return nil, err
	}
	for _, part := range []string{"cmd", "docs", "internal", "go.mod", "go.sum"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			seen = append(seen, filepath.Base(path))
			_, err = os.Stat(path)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return seen, nil
}
