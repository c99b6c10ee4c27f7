//go:build !faults

package faults

// Boundary marks a place between intent and effect. In an ordinary build nothing
// happens there.
func Boundary(string) {}
