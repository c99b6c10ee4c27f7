package withdrawal

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// digest identifies a repetition on the same day.
func (d Notice) digest(orders []RelatedOrder) string {
	parts := []string{d.At.Format(time.DateOnly), d.Customer, string(d.Kind), d.Name, strings.ToLower(d.Email), d.Contract, string(d.Ground), d.Reason, d.End}
	for _, order := range orders {
		parts = append(parts, order.ID, order.PaidAt.UTC().Format(time.RFC3339))
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// WithoutRepetitions returns the notices as their sender sees them: without an open one that repeats
// another one which is open for longer or was handled since. What they are about is equal for equal
// contracts.
func WithoutRepetitions(notices []Notice, about func(Notice) string) (shown []Notice) {
	for _, n := range notices {
		if !n.Open() || !slices.ContainsFunc(notices, func(other Notice) bool { return n.repeats(other) && about(n) == about(other) }) {
			shown = append(shown, n)
		}
	}
	return shown
}

// repeats reports whether the notice says what another one says that is older and open, or that was
// handled after this one arrived.
func (d Notice) repeats(other Notice) bool {
	if d.Kind != other.Kind || d.Ground != other.Ground || d.End != other.End {
		return false
	}
	if other.Open() {
		return other.ID < d.ID
	}
	return !other.DoneAt.Before(d.At)
}
