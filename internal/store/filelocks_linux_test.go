package store

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOpen_SecondOpenKeepsFileLocks: a sandbox opens its database twice in one
// process. Were the lock of the first connections lost, the next program that looks
// at the file would delete the log of what was written while the service goes on.
func TestOpen_SecondOpenKeepsFileLocks(t *testing.T) {
	t.Parallel()
	place := Options{Data: t.TempDir()}
	first, err := Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.Close() })
	second, err := Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}

	// Asked on behalf of an open file, the kernel tells locks of the same process, too.
	const getLockOfFile = 36 // F_OFD_GETLK
	file, err := os.OpenFile(filepath.Join(place.Data, databaseFile), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	if err := syscall.FcntlFlock(file.Fd(), getLockOfFile, &lock); err != nil {
		t.Fatal(err)
	}
	if lock.Type == syscall.F_UNLCK {
		t.Error("nothing says that the database is in use")
	}
}
