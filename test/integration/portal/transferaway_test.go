package portal

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// fakeTransferRegistry has the last transfer of each name.
type fakeTransferRegistry struct {
	mu      sync.Mutex
	pending map[string]transferaway.RegistryTransfer
	mute    bool // it does not let us answer
	refusal error
}

func (r *fakeTransferRegistry) OutgoingRules(string) transferaway.Rules {
	return transferaway.Rules{Answer: !r.mute}
}

func (r *fakeTransferRegistry) QueryTransfer(_ context.Context, name string) (transferaway.RegistryTransfer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pending[name], nil
}

func (r *fakeTransferRegistry) AnswerTransfer(_ context.Context, name string, approve bool, _ string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refusal != nil {
		return r.refusal
	}
	last := r.pending[name]
	if last.Status = "clientRejected"; approve {
		last.Status, last.Held, last.Sponsor = "clientApproved", false, last.Gaining
	}
	r.pending[name] = last
	return nil
}

// requestTransferAway adds a domain that another registrar wants, and notifies its holder.
func (s *env) requestTransferAway(customer, label, tld string) (id string) {
	s.t.Helper()
	id = s.addDomainOf(customer, label, tld, registrar.DomainActive)
	name, now := label+tld, s.clock.now()
	s.transfers.mu.Lock()
	s.transfers.pending[name] = transferaway.RegistryTransfer{Status: "pending", Gaining: "Rival", RequestedAt: now, ActsAt: now.Add(5 * 24 * time.Hour), Held: true}
	s.transfers.mu.Unlock()
	s.storeMessage("desk", inbox.Message{ID: name, Name: name, Kind: inbox.KindTransfer, Details: inbox.Details{Object: inbox.ObjectDomain, Transfer: &inbox.Transfer{
		Status: "pending", RequestedBy: "Rival", RequestedAt: now, DecidedBy: "us", DecidedAt: now.Add(5 * 24 * time.Hour),
	}}})
	ctx, stop := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() { s.away.Run(ctx) })
	defer running.Wait()
	defer stop()
	testkit.Eventually(s.t, "notified holder", func() bool {
		all, err := s.db.ListDomainOutgoingTransfers(s.t.Context(), id, 1)
		must(s.t, err)
		return len(all) == 1 && all[0].State == transferaway.StatePending
	})
	return id
}

func TestTransferAwayPage_StopsWithConfirmedSentence(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	id := s.requestTransferAway(erika.ID, "teeladen", ".org")
	b := s.signedInBrowser("erika@example.org")
	page := "/portal/domains/" + id + "/transfer"
	if body := b.get("/portal/domains/" + id).body; !strings.Contains(body, "Ein anderer Anbieter will diese Domain übernehmen") || !strings.Contains(body, page) {
		t.Errorf("the domain's page: %s", body)
	}
	for _, action := range []string{"/lock", "/auth-code", "/nameservers", "/ds", "/holder", "/expire", "/auto-renew"} {
		if body := b.get("/portal/domains/" + id).body; strings.Contains(body, `"/portal/domains/`+id+action+`"`) {
			t.Errorf("the domain's page offers %s, which the registry refuses", action)
		}
	}
	sentence := "Ich widerspreche dem Umzug von teeladen.org zu einem anderen Anbieter."
	if body := b.get(page).body; !strings.Contains(body, sentence) || !strings.Contains(body, "Rival") || !strings.Contains(body, page+"/approve") {
		t.Errorf("the page: %s", body)
	}
	if got := b.post(page+"/stop", nil); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "Häkchen") {
		t.Errorf("unconfirmed: %d", got.status)
	}
	if got := b.post(page+"/stop", url.Values{"confirm": {"yes"}}); got.location() != page {
		t.Fatalf("stopped: %d %s", got.status, got.body)
	}
	body := b.get(page).body
	if !strings.Contains(body, "Der Umzug ist gestoppt.") || !strings.Contains(body, "Widerspruch des Inhabers") || !strings.Contains(body, sentence) || strings.Contains(body, page+"/stop") {
		t.Errorf("afterwards: %s", body)
	}
	if got := b.post(page+"/approve", url.Values{"confirm": {"yes"}}); got.status != http.StatusConflict || !strings.Contains(got.body, "schon entschieden") {
		t.Errorf("a second decision: %d", got.status)
	}
	if body := b.get("/portal/domains/" + id + "?lang=en").body; !strings.Contains(body, "gestoppt") && !strings.Contains(body, "stopped") {
		t.Errorf("history: %s", body)
	}
}

func TestTransferAwayPage_DecisionNeedsRecentSignIn(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	id := s.requestTransferAway(erika.ID, "teeladen", ".org")
	b := s.signedInBrowser("erika@example.org")
	s.clock.advance(time.Hour)
	page := "/portal/domains/" + id + "/transfer"
	if body := b.get(page).body; strings.Contains(body, page+"/stop") || !strings.Contains(body, "/portal/sign-in-again?next=") {
		t.Errorf("the page: %s", body)
	}
	for _, decision := range []string{"/stop", "/approve"} {
		got := b.post(page+decision, url.Values{"confirm": {"yes"}})
		if got.status != http.StatusSeeOther || !strings.HasPrefix(got.location(), "/portal/sign-in-again") || !strings.Contains(got.location(), url.QueryEscape(page)) {
			t.Errorf("%s: %d %s", decision, got.status, got.location())
		}
	}
	if all, err := s.db.ListDomainOutgoingTransfers(t.Context(), id, 1); err != nil || all[0].State != transferaway.StatePending {
		t.Errorf("it is %+v, %v", all, err)
	}
	s.newMember("eve@example.org")
	if got := s.signedInBrowser("eve@example.org").get(page); got.status != http.StatusNotFound {
		t.Errorf("another customer: %d", got.status)
	}
	if got := s.newBrowser().get(page); got.status != http.StatusSeeOther {
		t.Errorf("nobody: %d", got.status)
	}
}

func TestTransferAwayPage_ApprovedDomainShowsWhereItWent(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	id := s.requestTransferAway(erika.ID, "teeladen", ".org")
	b := s.signedInBrowser("erika@example.org")
	page := "/portal/domains/" + id + "/transfer"
	if got := b.post(page+"/approve", url.Values{"confirm": {"yes"}}); got.location() != page {
		t.Fatalf("approved: %d %s", got.status, got.body)
	}
	domain, _, err := s.db.DomainByName(t.Context(), "teeladen.org")
	must(t, err)
	left := domain
	left.Status, left.UpdatedAt = registrar.DomainTransferredOut, s.clock.now()
	if stored, err := s.db.UpdateDomainFromRegistry(t.Context(), domain, left, nil); err != nil || !stored {
		t.Fatal(stored, err)
	}
	for _, path := range []string{page, "/portal/domains/" + id} {
		if body := b.get(path).body; !strings.Contains(body, "Umgezogen nach Zustimmung") || !strings.Contains(body, "Rival") {
			t.Errorf("%s: %s", path, body)
		}
	}
	if all, err := s.db.ListDomainOutgoingTransfers(t.Context(), id, 10); err != nil || len(all) != 1 {
		t.Errorf("transfers %+v, %v", all, err)
	}
}

func TestTransferAwayPage_SaysWhatIsNotPossible(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	id := s.requestTransferAway(erika.ID, "teeladen", ".org")
	b := s.signedInBrowser("erika@example.org")
	page := "/portal/domains/" + id + "/transfer"
	s.transfers.refusal = &registrar.Error{Kind: registrar.KindForbidden, Code: registrar.EPPNotAllowed}
	b.post(page+"/stop", url.Values{"confirm": {"yes"}})
	if body := b.get(page).body; !strings.Contains(body, "nicht angenommen") || !strings.Contains(body, page+"/stop") || strings.Contains(body, "ist gestoppt") {
		t.Errorf("refused by the registry: %s", body)
	}
	s.forbidden = map[domainchange.ChangeKind]registrar.Code{domainchange.AuthCode: domainchange.DomainRestricted}
	if got := b.post(page+"/approve", url.Values{"confirm": {"yes"}}); got.status != http.StatusConflict || strings.Contains(got.body, page+"/approve") {
		t.Errorf("a dispute: %d", got.status)
	}
	s.transfers.mute = true
	if body := b.get(page).body; strings.Contains(body, page+"/stop") || !strings.Contains(body, "weder ablehnen noch bestätigen") {
		t.Errorf("no answers: %s", body)
	}
	other := s.addDomainOf(erika.ID, "ruhig", ".org", registrar.DomainActive)
	if body := b.get("/portal/domains/" + other + "/transfer").body; !strings.Contains(body, "kein Umzug") {
		t.Errorf("no transfer: %s", body)
	}
}

func TestTransferAwayPage_StopThatComesTooLateSaysSo(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	id := s.requestTransferAway(erika.ID, "teeladen", ".org")
	b := s.signedInBrowser("erika@example.org")
	moved := s.transfers.pending["teeladen.org"]
	moved.Status, moved.Held, moved.Sponsor = "serverApproved", false, "Rival"
	s.transfers.pending["teeladen.org"] = moved
	got := b.post("/portal/domains/"+id+"/transfer/stop", url.Values{"confirm": {"yes"}})
	if got.status != http.StatusConflict || !strings.Contains(got.body, "Zu spät") || strings.Contains(got.body, "ist gestoppt") || !strings.Contains(got.body, "Umgezogen") {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestDomainPage_ShowsTransferLockInForce(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	for name, locked := range map[string]bool{"neu": true, "alt": false} {
		id := s.addDomainOf(erika.ID, name, ".org", registrar.DomainActive)
		created := s.clock.now().AddDate(0, 0, -10)
		if !locked {
			created = created.AddDate(0, 0, -60)
		}
		s.registry.records[name+".org"] = domainchange.Record{Created: created}
		if got := strings.Contains(b.get("/portal/domains/"+id).body, "kann ein Umzug abgelehnt werden: Nach der Registrierung"); got != locked {
			t.Errorf("%s.org shows the lock: %t", name, got)
		}
	}
}

func TestDomainPage_ShowsOnlyTheLongestTransferLock(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	id, now := s.addDomainOf(erika.ID, "neu", ".org", registrar.DomainActive), s.clock.now()
	s.registry.records["neu.org"] = domainchange.Record{Created: now.AddDate(0, 0, -10)}
	s.exec("INSERT INTO audit_events (id, customer_id, actor_kind, actor, through, address, action, object, at) VALUES ('aud_1', $1, 'system', '', '', '', 'domain_received', $2, $3)",
		erika.ID, id, now.AddDate(0, 0, -5).UnixMicro())
	page := s.signedInBrowser("erika@example.org").get("/portal/domains/" + id).body
	if !strings.Contains(page, "abgelehnt werden: Nach einem Umzug") || strings.Count(page, "kann ein Umzug abgelehnt werden") != 1 {
		t.Errorf("the page: %s", page)
	}
}

func TestOperatorTransfers_ListedAndRejectedWithReason(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	s.requestTransferAway(erika.ID, "teeladen", ".org")
	s.requestTransferAway(erika.ID, "kaffeeladen", ".org")
	_, b := s.operatorBrowser("ops@example.org")
	open, _, err := s.away.List(t.Context(), cliOperator, false, "")
	must(t, err)
	if list := b.get("/operator/outgoing-transfers").body; len(open) != 2 || !strings.Contains(list, "teeladen.org") || !strings.Contains(list, "Rival") {
		t.Errorf("list: %s", list)
	}
	if page := b.get("/operator/outgoing-transfers/" + open[0].ID).body; !strings.Contains(page, "<title>Ausgehender Umzug: "+open[0].Name+" · ") {
		t.Errorf("the title does not name the domain: %s", page)
	}
	reject, approve := "/operator/outgoing-transfers/"+open[0].ID, "/operator/outgoing-transfers/"+open[1].ID
	if got := b.post(reject+"/reject", url.Values{"reason": {"mood"}}); got.status != http.StatusConflict || !strings.Contains(got.body, "wählen Sie einen Grund") {
		t.Errorf("no reason: %d", got.status)
	}
	if page := b.get(reject).body; !strings.Contains(page, `<option value="" selected>Bitte wählen</option>`) {
		t.Errorf("a reason is preselected: %s", page)
	}
	if got := b.post(reject+"/reject", url.Values{"reason": {"court_order"}, "subject": {open[0].Name}}); got.status != http.StatusOK || !strings.Contains(got.body, "aus diesem Grund ablehnen?") || !strings.Contains(got.body, "Gerichtliche Anordnung") || !strings.Contains(got.body, open[0].Name) {
		t.Errorf("rejecting asks first: %d %s", got.status, got.body)
	}
	if got := b.post(reject+"/reject", url.Values{"reason": {"court_order"}, "confirmed": {"yes"}}); got.location() != reject {
		t.Errorf("rejected: %d %s", got.status, got.body)
	}
	if body := b.get(reject).body; !strings.Contains(body, "Gerichtliche Anordnung") || !strings.Contains(body, "ops@example.org") {
		t.Errorf("rejected: %s", body)
	}
	if got := b.post(approve+"/approve", nil); got.status != http.StatusOK || !strings.Contains(got.body, "Diesen Umzug bestätigen?") {
		t.Errorf("approving asks first: %d", got.status)
	}
	if got := b.post(approve+"/approve", url.Values{"confirmed": {"yes"}}); got.location() != approve {
		t.Errorf("approved: %d %s", got.status, got.body)
	}
	if list := b.get("/operator/outgoing-transfers?lang=en").body; !strings.Contains(list, "Kein Umzug läuft.") && !strings.Contains(list, "No transfer is in progress.") {
		t.Errorf("list: %s", list)
	}
	if got := s.signedInBrowser("erika@example.org").get(reject); got.status != http.StatusNotFound {
		t.Errorf("a customer: %d", got.status)
	}
}
