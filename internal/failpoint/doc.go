// Package failpoint marks the places where tests kill the process: those between a
// committed intent and its external effect. Domain packages list theirs in doc.go.
//
// In an ordinary build a failpoint is a no-op. A build with the tag failpoint kills the process
// at the failpoint named by the environment variable KILL_AT, as a power failure would:
// nothing is closed or flushed. At the one named by STOP_AT it freezes, like a suspended virtual
// machine. Such a build also lets a test process move the business time (CLOCK_FILE), so that
// years pass within minutes.
package failpoint
