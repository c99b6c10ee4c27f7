package domains

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

func TestChange_LostResponseIsRecovered(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "lostanswer-eins.com", "once-dropped-zwei.com")
	for _, label := range []string{"lostanswer-eins", "once-dropped-zwei"} {
		id := s.addDomain(ada, label, ".com", registrar.DomainActive)
		s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Unlock})
		s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Nameservers, Nameservers: "ns1.nordlicht.example\nns2.nordlicht.example"})
		if got := nameserverHosts(s.registryDomain(label + ".com")); !slices.Equal(got, []string{"ns1.nordlicht.example", "ns2.nordlicht.example"}) {
			t.Errorf("%s has %v", label, got)
		}
	}
}

// refusingRegistry does not respond until enabled.
type refusingRegistry struct {
	domainchange.Registry
	mu        sync.Mutex
	recovered bool
}

func (s *refusingRegistry) isRecovered() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.recovered }

func (s *refusingRegistry) ApplyChange(ctx context.Context, task domainchange.Task) (domainchange.Result, error) {
	if !s.isRecovered() {
		return domainchange.Result{}, registrar.Fault(registrar.FaultRefused, "epp.example", errors.New("refused"))
	}
	return s.Registry.ApplyChange(ctx, task)
}

func TestChange_ResumesWhenRegistryRecovers(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "geduld.com")
	id := s.addDomain(ada, "geduld", ".com", registrar.DomainActive)
	quiet := &refusingRegistry{Registry: s.provisioner}
	s.config.Registries[0].Registry = quiet
	var err error
	s.service, err = domainchange.New(s.config)
	must(t, err)
	change, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.Unlock})
	must(t, err)
	if change.State != domainchange.StatusOpen || s.view(id).Open == nil {
		t.Fatalf("change is %s", change.State)
	}
	_, _, err = s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.AuthCode})
	if registrar.CodeOf(err) != domainchange.ChangeInProgress {
		t.Errorf("second open change: %v", err)
	}
	quiet.mu.Lock()
	quiet.recovered = true
	quiet.mu.Unlock()
	s.run()
	for end := time.Now().Add(waitTimeout); s.view(id).Open != nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("change is still open")
		}
	}
	if slices.Contains(s.registryDomain("geduld.com").Statuses(), "clientTransferProhibited") {
		t.Error("domain is still locked")
	}
}

func TestChange_RegistryRefusalIsFinal(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "fremd.com")
	id := s.addDomain(ada, "fremd", ".com", registrar.DomainActive)
	// The host is below a domain of another registrar.
	change, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.Nameservers, Nameservers: "ns1.gibtesnicht-a.com\nns2.gibtesnicht-a.com"})
	must(t, err)
	if change.State != domainchange.StatusRefused || change.Failure == "" || !change.DueAt.IsZero() {
		t.Errorf("change = %+v", change)
	}
	if got := nameserverHosts(s.registryDomain("fremd.com")); len(got) != 2 || got[0] != oldNameserver {
		t.Errorf("registry has %v", got)
	}
	if view := s.view(id); view.Open != nil || len(view.Changes) != 1 {
		t.Errorf("view = %+v", view)
	}
}

func TestChange_NeedsOwnerWithRecentSignIn(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "meine.com")
	id := s.addDomain(ada, "meine", ".com", registrar.DomainActive)
	old := signedInActor(ada)
	old.SignedInAt = time.Now().Add(-registrar.RecentSignIn - time.Minute)
	token := signedInActor(ada)
	token.Kind = registrar.ActorToken
	for _, kind := range domainchange.CustomerChangeKinds() {
		request := domainchange.ChangeRequest{Kind: kind, Nameservers: "ns1.nordlicht.example\nns2.nordlicht.example", DS: ds}
		for name, c := range map[string]struct {
			actor registrar.Actor
			want  error
		}{
			"another customer":     {signedInActor(eve), &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchDomain}},
			"an anonymous visitor": {registrar.Actor{Kind: registrar.ActorPerson, Address: netip.MustParseAddr("192.0.2.9")}, &registrar.Error{Kind: registrar.KindUnauthenticated}},
			"a token":              {token, &registrar.Error{Kind: registrar.KindForbidden}},
			"an old sign-in":       {old, &registrar.Error{Code: registrar.SignInAgain}},
		} {
			if kind == domainchange.Lock && name == "an old sign-in" {
				continue // locking is always allowed
			}
			if _, _, err := s.service.RequestChange(t.Context(), c.actor, id, request); !errors.Is(err, c.want) {
				t.Errorf("%s by %s: %v", kind, name, err)
			}
		}
	}
	if _, err := s.service.View(t.Context(), signedInActor(eve), id); registrar.CodeOf(err) != registrar.NoSuchDomain {
		t.Errorf("view by another customer: %v", err)
	}
	if got := s.registryDomain("meine.com"); got.Auth != "auth-meine" || nameserverHosts(got)[0] != oldNameserver {
		t.Errorf("registry has %+v", got)
	}
}

func TestChange_EachStatusRefusesWithItsCode(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "zustand-active.com", "zustand-expired.com")
	for status, want := range map[registrar.DomainStatus]registrar.Code{
		registrar.DomainActive: "", registrar.DomainExpired: domainchange.IsExpired, registrar.DomainPending: domainchange.IsPending,
		registrar.DomainRedemption: domainchange.IsRedemption, registrar.DomainTransit: domainchange.IsTransit, registrar.DomainTransferredOut: domainchange.IsTransferredOut,
	} {
		id := s.addDomain(ada, "zustand-"+strings.ReplaceAll(string(status), "_", "-"), ".com", status)
		_, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.Nameservers, Nameservers: "ns1.nordlicht.example\nns2.nordlicht.example"})
		if registrar.CodeOf(err) != want || s.view(id).Closed[domainchange.Nameservers] != want {
			t.Errorf("%s: %v, closed because %q", status, err, s.view(id).Closed[domainchange.Nameservers])
		}
		_, _, err = s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.AuthCode})
		if leaves := status == registrar.DomainActive || status == registrar.DomainExpired; leaves != (err == nil) {
			t.Errorf("%s: auth code: %v", status, err)
		}
	}
}

func TestView_UnreachableRegistryShowsLastRecord(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "zuletzt.com")
	id := s.addDomain(ada, "zuletzt", ".com", registrar.DomainActive)
	if view := s.view(id); !view.HasRecord || view.Unreachable {
		t.Fatalf("view = %+v", view)
	}
	later := time.Now().Add(time.Hour)
	s.config.Now = func() time.Time { return later }
	s.config.Registries[0].Registry = unreachableRegistry{s.provisioner}
	var err error
	s.service, err = domainchange.New(s.config)
	must(t, err)
	if view := s.view(id); !view.HasRecord || !view.Unreachable || len(view.Record.Nameservers) != 2 {
		t.Errorf("view = %+v", view)
	}
}

type unreachableRegistry struct{ domainchange.Registry }

func (unreachableRegistry) FetchRecord(context.Context, string) (domainchange.Record, error) {
	return domainchange.Record{}, registrar.Fault(registrar.FaultTimeout, "epp.example", net.ErrClosed)
}

// countingRegistry counts FetchRecord calls.
type countingRegistry struct {
	domainchange.Registry
	fetches *atomic.Int64
}

func (c countingRegistry) FetchRecord(ctx context.Context, name string) (domainchange.Record, error) {
	c.fetches.Add(1)
	return c.Registry.FetchRecord(ctx, name)
}

func TestView_FailingRegistryIsQueriedAtIntervals(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "neuladen.com")
	id := s.addDomain(ada, "neuladen", ".com", registrar.DomainActive)
	var looks atomic.Int64
	var mu sync.Mutex
	now := time.Now()
	s.config.Clock = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	wait := time.Duration(0)
	s.config.RateLimit = func(registrar.Actor) time.Duration { return wait }
	s.config.Registries[0].Registry = countingRegistry{unreachableRegistry{s.provisioner}, &looks}
	var err error
	s.service, err = domainchange.New(s.config)
	must(t, err)
	reload := func(want int64) {
		t.Helper()
		for range 20 {
			if view := s.view(id); view.HasRecord || !view.Unreachable {
				t.Errorf("view = %+v", view)
			}
		}
		if got := looks.Load(); got != want {
			t.Errorf("%d registry queries, want %d", got, want)
		}
	}
	reload(1)
	mu.Lock()
	now = now.Add(10 * time.Second)
	mu.Unlock()
	wait = time.Minute // over the rate limit
	reload(1)
	wait = 0
	reload(2)
}
