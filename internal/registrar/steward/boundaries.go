package steward

import "github.com/dotkontor/dotkontor/internal/faults"

// The boundaries of doc.go.
const (
	atWritten = "change_written"
	atCarried = "change_carried"
	atEnded   = "change_ended"
)

// Boundaries are all places between intent and effect, in the order of doc.go. A
// build with the tag faults can be killed at each of them.
func Boundaries() []string { return []string{atWritten, atCarried, atEnded} }

// boundary marks one of them.
func boundary(name string) { faults.Boundary(name) }
