package crash_test

import (
	"math/rand/v2"
	"testing"

	"github.com/dotkontor/dotkontor/test/crash"
)

// Package soak does the same with 100,000 messages.
func TestKill_PollMessagesAreStoredOnceBeforeAcknowledgement(t *testing.T) {
	t.Parallel()
	settings := crash.MessageSettings{Messages: 600, Kills: 8, Seed: rand.Uint64(), Limit: waitTimeout}
	if err := crash.RunMessages(t.Context(), binary, t.TempDir(), settings, t.Output()); err != nil {
		t.Fatalf("seed %d:\n%v", settings.Seed, err)
	}
}
