//go:build !failpoint

package failpoint

// Hit marks a failpoint. In an ordinary build it does nothing.
func Hit(string) {}
