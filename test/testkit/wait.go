package testkit

import (
	"fmt"
	"time"
)

const (
	// WaitTimeout bounds every wait for another process or goroutine. It allows for a
	// busy machine: what is waited for usually takes milliseconds.
	WaitTimeout  = time.Minute
	pollInterval = 20 * time.Millisecond
)

// Eventually returns as soon as ready reports true, and fails the test after
// WaitTimeout. what names the expected state.
func Eventually(t Tester, what string, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(WaitTimeout); !ready(); time.Sleep(pollInterval) {
		if time.Now().After(deadline) {
			t.Fatal(fmt.Sprintf("no %s within %s", what, WaitTimeout))
		}
	}
}
