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

type fakeSales struct {
	mu    sync.Mutex
	sums  map[Rule]registrar.Cents
	since time.Time
	err   error
}

func (s *fakeSales) SalesSince(_ context.Context, rule string, since time.Time) (registrar.Cents, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = since
	return s.sums[Rule(rule)], s.err
}

// logBuffer is a log that may be written and read at the same time.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (p *logBuffer) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *logBuffer) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func (s *fakeSales) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func newMonitor(t *testing.T, book *fakeSales, log *logBuffer) *ThresholdMonitor {
	t.Helper()
	rates, err := EmbeddedRates()
	if err != nil {
		t.Fatal(err)
	}
	return &ThresholdMonitor{Sales: book, Rates: rates, WarnAt: 8_000_00, Now: time.Now, Logger: slog.New(slog.NewTextHandler(log, nil))}
}

func TestThresholdMonitor_CountsEUConsumersInGermanYear(t *testing.T) {
	t.Parallel()
	book := &fakeSales{sums: map[Rule]registrar.Cents{RuleEUConsumer: 7_000_00, RuleOSS: 1_000_00, RuleDomestic: 99_000_00, RuleReverseCharge: 99_000_00}}
	w := newMonitor(t, book, &logBuffer{})
	w.Now = func() time.Time { return time.Date(2026, 12, 31, 23, 30, 0, 0, time.UTC) }
	sold, warn, err := w.SalesThisYear(t.Context())
	if err != nil || sold != 8_000_00 || !warn {
		t.Errorf("sold %s, warn %t, %v", sold, warn, err)
	}
	if want := time.Date(2026, 12, 31, 23, 0, 0, 0, time.UTC); !book.since.Equal(want) {
		t.Errorf("since = %s, want %s: the new year has begun in Germany", book.since, want)
	}
	book.sums[RuleOSS]--
	if _, warn, _ := w.SalesThisYear(t.Context()); warn {
		t.Error("warned a cent too early")
	}
	book.sums[RuleOSS]++
	w.OSS = true
	if _, warn, _ := w.SalesThisYear(t.Context()); warn {
		t.Error("warned although OSS is set")
	}
}

func TestThresholdMonitor_WarnsOncePerDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		book := &fakeSales{sums: map[Rule]registrar.Cents{RuleEUConsumer: 7_999_99}}
		var log logBuffer
		w := newMonitor(t, book, &log)
		var counted atomic.Int64
		w.OnSales = func(registrar.Cents) { counted.Add(1) }
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
		if !strings.Contains(log.String(), "sales not counted") {
			t.Error("a failed count is not logged")
		}
		cancel()
		<-done
	})
}
