package lookup

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// catalogue carries a few extensions, all at the same price.
type catalogue []string

func (c catalogue) Extension(tld string) (registrar.Extension, bool) {
	for _, carried := range c {
		if carried == tld {
			return registrar.Extension{TLD: tld, Register: 690, Renew: 590, Transfer: 490}, true
		}
	}
	return registrar.Extension{}, false
}

var carried = catalogue{".de", ".com", ".eu", ".net", ".org", ".shop", ".io", ".ch", ".dev"}

// records says the same about every name, after a while.
type records struct {
	finding Finding
	err     error
	after   time.Duration
	asked   atomic.Int32
}

func (r *records) Find(ctx context.Context, _ registrar.Extension, _ registrar.Name) (Finding, error) {
	r.asked.Add(1)
	select {
	case <-time.After(r.after):
		return r.finding, r.err
	case <-ctx.Done():
		return Finding{}, registrar.Fault(registrar.FaultTimeout, "test", ctx.Err())
	}
}

type delegations struct {
	delegated bool
	err       error
	after     time.Duration
}

func (d delegations) Delegated(ctx context.Context, _ registrar.Name) (bool, error) {
	select {
	case <-time.After(d.after):
		return d.delegated, d.err
	case <-ctx.Done():
		return false, registrar.Fault(registrar.FaultTimeout, "test", ctx.Err())
	}
}

func says(state State) *records { return &records{finding: Finding{State: state}} }
func fails(code registrar.Code) *records {
	return &records{err: registrar.Fault(code, "test", nil)}
}

var (
	none        = &records{err: ErrNoSource}
	undelegated = delegations{}
	delegated   = delegations{delegated: true}
	noDNS       = delegations{err: registrar.Fault(registrar.FaultTimeout, "dns", nil)}
)

func newEngine(t *testing.T, cfg Config) *Engine {
	t.Helper()
	if cfg.Catalogue == nil {
		cfg.Catalogue = carried
	}
	engine, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	return engine
}

func TestTheLadder(t *testing.T) {
	premium := &records{finding: Finding{State: NotFound, Premium: true}}
	eppPremium := &records{finding: Finding{State: Free, Premium: true}}
	for _, test := range []struct {
		rule             string
		domain           string
		epp, rdap, whois Records
		dns              delegations
		want             Availability
		source           Source
		reason           Reason
	}{
		{rule: "EPP free is free, whatever others say", epp: says(Free), rdap: says(Registered), dns: delegated, want: Available, source: SourceEPP},
		{rule: "EPP not available is taken", epp: says(Registered), rdap: says(NotFound), dns: undelegated, want: Taken, source: SourceEPP, reason: ReasonRegistered},
		{rule: "EPP reserved is taken", epp: says(Reserved), dns: undelegated, want: Taken, source: SourceEPP, reason: ReasonReserved},
		{rule: "EPP premium is free with a reason", epp: eppPremium, dns: undelegated, want: Available, source: SourceEPP, reason: ReasonPremium},
		{rule: "EPP failing, RDAP is asked", epp: fails(registrar.FaultTimeout), rdap: says(Registered), dns: undelegated, want: Taken, source: SourceRDAP, reason: ReasonRegistered},
		{rule: "EPP calls a one-letter name free", domain: "d.dev", epp: says(Free), dns: undelegated, want: Available, source: SourceEPP},

		{rule: "an RDAP object is taken", rdap: says(Registered), dns: undelegated, want: Taken, source: SourceRDAP, reason: ReasonRegistered},
		{rule: "an RDAP object is taken even if the DNS fails", rdap: says(Registered), dns: noDNS, want: Taken, source: SourceRDAP, reason: ReasonRegistered},
		{rule: "RDAP 404 and no NS is free", rdap: says(NotFound), dns: undelegated, want: Available, source: SourceRDAP},
		{rule: "RDAP 404 with NS is taken", rdap: says(NotFound), dns: delegated, want: Taken, source: SourceDNS, reason: ReasonRegistered},
		{rule: "RDAP 404 without an answer of the DNS is not free", rdap: says(NotFound), dns: noDNS, want: Unknown, reason: ReasonUnknown},
		{rule: "RDAP 404 without DNS asks WHOIS", rdap: says(NotFound), whois: says(Free), dns: noDNS, want: Available, source: SourceWHOIS},
		{rule: "RDAP 404 for a withheld label is reserved", domain: "nic.dev", rdap: says(NotFound), dns: undelegated, want: Taken, source: SourceRDAP, reason: ReasonReserved},
		{rule: "RDAP 404 for a one-letter label is not free", domain: "d.dev", rdap: says(NotFound), dns: undelegated, want: Unknown, reason: ReasonUnknown},
		{rule: "RDAP 404 for an IDN where none are known is not free", domain: "bücher.dev", rdap: says(NotFound), dns: undelegated, want: Unknown, reason: ReasonUnknown},
		{rule: "RDAP 404 for an IDN where they are sold is free", domain: "bücher.de", rdap: says(NotFound), dns: undelegated, want: Available, source: SourceRDAP},
		{rule: "RDAP reserved is taken", rdap: says(Reserved), dns: undelegated, want: Taken, source: SourceRDAP, reason: ReasonReserved},
		{rule: "RDAP premium is free with a reason", rdap: premium, dns: undelegated, want: Available, source: SourceRDAP, reason: ReasonPremium},
		{rule: "RDAP failing, WHOIS is asked", rdap: fails(registrar.FaultThrottled), whois: says(Registered), dns: undelegated, want: Taken, source: SourceWHOIS, reason: ReasonRegistered},
		{rule: "RDAP undecided, WHOIS is asked", rdap: says(Undecided), whois: says(Free), dns: undelegated, want: Available, source: SourceWHOIS},

		{rule: "WHOIS free is free", rdap: none, whois: says(Free), dns: undelegated, want: Available, source: SourceWHOIS},
		{rule: "WHOIS free with NS is unknown", rdap: none, whois: says(Free), dns: delegated, want: Unknown, reason: ReasonUnknown},
		{rule: "WHOIS free for a withheld label is reserved", domain: "www.shop", rdap: none, whois: says(Free), dns: undelegated, want: Taken, source: SourceWHOIS, reason: ReasonReserved},
		{rule: "WHOIS free below the shortest length is not free", domain: "ab.ch", rdap: none, whois: says(Free), dns: undelegated, want: Unknown, reason: ReasonUnknown},
		{rule: "WHOIS registered is taken", rdap: none, whois: says(Registered), dns: undelegated, want: Taken, source: SourceWHOIS, reason: ReasonRegistered},
		{rule: "WHOIS reserved is taken", rdap: none, whois: says(Reserved), dns: undelegated, want: Taken, source: SourceWHOIS, reason: ReasonReserved},
		{rule: "one letter below .de is free if DENIC says so", domain: "x.de", rdap: none, whois: says(Free), dns: undelegated, want: Available, source: SourceWHOIS},

		{rule: "NS present is taken", rdap: none, whois: none, dns: delegated, want: Taken, source: SourceDNS, reason: ReasonRegistered},
		{rule: "NXDOMAIN alone is never free", rdap: none, whois: none, dns: undelegated, want: Unknown, reason: ReasonUnknown},
		{rule: "NXDOMAIN with failed others is never free", rdap: fails(registrar.FaultTimeout), whois: fails(registrar.FaultRefused), dns: undelegated, want: Unknown, reason: ReasonUnknown},
		{rule: "sources that do not decide are unknown", rdap: says(Undecided), whois: says(Undecided), dns: noDNS, want: Unknown, reason: ReasonUnknown},
		{rule: "no source but the DNS is fine", dns: undelegated, want: Unknown, reason: ReasonUnknown},
	} {
		t.Run(test.rule, func(t *testing.T) {
			domain := test.domain
			if domain == "" {
				domain = "kaffeehaus.dev"
			}
			engine := newEngine(t, Config{EPP: test.epp, RDAP: test.rdap, WHOIS: test.whois, DNS: test.dns})
			answer, err := engine.Check(t.Context(), domain)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Availability != test.want || answer.Source != test.source || answer.Reason != test.reason {
				t.Errorf("got %v by %q because %q; want %v by %q because %q",
					answer.Availability, answer.Source, answer.Reason, test.want, test.source, test.reason)
			}
			if answer.Premium != (test.reason == ReasonPremium) || (answer.Prices == nil) != answer.Premium {
				t.Errorf("premium %v, prices %v", answer.Premium, answer.Prices)
			}
		})
	}
}

func TestEverySourceFailedIsAnUpstreamError(t *testing.T) {
	engine := newEngine(t, Config{RDAP: fails(registrar.FaultThrottled), WHOIS: fails(registrar.FaultRefused), DNS: noDNS})
	answer, err := engine.Check(t.Context(), "Kaffeehaus.de")
	if registrar.KindOf(err) != registrar.KindUpstream || registrar.CodeOf(err) != registrar.FaultThrottled {
		t.Errorf("got %v, want the fault of the best source", err)
	}
	if answer.Domain != "kaffeehaus.de" {
		t.Errorf("the answer names %q", answer.Domain)
	}
}

func TestAnAnswerComesWithinTheDeadlineWhateverHappensUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := time.Hour
		engine := newEngine(t, Config{
			RDAP: &records{after: hang}, WHOIS: &records{after: hang}, DNS: delegations{after: hang},
			EPP: &records{after: hang}, Deadline: 5500 * time.Millisecond,
		})
		began := time.Now()
		_, err := engine.Check(t.Context(), "kaffeehaus.de")
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("the answer took %s", took)
		}
		if registrar.KindOf(err) != registrar.KindUpstream {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
	})
}

func TestRDAPAndDNSAreAskedAtTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t, Config{
			RDAP: &records{finding: Finding{State: NotFound}, after: time.Second}, DNS: delegations{after: time.Second},
		})
		began := time.Now()
		if answer, err := engine.Check(t.Context(), "kaffeehaus.de"); err != nil || answer.Availability != Available {
			t.Fatalf("got %+v, %v", answer, err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("two answers of a second each took %s", took)
		}
	})
}

func TestEqualQuestionsInFlightAreAskedOnceAndSurviveTheFirstAsker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rdap := &records{finding: Finding{State: Registered}, after: time.Second}
		engine := newEngine(t, Config{RDAP: rdap, DNS: undelegated})
		impatient, leave := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer leave()
		go func() { _, _ = engine.Check(impatient, "kaffeehaus.de") }()
		synctest.Wait()

		answers := make(chan error, 20)
		for range 20 {
			go func() {
				answer, err := engine.Check(t.Context(), "KAFFEEHAUS.de")
				if err == nil && answer.Availability != Taken {
					err = errors.New("not taken")
				}
				answers <- err
			}()
		}
		for range 20 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
		if asked := rdap.asked.Load(); asked != 1 {
			t.Errorf("21 equal questions were asked %d times", asked)
		}
	})
}

func TestAnswersAreReusedForAShortTimeAndFailuresNever(t *testing.T) {
	free, taken, failing := says(NotFound), says(Registered), fails(registrar.FaultTimeout)
	for _, test := range []struct {
		name  string
		rdap  *records
		dns   delegations
		keep  Config
		asked int32
	}{
		{"free, kept", free, undelegated, Config{KeepFree: time.Hour}, 1},
		{"taken, kept", taken, undelegated, Config{KeepTaken: time.Hour}, 1},
		{"failed", failing, noDNS, Config{}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.keep.RDAP, test.keep.DNS = test.rdap, test.dns
			engine := newEngine(t, test.keep)
			for range 3 {
				_, _ = engine.Check(t.Context(), "kaffeehaus.de")
			}
			if asked := test.rdap.asked.Load(); asked != test.asked {
				t.Errorf("three questions were asked %d times, want %d", asked, test.asked)
			}
		})
	}
	t.Run("free, forgotten", func(t *testing.T) {
		rdap := says(NotFound)
		engine := newEngine(t, Config{RDAP: rdap, DNS: undelegated, KeepFree: time.Nanosecond, KeepTaken: time.Hour})
		for range 3 {
			_, _ = engine.Check(t.Context(), "kaffeehaus.de")
			time.Sleep(time.Millisecond)
		}
		if asked := rdap.asked.Load(); asked != 3 {
			t.Errorf("three questions were asked %d times, want 3", asked)
		}
	})
}

func TestTooManyNamesUnderWayAreRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t, Config{RDAP: &records{finding: Finding{State: Registered}, after: time.Second}, DNS: undelegated, MaxUnderWay: 1})
		done := make(chan error)
		go func() {
			_, err := engine.Check(t.Context(), "first.de")
			done <- err
		}()
		synctest.Wait()
		began := time.Now()
		_, err := engine.Check(t.Context(), "second.de")
		if registrar.CodeOf(err) != registrar.FaultBusy || time.Since(began) != 0 {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		if err := <-done; err != nil {
			t.Errorf("the first one failed: %v", err)
		}
	})
}

func TestAnUnlistedExtensionAsksNobody(t *testing.T) {
	rdap := says(NotFound)
	engine := newEngine(t, Config{RDAP: rdap, DNS: undelegated})
	answer, err := engine.Check(t.Context(), "kaffeehaus.zz")
	if registrar.KindOf(err) != registrar.KindUnsupported || answer.TLD != ".zz" || rdap.asked.Load() != 0 {
		t.Errorf("got %+v, %v after %d questions", answer, err, rdap.asked.Load())
	}
}

func TestASearchWithoutAnExtensionChecksEightInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t, Config{RDAP: &records{finding: Finding{State: NotFound}, after: time.Second}, DNS: undelegated})
		began := time.Now()
		result, err := engine.Search(t.Context(), "Kaffeehaus")
		if err != nil || result.Label != "kaffeehaus" {
			t.Fatalf("got %+v, %v", result, err)
		}
		var order []string
		for _, entry := range result.Entries {
			order = append(order, entry.TLD)
			if entry.Availability != Available || entry.Domain != "kaffeehaus"+entry.TLD {
				t.Errorf("got %+v", entry)
			}
		}
		if got := strings.Join(order, " "); got != ".de .com .eu .net .org .shop .io .dev" {
			t.Errorf("the order is %s", got)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("eight checks of a second each took %s, so they were not parallel", took)
		}
	})
}

func TestASearchWithAnExtensionChecksExactlyThatOne(t *testing.T) {
	engine := newEngine(t, Config{RDAP: says(Registered), DNS: undelegated})
	result, err := engine.Search(t.Context(), "kaffeehaus.ch")
	if err != nil || len(result.Entries) != 1 || result.Entries[0].Domain != "kaffeehaus.ch" || result.Entries[0].Availability != Taken {
		t.Errorf("got %+v, %v", result, err)
	}
	result, err = engine.Search(t.Context(), "kaffeehaus.zz")
	if err != nil || len(result.Entries) != 1 || registrar.KindOf(result.Entries[0].Err) != registrar.KindUnsupported {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestContradictionsAreLoggedWithoutTheName(t *testing.T) {
	var log bytes.Buffer
	engine := newEngine(t, Config{WHOIS: says(Free), DNS: delegated, Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	if _, err := engine.Check(t.Context(), "kaffeehaus.de"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "disagree") || strings.Contains(log.String(), "kaffeehaus") {
		t.Errorf("the log says %s", log.String())
	}
}

func TestEverySourceIsObserved(t *testing.T) {
	seen := make(map[string]bool)
	engine := newEngine(t, Config{
		RDAP: fails(registrar.FaultThrottled), WHOIS: says(Registered), DNS: undelegated,
		Observe: func(source Source, outcome string, _ time.Duration) {
			if source != SourceDNS { // it runs beside the others
				seen[string(source)+" "+outcome] = true
			}
		},
	})
	if _, err := engine.Check(t.Context(), "kaffeehaus.de"); err != nil {
		t.Fatal(err)
	}
	if !seen["rdap throttled"] || !seen["whois ok"] || len(seen) != 2 {
		t.Errorf("observed %v", seen)
	}
}

// A climb that fails after its first asker has left is begun again by those who
// waited; that must not cost them more than their own time.
func TestTheDeadlineHoldsForThoseWhoWaitForAnotherAsker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := time.Hour
		engine := newEngine(t, Config{RDAP: &records{after: hang}, WHOIS: &records{after: hang}, DNS: delegations{after: hang}})
		impatient, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		go func() { _, _ = engine.Check(impatient, "kaffeehaus.de") }()
		synctest.Wait()
		time.Sleep(500 * time.Millisecond)
		began := time.Now()
		_, err := engine.Check(t.Context(), "kaffeehaus.de")
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("the answer took %s", took)
		}
		if registrar.KindOf(err) != registrar.KindUpstream {
			t.Errorf("got %v", err)
		}
	})
}

// panicking is a source with a bug.
type panicking struct{}

func (panicking) Find(context.Context, registrar.Extension, registrar.Name) (Finding, error) {
	panic("a bug that quotes kaffeehaus.de")
}

func (panicking) Delegated(context.Context, registrar.Name) (bool, error) {
	panic("a bug that quotes kaffeehaus.de")
}

func TestAPanicOfASourceFailsOneNameAndNotTheProcess(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	engine := newEngine(t, Config{RDAP: panicking{}, DNS: undelegated, Logger: logger})
	if _, err := engine.Check(t.Context(), "kaffeehaus.de"); registrar.KindOf(err) != registrar.KindInternal {
		t.Errorf("got %v", err)
	}
	result, err := engine.Search(t.Context(), "kaffeehaus")
	if err != nil || len(result.Entries) != 8 {
		t.Fatalf("got %+v, %v", result, err)
	}
	for _, entry := range result.Entries {
		if entry.Err == nil {
			t.Errorf("%s has no error", entry.TLD)
		}
	}
	if !strings.Contains(log.String(), "panic recovered") || strings.Contains(log.String(), "kaffeehaus") {
		t.Errorf("the log says %s", log.String())
	}
}

func TestAPanicOfTheDNSIsAFaultOfTheDNS(t *testing.T) {
	engine := newEngine(t, Config{RDAP: says(NotFound), DNS: panicking{}})
	if answer, err := engine.Check(t.Context(), "kaffeehaus.de"); err != nil || answer.Availability != Unknown {
		t.Errorf("got %+v, %v", answer, err)
	}
}
