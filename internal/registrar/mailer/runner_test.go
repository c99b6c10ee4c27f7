package mailer_test

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

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

// startRunner starts a runner in a bubble and returns it with a function that ends it.
func startRunner(t *testing.T, cfg mailer.Config) (*jobs.Worker[mailer.QueuedMail], func()) {
	t.Helper()
	cfg.BaseURL = "https://domains.example"
	runner, err := mailer.New(cfg)
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

func TestDeliver_StoresLinkHashBeforeSending(t *testing.T) {
	t.Parallel()
	for kind, want := range map[registrar.MailKind]struct {
		path  string
		lives time.Duration
	}{
		registrar.MailConfirm:       {"https://domains.example/portal/confirm?link=", 48 * time.Hour},
		registrar.MailPasswordReset: {"https://domains.example/portal/reset/new?link=", time.Hour},
		registrar.MailSignIn:        {"https://domains.example/portal/sign-in/link?link=", time.Hour},
		registrar.MailChangeEmail:   {"https://domains.example/portal/email/confirm?link=", 24 * time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newMemStore(kind)
			p := &fakeSender{store: s}
			_, stop := startRunner(t, mailer.Config{Store: s, Sender: p})
			synctest.Wait()
			stop()
			if !slices.Equal(s.events, []string{"link", "sent"}) || len(s.links) != 1 || s.len() != 0 {
				t.Fatalf("events %v, %d links, %d mails left", s.events, len(s.links), s.len())
			}
			secret, found := strings.CutPrefix(p.sent[0].Link, want.path)
			hash, valid := registrar.HashSecret(registrar.LinkSecret, secret)
			link := s.links[0]
			if !found || !valid || link.Hash != hash || link.Kind != kind || link.Email != recipient || link.Customer != "cus_1" {
				t.Errorf("link %q does not match the stored hash: %+v", p.sent[0].Link, link)
			}
			if ttl := time.Until(link.ExpiresAt); ttl != want.lives || !link.ExpiresAt.Equal(p.sent[0].LinkExpiresAt) {
				t.Errorf("link TTL = %s, want %s", ttl, want.lives)
			}
		})
	}
}

func TestDeliver_WithdrawnMailIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemStore(registrar.MailPasswordReset)
		s.withdrawn = true
		p := &fakeSender{store: s}
		counted := 0
		_, stop := startRunner(t, mailer.Config{Store: s, Sender: p, OnAttempt: func(registrar.MailKind, mailer.Outcome) { counted++ }})
		synctest.Wait()
		stop()
		if len(p.sent) != 0 || counted != 0 {
			t.Errorf("%d sent, %d counted", len(p.sent), counted)
		}
	})
}

func TestDeliver_MailWithoutLinkStoresNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemStore(registrar.MailPasswordChanged)
		p := &fakeSender{store: s}
		_, stop := startRunner(t, mailer.Config{Store: s, Sender: p})
		synctest.Wait()
		stop()
		if len(p.sent) != 1 || p.sent[0].Link != "" || len(s.links) != 0 {
			t.Errorf("sent %+v, links %+v", p.sent, s.links)
		}
	})
}

func TestDeliver_RetryUsesNewSecretAndMessageID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemStore(registrar.MailPasswordReset)
		p := &fakeSender{store: s, respond: func(_ context.Context, n int) error {
			if n == 1 {
				return registrar.Fault(registrar.FaultRefused, "mail.example", nil)
			}
			return nil
		}}
		_, stop := startRunner(t, mailer.Config{Store: s, Sender: p})
		time.Sleep(time.Minute)
		stop()
		if len(p.sent) != 2 || p.sent[0].Link == p.sent[1].Link || p.sent[0].ID == p.sent[1].ID {
			t.Fatalf("sent %+v", p.sent)
		}
		if s.links[0].Hash == s.links[1].Hash {
			t.Error("the retry reused the link secret")
		}
	})
}

func TestDeliver_LinkLeadsToNextPageAndMailKnowsWhetherThereIsAPassword(t *testing.T) {
	t.Parallel()
	for _, has := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newMemStore(registrar.MailConfirm)
			for id, mail := range s.mails {
				mail.Data, mail.NoPassword = map[string]string{registrar.MailNext: "/transfer"}, !has
				s.mails[id] = mail
			}
			p := &fakeSender{store: s}
			_, stop := startRunner(t, mailer.Config{Store: s, Sender: p})
			time.Sleep(time.Minute)
			stop()
			if len(p.sent) != 1 || !strings.HasPrefix(p.sent[0].Link, "https://domains.example/portal/confirm?link=") || !strings.HasSuffix(p.sent[0].Link, "&next=%2Ftransfer") ||
				p.sent[0].NoPassword == has {
				t.Errorf("sent %+v", p.sent)
			}
		})
	}
}

func TestDeliver_BacksOffAndAbandonsAfterOneDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		counted := make(map[mailer.Outcome]int)
		s := newMemStore(registrar.MailTokenCreated)
		p := &fakeSender{store: s, respond: func(context.Context, int) error {
			return registrar.Fault(registrar.FaultTimeout, "mail.example", errors.New("to "+recipient))
		}}
		_, stop := startRunner(t, mailer.Config{
			Store: s, Sender: p, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			OnAttempt: func(_ registrar.MailKind, outcome mailer.Outcome) { counted[outcome]++ },
		})
		start := time.Now()
		time.Sleep(30 * time.Hour)
		stop()
		var delays []time.Duration
		for i := 1; i < len(p.times); i++ {
			delays = append(delays, p.times[i].Sub(p.times[i-1]))
		}
		for i, want := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second} {
			if off := delays[i] - want; off < 0 || off > 2*time.Second { // the poll sees it up to two seconds later
				t.Errorf("backoff %d = %s, want %s", i+1, delays[i], want)
			}
		}
		if longest := slices.Max(delays); longest > time.Hour+2*time.Second {
			t.Errorf("longest backoff = %s", longest)
		}
		if last := p.times[len(p.times)-1].Sub(start); last < 24*time.Hour || last > 25*time.Hour+time.Minute {
			t.Errorf("the last attempt was after %s", last)
		}
		if counted[mailer.Abandoned] != 1 || counted[mailer.Failed] != len(p.sent) || s.len() != 0 {
			t.Errorf("counted %v of %d, %d left", counted, len(p.sent), s.len())
		}
		if text := log.String(); strings.Contains(text, "kundin") || !strings.Contains(text, "abandoned") || !strings.Contains(text, "timeout") {
			t.Errorf("log:\n%s", text)
		}
	})
}

func TestDeliver_UndeliverableMailIsAbandonedImmediately(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		counted := make(map[mailer.Outcome]int)
		s := newMemStore(registrar.MailPasskey)
		p := &fakeSender{store: s, respond: func(context.Context, int) error {
			return &registrar.Error{Kind: registrar.KindInvalid, Code: mailer.Undeliverable}
		}}
		_, stop := startRunner(t, mailer.Config{Store: s, Sender: p, OnAttempt: func(_ registrar.MailKind, outcome mailer.Outcome) { counted[outcome]++ }})
		synctest.Wait()
		stop()
		if len(p.sent) != 1 || counted[mailer.Abandoned] != 1 || s.len() != 0 {
			t.Errorf("sent %d, counted %v, %d left", len(p.sent), counted, s.len())
		}
	})
}

func TestDeliver_NoticeIsKeptAsSentOrAbandoned(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind     registrar.MailKind
		err      error
		kept     int
		accepted bool
	}{
		"accepted":         {kind: registrar.MailExpiringWeek, kept: 1, accepted: true},
		"abandoned":        {kind: registrar.MailExpired, err: &registrar.Error{Kind: registrar.KindInvalid, Code: mailer.Undeliverable}, kept: 1},
		"not a notice":     {kind: registrar.MailPasswordChanged},
		"not yet accepted": {kind: registrar.MailExpired, err: registrar.Fault(registrar.FaultTimeout, "mail.example", nil)},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newMemStore(test.kind)
			_, stop := startRunner(t, mailer.Config{Store: s, Sender: &fakeSender{store: s, respond: func(context.Context, int) error { return test.err }}})
			synctest.Wait()
			stop()
			if len(s.evidence) != test.kept {
				t.Fatalf("%s: evidence %+v", name, s.evidence)
			}
			if test.kept == 0 {
				return
			}
			if got := s.evidence[0]; got.Accepted != test.accepted || got.Subject != "subject of "+string(test.kind) || got.Text != "text" ||
				got.Response != "2.0.0 queued" || got.Mail.To != recipient || got.At.IsZero() {
				t.Errorf("%s: evidence %+v", name, got)
			}
		})
	}
}

// Pages list kept mails with what happened to the domain or the order.
func TestDeliver_NoticeIsKeptAtBusinessTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const moved = 30 * 24 * time.Hour
		s := newMemStore(registrar.MailExpired)
		queued := time.Now()
		_, stop := startRunner(t, mailer.Config{Store: s, Sender: &fakeSender{store: s}, Business: func() time.Time { return time.Now().Add(moved) }})
		synctest.Wait()
		stop()
		if len(s.evidence) != 1 || s.evidence[0].At.Before(queued.Add(moved)) || s.evidence[0].At.Sub(s.evidence[0].Mail.CreatedAt) > time.Minute || s.evidence[0].At.Before(s.evidence[0].Mail.CreatedAt) {
			t.Errorf("%+v", s.evidence)
		}
	})
}

func TestDeliver_MultipleNodesSendEachMailOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemStore()
		for range 100 {
			s.add(registrar.MailPasswordChanged)
		}
		p := &fakeSender{store: s, respond: func(ctx context.Context, _ int) error {
			time.Sleep(time.Second)
			return ctx.Err()
		}}
		var stops []func()
		for range 3 {
			_, stop := startRunner(t, mailer.Config{Store: s, Sender: p})
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
			t.Errorf("%d messages for %d mails, %d left", len(p.sent), len(ids), s.len())
		}
	})
}

func TestRunner_SendsAtMostFourConcurrently(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemStore()
		for range 40 {
			s.add(registrar.MailPasswordChanged)
		}
		var mu sync.Mutex
		now, most := 0, 0
		p := &fakeSender{store: s, respond: func(context.Context, int) error {
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
		_, stop := startRunner(t, mailer.Config{Store: s, Sender: p})
		time.Sleep(time.Minute)
		stop()
		if most != 4 || s.len() != 0 {
			t.Errorf("%d concurrent, %d left", most, s.len())
		}
	})
}

func TestDeliver_SendHasDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemStore(registrar.MailPasswordChanged)
		p := &fakeSender{store: s, respond: func(ctx context.Context, n int) error {
			if n > 1 {
				return nil
			}
			<-ctx.Done()
			return registrar.Fault(registrar.FaultTimeout, "mail.example", ctx.Err())
		}}
		_, stop := startRunner(t, mailer.Config{Store: s, Sender: p, Deadline: 7 * time.Second})
		time.Sleep(time.Minute)
		stop()
		if len(p.sent) != 2 || s.len() != 0 {
			t.Fatalf("sent %d times, %d left", len(p.sent), s.len())
		}
		if wait := p.times[1].Sub(p.times[0]); wait < 17*time.Second || wait > 19*time.Second {
			t.Errorf("second attempt after %s, want deadline plus first backoff", wait)
		}
	})
}

func TestWake_SendsQueuedMailImmediately(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemStore()
		p := &fakeSender{store: s}
		runner, stop := startRunner(t, mailer.Config{Store: s, Sender: p})
		time.Sleep(500 * time.Millisecond) // between two polls
		before := time.Now()
		s.add(registrar.MailPasskey)
		runner.Wake()
		runner.Wake() // the second call finds the signal set and doesn't block
		synctest.Wait()
		if len(p.messages()) != 1 || !p.times[0].Equal(before) {
			t.Errorf("sent %d", len(p.messages()))
		}
		s.add(registrar.MailPasskey) // by another node, without Wake
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(p.messages()) != 2 {
			t.Errorf("the poll missed another node's mail")
		}
		stop()
	})
}

func TestRun_SendInProgressFinishesWithinShutdownGrace(t *testing.T) {
	t.Parallel()
	for slow, left := range map[time.Duration]int{3 * time.Second: 0, time.Hour: 1} {
		synctest.Test(t, func(t *testing.T) {
			s := newMemStore(registrar.MailPasswordChanged)
			p := &fakeSender{store: s, respond: func(ctx context.Context, _ int) error {
				select {
				case <-time.After(slow):
					return nil
				case <-ctx.Done():
					return registrar.Fault(registrar.FaultTimeout, "mail.example", ctx.Err())
				}
			}}
			_, stop := startRunner(t, mailer.Config{Store: s, Sender: p})
			synctest.Wait()
			before := time.Now()
			stop()
			if took := time.Since(before); took > 5*time.Second || s.len() != left {
				t.Errorf("shutdown took %s, %d mails left, want %d", took, s.len(), left)
			}
		})
	}
}

// The evidence of a mail with a link must not be a key to what the link does.
func TestDeliver_EvidenceHasNoLink(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newMemStore(registrar.MailContactCheck)
		p := &fakeSender{store: s}
		_, stop := startRunner(t, mailer.Config{Store: s, Sender: p, BaseURL: "https://domains.example"})
		synctest.Wait()
		stop()
		sent := p.messages()
		if len(sent) != 1 || !strings.HasPrefix(sent[0].Link, "https://domains.example/portal/contact-check?link=dotkontor_link_") {
			t.Fatalf("sent %+v", sent)
		}
		if len(s.evidence) != 1 || registrar.ContainsSecret(s.evidence[0].Text) || s.evidence[0].Text != "texthttps://domains.example/portal/contact-check?link=…" {
			t.Errorf("evidence %+v", s.evidence)
		}
	})
}
