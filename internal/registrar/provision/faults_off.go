//go:build !faults

package provision

// boundary marks a place between intent and effect. In an ordinary build nothing
// happens there.
func boundary(string) {}
