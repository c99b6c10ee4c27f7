//go:build !unix

package app

import "os"

// lockFile has no lock to take here, so a data folder is for one process.
func lockFile(*os.File) bool { return true }
