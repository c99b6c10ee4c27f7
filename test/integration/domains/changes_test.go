package domains

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
	"github.com/dotkontor/dotkontor/test/testkit"
)

const ds = "2371 13 2 1F987CC6583E92DF0890718C42A50A6E4C2C6F6F3E0C0DBE9C30BFD40AE8BC1F"

// dnsRecords queries the simulated DNS.
func (s *env) dnsRecords(name string, kind uint16) []string {
	s.t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(name+".", kind)
	answer, _, err := new(dns.Client).ExchangeContext(s.t.Context(), m, s.world.DNS())
	must(s.t, err)
	var texts []string
	for _, rr := range answer.Answer {
		texts = append(texts, strings.TrimPrefix(rr.String(), rr.Header().String()))
	}
	slices.Sort(texts)
	return texts
}

func nameserverHosts(dom *ledger.Domain) []string {
	var names []string
	for _, server := range dom.Nameservers {
		names = append(names, server.Host)
	}
	slices.Sort(names)
	return names
}

func TestNameservers_ChangeAtRegistryAndInDNS(t *testing.T) {
	t.Parallel()
	for _, tld := range []string{".com", ".org", ".de"} { // host objects without and with contacts, and host attributes
		t.Run(tld, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t, "umzug"+tld)
			id := s.addDomain(ada, "umzug", tld, registrar.DomainActive)
			s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Nameservers, Nameservers: "NS1.Nordlicht.Example.\n\n  ns2.nordlicht.example\r\n"})
			want := []string{"ns1.nordlicht.example", "ns2.nordlicht.example"}
			if got := nameserverHosts(s.registryDomain("umzug" + tld)); !slices.Equal(got, want) {
				t.Errorf("registry has %v", got)
			}
			if got := s.dnsRecords("umzug"+tld, dns.TypeNS); !slices.Equal(got, []string{"ns1.nordlicht.example.", "ns2.nordlicht.example."}) {
				t.Errorf("DNS has %v", got)
			}
			// One that stays, and two in-bailiwick ones with addresses.
			own := "ns1.nordlicht.example\nns1.umzug" + tld + " 192.0.2.10 2001:db8::10\nns2.umzug" + tld + " 192.0.2.11"
			s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Nameservers, Nameservers: own})
			if got := nameserverHosts(s.registryDomain("umzug" + tld)); !slices.Equal(got, []string{"ns1.nordlicht.example", "ns1.umzug" + tld, "ns2.umzug" + tld}) {
				t.Errorf("registry has %v", got)
			}
			// The same names with another address.
			s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Nameservers, Nameservers: strings.Replace(own, "192.0.2.10", "192.0.2.20", 1)})
			if tld != ".de" { // host attributes have no separate glue in this DNS
				if got := s.dnsRecords("ns1.umzug"+tld, dns.TypeA); !slices.Equal(got, []string{"192.0.2.20"}) {
					t.Errorf("glue = %v", got)
				}
			}
			if view := s.view(id); len(view.Record.Nameservers) != 3 || len(view.Changes) != 3 || view.Changes[0].State != domainchange.StatusDone {
				t.Errorf("view = %+v", view)
			} else if want := strings.Replace(own, "192.0.2.10", "192.0.2.20", 1); want != nameserverText(view.Record.Nameservers) {
				t.Errorf("the record has %q, want the input %q", nameserverText(view.Record.Nameservers), want)
			}
		})
	}
}

// nameserverText returns nameservers in the input form, sorted.
func nameserverText(servers []domainchange.Nameserver) string {
	var lines []string
	for _, server := range servers {
		server.Addresses = slices.SortedFunc(slices.Values(server.Addresses), netip.Addr.Compare)
		lines = append(lines, server.String())
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestDSRecords_AddAndRemove(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "signiert.com")
	id := s.addDomain(ada, "signiert", ".com", registrar.DomainActive)
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.AddDS, DS: "signiert.com. 3600 IN DS " + ds})
	if got := s.dnsRecords("signiert.com", dns.TypeDS); len(got) != 1 || !strings.HasPrefix(got[0], "2371 13 2 1F98") {
		t.Errorf("DNS has %v", got)
	}
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.AddDS, DS: ds}) // already present: a no-op
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.AddDS, DS: strings.Replace(ds, "2371", "2372", 1)})
	if got := s.view(id).Record.DS; len(got) != 2 {
		t.Errorf("view = %v", got)
	}
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.RemoveDS, DS: ds})
	if got := s.registryDomain("signiert.com").Keys; len(got) != 1 || got[0].KeyTag != 2372 {
		t.Errorf("registry has %v", got)
	}
}

func TestTransferLock_SetAndRemovedAtRegistry(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "schloss.com")
	id := s.addDomain(ada, "schloss", ".com", registrar.DomainActive)
	if !s.view(id).Record.Locked() {
		t.Error("not locked initially")
	}
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Unlock})
	if got := s.registryDomain("schloss.com").Statuses(); slices.Contains(got, "clientTransferProhibited") || s.view(id).Record.Locked() {
		t.Errorf("registry has %v", got)
	}
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Lock})
	if !s.view(id).Record.Locked() {
		t.Error("not locked again")
	}
}

func TestAuthCode_ShownOnceAndNotStored(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "wegzug.com", "wegzug.de")
	for _, tld := range []string{".com", ".de"} {
		id := s.addDomain(ada, "wegzug", tld, registrar.DomainActive)
		change, code := s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.AuthCode})
		if len(code) < 8 || s.registryDomain("wegzug"+tld).Auth != code {
			t.Errorf("%s: registry has a different code than shown (%d characters)", tld, len(code))
		}
		if change.SealedCode != "" || s.view(id).Changes[0].SealedCode != "" {
			t.Errorf("%s: code is still stored", tld)
		}
		_, again := s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.AuthCode})
		if again == code || s.registryDomain("wegzug"+tld).Auth != again {
			t.Errorf("%s: second code is not new", tld)
		}
	}
	mails, err := s.db.ClaimDueMails(t.Context(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), 100)
	must(t, err)
	if len(mails) != 4 {
		t.Fatalf("%d mails", len(mails))
	}
	for _, mail := range mails {
		if mail.Kind != registrar.MailAuthCode || mail.Data["address"] != "192.0.2.7" || !strings.HasPrefix(mail.Data["domain"], "wegzug.") {
			t.Errorf("mail = %s %v", mail.Kind, mail.Data)
		}
	}
	events, err := s.db.ListObjectAuditEvents(t.Context(), ada, "wegzug.com", 10)
	must(t, err)
	if len(events) != 3 || events[0].Action != "auth_code_shown" || events[0].Actor.Customer != ada {
		t.Errorf("audit events = %+v", events)
	}
}

// registerDomain registers a name with its own contact for ada.
func (s *env) registerDomain(label, tld string) string {
	return s.provisionDomain(provision.PaidItem{Name: registrar.NewName(label, tld), Kind: provision.Register})
}

// provisionDomain registers or transfers a name for ada and waits until its first changes have
// ended. A transfer that takes days is completed.
func (s *env) provisionDomain(paid provision.PaidItem) string {
	s.t.Helper()
	lines, err := provision.New(provision.Config{
		Store: s.db, Domains: s.db, Seal: s.seal, Node: "lines", Now: s.world.Now, Nameservers: []string{"ns1.nordlicht.example", "ns2.nordlicht.example"},
		Accounts: []provision.NamedAccount{{Name: "sandbox", Serves: func(string) bool { return true }, Account: s.provisioner}},
	})
	must(s.t, err)
	ctx, stop := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() { lines.Run(ctx) })
	defer func() { stop(); running.Wait() }()
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}
	paid.Customer, paid.Payment = ada, "manual:1"
	item, err := lines.CreateItem(ctx, operator, paid)
	must(s.t, err)
	waited := false
	for end := time.Now().Add(waitTimeout); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if item, err = lines.GetItem(ctx, operator, item.ID); err != nil || item.State.Final() {
			break
		}
		if item.State == provision.StatePending && !waited {
			waited = true
			must(s.t, s.world.Advance(6*24*time.Hour))
		}
	}
	must(s.t, err)
	if item.State != provision.StateActive {
		s.t.Fatalf("item is %s: %s", item.State, item.Failure)
	}
	running.Go(func() { s.service.Run(ctx) })
	testkit.Eventually(s.t, "lock of the new domain", func() bool {
		changes, err := s.db.ListDomainChanges(ctx, item.Domain, 1)
		return err == nil && (len(changes) == 0 || changes[0].State.Final())
	})
	return item.Domain
}

// requestSigned requests new nameservers for a domain with a DS record.
func (s *env) requestSigned(id string, immediate bool) domainchange.Change {
	s.t.Helper()
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.AddDS, DS: ds})
	change, _, err := s.service.RequestChange(s.t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{
		Kind: domainchange.Nameservers, Nameservers: "ns1.neu.example\nns2.neu.example", Immediate: immediate,
	})
	must(s.t, err)
	return change
}

func TestNameservers_SignedDomainLosesDSADayBefore(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "signiert.com")
	id := s.addDomain(ada, "signiert", ".com", registrar.DomainActive)
	change := s.requestSigned(id, false)
	if left := change.WaitUntil.Sub(s.world.Now()); change.State != domainchange.StatusWaiting || left < 23*time.Hour || left > 24*time.Hour {
		t.Fatalf("it is %s and waits %s", change.State, left)
	}
	there := s.registryDomain("signiert.com")
	if len(s.dnsRecords("signiert.com", dns.TypeDS)) != 0 || there.Nameservers[0].Host != oldNameserver {
		t.Errorf("the registry has %v and %v", s.dnsRecords("signiert.com", dns.TypeDS), there.Nameservers)
	}
	if view := s.view(id); !view.Cancelable || view.Closed[domainchange.AddDS] != domainchange.ChangeInProgress {
		t.Errorf("cancelable %t, closed %v", view.Cancelable, view.Closed)
	}
	must(t, s.world.Advance(23*time.Hour))
	if due, err := s.db.ClaimDueDomainChanges(t.Context(), time.Now(), s.world.Now(), time.Now(), 10); err != nil || len(due) != 0 {
		t.Fatalf("after 23 hours %d changes are due, %v", len(due), err)
	}
	must(t, s.world.Advance(time.Hour))
	s.run()
	testkit.Eventually(t, "second step", func() bool { return s.view(id).Changes[0].State == domainchange.StatusDone })
	if got := s.registryDomain("signiert.com").Nameservers[0].Host; got != "ns1.neu.example" {
		t.Errorf("it has %s", got)
	}
	if done := s.view(id).Changes[0]; done.UpdatedAt.Sub(done.Desired.RemovedDSAt) < 23*time.Hour || done.Desired.RemovedDSAt.Before(done.CreatedAt) {
		t.Errorf("requested %s, DS records removed %s, done %s", done.CreatedAt, done.Desired.RemovedDSAt, done.UpdatedAt)
	}
	events, err := s.db.ListObjectAuditEvents(t.Context(), ada, "signiert.com", 10)
	must(t, err)
	by := make(map[registrar.Action]registrar.ActorKind)
	for _, event := range events {
		by[event.Action] = event.Actor.Kind
	}
	if by[domainchange.ActionPlanned] != registrar.ActorPerson || by["nameservers_changed"] != registrar.ActorSystem {
		t.Errorf("audited as %v", by)
	}
}

// The registry refuses a host below a domain of another registrar.
func TestNameservers_SignedDomainKeepsDSIfRegistryRefusesThem(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "behalten.com")
	id := s.addDomain(ada, "behalten", ".com", registrar.DomainActive)
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.AddDS, DS: ds})
	change, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{
		Kind: domainchange.Nameservers, Nameservers: "ns1.neu.example\nns1.gibtesnicht-a.com",
	})
	must(t, err)
	if named := change.Desired.RefusedServers; len(named) != 1 || named[0] != "ns1.gibtesnicht-a.com" {
		t.Errorf("the refusal names %q", named)
	}
	if change.State != domainchange.StatusRefused || change.Failure == "" || len(s.dnsRecords("behalten.com", dns.TypeDS)) != 1 {
		t.Errorf("it is %s because of %q, with %v", change.State, change.Failure, s.dnsRecords("behalten.com", dns.TypeDS))
	}
}

func TestWaitingChange_RefusalIsMailed(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "gescheitert.com")
	var refused atomic.Bool
	s.config.CheckRestrictions = func(context.Context, domainchange.Domain, domainchange.ChangeKind) (registrar.Code, error) {
		if refused.Load() {
			return registrar.RegistryDenied, nil
		}
		return "", nil
	}
	var err error
	s.service, err = domainchange.New(s.config)
	must(t, err)
	id := s.addDomain(ada, "gescheitert", ".com", registrar.DomainActive)
	s.requestSigned(id, false)
	refused.Store(true)
	must(t, s.world.Advance(25*time.Hour))
	s.run()
	testkit.Eventually(t, "end of the change", func() bool { return s.view(id).Changes[0].State.Final() })
	if to := s.queuedMails(registrar.MailNameserversRefused); s.view(id).Changes[0].State != domainchange.StatusRefused || len(to) != 1 {
		t.Errorf("it is %s, mails to %q", s.view(id).Changes[0].State, to)
	}
}

func TestWaitingChange_OtherChangesAreRefused(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "wartet.com")
	id := s.addDomain(ada, "wartet", ".com", registrar.DomainActive)
	s.requestSigned(id, false)
	for _, request := range []domainchange.ChangeRequest{
		{Kind: domainchange.Nameservers, Nameservers: "ns1.dritte.example\nns2.dritte.example"},
		{Kind: domainchange.AddDS, DS: ds},
		{Kind: domainchange.Lock},
		{Kind: domainchange.Unlock},
		{Kind: domainchange.AuthCode},
	} {
		if _, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, request); registrar.CodeOf(err) != domainchange.ChangeInProgress {
			t.Errorf("%s: %v", request.Kind, err)
		}
	}
	if change := s.view(id).Changes[0]; change.Kind != domainchange.Nameservers || change.State != domainchange.StatusWaiting {
		t.Errorf("%s is %s", change.Kind, change.State)
	}
}

// The registry still has the name in our account, as it would for the next customer.
func TestWaitingChange_RefusedIfDomainWasTransferredAway(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "verzogen.com")
	id := s.addDomain(ada, "verzogen", ".com", registrar.DomainActive)
	s.requestSigned(id, false)
	was, _, err := s.db.DomainByName(t.Context(), "verzogen.com")
	must(t, err)
	gone := was
	gone.Status = registrar.DomainTransferredOut
	updated, err := s.db.UpdateDomainFromRegistry(t.Context(), was, gone, nil)
	if err != nil || !updated {
		t.Fatalf("updated %t, %v", updated, err)
	}
	must(t, s.world.Advance(25*time.Hour))
	s.run()
	var ended domainchange.Change
	testkit.Eventually(t, "end of the change", func() bool {
		changes, err := s.db.ListDomainChanges(t.Context(), id, 1)
		must(t, err)
		ended = changes[0]
		return ended.State.Final()
	})
	if ended.State != domainchange.StatusRefused || ended.Failure != domainchange.IsTransferredOut || s.registryDomain("verzogen.com").Nameservers[0].Host != oldNameserver {
		t.Errorf("it is %s because of %s, at %v", ended.State, ended.Failure, s.registryDomain("verzogen.com").Nameservers)
	}
	if to := s.queuedMails(registrar.MailNameserversRefused); len(to) != 0 {
		t.Errorf("mails to %q", to)
	}
}

// Its nameservers are the old ones and DNSSEC is off, but it is still the customer's.
func TestWaitingChange_RefusalIsMailedIfDomainExpired(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "abgelaufen.com")
	id := s.addDomain(ada, "abgelaufen", ".com", registrar.DomainActive)
	s.requestSigned(id, false)
	was, _, err := s.db.DomainByName(t.Context(), "abgelaufen.com")
	must(t, err)
	expired := was
	expired.Status = registrar.DomainExpired
	updated, err := s.db.UpdateDomainFromRegistry(t.Context(), was, expired, nil)
	if err != nil || !updated {
		t.Fatalf("updated %t, %v", updated, err)
	}
	must(t, s.world.Advance(25*time.Hour))
	s.run()
	testkit.Eventually(t, "end of the change", func() bool { return s.view(id).Changes[0].State.Final() })
	if to := s.queuedMails(registrar.MailNameserversRefused); s.view(id).Changes[0].Failure != domainchange.IsExpired || len(to) != 1 {
		t.Errorf("refused because of %s, mails to %q", s.view(id).Changes[0].Failure, to)
	}
}

func TestNameservers_SignedDomainChangesAtOnceOnRequest(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "sofort.com")
	id := s.addDomain(ada, "sofort", ".com", registrar.DomainActive)
	change := s.requestSigned(id, true)
	if change.State != domainchange.StatusDone || len(s.dnsRecords("sofort.com", dns.TypeDS)) != 1 {
		t.Errorf("it is %s with %v", change.State, s.dnsRecords("sofort.com", dns.TypeDS))
	}
}

func TestCancelChange_KeepsNameserversUntilSecondStep(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "abbruch.com")
	id := s.addDomain(ada, "abbruch", ".com", registrar.DomainActive)
	s.requestSigned(id, false)
	if err := s.service.CancelChange(t.Context(), signedInActor(eve), id); registrar.CodeOf(err) != registrar.NoSuchDomain {
		t.Errorf("another customer: %v", err)
	}
	must(t, s.service.CancelChange(t.Context(), signedInActor(ada), id))
	if err := s.service.CancelChange(t.Context(), signedInActor(ada), id); registrar.CodeOf(err) != domainchange.NotCancelable {
		t.Errorf("a second time: %v", err)
	}
	if to := s.queuedMails(registrar.MailNameserversCanceled); len(to) != 1 {
		t.Errorf("confirmed to %q", to)
	}
	s.run()
	must(t, s.world.Advance(48*time.Hour))
	s.service.Wake()
	view := s.view(id)
	if view.Open != nil || view.Changes[0].State != domainchange.StatusCanceled || s.registryDomain("abbruch.com").Nameservers[0].Host != oldNameserver {
		t.Errorf("it is %s at %v", view.Changes[0].State, s.registryDomain("abbruch.com").Nameservers)
	}
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.AddDS, DS: ds})
}

// A court order does not wait for a nameserver change that waits for a day.
func TestSecure_EndsWaitingNameserverChange(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "eilfall.com")
	id := s.addDomain(ada, "eilfall", ".com", registrar.DomainActive)
	s.requestSigned(id, false)
	must(t, s.service.Secure(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}, ada, id, "lck_1"))
	view := s.view(id)
	if view.Changes[0].Kind != domainchange.Secure || view.Changes[0].State != domainchange.StatusDone || view.Changes[1].Failure != domainchange.DomainRestricted {
		t.Errorf("%s is %s, the nameserver change %s %s", view.Changes[0].Kind, view.Changes[0].State, view.Changes[1].State, view.Changes[1].Failure)
	}
	if to := s.queuedMails(registrar.MailNameserversRefused); len(to) != 1 {
		t.Errorf("mails to %q", to)
	}
}

func TestRegistration_NewDomainIsLockedWithoutMail(t *testing.T) {
	t.Parallel()
	for tld, locked := range map[string]bool{".org": true, ".pl": false} {
		s := newEnv(t)
		id := s.registerDomain("neu", tld)
		if got := slices.Contains(s.registryDomain("neu"+tld).Statuses(), "clientTransferProhibited"); got != locked {
			t.Errorf("%s: locked at the registry %t", tld, got)
		}
		view := s.view(id)
		if view.Record.Locked() != locked || (len(view.Changes) == 1) != locked || view.Open != nil {
			t.Errorf("%s: the customer sees %v and %d changes", tld, view.Record.Statuses, len(view.Changes))
		}
		mails, err := s.db.ClaimDueMails(t.Context(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), 10)
		if err != nil || slices.ContainsFunc(mails, func(mail mailer.QueuedMail) bool { return mail.Kind == registrar.MailDomainChanged }) {
			t.Errorf("%s: mails %v, %v", tld, mails, err)
		}
	}
}

// The order is done before its domain is locked, and a refused lock changes nothing about it.
func TestRegistration_RefusedLockLeavesDomainActiveAndUnlocked(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.config.CheckRestrictions = func(context.Context, domainchange.Domain, domainchange.ChangeKind) (registrar.Code, error) {
		return registrar.RegistryDenied, nil
	}
	var err error
	s.service, err = domainchange.New(s.config)
	must(t, err)
	view := s.view(s.registerDomain("neu", ".org"))
	if view.Domain.Status != registrar.DomainActive || view.Record.Locked() || view.Changes[0].State != domainchange.StatusRefused {
		t.Errorf("the domain is %s, %v; the lock is %s", view.Domain.Status, view.Record.Statuses, view.Changes[0].State)
	}
}

func TestRegistrantChange_ReplacesContact(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	id := s.registerDomain("inhaber", ".org")
	before := s.registryDomain("inhaber.org")
	change, _ := s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant})
	after := s.registryDomain("inhaber.org")
	if after.Registrant == before.Registrant || after.Registrant != change.Handle || len(after.Contacts) != len(before.Contacts) {
		t.Errorf("registry has %s and %v", after.Registrant, after.Contacts)
	}
	for _, role := range after.Contacts {
		if role.ID != change.Handle {
			t.Errorf("%s contact is still %s", role.Type, role.ID)
		}
	}
	holdings := s.world.Sponsored(registry.ProductAccount)
	if len(holdings.Contacts) != 1 || len(holdings.Unused) != 0 {
		t.Errorf("%d contacts, %v unused", len(holdings.Contacts), holdings.Unused)
	}
	if got, _, err := s.db.GetCustomerDomain(t.Context(), ada, id); err != nil || got.Handle != change.Handle {
		t.Errorf("stored handle %q, %v", got.Handle, err)
	}
}

// setRegistrantCountry changes the country of ada's registrant directly in the store.
func (s *env) setRegistrantCountry(country string) {
	s.t.Helper()
	must(s.t, s.db.UpdateCustomers(s.t.Context(), func(tx account.Tx) error {
		registrant, _, err := tx.GetRegistrant(s.t.Context(), ada)
		if err != nil {
			return err
		}
		registrant.Country = country
		return tx.PutRegistrant(s.t.Context(), ada, registrant)
	}))
}

func TestRegistrantChange_RefusedByTLDRule(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	id := s.registerDomain("inhaber", ".org")
	before := s.registryDomain("inhaber.org")
	var while func()
	s.config.CheckEligibility = func(_ context.Context, _, tld string, holder registrar.Registrant) error {
		err := registrar.Extension{TLD: tld, Requires: "eu_presence"}.CheckRegistrant(holder, "")
		if while != nil {
			while()
		}
		return err
	}
	var err error
	s.service, err = domainchange.New(s.config)
	must(t, err)
	s.setRegistrantCountry("US")
	if _, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant}); registrar.CodeOf(err) != "requires_eu_presence" {
		t.Fatalf("from the US: %v", err)
	}
	if after := s.registryDomain("inhaber.org"); after.Registrant != before.Registrant || len(s.world.Sponsored(registry.ProductAccount).Contacts) != 1 {
		t.Errorf("registry has %s", after.Registrant)
	}
	// Own data that change between check and command are not sent: what was checked is.
	s.setRegistrantCountry("DE")
	while = sync.OnceFunc(func() { s.setRegistrantCountry("US") })
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant})
	if got := s.view(id).Domain.Registrant.Country; got != "DE" {
		t.Errorf("the domain's registrant is in %s", got)
	}
}

func TestRegistrantChange_AddsMissingContact(t *testing.T) {
	t.Parallel()
	s := newEnv(t, "mitgebracht.io")
	id := s.addDomain(ada, "mitgebracht", ".io", registrar.DomainActive)
	change, _ := s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant})
	if got := s.registryDomain("mitgebracht.io"); got.Registrant != change.Handle || len(got.Contacts) != 3 {
		t.Errorf("registry has %s and %v", got.Registrant, got.Contacts)
	}
}

// The domain statuses are those of package portfolio.
func TestView_EveryStatusIsKnown(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for _, status := range registrar.DomainStatuses() {
		id := s.addDomain(ada, "wort-"+strings.ReplaceAll(string(status), "_", "-"), ".com", status)
		view, err := s.service.View(t.Context(), signedInActor(ada), id)
		must(t, err)
		if _, closed := view.Closed[domainchange.Nameservers]; closed == (status == registrar.DomainActive) {
			t.Errorf("%s is closed: %t", status, closed)
		}
	}
}
