package lifecycle

// Failpoints returns the failpoints of this package in the order of doc.go. A build with the
// tag failpoint can be killed at each of them.
func Failpoints() []string {
	return []string{"hold_written", "hold_made", "delete_written", "delete_made"}
}
