package tidings_test

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

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/tidings"
)

// board is a store in memory, and all agents and orders.
type board struct {
	mu   sync.Mutex
	rows map[string]tidings.Tiding
	// gone agents want to hear nothing.
	gone map[string]bool
	// lost is how many notes of what was told get lost, as if the node had died.
	lost int
}

func newBoard() *board {
	return &board{rows: map[string]tidings.Tiding{}, gone: map[string]bool{}}
}

// happen notes a change, as the store does.
func (b *board) happen(order, agent string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	row := b.rows[order]
	row.Order, row.Agent = order, agent
	row.Changes++
	if row.DueAt.IsZero() {
		row.DueAt = time.Now()
		row.Since = row.DueAt
	}
	b.rows[order] = row
}

func (b *board) row(order string) tidings.Tiding {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rows[order]
}

func (b *board) DueTidings(_ context.Context, now time.Time, limit int) ([]tidings.Tiding, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var due []tidings.Tiding
	for _, row := range b.rows {
		if !row.DueAt.IsZero() && !row.DueAt.After(now) {
			due = append(due, row)
		}
	}
	slices.SortFunc(due, func(x, y tidings.Tiding) int {
		return cmp.Or(x.DueAt.Compare(y.DueAt), strings.Compare(x.Order, y.Order))
	})
	return due[:min(limit, len(due))], nil
}

func (b *board) ClaimTiding(_ context.Context, order string, wasDue, lease time.Time) (tidings.Tiding, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	row := b.rows[order]
	if !row.DueAt.Equal(wasDue) {
		return tidings.Tiding{}, false, nil
	}
	row.DueAt = lease
	b.rows[order] = row
	return row, true, nil
}

func (b *board) SettleTiding(_ context.Context, order string, lease time.Time, seen, told int64, now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	row := b.rows[order]
	if b.lost > 0 {
		b.lost--
		return errors.New("the database is away")
	}
	if !row.DueAt.Equal(lease) {
		return nil
	}
	row.Told, row.Attempts, row.DueAt = told, 0, time.Time{}
	if row.Changes > seen {
		row.DueAt, row.Since = now, now
	}
	b.rows[order] = row
	return nil
}

func (b *board) PostponeTiding(_ context.Context, order string, lease, due time.Time, attempts int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if row := b.rows[order]; row.DueAt.Equal(lease) {
		row.DueAt, row.Attempts = due, attempts
		b.rows[order] = row
	}
	return nil
}

func (b *board) Hook(_ context.Context, agent string) (tidings.Hook, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return tidings.Hook{URL: "https://" + agent + ".example/hook", Secret: "secret of " + agent, Version: "v"}, !b.gone[agent], nil
}

func (b *board) Event(_ context.Context, order, version string, first bool) ([]byte, error) {
	if order == "ord_unreadable" {
		return nil, errors.New("no such order")
	}
	return fmt.Appendf(nil, "%s %s first=%t", order, version, first), nil
}

// wire is every agent's webhook.
type wire struct {
	mu    sync.Mutex
	sent  []tidings.Message
	times []time.Time
	// answer is what becomes of a message; nil means that all arrive.
	answer func(ctx context.Context, m tidings.Message, n int) error
}

func (w *wire) Send(ctx context.Context, m tidings.Message) error {
	w.mu.Lock()
	w.sent, w.times = append(w.sent, m), append(w.times, time.Now())
	n := len(w.sent)
	w.mu.Unlock()
	if w.answer == nil {
		return nil
	}
	return w.answer(ctx, m, n)
}

func (w *wire) messages() []tidings.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

// run starts a runner in a bubble and returns a function that ends it.
func run(t *testing.T, b *board, w *wire, more ...func(*tidings.Config)) (*tidings.Runner, func()) {
	t.Helper()
	cfg := tidings.Config{Store: b, Agents: b, Orders: b, Sender: w}
	for _, set := range more {
		set(&cfg)
	}
	runner, err := tidings.New(cfg)
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

func TestTheSignatureIsOverTimeAndBody(t *testing.T) {
	t.Parallel()
	// Computed with: printf '1763164800.{}' | openssl dgst -sha256 -hmac whsec_test
	const want = "t=1763164800,v1=9fabb08b7ba2fb27c92bbd15d30e7df4afe9a692ebb754fc6cb3c3967b05789d"
	if got := tidings.Sign("whsec_test", time.Unix(1763164800, 999), []byte("{}")); got != want {
		t.Errorf("got %s", got)
	}
}

func TestAnAgentHearsOfTheOrderAndThenOfItsChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w := newBoard(), &wire{}
		runner, stop := run(t, b, w)
		b.happen("ord_1", "agt_1")
		runner.Wake()
		synctest.Wait()
		b.happen("ord_1", "agt_1")
		b.happen("ord_1", "agt_1")
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
		if want := tidings.Sign("secret of agt_1", sent[1].At, sent[1].Body); sent[1].Signature != want {
			t.Errorf("signed %s, want %s", sent[1].Signature, want)
		}
		if row := b.row("ord_1"); row.Told != 3 || !row.DueAt.IsZero() {
			t.Errorf("left: %+v", row)
		}
	})
}

func TestAChangeWhileAMessageIsUnderWayIsToldNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard()
		w := &wire{answer: func(_ context.Context, _ tidings.Message, n int) error {
			if n == 1 {
				b.happen("ord_1", "agt_1")
			}
			return nil
		}}
		b.happen("ord_1", "agt_1")
		_, stop := run(t, b, w)
		time.Sleep(time.Minute)
		stop()
		if sent := w.messages(); len(sent) != 2 || sent[1].ID != "ord_1.2" || b.row("ord_1").Told != 2 {
			t.Errorf("sent %+v, left %+v", sent, b.row("ord_1"))
		}
	})
}

func TestAMessageIsTriedAgainForADayAndKeepsItsID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		counted := map[tidings.Outcome]int{}
		b := newBoard()
		w := &wire{answer: func(context.Context, tidings.Message, int) error {
			return registrar.Fault(registrar.FaultTimeout, "agent.example", errors.New("POST https://agent.example/hook?key=secret"))
		}}
		b.happen("ord_1", "agt_1")
		start := time.Now()
		_, stop := run(t, b, w, func(cfg *tidings.Config) {
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			cfg.Counted = func(o tidings.Outcome) { counted[o]++ }
		})
		time.Sleep(30 * time.Hour)
		synctest.Wait() // something may be due at this very moment
		for i, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second} {
			// The poll sees it a second later; the agent is left alone a little longer than the row.
			if off := w.times[i+1].Sub(w.times[i]) - want; off < 0 || off > 30*time.Second {
				t.Errorf("pause %d is off by %s", i+1, off)
			}
		}
		if last := w.times[len(w.times)-1].Sub(start); last < 24*time.Hour || last > 25*time.Hour+time.Minute {
			t.Errorf("the last attempt was after %s", last)
		}
		if counted[tidings.GivenUp] != 1 || counted[tidings.Failed] != len(w.sent) || counted[tidings.Sent] != 0 {
			t.Errorf("counted %v of %d", counted, len(w.sent))
		}
		for _, message := range w.sent {
			if message.ID != "ord_1.1" {
				t.Errorf("the same message is called %s", message.ID)
			}
		}
		if text := log.String(); strings.Contains(text, "secret") || strings.Contains(text, "/hook") || !strings.Contains(text, "given up") {
			t.Errorf("the log says:\n%s", text)
		}
		// What happens later is told, and it is still the first that the agent hears.
		tried := len(w.messages())
		w.mu.Lock()
		w.answer = nil
		w.mu.Unlock()
		b.happen("ord_1", "agt_1")
		time.Sleep(time.Hour)
		stop()
		if sent := w.messages(); len(sent) != tried+1 || string(sent[tried].Body) != "ord_1 v first=true" {
			t.Errorf("sent %q after it was given up", sent[tried:])
		}
	})
}

func TestAnAgentThatHangsLeavesRoomForTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard()
		w := &wire{answer: func(ctx context.Context, m tidings.Message, _ int) error {
			if strings.Contains(m.URL, "agt_hangs") {
				<-ctx.Done()
				return registrar.Fault(registrar.FaultTimeout, "", ctx.Err())
			}
			return nil
		}}
		for i := range 100 {
			b.happen(fmt.Sprintf("ord_a%03d", i), "agt_hangs")
		}
		for i := range 20 {
			b.happen(fmt.Sprintf("ord_b%03d", i), "agt_good")
		}
		start := time.Now()
		_, stop := run(t, b, w)
		time.Sleep(8 * time.Second) // less than one call that hangs
		good := 0
		for _, message := range w.messages() {
			if strings.Contains(message.URL, "agt_good") {
				good++
			}
		}
		if hanging := len(w.messages()) - good; good != 20 || hanging != 4 {
			t.Errorf("after %s: %d to the good one, %d to the other", time.Since(start), good, hanging)
		}
		time.Sleep(2 * time.Minute)
		stop()
		if calls := len(w.messages()) - 20; calls > 30 {
			t.Errorf("it was called %d times though it never answered", calls)
		}
	})
}

func TestRetryAfterIsHeardForAllMessagesToThatAgent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard()
		w := &wire{answer: func(_ context.Context, _ tidings.Message, n int) error {
			if n == 1 {
				fault := registrar.Fault(registrar.FaultThrottled, "", nil)
				fault.RetryAfter = 10 * time.Minute
				return fault
			}
			return nil
		}}
		runner, stop := run(t, b, w)
		b.happen("ord_1", "agt_1")
		runner.Wake()
		synctest.Wait()
		b.happen("ord_2", "agt_1")
		time.Sleep(9 * time.Minute)
		if sent := w.messages(); len(sent) != 1 {
			t.Errorf("%d were sent before the time", len(sent))
		}
		time.Sleep(2 * time.Minute)
		stop()
		if sent := w.messages(); len(sent) != 3 {
			t.Errorf("%d were sent", len(sent))
		}
	})
}

func TestAnAgentThatIsGoneIsNotCalled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w := newBoard(), &wire{}
		b.gone["agt_1"] = true
		b.happen("ord_1", "agt_1")
		_, stop := run(t, b, w)
		time.Sleep(time.Hour)
		stop()
		if row := b.row("ord_1"); len(w.messages()) != 0 || !row.DueAt.IsZero() || row.Told != 0 {
			t.Errorf("%d sent, left %+v", len(w.messages()), row)
		}
	})
}

func TestOurOwnFaultDoesNotShutTheDoor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w := newBoard(), &wire{}
		b.happen("ord_unreadable", "agt_1")
		_, stop := run(t, b, w)
		synctest.Wait()
		b.happen("ord_1", "agt_1")
		time.Sleep(time.Second)
		synctest.Wait()
		stop()
		if sent := w.messages(); len(sent) != 1 || b.row("ord_unreadable").Attempts == 0 {
			t.Errorf("sent %+v, left %+v", sent, b.row("ord_unreadable"))
		}
	})
}

func TestSeveralNodesTellEachChangeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard()
		w := &wire{answer: func(context.Context, tidings.Message, int) error {
			time.Sleep(100 * time.Millisecond)
			return nil
		}}
		for i := range 100 {
			b.happen(fmt.Sprint("ord_", i), fmt.Sprint("agt_", i%10))
		}
		var stops []func()
		for range 3 {
			_, stop := run(t, b, w)
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

func TestAMessageUnderWayIsFinishedWhenTheServiceStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBoard()
		w := &wire{answer: func(ctx context.Context, _ tidings.Message, _ int) error {
			select {
			case <-time.After(3 * time.Second):
				return nil
			case <-ctx.Done():
				return registrar.Fault(registrar.FaultTimeout, "", ctx.Err())
			}
		}}
		b.happen("ord_1", "agt_1")
		_, stop := run(t, b, w)
		synctest.Wait()
		stop()
		if row := b.row("ord_1"); row.Told != 1 || !row.DueAt.IsZero() {
			t.Errorf("it was taken, and is not noted: %+v", row)
		}
	})
}

func TestWhatWasTakenAndNotNotedIsToldAgainUnderTheSameID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w := newBoard(), &wire{}
		b.lost = 1
		b.happen("ord_1", "agt_1")
		_, stop := run(t, b, w)
		time.Sleep(time.Hour)
		stop()
		sent := w.messages()
		if len(sent) != 2 || sent[0].ID != sent[1].ID || string(sent[1].Body) != "ord_1 v first=true" || b.row("ord_1").Told != 1 {
			t.Fatalf("sent %+v, left %+v", sent, b.row("ord_1"))
		}
		// Nobody else may send while the first may still be under way.
		if apart := w.times[1].Sub(w.times[0]); apart < time.Minute {
			t.Errorf("the second came after %s", apart)
		}
	})
}
