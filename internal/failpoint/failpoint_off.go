//go:build !faults

package failpoint

// Hit marks a place between intent and effect. In an ordinary build nothing
// happens there.
func Hit(string) {}
