package provision

// Failpoints returns the failpoints of this package in the order of doc.go. A build with the
// tag failpoint can be killed at each of them.
func Failpoints() []string {
	return []string{
		"taken", "contact_made", "contact_known", "hosts_made", "requested", "answered", "pending", "decided", "lock_stored",
		"undoing", "undone", "message_stored", "message_gone",
	}
}
