//go:build unix

package ledger

import (
	"os"
	"syscall"
)

func tryLock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
