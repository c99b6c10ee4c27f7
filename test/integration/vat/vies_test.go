// Package vat tests the VIES connector against the sandbox's VIES over a socket,
// with the real assessor and a real database. The two share no code, so a change to
// one side alone fails here.
package vat

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	sandbox "github.com/dotkontor/dotkontor/internal/sandbox/vies"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/vies"
	"github.com/dotkontor/dotkontor/test/testkit/dbtest"
)

// clock is the business time.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(span time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(span)
}

type env struct {
	*billing.Assessor
	clock  *clock
	server *sandbox.Server
}

func newEnv(t *testing.T) *env {
	t.Helper()
	server, err := sandbox.Start(sandbox.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, server.Close()) })
	db, err := store.Open(t.Context(), dbtest.SQLite(t))
	must(t, err)
	t.Cleanup(func() { must(t, db.Close()) })
	c := &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}
	client, err := vies.New(vies.Options{Address: server.Address(), Timeout: time.Second, Cache: db, Now: c.Now})
	must(t, err)
	t.Cleanup(client.Close)
	rates, err := billing.EmbeddedRates()
	must(t, err)
	return &env{billing.New(billing.Config{Rates: rates, Validator: client}), c, server}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *env) assess(t *testing.T, country, id string) billing.Assessment {
	t.Helper()
	got, err := s.Assess(t.Context(), billing.Party{Country: country, VATID: id}, []registrar.Cents{1000}, s.clock.Now())
	must(t, err)
	return got
}

func TestAssess_VIESResultDecidesRule(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		country, id string
		rule        billing.Rule
		vat         registrar.Cents
		unchecked   bool
	}{
		{"AT", "ATU12345678", billing.RuleReverseCharge, 0, false},
		{"GR", "EL123456789", billing.RuleReverseCharge, 0, false},
		{"AT", "ATU12345200", billing.RuleEUConsumer, 190, false},
		{"AT", "ATU12345201", billing.RuleEUConsumer, 190, false},
		{"AT", "ATU12345300", billing.RuleEUConsumer, 190, true},
		{"AT", "ATU12345301", billing.RuleEUConsumer, 190, true},
		{"AT", "ATU12345302", billing.RuleEUConsumer, 190, true},
		{"AT", "ATU12345303", billing.RuleEUConsumer, 190, true},
		{"AT", "ATU12345304", billing.RuleEUConsumer, 190, true},
		{"AT", "ATU12345500", billing.RuleEUConsumer, 190, true},
		{"AT", "ATU12345600", billing.RuleEUConsumer, 190, true},
	} {
		t.Run(test.id, func(t *testing.T) {
			t.Parallel()
			got := newEnv(t).assess(t, test.country, test.id)
			if got.Rule != test.rule || got.Unchecked != test.unchecked || !slices.Equal(got.VAT, []registrar.Cents{test.vat}) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestVIES_ResultIsCachedForADay(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for range 3 {
		if got := s.assess(t, "AT", "ATU12345678"); got.Rule != billing.RuleReverseCharge {
			t.Fatalf("got %+v", got)
		}
	}
	if n := s.server.Requests(); n != 1 {
		t.Errorf("%d VIES queries, want 1", n)
	}
	s.clock.advance(24 * time.Hour)
	s.assess(t, "AT", "ATU12345678")
	if n := s.server.Requests(); n != 2 {
		t.Errorf("%d VIES queries, want another after a day", n)
	}
}
