//go:build failpoint

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// killAt is the failpoint at which this process dies, and killAfter how often it is passed
// before, as in "answered" or "answered:3".
var killAt, killAfter = func() (string, int64) {
	name, times, _ := strings.Cut(os.Getenv("KILL_AT"), ":")
	after, _ := strconv.ParseInt(times, 10, 64)
	return name, after
}()

var hits atomic.Int64

// Hit kills the process at the chosen failpoint, as a power failure would: nothing is closed
// or written any more.
func Hit(name string) {
	if name != killAt || hits.Add(1) <= killAfter {
		return
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {} // until the signal arrives
}
