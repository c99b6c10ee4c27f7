package recent_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/recent"
)

var errDown = errors.New("down")

// source counts calls, and fails while err is set.
type source struct {
	calls atomic.Int64
	err   error
	takes time.Duration
}

func (s *source) ask(context.Context) (int64, error) {
	n := s.calls.Add(1)
	if s.takes > 0 {
		time.Sleep(s.takes)
	}
	return n, s.err
}

func answers(cfg recent.Config) *recent.Answers[string, int64] { return recent.New[string, int64](cfg) }

func TestAsk_FreshAnswerIsReusedThenAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := answers(recent.Config{Fresh: 10 * time.Second, Max: 10}), &source{}
		for _, step := range []struct {
			after time.Duration
			want  int64
		}{{0, 1}, {9 * time.Second, 1}, {time.Second, 2}, {0, 2}} {
			time.Sleep(step.after)
			got, err := from.Ask(t.Context(), "a", nil, to.ask)
			if err != nil || got.Value != step.want {
				t.Errorf("after %v: %d, %v; want %d", step.after, got.Value, err, step.want)
			}
		}
	})
}

func TestAsk_EqualQuestionsInFlightShareOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := answers(recent.Config{Max: 10}), &source{takes: time.Second}
		for range 50 {
			go func() {
				if got, err := from.Ask(t.Context(), "a", nil, to.ask); err != nil || got.Value != 1 {
					t.Errorf("%d, %v", got.Value, err)
				}
			}()
		}
		time.Sleep(2 * time.Second)
		if n := to.calls.Load(); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

func TestAsk_CallerThatLeavesDoesNotEndTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := answers(recent.Config{Fresh: time.Minute, Max: 10}), &source{}
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			_, _ = from.Ask(ctx, "a", nil, func(ctx context.Context) (int64, error) {
				time.Sleep(time.Second)
				return to.calls.Add(1), ctx.Err()
			})
		}()
		synctest.Wait()
		leave()
		if got, err := from.Ask(t.Context(), "a", nil, to.ask); err != nil || got.Value != 1 || to.calls.Load() != 1 {
			t.Errorf("%d after %d calls, %v", got.Value, to.calls.Load(), err)
		}
	})
}

func TestAsk_WaitEndsWithTheWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := answers(recent.Config{Max: 10}), &source{takes: 20 * time.Second}
		go func() { _, _ = from.Ask(t.Context(), "a", nil, to.ask) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := from.Ask(ctx, "a", nil, to.ask); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		time.Sleep(20 * time.Second) // the call ends by itself
	})
}

func TestAsk_FailureIsRememberedBesideTheLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := answers(recent.Config{Fresh: 5 * time.Second, Keep: time.Minute, Max: 10}), &source{}
		asked := time.Now()
		if _, err := from.Ask(t.Context(), "a", nil, to.ask); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		to.err = errDown
		for range 3 {
			got, err := from.Ask(t.Context(), "a", nil, to.ask)
			if !errors.Is(err, errDown) || got.Value != 1 || !got.At.Equal(asked) {
				t.Errorf("%+v, %v", got, err)
			}
		}
		if n := to.calls.Load(); n != 2 {
			t.Errorf("%d calls; a failure is one of them", n)
		}
		time.Sleep(time.Minute)
		if got, err := from.Ask(t.Context(), "a", nil, to.ask); !errors.Is(err, errDown) || got.Known() {
			t.Errorf("an answer from long ago is returned: %+v, %v", got, err)
		}
	})
}

func TestAsk_RefusedCallIsNeitherMadeNorRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, to := answers(recent.Config{Fresh: time.Minute, Max: 10}), &source{}
		refuse := func() error { return errDown }
		if _, err := from.Ask(t.Context(), "a", refuse, to.ask); !errors.Is(err, errDown) || to.calls.Load() != 0 {
			t.Errorf("%v after %d calls", err, to.calls.Load())
		}
		if got, err := from.Ask(t.Context(), "a", nil, to.ask); err != nil || got.Value != 1 {
			t.Errorf("%d, %v", got.Value, err)
		}
		if _, err := from.Ask(t.Context(), "a", refuse, to.ask); err != nil {
			t.Errorf("what is known needs no admission: %v", err)
		}
	})
}

func TestPut_ReplacesWhatIsKnown(t *testing.T) {
	t.Parallel()
	from, to := answers(recent.Config{Fresh: time.Minute, Max: 10}), &source{err: errDown}
	_, _ = from.Ask(t.Context(), "a", nil, to.ask)
	from.Put("a", 7)
	if got, err := from.Ask(t.Context(), "a", nil, to.ask); err != nil || got.Value != 7 {
		t.Errorf("%d, %v", got.Value, err)
	}
}

func TestAnswers_OldestIsDroppedAtTheBound(t *testing.T) {
	t.Parallel()
	from, to := answers(recent.Config{Fresh: time.Minute, Max: 10}), &source{}
	for n := range 100 {
		if _, err := from.Ask(t.Context(), strconv.Itoa(n), nil, to.ask); err != nil {
			t.Fatal(err)
		}
	}
	if n := from.Len(); n != 10 {
		t.Errorf("%d are kept", n)
	}
	before := to.calls.Load()
	_, _ = from.Ask(t.Context(), "99", nil, to.ask)
	_, _ = from.Ask(t.Context(), "0", nil, to.ask)
	if n := to.calls.Load() - before; n != 1 {
		t.Errorf("%d calls; the newest is kept, and the oldest is not", n)
	}
}
