package orders

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openrdap/rdap"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// agencyClient is a holder of an agency and the domain that it gets.
type agencyClient struct {
	name, email, country, domain string
	tech, billing                string // the holders that are its contacts
}

// addHolder adds a holder to the demo customer.
func (h browser) addHolder(client agencyClient) {
	h.t.Helper()
	postalCode := map[string]string{"DE": "10115", "AT": "1010", "FR": "75001"}[client.country]
	kind, organisation := "person", ""
	if client.domain == "" {
		kind, organisation = "company", client.name+" GmbH"
	}
	got := h.post(h.base+"/portal/holders", "kind", kind, "name", client.name, "organisation", organisation, "street", "Marktplatz 1",
		"postal_code", postalCode, "city", "Stadt", "state", "", "country", client.country, "phone", "+43 1 5123456", "email", client.email,
		"tech", client.tech, "billing", client.billing)
	if got.status != http.StatusSeeOther {
		h.t.Fatalf("holder %s: status %d:\n%s", client.name, got.status, got.text)
	}
}

// holderIDs returns the ids of the demo customer's holders by their names.
func (s *env) holderIDs() map[string]string {
	s.t.Helper()
	var list struct{ Holders []struct{ ID, Name string } }
	if s.callTool("list_holders", map[string]any{}, &list) {
		s.t.Fatal("list_holders failed")
	}
	ids := make(map[string]string)
	for _, holder := range list.Holders {
		ids[holder.Name] = holder.ID
	}
	return ids
}

// confirmAddress uses the link from a mail to a holder, without signing in.
func (s *env) confirmAddress(email string) {
	s.t.Helper()
	const path = "/portal/contact-check?link="
	mail := testkit.WaitForMail(s.t, s.Inbox, email, func(mail testkit.Mail) bool {
		return slices.ContainsFunc(mail.Links, func(link string) bool { return strings.Contains(link, path) })
	})
	for _, link := range mail.Links {
		if _, secret, found := strings.Cut(link, path); found {
			stranger := s.newBrowser()
			if page := stranger.get(link); page.status != http.StatusOK || strings.Contains(page.text, s.Demo.Email) {
				s.t.Fatalf("the page of the link: status %d:\n%s", page.status, page.text)
			}
			if got := stranger.post(s.base+"/portal/contact-check", "link", secret); got.status != http.StatusOK {
				s.t.Fatalf("the confirmation: status %d:\n%s", got.status, got.text)
			}
			return
		}
	}
}

// readPublicRecord returns what the OpenRDAP client reads, without white space.
func (s *env) readPublicRecord(domain string) (record string, found bool) {
	var out, errOut bytes.Buffer
	code := rdap.RunCLI([]string{"--server", s.base + "/rdap", "--timeout", "20", "--json", domain}, &out, &errOut, rdap.CLIOptions{Sandbox: true})
	return strings.Join(strings.Fields(out.String()), ""), code == 0
}

// waitForPublicRecord waits for the record of a domain, on hold or not. Lookups are limited, so it
// reads seldom.
func (s *env) waitForPublicRecord(domain string, held bool) (record string) {
	s.t.Helper()
	for end := time.Now().Add(waitTimeout); time.Now().Before(end); time.Sleep(time.Second) {
		var found bool
		if record, found = s.readPublicRecord(domain); found && strings.Contains(record, `"clienthold"`) == held {
			return record
		}
	}
	s.t.Fatalf("%s on hold %t: the public record is\n%s", domain, held, record)
	return ""
}

func (s *env) advanceDays(days int) {
	s.t.Helper()
	if err := s.world.Advance(s.t.Context(), time.Duration(days)*24*time.Hour); err != nil {
		s.t.Fatal(err)
	}
}

// An agency with thirty clients buys domains for three of them in one order, for two years: at a
// registry without contacts, at EURid and at a thick gTLD. One client does not confirm the address in
// time.
func TestAgency_BuysForThreeOfThirtyHoldersAndOneIsSuspended(t *testing.T) {
	t.Parallel()
	s := newSingleProcessEnv(t)
	agency := s.signedInBrowser()
	const (
		technician = "kunde1@agentur.example"
		years      = 2
	)
	for i := range 27 {
		agency.addHolder(agencyClient{name: fmt.Sprintf("Kunde Nummer %d", i+1), email: fmt.Sprintf("kunde%d@agentur.example", i+1), country: "DE"})
	}
	tech := s.holderIDs()["Kunde Nummer 1"]
	buyers := []agencyClient{
		{"Anna Bergmann", "anna@bergmann.example", "DE", "agentur-bergmann.com", tech, "own"},
		{"Benoit Caron", "benoit@caron.example", "FR", "agentur-caron.eu", tech, "own"},
		{"Clara Dorn", "clara@dorn.example", "AT", "agentur-dorn.org", tech, "own"},
	}
	late := buyers[2]
	for _, buyer := range buyers {
		agency.addHolder(buyer)
	}
	ids := s.holderIDs()
	if len(ids) != 31 { // and the agency
		t.Fatalf("%d holders", len(ids))
	}
	var items []map[string]any
	for _, buyer := range buyers {
		items = append(items, map[string]any{"domain": buyer.domain, "type": "register", "years": years, "holderId": ids[buyer.name]})
	}
	made, failed := s.callOrderTool("start_order", map[string]any{"items": items})
	if failed || made.PaymentURL == "" || len(made.Requirements) != 0 {
		t.Fatalf("start_order: %+v", made)
	}
	bought := time.Now()
	agency.pay(made.PaymentURL)
	for _, item := range s.waitForStatus(made.OrderID, "completed").Items {
		if item.Status != "active" || item.Years != years {
			t.Errorf("%s is %s for %d years: %+v", item.Domain, item.Status, item.Years, item.Failure)
		}
	}

	// Each registry has the contacts that it takes.
	held, err := s.world.Holdings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	emails := make(map[string]string)
	for _, contact := range held.Contacts {
		emails[contact.ID] = contact.Email
	}
	contacts := make(map[string]map[string]string)
	for _, domain := range held.Domains {
		contacts[domain.Name] = map[string]string{"registrant": emails[domain.Registrant]}
		for _, role := range domain.Contacts {
			contacts[domain.Name][role.Type] = emails[role.ID]
		}
	}
	for i, want := range []map[string]string{
		{"registrant": ""},
		{"registrant": buyers[1].email, "tech": technician},
		{"registrant": buyers[2].email, "admin": buyers[2].email, "tech": technician, "billing": s.Demo.Email},
	} {
		if got := contacts[buyers[i].domain]; !maps.Equal(got, want) {
			t.Errorf("%s has %v, want %v", buyers[i].domain, got, want)
		}
	}

	for _, buyer := range buyers[:2] {
		s.confirmAddress(buyer.email)
	}
	testkit.WaitForMail(t, s.Inbox, late.email, func(testkit.Mail) bool { return true })
	s.advanceDays(14)
	for _, buyer := range buyers {
		record := s.waitForPublicRecord(buyer.domain, false)
		expires := bought.AddDate(years, 0, 0).UTC().Format("2006-01")
		if !strings.Contains(record, `"cc":"`+buyer.country+`"`) || !strings.Contains(record, `"eventDate":"`+expires) {
			t.Errorf("%s: country %s, until %s, and the public record is\n%s", buyer.domain, buyer.country, expires, record)
		}
		for _, private := range []string{buyer.name, buyer.email, "Marktplatz", "Stadt"} {
			if strings.Contains(record, strings.ReplaceAll(private, " ", "")) {
				t.Errorf("%s publishes %s", buyer.domain, private)
			}
		}
	}
	s.advanceDays(2)
	for _, buyer := range buyers {
		s.waitForPublicRecord(buyer.domain, buyer == late)
	}
	s.confirmAddress(late.email)
	s.waitForPublicRecord(late.domain, false)
}
