package portal

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

var countedState = regexp.MustCompile(`<option value="([a-z_]*)"[^>]*>[^<]* \((\d+)\)</option>`)

func TestDomainList_EveryCountIsTheNumberOfRows(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	for _, status := range registrar.DomainStatuses() {
		s.addDomain(erika.ID, "eins-"+strings.ReplaceAll(string(status), "_", "-"), status)
	}
	now := s.clock.now()
	for label, days := range map[string]int{"wiederherstellbar": -5, "vorbei": -500} {
		s.addTermEnd(s.addDomainOf(erika.ID, label, ".io", registrar.DomainRedemption), erika.ID, 520, map[string]any{
			"state": "redemption", "deleted_at": now.AddDate(0, 0, days).UnixMicro(),
		})
	}
	s.addDomainOf(erika.ID, "sofort-weg", ".be", registrar.DomainRedemption)
	for range 2 { // left, came back, and left again
		s.addDomain(erika.ID, "hin-und-her", registrar.DomainTransferredOut)
	}
	for label, status := range map[string]string{"gesperrt": "clientHold", "offen": "ok", "zu": "clientTransferProhibited"} {
		id := s.addDomain(erika.ID, label, registrar.DomainActive)
		s.exec("UPDATE domains SET registry_status = $1 WHERE id = $2", status, id)
	}
	id := s.addDomain(erika.ID, "unbestaetigt", registrar.DomainActive)
	s.exec("UPDATE domains SET contact_check = 'chk_1', contact_hold = 'chk_1', registry_status = 'clientHold' WHERE id = $1", id)
	for label, status := range map[string]registrar.DomainStatus{"zieht-um": registrar.DomainActive, "umgezogen": registrar.DomainTransferredOut, "zu-spaet": registrar.DomainExpired} {
		id := s.addDomain(erika.ID, label, status)
		s.exec(`INSERT INTO outgoing_transfers (id, customer_id, domain_id, name, tld, account, gaining, requested_at, acts_at, state, registry_status, due_at, created_at, updated_at)
			VALUES ($1, $2, $1, 'x', '.de', '', '', 0, 0, 'pending', '', 1, 1, 1)`, id, erika.ID)
	}
	b := s.signedInBrowser("erika@example.org")
	for _, sort := range []string{"", "term", "status", "added"} {
		options := countedState.FindAllStringSubmatch(b.get("/portal/domains?sort="+sort).body, -1)
		if len(options) < 12 {
			t.Fatalf("the filter counts only %v", options)
		}
		for _, option := range options {
			if rows := listed(b.get("/portal/domains?sort=" + sort + "&state=" + option[1])); fmt.Sprint(len(rows)) != option[2] {
				t.Errorf("sorted by %q, state %q: %s are counted, %d listed: %v", sort, option[1], option[2], len(rows), rows)
			}
		}
	}
}
