package transferaway

// Failpoints returns the failpoints of this package in the order of doc.go. A build with the
// tag failpoint can be killed at each of them.
func Failpoints() []string {
	return []string{"transfer_decided", "transfer_queried", "transfer_answered", "transfer_ended"}
}
