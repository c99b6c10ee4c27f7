package jobs

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaiters_BoundsTotalAndPerKey(t *testing.T) {
	t.Parallel()
	w := &Waiters{Max: 3, MaxPerKey: 2}
	var release []func()
	for i, step := range []struct {
		key string
		ok  bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"c", false}} {
		out, ok := w.Acquire(step.key)
		if ok != step.ok || (out != nil) != ok {
			t.Fatalf("step %d, key %s: %v", i, step.key, ok)
		}
		if ok {
			release = append(release, out)
		}
	}
	for _, out := range release {
		out()
	}
	if w.total != 0 || len(w.perKey) != 0 {
		t.Errorf("%d slots taken, keys %v", w.total, w.perKey)
	}
	if _, ok := w.Acquire("c"); !ok {
		t.Error("no slot after all were released")
	}
}

func TestPoll_ReturnsOnResultErrorOrCancellation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		calls := 0
		ok, err := Poll(t.Context(), nil, nil, time.Second, 4*time.Second, func() (bool, error) { calls++; return calls == 4, nil })
		if span := time.Since(began); !ok || err != nil || span != 11*time.Second { // 1 + 2 + 4 + 4
			t.Errorf("%v, %v after %s", ok, err, span)
		}
		fault := errors.New("away")
		if _, err := Poll(t.Context(), nil, nil, time.Second, time.Second, func() (bool, error) { return false, fault }); !errors.Is(err, fault) {
			t.Error(err)
		}
		never := func() (bool, error) { return false, nil }
		ended := make(chan struct{})
		time.AfterFunc(10*time.Second, func() { close(ended) })
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, poll := range []func() (bool, error){
			func() (bool, error) { return Poll(ctx, ended, nil, time.Second, time.Minute, never) },
			func() (bool, error) { return Poll(ctx, nil, ended, time.Second, time.Minute, never) },
			func() (bool, error) { return Poll(ctx, nil, nil, time.Second, time.Minute, never) },
		} {
			if ok, err := poll(); ok || err != nil {
				t.Errorf("%v, %v", ok, err)
			}
		}
		if ctx.Err() == nil {
			t.Error("Poll did not wait for the deadline")
		}
	})
}
