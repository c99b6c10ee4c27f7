package lookup

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// withWHOIS is a catalogue whose extensions name a WHOIS server.
type withWHOIS struct{ catalogue }

func (c withWHOIS) Extension(tld string) (registrar.Extension, bool) {
	ext, ok := c.catalogue.Extension(tld)
	ext.WHOIS = "whois.example.net"
	return ext, ok
}

func after(d time.Duration, state State) *records {
	return &records{finding: Finding{State: state}, after: d}
}

func TestTheHedge(t *testing.T) {
	const (
		hedge = 800 * time.Millisecond
		quick = 80 * time.Millisecond
		slow  = 2 * time.Second
	)
	broken := &records{err: registrar.Fault(registrar.FaultBroken, "test", nil), after: quick}
	for _, test := range []struct {
		rule        string
		domain      string
		rdap, whois *records
		dns         delegations
		want        Availability
		source      Source
		took        time.Duration
		whoisAsked  int32
		disagree    int
	}{
		{rule: "a quick RDAP is alone", rdap: after(quick, Registered), whois: after(quick, Registered), want: Taken, source: SourceRDAP, took: quick},
		{rule: "a slow RDAP is overtaken by a record", rdap: after(slow, Registered), whois: after(quick, Registered), want: Taken, source: SourceWHOIS, took: hedge + quick, whoisAsked: 1},
		{rule: "a slow RDAP is overtaken by a free", rdap: after(slow, NotFound), whois: after(quick, Free), want: Available, source: SourceWHOIS, took: hedge + quick, whoisAsked: 1},
		{rule: "a free that overtakes still waits for the DNS", rdap: after(slow, NotFound), whois: after(quick, Free), dns: delegations{delegated: true, after: 1500 * time.Millisecond}, want: Unknown, took: 1500 * time.Millisecond, whoisAsked: 1, disagree: 1},
		{rule: "RDAP answers before the hedge does", rdap: after(time.Second, Registered), whois: after(slow, Free), want: Taken, source: SourceRDAP, took: time.Second, whoisAsked: 1},
		{rule: "a hedge that decides nothing lets RDAP go on", rdap: after(slow, Registered), whois: after(quick, Undecided), want: Taken, source: SourceRDAP, took: slow, whoisAsked: 1},
		{rule: "a hedge that fails lets RDAP go on", rdap: after(slow, NotFound), whois: broken, want: Available, source: SourceRDAP, took: slow, whoisAsked: 1},
		{rule: "a free that can't decide lets RDAP go on, and contradicts it", domain: "d.dev", rdap: after(slow, Registered), whois: after(quick, Free), want: Unknown, took: slow, whoisAsked: 1, disagree: 1},
		{rule: "RDAP fails while WHOIS is under way", rdap: &records{err: registrar.Fault(registrar.FaultBroken, "test", nil), after: time.Second}, whois: after(slow, Free), want: Available, source: SourceWHOIS, took: hedge + slow, whoisAsked: 1},
		{rule: "RDAP fails before the hedge", rdap: broken, whois: after(quick, Free), want: Available, source: SourceWHOIS, took: 2 * quick, whoisAsked: 1},
	} {
		t.Run(test.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				domain := test.domain
				if domain == "" {
					domain = "kaffeehaus.dev"
				}
				disagreements := 0
				test.whois.asked.Store(0)
				engine := newEngine(t, Config{
					Catalogue: withWHOIS{carried}, RDAP: test.rdap, WHOIS: test.whois, DNS: test.dns,
					HedgeAfter: hedge, Disagreed: func(string) { disagreements++ },
				})
				began := time.Now()
				answer, err := engine.Check(t.Context(), domain)
				if err != nil {
					t.Fatal(err)
				}
				if answer.Availability != test.want || answer.Source != test.source {
					t.Errorf("got %v by %q; want %v by %q", answer.Availability, answer.Source, test.want, test.source)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("took %s, want %s", took, test.took)
				}
				if asked := test.whois.asked.Load(); asked != test.whoisAsked || disagreements != test.disagree {
					t.Errorf("WHOIS was asked %d times, %d disagreements", asked, disagreements)
				}
				synctest.Wait() // and nothing is left running
			})
		})
	}
}

func TestAHedgeThatOvertookIsNoFaultOfRDAP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(map[string]int)
		engine := newEngine(t, Config{
			Catalogue: withWHOIS{carried}, RDAP: after(time.Hour, Registered), WHOIS: after(0, Registered), HedgeAfter: time.Second,
			DNS:     delegations{after: time.Hour},
			Observe: func(source Source, outcome string, _ time.Duration) { seen[string(source)+" "+outcome]++ },
		})
		if _, err := engine.Check(t.Context(), "kaffeehaus.de"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(seen) != 1 || seen["whois ok"] != 1 {
			t.Errorf("observed %v", seen)
		}
	})
}

func TestEverythingHangingStillEndsAtTheDeadlineWithAHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t, Config{
			Catalogue: withWHOIS{carried}, RDAP: after(time.Hour, Free), WHOIS: after(time.Hour, Free), DNS: delegations{after: time.Hour},
			HedgeAfter: time.Second, Deadline: 5 * time.Second,
		})
		began := time.Now()
		_, err := engine.Check(t.Context(), "kaffeehaus.de")
		if registrar.CodeOf(err) != registrar.FaultTimeout || time.Since(began) != 5*time.Second {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		synctest.Wait()
	})
}

func TestDisagreementsAreLoggedAndCountedWithoutTheName(t *testing.T) {
	for _, test := range []struct {
		rule        string
		rdap, whois *records
		dns         delegations
		want        Availability
		source      Source
		times       int
	}{
		{"RDAP has none, WHOIS has one", says(NotFound), says(Registered), noDNS, Taken, SourceWHOIS, 1},
		{"RDAP and WHOIS have none, the DNS has nameservers", says(NotFound), says(Undecided), delegated, Taken, SourceDNS, 1},
		{"RDAP has none, WHOIS one and the DNS nameservers", says(NotFound), says(Registered), delegated, Taken, SourceWHOIS, 1},
		{"WHOIS says free, the DNS has nameservers", none, says(Free), delegated, Unknown, "", 1},
		{"RDAP failed, WHOIS has one", fails(registrar.FaultBroken), says(Registered), delegated, Taken, SourceWHOIS, 0},
		{"all agree", says(NotFound), says(Free), undelegated, Available, SourceRDAP, 0},
	} {
		t.Run(test.rule, func(t *testing.T) {
			var log bytes.Buffer
			counted := 0
			engine := newEngine(t, Config{
				RDAP: test.rdap, WHOIS: test.whois, DNS: test.dns, Logger: slog.New(slog.NewJSONHandler(&log, nil)),
				Disagreed: func(tld string) {
					if counted++; tld != ".de" {
						t.Errorf("counted for %s", tld)
					}
				},
			})
			answer, err := engine.Check(t.Context(), "kaffeehaus.de")
			if err != nil || answer.Availability != test.want || answer.Source != test.source {
				t.Errorf("got %+v, %v", answer, err)
			}
			if logged := strings.Count(log.String(), "sources disagree"); logged != test.times || counted != test.times {
				t.Errorf("logged %d and counted %d times", logged, counted)
			}
			if strings.Contains(log.String(), "kaffeehaus") {
				t.Errorf("the log says %s", log.String())
			}
		})
	}
}

func TestAPanicInTheHedgeEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t, Config{
			Catalogue: withWHOIS{carried}, RDAP: after(2*time.Second, Registered), WHOIS: panicking{}, DNS: undelegated, HedgeAfter: time.Second,
		})
		if answer, err := engine.Check(t.Context(), "kaffeehaus.de"); err != nil || answer.Availability != Taken || answer.Source != SourceRDAP {
			t.Errorf("got %+v, %v", answer, err)
		}
	})
}

// The race detector is the judge: a hedge would write into the notebook while
// the record is read from it.
func TestARecordIsReadWithoutAHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whois := after(time.Second, Registered)
		engine := newEngine(t, Config{
			Catalogue: withWHOIS{carried}, WHOIS: whois, DNS: undelegated, HedgeAfter: time.Second,
			RDAP: &records{finding: Finding{State: Registered, Record: &Record{Registrar: "Example"}}, after: 2 * time.Second},
		})
		answer, err := engine.Whois(t.Context(), "kaffeehaus.de")
		if err != nil || answer.Record.Registrar != "Example" || whois.asked.Load() != 0 {
			t.Errorf("got %+v, %v; WHOIS was asked %d times", answer, err, whois.asked.Load())
		}
	})
}
