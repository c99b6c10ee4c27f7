package main

import (
	"os"
	"runtime/debug"
)

const (
	// A small heap that is collected at every doubling costs a tenth of the CPU
	// under load. Letting it grow to five times costs memory that the service is
	// allowed anyway, and the limit takes over before it gets much.
	gcPercent   = 400
	memoryLimit = 384 << 20
)

// tuneMemory sets the collector for a server, unless the operator has.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
