package account

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/crypto/argon2"
)

// Derivation is one computation of argon2id: everything that the key depends on.
type Derivation struct {
	Password, Salt []byte
	Cost           Cost
	Lanes          uint8
	// Size is that of the key, in bytes.
	Size uint32
}

// Key computes it, which takes the memory of its Cost and a core.
func (d Derivation) Key() []byte {
	return argon2.IDKey(d.Password, d.Salt, d.Cost.Passes, d.Cost.Memory, d.Lanes, d.Size)
}

// Deriver computes keys where they do not disturb the service. It may fail: the
// key is computed here then, so no sign-in depends on it.
type Deriver interface {
	Derive(ctx context.Context, d Derivation) ([]byte, error)
}

const (
	// deriveTimeout is how long a key may take elsewhere. A process that yields
	// to everything else would wait for ever on a machine that is never idle.
	deriveTimeout = 4 * time.Second
	// gcThreshold is from which size on (in KiB) the memory of a hash is collected
	// at once. It costs a few milliseconds beside a hash of more than a hundred.
	gcThreshold = 16 * 1024
)

// derive computes a key elsewhere, or here if that fails. It goes on when whoever
// asked has gone away: a hash that is given up halfway has cost as much.
func (h *hasher) derive(ctx context.Context, d Derivation) []byte {
	if h.deriver != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deriveTimeout)
		defer cancel()
		// A key of another size would be a wrong password to whoever compares it.
		if key, err := h.deriver.Derive(ctx, d); err == nil && len(key) == int(d.Size) {
			return key
		}
	}
	if d.Cost.Memory >= gcThreshold {
		// A hash leaves its memory behind as garbage. Left to itself the collector
		// would let several lie, and a storm of sign-ins fill the machine.
		defer runtime.GC()
	}
	return d.Key()
}
