package letters_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/letters"
)

// run starts a runner in a bubble and returns it with a function that ends it.
func run(t *testing.T, cfg letters.Config) (*letters.Runner, func()) {
	t.Helper()
	cfg.BaseURL = "https://domains.example"
	runner, err := letters.New(cfg)
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

func TestTheHashOfALinkIsStoredBeforeItsLetterIsSent(t *testing.T) {
	t.Parallel()
	for kind, want := range map[registrar.LetterKind]struct {
		path  string
		lives time.Duration
	}{
		registrar.LetterConfirm:     {"https://domains.example/portal/confirm?link=", 48 * time.Hour},
		registrar.LetterReset:       {"https://domains.example/portal/reset/new?link=", time.Hour},
		registrar.LetterChangeEmail: {"https://domains.example/portal/email/confirm?link=", 24 * time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newShelf(kind)
			p := &post{shelf: s}
			_, stop := run(t, letters.Config{Store: s, Sender: p})
			synctest.Wait()
			stop()
			if !slices.Equal(s.events, []string{"link", "sent"}) || len(s.links) != 1 || s.len() != 0 {
				t.Fatalf("events %v, %d links, %d letters left", s.events, len(s.links), s.len())
			}
			secret, found := strings.CutPrefix(p.sent[0].Link, want.path)
			hash, valid := registrar.HashSecret(registrar.LinkSecret, secret)
			link := s.links[0]
			if !found || !valid || link.Hash != hash || link.Kind != kind || link.Email != recipient || link.Customer != "cus_1" {
				t.Errorf("the link %q does not open what was stored: %+v", p.sent[0].Link, link)
			}
			if lives := time.Until(link.ExpiresAt); lives != want.lives || !link.ExpiresAt.Equal(p.sent[0].LinkExpiresAt) {
				t.Errorf("the link works for %s, want %s", lives, want.lives)
			}
		})
	}
}

func TestALetterThatIsWithdrawnWhileItIsUnderWayIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(registrar.LetterReset)
		s.withdrawn = true
		p := &post{shelf: s}
		counted := 0
		count := func(registrar.LetterKind) { counted++ }
		_, stop := run(t, letters.Config{Store: s, Sender: p, Sent: count, Failed: count, GivenUp: count})
		synctest.Wait()
		stop()
		if len(p.sent) != 0 || counted != 0 {
			t.Errorf("%d sent, %d counted", len(p.sent), counted)
		}
	})
}

func TestALetterWithoutALinkStoresNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(registrar.LetterPasswordChanged)
		p := &post{shelf: s}
		_, stop := run(t, letters.Config{Store: s, Sender: p})
		synctest.Wait()
		stop()
		if len(p.sent) != 1 || p.sent[0].Link != "" || len(s.links) != 0 {
			t.Errorf("sent %+v, links %+v", p.sent, s.links)
		}
	})
}

func TestAnotherAttemptMakesAnotherSecretAndAnotherID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(registrar.LetterReset)
		p := &post{shelf: s, answer: func(_ context.Context, n int) error {
			if n == 1 {
				return registrar.Fault(registrar.FaultRefused, "mail.example", nil)
			}
			return nil
		}}
		_, stop := run(t, letters.Config{Store: s, Sender: p})
		time.Sleep(time.Minute)
		stop()
		if len(p.sent) != 2 || p.sent[0].Link == p.sent[1].Link || p.sent[0].ID == p.sent[1].ID {
			t.Fatalf("sent %+v", p.sent)
		}
		if s.links[0].Hash == s.links[1].Hash {
			t.Error("the second link has the first one's secret")
		}
	})
}

func TestAFailedLetterIsTriedAgainWithLongerPausesAndGivenUpAfterADay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		failed, given := 0, 0
		s := newShelf(registrar.LetterTokenCreated)
		p := &post{shelf: s, answer: func(context.Context, int) error {
			return registrar.Fault(registrar.FaultTimeout, "mail.example", errors.New("to "+recipient))
		}}
		_, stop := run(t, letters.Config{
			Store: s, Sender: p, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Failed:  func(registrar.LetterKind) { failed++ },
			GivenUp: func(registrar.LetterKind) { given++ },
		})
		start := time.Now()
		time.Sleep(30 * time.Hour)
		stop()
		var waits []time.Duration
		for i := 1; i < len(p.times); i++ {
			waits = append(waits, p.times[i].Sub(p.times[i-1]))
		}
		for i, want := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second} {
			if off := waits[i] - want; off < 0 || off > 2*time.Second { // the poll sees it up to two seconds later
				t.Errorf("pause %d is %s, want %s", i+1, waits[i], want)
			}
		}
		if longest := slices.Max(waits); longest > time.Hour+2*time.Second {
			t.Errorf("the longest pause is %s", longest)
		}
		if last := p.times[len(p.times)-1].Sub(start); last < 24*time.Hour || last > 25*time.Hour+time.Minute {
			t.Errorf("the last attempt was after %s", last)
		}
		if given != 1 || failed != len(p.sent) || s.len() != 0 {
			t.Errorf("given up %d, failed %d of %d, %d left", given, failed, len(p.sent), s.len())
		}
		if text := log.String(); strings.Contains(text, "kundin") || !strings.Contains(text, "given up") || !strings.Contains(text, "timeout") {
			t.Errorf("the log says:\n%s", text)
		}
	})
}

func TestALetterThatCannotEverArriveIsGivenUpAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		given := 0
		s := newShelf(registrar.LetterPasskey)
		p := &post{shelf: s, answer: func(context.Context, int) error {
			return &registrar.Error{Kind: registrar.KindInvalid, Code: letters.Undeliverable}
		}}
		_, stop := run(t, letters.Config{Store: s, Sender: p, GivenUp: func(registrar.LetterKind) { given++ }})
		synctest.Wait()
		stop()
		if len(p.sent) != 1 || given != 1 || s.len() != 0 {
			t.Errorf("sent %d, given up %d, %d left", len(p.sent), given, s.len())
		}
	})
}

func TestSeveralNodesSendEachLetterOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		for range 100 {
			s.add(registrar.LetterPasswordChanged)
		}
		p := &post{shelf: s, answer: func(ctx context.Context, _ int) error {
			time.Sleep(time.Second)
			return ctx.Err()
		}}
		var stops []func()
		for range 3 {
			_, stop := run(t, letters.Config{Store: s, Sender: p})
			stops = append(stops, stop)
		}
		time.Sleep(5 * time.Minute)
		for _, stop := range stops {
			stop()
		}
		ids := map[string]bool{}
		for _, message := range p.sent {
			ids[message.ID] = true
		}
		if len(p.sent) != 100 || len(ids) != 100 || s.len() != 0 {
			t.Errorf("%d sendings of %d letters, %d left", len(p.sent), len(ids), s.len())
		}
	})
}

func TestAtMostFourLettersAreUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		for range 40 {
			s.add(registrar.LetterPasswordChanged)
		}
		var mu sync.Mutex
		now, most := 0, 0
		p := &post{shelf: s, answer: func(context.Context, int) error {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return nil
		}}
		_, stop := run(t, letters.Config{Store: s, Sender: p})
		time.Sleep(time.Minute)
		stop()
		if most != 4 || s.len() != 0 {
			t.Errorf("%d at once, %d left", most, s.len())
		}
	})
}

func TestASendingHasADeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(registrar.LetterPasswordChanged)
		p := &post{shelf: s, answer: func(ctx context.Context, n int) error {
			if n > 1 {
				return nil
			}
			<-ctx.Done()
			return registrar.Fault(registrar.FaultTimeout, "mail.example", ctx.Err())
		}}
		_, stop := run(t, letters.Config{Store: s, Sender: p, Deadline: 7 * time.Second})
		time.Sleep(time.Minute)
		stop()
		if len(p.sent) != 2 || s.len() != 0 {
			t.Fatalf("sent %d times, %d left", len(p.sent), s.len())
		}
		if wait := p.times[1].Sub(p.times[0]); wait < 17*time.Second || wait > 19*time.Second {
			t.Errorf("the second attempt came after %s, want the deadline and the first pause", wait)
		}
	})
}

func TestAStoredLetterIsSentAtOnceWhenTheRunnerIsWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		p := &post{shelf: s}
		runner, stop := run(t, letters.Config{Store: s, Sender: p})
		time.Sleep(500 * time.Millisecond) // between two looks
		before := time.Now()
		s.add(registrar.LetterPasskey)
		runner.Wake()
		runner.Wake() // the second one finds the first one waiting, and does not wait
		synctest.Wait()
		if len(p.messages()) != 1 || !p.times[0].Equal(before) {
			t.Errorf("sent %d", len(p.messages()))
		}
		s.add(registrar.LetterPasskey) // by another node: nobody wakes us
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(p.messages()) != 2 {
			t.Errorf("the poll did not see another node's letter")
		}
		stop()
	})
}

func TestALetterUnderWayMayFinishWhenTheServiceStops(t *testing.T) {
	t.Parallel()
	for slow, left := range map[time.Duration]int{3 * time.Second: 0, time.Hour: 1} {
		synctest.Test(t, func(t *testing.T) {
			s := newShelf(registrar.LetterPasswordChanged)
			p := &post{shelf: s, answer: func(ctx context.Context, _ int) error {
				select {
				case <-time.After(slow):
					return nil
				case <-ctx.Done():
					return registrar.Fault(registrar.FaultTimeout, "mail.example", ctx.Err())
				}
			}}
			_, stop := run(t, letters.Config{Store: s, Sender: p})
			synctest.Wait()
			before := time.Now()
			stop()
			if took := time.Since(before); took > 5*time.Second || s.len() != left {
				t.Errorf("stopping took %s, %d letters left, want %d", took, s.len(), left)
			}
		})
	}
}
