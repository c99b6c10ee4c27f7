package serve

import (
	"os"
	"runtime/debug"

	"github.com/dotkontor/dotkontor/internal/config"
)

const (
	// A small heap that is collected at every doubling costs a tenth of the CPU
	// under load. Letting it grow to five times costs memory that the service is
	// allowed anyway, and the limit takes over before it gets much.
	gcPercent = 400

	// What the limit is made of: the service itself, and what the settings let it
	// remember. An address with few requests takes about 83 bytes, an answer
	// with its place in the memory less than 512.
	baseBytes         = 256 << 20
	addressBytes      = 128
	cachedAnswerBytes = 512
)

// tuneMemory sets the collector for a server, unless the operator has by GOGC
// and GOMEMLIMIT.
func tuneMemory(cfg config.Config) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(cfg))
	}
}

func memoryLimit(cfg config.Config) int64 {
	return baseBytes + int64(cfg.Limits.MaxAddresses)*addressBytes + int64(cfg.Lookup.MaxCached)*cachedAnswerBytes
}
