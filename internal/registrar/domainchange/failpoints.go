package domainchange

// The failpoints of doc.go.
const (
	failpointChangeWritten = "change_written"
	failpointChangeApplied = "change_carried"
	failpointChangeEnded   = "change_ended"
)

// Failpoints returns all failpoints in the order of doc.go. A build with the tag faults
// can be killed at each of them.
func Failpoints() []string {
	return []string{failpointChangeWritten, failpointChangeApplied, failpointChangeEnded}
}
