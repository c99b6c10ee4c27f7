// Package journal persists the state of a simulated server: every change is
// appended to a file before it is confirmed. The servers of the sandbox share it
// and define their own changes.
//
// A change is one line, written by one call, so a killed process leaves at most one
// torn line at the end, of an unconfirmed change. The next start truncates it.
package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// Name is the file name inside its folder.
	Name = "journal.jsonl"
	// maxSize is the size above which a start should compact the journal.
	maxSize = 8 << 20
)

// Journal is a file of changes of type T. It is not safe for concurrent use.
type Journal[T any] struct {
	file *os.File // nil without persistence
	sync bool
	size int64
	// err is set when a write failed half-way and could not be undone.
	err error
}

// Open reads the journal of a folder, creating it if needed, passes every change to
// apply and truncates a torn line. Without a folder nothing is persisted. sync
// makes changes survive a power cut, not only the process.
func Open[T any](folder string, sync bool, apply func(*T)) (*Journal[T], error) {
	if folder == "" {
		return &Journal[T]{}, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(folder, Name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	j := &Journal[T]{file: file, sync: sync}
	if err := j.replay(apply); err != nil {
		return nil, errors.Join(fmt.Errorf("journal: open %s: %w", file.Name(), err), file.Close())
	}
	return j, nil
}

func (j *Journal[T]) replay(apply func(*T)) error {
	lines := bufio.NewReaderSize(j.file, 1<<16)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // the rest has no line end, so it was not confirmed
		}
		if err != nil {
			return err
		}
		change := new(T)
		if err := json.Unmarshal(line, change); err != nil {
			return fmt.Errorf("line %d can't be parsed (move the file away to start over): %w", number, err)
		}
		apply(change)
		j.size += int64(len(line))
	}
	if err := j.file.Truncate(j.size); err != nil {
		return err
	}
	_, err := j.file.Seek(j.size, io.SeekStart)
	return err
}

// Append writes one change. When it returns nil the change survives the process.
func (j *Journal[T]) Append(change *T) error {
	if j.file == nil {
		return nil
	}
	if j.err != nil {
		return j.err
	}
	line, err := json.Marshal(change)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		// A partial line must not precede the next one.
		if _, seekErr := j.file.Seek(j.size, io.SeekStart); seekErr != nil || j.file.Truncate(j.size) != nil {
			j.err = err
		}
		return err
	}
	j.size += int64(len(line)) + 1
	if j.sync {
		return j.file.Sync()
	}
	return nil
}

// NeedsCompaction reports whether Compact should be called.
func (j *Journal[T]) NeedsCompaction() bool { return j.size > maxSize }

// Compact replaces the journal with one change that holds the complete state.
func (j *Journal[T]) Compact(change *T) error {
	line, err := json.Marshal(change)
	if err != nil {
		return err
	}
	path := j.file.Name()
	draft, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if _, err = draft.Write(line); err == nil {
		err = draft.Sync()
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return errors.Join(err, draft.Close())
	}
	// The open file reports its old name, which is only used in messages.
	old := j.file
	j.file, j.size = draft, int64(len(line))
	return old.Close()
}

// Close closes the file. Append fails afterwards.
func (j *Journal[T]) Close() error {
	if j == nil || j.file == nil {
		return nil
	}
	if err := j.file.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}
