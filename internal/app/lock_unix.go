//go:build unix

package app

import (
	"os"
	"syscall"
)

// lockFile locks a file and reports whether it succeeded. The lock ends with the process.
func lockFile(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
