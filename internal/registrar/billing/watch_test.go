package billing

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

type salesBook struct {
	mu    sync.Mutex
	sums  map[Rule]registrar.Cents
	since time.Time
	err   error
}

func (s *salesBook) SalesSince(_ context.Context, rule string, since time.Time) (registrar.Cents, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = since
	return s.sums[Rule(rule)], s.err
}

// paper is a log that may be written and read at the same time.
type paper struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *paper) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func (s *salesBook) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func watch(t *testing.T, book *salesBook, log *paper) *Watch {
	t.Helper()
	rates, err := ShippedRates()
	if err != nil {
		t.Fatal(err)
	}
	return &Watch{Sales: book, Rates: rates, WarnAt: 8_000_00, Now: time.Now, Logger: slog.New(slog.NewTextHandler(log, nil))}
}

func TestTheThresholdCountsEUConsumersOfTheGermanYear(t *testing.T) {
	t.Parallel()
	book := &salesBook{sums: map[Rule]registrar.Cents{RuleEUConsumer: 7_000_00, RuleOSS: 1_000_00, RuleDomestic: 99_000_00, RuleReverseCharge: 99_000_00}}
	w := watch(t, book, &paper{})
	w.Now = func() time.Time { return time.Date(2026, 12, 31, 23, 30, 0, 0, time.UTC) }
	sold, warn, err := w.Sold(t.Context())
	if err != nil || sold != 8_000_00 || !warn {
		t.Errorf("sold %s, warn %t, %v", sold, warn, err)
	}
	if want := time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC); !book.since.Equal(want) {
		t.Errorf("counted since %s, want %s: the new year had begun in Germany", book.since, want)
	}
	book.sums[RuleOSS]--
	if _, warn, _ := w.Sold(t.Context()); warn {
		t.Error("warned a cent too early")
	}
	book.sums[RuleOSS]++
	w.OSS = true
	if _, warn, _ := w.Sold(t.Context()); warn {
		t.Error("warned although we take part in the One-Stop-Shop")
	}
}

func TestTheThresholdWarnsOnceADay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		book := &salesBook{sums: map[Rule]registrar.Cents{RuleEUConsumer: 7_999_99}}
		var log paper
		w := watch(t, book, &log)
		var counted atomic.Int64
		w.Counted = func(registrar.Cents) { counted.Add(1) }
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { w.Run(ctx); close(done) }()
		// The bubble begins at midnight UTC, an hour into the German day.
		time.Sleep(90 * time.Minute)
		synctest.Wait()
		if text := log.String(); text != "" || counted.Load() != 2 {
			t.Errorf("counted %d times, logged %q", counted.Load(), text)
		}
		book.change(func() { book.sums[RuleEUConsumer] = 8_000_00 })
		time.Sleep(10 * time.Hour)
		synctest.Wait()
		if n := strings.Count(log.String(), "sold_eur=8000.00"); n != 1 {
			t.Errorf("%d warnings on the first day:\n%s", n, &log)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if n := strings.Count(log.String(), "threshold_eur=10000.00"); n != 2 {
			t.Errorf("%d warnings on two days", n)
		}
		book.change(func() { book.err = errors.New("no database") })
		time.Sleep(time.Hour)
		synctest.Wait()
		if !strings.Contains(log.String(), "could not be counted") {
			t.Error("a failed count is not told")
		}
		cancel()
		<-done
	})
}
