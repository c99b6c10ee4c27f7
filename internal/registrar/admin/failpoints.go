package admin

// Failpoints returns the failpoints of this package in the order of doc.go. A build with the
// tag failpoint can be killed at each of them.
func Failpoints() []string { return []string{"lock_written", "lock_ended"} }
