package domains

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// addHolder adds a company in Vienna to a customer's holders.
func (s *env) addHolder(customer string) string {
	s.t.Helper()
	id, err := s.holders.Add(s.t.Context(), signedInActor(customer), account.Registrant{
		Kind: account.Company, Name: "Max Teufel", Organisation: "Teeladen GmbH", Street: "Am Markt 1", PostalCode: "1010", City: "Wien", Country: "AT", Phone: "+43 1 5123456",
	}, "max@teeladen.example", holder.Contacts{})
	must(s.t, err)
	return id
}

// queuedMails returns the recipients of a kind of mail that was queued since the last call.
// askedToConfirm returns the addresses whose queued mails of a kind say that a confirmation follows.
func (s *env) askedToConfirm(kind registrar.MailKind) (to []string) {
	s.t.Helper()
	mails, err := s.db.ClaimDueMails(s.t.Context(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), 100)
	must(s.t, err)
	for _, mail := range mails {
		if mail.Kind == kind && mail.Data["confirm"] == "true" {
			to = append(to, mail.To)
		}
	}
	return to
}

func TestHolderChange_NewHolderIsToldOfConfirmation(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	id, client := s.registerDomain("neuer", ".org"), s.addHolder(ada)
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: client})
	if to := s.askedToConfirm(registrar.MailHolderNotice); !slices.Equal(to, []string{"max@teeladen.example"}) {
		t.Errorf("a confirmation is announced to %v", to)
	}
}

func (s *env) queuedMails(kind registrar.MailKind) (to []string) {
	s.t.Helper()
	mails, err := s.db.ClaimDueMails(s.t.Context(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), 100)
	must(s.t, err)
	for _, mail := range mails {
		if mail.Kind == kind {
			to = append(to, mail.To)
		}
	}
	slices.Sort(to)
	return to
}

func TestHolderChange_ReplacesRegistrantAndNotifiesBothHolders(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	id, client := s.registerDomain("kunde", ".org"), s.addHolder(ada)
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: client})
	contacts := s.world.Sponsored(registry.ProductAccount).Contacts
	if len(contacts) != 1 || contacts[0].Email != "max@teeladen.example" {
		t.Errorf("the registry has the contacts %+v", contacts)
	}
	view := s.view(id)
	if view.Domain.Holder != client || view.Domain.Registrant.Organisation != "Teeladen GmbH" {
		t.Errorf("the domain has %+v", view.Domain)
	}
	if past := view.PastRegistrants; len(past) != 1 || past[0].Registrant.Name != "Ada Größe" || past[0].Reason != holder.ReasonNewHolder {
		t.Errorf("former registrants: %+v", past)
	}
	if to := s.queuedMails(registrar.MailHolderNotice); !slices.Equal(to, []string{"max@teeladen.example"}) { // ada gets the customer's mail
		t.Errorf("notices to %v", to)
	}
	// The same holder with another address: both addresses are notified.
	must(t, s.holders.Update(t.Context(), signedInActor(ada), client, account.Registrant{
		Kind: account.Company, Name: "Max Teufel", Organisation: "Teeladen GmbH", Street: "Am Markt 1", PostalCode: "1010", City: "Wien", Country: "AT", Phone: "+43 1 5123456",
	}, "neu@teeladen.example", holder.Contacts{}))
	if page, err := s.holders.Domains(t.Context(), signedInActor(ada), client, ""); err != nil || len(page.Outdated) != 1 {
		t.Errorf("%d domains have other data than the holder, %v", len(page.Outdated), err)
	}
	if got := s.view(id).Domain.Registrant.Email; got != "max@teeladen.example" {
		t.Errorf("editing the holder has changed the domain: %s", got)
	}
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: client})
	if to := s.queuedMails(registrar.MailHolderNotice); !slices.Equal(to, []string{"max@teeladen.example", "neu@teeladen.example"}) {
		t.Errorf("notices to %v", to)
	}
	if past := s.view(id).PastRegistrants; len(past) != 2 || past[0].Reason != holder.ReasonCorrection {
		t.Errorf("former registrants: %+v", past)
	}
	if page, err := s.holders.Domains(t.Context(), signedInActor(ada), client, ""); err != nil || len(page.Outdated) != 0 || len(page.Current) != 1 {
		t.Errorf("%d domains still have other data, %v", len(page.Outdated), err)
	}
	// Deleting the holder changes no domain.
	must(t, s.holders.Delete(t.Context(), signedInActor(ada), client))
	if got := s.view(id).Domain; got.Registrant.Email != "neu@teeladen.example" || got.Holder != client {
		t.Errorf("the domain has %+v", got)
	}
}

func TestHolderChange_CustomersMailNamesBothHolders(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	id, client := s.registerDomain("kunde", ".org"), s.addHolder(ada)
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: client})
	mails, err := s.db.ClaimDueMails(t.Context(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), 100)
	must(t, err)
	until := s.world.Now().AddDate(0, 0, 60).UTC().Format(time.DateOnly) // ICANN Transfer Policy
	if !slices.ContainsFunc(mails, func(mail mailer.QueuedMail) bool {
		return mail.Kind == registrar.MailDomainChanged && mail.Data["before"] == "Ada Größe" && mail.Data["after"] == "Teeladen GmbH" && mail.Data["locked_until"] == until
	}) {
		t.Errorf("queued: %+v", mails)
	}
}

// ICANN's Transfer Policy counts a change of name, company or email address.
func TestHolderChange_CorrectedStreetRestrictsNoTransfer(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	id, client := s.registerDomain("kunde", ".com"), s.addHolder(ada)
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: client})
	if _, err := s.db.ClaimDueMails(t.Context(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), 100); err != nil {
		t.Fatal(err)
	}
	must(t, s.holders.Update(t.Context(), signedInActor(ada), client, account.Registrant{
		Kind: account.Company, Name: "Max Teufel", Organisation: "Teeladen GmbH", Street: "Ring 9", PostalCode: "1010", City: "Wien", Country: "AT", Phone: "+43 1 5123456",
	}, "max@teeladen.example", holder.Contacts{}))
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: client})
	mails, err := s.db.ClaimDueMails(t.Context(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), 100)
	must(t, err)
	changed := 0
	for _, mail := range mails {
		if mail.Kind == registrar.MailDomainChanged || mail.Kind == registrar.MailHolderNotice {
			changed++
			if mail.Data["locked_until"] != "" {
				t.Errorf("%s: %v", mail.Kind, mail.Data)
			}
		}
	}
	if past := s.view(id).PastRegistrants; changed == 0 || len(past) != 2 {
		t.Errorf("%d mails, former registrants %+v", changed, past)
	}
}

func TestHolderChange_WithoutRegistrantAtTheRegistry(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	id, client := s.registerDomain("kunde", ".com"), s.addHolder(ada)
	if capabilities := s.view(id).Capabilities; capabilities.Contacts {
		t.Fatal(".com has contacts")
	}
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: client})
	if got := s.view(id); got.Domain.Registrant.Country != "AT" || len(got.PastRegistrants) != 1 {
		t.Errorf("the domain has %+v, before %+v", got.Domain.Registrant, got.PastRegistrants)
	}
	if contacts := s.world.Sponsored(registry.ProductAccount).Contacts; len(contacts) != 0 {
		t.Errorf("the registry has %d contacts", len(contacts))
	}
}

func TestHolderChange_RefusedChangesNothing(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	id, foreign := s.registerDomain("kunde", ".org"), s.addHolder(eve)
	before := len(s.view(id).Changes)
	for name, test := range map[string]struct {
		request domainchange.ChangeRequest
		want    registrar.Code
	}{
		"of another account": {domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: foreign}, holder.NoSuchHolder},
		"unknown":            {domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: "hld_x"}, holder.NoSuchHolder},
		"unknown reason":     {domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Reason: "gift"}, domainchange.BadReason},
	} {
		if _, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, test.request); registrar.CodeOf(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if changes := s.view(id).Changes; len(changes) != before || len(s.queuedMails(registrar.MailHolderNotice)) != 0 {
		t.Errorf("%d changes are stored", len(changes))
	}
}

// A domain that is transferred to us has the contacts of its former registrar.
func TestTransferToUs_SetsContactsThenLocks(t *testing.T) {
	t.Parallel()
	for tld, lock := range map[string]bool{".org": true, ".de": false} {
		t.Run(tld, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t)
			id := s.provisionDomain(provision.PaidItem{Name: registrar.NewName("transfer-ruhig", tld), Kind: provision.Transfer, Code: "auth-transfer-ruhig"})
			domain := s.registryDomain("transfer-ruhig" + tld)
			contacts := s.world.Sponsored(registry.ProductAccount).Contacts
			if len(contacts) != 1 || contacts[0].ID != domain.Registrant || contacts[0].Email != ada+"@example.org" {
				t.Errorf("the registry has %s and the contacts %+v", domain.Registrant, contacts)
			}
			for _, role := range domain.Contacts {
				if role.ID != domain.Registrant {
					t.Errorf("the %s contact is still %s", role.Type, role.ID)
				}
			}
			view := s.view(id)
			if view.Record.Locked() != lock || view.Domain.Handle != domain.Registrant || view.Domain.Registrant.Name != "Ada Größe" || len(view.PastRegistrants) != 0 {
				t.Errorf("locked %t, %+v, before %+v", view.Record.Locked(), view.Domain, view.PastRegistrants)
			}
			for _, change := range view.Changes {
				if change.State != domainchange.StatusDone || change.Actor.Kind != registrar.ActorSystem || change.Desired.Registrant != nil {
					t.Errorf("change %+v", change)
				}
			}
		})
	}
}

// anotherNode returns a second node's service over the same database, after a change of its
// configuration.
func (s *env) anotherNode(change func(*domainchange.Config)) *domainchange.Service {
	s.t.Helper()
	config := s.config
	config.Node = "there"
	change(&config)
	node, err := domainchange.New(config)
	must(s.t, err)
	return node
}

// wantOneContact checks that a domain has exactly the registrant of a change, here and at the registry.
func (s *env) wantOneContact(id string, change domainchange.Change) {
	s.t.Helper()
	held := s.world.Sponsored(registry.ProductAccount)
	if len(held.Contacts) != 1 || held.Contacts[0].ID != change.Handle || len(held.Unused) != 0 {
		s.t.Errorf("the registry has %d contacts, %v unused", len(held.Contacts), held.Unused)
	}
	view := s.view(id)
	if view.Domain.Handle != change.Handle || view.Domain.Holder != change.Desired.Holder || len(view.PastRegistrants) != 1 || view.Open != nil {
		s.t.Errorf("the domain has %+v, before %+v", view.Domain, view.PastRegistrants)
	}
}

// pausedRegistry executes no change before it is resumed.
type pausedRegistry struct {
	domainchange.Registry
	resume chan struct{}
}

func (r pausedRegistry) ApplyChange(ctx context.Context, task domainchange.Task) (domainchange.Result, error) {
	<-r.resume
	return r.Registry.ApplyChange(ctx, task)
}

func TestHolderChange_OfTwoAtOnceOneWins(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	id, clients := s.registerDomain("kunde", ".org"), []string{s.addHolder(ada), s.addHolder(ada)}
	paused := pausedRegistry{s.provisioner, make(chan struct{})}
	type outcome struct {
		change domainchange.Change
		err    error
	}
	outcomes := make(chan outcome)
	for i, client := range clients { // two sessions on two nodes
		actor := signedInActor(ada)
		actor.Through = fmt.Sprint("ses_", i)
		node := s.anotherNode(func(config *domainchange.Config) {
			config.Node, config.Registries = fmt.Sprint("node", i), slices.Clone(config.Registries)
			config.Registries[0].Registry = paused
		})
		go func() {
			change, _, err := node.RequestChange(t.Context(), actor, id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: client})
			outcomes <- outcome{change, err}
		}()
	}
	lost := <-outcomes // the other one is at the registry
	close(paused.resume)
	won := <-outcomes
	if registrar.CodeOf(lost.err) != domainchange.ChangeInProgress || registrar.KindOf(lost.err) != registrar.KindConflict {
		t.Errorf("the second request: %+v, %v", lost.change, lost.err)
	}
	must(t, won.err)
	if won.change.State != domainchange.StatusDone {
		t.Fatalf("the first request is %s: %s", won.change.State, won.change.Failure)
	}
	s.wantOneContact(id, won.change)
}

// A request that has read the domain before another one was done would leave a contact behind.
func TestHolderChange_OfChangedRegistrantIsConflict(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	id, first, second := s.registerDomain("kunde", ".org"), s.addHolder(ada), s.addHolder(ada)
	var won domainchange.Change
	slow := s.anotherNode(func(config *domainchange.Config) {
		config.Holder = func(ctx context.Context, customer, wanted string) (registrar.Registrant, error) {
			won, _ = s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: first})
			return s.holders.Registrant(ctx, customer, wanted)
		}
	})
	_, _, err := slow.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: second})
	if registrar.CodeOf(err) != domainchange.ChangeInProgress {
		t.Errorf("the second request: %v", err)
	}
	s.wantOneContact(id, won)
}

// rolesOf returns the email address of each role of a domain at the registry.
func (s *env) rolesOf(name string) map[string]string {
	s.t.Helper()
	emails := make(map[string]string)
	for _, contact := range s.world.Sponsored(registry.ProductAccount).Contacts {
		emails[contact.ID] = contact.Email
	}
	roles := make(map[string]string)
	for _, role := range s.registryDomain(name).Contacts {
		roles[role.Type] = emails[role.ID]
	}
	return roles
}

func TestHolderContacts_ReachTheRegistryThatTakesThem(t *testing.T) {
	t.Parallel()
	const client, technician, account = "max@teeladen.example", "tina@technik.example", ada + "@example.org"
	for tld, want := range map[string]map[string]string{
		".org": {"admin": client, "tech": technician, "billing": account},
		".at":  {"tech": technician},
		".de":  {},
		".com": {},
	} {
		t.Run(tld, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t)
			ctx, actor := t.Context(), signedInActor(ada)
			data := clientData
			data.Name, data.Organisation = "Tina Technik", "Technik GmbH"
			tech, err := s.holders.Add(ctx, actor, data, technician, holder.Contacts{})
			must(t, err)
			id, max := s.registerDomain("kunde", tld), s.addHolder(ada)
			must(t, s.holders.Update(ctx, actor, max, clientData, client, holder.Contacts{Tech: tech, Billing: holder.Own}))
			follow := func() {
				t.Helper()
				s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: max})
				if page, err := s.holders.Domains(ctx, actor, max, ""); err != nil || len(page.Outdated) != 0 {
					t.Errorf("%d domains have other data, %v", len(page.Outdated), err)
				}
				if unused := s.world.Sponsored(registry.ProductAccount).Unused; len(unused) != 0 {
					t.Errorf("unused contacts: %v", unused)
				}
			}
			follow()
			if got := s.rolesOf("kunde" + tld); !maps.Equal(got, want) {
				t.Errorf("the registry has %v, want %v", got, want)
			}
			if got := s.view(id).Domain.Registrant; got.Tech.Organisation != "Technik GmbH" || got.Billing.Email != account {
				t.Errorf("the domain has %+v", got)
			}

			// A contact's new data are new data of the holder.
			data.Street = "Am Hof 2"
			must(t, s.holders.Update(ctx, actor, tech, data, "neu@technik.example", holder.Contacts{}))
			if page, err := s.holders.Domains(ctx, actor, max, ""); err != nil || len(page.Outdated) != 1 {
				t.Errorf("%d domains have other data, %v", len(page.Outdated), err)
			}
			follow()
			if got := s.rolesOf("kunde" + tld)["tech"]; want["tech"] != "" && got != "neu@technik.example" {
				t.Errorf("the tech contact is %s", got)
			}

			// The domain keeps its contact when that holder is deleted, until it follows.
			must(t, s.holders.Delete(ctx, actor, tech))
			if got := s.view(id).Domain.Registrant.Tech; got.Street != "Am Hof 2" {
				t.Errorf("the domain has %+v", got)
			}
			follow()
			if got := s.rolesOf("kunde" + tld)["tech"]; want["tech"] != "" && got != client {
				t.Errorf("the tech contact is %s", got)
			}
		})
	}
}

func TestHolderContacts_AreOtherHoldersOfTheAccount(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	client, foreign := s.addHolder(ada), s.addHolder(eve)
	for name, contacts := range map[string]holder.Contacts{
		"of another account": {Tech: foreign}, "unknown": {Billing: "hld_x"}, "itself": {Tech: client},
	} {
		if err := s.holders.Update(t.Context(), signedInActor(ada), client, clientData, clientAddress, contacts); registrar.CodeOf(err) != holder.ContactUnknown {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHolderContacts_RefusedChangeLeavesNoContact(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	id, client := s.registerDomain("kunde", ".org"), s.addHolder(ada)
	must(t, s.holders.Update(t.Context(), signedInActor(ada), client, clientData, clientAddress, holder.Contacts{Tech: holder.Own, Billing: holder.Own}))
	_, err := s.newEPPClient(registry.ProductAccount).UpdateDomain(t.Context(), epp.UpdateDomain{
		Name: "kunde.org", Add: epp.DomainElements{Statuses: []string{"clientUpdateProhibited"}},
	})
	must(t, err)
	change, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: client})
	if err != nil || change.State != domainchange.StatusRefused {
		t.Fatalf("the change is %s, %v", change.State, err)
	}
	if held := s.world.Sponsored(registry.ProductAccount); len(held.Contacts) != 1 || len(held.Unused) != 0 {
		t.Errorf("%d contacts, %v unused", len(held.Contacts), held.Unused)
	}
}

func TestTransferToUs_HolderRefusedByDisputeIsSetOnceItEnds(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	var disputed atomic.Bool
	disputed.Store(true)
	s.service = s.anotherNode(func(config *domainchange.Config) {
		config.Node = "here"
		config.CheckRestrictions = func(_ context.Context, _ domainchange.Domain, kind domainchange.ChangeKind) (registrar.Code, error) {
			if disputed.Load() && kind == domainchange.UpdateRegistrant {
				return domainchange.DomainDisputed, nil
			}
			return "", nil
		}
	})
	id := s.provisionDomain(provision.PaidItem{Name: registrar.NewName("transfer-ruhig", ".org"), Kind: provision.Transfer, Code: "auth-transfer-ruhig"})
	refused := func(change domainchange.Change) bool {
		return change.Kind == domainchange.UpdateRegistrant && change.State == domainchange.StatusRefused && change.Failure == domainchange.DomainDisputed
	}
	view := s.view(id)
	events, err := s.db.ListObjectAuditEvents(t.Context(), ada, "transfer-ruhig.org", 10)
	must(t, err)
	if !slices.ContainsFunc(view.Changes, refused) || !slices.ContainsFunc(events, func(event registrar.AuditEvent) bool { return event.Action == domainchange.ActionDisputed }) {
		t.Errorf("during the dispute: %+v %+v", view.Changes, events)
	}
	repeat := func() domainchange.Progress {
		progress, err := s.service.RepeatDisputed(t.Context(), ada, id)
		must(t, err)
		return progress
	}
	if got := repeat(); got != domainchange.Blocked {
		t.Errorf("repeated during the dispute: %v", got)
	}
	disputed.Store(false)
	s.run()
	testkit.Eventually(t, "the holder", func() bool { return repeat() == domainchange.Done })
	contacts := s.world.Sponsored(registry.ProductAccount).Contacts
	if domain := s.registryDomain("transfer-ruhig.org"); len(contacts) != 1 || contacts[0].ID != domain.Registrant || s.view(id).Domain.Handle != domain.Registrant {
		t.Errorf("the registry has %s and the contacts %+v", domain.Registrant, contacts)
	}
}
