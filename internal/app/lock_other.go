//go:build !unix

package app

import "os"

// lockFile does nothing here: a data folder must be used by one process only.
func lockFile(*os.File) bool { return true }
