//go:build linux || darwin

package sqldb

import "syscall"

// freeSpace returns the bytes that this user may still write on the disk of folder.
func freeSpace(folder string) (bytes uint64, known bool) {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil || disk.Bsize <= 0 {
		return 0, false
	}
	return disk.Bavail * uint64(disk.Bsize), true // Bsize is positive; its type differs between systems
}
