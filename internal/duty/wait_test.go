package duty

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestWaiters_PlacesAreBoundedInTotalAndByKey(t *testing.T) {
	t.Parallel()
	w := &Waiters{Most: 3, MostEach: 2}
	var leave []func()
	for i, step := range []struct {
		key string
		ok  bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"c", false}} {
		out, ok := w.Enter(step.key)
		if ok != step.ok || (out != nil) != ok {
			t.Fatalf("step %d, key %s: %v", i, step.key, ok)
		}
		if ok {
			leave = append(leave, out)
		}
	}
	for _, out := range leave {
		out()
	}
	if w.all != 0 || len(w.each) != 0 {
		t.Errorf("%d places are taken, keys %v", w.all, w.each)
	}
	if _, ok := w.Enter("c"); !ok {
		t.Error("no place after all have left")
	}
}

func TestPoll_EndsWithResultFailureOrAnyOfItsEnds(t *testing.T) {
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
			t.Error("the last one did not wait for its deadline")
		}
	})
}
