package portal

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

var messageLink = regexp.MustCompile(`href="(/operator/registry-messages/msg_[^"]+)"`)

// storeMessage stores a registry message and returns the path of its page.
func (s *env) storeMessage(account string, m inbox.Message) {
	s.t.Helper()
	s.clock.advance(time.Second)
	added, err := s.db.StoreRegistryMessage(s.t.Context(), account, m, s.clock.now(), s.clock.now())
	must(s.t, err)
	if !added {
		s.t.Fatalf("message %s exists", m.ID)
	}
}

func TestOperatorMessages_UnreadMessageIsOpenWorkUntilRead(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	if body := b.get("/operator").body; strings.Contains(body, "Ungelesene Registry-Meldungen") {
		t.Errorf("an empty inbox: %s", body)
	}
	s.storeMessage("one", inbox.Message{ID: "4711", Kind: inbox.KindChange, Name: "teeladen.org", Text: "Registry initiated update", Details: inbox.Details{
		Object: inbox.ObjectDomain, State: &inbox.State{Statuses: []string{"serverHold"}},
		Change: &inbox.Change{Operation: "update", Who: "URS Admin", CaseType: "urs", Case: "urs-123", Reason: "URS <lock>"},
	}, Raw: "<epp><b/></epp>"})
	home := b.get("/operator").body
	found := messageLink.FindStringSubmatch(home)
	if found == nil || !strings.Contains(home, "Ungelesene Registry-Meldungen") {
		t.Fatalf("home: %s", home)
	}
	page := b.get(found[1])
	for _, want := range []string{
		"Änderung durch die Registry", "teeladen.org", "Geändert", "URS Admin", "URS-Verfahren", "urs-123", "URS &lt;lock&gt;", "aus dem DNS genommen, von der Registry",
		"Diese Domain verwalten wir nicht.", "&lt;epp&gt;&lt;b/&gt;&lt;/epp&gt;",
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q: %s", want, page.body)
		}
	}
	if got := b.post(found[1]+"/read", url.Values{"note": {strings.Repeat("x", inbox.MaxNote+1)}}); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "zu lang") {
		t.Errorf("a long note: %d", got.status)
	}
	if got := b.post(found[1]+"/read", url.Values{"note": {"Kunde informiert"}}); got.location() != "/operator/registry-messages" {
		t.Errorf("marked: %d %s", got.status, got.location())
	}
	if got := b.post(found[1]+"/read", nil); got.status != http.StatusConflict || !strings.Contains(got.body, "schon gelesen") {
		t.Errorf("marked twice: %d", got.status)
	}
	if list := b.get("/operator/registry-messages").body; !strings.Contains(list, "Kunde informiert") || !strings.Contains(list, "ops@example.org") || !strings.Contains(list, "Keine Meldung ist ungelesen.") {
		t.Errorf("list: %s", list)
	}
	if body := b.get("/operator").body; strings.Contains(body, "Ungelesene Registry-Meldungen") {
		t.Errorf("home after reading: %s", body)
	}
	if got := b.get("/operator/registry-messages/msg_none"); got.status != http.StatusNotFound {
		t.Errorf("an unknown message: %d", got.status)
	}
}

func TestOperatorMessages_EveryKindHasPageInBothLanguages(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	for i, m := range []inbox.Message{
		{Kind: inbox.KindTransfer, Name: "a.org", Details: inbox.Details{Object: inbox.ObjectDomain, Transfer: &inbox.Transfer{Status: "pending", RequestedBy: "Rival"}}},
		{Kind: inbox.KindTransfer, Details: inbox.Details{Object: inbox.ObjectContact, ObjectID: "DK1"}},
		{Kind: inbox.KindPendingAction, Name: "a.org", Details: inbox.Details{Object: inbox.ObjectDomain, Pending: &inbox.Pending{ClTRID: "c", SvTRID: "s"}}},
		{Kind: inbox.KindRedemption, Name: "a.org", Details: inbox.Details{Object: inbox.ObjectDomain, Grace: []string{"redemptionPeriod"}}},
		{Kind: inbox.KindUpdate, Name: "a.org", Details: inbox.Details{Object: inbox.ObjectDomain, State: &inbox.State{Expires: s.clock.now()}}},
		{Kind: inbox.KindChange, Details: inbox.Details{Change: &inbox.Change{Operation: "strange", Before: true}, State: &inbox.State{Statuses: []string{"ok"}}}},
		{Kind: inbox.KindBalance, Details: inbox.Details{Balance: &inbox.Balance{Available: "80.50", Threshold: "10", ThresholdType: "PERCENT"}}},
		{Kind: inbox.KindMaintenance, Details: inbox.Details{Maintenance: []inbox.Maintenance{{
			ID: "m1", Start: s.clock.now(), Notice: "create", Reason: "planned", Environment: "production", TLDs: []string{"org"}, Systems: []inbox.System{{Name: "EPP", Impact: "full"}},
		}}}},
		{Kind: inbox.KindText, Text: "Hello"},
		{Kind: inbox.KindUnparsed, Raw: "<x/>"},
	} {
		m.ID = strconv.Itoa(i)
		s.storeMessage("two", m)
	}
	links := messageLink.FindAllStringSubmatch(b.get("/operator/registry-messages").body, -1)
	if len(links) != 10 {
		t.Fatalf("%d messages are listed", len(links))
	}
	if of, about := b.get(links[0][1]).body, b.get(links[9][1]).body; !strings.Contains(of, "<h1>Registry-Meldung msg_") || !strings.Contains(about, "<title>Registry-Meldung a.org · ") {
		t.Errorf("titles of a message without and with a domain: %s\n%s", of, about)
	}
	for _, link := range links {
		for _, language := range []string{"de", "en"} {
			if got := b.get(link[1] + "?lang=" + language); got.status != http.StatusOK || strings.Contains(got.body, "message.") && strings.Contains(got.body, "message_kind.") {
				t.Errorf("%s in %s: %d", link[1], language, got.status)
			}
		}
	}
}

func TestOperatorMessages_FilteredPagedAndMarkedByKind(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	for i := range 51 {
		s.storeMessage("one", inbox.Message{ID: strconv.Itoa(i), Kind: inbox.KindText, Text: "Text " + strconv.Itoa(i)})
	}
	s.storeMessage("two", inbox.Message{ID: "x", Kind: inbox.KindUnparsed, Text: "Rohdaten"})
	first := b.get("/operator/registry-messages?kind=text&account=one").body
	_, more, paged := strings.Cut(first, `href="/operator/registry-messages?account=one&amp;kind=text&amp;unread_before=`)
	if !paged || len(messageLink.FindAllString(first, -1)) != 50 || strings.Contains(first, "Rohdaten") {
		t.Fatalf("first page: %s", first)
	}
	last, _, _ := strings.Cut(more, `"`)
	if second := b.get("/operator/registry-messages?account=one&kind=text&unread_before=" + last).body; len(messageLink.FindAllString(second, -1)) != 1 || !strings.Contains(second, "Text 0<") {
		t.Errorf("second page: %s", second)
	}
	newest := regexp.MustCompile(`name="newest" value="([^"]+)"`).FindStringSubmatch(first)
	if newest == nil {
		t.Fatal("the list has no button for all of a kind")
	}
	if got := b.post("/operator/registry-messages", url.Values{"kind": {"text"}, "newest": newest[1:]}); got.location() != "/operator/registry-messages" {
		t.Errorf("marked all: %d", got.status)
	}
	if list := b.get("/operator/registry-messages").body; !strings.Contains(list, "Rohdaten") || strings.Contains(list, "Text 5<") {
		t.Errorf("after marking: %s", list)
	}
	if got := b.post("/operator/registry-messages", url.Values{"kind": {"x"}, "newest": newest[1:]}); got.status != http.StatusNotFound {
		t.Errorf("an unknown kind: %d", got.status)
	}
}

func TestOperatorHome_LowBalanceIsWarning(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	for i, available := range []string{"90.00", "40.00"} {
		s.storeMessage("one", inbox.Message{ID: strconv.Itoa(i), Kind: inbox.KindBalance, Details: inbox.Details{Balance: &inbox.Balance{Available: available, Currency: "EUR", Threshold: "100.00"}}})
	}
	home := b.get("/operator").body
	if !strings.Contains(home, "Guthaben niedrig: Registry-Konto one") || !strings.Contains(home, "40,00 EUR") || !strings.Contains(home, "100,00 EUR") || strings.Contains(home, "90,00 EUR") {
		t.Fatalf("home: %s", home)
	}
}
