package provision

// The failpoints of doc.go.
const (
	failpointTaken         = "taken"
	failpointContactMade   = "contact_made"
	failpointContactKnown  = "contact_known"
	failpointHostsMade     = "hosts_made"
	failpointRequested     = "requested"
	failpointAnswered      = "answered"
	failpointPending       = "pending"
	failpointDecided       = "decided"
	failpointUndoing       = "undoing"
	failpointUndone        = "undone"
	failpointMessageStored = "message_stored"
	failpointMessageGone   = "message_gone"
)

// Failpoints returns all failpoints in the order of doc.go. A build with the tag faults
// can be killed at each of them.
func Failpoints() []string {
	return []string{
		failpointTaken, failpointContactMade, failpointContactKnown, failpointHostsMade, failpointRequested, failpointAnswered,
		failpointPending, failpointDecided, failpointUndoing, failpointUndone, failpointMessageStored, failpointMessageGone,
	}
}
