package domains

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
)

func TestLock_ForbidsConfiguredChanges(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "streit.com")
	id := s.addDomain(ada, "streit", ".com", registrar.DomainActive)
	s.config.CheckRestrictions = func(_ context.Context, dom domainchange.Domain, kind domainchange.ChangeKind) (registrar.Code, error) {
		if dom.ID == id && kind == domainchange.AuthCode {
			return domainchange.DomainRestricted, nil
		}
		return "", nil
	}
	var err error
	s.service, err = domainchange.New(s.config)
	must(t, err)
	if _, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.AuthCode}); registrar.CodeOf(err) != domainchange.DomainRestricted {
		t.Errorf("auth code: %v", err)
	}
	if s.view(id).Closed[domainchange.AuthCode] != domainchange.DomainRestricted {
		t.Error("the view does not show the lock")
	}
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Unlock})
}

// timingOutRegistry times out until cured.
type timingOutRegistry struct {
	domainchange.Registry
	recovered *atomic.Bool
}

func (d timingOutRegistry) ApplyChange(ctx context.Context, task domainchange.Task) (domainchange.Result, error) {
	if !d.recovered.Load() {
		return domainchange.Result{}, registrar.Fault(registrar.FaultTimeout, "epp.example", net.ErrClosed)
	}
	return d.Registry.ApplyChange(ctx, task)
}

// A court order also stops changes requested before it, as long as the
// registry has not received them.
func TestLock_RefusesChangeWaitingForRegistry(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "gericht.com")
	id := s.addDomain(ada, "gericht", ".com", registrar.DomainActive)
	var recovered, locked atomic.Bool
	s.config.Registries[0].Registry = timingOutRegistry{s.provisioner, &recovered}
	s.config.CheckRestrictions = func(_ context.Context, dom domainchange.Domain, kind domainchange.ChangeKind) (registrar.Code, error) {
		if locked.Load() && dom.ID == id && kind == domainchange.Unlock {
			return domainchange.DomainRestricted, nil
		}
		return "", nil
	}
	var err error
	s.service, err = domainchange.New(s.config)
	must(t, err)
	change, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.Unlock})
	must(t, err)
	if change.State != domainchange.StatusOpen {
		t.Fatalf("change is %s", change.State)
	}
	locked.Store(true)
	recovered.Store(true)
	s.run()
	for deadline := time.Now().Add(waitTimeout); ; time.Sleep(20 * time.Millisecond) {
		changes, err := s.db.ListDomainChanges(t.Context(), id, 1)
		must(t, err)
		if changes[0].State.Final() {
			change = changes[0]
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("change never ends")
		}
	}
	if change.State != domainchange.StatusRefused || change.Failure != domainchange.DomainRestricted {
		t.Errorf("change is %s: %s", change.State, change.Failure)
	}
	if !slices.Contains(s.registryDomain("gericht.com").Statuses(), "clientTransferProhibited") {
		t.Error("domain is not transfer-locked")
	}
}

// The customer is notified of the lock without the operator's address.
func TestSecure_OperatorSetsTransferLock(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "bleibt.com")
	id := s.addDomain(ada, "bleibt", ".com", registrar.DomainActive)
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Unlock})
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "cus_root", Address: netip.MustParseAddr("198.51.100.9")}
	if err := s.service.Secure(t.Context(), signedInActor(ada), ada, id, "lck_1"); registrar.KindOf(err) != registrar.KindForbidden {
		t.Errorf("as a customer: %v", err)
	}
	if err := s.service.Secure(t.Context(), operator, eve, id, "lck_1"); registrar.CodeOf(err) != registrar.NoSuchDomain {
		t.Errorf("another customer's domain: %v", err)
	}
	must(t, s.service.Secure(t.Context(), operator, ada, id, "lck_1"))
	if !slices.Contains(s.registryDomain("bleibt.com").Statuses(), "clientTransferProhibited") {
		t.Error("domain is not transfer-locked")
	}
	mails, err := s.db.ClaimDueMails(t.Context(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), 10)
	must(t, err)
	notified := 0
	for _, mail := range mails {
		if mail.Data["address"] == operator.Address.String() {
			t.Errorf("mail data = %v", mail.Data)
		}
		if mail.Data["change"] == string(domainchange.Secure) {
			notified++
		}
	}
	if notified != 1 {
		t.Errorf("%d mails, want 1", notified)
	}
}

// operator acts on a court order.
var operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "cus_root"}

// The .de registry has no transfer lock and transfers at once: the auth code is the
// only protection.
func TestSecure_InvalidatesIssuedAuthCode(t *testing.T) {
	t.Parallel()
	for _, tld := range []string{".com", ".de"} {
		t.Run(tld, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t, "beute"+tld, "frei"+tld)
			id, free := s.addDomain(ada, "beute", tld, registrar.DomainActive), s.addDomain(ada, "frei", tld, registrar.DomainActive)
			other := s.newEPPClient("andere")
			codes := make(map[string]string)
			for name, dom := range map[string]string{"beute" + tld: id, "frei" + tld: free} {
				if s.view(dom).Capabilities.Lock {
					s.requestChange(dom, domainchange.ChangeRequest{Kind: domainchange.Unlock})
				}
				_, codes[name] = s.requestChange(dom, domainchange.ChangeRequest{Kind: domainchange.AuthCode})
			}
			request := func(name string) error {
				_, err := other.TransferDomain(t.Context(), epp.TransferDomain{Op: epp.TransferRequest, Name: name, AuthInfo: codes[name]})
				return err
			}
			must(t, s.service.Secure(t.Context(), operator, ada, id, "lck_1"))
			if err := request("beute" + tld); err == nil {
				t.Error("transfer with the old code succeeded")
			}
			// Even without the lock the old code is invalid.
			if s.view(id).Capabilities.Lock {
				s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Unlock})
			}
			if err := request("beute" + tld); epp.ResultCode(err) != epp.CodeAuthInfo {
				t.Errorf("transfer with the old code: %v", err)
			}
			if err := request("frei" + tld); err != nil { // the same request works for an unsecured domain
				t.Errorf("transfer of an unsecured domain: %v", err)
			}
			change := s.view(id).Changes
			secured := slices.IndexFunc(change, func(c domainchange.Change) bool { return c.Kind == domainchange.Secure })
			if secured < 0 || change[secured].SealedCode != "" || change[secured].Actor.Kind != registrar.ActorOperator {
				t.Errorf("view = %+v", change)
			}
			events, err := s.db.ListObjectAuditEvents(t.Context(), ada, "beute"+tld, 10)
			must(t, err)
			if !slices.ContainsFunc(events, func(d registrar.AuditEvent) bool {
				return d.Action == "domain_secured" && d.Actor.Kind == registrar.ActorOperator
			}) {
				t.Errorf("audit events = %+v", events)
			}
		})
	}
}

func TestSecure_NotAvailableToOwner(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "meins.com")
	id := s.addDomain(ada, "meins", ".com", registrar.DomainActive)
	if _, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.Secure}); registrar.CodeOf(err) != domainchange.NoSuchChange {
		t.Errorf("got %v", err)
	}
	if changes := s.view(id).Changes; len(changes) != 0 {
		t.Errorf("change stored: %+v", changes)
	}
}

// A customer's open change must not delay a court order.
func TestSecure_WaitsForRunningChange(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "eilig.com")
	id := s.addDomain(ada, "eilig", ".com", registrar.DomainActive)
	var recovered atomic.Bool
	s.config.Registries[0].Registry = timingOutRegistry{s.provisioner, &recovered}
	var err error
	s.service, err = domainchange.New(s.config)
	must(t, err)
	_, _, err = s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.Unlock})
	must(t, err)
	recovered.Store(true)
	s.run()
	must(t, s.service.Secure(t.Context(), operator, ada, id, "lck_1"))
	if !slices.Contains(s.registryDomain("eilig.com").Statuses(), "clientTransferProhibited") {
		t.Error("domain is not transfer-locked")
	}
}

func TestAbandon_OnlyChangeWithoutRegistryAccount(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "liegt.com")
	id := s.addDomain(ada, "liegt", ".com", registrar.DomainActive)
	var recovered atomic.Bool
	s.config.Registries[0].Registry = timingOutRegistry{s.provisioner, &recovered}
	s.config.RequestTimeout = time.Second
	var err error
	s.service, err = domainchange.New(s.config)
	must(t, err)
	change, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.AuthCode})
	must(t, err)
	if err := s.service.AbandonChange(t.Context(), signedInActor(ada), change.ID); registrar.KindOf(err) != registrar.KindForbidden {
		t.Errorf("by its customer: %v", err)
	}
	if err := s.service.AbandonChange(t.Context(), operator, change.ID); registrar.CodeOf(err) != domainchange.NotAbandonable {
		t.Errorf("while an account serves it: %v", err)
	}
	if s.view(id).Stuck {
		t.Error("view shows it as stuck")
	}
	// The last account that serves the TLD is removed.
	s.config.Registries = nil
	waits := make(chan registrar.Code, 100)
	s.config.RecordError = func(_ context.Context, _ string, code registrar.Code) { waits <- code }
	s.service, err = domainchange.New(s.config)
	must(t, err)
	if view := s.view(id); !view.Stuck || view.Open == nil {
		t.Errorf("view = %+v", view)
	}
	s.run()
	select {
	case code := <-waits:
		if code != registrar.NoRegistryAccount {
			t.Errorf("job error = %s", code)
		}
	case <-time.After(waitTimeout):
		t.Fatal("blocked change not reported")
	}
	for end := time.Now().Add(waitTimeout); ; time.Sleep(20 * time.Millisecond) { // the loop may hold the lease
		if err = s.service.AbandonChange(t.Context(), operator, change.ID); err == nil || time.Now().After(end) {
			break
		}
	}
	must(t, err)
	view := s.view(id)
	if view.Open != nil || view.Changes[0].State != domainchange.StatusRefused || view.Changes[0].Failure != domainchange.Abandoned || view.Changes[0].SealedCode != "" {
		t.Errorf("view = %+v", view.Changes)
	}
	events, err := s.db.ListObjectAuditEvents(t.Context(), ada, "liegt.com", 10)
	must(t, err)
	if len(events) == 0 || events[0].Action != domainchange.ActionAbandoned || events[0].Actor.Kind != registrar.ActorOperator {
		t.Errorf("audit events = %+v", events)
	}
	for name, id := range map[string]string{"a second time": change.ID, "one that there is not": "chg_none"} {
		if err := s.service.AbandonChange(t.Context(), operator, id); err == nil {
			t.Errorf("%s: abandoned", name)
		}
	}
}

// Each change is a registry command, a mail and a row.
func TestChanges_RateLimitedPerDomain(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "unruhe.com", "ruhe.com")
	id, other := s.addDomain(ada, "unruhe", ".com", registrar.DomainActive), s.addDomain(ada, "ruhe", ".com", registrar.DomainActive)
	asked := 0
	for ; asked < 100; asked++ {
		kind := []domainchange.ChangeKind{domainchange.Unlock, domainchange.Lock}[asked%2]
		_, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: kind})
		if registrar.CodeOf(err) == domainchange.TooManyChanges && registrar.KindOf(err) == registrar.KindRateLimited {
			break
		}
		must(t, err)
	}
	if asked < 20 || asked == 100 {
		t.Errorf("%d changes accepted", asked)
	}
	s.requestChange(other, domainchange.ChangeRequest{Kind: domainchange.Unlock})
	must(t, s.service.Secure(t.Context(), operator, ada, id, "lck_1"))
}

// A lock stays set; an operator closing the browser must not leave the
// domain unsecured.
func TestSecure_CompletesAfterCanceledRequest(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "weg.com")
	id := s.addDomain(ada, "weg", ".com", registrar.DomainActive)
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Unlock})
	gone, leave := context.WithCancel(t.Context())
	leave()
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "cus_root"}
	must(t, s.service.Secure(gone, operator, ada, id, "lck_1"))
	if secured, _, err := s.service.SecuredFor(t.Context(), id, "lck_1"); err != nil || !secured {
		t.Errorf("secured %t, %v", secured, err)
	}
	if !slices.Contains(s.registryDomain("weg.com").Statuses(), "clientTransferProhibited") {
		t.Error("domain is not transfer-locked")
	}
}
