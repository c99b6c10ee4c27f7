package check

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestPacer_WaitStopsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(time.Now)
		if err := p.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.done(limitReport{refused: true, retryAfter: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := p.wait(ctx); err == nil || time.Since(began) != time.Minute {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
	})
}
