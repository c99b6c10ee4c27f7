package ttlcache_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/ttlcache"
)

var errDown = errors.New("down")

// source counts calls, and fails while err is set.
type source struct {
	calls atomic.Int64
	err   error
	delay time.Duration
}

func (s *source) fetch(context.Context) (int64, error) {
	n := s.calls.Add(1)
	if s.delay > 0 {
		time.Sleep(s.delay)
	}
	return n, s.err
}

func newCache(cfg ttlcache.Config) *ttlcache.Cache[string, int64] {
	return ttlcache.New[string, int64](cfg)
}

func TestGet_ReusesValueWithinTTLThenRefetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache, origin := newCache(ttlcache.Config{TTL: 10 * time.Second, MaxEntries: 10}), &source{}
		for _, step := range []struct {
			after time.Duration
			want  int64
		}{{0, 1}, {9 * time.Second, 1}, {time.Second, 2}, {0, 2}} {
			time.Sleep(step.after)
			got, err := cache.Get(t.Context(), "a", nil, origin.fetch)
			if err != nil || got.Value != step.want {
				t.Errorf("after %v: %d, %v; want %d", step.after, got.Value, err, step.want)
			}
		}
	})
}

func TestGet_ConcurrentCallsForOneKeyShareFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache, origin := newCache(ttlcache.Config{MaxEntries: 10}), &source{delay: time.Second}
		for range 50 {
			go func() {
				if got, err := cache.Get(t.Context(), "a", nil, origin.fetch); err != nil || got.Value != 1 {
					t.Errorf("%d, %v", got.Value, err)
				}
			}()
		}
		time.Sleep(2 * time.Second)
		if n := origin.calls.Load(); n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

func TestGet_CancelledCallerDoesNotCancelFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache, origin := newCache(ttlcache.Config{TTL: time.Minute, MaxEntries: 10}), &source{}
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			_, _ = cache.Get(ctx, "a", nil, func(ctx context.Context) (int64, error) {
				time.Sleep(time.Second)
				return origin.calls.Add(1), ctx.Err()
			})
		}()
		synctest.Wait()
		leave()
		if got, err := cache.Get(t.Context(), "a", nil, origin.fetch); err != nil || got.Value != 1 || origin.calls.Load() != 1 {
			t.Errorf("%d after %d calls, %v", got.Value, origin.calls.Load(), err)
		}
	})
}

func TestGet_WaiterReturnsWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache, origin := newCache(ttlcache.Config{MaxEntries: 10}), &source{delay: 20 * time.Second}
		go func() { _, _ = cache.Get(t.Context(), "a", nil, origin.fetch) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := cache.Get(ctx, "a", nil, origin.fetch); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		time.Sleep(20 * time.Second) // the call ends at its deadline
	})
}

func TestGet_CachesErrorAlongsideLastValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache, origin := newCache(ttlcache.Config{TTL: 5 * time.Second, StaleTTL: time.Minute, MaxEntries: 10}), &source{}
		fetchedAt := time.Now()
		if _, err := cache.Get(t.Context(), "a", nil, origin.fetch); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		origin.err = errDown
		for range 3 {
			got, err := cache.Get(t.Context(), "a", nil, origin.fetch)
			if !errors.Is(err, errDown) || got.Value != 1 || !got.FetchedAt.Equal(fetchedAt) {
				t.Errorf("%+v, %v", got, err)
			}
		}
		if n := origin.calls.Load(); n != 2 {
			t.Errorf("%d calls, failures included", n)
		}
		time.Sleep(time.Minute)
		if got, err := cache.Get(t.Context(), "a", nil, origin.fetch); !errors.Is(err, errDown) || got.Found() {
			t.Errorf("expired result returned: %+v, %v", got, err)
		}
	})
}

func TestGet_RefusedAdmissionIsNotCached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache, origin := newCache(ttlcache.Config{TTL: time.Minute, MaxEntries: 10}), &source{}
		refuse := func() error { return errDown }
		if _, err := cache.Get(t.Context(), "a", refuse, origin.fetch); !errors.Is(err, errDown) || origin.calls.Load() != 0 {
			t.Errorf("%v after %d calls", err, origin.calls.Load())
		}
		if got, err := cache.Get(t.Context(), "a", nil, origin.fetch); err != nil || got.Value != 1 {
			t.Errorf("%d, %v", got.Value, err)
		}
		if _, err := cache.Get(t.Context(), "a", refuse, origin.fetch); err != nil {
			t.Errorf("cached result required admission: %v", err)
		}
	})
}

func TestSet_ReplacesCachedValue(t *testing.T) {
	t.Parallel()
	cache, origin := newCache(ttlcache.Config{TTL: time.Minute, MaxEntries: 10}), &source{err: errDown}
	_, _ = cache.Get(t.Context(), "a", nil, origin.fetch)
	cache.Set("a", 7)
	if got, err := cache.Get(t.Context(), "a", nil, origin.fetch); err != nil || got.Value != 7 {
		t.Errorf("%d, %v", got.Value, err)
	}
}

func TestCache_EvictsOldestAtMaxEntries(t *testing.T) {
	t.Parallel()
	cache, origin := newCache(ttlcache.Config{TTL: time.Minute, MaxEntries: 10}), &source{}
	for n := range 100 {
		if _, err := cache.Get(t.Context(), strconv.Itoa(n), nil, origin.fetch); err != nil {
			t.Fatal(err)
		}
	}
	before := origin.calls.Load()
	for n := 99; n >= 89; n-- {
		_, _ = cache.Get(t.Context(), strconv.Itoa(n), nil, origin.fetch)
	}
	if n := origin.calls.Load() - before; n != 1 {
		t.Errorf("%d calls, want the ten newest cached and the one before evicted", n)
	}
}
