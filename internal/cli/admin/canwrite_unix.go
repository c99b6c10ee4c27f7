//go:build unix

package admin

import (
	"syscall"
)

// canWrite reports whether this process may create files in a folder.
func canWrite(folder string) bool {
	const write, search = 2, 1 // W_OK and X_OK
	return syscall.Access(folder, write|search) == nil
}
