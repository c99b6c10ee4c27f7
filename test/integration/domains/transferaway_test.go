package domains

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// awayEnv has domains that another registrar can request.
type awayEnv struct {
	*env
	provision *provision.Service
	away      *transferaway.Service
	config    transferaway.Config
}

func newAwayEnv(t *testing.T, names ...string) *awayEnv {
	t.Helper()
	s := &awayEnv{env: newEnv(t, names...)}
	var err error
	s.provision, err = provision.New(provision.Config{
		Store: s.db, Domains: s.db, Seal: s.seal, Node: "here", Now: s.world.Now,
		Accounts: []provision.NamedAccount{{Name: "sandbox", Serves: func(string) bool { return true }, Account: s.provisioner}},
	})
	must(t, err)
	s.config = transferaway.Config{
		Store: s.db, Node: "here", Now: s.world.Now, RequestTimeout: waitTimeout,
		Registries: []transferaway.NamedRegistry{{Name: "sandbox", Serves: func(string) bool { return true }, Registry: s.provisioner}},
		HoldsDomain: func(ctx context.Context, customer, domain string) (bool, error) {
			_, found, err := s.db.GetCustomerDomain(ctx, customer, domain)
			return found, err
		},
	}
	s.restart()
	return s
}

// restart replaces the service, after a change of its configuration.
func (s *awayEnv) restart() {
	s.t.Helper()
	var err error
	s.away, err = transferaway.New(s.config)
	must(s.t, err)
}

// addUnlocked adds a domain whose auth code is known to the other registrar.
func (s *awayEnv) addUnlocked(label, tld string) string {
	s.t.Helper()
	id := s.addDomain(ada, label, tld, registrar.DomainActive)
	if tld != ".de" {
		s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.Unlock})
	}
	s.requestChange(id, domainchange.ChangeRequest{Kind: domainchange.AuthCode})
	s.dropMails()
	return id
}

// openAtRegistry unlocks a domain and sets its auth code, past our own rules.
func (s *awayEnv) openAtRegistry(name string) {
	s.t.Helper()
	_, err := s.newEPPClient(registry.ProductAccount).UpdateDomain(s.t.Context(), epp.UpdateDomain{
		Name: name, AuthInfo: "Kennwort-123", Remove: epp.DomainElements{Statuses: []string{domainchange.TransferLock}},
	})
	must(s.t, err)
}

func (s *awayEnv) dropMails() {
	s.t.Helper()
	_, err := s.db.SQL().Writer().ExecContext(s.t.Context(), "DELETE FROM mails")
	must(s.t, err)
}

// transfer lets the other registrar act.
func (s *awayEnv) transfer(name, op string) {
	s.t.Helper()
	_, err := s.world.TransferAway(name, op)
	must(s.t, err)
}

func (s *awayEnv) poll() {
	s.t.Helper()
	_, err := s.provision.Poll(s.t.Context(), "sandbox", nil)
	must(s.t, err)
}

func (s *awayEnv) sync(name string) {
	s.t.Helper()
	domain, found, err := s.db.DomainByName(s.t.Context(), name)
	must(s.t, err)
	if result := s.provision.SyncDomain(s.t.Context(), domain); !found || result.Err != nil {
		s.t.Fatal(found, result.Err)
	}
}

// work runs the loop until the newest transfer of a domain has a state.
func (s *awayEnv) work(id string, want transferaway.State) transferaway.Transfer {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.away.Run(ctx) })
	defer running.Wait()
	defer stop()
	var last transferaway.Transfer
	testkit.Eventually(s.t, string(want)+" transfer", func() bool {
		all := s.transfers(id)
		if len(all) > 0 {
			last = all[0]
		}
		return len(all) > 0 && last.State == want && last.Node == ""
	})
	return last
}

func (s *awayEnv) transfers(id string) []transferaway.Transfer {
	s.t.Helper()
	all, err := s.db.ListDomainOutgoingTransfers(s.t.Context(), id, 10)
	must(s.t, err)
	return all
}

// mails returns the queued mails, the oldest first, and deletes them.
func (s *awayEnv) mails() (queued []mailer.QueuedMail) {
	s.t.Helper()
	queued, err := s.db.ClaimDueMails(s.t.Context(), time.Now().Add(time.Hour), time.Now().Add(2*time.Hour), 100)
	must(s.t, err)
	slices.SortFunc(queued, func(a, b mailer.QueuedMail) int { return strings.Compare(a.ID, b.ID) })
	s.dropMails()
	return queued
}

// wantMail checks the one queued mail.
func (s *awayEnv) wantMail(kind registrar.MailKind, change string) {
	s.t.Helper()
	mails := s.mails()
	if len(mails) != 1 || mails[0].Kind != kind || mails[0].Data["change"] != change || mails[0].To != ada+"@example.org" {
		s.t.Errorf("queued: %+v, want one %s %s", mails, kind, change)
	}
}

// requested has another registrar request the domain, and the registrant notified.
func (s *awayEnv) requested(id, name string) transferaway.Transfer {
	s.t.Helper()
	s.transfer(name, "request")
	s.poll()
	t := s.work(id, transferaway.StatePending)
	s.wantMail(registrar.MailTransferAway, "")
	return t
}

func TestTransferAway_RequestNotifiesRegistrantOnce(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "umzug.org")
	id := s.addUnlocked("umzug", ".org")
	s.transfer("umzug.org", "request")
	s.poll()
	s.sync("umzug.org") // sees pendingTransfer, too
	got := s.work(id, transferaway.StatePending)
	if got.Gaining != "andere" || got.ActsAt.Sub(got.RequestedAt) != 5*24*time.Hour || got.Customer != ada {
		t.Errorf("got %+v", got)
	}
	mails := s.mails()
	if len(mails) != 1 || mails[0].Data["gaining"] != "andere" || mails[0].Data["stoppable"] != "true" || mails[0].Data["acts_at"] == "" || !mails[0].Kind.IsNotice() {
		t.Errorf("queued %+v", mails)
	}
	s.sync("umzug.org")
	if all := s.transfers(id); len(all) != 1 {
		t.Errorf("%d transfers", len(all))
	}
}

func TestTransferAway_FoundBySyncWithoutMessage(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "still.org")
	id := s.addUnlocked("still", ".org")
	s.transfer("still.org", "request")
	s.sync("still.org")
	if got := s.work(id, transferaway.StatePending); got.Gaining != "andere" || got.RequestedAt.IsZero() || got.ActsAt.IsZero() {
		t.Errorf("got %+v", got)
	}
	s.wantMail(registrar.MailTransferAway, "")
	s.poll() // the message comes late
	s.work(id, transferaway.StatePending)
	if all := s.transfers(id); len(all) != 1 || len(s.mails()) != 0 {
		t.Errorf("transfers %+v", all)
	}
}

func TestView_DomainThatAnotherRegistrarSponsorsIsTransferredOut(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "weg.org")
	id := s.addUnlocked("weg", ".org")
	s.transfer("weg.org", "request")
	must(t, s.world.Advance(6*24*time.Hour)) // and no message is read
	cfg := s.env.config
	cfg.Sync = s.provision.SyncName
	var err error
	s.service, err = domainchange.New(cfg)
	must(t, err)
	if view := s.view(id); view.Domain.Status != registrar.DomainTransferredOut || view.Unreachable {
		t.Errorf("status %s, unreachable %t", view.Domain.Status, view.Unreachable)
	}
}

func TestTransferAway_StopIsRejectedAndKeptAsEvidence(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "bleibt.org")
	id := s.addUnlocked("bleibt", ".org")
	s.requested(id, "bleibt.org")
	stale := signedInActor(ada)
	stale.SignedInAt = time.Now().Add(-time.Hour)
	if _, err := s.away.Stop(t.Context(), stale, id, "x"); registrar.CodeOf(err) != registrar.SignInAgain {
		t.Errorf("an old sign-in: %v", err)
	}
	if _, err := s.away.Stop(t.Context(), signedInActor(eve), id, "x"); registrar.CodeOf(err) != registrar.NoSuchDomain {
		t.Errorf("another customer: %v", err)
	}
	got, err := s.away.Stop(t.Context(), signedInActor(ada), id, "Ich widerspreche.")
	must(t, err)
	if got.State != transferaway.StateStopped {
		t.Errorf("got %+v", got)
	}
	stored := s.transfers(id)[0]
	if stored.Statement != "Ich widerspreche." || stored.Reason != transferaway.ReasonObjection || stored.Actor.Through != "ses_1" ||
		stored.Actor.Address.String() != "192.0.2.7" || stored.DecidedAt.IsZero() || stored.EndedAt.IsZero() || stored.RegistryStatus != "clientRejected" {
		t.Errorf("evidence: %+v", stored)
	}
	events, err := s.db.ListObjectAuditEvents(t.Context(), ada, "bleibt.org", 10)
	must(t, err)
	var actions []registrar.Action
	for _, event := range events {
		if slices.Contains(transferaway.Actions(), event.Action) {
			actions = append(actions, event.Action)
		}
	}
	slices.Sort(actions)
	if !slices.Equal(actions, []registrar.Action{transferaway.ActionOpened, transferaway.ActionStop, transferaway.ActionStopped}) {
		t.Errorf("audited %v", actions)
	}
	s.wantMail(registrar.MailTransferAwayEnded, "stopped")
	if dom := s.registryDomain("bleibt.org"); dom.Transfer.Status != "clientRejected" {
		t.Errorf("the registry has %+v", dom.Transfer)
	}
}

func TestTransferAway_ApprovedDomainLeavesAtOnce(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "weg.org")
	id := s.addUnlocked("weg", ".org")
	s.requested(id, "weg.org")
	got, err := s.away.Approve(t.Context(), signedInActor(ada), id, "Ich stimme zu.")
	must(t, err)
	if got.State != transferaway.StateApproved {
		t.Errorf("got %+v", got)
	}
	s.wantMail(registrar.MailTransferAwayEnded, "approved")
	s.poll()
	s.sync("weg.org")
	domain, _, err := s.db.DomainByName(t.Context(), "weg.org")
	must(t, err)
	view, err := s.away.View(t.Context(), signedInActor(ada), id)
	must(t, err)
	if domain.Status != registrar.DomainTransferredOut || len(view.Transfers) != 1 || view.Open != nil || len(s.mails()) != 0 {
		t.Errorf("domain %s, transfers %+v", domain.Status, view.Transfers)
	}
}

func TestTransferAway_EndsAsTheRegistryReports(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		act  func(s *awayEnv, name string)
		want transferaway.State
		gone bool
	}{
		{"frist", func(s *awayEnv, _ string) { must(s.t, s.world.Advance(6*24*time.Hour)) }, transferaway.StateCompleted, true},
		{"abbruch", func(s *awayEnv, name string) { s.transfer(name, "cancel") }, transferaway.StateCancelled, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			name := test.name + ".org"
			s := newAwayEnv(t, name)
			id := s.addUnlocked(test.name, ".org")
			s.requested(id, name)
			test.act(s, name)
			s.poll()
			s.sync(name)
			if got := s.work(id, test.want); got.EndedAt.IsZero() || got.Gaining != "andere" {
				t.Errorf("got %+v", got)
			}
			s.wantMail(registrar.MailTransferAwayEnded, string(test.want))
			domain, _, err := s.db.DomainByName(t.Context(), name)
			must(t, err)
			if gone := domain.Status == registrar.DomainTransferredOut; gone != test.gone {
				t.Errorf("the domain is %s", domain.Status)
			}
			if _, err := s.away.Stop(t.Context(), signedInActor(ada), id, "x"); registrar.CodeOf(err) != transferaway.AlreadyDecided {
				t.Errorf("stopping it afterwards: %v", err)
			}
		})
	}
}

func TestTransferAway_SecondRequestAfterCancellationIsNew(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "zweimal.org")
	id := s.addUnlocked("zweimal", ".org")
	s.requested(id, "zweimal.org")
	s.transfer("zweimal.org", "cancel")
	must(t, s.world.Advance(time.Hour))
	s.transfer("zweimal.org", "request")
	s.poll() // both messages, before the first transfer has ended
	s.work(id, transferaway.StatePending)
	if all := s.transfers(id); len(all) != 2 || all[0].State != transferaway.StatePending || all[1].State != transferaway.StateCancelled {
		t.Errorf("got %s and %s", all[0].State, all[1].State)
	}
	mails := s.mails()
	if len(mails) != 2 {
		t.Errorf("queued %+v", mails)
	}
}

// The registry approves between our query and our rejection.
func TestTransferAway_StopInTheLastSecondNeverClaimsSuccess(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "zuspaet.org")
	id := s.addUnlocked("zuspaet", ".org")
	s.requested(id, "zuspaet.org")
	s.config.Registries[0].Registry = lateRegistry{s.provisioner, func() { must(t, s.world.Advance(6*24*time.Hour)) }}
	s.restart()
	got, err := s.away.Stop(t.Context(), signedInActor(ada), id, "Ich widerspreche.")
	must(t, err)
	if got.State != transferaway.StateCompleted {
		t.Errorf("got %+v", got)
	}
	s.wantMail(registrar.MailTransferAwayEnded, "completed")
}

// lateRegistry lets something happen before each answer.
type lateRegistry struct {
	transferaway.Registry
	before func()
}

func (r lateRegistry) AnswerTransfer(ctx context.Context, name string, approve bool, transaction string) error {
	r.before()
	return r.Registry.AnswerTransfer(ctx, name, approve, transaction)
}

func TestTransferAway_OfTwoDecisionsTheFirstIsStored(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "beide.org")
	id := s.addUnlocked("beide", ".org")
	s.requested(id, "beide.org")
	var both sync.WaitGroup
	errs := make([]error, 2)
	both.Go(func() { _, errs[0] = s.away.Stop(t.Context(), signedInActor(ada), id, "nein") })
	both.Go(func() { _, errs[1] = s.away.Approve(t.Context(), signedInActor(ada), id, "ja") })
	both.Wait()
	refused := slices.IndexFunc(errs, func(err error) bool { return registrar.CodeOf(err) == transferaway.AlreadyDecided })
	if refused < 0 || errs[1-refused] != nil {
		t.Fatalf("got %v", errs)
	}
	want := transferaway.StateApproved
	if refused == 1 {
		want = transferaway.StateStopped
	}
	if got := s.transfers(id)[0]; got.State != want {
		t.Errorf("it is %s, want %s", got.State, want)
	}
}

// denyingRegistry refuses every answer.
type denyingRegistry struct{ transferaway.Registry }

func (denyingRegistry) AnswerTransfer(context.Context, string, bool, string) error {
	return &registrar.Error{Kind: registrar.KindForbidden, Code: registrar.EPPNotAllowed}
}

func TestTransferAway_RefusedAnswerLeavesItPendingWithMail(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "verweigert.org")
	id := s.addUnlocked("verweigert", ".org")
	s.requested(id, "verweigert.org")
	s.config.Registries[0].Registry = denyingRegistry{s.provisioner}
	s.restart()
	got, err := s.away.Stop(t.Context(), signedInActor(ada), id, "nein")
	must(t, err)
	if got.State != transferaway.StatePending || got.Failure != registrar.EPPNotAllowed {
		t.Errorf("got %+v", got)
	}
	s.wantMail(registrar.MailTransferAwayEnded, "stop_refused")
}

// brokenRegistry loses the response of the first answer.
type brokenRegistry struct {
	transferaway.Registry
	lost *bool
}

func (r brokenRegistry) AnswerTransfer(ctx context.Context, name string, approve bool, transaction string) error {
	err := r.Registry.AnswerTransfer(ctx, name, approve, transaction)
	if !*r.lost {
		*r.lost = true
		return registrar.Fault(registrar.FaultTimeout, "epp.example", errors.New("lost"))
	}
	return err
}

func TestTransferAway_LostAnswerIsQueriedBeforeRepeated(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "verloren.org")
	id := s.addUnlocked("verloren", ".org")
	s.requested(id, "verloren.org")
	lost := false
	s.config.Registries[0].Registry = brokenRegistry{s.provisioner, &lost}
	s.restart()
	got, err := s.away.Stop(t.Context(), signedInActor(ada), id, "nein")
	must(t, err)
	if got.State != transferaway.StateStopping || len(s.mails()) != 0 {
		t.Errorf("before the retry: %+v", got)
	}
	s.work(id, transferaway.StateStopped)
	s.wantMail(registrar.MailTransferAwayEnded, "stopped")
}

func TestTransferAway_WithoutPendingPhaseEndsWithOneMail(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "sofort.de")
	id := s.addUnlocked("sofort", ".de")
	s.transfer("sofort.de", "request")
	s.poll()
	s.sync("sofort.de")
	if got := s.work(id, transferaway.StateCompleted); got.Gaining != "andere" {
		t.Errorf("got %+v", got)
	}
	s.wantMail(registrar.MailTransferAwayEnded, "completed")
	s.poll()
	if all := s.transfers(id); len(all) != 1 {
		t.Errorf("transfers %+v", all)
	}
}

func TestTransferAway_RegistryWithoutAnswersIsToldInMail(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "machtlos.at")
	id := s.addDomain(ada, "machtlos", ".at", registrar.DomainActive)
	s.openAtRegistry("machtlos.at")
	s.transfer("machtlos.at", "request")
	s.poll()
	s.work(id, transferaway.StatePending)
	if mails := s.mails(); len(mails) != 1 || mails[0].Data["stoppable"] != "false" {
		t.Errorf("queued %+v", mails)
	}
	for _, decide := range []func(context.Context, registrar.Actor, string, string) (transferaway.Transfer, error){s.away.Stop, s.away.Approve} {
		if _, err := decide(t.Context(), signedInActor(ada), id, "x"); registrar.CodeOf(err) != transferaway.NotAnswerable {
			t.Errorf("got %v", err)
		}
	}
}

func TestTransferAway_MessageAboutForeignDomainOpensNothing(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "fremd.org", "eigen.org")
	s.addUnlocked("eigen", ".org")
	// The registry account has it, and no customer.
	s.openAtRegistry("fremd.org")
	s.transfer("fremd.org", "request")
	s.poll()
	if open, err := s.db.CountOpenOutgoingTransfers(t.Context()); err != nil || open != 0 {
		t.Errorf("%d open, %v", open, err)
	}
	if unread, err := s.db.CountUnreadRegistryMessages(t.Context()); err != nil || unread != 1 {
		t.Errorf("%d unread messages, %v", unread, err)
	}
}

func TestTransferAway_OperatorRejectsForListedReasonOnly(t *testing.T) {
	t.Parallel()
	s := newAwayEnv(t, "betrug.org")
	id := s.addUnlocked("betrug", ".org")
	open := s.requested(id, "betrug.org")
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "cus_op"}
	if _, err := s.away.Reject(t.Context(), signedInActor(ada), open.ID, transferaway.ReasonFraud); registrar.CodeOf(err) != registrar.OperatorsOnly {
		t.Errorf("a customer: %v", err)
	}
	if _, err := s.away.Reject(t.Context(), operator, open.ID, "mood"); registrar.CodeOf(err) != transferaway.BadReason {
		t.Errorf("no reason: %v", err)
	}
	s.config.Forbids = func(context.Context, string) (bool, error) { return true, nil }
	s.restart()
	if _, err := s.away.ApproveAsOperator(t.Context(), operator, open.ID); registrar.CodeOf(err) != transferaway.NotApprovable {
		t.Errorf("approving a locked domain: %v", err)
	}
	if _, err := s.away.Approve(t.Context(), signedInActor(ada), id, "x"); registrar.CodeOf(err) != transferaway.NotApprovable {
		t.Errorf("approving a locked domain as its holder: %v", err)
	}
	got, err := s.away.Reject(t.Context(), operator, open.ID, transferaway.ReasonFraud)
	must(t, err)
	if got.State != transferaway.StateStopped || got.Reason != transferaway.ReasonFraud {
		t.Errorf("got %+v", got)
	}
	if mails := s.mails(); len(mails) != 1 || mails[0].Data["reason"] != "fraud" {
		t.Errorf("queued %+v", mails)
	}
}
