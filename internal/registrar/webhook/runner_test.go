package webhook_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/webhook"
)

// memStore is an in-memory store with all agents and orders.
type memStore struct {
	mu   sync.Mutex
	rows map[string]webhook.Delivery
	// removed agents have no webhook.
	removed map[string]bool
	// failures is how many completions are lost, as if the node had died.
	failures int
}

func newMemStore() *memStore {
	return &memStore{rows: map[string]webhook.Delivery{}, removed: map[string]bool{}}
}

// addEvent records an event, as the store does.
func (b *memStore) addEvent(order, agent string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	row := b.rows[order]
	row.Order, row.Agent = order, agent
	row.EventCount++
	if row.DueAt.IsZero() {
		row.DueAt = time.Now()
		row.PendingSince = row.DueAt
	}
	b.rows[order] = row
}

func (b *memStore) row(order string) webhook.Delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rows[order]
}

func (b *memStore) ClaimDueDeliveries(_ context.Context, now, lease time.Time, limit int) ([]webhook.Delivery, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var due []webhook.Delivery
	for _, row := range b.rows {
		if !row.DueAt.IsZero() && !row.DueAt.After(now) {
			due = append(due, row)
		}
	}
	slices.SortFunc(due, func(x, y webhook.Delivery) int {
		return cmp.Or(x.DueAt.Compare(y.DueAt), strings.Compare(x.Order, y.Order))
	})
	due = due[:min(limit, len(due))]
	for i := range due {
		due[i].DueAt = lease
		b.rows[due[i].Order] = due[i]
		if due[i].Order != "ord_deleted" {
			due[i].Snapshot = &order.Order{ID: due[i].Order}
		}
		if !b.removed[due[i].Agent] {
			due[i].Target = agent.SealedWebhook{URL: "https://" + due[i].Agent + ".example/hook", Version: "v"}
		}
	}
	return due, nil
}

func (b *memStore) CompleteDelivery(_ context.Context, order string, lease time.Time, seen, delivered int64, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	row := b.rows[order]
	if b.failures > 0 {
		b.failures--
		return errors.New("the database is away")
	}
	if !row.DueAt.Equal(lease) {
		return nil
	}
	row.DeliveredCount, row.Attempts, row.DueAt = delivered, 0, time.Time{}
	if row.EventCount > seen {
		row.DueAt, row.PendingSince = now, now
	}
	b.rows[order] = row
	return nil
}

func (b *memStore) PostponeDelivery(_ context.Context, order string, lease, due time.Time, attempts int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if row := b.rows[order]; row.DueAt.Equal(lease) {
		row.DueAt, row.Attempts = due, attempts
		b.rows[order] = row
	}
	return nil
}

func (*memStore) OpenWebhook(id string, sealed agent.SealedWebhook) (agent.Webhook, error) {
	return agent.Webhook{URL: sealed.URL, Secret: "secret of " + id, Version: sealed.Version}, nil
}

func (*memStore) Event(o order.Order, version string, first bool) ([]byte, error) {
	return fmt.Appendf(nil, "%s %s first=%t", o.ID, version, first), nil
}

// fakeSender is every agent's webhook.
type fakeSender struct {
	mu    sync.Mutex
	sent  []webhook.Message
	times []time.Time
	// answer returns the result of a message; nil accepts all.
	answer func(ctx context.Context, m webhook.Message, n int) error
}

func (w *fakeSender) Send(ctx context.Context, m webhook.Message) error {
	w.mu.Lock()
	w.sent, w.times = append(w.sent, m), append(w.times, time.Now())
	n := len(w.sent)
	w.mu.Unlock()
	if w.answer == nil {
		return nil
	}
	return w.answer(ctx, m, n)
}

func (w *fakeSender) messages() []webhook.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

// startRunner starts a runner in a bubble and returns a function that ends it.
func startRunner(t *testing.T, b *memStore, w *fakeSender, more ...func(*webhook.Config)) (*jobs.Worker[webhook.Delivery], func()) {
	t.Helper()
	cfg := webhook.Config{Store: b, OpenWebhook: b.OpenWebhook, Event: b.Event, Sender: w}
	for _, set := range more {
		set(&cfg)
	}
	runner, err := webhook.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		runner.Run(ctx)
		close(done)
	}()
	return runner, func() {
		cancel()
		<-done
	}
}

func TestSign_CoversTimeAndBody(t *testing.T) {
	t.Parallel()
	// Computed with: printf '1763164800.{}' | openssl dgst -sha256 -hmac whsec_test
	const want = "t=1763164800,v1=9fabb08b7ba2fb27c92bbd15d30e7df4afe9a692ebb754fc6cb3c3967b05789d"
	if got := webhook.Sign("whsec_test", time.Unix(1763164800, 999), []byte("{}")); got != want {
		t.Errorf("got %s", got)
	}
}

func TestRunner_SendsOrderThenItsChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w := newMemStore(), &fakeSender{}
		runner, stop := startRunner(t, b, w)
		b.addEvent("ord_1", "agt_1")
		runner.Wake()
		synctest.Wait()
		b.addEvent("ord_1", "agt_1")
		b.addEvent("ord_1", "agt_1")
		runner.Wake()
		synctest.Wait()
		time.Sleep(time.Hour)
		stop()
		sent := w.messages()
		if len(sent) != 2 || string(sent[0].Body) != "ord_1 v first=true" || string(sent[1].Body) != "ord_1 v first=false" {
			t.Fatalf("sent %q", sent)
		}
		if sent[0].ID != "ord_1.1" || sent[1].ID != "ord_1.3" || sent[0].URL != "https://agt_1.example/hook" {
			t.Errorf("sent %+v", sent)
		}
		if want := webhook.Sign("secret of agt_1", sent[1].At, sent[1].Body); sent[1].Signature != want {
			t.Errorf("signed %s, want %s", sent[1].Signature, want)
		}
		if row := b.row("ord_1"); row.DeliveredCount != 3 || !row.DueAt.IsZero() {
			t.Errorf("left: %+v", row)
		}
	})
}

func TestRunner_ChangeDuringDeliveryIsSentNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newMemStore()
		w := &fakeSender{answer: func(_ context.Context, _ webhook.Message, n int) error {
			if n == 1 {
				b.addEvent("ord_1", "agt_1")
			}
			return nil
		}}
		b.addEvent("ord_1", "agt_1")
		_, stop := startRunner(t, b, w)
		time.Sleep(time.Minute)
		stop()
		if sent := w.messages(); len(sent) != 2 || sent[1].ID != "ord_1.2" || b.row("ord_1").DeliveredCount != 2 {
			t.Errorf("sent %+v, left %+v", sent, b.row("ord_1"))
		}
	})
}

func TestRunner_RetriesForADayUnderSameID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		counted := map[webhook.Outcome]int{}
		b := newMemStore()
		w := &fakeSender{answer: func(context.Context, webhook.Message, int) error {
			return registrar.Fault(registrar.FaultTimeout, "agent.example", errors.New("POST https://agent.example/hook?key=secret"))
		}}
		b.addEvent("ord_1", "agt_1")
		start := time.Now()
		_, stop := startRunner(t, b, w, func(cfg *webhook.Config) {
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			cfg.OnAttempt = func(o webhook.Outcome) { counted[o]++ }
		})
		time.Sleep(30 * time.Hour)
		synctest.Wait() // a delivery may be due right now
		for i, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second} {
			// The poll runs up to a second later, and the agent's backoff is slightly longer than the row's.
			if off := w.times[i+1].Sub(w.times[i]) - want; off < 0 || off > 30*time.Second {
				t.Errorf("backoff %d is off by %s", i+1, off)
			}
		}
		if last := w.times[len(w.times)-1].Sub(start); last < 24*time.Hour || last > 25*time.Hour+time.Minute {
			t.Errorf("the last attempt was after %s", last)
		}
		if counted[webhook.Abandoned] != 1 || counted[webhook.Failed] != len(w.sent) || counted[webhook.Sent] != 0 {
			t.Errorf("counted %v of %d", counted, len(w.sent))
		}
		for _, message := range w.sent {
			if message.ID != "ord_1.1" {
				t.Errorf("same message has ID %s", message.ID)
			}
		}
		if text := log.String(); strings.Contains(text, "secret") || strings.Contains(text, "/hook") || !strings.Contains(text, "abandoned") {
			t.Errorf("log:\n%s", text)
		}
		// Later events are delivered, still marked as the first.
		tried := len(w.messages())
		w.mu.Lock()
		w.answer = nil
		w.mu.Unlock()
		b.addEvent("ord_1", "agt_1")
		time.Sleep(time.Hour)
		stop()
		if sent := w.messages(); len(sent) != tried+1 || string(sent[tried].Body) != "ord_1 v first=true" {
			t.Errorf("sent %q after it was abandoned", sent[tried:])
		}
	})
}

func TestRunner_HangingAgentDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newMemStore()
		w := &fakeSender{answer: func(ctx context.Context, m webhook.Message, _ int) error {
			if strings.Contains(m.URL, "agt_hangs") {
				<-ctx.Done()
				return registrar.Fault(registrar.FaultTimeout, "", ctx.Err())
			}
			return nil
		}}
		for i := range 100 {
			b.addEvent(fmt.Sprintf("ord_a%03d", i), "agt_hangs")
		}
		for i := range 20 {
			b.addEvent(fmt.Sprintf("ord_b%03d", i), "agt_good")
		}
		start := time.Now()
		_, stop := startRunner(t, b, w)
		time.Sleep(8 * time.Second) // less than one hanging call
		good := 0
		for _, message := range w.messages() {
			if strings.Contains(message.URL, "agt_good") {
				good++
			}
		}
		if hanging := len(w.messages()) - good; good != 20 || hanging != 4 {
			t.Errorf("after %s: %d to the good agent, %d to the hanging one", time.Since(start), good, hanging)
		}
		time.Sleep(2 * time.Minute)
		stop()
		if calls := len(w.messages()) - 20; calls > 30 {
			t.Errorf("hanging agent called %d times", calls)
		}
	})
}

func TestRunner_RetryAfterAppliesToWholeAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newMemStore()
		w := &fakeSender{answer: func(_ context.Context, _ webhook.Message, n int) error {
			if n == 1 {
				fault := registrar.Fault(registrar.FaultThrottled, "", nil)
				fault.RetryAfter = 10 * time.Minute
				return fault
			}
			return nil
		}}
		runner, stop := startRunner(t, b, w)
		b.addEvent("ord_1", "agt_1")
		runner.Wake()
		synctest.Wait()
		b.addEvent("ord_2", "agt_1")
		time.Sleep(9 * time.Minute)
		if sent := w.messages(); len(sent) != 1 {
			t.Errorf("%d sent too early", len(sent))
		}
		time.Sleep(2 * time.Minute)
		stop()
		if sent := w.messages(); len(sent) != 3 {
			t.Errorf("%d sent", len(sent))
		}
	})
}

func TestRunner_RemovedAgentIsNotCalled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w := newMemStore(), &fakeSender{}
		b.removed["agt_1"] = true
		b.addEvent("ord_1", "agt_1")
		_, stop := startRunner(t, b, w)
		time.Sleep(time.Hour)
		stop()
		if row := b.row("ord_1"); len(w.messages()) != 0 || !row.DueAt.IsZero() || row.DeliveredCount != 0 {
			t.Errorf("%d sent, left %+v", len(w.messages()), row)
		}
	})
}

func TestRunner_InternalFaultDoesNotBlockAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w := newMemStore(), &fakeSender{}
		b.addEvent("ord_deleted", "agt_1")
		_, stop := startRunner(t, b, w)
		synctest.Wait()
		b.addEvent("ord_1", "agt_1")
		time.Sleep(time.Second)
		synctest.Wait()
		stop()
		if sent := w.messages(); len(sent) != 1 || b.row("ord_deleted").Attempts == 0 {
			t.Errorf("sent %+v, left %+v", sent, b.row("ord_deleted"))
		}
	})
}

func TestRunner_ManyNodesSendEachChangeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newMemStore()
		w := &fakeSender{answer: func(context.Context, webhook.Message, int) error {
			time.Sleep(100 * time.Millisecond)
			return nil
		}}
		for i := range 100 {
			b.addEvent(fmt.Sprint("ord_", i), fmt.Sprint("agt_", i%10))
		}
		var stops []func()
		for range 3 {
			_, stop := startRunner(t, b, w)
			stops = append(stops, stop)
		}
		time.Sleep(5 * time.Minute)
		for _, stop := range stops {
			stop()
		}
		ids := map[string]bool{}
		for _, message := range w.sent {
			ids[message.ID] = true
		}
		if len(w.sent) != 100 || len(ids) != 100 {
			t.Errorf("%d messages about %d orders", len(w.sent), len(ids))
		}
	})
}

func TestRunner_FinishesDeliveryOnShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newMemStore()
		w := &fakeSender{answer: func(ctx context.Context, _ webhook.Message, _ int) error {
			select {
			case <-time.After(3 * time.Second):
				return nil
			case <-ctx.Done():
				return registrar.Fault(registrar.FaultTimeout, "", ctx.Err())
			}
		}}
		b.addEvent("ord_1", "agt_1")
		_, stop := startRunner(t, b, w)
		synctest.Wait()
		stop()
		if row := b.row("ord_1"); row.DeliveredCount != 1 || !row.DueAt.IsZero() {
			t.Errorf("accepted message not recorded: %+v", row)
		}
	})
}

func TestRunner_UnrecordedDeliveryRepeatsUnderSameID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w := newMemStore(), &fakeSender{}
		b.failures = 1
		b.addEvent("ord_1", "agt_1")
		_, stop := startRunner(t, b, w)
		time.Sleep(time.Hour)
		stop()
		sent := w.messages()
		if len(sent) != 2 || sent[0].ID != sent[1].ID || string(sent[1].Body) != "ord_1 v first=true" || b.row("ord_1").DeliveredCount != 1 {
			t.Fatalf("sent %+v, left %+v", sent, b.row("ord_1"))
		}
		// No other node may send while the first delivery may be in flight.
		if apart := w.times[1].Sub(w.times[0]); apart < time.Minute {
			t.Errorf("second attempt after %s", apart)
		}
	})
}
