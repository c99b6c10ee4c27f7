//go:build failpoint

package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// killAt is the failpoint at which this process dies, and killAfter how often it is passed
// before, as in "answered" or "answered:3".
var killAt, killAfter = func() (string, int64) {
	name, times, _ := strings.Cut(os.Getenv("KILL_AT"), ":")
	after, _ := strconv.ParseInt(times, 10, 64)
	return name, after
}()

// stopAt is the failpoint at which this process is frozen once, until it gets SIGCONT.
var stopAt = os.Getenv("STOP_AT")

// stopDelay is more than the signal takes to arrive. Without it, the next lines would still run.
const stopDelay = time.Second

var (
	hits    atomic.Int64
	stopped atomic.Bool
)

// Hit kills the process at the chosen failpoint, as a power failure would: nothing is closed
// or written any more, or freezes it.
func Hit(name string) {
	if name == stopAt && stopped.CompareAndSwap(false, true) {
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
		time.Sleep(stopDelay)
	}
	if name != killAt || hits.Add(1) <= killAfter {
		return
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {} // until the signal arrives
}
