// Package failpoint marks the places where tests kill the process: those between a
// committed intent and its external effect. Domain packages list theirs in doc.go.
//
// In an ordinary build a failpoint is a no-op. A build with the tag failpoint reads from the
// environment at which one to die (KILL_AT), and dies there as in a power failure: nothing
// is closed or written any more.
package failpoint
