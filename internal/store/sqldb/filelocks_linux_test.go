package sqldb

import (
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The sandbox opens its database twice in one process. If closing one lost the file locks
// of the other, the next program to open the file would delete the write-ahead log of the
// running service.
func TestOpen_SecondOpenKeepsFileLocks(t *testing.T) {
	t.Parallel()
	opts := Options{Data: t.TempDir()}
	openWithSchema(t, opts)
	second := openAt(t, opts)
	if _, err := getNote(t.Context(), second.Queries(), "x"); !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}

	// F_OFD_GETLK also reports locks of the same process.
	const getLockOfFile = 36 // F_OFD_GETLK
	file, err := os.OpenFile(filepath.Join(opts.Data, databaseFile), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	if err := syscall.FcntlFlock(file.Fd(), getLockOfFile, &lock); err != nil {
		t.Fatal(err)
	}
	if lock.Type == syscall.F_UNLCK {
		t.Error("the file lock of the first connections is gone")
	}
}
