//go:build !linux

package serve

// releaseBinaryPages does nothing where mappings can't be listed.
func releaseBinaryPages() (released uintptr, err error) { return 0, nil }
