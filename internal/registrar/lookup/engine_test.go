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

// fakeCatalog has a few extensions at one price.
type fakeCatalog []string

func (c fakeCatalog) Extension(tld string) (registrar.Extension, bool) {
	for _, listed := range c {
		if listed == tld {
			return registrar.Extension{TLD: tld, Register: 690, Renew: 590, Transfer: 490}, true
		}
	}
	return registrar.Extension{}, false
}

var testCatalog = fakeCatalog{".de", ".com", ".eu", ".net", ".org", ".shop", ".io", ".ch", ".dev"}

// fakeSource returns the same finding for every name, after a delay.
type fakeSource struct {
	finding Finding
	err     error
	delay   time.Duration
	calls   atomic.Int32
}

func (r *fakeSource) Find(ctx context.Context, _ registrar.Extension, _ registrar.Name) (Finding, error) {
	r.calls.Add(1)
	select {
	case <-time.After(r.delay):
		return r.finding, r.err
	case <-ctx.Done():
		return Finding{}, registrar.Fault(registrar.FaultTimeout, "test", ctx.Err())
	}
}

type fakeDNS struct {
	delegated bool
	err       error
	delay     time.Duration
}

func (d fakeDNS) IsDelegated(ctx context.Context, _ registrar.Name) (bool, error) {
	select {
	case <-time.After(d.delay):
		return d.delegated, d.err
	case <-ctx.Done():
		return false, registrar.Fault(registrar.FaultTimeout, "test", ctx.Err())
	}
}

func sourceWithState(state State) *fakeSource { return &fakeSource{finding: Finding{State: state}} }
func sourceWithFault(code registrar.Code) *fakeSource {
	return &fakeSource{err: registrar.Fault(code, "test", nil)}
}

var (
	unlistedSource = &fakeSource{err: ErrNoSource}
	undelegatedDNS = fakeDNS{}
	delegatedDNS   = fakeDNS{delegated: true}
	failingDNS     = fakeDNS{err: registrar.Fault(registrar.FaultTimeout, "dns", nil)}
)

func newEngine(t *testing.T, cfg Config) *Engine {
	t.Helper()
	if cfg.Catalog == nil {
		cfg.Catalog = testCatalog
	}
	engine, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	return engine
}

func TestCheck_SourcePrecedence(t *testing.T) {
	premium := &fakeSource{finding: Finding{State: NotFound, Premium: true}}
	eppPremium := &fakeSource{finding: Finding{State: Free, Premium: true}}
	for _, test := range []struct {
		rule             string
		domain           string
		epp, rdap, whois RecordSource
		dns              fakeDNS
		want             Availability
		source           Source
		reason           Reason
	}{
		{rule: "EPP free is free, whatever others say", epp: sourceWithState(Free), rdap: sourceWithState(Registered), dns: delegatedDNS, want: Available, source: SourceEPP},
		{rule: "EPP not available is taken", epp: sourceWithState(Registered), rdap: sourceWithState(NotFound), dns: undelegatedDNS, want: Taken, source: SourceEPP, reason: ReasonRegistered},
		{rule: "EPP reserved is taken", epp: sourceWithState(Reserved), dns: undelegatedDNS, want: Taken, source: SourceEPP, reason: ReasonReserved},
		{rule: "EPP premium is free with a reason", epp: eppPremium, dns: undelegatedDNS, want: Available, source: SourceEPP, reason: ReasonPremium},
		{rule: "EPP failing, RDAP is asked", epp: sourceWithFault(registrar.FaultTimeout), rdap: sourceWithState(Registered), dns: undelegatedDNS, want: Taken, source: SourceRDAP, reason: ReasonRegistered},
		{rule: "EPP calls a one-letter name free", domain: "d.dev", epp: sourceWithState(Free), dns: undelegatedDNS, want: Available, source: SourceEPP},

		{rule: "an RDAP object is taken", rdap: sourceWithState(Registered), dns: undelegatedDNS, want: Taken, source: SourceRDAP, reason: ReasonRegistered},
		{rule: "an RDAP object is taken even if the DNS fails", rdap: sourceWithState(Registered), dns: failingDNS, want: Taken, source: SourceRDAP, reason: ReasonRegistered},
		{rule: "RDAP 404 and no NS is free", rdap: sourceWithState(NotFound), dns: undelegatedDNS, want: Available, source: SourceRDAP},
		{rule: "RDAP 404 with NS is taken", rdap: sourceWithState(NotFound), dns: delegatedDNS, want: Taken, source: SourceDNS, reason: ReasonRegistered},
		{rule: "RDAP 404 without an answer of the DNS is not free", rdap: sourceWithState(NotFound), dns: failingDNS, want: Unknown, reason: ReasonUnknown},
		{rule: "RDAP 404 without DNS asks WHOIS", rdap: sourceWithState(NotFound), whois: sourceWithState(Free), dns: failingDNS, want: Available, source: SourceWHOIS},
		{rule: "RDAP 404 for a withheld label is reserved", domain: "nic.dev", rdap: sourceWithState(NotFound), dns: undelegatedDNS, want: Taken, source: SourceRDAP, reason: ReasonReserved},
		{rule: "RDAP 404 for a one-letter label is not free", domain: "d.dev", rdap: sourceWithState(NotFound), dns: undelegatedDNS, want: Unknown, reason: ReasonUnknown},
		{rule: "RDAP 404 for an IDN where none are known is not free", domain: "bücher.dev", rdap: sourceWithState(NotFound), dns: undelegatedDNS, want: Unknown, reason: ReasonUnknown},
		{rule: "RDAP 404 for an IDN where they are sold is free", domain: "bücher.de", rdap: sourceWithState(NotFound), dns: undelegatedDNS, want: Available, source: SourceRDAP},
		{rule: "RDAP reserved is taken", rdap: sourceWithState(Reserved), dns: undelegatedDNS, want: Taken, source: SourceRDAP, reason: ReasonReserved},
		{rule: "RDAP premium is free with a reason", rdap: premium, dns: undelegatedDNS, want: Available, source: SourceRDAP, reason: ReasonPremium},
		{rule: "RDAP failing, WHOIS is asked", rdap: sourceWithFault(registrar.FaultThrottled), whois: sourceWithState(Registered), dns: undelegatedDNS, want: Taken, source: SourceWHOIS, reason: ReasonRegistered},
		{rule: "RDAP undecided, WHOIS is asked", rdap: sourceWithState(Undecided), whois: sourceWithState(Free), dns: undelegatedDNS, want: Available, source: SourceWHOIS},

		{rule: "WHOIS free is free", rdap: unlistedSource, whois: sourceWithState(Free), dns: undelegatedDNS, want: Available, source: SourceWHOIS},
		{rule: "WHOIS free with NS is unknown", rdap: unlistedSource, whois: sourceWithState(Free), dns: delegatedDNS, want: Unknown, reason: ReasonUnknown},
		{rule: "WHOIS free for a withheld label is reserved", domain: "www.shop", rdap: unlistedSource, whois: sourceWithState(Free), dns: undelegatedDNS, want: Taken, source: SourceWHOIS, reason: ReasonReserved},
		{rule: "WHOIS free below the shortest length is not free", domain: "ab.ch", rdap: unlistedSource, whois: sourceWithState(Free), dns: undelegatedDNS, want: Unknown, reason: ReasonUnknown},
		{rule: "WHOIS registered is taken", rdap: unlistedSource, whois: sourceWithState(Registered), dns: undelegatedDNS, want: Taken, source: SourceWHOIS, reason: ReasonRegistered},
		{rule: "WHOIS reserved is taken", rdap: unlistedSource, whois: sourceWithState(Reserved), dns: undelegatedDNS, want: Taken, source: SourceWHOIS, reason: ReasonReserved},
		{rule: "one letter below .de is free if DENIC says so", domain: "x.de", rdap: unlistedSource, whois: sourceWithState(Free), dns: undelegatedDNS, want: Available, source: SourceWHOIS},

		{rule: "NS present is taken", rdap: unlistedSource, whois: unlistedSource, dns: delegatedDNS, want: Taken, source: SourceDNS, reason: ReasonRegistered},
		{rule: "NXDOMAIN alone is never free", rdap: unlistedSource, whois: unlistedSource, dns: undelegatedDNS, want: Unknown, reason: ReasonUnknown},
		{rule: "NXDOMAIN with failed others is never free", rdap: sourceWithFault(registrar.FaultTimeout), whois: sourceWithFault(registrar.FaultRefused), dns: undelegatedDNS, want: Unknown, reason: ReasonUnknown},
		{rule: "sources that do not decide are unknown", rdap: sourceWithState(Undecided), whois: sourceWithState(Undecided), dns: failingDNS, want: Unknown, reason: ReasonUnknown},
		{rule: "no source but the DNS is fine", dns: undelegatedDNS, want: Unknown, reason: ReasonUnknown},
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
				t.Errorf("got %v, source %q, reason %q; want %v, source %q, reason %q",
					answer.Availability, answer.Source, answer.Reason, test.want, test.source, test.reason)
			}
			if answer.Premium != (test.reason == ReasonPremium) || (answer.Prices == nil) != answer.Premium {
				t.Errorf("premium %v, prices %v", answer.Premium, answer.Prices)
			}
		})
	}
}

func TestCheck_PremiumPriceNeedsFeeAndConversion(t *testing.T) {
	t.Parallel()
	euros := func(units registrar.Amount) registrar.Money {
		return registrar.Money{Amount: units * 10_000, Currency: "EUR"}
	}
	fees := &Fees{Years: 1, Register: euros(250), Renew: euros(50), Transfer: euros(40), Restore: euros(90)}
	plusOne := func(fee registrar.Money, _ int) (registrar.Cents, bool) {
		return registrar.Cents(fee.Amount/100) + 100, true
	}
	noRate := func(registrar.Money, int) (registrar.Cents, bool) { return 0, false }
	for name, test := range map[string]struct {
		fees  *Fees
		price func(registrar.Money, int) (registrar.Cents, bool)
		want  *Prices
	}{
		"fee and rate known":  {fees, plusOne, &Prices{Register: 251_00, Renew: 51_00, Transfer: 41_00, Restore: 91_00}},
		"fee unknown":         {nil, plusOne, nil},
		"rate unknown":        {fees, noRate, nil},
		"not sold":            {fees, nil, nil},
		"fee of another term": {&Fees{Years: 2, Register: euros(250), Renew: euros(50), Transfer: euros(40), Restore: euros(90)}, plusOne, nil},
	} {
		engine := newEngine(t, Config{EPP: &fakeSource{finding: Finding{State: Free, Premium: true, Fees: test.fees}}, DNS: undelegatedDNS, PremiumPrice: test.price})
		for range 2 { // the second answer is cached
			answer, err := engine.Check(t.Context(), "gold.dev")
			if err != nil || !answer.Premium || (answer.Prices == nil) != (test.want == nil) || test.want != nil && *answer.Prices != *test.want {
				t.Errorf("%s: %+v, %v", name, answer, err)
			}
		}
	}
}

func TestCheck_AllSourcesFailedIsUpstreamError(t *testing.T) {
	engine := newEngine(t, Config{RDAP: sourceWithFault(registrar.FaultThrottled), WHOIS: sourceWithFault(registrar.FaultRefused), DNS: failingDNS})
	answer, err := engine.Check(t.Context(), "Kaffeehaus.de")
	if registrar.KindOf(err) != registrar.KindUpstream || registrar.CodeOf(err) != registrar.FaultThrottled {
		t.Errorf("got %v, want the error of the best source", err)
	}
	if answer.Domain != "kaffeehaus.de" {
		t.Errorf("answer.Domain = %q", answer.Domain)
	}
}

func TestCheck_HangingSourcesEndAtDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := time.Hour
		engine := newEngine(t, Config{
			RDAP: &fakeSource{delay: hang}, WHOIS: &fakeSource{delay: hang}, DNS: fakeDNS{delay: hang},
			EPP: &fakeSource{delay: hang}, Deadline: 5500 * time.Millisecond,
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

func TestCheck_QueriesRDAPAndDNSConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t, Config{
			RDAP: &fakeSource{finding: Finding{State: NotFound}, delay: time.Second}, DNS: fakeDNS{delay: time.Second},
		})
		began := time.Now()
		if answer, err := engine.Check(t.Context(), "kaffeehaus.de"); err != nil || answer.Availability != Available {
			t.Fatalf("got %+v, %v", answer, err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("two parallel queries of one second took %s", took)
		}
	})
}

func TestCheck_ConcurrentCallsShareQueryAfterFirstCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rdap := &fakeSource{finding: Finding{State: Registered}, delay: time.Second}
		engine := newEngine(t, Config{RDAP: rdap, DNS: undelegatedDNS})
		shortCtx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		go func() { _, _ = engine.Check(shortCtx, "kaffeehaus.de") }()
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
		if calls := rdap.calls.Load(); calls != 1 {
			t.Errorf("21 equal checks made %d queries", calls)
		}
	})
}

func TestCheck_CachesAnswersButNotFailures(t *testing.T) {
	free, taken, failing := sourceWithState(NotFound), sourceWithState(Registered), sourceWithFault(registrar.FaultTimeout)
	for _, test := range []struct {
		name  string
		rdap  *fakeSource
		dns   fakeDNS
		keep  Config
		asked int32
	}{
		{"free, kept", free, undelegatedDNS, Config{FreeTTL: time.Hour}, 1},
		{"taken, kept", taken, undelegatedDNS, Config{TakenTTL: time.Hour}, 1},
		{"failed", failing, failingDNS, Config{}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.keep.RDAP, test.keep.DNS = test.rdap, test.dns
			engine := newEngine(t, test.keep)
			for range 3 {
				_, _ = engine.Check(t.Context(), "kaffeehaus.de")
			}
			if calls := test.rdap.calls.Load(); calls != test.asked {
				t.Errorf("three checks made %d queries, want %d", calls, test.asked)
			}
		})
	}
	t.Run("free, forgotten", func(t *testing.T) {
		rdap := sourceWithState(NotFound)
		engine := newEngine(t, Config{RDAP: rdap, DNS: undelegatedDNS, FreeTTL: time.Nanosecond, TakenTTL: time.Hour})
		for range 3 {
			_, _ = engine.Check(t.Context(), "kaffeehaus.de")
			time.Sleep(time.Millisecond)
		}
		if calls := rdap.calls.Load(); calls != 3 {
			t.Errorf("three checks made %d queries, want 3", calls)
		}
	})
}

// A cached name is not parsed again, which must not show.
func TestCheck_CachedNameAnswersLikeParsedOne(t *testing.T) {
	catalog := &fakeCatalog{".de", ".io", ".com.de"}
	engine := newEngine(t, Config{Catalog: catalog, RDAP: sourceWithState(Registered), DNS: delegatedDNS})
	check := func(domain, wantDomain string, wantCode registrar.Code) {
		t.Helper()
		answer, err := engine.Check(t.Context(), domain)
		if answer.Domain != wantDomain || registrar.CodeOf(err) != wantCode {
			t.Errorf("%s: got %q, %v", domain, answer.Domain, err)
		}
	}
	for range 2 {
		check("shop.de", "shop.de", "")
		check("a.com.de", "a.com.de", "")
		check("bücher.de", "bücher.de", "")
		check("xn--bcher-kva.de", "xn--bcher-kva.de", "")
	}
	if _, err := engine.Search(t.Context(), "co"); err != nil { // caches co.io, which is a public suffix
		t.Fatal(err)
	}
	check("co.io", "", registrar.ExtensionNotCarried)
	*catalog = fakeCatalog{".de", ".shop.de"}
	check("shop.de", "", registrar.NameIsExtension)
	check("a.com.de", "", registrar.NameSubdomain)
}

func TestCheck_TooManyInFlightIsRefusedImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t, Config{RDAP: &fakeSource{finding: Finding{State: Registered}, delay: time.Second}, DNS: undelegatedDNS, MaxInFlight: 1})
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
			t.Errorf("first check failed: %v", err)
		}
	})
}

func TestCheck_UnlistedExtensionQueriesNobody(t *testing.T) {
	rdap := sourceWithState(NotFound)
	engine := newEngine(t, Config{RDAP: rdap, DNS: undelegatedDNS})
	answer, err := engine.Check(t.Context(), "kaffeehaus.zz")
	if registrar.KindOf(err) != registrar.KindUnsupported || answer.TLD != ".zz" || rdap.calls.Load() != 0 {
		t.Errorf("got %+v, %v after %d queries", answer, err, rdap.calls.Load())
	}
}

func TestSearch_WithoutExtensionChecksDefaultsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t, Config{RDAP: &fakeSource{finding: Finding{State: NotFound}, delay: time.Second}, DNS: undelegatedDNS})
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
			t.Errorf("order = %s", got)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("eight checks of one second took %s, want parallel checks", took)
		}
	})
}

func TestSearch_WithExtensionChecksOnlyThatOne(t *testing.T) {
	engine := newEngine(t, Config{RDAP: sourceWithState(Registered), DNS: undelegatedDNS})
	result, err := engine.Search(t.Context(), "kaffeehaus.ch")
	if err != nil || len(result.Entries) != 1 || result.Entries[0].Domain != "kaffeehaus.ch" || result.Entries[0].Availability != Taken {
		t.Errorf("got %+v, %v", result, err)
	}
	result, err = engine.Search(t.Context(), "kaffeehaus.zz")
	if err != nil || len(result.Entries) != 1 || registrar.KindOf(result.Entries[0].Err) != registrar.KindUnsupported {
		t.Errorf("got %+v, %v", result, err)
	}
}

func TestCheck_ContradictionLogOmitsName(t *testing.T) {
	var log bytes.Buffer
	engine := newEngine(t, Config{WHOIS: sourceWithState(Free), DNS: delegatedDNS, Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	if _, err := engine.Check(t.Context(), "kaffeehaus.de"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), "disagree") || strings.Contains(log.String(), "kaffeehaus") {
		t.Errorf("log: %s", log.String())
	}
}

func TestCheck_ObservesEverySource(t *testing.T) {
	seen := make(map[string]bool)
	engine := newEngine(t, Config{
		RDAP: sourceWithFault(registrar.FaultThrottled), WHOIS: sourceWithState(Registered), DNS: undelegatedDNS,
		Observe: func(source Source, outcome string, _ time.Duration) {
			if source != SourceDNS { // it runs in parallel
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

// A load that fails after its first caller has left is restarted by a waiting caller;
// that must not exceed the caller's own deadline.
func TestCheck_DeadlineHoldsForWaitersOfSharedQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := time.Hour
		engine := newEngine(t, Config{RDAP: &fakeSource{delay: hang}, WHOIS: &fakeSource{delay: hang}, DNS: fakeDNS{delay: hang}})
		shortCtx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() { _, _ = engine.Check(shortCtx, "kaffeehaus.de") }()
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

// panickingSource is a source with a bug.
type panickingSource struct{}

func (panickingSource) Find(context.Context, registrar.Extension, registrar.Name) (Finding, error) {
	panic("a bug that quotes kaffeehaus.de")
}

func (panickingSource) IsDelegated(context.Context, registrar.Name) (bool, error) {
	panic("a bug that quotes kaffeehaus.de")
}

func TestCheck_SourcePanicFailsOnlyThatName(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	engine := newEngine(t, Config{RDAP: panickingSource{}, DNS: undelegatedDNS, Logger: logger})
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
		t.Errorf("log: %s", log.String())
	}
}

func TestCheck_DNSPanicCountsAsDNSFault(t *testing.T) {
	engine := newEngine(t, Config{RDAP: sourceWithState(NotFound), DNS: panickingSource{}})
	if answer, err := engine.Check(t.Context(), "kaffeehaus.de"); err != nil || answer.Availability != Unknown {
		t.Errorf("got %+v, %v", answer, err)
	}
}
