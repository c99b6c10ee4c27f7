//go:build !unix

package main

import "os"

// lockFile has no lock to take here, so a data folder is for one process.
func lockFile(*os.File) bool { return true }
