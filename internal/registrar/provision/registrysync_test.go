package provision_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestPoll_StoresMessageBeforeAcknowledging(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{
		messages: []inbox.Message{{ID: "1", Name: "neu.org"}, {ID: "2"}},
		errors:   map[string][]error{"acknowledge": {nil, unreachable()}},
	})
	taken, err := env.Poll(t.Context(), "registry", nil)
	if taken != 1 || registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("%d messages, %v", taken, err)
	}
	if taken, err = env.Poll(t.Context(), "registry", nil); taken != 1 || err != nil { // delivered again and recognised
		t.Errorf("%d messages, %v", taken, err)
	}
	want := []string{
		"stored message 1", "acknowledged 1", "stored message 2", "acknowledged 2", "stored message 2", "acknowledged 2",
	}
	if got := env.log.all(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := env.Poll(t.Context(), "unknown", nil); registrar.CodeOf(err) != registrar.NoRegistryAccount {
		t.Errorf("unconfigured account: %v", err)
	}
}

func TestPoll_StopsAtMessageThatStaysQueued(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{messages: []inbox.Message{{ID: "1"}}, keepMessages: true})
	if taken, err := env.Poll(t.Context(), "registry", nil); taken != 1 || registrar.KindOf(err) != registrar.KindUpstream {
		t.Errorf("%d messages, %v", taken, err)
	}
}

func TestPollMessages_OneOfTwoNodesPollsUntilItStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{})
		polled := func(node *provision.Service) (err error) {
			_, err = node.Poll(t.Context(), "registry", nil)
			return err
		}
		there := env.newNode(t, func(cfg *provision.Config) { cfg.Node = "there" })
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { env.Run(ctx) })
		time.Sleep(10 * time.Minute) // many times the length of a lease
		if err := polled(there); registrar.CodeOf(err) != inbox.PolledElsewhere {
			t.Errorf("a second poller: %v", err)
		}
		stop()
		running.Wait()
		if err := polled(there); err != nil {
			t.Errorf("after the first node stopped: %v", err)
		}

		// A node that is killed releases nothing.
		env.store.pollers["registry"] = pollerLease{"killed", time.Now().Add(20 * time.Second)}
		ctx, stop = context.WithCancel(t.Context())
		running.Go(func() { there.Run(ctx) })
		time.Sleep(26 * time.Second)
		if err := polled(env.Service); registrar.CodeOf(err) != inbox.PolledElsewhere {
			t.Errorf("the other node did not take over: %v", err)
		}
		stop()
		running.Wait()
	})
}

func TestPollMessages_NodeWithoutDatabaseStopsBeforeItsLeaseEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{}, func(cfg *provision.Config) { cfg.Accounts[0].PollInterval = time.Second })
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { env.Run(ctx) })
		time.Sleep(time.Minute)
		env.store.failPollers.Store(true)
		time.Sleep(20 * time.Second)
		before := env.registry.polls.Load()
		time.Sleep(time.Minute)
		if after := env.registry.polls.Load(); before == 0 || after != before {
			t.Errorf("%d polls, then %d without a lease", before, after)
		}
		env.store.failPollers.Store(false)
		time.Sleep(time.Minute)
		if env.registry.polls.Load() == before {
			t.Error("no poll after the database came back")
		}
		stop()
		running.Wait()
	})
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
		if text := log.String(); strings.Count(text, "registry poll failed") != 2 || strings.Contains(text, "connection_refused") {
			t.Errorf("log: %s", text)
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
		"unchanged":           {record: provision.Record{Expires: paid, Statuses: []string{"ok"}, Full: domainchange.Record{Statuses: []string{"ok"}}}, after: "active"},
		"auto-renewed":        {record: provision.Record{Expires: paid.AddDate(1, 0, 0)}, after: "active"},
		"one day shorter":     {record: provision.Record{Expires: paid.Add(-24 * time.Hour)}, after: "active"},
		"too short":           {record: provision.Record{Expires: paid.AddDate(-1, 0, 0)}, drift: []provision.Drift{provision.DriftShort}, after: "active"},
		"unknown to registry": {err: &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.RegistryNotFound}, drift: []provision.Drift{provision.DriftMissing}, after: "active"},
		"transferred out":     {err: elsewhere, drift: []provision.Drift{provision.DriftElsewhere}, after: "transferred_out"},
		"in transit":          {status: "transit", err: elsewhere, after: "transit"},
		"deleted":             {record: provision.Record{Redemption: true}, drift: []provision.Drift{provision.DriftRedemption}, after: "redemption"},
		"known redemption":    {status: "redemption", record: provision.Record{Redemption: true}, after: "redemption"},
		"other contact":       {record: provision.Record{Expires: paid, Handle: "OTHER"}, drift: []provision.Drift{provision.DriftHandle}, after: "active"},
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
			t.Errorf("%s: local fields changed: %+v", name, stored)
		}
		if test.err == nil && !stored.RegistryExpires.Equal(test.record.Expires) {
			t.Errorf("%s: stored registry expiry = %s", name, stored.RegistryExpires)
		}
		if read := stored.Record != nil; read != (test.err == nil) || read && (stored.Record.ReadAt.IsZero() || !slices.Equal(stored.Record.Statuses, test.record.Full.Statuses)) {
			t.Errorf("%s: the record to store is %+v", name, stored.Record)
		}
		if audited := len(env.store.events) == 1; audited != (domain.Status != test.after) {
			t.Errorf("%s: audit events: %v", name, env.store.events)
		}
	}
}

func TestSyncDomain_DeletionAfterTheTermHasItsDay(t *testing.T) {
	t.Parallel()
	now := time.Now().UTC().Truncate(time.Second)
	ended, deleted := now.AddDate(0, 0, -55), now.AddDate(0, 0, -10)
	for name, test := range map[string]struct {
		paidUntil, changed time.Time
		redemption         bool
		want               time.Time // zero: none; now: the day on which it is seen
	}{
		"deleted by the registry": {ended, deleted, true, deleted},
		"changed before its end":  {ended, ended.AddDate(0, 0, -300), true, now},
		"changed in the future":   {ended, now.AddDate(0, 0, 2), true, now},
		"not deleted":             {ended, deleted, false, time.Time{}},
		"deleted during its term": {now.AddDate(0, 0, 20), deleted, true, time.Time{}},
	} {
		env := newEnv(t, &fakeRegistry{records: map[string]provision.Record{"neu.io": {Redemption: test.redemption, Full: domainchange.Record{Updated: test.changed}}}})
		domain := provision.Domain{ID: "dom_1", Name: "neu.io", TLD: ".io", Status: registrar.DomainExpired, PaidUntil: test.paidUntil}
		env.store.domains["dom_1"] = domain
		env.SyncDomain(t.Context(), domain)
		if got := env.store.domains["dom_1"].DeletedAt; got.IsZero() != test.want.IsZero() || got.Sub(test.want).Abs() > time.Minute {
			t.Errorf("%s: deleted at %s, want %s", name, got, test.want)
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

func TestSyncDomain_PendingOneWithoutOrderBecomesActiveWhenItArrives(t *testing.T) {
	t.Parallel()
	ends := time.Now().AddDate(1, 0, 0).UTC()
	elsewhere := &registrar.Error{Kind: registrar.KindForbidden, Code: registrar.OtherRegistrar}
	for name, test := range map[string]struct {
		record provision.Record
		err    error
		after  registrar.DomainStatus
	}{
		"arrived":          {record: provision.Record{Expires: ends, Statuses: []string{"ok"}}, after: registrar.DomainActive},
		"on its way":       {err: elsewhere, after: registrar.DomainPending},
		"not created yet":  {record: provision.Record{Statuses: []string{"pendingCreate"}}, after: registrar.DomainPending},
		"without any term": {record: provision.Record{Statuses: []string{"ok"}}, after: registrar.DomainActive},
	} {
		env := newEnv(t, &fakeRegistry{records: map[string]provision.Record{"neu.org": test.record}, recordErrors: map[string]error{"neu.org": test.err}})
		domain := provision.Domain{ID: "dom_1", Customer: "cus_ada", Name: "neu.org", TLD: ".org", Status: registrar.DomainPending}
		env.store.domains["dom_1"] = domain
		finding := env.SyncDomain(t.Context(), domain)
		got := finding.Domain
		if finding.Err != nil || len(finding.Drift) != 0 || got.Status != test.after || got.PaidUntil.IsZero() != (test.after == registrar.DomainPending) ||
			!test.record.Expires.IsZero() && !got.PaidUntil.Equal(ends) {
			t.Errorf("%s: %+v", name, finding)
		}
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
		t.Errorf("%v, synced %q", err, seen)
	}
	if err := env.SyncAll(context.Background(), registrar.Actor{Kind: registrar.ActorPerson}, nil); registrar.CodeOf(err) != registrar.OperatorsOnly {
		t.Errorf("as a customer: %v", err)
	}
}

func TestSyncDomain_UnconfiguredAccountChangesNothing(t *testing.T) {
	t.Parallel()
	// Another account serves the TLD now and would report a foreign sponsor.
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
		t.Error("domain stays due and blocks the queue")
	}
}
