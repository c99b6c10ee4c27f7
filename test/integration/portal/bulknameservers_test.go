package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/test/testkit"
)

const exampleDS = "2371 13 2 1F987CC6583E92DF0890718C42A50A6E4C2C6F6F3E0C0DBE9C30BFD40AE8BC1F"

func TestBulk_NameserversAreShownBeforeAndAfterFirst(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	signed, plain := s.addDomain(erika.ID, "signiert", registrar.DomainActive), s.addDomain(erika.ID, "schlicht", registrar.DomainActive)
	same, gone := s.addDomain(erika.ID, "gleich", registrar.DomainActive), s.addDomain(erika.ID, "weg", registrar.DomainTransferredOut)
	s.runChanges()
	b := s.signedInBrowser("erika@example.org")
	b.post("/portal/domains/"+signed+"/ds", url.Values{"ds": {exampleDS}})
	b.post("/portal/domains/"+plain+"/nameservers", url.Values{"nameservers": {"ns1.alt.example\nns2.alt.example"}})
	b.post("/portal/domains/"+same+"/nameservers", url.Values{"nameservers": {"ns1.neu.example\nns2.neu.example"}})
	entered := url.Values{"action": {"nameservers"}, "confirmed": {"yes"}, "id": {signed, plain, same, gone}, "nameservers": {"ns1.neu.example\r\nns2.neu.example"}}
	page := b.post("/portal/domain-actions", entered)
	for _, want := range []string{
		"<code>ns1.alt.example</code><br><code>ns2.alt.example</code>", "<code>ns1.neu.example</code><br><code>ns2.neu.example</code>",
		"Bei diesen Domains ist DNSSEC eingeschaltet: signiert.de.", "voraussichtlich am <time", "Hier ändert sich nichts: gleich.de", "weg.de: ", "Kennen diese eine Domain nicht, funktionieren ihre Website",
		"Nameserver ändern (Domains: 2)", `value="` + signed + `"`, `value="` + plain + `"`,
	} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page lacks %q: %d %s", want, page.status, page.body)
		}
	}
	if strings.Count(page.body, "voraussichtlich am") != 1 || strings.Contains(page.body, `value="`+gone+`"`) {
		t.Errorf("the page says too much: %s", page.body)
	}
	if now := s.registry.serversOf("schlicht.de"); now != "ns1.alt.example" {
		t.Errorf("changed before the confirmation: %s", now)
	}
	entered.Set("confirmed", "no")
	if got := b.post("/portal/domain-actions", entered); got.status != http.StatusOK || !strings.Contains(got.body, "<textarea") || !strings.Contains(got.body, "ns1.neu.example") {
		t.Errorf("other nameservers: %d %s", got.status, got.body)
	}
	entered.Set("confirmed", "yes")
	entered["id"], entered["asked"] = []string{signed, plain}, []string{"ns1.andere.example\nns2.andere.example"}
	if got := b.post("/portal/domain-actions", entered); got.status != http.StatusOK {
		t.Errorf("other nameservers than shown: %d", got.status)
	}
	entered.Set("asked", "ns1.neu.example\nns2.neu.example")
	got := b.post("/portal/domain-actions", entered)
	if got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	testkit.Eventually(t, "nameservers", func() bool { return s.registry.serversOf("schlicht.de") == "ns1.neu.example" })
	testkit.Eventually(t, "result", func() bool {
		page := b.get(got.location()).body
		return strings.Contains(page, "Erledigt: schlicht.de.") && strings.Contains(page, "In Arbeit oder geplant: signiert.de.") &&
			strings.Contains(page, "Der DS-Eintrag ist entfernt.") // until then it can't be canceled
	})
	b.post("/portal/domains/"+signed+"/cancel", nil)
	if page := b.get(got.location()).body; !strings.Contains(page, "Von Ihnen abgebrochen: signiert.de.") || !strings.Contains(page, `<span class="badge warn">von Ihnen abgebrochen</span>`) || strings.Contains(page, "Nicht möglich") {
		t.Errorf("canceled: %s", page)
	}
	s.clock.advance(time.Minute)
	if mail := s.waitForMail(registrar.MailNameserversCanceled); mail.Data["domain"] != "signiert.de" {
		t.Errorf("%v", mail.Data)
	}
}

func TestBulk_RefusedNameserverIsNamed(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	erika := s.newMember("erika@example.org")
	one := s.addDomain(erika.ID, "eins", registrar.DomainActive)
	s.runChanges()
	b := s.signedInBrowser("erika@example.org")
	s.registry.refuse(&domainchange.ServersRefused{Names: []string{"ns2.neu.example"}, Err: registrar.NotFound(registrar.EPPMissing)})
	servers := []string{"ns1.neu.example\nns2.neu.example"}
	got := b.post("/portal/domain-actions", url.Values{"action": {"nameservers"}, "confirmed": {"yes"}, "id": {one}, "nameservers": servers, "asked": servers})
	testkit.Eventually(t, "refusal", func() bool {
		return strings.Contains(b.get(got.location()).body, "Die Registry kennt einen der Nameserver nicht. Das betrifft: ns2.neu.example")
	})
	s.registry.refuse(registrar.NotFound(registrar.EPPMissing))
	got = b.post("/portal/domain-actions", url.Values{"action": {"nameservers"}, "confirmed": {"yes"}, "id": {one}, "nameservers": servers, "asked": servers})
	testkit.Eventually(t, "refusal without a name", func() bool {
		return strings.Contains(b.get(got.location()).body, "Die Registry kennt einen der Nameserver nicht. Gewünscht: ns1.neu.example, ns2.neu.example")
	})
}

// refuse makes the registry refuse changes.
func (d *fakeRegistry) refuse(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

// serversOf returns the first nameserver of a name.
func (d *fakeRegistry) serversOf(name string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if servers := d.records[name].Nameservers; len(servers) > 0 {
		return servers[0].Name
	}
	return ""
}
