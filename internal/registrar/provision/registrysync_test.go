package provision_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestPoll_StoresMessageBeforeAcknowledging(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{
		messages: []provision.Message{{ID: "1", Name: "neu.org"}, {ID: "2"}},
		errors:   map[string][]error{"acknowledge": {nil, unreachable()}},
	})
	taken, err := env.Poll(t.Context(), "office", nil)
	if taken != 1 || registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("%d taken, %v", taken, err)
	}
	if taken, err = env.Poll(t.Context(), "office", nil); taken != 1 || err != nil { // it comes again, and is known
		t.Errorf("%d taken, %v", taken, err)
	}
	want := []string{
		"stored message 1", "acknowledged 1", "stored message 2", "acknowledged 2", "stored message 2", "acknowledged 2",
	}
	if got := env.log.all(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := env.Poll(t.Context(), "nobody", nil); registrar.CodeOf(err) != registrar.NoRegistryAccount {
		t.Errorf("an account that is not configured: %v", err)
	}
}

func TestPoll_StopsAtMessageThatStaysQueued(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{messages: []provision.Message{{ID: "1"}}, keepMessages: true})
	if taken, err := env.Poll(t.Context(), "office", nil); taken != 1 || registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("%d taken, %v", taken, err)
	}
}

func TestPollMessages_LogsEachReasonOnceAndNoOutages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fault := func(class string, outage bool) error {
			return registrar.Fault(registrar.FaultRefused, "epp.example", &registrar.Cause{Part: "epp", Operation: "poll", Class: class, Outage: outage})
		}
		lost, down := fault("connection_lost", false), fault("connection_refused", true)
		var log bytes.Buffer
		env := newEnv(t, &fakeRegistry{errors: map[string][]error{"poll": {lost, lost, down, down, lost, nil, down, lost}}}, func(cfg *provision.Config) {
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			cfg.Accounts[0].PollInterval = time.Minute
		})
		runFor(t, 20*time.Minute, env.Service)
		if text := log.String(); strings.Count(text, "messages can't be fetched") != 2 || strings.Contains(text, "connection_refused") {
			t.Errorf("the log says %s", text)
		}
	})
}

func TestSyncDomain_UpdatesRegistryFieldsAndReportsDrift(t *testing.T) {
	t.Parallel()
	paid := time.Date(2027, 5, 1, 0, 0, 0, 0, time.UTC)
	elsewhere := &registrar.Error{Kind: registrar.KindForbidden, Code: registrar.OtherRegistrar}
	for name, test := range map[string]struct {
		status registrar.DomainStatus
		record provision.Record
		err    error
		drift  []provision.Drift
		after  registrar.DomainStatus
	}{
		"the same":           {record: provision.Record{Expires: paid, Statuses: []string{"ok"}}, after: "active"},
		"renewed by itself":  {record: provision.Record{Expires: paid.AddDate(1, 0, 0)}, after: "active"},
		"a day's difference": {record: provision.Record{Expires: paid.Add(-24 * time.Hour)}, after: "active"},
		"too short":          {record: provision.Record{Expires: paid.AddDate(-1, 0, 0)}, drift: []provision.Drift{provision.DriftShort}, after: "active"},
		"unknown there":      {err: &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.RegistryNotFound}, drift: []provision.Drift{provision.DriftMissing}, after: "active"},
		"gone elsewhere":     {err: elsewhere, drift: []provision.Drift{provision.DriftElsewhere}, after: "transferred_out"},
		"in transit":         {status: "transit", err: elsewhere, after: "transit"},
		"deleted":            {record: provision.Record{Redemption: true}, drift: []provision.Drift{provision.DriftRedemption}, after: "redemption"},
		"deleted, as known":  {status: "redemption", record: provision.Record{Redemption: true}, after: "redemption"},
		"another holder":     {record: provision.Record{Expires: paid, Handle: "OTHER"}, drift: []provision.Drift{provision.DriftHandle}, after: "active"},
	} {
		env := newEnv(t, &fakeRegistry{records: map[string]provision.Record{"neu.org": test.record}, recordErrors: map[string]error{"neu.org": test.err}})
		domain := provision.Domain{ID: "dom_1", Customer: "cus_ada", Name: "neu.org", TLD: ".org", Status: "active", PaidUntil: paid, Handle: "DK1"}
		if test.status != "" {
			domain.Status = test.status
		}
		env.store.domains["dom_1"] = domain
		finding := env.SyncDomain(t.Context(), domain)
		stored := env.store.domains["dom_1"]
		if finding.Err != nil || !slices.Equal(finding.Drift, test.drift) || !slices.Equal(env.drift, test.drift) || stored.Status != test.after {
			t.Errorf("%s: %v, drift %v, counted %v, status %s", name, finding.Err, finding.Drift, env.drift, stored.Status)
		}
		if !stored.PaidUntil.Equal(paid) || stored.Handle != "DK1" {
			t.Errorf("%s: what is ours was changed: %+v", name, stored)
		}
		if test.err == nil && !stored.RegistryExpires.Equal(test.record.Expires) {
			t.Errorf("%s: the registry's expiry is stored as %s", name, stored.RegistryExpires)
		}
		if told := len(env.store.events) == 1; told != (domain.Status != test.after) {
			t.Errorf("%s: the audit tells %v", name, env.store.events)
		}
	}
}

func TestSyncDomain_UnreachableRegistryChangesNothing(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{recordErrors: map[string]error{"neu.org": unreachable()}})
	domain := provision.Domain{ID: "dom_1", Name: "neu.org", TLD: ".org", Status: "active"}
	env.store.domains["dom_1"] = domain
	if finding := env.SyncDomain(t.Context(), domain); finding.Err == nil || len(finding.Drift) != 0 || env.store.domains["dom_1"].Status != "active" {
		t.Errorf("got %+v", finding)
	}
}

func TestSyncAll_ChecksOwnServedDomainsOnly(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{records: map[string]provision.Record{}})
	for id, domain := range map[string]provision.Domain{
		"dom_1":    {Name: "a.org", TLD: ".org", Status: "active"},
		"dom_22":   {Name: "b.org", TLD: ".org", Status: "pending"},
		"dom_333":  {Name: "c.org", TLD: ".org", Status: "transferred_out"},
		"dom_4444": {Name: "d.xyz", TLD: ".xyz", Status: "active"},
	} {
		domain.ID = id
		env.store.domains[id] = domain
	}
	var seen []string
	err := env.SyncAll(context.Background(), operator, func(f provision.SyncResult) error {
		seen = append(seen, f.Domain.Name)
		return nil
	})
	if err != nil || !slices.Equal(seen, []string{"a.org"}) {
		t.Errorf("%v, looked at %q", err, seen)
	}
	if err := env.SyncAll(context.Background(), registrar.Actor{Kind: registrar.ActorPerson}, nil); registrar.CodeOf(err) != registrar.OperatorsOnly {
		t.Errorf("a person may sync: %v", err)
	}
}

func TestSyncDomain_UnconfiguredAccountChangesNothing(t *testing.T) {
	t.Parallel()
	// Another account serves the extension now, and would say that it is not ours.
	env := newEnv(t, &fakeRegistry{recordErrors: map[string]error{"neu.org": &registrar.Error{Kind: registrar.KindForbidden, Code: registrar.OtherRegistrar}}})
	due := time.Now().Add(-time.Minute)
	domain := provision.Domain{ID: "dom_1", Name: "neu.org", TLD: ".org", Status: "active", Account: "renamed", SyncDue: due}
	env.store.domains["dom_1"] = domain
	finding := env.SyncDomain(t.Context(), domain)
	stored := env.store.domains["dom_1"]
	if registrar.CodeOf(finding.Err) != registrar.NoRegistryAccount || len(finding.Drift) != 0 || stored.Status != "active" {
		t.Errorf("got %+v, stored as %s", finding, stored.Status)
	}
	if !stored.SyncDue.After(time.Now()) {
		t.Error("it stays due and keeps others from being looked at")
	}
}
