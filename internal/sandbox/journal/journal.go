// Package journal keeps what a simulated server knows: a file to which every
// change is added before it is answered. The servers of the sandbox share it; what
// a change says is theirs.
//
// A change is one line, written by one call, so that a process that is killed
// leaves at most one torn line at the end, of something that nobody was answered.
// The next start cuts it off.
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
	// Name is the file's, inside of its folder.
	Name = "journal.jsonl"
	// maxSize is how long a journal may be before a start should write it anew.
	maxSize = 8 << 20
)

// Journal is the file of changes of the type T. One uses it at a time.
type Journal[T any] struct {
	file *os.File // nil: nothing is kept
	sync bool
	size int64
	// err is set when a write failed half-way and could not be taken back.
	err error
}

// Open reads the journal of a folder, which it makes, hands every change to apply
// and cuts a torn line off. Without a folder nothing is kept. sync makes each change
// outlive the machine too, and not only the process.
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
		return nil, errors.Join(fmt.Errorf("the journal %s: %w", file.Name(), err), file.Close())
	}
	return j, nil
}

func (j *Journal[T]) replay(apply func(*T)) error {
	lines := bufio.NewReaderSize(j.file, 1<<16)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // what is left has no line end, so nobody was answered
		}
		if err != nil {
			return err
		}
		change := new(T)
		if err := json.Unmarshal(line, change); err != nil {
			return fmt.Errorf("line %d can't be read (move the file away to begin anew): %w", number, err)
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

// Append writes one change. When it returns nil the change outlives the process.
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
		// Half a line must not stand before the next one.
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

// NeedsCompaction says that it is time for Replace.
func (j *Journal[T]) NeedsCompaction() bool { return j.size > maxSize }

// Compact writes the journal anew, with one change that says everything.
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
	// The file has its old name for itself, which is only for messages.
	old := j.file
	j.file, j.size = draft, int64(len(line))
	return old.Close()
}

// Close lets go of the file. Whoever adds afterwards gets an error.
func (j *Journal[T]) Close() error {
	if j == nil || j.file == nil {
		return nil
	}
	if err := j.file.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}
