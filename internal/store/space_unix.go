//go:build linux || darwin

package store

import "syscall"

// freeSpace is how many bytes the disk of a folder has left for this user.
func freeSpace(folder string) (bytes uint64, known bool) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil || disk.Bsize <= 0 {
		return 0, false
	}
	return disk.Bavail * uint64(disk.Bsize), true //nolint:gosec,unconvert // positive; its type differs between systems
}
