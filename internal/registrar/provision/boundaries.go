package provision

import "github.com/dotkontor/dotkontor/internal/faults"

// The boundaries of doc.go.
const (
	atTaken         = "taken"
	atContactMade   = "contact_made"
	atContactKnown  = "contact_known"
	atHostsMade     = "hosts_made"
	atRequested     = "requested"
	atAnswered      = "answered"
	atPending       = "pending"
	atDecided       = "decided"
	atUndoing       = "undoing"
	atUndone        = "undone"
	atMessageStored = "message_stored"
	atMessageGone   = "message_gone"
)

// Boundaries are all places between intent and effect, in the order of doc.go. A
// build with the tag faults can be killed at each of them.
func Boundaries() []string {
	return []string{
		atTaken, atContactMade, atContactKnown, atHostsMade, atRequested, atAnswered,
		atPending, atDecided, atUndoing, atUndone, atMessageStored, atMessageGone,
	}
}

// boundary marks one of them.
func boundary(name string) { faults.Boundary(name) }
