package store

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
)

func newIdempotencyService(t *testing.T, db *DB, now *atomic.Int64) *idempotency.Service {
	t.Helper()
	seal, err := registrar.NewSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	service, err := idempotency.New(idempotency.Config{Store: db, Seal: seal, Now: func() time.Time { return testTime.Add(time.Duration(now.Load())) }})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// jsonValue decodes a body as the transports do.
func jsonValue(t *testing.T, body string) (value any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Error(err)
	}
	return value
}

func beginRun(t *testing.T, service *idempotency.Service, scope, key, body string) (*idempotency.Run, *idempotency.StoredResponse) {
	t.Helper()
	run, stored, err := service.Begin(t.Context(), scope, key, jsonValue(t, body))
	if err != nil {
		t.Fatalf("%s with %q: %v", key, body, err)
	}
	return run, stored
}

func TestIdempotency_SameKeyReturnsSameResponse(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		var clock atomic.Int64
		service, otherNode := newIdempotencyService(t, db, &clock), newIdempotencyService(t, db, &clock)
		run, stored := beginRun(t, service, "agt_1 /a", "key", `{"a":1,"b":"ü"}`)
		if run == nil || stored != nil {
			t.Fatalf("the first call got %v and %v", run, stored)
		}
		_, _, err := otherNode.Begin(ctx, "agt_1 /a", "key", jsonValue(t, `{"b":"\u00fc", "a":1.0}`))
		var conflict *registrar.Error
		if !errors.As(err, &conflict) || conflict.Code != idempotency.InFlight || conflict.RetryAfter <= 0 {
			t.Errorf("while it is in flight: %v", err)
		}
		_, _, err = otherNode.Begin(ctx, "agt_1 /a", "key", jsonValue(t, `{"a":2}`))
		wantCode(t, err, registrar.KindConflict, idempotency.Conflict)
		if err := run.Finish(ctx, 201, map[string]string{"API-Version": "x"}, []byte(`{"id":"ord_1"}`)); err != nil {
			t.Fatal(err)
		}
		if err := run.Release(ctx); err != nil { // too late to have an effect
			t.Fatal(err)
		}
		if strings.Contains(dumpOf(t, db), "ord_1") {
			t.Error("the response is stored in plain text")
		}
		_, stored = beginRun(t, otherNode, "agt_1 /a", "key", "{\n\"b\":\"ü\",\"a\":10e-1}")
		if stored == nil || stored.Status != 201 || string(stored.Body) != `{"id":"ord_1"}` || stored.Header["API-Version"] != "x" {
			t.Errorf("replayed %+v", stored)
		}
		_, _, err = otherNode.Begin(ctx, "agt_1 /a", "key", jsonValue(t, `{"a":2}`))
		wantCode(t, err, registrar.KindConflict, idempotency.Conflict)
		for _, other := range [][2]string{{"agt_2 /a", "key"}, {"agt_1 /b", "key"}, {"agt_1 /a", "other\x00key\xff"}} {
			if run, _ := beginRun(t, service, other[0], other[1], `{"a":2}`); run == nil {
				t.Errorf("%q: the key is in use by another call", other)
			}
		}
		clock.Store(int64(idempotency.ResponseTTL))
		if run, _ := beginRun(t, service, "agt_1 /a", "key", `{"a":2}`); run == nil {
			t.Error("the key is not free after a day")
		}
	})
}

func TestIdempotency_ServerErrorReleasesKey(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		service := newIdempotencyService(t, db, &clock)
		for _, end := range []func(*idempotency.Run) error{
			func(r *idempotency.Run) error { return r.Finish(t.Context(), 503, nil, nil) },
			func(r *idempotency.Run) error { return r.Release(t.Context()) },
		} {
			run, _ := beginRun(t, service, "s", "key", "{}")
			if run == nil {
				t.Fatal("the key was not free")
			}
			if err := end(run); err != nil {
				t.Fatal(err)
			}
		}
		if run, _ := beginRun(t, service, "s", "key", `{"another":"body"}`); run == nil {
			t.Error("the key was not free")
		}
	})
}

func TestIdempotency_KeyFreeAfterLeaseExpires(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		var clock atomic.Int64
		service := newIdempotencyService(t, db, &clock)
		slow, _ := beginRun(t, service, "s", "key", "{}")
		clock.Store(int64(59 * time.Second))
		_, _, err := service.Begin(ctx, "s", "key", jsonValue(t, "{}"))
		wantCode(t, err, registrar.KindConflict, idempotency.InFlight)
		clock.Store(int64(time.Minute))
		_, _, err = service.Begin(ctx, "s", "key", jsonValue(t, "[]"))
		wantCode(t, err, registrar.KindConflict, idempotency.Conflict)
		run, _ := beginRun(t, service, "s", "key", "{}")
		if run == nil {
			t.Fatal("the key was not free")
		}
		// A slow holder must not store a response for the one that took over.
		if err := slow.Finish(ctx, 200, nil, []byte("slow")); err != nil {
			t.Fatal(err)
		}
		if err := run.Finish(ctx, 200, nil, []byte("fast")); err != nil {
			t.Fatal(err)
		}
		if _, stored := beginRun(t, service, "s", "key", "{}"); stored == nil || string(stored.Body) != "fast" {
			t.Errorf("replayed %+v", stored)
		}
	})
}

func TestIdempotency_RacingRequestsOneRuns(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		service := newIdempotencyService(t, db, &clock)
		rush := func() (runs int64) {
			var ran atomic.Int64
			var wait sync.WaitGroup
			for range 50 {
				wait.Go(func() {
					run, _, err := service.Begin(t.Context(), "s", "key", jsonValue(t, "{}"))
					switch {
					case run != nil:
						ran.Add(1)
					case registrar.CodeOf(err) != idempotency.InFlight:
						t.Error(err)
					}
				})
			}
			wait.Wait()
			return ran.Load()
		}
		if runs := rush(); runs != 1 {
			t.Errorf("%d calls ran", runs)
		}
		clock.Store(int64(2 * time.Minute)) // all find it abandoned
		if runs := rush(); runs != 1 {
			t.Errorf("%d calls took it over", runs)
		}
	})
}

func TestIdempotency_ExpiredResponsesAreDeleted(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		service := newIdempotencyService(t, db, &clock)
		beginRun(t, service, "s", "old", "{}")
		clock.Store(int64(time.Hour))
		beginRun(t, service, "s", "young", "{}")
		clock.Store(int64(idempotency.ResponseTTL))
		if err := service.DeleteExpired(t.Context()); err != nil || count(t, db, "SELECT count(*) FROM idempotency_keys") != 1 {
			t.Errorf("%d are left, %v", count(t, db, "SELECT count(*) FROM idempotency_keys"), err)
		}
		for _, bad := range []string{"", string(make([]byte, idempotency.MaxKey+1))} {
			_, _, err := service.Begin(t.Context(), "s", bad, nil)
			wantCode(t, err, registrar.KindInvalid, idempotency.BadKey)
		}
	})
}
