//go:build !failpoint

package failpoint

import (
	"context"
	"time"
)

// Clock returns the business time that a test moves, and a channel that signals each move.
// In an ordinary build both are nil.
func Clock(context.Context) (now func() time.Time, moved <-chan struct{}) { return nil, nil }

// Backoff returns the backoff itself in an ordinary build.
func Backoff(backoff time.Duration) time.Duration { return backoff }
