package contactcheck

// Failpoints returns the failpoints of this package in the order of doc.go. A build with the
// tag failpoint can be killed at each of them.
func Failpoints() []string { return []string{"suspension_written", "contact_confirmed"} }
