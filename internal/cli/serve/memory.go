package serve

import (
	"os"
	"runtime/debug"

	"github.com/dotkontor/dotkontor/internal/config"
)

const (
	// Collecting a small heap at every doubling costs a tenth of the CPU under load.
	// Growing to five times uses memory within the limit, which takes over beyond that.
	gcPercent = 400

	// The limit is the sum of the service itself and of what the settings allow it to
	// keep. An address with few requests takes about 83 bytes, a cached result less than
	// 512.
	baseBytes         = 256 << 20
	addressBytes      = 128
	cachedAnswerBytes = 512
)

// tuneMemory configures the garbage collector unless GOGC or GOMEMLIMIT is set.
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
