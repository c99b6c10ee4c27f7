// Package faults marks the places where a test kills the process: those between
// an intent that is written down and its effect outside. Domain packages have a
// table of theirs in doc.go, and name each one where it lies in the code.
//
// In an ordinary build a boundary is nothing at all. A build with the tag faults
// reads from the environment at which one it dies (KILL_AT), and dies there as by
// a power cut: nothing is closed and nothing is written any more.
package failpoint
