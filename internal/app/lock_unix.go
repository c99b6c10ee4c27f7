//go:build unix

package app

import (
	"os"
	"syscall"
)

// lockFile takes a file for this process, and says whether it could. The system
// gives it back when the process ends, however it ends.
func lockFile(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
