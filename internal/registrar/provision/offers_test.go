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

func shown(label string) provision.Wanted {
	w := wanted(provision.Register, label, ".org")
	w.Purpose = registrar.ForDisplay
	return w
}

// questions is how often the registry was asked.
func (o *office) questions() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.wishes)
}

func TestQuote_OnlyDisplayReusesAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &office{})
		quote := func(w provision.Wanted, asks int) {
			t.Helper()
			before := h.office.questions()
			if _, err := h.Quote(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			if got := h.office.questions() - before; got != asks {
				t.Errorf("%+v asks the registry %d times, want %d", w, got, asks)
			}
		}
		quote(shown("neu"), 1)
		for range 20 {
			quote(shown("neu"), 0)
		}
		for _, purpose := range []registrar.Purpose{registrar.ForPayment, registrar.ForQuote} {
			fresh := shown("neu")
			fresh.Purpose = purpose
			quote(fresh, 1)
			quote(fresh, 1)
		}
		other := shown("neu")
		other.Customer = "cus_bob"
		quote(other, 1)
		time.Sleep(10 * time.Second)
		quote(shown("neu"), 1)
	})
}

func TestQuote_FreshRefusalIsShownFromThenOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &office{})
		if _, err := h.Quote(t.Context(), shown("neu")); err != nil {
			t.Fatal(err)
		}
		h.office.mu.Lock()
		h.office.offer = &registrar.Error{Kind: registrar.KindConflict, Code: provision.NameTaken}
		h.office.mu.Unlock()
		paying := shown("neu")
		paying.Purpose = registrar.ForPayment
		for _, w := range []provision.Wanted{paying, shown("neu")} {
			if _, err := h.Quote(t.Context(), w); registrar.CodeOf(err) != provision.NameTaken {
				t.Errorf("purpose %d: %v", w.Purpose, err)
			}
		}
	})
}

func TestQuote_MissingDataIsNeverReused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, &office{missing: []string{provision.NeedRegistrant}})
	if quote, err := h.Quote(t.Context(), shown("neu")); err != nil || len(quote.Missing) != 1 {
		t.Fatalf("%+v, %v", quote, err)
	}
	h.office.mu.Lock()
	h.office.missing = nil // the holder has told
	h.office.mu.Unlock()
	if quote, err := h.Quote(t.Context(), shown("neu")); err != nil || len(quote.Missing) != 0 || h.office.questions() != 1 {
		t.Errorf("%+v after %d questions, %v", quote, h.office.questions(), err)
	}
}

func TestQuote_AnotherAuthCodeIsAnotherQuestion(t *testing.T) {
	t.Parallel()
	h := newHouse(t, &office{})
	for _, code := range []string{"", "first", "second", "first"} {
		w := shown("neu")
		w.Kind, w.Code = provision.Transfer, code
		if _, err := h.Quote(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
	codes := make([]string, 0, 3)
	for _, wish := range h.office.wishes {
		codes = append(codes, wish.Code)
	}
	if !slices.Equal(codes, []string{"", "first", "second"}) {
		t.Errorf("asked with %q", codes)
	}
}

func TestQuote_UnansweredDisplayShowsTheLastAnswerWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &office{})
		errOver := &registrar.Error{Kind: registrar.KindRateLimited, Code: "over"}
		refused := shown("neu")
		refused.Admit = func() error { return errOver }
		if _, err := h.Quote(t.Context(), refused); !errors.Is(err, errOver) || h.office.questions() != 0 {
			t.Errorf("nothing is known: %v after %d questions", err, h.office.questions())
		}
		first, err := h.Quote(t.Context(), shown("neu"))
		if err != nil || first.AskedAt.IsZero() || first.Stale {
			t.Fatalf("%+v, %v", first, err)
		}
		time.Sleep(time.Minute)
		quote, err := h.Quote(t.Context(), refused)
		if err != nil || !quote.Stale || !quote.AskedAt.Equal(first.AskedAt) || h.office.questions() != 1 {
			t.Errorf("over the budget: %+v, %v", quote, err)
		}
		h.office.mu.Lock()
		h.office.offer = unreachable()
		h.office.mu.Unlock()
		for range 5 {
			quote, err = h.Quote(t.Context(), shown("neu"))
			if err != nil || !quote.Stale || !quote.AskedAt.Equal(first.AskedAt) {
				t.Errorf("an unreachable registry: %+v, %v", quote, err)
			}
		}
		if n := h.office.questions(); n != 2 {
			t.Errorf("the unreachable registry was asked %d times", n-1)
		}
		paying := shown("neu")
		paying.Purpose = registrar.ForPayment
		if _, err := h.Quote(t.Context(), paying); registrar.KindOf(err) != registrar.KindUpstream {
			t.Errorf("a payment rests on the last answer: %v", err)
		}
	})
}
