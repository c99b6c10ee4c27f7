package domains

import (
	"context"
	"fmt"
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
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/test/testkit"
)

const clientAddress = "max@teeladen.example"

var clientData = account.Registrant{
	Kind: account.Company, Name: "Max Teufel", Organisation: "Teeladen GmbH", Street: "Am Markt 1", PostalCode: "1010", City: "Wien", Country: "AT", Phone: "+43 1 5123456",
}

// contactEnv asks holders for confirmations at the simulated registry by its clock.
type contactEnv struct {
	*termEnv
	contacts *contactcheck.Service
	operator *lifecycle.Service // previews and confirms
	client   string             // a holder of ada whose address is not confirmed
	up       atomic.Bool        // whether the registry responds to changes
}

func newContactEnv(t *testing.T, names ...string) *contactEnv {
	t.Helper()
	s := &contactEnv{termEnv: newTermEnv(t, 1, names...)}
	var err error
	s.up.Store(true)
	s.config.Registries[0].Registry = contactRegistry{timingOutRegistry{s.provisioner, &s.up}}
	s.config.HeldOtherwise = s.db.IsHeldOtherwise
	s.service, err = domainchange.New(s.config)
	must(t, err)
	s.contacts, err = contactcheck.New(contactcheck.Config{Store: s.db, Brake: s.brake, Changes: s.service, Now: s.world.Now, MailQueued: s.mails})
	must(t, err)
	s.operator, err = lifecycle.New(lifecycle.Config{Store: s.db, Brake: s.brake, Node: "ops", Now: s.world.Now, Suspensions: s.contacts.ListPlanned})
	must(t, err)
	s.run()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.contacts.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	s.also, s.client = s.contacts.Wake, s.addHolder(ada)
	return s
}

// contactRegistry takes no domain below .info out of the DNS, as EURid does for .eu.
type contactRegistry struct{ timingOutRegistry }

func (r contactRegistry) Capabilities(tld string) domainchange.Capabilities {
	capabilities := r.timingOutRegistry.Capabilities(tld)
	capabilities.NoHold = tld == ".info"
	return capabilities
}

func (r contactRegistry) ApplyChange(ctx context.Context, task domainchange.Task) (domainchange.Result, error) {
	if task.TLD == ".info" && task.Kind == domainchange.Hold {
		return domainchange.Result{}, registrar.Conflict(registrar.RegistryDenied)
	}
	return r.timingOutRegistry.ApplyChange(ctx, task)
}

// giveToClient adds domains of ada's and makes the client their holder.
func (s *contactEnv) giveToClient(names ...string) (ids []string) {
	s.t.Helper()
	for _, name := range names {
		label, tld, _ := strings.Cut(name, ".")
		id := s.addEnding(label, "."+tld, 400)
		s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: s.client})
		ids = append(ids, id)
	}
	s.settle()
	return ids
}

// mailed returns the mails of a kind to an address.
func (s *contactEnv) mailed(kind registrar.MailKind, to string) (found []mailer.Message) {
	s.mail.mu.Lock()
	defer s.mail.mu.Unlock()
	for _, mail := range s.mail.mails {
		if mail.Kind == kind && mail.To == to {
			found = append(found, mail)
		}
	}
	return found
}

// wantFirstMail waits until the client is asked to confirm. Domains that come one after the other
// may share that mail or cause another one.
func (s *contactEnv) wantFirstMail() {
	s.t.Helper()
	testkit.Eventually(s.t, "first mail to the client", func() bool { return len(s.mailed(registrar.MailContactCheck, clientAddress)) > 0 })
}

func (s *contactEnv) wantMails(kind registrar.MailKind, to string, want int) []mailer.Message {
	s.t.Helper()
	// A mail being sent has a lease, so settle does not count it as due.
	mails := s.mailed(kind, to)
	for end := time.Now().Add(3 * time.Second); len(mails) < want && time.Now().Before(end); mails = s.mailed(kind, to) {
		time.Sleep(10 * time.Millisecond)
	}
	if len(mails) != want {
		s.t.Fatalf("%d mails %s to %s at %s, want %d", len(mails), kind, to, s.world.Now(), want)
	}
	return mails
}

func secretOf(t *testing.T, mail mailer.Message) string {
	t.Helper()
	_, secret, found := strings.Cut(mail.Link, "https://domains.example/portal/contact-check?link=")
	if !found {
		t.Fatalf("the mail has the link %q", mail.Link)
	}
	return secret
}

func (s *contactEnv) wantHeld(name string, want bool) {
	s.t.Helper()
	held := func() bool { return slices.Contains(s.registryDomain(name).Statuses(), "clientHold") }
	testkit.Eventually(s.t, fmt.Sprintf("%s on hold: %t", name, want), func() bool { return held() == want })
	if records := s.dnsRecords(name, dns.TypeNS); (len(records) == 0) != want {
		s.t.Errorf("on hold %t, and the DNS has %v", want, records)
	}
}

func (s *contactEnv) wantLink(secret string, want contactcheck.LinkState) {
	s.t.Helper()
	if got, err := s.contacts.LinkState(s.t.Context(), secret); err != nil || got != want {
		s.t.Errorf("the link is good for %d, want %d, %v", got, want, err)
	}
}

func TestContactCheck_UnconfirmedAddressSuspendsDomainUntilConfirmed(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org", "eigen.org")
	own := s.addEnding("eigen", ".org", 400)
	id := s.giveToClient("kunde.org")[0]
	s.requestChange(own, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant})
	s.settle()
	s.wantMails(registrar.MailContactCheck, clientAddress, 1)
	s.wantMails(registrar.MailContactCheck, ada+"@example.org", 0) // the account has confirmed it
	s.advance(5)
	s.wantMails(registrar.MailContactCheck, clientAddress, 2)
	s.advance(7)
	mails := s.wantMails(registrar.MailContactCheck, clientAddress, 3)
	if name := mails[0].Data["name"]; name != "Ada Größe" {
		t.Errorf("the mail says that %q registered the domains", name)
	}
	s.advance(2)
	s.wantHeld("kunde.org", false)
	s.advance(3)
	s.wantHeld("kunde.org", true)
	s.wantHeld("eigen.org", false)
	s.wantMails(registrar.MailContactSuspended, ada+"@example.org", 1)
	s.wantMails(registrar.MailContactCheck, clientAddress, 3)

	// Neither a renewal nor a prefetched link ends the suspension.
	s.renew(registrar.NewName("kunde", ".org"), provision.Renew)
	for range 3 {
		s.wantLink(secretOf(t, mails[0]), contactcheck.LinkOpen)
	}
	s.wantHeld("kunde.org", true)

	// Another account is signed in: the link counts, not the account.
	state, err := s.contacts.Confirm(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: eve, Through: "ses_eve", Address: netip.MustParseAddr("192.0.2.99")}, secretOf(t, mails[0]))
	if err != nil || state != contactcheck.LinkConfirmed {
		t.Fatal(state, err)
	}
	s.wantHeld("kunde.org", false)
	s.settle()
	if mail := s.wantMails(registrar.MailContactConfirmed, ada+"@example.org", 1)[0]; mail.Data["item1_name"] != "kunde.org" || mail.Data["domains"] != "1" {
		t.Errorf("the mail about the end of the suspension names %v", mail.Data)
	}
	for _, mail := range mails { // opened and used again, and the others, too
		s.wantLink(secretOf(t, mail), contactcheck.LinkConfirmed)
		if state, err := s.contacts.Confirm(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, secretOf(t, mail)); err != nil || state != contactcheck.LinkConfirmed {
			t.Errorf("used again: %d, %v", state, err)
		}
	}
	checks, err := s.db.ListChecksOfAddress(t.Context(), ada, clientAddress, 10)
	must(t, err)
	if len(checks) != 1 || checks[0].State != contactcheck.Confirmed || checks[0].ConfirmedBy != contactcheck.ByLink || checks[0].ConfirmedFrom != "192.0.2.99" {
		t.Errorf("evidence: %+v", checks)
	}
	sent, err := s.db.ListSentNoticesOfDomain(t.Context(), checks[0].ID, 100)
	if err != nil || len(sent) != 5 || slices.ContainsFunc(sent, func(n lifecycle.SentNotice) bool { return !n.Accepted || n.Response == "" }) {
		t.Errorf("%d mails are evidence, %v", len(sent), err)
	}
	events, err := s.db.ListObjectAuditEvents(t.Context(), ada, clientAddress, 10)
	must(t, err)
	for _, event := range events {
		if event.Action == contactcheck.ActionConfirmed && (event.Actor.Customer != "" || event.Actor.Through != "") {
			t.Errorf("the confirmation is attributed to %+v", event.Actor)
		}
	}
	if len(events) != 3 {
		t.Errorf("audited: %+v", events)
	}
	if suspended, err := s.db.IsDomainSuspended(t.Context(), id); suspended || err != nil {
		t.Errorf("still suspended: %v", err)
	}
	if _, err := s.contacts.LinkState(t.Context(), "dotkontor_link_x"); registrar.CodeOf(err) != contactcheck.BadLink {
		t.Errorf("an unknown link: %v", err)
	}
}

func TestContactCheck_LastReminderWarnsCustomerWithDomainsAndDay(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org", "zweite.org")
	s.giveToClient("kunde.org", "zweite.org")
	due := s.world.Now().Add(contactcheck.Term)
	s.advance(6)
	if mail := s.wantReminder("2"); mail.Data["domains"] != "2" || mail.Data["item1_name"] != "kunde.org" || mail.Data["item2_name"] != "zweite.org" {
		t.Errorf("the reminder names %v", mail.Data)
	}
	s.wantMails(registrar.MailContactWarning, ada+"@example.org", 0)
	s.advance(6)
	s.wantReminder("3")
	mail := s.wantMails(registrar.MailContactWarning, ada+"@example.org", 1)[0]
	day, err := time.Parse(time.DateOnly, mail.Data["due"])
	if err != nil || mail.Data["domains"] != "2" || mail.Data["item2_name"] != "zweite.org" || mail.Data["email"] != clientAddress || day.Sub(due).Abs() > 25*time.Hour {
		t.Errorf("the warning has %v, due is %s", mail.Data, due)
	}
	s.wantHeld("kunde.org", false)
}

func TestContactCheck_DomainIsOnlineUntilTheNamedDayIsOverInGermany(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org")
	s.giveToClient("kunde.org")
	s.advance(6)
	s.advance(6)
	named, err := time.ParseInLocation(time.DateOnly, s.wantMails(registrar.MailContactWarning, ada+"@example.org", 1)[0].Data["due"], registrar.Germany())
	must(t, err)
	over := named.AddDate(0, 0, 1)
	s.advanceTo(over.Add(-10 * time.Minute))
	s.wantHeld("kunde.org", false)
	s.advanceTo(over.Add(time.Minute))
	s.wantHeld("kunde.org", true)
}

func TestContactCheck_WarningNamesOnlyDomainsThatGoOffline(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org", "bleibt.info")
	s.giveToClient("bleibt.info", "kunde.org")
	checks, err := s.contacts.ListOwn(t.Context(), signedInActor(ada))
	if err != nil || len(checks) != 1 || checks[0].Domains != 2 || !slices.Equal(checks[0].Names, []string{"kunde.org"}) || !slices.Equal(checks[0].Kept, []string{"bleibt.info"}) {
		t.Fatalf("%+v, %v", checks, err)
	}
	s.advance(6)
	s.advance(6)
	mail := s.wantMails(registrar.MailContactWarning, ada+"@example.org", 1)[0]
	if mail.Data["domains"] != "1" || mail.Data["item1_name"] != "kunde.org" || mail.Data["kept"] != "bleibt.info\n" || mail.Data["all_kept"] != "" {
		t.Errorf("the warning has %v", mail.Data)
	}
	for _, notice := range []string{"2", "3"} { // the first may come before the second domain
		asked := s.wantReminder(notice)
		if asked.Data["domains"] != "2" || asked.Data["kept"] != "bleibt.info\n" || asked.Data["kept_domains"] != "1" || asked.Data["all_kept"] != "" {
			t.Errorf("notice %s to the holder has %v", notice, asked.Data)
		}
	}
	s.advance(4)
	s.wantHeld("kunde.org", true)
	s.wantHeld("bleibt.info", false)
}

func TestContactCheck_BouncingAddressWaitsForOperator(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org")
	s.mail.mu.Lock()
	s.mail.refuse = true
	s.mail.mu.Unlock()
	s.giveToClient("kunde.org")
	s.advance(20)
	open, err := s.contacts.ListOpen(t.Context(), termOperator)
	if err != nil || len(open) != 1 || open[0].State != contactcheck.Pending || open[0].WaitsFor != contactcheck.WaitsForNotices || open[0].Domains != 1 {
		t.Fatalf("%+v, %v", open, err)
	}
	s.wantHeld("kunde.org", false)
	if err := s.contacts.Suspend(t.Context(), signedInActor(ada), open[0].ID); err == nil {
		t.Error("a customer may suspend")
	}
	must(t, s.contacts.Suspend(t.Context(), termOperator, open[0].ID))
	s.wantHeld("kunde.org", true)
	if err := s.contacts.ConfirmByHand(t.Context(), termOperator, open[0].ID, " "); registrar.CodeOf(err) != contactcheck.NoteMissing {
		t.Errorf("confirmed without a note: %v", err)
	}
	must(t, s.contacts.ConfirmByHand(t.Context(), termOperator, open[0].ID, "by phone"))
	s.wantHeld("kunde.org", false)
	if check, _, err := s.db.GetContactCheck(t.Context(), open[0].ID); err != nil || check.ConfirmedBy != contactcheck.ByOperator || check.Note != "by phone" || check.ConfirmedFrom != "ops" {
		t.Errorf("evidence: %+v, %v", check, err)
	}
}

func TestContactCheck_BrakeStopsManySuspensions(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 21 {
		names = append(names, "viel"+string(rune('a'+i))+".org")
	}
	s := newContactEnv(t, names...)
	s.giveToClient(names...)
	s.wantFirstMail()
	s.advance(16)
	preview, err := s.operator.Preview(t.Context(), termOperator)
	if err != nil || !preview.Brake.Engaged() || preview.Brake.Reason != lifecycle.ByVolume || len(preview.Planned) != 21 || preview.Planned[0].Action != lifecycle.ActSuspend {
		t.Fatalf("preview %+v, %v", preview, err)
	}
	for _, name := range names {
		s.wantHeld(name, false)
	}
	if err := s.operator.Confirm(t.Context(), termOperator, 20); registrar.CodeOf(err) != lifecycle.PreviewChanged {
		t.Errorf("an incomplete preview was confirmed: %v", err)
	}
	must(t, s.operator.Confirm(t.Context(), termOperator, 21))
	s.settle()
	for _, name := range names {
		s.wantHeld(name, true)
	}
}

func TestContactCheck_DomainsThatStayOnlineDoNotCountForTheBrake(t *testing.T) {
	t.Parallel()
	var names []string
	for i := range 20 {
		names = append(names, "viel"+string(rune('a'+i))+".org")
	}
	names = append(names, "bleibt.info")
	s := newContactEnv(t, names...)
	s.giveToClient(names...)
	s.wantFirstMail()
	planned, online, err := s.contacts.ListPlanned(t.Context(), s.world.Now().AddDate(0, 0, 16))
	if err != nil || len(planned)+len(online) != 0 {
		t.Errorf("planned before the last reminder: %+v, %+v, %v", planned, online, err)
	}
	s.advance(6)
	s.advance(6)
	preview, err := s.operator.Preview(t.Context(), termOperator)
	if err != nil || preview.Brake.Engaged() {
		t.Fatalf("%+v, %v", preview, err)
	}
	planned, online, err = s.contacts.ListPlanned(t.Context(), s.world.Now().AddDate(0, 0, 5))
	if err != nil || len(planned) != 20 || len(online) != 1 || online[0].Term.Name != "bleibt.info" {
		t.Errorf("planned: %+v, %+v, %v", planned, online, err)
	}
	s.advance(4)
	for _, name := range names[:20] {
		s.wantHeld(name, true)
	}
	s.wantHeld("bleibt.info", false)
	status, _, err := s.db.GetBrake(t.Context())
	if err != nil || status.Engaged() || status.Actions != 20 {
		t.Errorf("the brake has counted %+v, %v", status, err)
	}
}

// A new address during a suspension has to be confirmed, too; the account's own ends it at once.
func TestContactCheck_ChangedAddressKeepsSuspensionUntilConfirmed(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org")
	id := s.giveToClient("kunde.org")[0]
	s.advance(16)
	s.wantHeld("kunde.org", true)
	must(t, s.holders.Update(t.Context(), signedInActor(ada), s.client, clientData, "neu@teeladen.example", holder.Contacts{}))
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: s.client})
	s.settle()
	s.wantMails(registrar.MailContactCheck, "neu@teeladen.example", 1)
	s.wantHeld("kunde.org", true)
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant})
	s.contacts.Wake()
	s.wantHeld("kunde.org", false)
}

func TestContactCheck_ResendOncePerHourForItsCustomer(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org")
	id := s.giveToClient("kunde.org")[0]
	check, found, err := s.contacts.OfDomain(t.Context(), signedInActor(ada), id)
	if err != nil || !found || check.Email != clientAddress {
		t.Fatalf("%+v, %v", check, err)
	}
	if err := s.contacts.Resend(t.Context(), signedInActor(eve), check.ID); registrar.CodeOf(err) != contactcheck.NoSuchCheck {
		t.Errorf("another customer: %v", err)
	}
	must(t, s.contacts.Resend(t.Context(), signedInActor(ada), check.ID))
	if err := s.contacts.Resend(t.Context(), signedInActor(ada), check.ID); registrar.CodeOf(err) != contactcheck.ResentToo {
		t.Errorf("at once again: %v", err)
	}
	s.settle()
	s.wantMails(registrar.MailContactCheck, clientAddress, 2)
}

// confirmClient confirms the client's address with the link of the first mail.
func (s *contactEnv) confirmClient() {
	s.t.Helper()
	state, err := s.contacts.Confirm(s.t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, secretOf(s.t, s.mailed(registrar.MailContactCheck, clientAddress)[0]))
	if err != nil || state != contactcheck.LinkConfirmed {
		s.t.Fatal(state, err)
	}
}

// wantSuspended waits until a domain is suspended, or is not any more.
func (s *contactEnv) wantSuspended(id string, want bool) {
	s.t.Helper()
	testkit.Eventually(s.t, fmt.Sprintf("suspended: %t", want), func() bool {
		s.contacts.Wake()
		suspended, err := s.db.IsDomainSuspended(s.t.Context(), id)
		must(s.t, err)
		return suspended == want
	})
}

// loseDispute stores a lost dispute about the payment of a domain, for which transfers are denied,
// and puts the domain on hold.
func (s *contactEnv) loseDispute(id, name string) dispute.Dispute {
	s.t.Helper()
	s.renew(registrar.NewName(strings.TrimSuffix(name, ".org"), ".org"), provision.Renew)
	_, err := s.db.SQL().Writer().ExecContext(s.t.Context(), "UPDATE provision_items SET payment = 'order:ord_streit' WHERE domain_id = $1", id)
	must(s.t, err)
	now := s.world.Now()
	lost := dispute.Dispute{
		Report: dispute.Report{ID: "du_streit", Charge: "ch_streit", Status: dispute.Lost, Currency: "eur", Amount: 1428, Withdrawn: 1428, Charged: 1428, OpenedAt: now},
		Order:  "ord_streit", Lock: dispute.LockDenied, StoredAt: now, UpdatedAt: now, Version: 1,
	}
	stored, err := s.db.StoreDispute(s.t.Context(), dispute.Update{Now: lost, At: now})
	if err != nil || !stored {
		s.t.Fatal(stored, err)
	}
	s.wantProgress(func() (domainchange.Progress, error) { return s.service.HoldFor(s.t.Context(), ada, id, lost.ID) })
	return lost
}

// liftDispute ends the locks of a dispute, and its hold unless that is needed otherwise.
func (s *contactEnv) liftDispute(id string, was dispute.Dispute) {
	s.t.Helper()
	lifted := was
	lifted.Lock = dispute.LockLifted
	stored, err := s.db.StoreDispute(s.t.Context(), dispute.Update{Was: was, Now: lifted, At: s.world.Now()})
	if err != nil || !stored {
		s.t.Fatal(stored, err)
	}
	s.wantProgress(func() (domainchange.Progress, error) { return s.service.ReleaseFor(s.t.Context(), ada, id, was.ID) })
}

func (s *contactEnv) wantProgress(step func() (domainchange.Progress, error)) {
	s.t.Helper()
	testkit.Eventually(s.t, "done", func() bool {
		progress, err := step()
		must(s.t, err)
		return progress == domainchange.Done
	})
}

func TestContactCheck_HoldOfLostDisputeSurvivesConfirmation(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org")
	id := s.giveToClient("kunde.org")[0]
	s.advance(16)
	s.wantHeld("kunde.org", true)
	lost := s.loseDispute(id, "kunde.org")
	s.confirmClient()
	s.wantSuspended(id, false)
	s.wantHeld("kunde.org", true)
	s.liftDispute(id, lost)
	s.wantHeld("kunde.org", false)
}

func TestContactCheck_SuspensionSurvivesEndOfDispute(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org")
	id := s.giveToClient("kunde.org")[0]
	lost := s.loseDispute(id, "kunde.org")
	s.advance(16)
	s.wantSuspended(id, true)
	s.liftDispute(id, lost)
	s.wantHeld("kunde.org", true)
	s.confirmClient()
	s.wantHeld("kunde.org", false)
}

func TestContactCheck_RefusedHoldWaitsForOperatorAndSuspendsLater(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org", "zweite.org")
	ids := s.giveToClient("kunde.org", "zweite.org")
	registrarClient := s.newEPPClient(registry.ProductAccount)
	refusing := epp.DomainElements{Statuses: []string{"clientUpdateProhibited"}}
	_, err := registrarClient.UpdateDomain(t.Context(), epp.UpdateDomain{Name: "kunde.org", Add: refusing})
	must(t, err)
	s.advance(5)
	s.wantReminder("2") // without them nothing is suspended
	s.advance(7)
	s.wantReminder("3")
	s.advance(5)
	var open []contactcheck.Check
	testkit.Eventually(t, "refusal", func() bool { // the registry answers a moment later
		open, err = s.contacts.ListOpen(t.Context(), termOperator)
		return err != nil || len(open) == 1 && len(open[0].Refused) == 1 && open[0].Refused[0].Reason != ""
	})
	if err != nil || len(open) != 1 || open[0].State != contactcheck.Suspended || open[0].WaitsFor != contactcheck.WaitsForRegistry {
		t.Fatalf("%+v, %v", open, err)
	}
	s.wantHeld("kunde.org", false)
	s.wantHeld("zweite.org", true)
	if open[0].Held != 1 || len(open[0].Refused) != 1 || open[0].Refused[0].Name != "kunde.org" || open[0].Refused[0].Reason != "epp_status_prohibits" {
		t.Errorf("operators see %d on hold and %+v refused", open[0].Held, open[0].Refused)
	}
	if mail := s.wantMails(registrar.MailContactSuspended, ada+"@example.org", 1)[0]; mail.Data["items"] != "1" || mail.Data["item1_name"] != "zweite.org" {
		t.Errorf("the mail names %v", mail.Data)
	}
	_, err = registrarClient.UpdateDomain(t.Context(), epp.UpdateDomain{Name: "kunde.org", Remove: refusing})
	must(t, err)
	s.advance(3)
	s.wantHeld("kunde.org", true)
	open, err = s.contacts.ListOpen(t.Context(), termOperator)
	if err != nil || len(open) != 1 || open[0].WaitsFor != "" {
		t.Errorf("after the hold: %+v, %v", open, err)
	}
	if mail := s.wantMails(registrar.MailContactSuspended, ada+"@example.org", 2)[1]; mail.Data["items"] != "2" {
		t.Errorf("the second mail names %v", mail.Data)
	}
	s.confirmClient()
	for i, name := range []string{"kunde.org", "zweite.org"} {
		s.wantHeld(name, false)
		s.wantSuspended(ids[i], false)
	}
}

// A registry that never takes a hold, as EURid, has none to remove either.
func TestContactCheck_RefusedHoldIsNotMailedAndEndsWithConfirmation(t *testing.T) {
	t.Parallel()
	s := newContactEnv(t, "kunde.org")
	id := s.giveToClient("kunde.org")[0]
	_, err := s.newEPPClient(registry.ProductAccount).UpdateDomain(t.Context(), epp.UpdateDomain{
		Name: "kunde.org", Add: epp.DomainElements{Statuses: []string{"clientUpdateProhibited"}},
	})
	must(t, err)
	s.advance(17)
	s.wantSuspended(id, true)
	s.confirmClient()
	s.wantSuspended(id, false)
	s.wantHeld("kunde.org", false)
	s.settle()
	s.wantMails(registrar.MailContactSuspended, ada+"@example.org", 0)
	s.wantMails(registrar.MailContactConfirmed, ada+"@example.org", 0)
}

// The registry does not respond when the suspension begins, and a change of the holder waits for it.
func TestContactCheck_HolderChangeUnderWayDuringSuspension(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]bool{"to the account": false, "to another unconfirmed address": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newContactEnv(t, "kunde.org")
			id := s.giveToClient("kunde.org")[0]
			s.advance(14)
			target, address := "", ada+"@example.org"
			if held {
				address = "eva@teeladen.example"
				var err error
				target, err = s.holders.Add(t.Context(), signedInActor(ada), clientData, address, holder.Contacts{})
				must(t, err)
			}
			s.up.Store(false)
			change, _, err := s.service.RequestChange(t.Context(), signedInActor(ada), id, domainchange.ChangeRequest{Kind: domainchange.UpdateRegistrant, Holder: target})
			if err != nil || change.State != domainchange.StatusOpen {
				t.Fatal(change.State, err)
			}
			s.advance(2)
			s.wantSuspended(id, true)
			s.up.Store(true)
			testkit.Eventually(t, "the new holder", func() bool { return s.view(id).Domain.Registrant.Email == address })
			if held {
				testkit.Eventually(t, "the mail to the new address", func() bool {
					s.contacts.Wake()
					return len(s.mailed(registrar.MailContactCheck, address)) == 1
				})
				s.wantHeld("kunde.org", true)
				state, err := s.contacts.Confirm(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, secretOf(t, s.mailed(registrar.MailContactCheck, address)[0]))
				if err != nil || state != contactcheck.LinkConfirmed {
					t.Fatal(state, err)
				}
			}
			s.wantSuspended(id, false)
			s.wantHeld("kunde.org", false)
		})
	}
}
