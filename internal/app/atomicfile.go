package app

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
)

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
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := draft.Sync(); err != nil {
		return err
	}
	if err := draft.Close(); err != nil {
		return err
	}
	return os.Rename(draft.Name(), path)
}
