package provision_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func displayRequest(label string) provision.QuoteRequest {
	w := newQuoteRequest(provision.Register, label, ".org")
	w.Purpose = registrar.ForDisplay
	return w
}

// queryCount is the number of availability queries.
func (o *fakeRegistry) queryCount() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queries)
}

func TestQuote_OnlyDisplayReusesAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{})
		quote := func(w provision.QuoteRequest, want int) {
			t.Helper()
			before := env.registry.queryCount()
			if _, err := env.Quote(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			if got := env.registry.queryCount() - before; got != want {
				t.Errorf("%+v: %d registry queries, want %d", w, got, want)
			}
		}
		quote(displayRequest("neu"), 1)
		for range 20 {
			quote(displayRequest("neu"), 0)
		}
		for _, purpose := range []registrar.QueryPurpose{registrar.ForPayment, registrar.ForQuote} {
			fresh := displayRequest("neu")
			fresh.Purpose = purpose
			quote(fresh, 1)
			quote(fresh, 1)
		}
		other := displayRequest("neu")
		other.Customer = "cus_bob"
		quote(other, 1)
		time.Sleep(10 * time.Second)
		quote(displayRequest("neu"), 1)
	})
}

func TestQuote_FreshRefusalIsShownFromThenOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{})
		if _, err := env.Quote(t.Context(), displayRequest("neu")); err != nil {
			t.Fatal(err)
		}
		env.registry.mu.Lock()
		env.registry.availability = &registrar.Error{Kind: registrar.KindConflict, Code: provision.NameTaken}
		env.registry.mu.Unlock()
		paying := displayRequest("neu")
		paying.Purpose = registrar.ForPayment
		for _, w := range []provision.QuoteRequest{paying, displayRequest("neu")} {
			if _, err := env.Quote(t.Context(), w); registrar.CodeOf(err) != provision.NameTaken {
				t.Errorf("purpose %d: %v", w.Purpose, err)
			}
		}
	})
}

func TestQuote_MissingDataIsNeverReused(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{missing: []string{provision.NeedRegistrant}})
	if quote, err := env.Quote(t.Context(), displayRequest("neu")); err != nil || len(quote.Missing) != 1 {
		t.Fatalf("%+v, %v", quote, err)
	}
	env.registry.mu.Lock()
	env.registry.missing = nil // the customer has entered it
	env.registry.mu.Unlock()
	if quote, err := env.Quote(t.Context(), displayRequest("neu")); err != nil || len(quote.Missing) != 0 || env.registry.queryCount() != 1 {
		t.Errorf("%+v after %d queries, %v", quote, env.registry.queryCount(), err)
	}
}

func TestQuote_AuthCodeIsPartOfCacheKey(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{})
	for _, code := range []string{"", "first", "second", "first"} {
		w := displayRequest("neu")
		w.Kind, w.Code = provision.Transfer, code
		if _, err := env.Quote(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	codes := make([]string, 0, 3)
	for _, query := range env.registry.queries {
		codes = append(codes, query.Code)
	}
	if !slices.Equal(codes, []string{"", "first", "second"}) {
		t.Errorf("queried with codes %q", codes)
	}
}

func TestQuote_UnansweredDisplayShowsStaleAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{})
		errOver := &registrar.Error{Kind: registrar.KindRateLimited, Code: "over"}
		refused := displayRequest("neu")
		refused.Admit = func() error { return errOver }
		if _, err := env.Quote(t.Context(), refused); !errors.Is(err, errOver) || env.registry.queryCount() != 0 {
			t.Errorf("empty cache: %v after %d queries", err, env.registry.queryCount())
		}
		first, err := env.Quote(t.Context(), displayRequest("neu"))
		if err != nil || first.AskedAt.IsZero() || first.Stale {
			t.Fatalf("%+v, %v", first, err)
		}
		time.Sleep(time.Minute)
		quote, err := env.Quote(t.Context(), refused)
		if err != nil || !quote.Stale || !quote.AskedAt.Equal(first.AskedAt) || env.registry.queryCount() != 1 {
			t.Errorf("over the limit: %+v, %v", quote, err)
		}
		env.registry.mu.Lock()
		env.registry.availability = unreachable()
		env.registry.mu.Unlock()
		for range 5 {
			quote, err = env.Quote(t.Context(), displayRequest("neu"))
			if err != nil || !quote.Stale || !quote.AskedAt.Equal(first.AskedAt) {
				t.Errorf("unreachable registry: %+v, %v", quote, err)
			}
		}
		if n := env.registry.queryCount(); n != 2 {
			t.Errorf("unreachable registry queried %d times, want 1", n-1)
		}
		paying := displayRequest("neu")
		paying.Purpose = registrar.ForPayment
		if _, err := env.Quote(t.Context(), paying); registrar.KindOf(err) != registrar.KindUpstream {
			t.Errorf("payment used a stale answer: %v", err)
		}
	})
}
