package domainchange

// Failpoints returns the failpoints of this package in the order of doc.go. A build with the
// tag failpoint can be killed at each of them.
func Failpoints() []string {
	return []string{
		"change_written", "change_carried", "change_ended", "ds_found", "ds_removed", "ds_waiting", "ns_begun",
	}
}
