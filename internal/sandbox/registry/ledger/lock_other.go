//go:build !unix

package ledger

import "os"

// On other systems the user must run one sandbox per folder.
func tryLock(*os.File) error { return nil }
