//go:build !unix

package ledger

import "os"

// Elsewhere the user has to see to it that a folder has one sandbox only.
func tryLock(*os.File) error { return nil }
