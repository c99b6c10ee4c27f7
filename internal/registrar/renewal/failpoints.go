package renewal

// Failpoints returns the failpoints of automatic renewals in the order of doc.go; those before
// the last lie in package order. A build with the tag failpoint can be killed at each of them.
func Failpoints() []string {
	return []string{"renewal_written", "renewal_intent_known", "renewal_charged", "renewal_settling"}
}
