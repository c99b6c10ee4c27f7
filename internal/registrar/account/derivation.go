package account

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/crypto/argon2"
)

// Derivation holds all parameters of one argon2id computation.
type Derivation struct {
	Password, Salt []byte
	Cost           Cost
	Lanes          uint8
	// Size is the key length in bytes.
	Size uint32
}

// Key computes the key, using the memory of its Cost and one core.
func (d Derivation) Key() []byte {
	return argon2.IDKey(d.Password, d.Salt, d.Cost.Passes, d.Cost.Memory, d.Lanes, d.Size)
}

// Deriver computes keys outside this process. It may fail: the key is then computed
// locally, so no sign-in depends on it.
type Deriver interface {
	Derive(ctx context.Context, d Derivation) ([]byte, error)
}

const (
	// deriveTimeout bounds a remote derivation. A low-priority process may never get
	// CPU time on a busy machine.
	deriveTimeout = 4 * time.Second
	// gcThreshold is the memory cost in KiB from which the garbage collector runs right
	// after a hash. The few milliseconds are small next to a hash of more than a
	// hundred.
	gcThreshold = 16 * 1024
)

// derive computes a key remotely, or locally if that fails. It ignores the cancellation
// of ctx: an aborted hash has cost as much as a complete one.
func (h *hasher) derive(ctx context.Context, d Derivation) []byte {
	if h.deriver != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deriveTimeout)
		defer cancel()
		// A key of the wrong size would look like a wrong password.
		if key, err := h.deriver.Derive(ctx, d); err == nil && len(key) == int(d.Size) {
			return key
		}
	}
	if d.Cost.Memory >= gcThreshold {
		// A hash leaves its memory behind as garbage. By default several would
		// accumulate before a collection, and a burst of sign-ins could exhaust the
		// memory.
		defer runtime.GC()
	}
	return d.Key()
}
