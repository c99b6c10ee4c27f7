package lookup

import (
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func sourceWithRecord(record *Record) *fakeSource {
	return &fakeSource{finding: Finding{State: Registered, Record: record}}
}

func TestWhois_RecordComesFromOneSource(t *testing.T) {
	t.Parallel()
	created := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	full := Record{Status: []string{"active"}, Created: created, Nameservers: []string{"ns1.example"}, Registrar: "One"}
	datesOnly := Record{Created: created}
	other := Record{Status: []string{"connect"}, Registrar: "Two"}
	for _, test := range []struct {
		rule             string
		domain           string
		epp, rdap, whois RecordSource
		dns              fakeDNS
		registered       bool
		record           Record
		source           Source
		code             registrar.Code
	}{
		{rule: "RDAP's record is used", rdap: sourceWithRecord(&full), whois: sourceWithRecord(&other), registered: true, record: full, source: SourceRDAP},
		{rule: "fields of two sources are not mixed", rdap: sourceWithRecord(&datesOnly), whois: sourceWithRecord(&other), registered: true, record: datesOnly, source: SourceRDAP},
		{rule: "an RDAP object without data is filled from WHOIS", rdap: sourceWithRecord(nil), whois: sourceWithRecord(&other), registered: true, record: other, source: SourceWHOIS},
		{rule: "an empty record counts as none", rdap: sourceWithRecord(&Record{}), whois: sourceWithRecord(&other), registered: true, record: other, source: SourceWHOIS},
		{rule: "RDAP failing, WHOIS is asked", rdap: sourceWithFault(registrar.FaultTimeout), whois: sourceWithRecord(&other), registered: true, record: other, source: SourceWHOIS},
		{rule: "RDAP unknown, WHOIS is asked", rdap: unlistedSource, whois: sourceWithRecord(&other), registered: true, record: other, source: SourceWHOIS},
		{rule: "a WHOIS failure leaves what RDAP knows", rdap: sourceWithRecord(nil), whois: sourceWithFault(registrar.FaultRefused), registered: true, source: SourceRDAP},
		{rule: "without WHOIS the bare fact stands", rdap: sourceWithRecord(nil), registered: true, source: SourceRDAP},
		{rule: "the DNS alone proves a registration", rdap: unlistedSource, whois: unlistedSource, dns: delegatedDNS, registered: true, source: SourceDNS},
		{rule: "EPP's word is completed by RDAP's record", epp: sourceWithState(Registered), rdap: sourceWithRecord(&full), registered: true, record: full, source: SourceRDAP},
		{rule: "WHOIS calling a name free has no record", rdap: sourceWithRecord(nil), whois: sourceWithState(Free), registered: true, source: SourceRDAP},

		{rule: "a free name is not registered", rdap: sourceWithState(NotFound), whois: sourceWithRecord(&other), source: SourceRDAP},
		{rule: "a reserved name is not registered, and says so", rdap: sourceWithState(Reserved), record: Record{Status: []string{"reserved"}}, source: SourceRDAP},
		{rule: "a withheld name is reserved", domain: "nic.dev", rdap: sourceWithState(NotFound), record: Record{Status: []string{"reserved"}}, source: SourceRDAP},

		{rule: "undecided name is an error", rdap: sourceWithState(Undecided), whois: sourceWithState(Undecided), code: Undetermined},
		{rule: "a missing record alone is an error", domain: "d.dev", rdap: sourceWithState(NotFound), code: Undetermined},
		{rule: "every source failed is Check's error", rdap: sourceWithFault(registrar.FaultThrottled), whois: sourceWithFault(registrar.FaultRefused), dns: failingDNS, code: registrar.FaultThrottled},
		{rule: "an extension that is not carried is Check's error", domain: "kaffeehaus.zz", rdap: sourceWithRecord(&full), code: registrar.ExtensionNotCarried},
		{rule: "a bad name is Check's error", domain: "kaffee_haus.de", rdap: sourceWithRecord(&full), code: registrar.NameUnderscore},
	} {
		t.Run(test.rule, func(t *testing.T) {
			t.Parallel()
			domain := test.domain
			if domain == "" {
				domain = "Kaffeehaus.de"
			}
			engine := newEngine(t, Config{EPP: test.epp, RDAP: test.rdap, WHOIS: test.whois, DNS: test.dns})
			answer, err := engine.Whois(t.Context(), domain)
			if registrar.CodeOf(err) != test.code || (err != nil) != (test.code != "") {
				t.Fatalf("got error %v, want code %q", err, test.code)
			}
			if err != nil {
				return
			}
			if answer.Registered != test.registered || answer.Source != test.source || !reflect.DeepEqual(answer.Record, test.record) {
				t.Errorf("got %+v", answer)
			}
			if answer.CheckedAt.IsZero() || answer.TLD == "" || answer.Domain == "" || answer.Domain == "Kaffeehaus.de" {
				t.Errorf("time, extension or domain in lower case is missing: %+v", answer)
			}
		})
	}
}

func TestWhois_AgreesWithCheck(t *testing.T) {
	t.Parallel()
	states := []RecordSource{sourceWithState(Undecided), sourceWithState(Registered), sourceWithState(NotFound), sourceWithState(Free), sourceWithState(Reserved), sourceWithFault(registrar.FaultBroken), unlistedSource, nil}
	for _, rdap := range states {
		for _, whois := range states {
			for _, dns := range []fakeDNS{undelegatedDNS, delegatedDNS, failingDNS} {
				engine := newEngine(t, Config{RDAP: rdap, WHOIS: whois, DNS: dns})
				check, checkErr := engine.Check(t.Context(), "kaffeehaus.de")
				answer, err := engine.Whois(t.Context(), "kaffeehaus.de")
				switch {
				case checkErr != nil:
					if !errors.Is(err, &registrar.Error{Kind: registrar.KindOf(checkErr), Code: registrar.CodeOf(checkErr)}) {
						t.Errorf("Check: %v, Whois: %v", checkErr, err)
					}
				case check.Availability == Unknown:
					if registrar.CodeOf(err) != Undetermined {
						t.Errorf("Check: unknown, Whois: %+v, %v", answer, err)
					}
				case err != nil || answer.Registered != (check.Reason == ReasonRegistered):
					t.Errorf("Check: %+v, Whois: %+v, %v", check, answer, err)
				}
			}
		}
	}
}

func TestWhois_CachedRecordIsCopied(t *testing.T) {
	t.Parallel()
	rdap := sourceWithRecord(&Record{Nameservers: []string{"ns1.example"}})
	engine := newEngine(t, Config{RDAP: rdap, DNS: undelegatedDNS})
	for range 3 {
		answer, err := engine.Whois(t.Context(), "kaffeehaus.de")
		if err != nil || answer.Record.Nameservers[0] != "ns1.example" {
			t.Fatalf("got %+v, %v", answer, err)
		}
		answer.Record.Nameservers[0] = "changed"
	}
	if calls := rdap.calls.Load(); calls != 1 {
		t.Errorf("three checks made %d queries", calls)
	}
}

func TestWhois_FailuresAreNotCached(t *testing.T) {
	t.Parallel()
	rdap := sourceWithState(Undecided)
	engine := newEngine(t, Config{RDAP: rdap, DNS: undelegatedDNS})
	for range 3 {
		_, _ = engine.Whois(t.Context(), "kaffeehaus.de")
	}
	if calls := rdap.calls.Load(); calls != 3 {
		t.Errorf("three checks made %d queries", calls)
	}
}

func TestWhois_HangingSourceEndsAtDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t, Config{
			RDAP: sourceWithRecord(nil), WHOIS: &fakeSource{delay: time.Hour}, DNS: undelegatedDNS, Deadline: 5 * time.Second,
		})
		began := time.Now()
		answer, err := engine.Whois(t.Context(), "kaffeehaus.de")
		if err != nil || !answer.Registered {
			t.Errorf("got %+v, %v", answer, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the answer took %s", took)
		}
		synctest.Wait()
	})
}

func TestWhois_SharesInFlightLimitWithCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		engine := newEngine(t, Config{RDAP: &fakeSource{finding: Finding{State: Registered}, delay: time.Second}, DNS: undelegatedDNS, MaxInFlight: 1})
		done := make(chan error)
		go func() {
			_, err := engine.Check(t.Context(), "first.de")
			done <- err
		}()
		synctest.Wait()
		if _, err := engine.Whois(t.Context(), "second.de"); registrar.CodeOf(err) != registrar.FaultBusy {
			t.Errorf("got %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("first check failed: %v", err)
		}
	})
}
