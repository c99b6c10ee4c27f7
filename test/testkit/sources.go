package testkit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ModuleRoot returns the nearest folder upwards that has a go.mod.
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

// Sources stats every source file of the product and returns their base names. A test
// that builds the binary by a command calls it: the go tool does not see that such a
// test depends on the product, but it does record the files that a test stats, and
// reruns the test after one of them has changed.
func Sources() (seen []string, err error) {
	root, err := ModuleRoot()
	if err != nil {
		return nil, err
	}
	for _, part := range []string{"cmd", "docs", "internal", "test/mcpclients/fixtures", "go.mod", "go.sum"} {
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
