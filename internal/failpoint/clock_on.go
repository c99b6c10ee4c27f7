//go:build failpoint

package failpoint

import (
	"context"
	"encoding/binary"
	"os"
	"sync/atomic"
	"time"
)

// clockFile contains how far the business time is ahead of the real one: nanoseconds, as 8
// bytes in little-endian order. A test process writes it.
var clockFile = os.Getenv("CLOCK_FILE")

const (
	clockInterval = 2 * time.Millisecond // how often the file is read
	// In a moved clock a day takes a fraction of a second, and a backoff must not take
	// months of it.
	backoffDivisor = 100
)

// Clock returns the business time that a test moves, and a channel that signals each move.
// Both are nil unless the environment variable CLOCK_FILE names the test's file.
func Clock(ctx context.Context) (now func() time.Time, moved <-chan struct{}) {
	if clockFile == "" {
		return nil, nil
	}
	var offset atomic.Int64
	offset.Store(readOffset())
	signal := make(chan struct{}, 1)
	go func() {
		ticker := time.NewTicker(clockInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if next := readOffset(); next != offset.Load() {
				offset.Store(next)
				select {
				case signal <- struct{}{}:
				default: // already signalled
				}
			}
		}
	}()
	return func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }, signal
}

func readOffset() int64 {
	text, err := os.ReadFile(clockFile)
	if err != nil || len(text) != 8 {
		panic("failpoint: CLOCK_FILE is not readable: " + clockFile)
	}
	return int64(binary.LittleEndian.Uint64(text))
}

// Backoff shortens a backoff if the clock is moved.
func Backoff(backoff time.Duration) time.Duration {
	if clockFile == "" {
		return backoff
	}
	return backoff / backoffDivisor
}
