package holder

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

const customer = "cus_1"

// memory holds the holders and domains of one account. Other methods of Store panic.
type memory struct {
	Store
	holders map[string]Holder
	domains []Domain // by name
	written []Holder
}

func (m *memory) GetHolder(_ context.Context, of, id string) (Holder, bool, error) {
	found, ok := m.holders[id]
	return found, ok && of == customer, nil
}

func (m *memory) GetOwnHolder(context.Context, string) (Holder, bool, error) {
	own, ok := m.holders[Own]
	return own, ok, nil
}

func (m *memory) ListDomainsOfHolder(_ context.Context, _, _, after string, limit int) (page []Domain, err error) {
	for _, d := range m.domains {
		if d.Name > after && len(page) < limit {
			page = append(page, d)
		}
	}
	return page, nil
}

func (m *memory) AddHolder(_ context.Context, _ string, added Holder, _ int, _ registrar.AuditEvent) (bool, error) {
	m.written = append(m.written, added)
	return true, nil
}

func (m *memory) UpdateHolder(_ context.Context, _ string, changed Holder, _ registrar.AuditEvent) (bool, error) {
	m.written = append(m.written, changed)
	_, found := m.holders[changed.ID]
	return found, nil
}

var (
	now    = time.Date(2026, 11, 18, 9, 0, 0, 0, time.UTC)
	person = registrar.Actor{Kind: registrar.ActorPerson, Customer: customer, SignedInAt: now.Add(-time.Minute)}
)

func newService(t *testing.T, stored *memory) *Service {
	t.Helper()
	clock := func() time.Time { return now }
	s, err := New(stored, clock, clock)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func registrantNamed(name string) registrar.Registrant {
	return registrar.Registrant{Name: name, Street: "Am Sandtorkai 1", PostalCode: "20457", City: "Hamburg", Country: "DE", Phone: "+49.40123456", Email: "anna@example.org"}
}

func formNamed(name string) account.Registrant {
	return account.Registrant{Kind: account.Person, Name: name, Street: "Am Sandtorkai 1", PostalCode: "20457", City: "Hamburg", Country: "DE", Phone: "+4940123456"}
}

func TestDomains_PagesHaveEachOutdatedDomainOnce(t *testing.T) {
	t.Parallel()
	anna := Holder{ID: "hld_1", Registrant: registrantNamed("Anna Alt")}
	stored := &memory{holders: map[string]Holder{anna.ID: anna}}
	for i := range 2*batch + 100 { // every third is up to date
		d := Domain{ID: fmt.Sprintf("dom_%d", i), Name: fmt.Sprintf("n%05d.de", i), Registrant: registrantNamed("Anna Neu")}
		if i%3 == 0 {
			d.Registrant = anna.Registrant
		}
		stored.domains = append(stored.domains, d)
	}
	s, seen, pages := newService(t, stored), map[string]bool{}, 0
	for after := ""; ; pages++ {
		page, err := s.Domains(t.Context(), person, anna.ID, after)
		if err != nil || len(page.Outdated) > MaxDomains || len(page.Current)+page.Further != 700 {
			t.Fatalf("page %d: %d outdated, %d and %d current, %v", pages, len(page.Outdated), len(page.Current), page.Further, err)
		}
		for _, d := range page.Outdated {
			if seen[d.ID] || d.Registrant == anna.Registrant {
				t.Errorf("%s is there twice, or up to date", d.Name)
			}
			seen[d.ID] = true
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if len(seen) != 1400 || pages != 6 {
		t.Errorf("%d outdated domains on %d pages after the first, want 1400 on 6", len(seen), pages)
	}
	// The domain at which a page ended has left.
	first, err := s.Domains(t.Context(), person, anna.ID, "")
	again, errAgain := s.Domains(t.Context(), person, anna.ID, "dom_gone")
	if err != nil || errAgain != nil || len(again.Outdated) != MaxDomains || again.Outdated[0] != first.Outdated[0] {
		t.Errorf("an unknown cursor does not start over: %v, %v", err, errAgain)
	}
}

func TestContacts_MustBeOtherHoldersOfTheAccount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		contacts Contacts
		want     registrar.Code
	}{
		"none":             {Contacts{}, ""},
		"another holder":   {Contacts{Tech: "hld_2"}, ""},
		"the account":      {Contacts{Billing: Own}, ""},
		"an unknown one":   {Contacts{Tech: "hld_9"}, ContactUnknown},
		"itself":           {Contacts{Billing: "hld_1"}, ContactUnknown},
		"one of two wrong": {Contacts{Tech: "hld_2", Billing: "hld_9"}, ContactUnknown},
	} {
		stored := &memory{holders: map[string]Holder{
			Own: {ID: Own, Registrant: registrantNamed("Otto")}, "hld_1": {ID: "hld_1", Registrant: registrantNamed("Anna")}, "hld_2": {ID: "hld_2", Registrant: registrantNamed("Berta")},
		}}
		err := newService(t, stored).Update(t.Context(), person, "hld_1", formNamed("Anna"), "anna@example.org", test.contacts)
		if registrar.CodeOf(err) != test.want || (len(stored.written) == 1) != (test.want == "") {
			t.Errorf("%s: %v, %d written", name, err, len(stored.written))
		}
	}
}

func TestGet_CopiesDataOfContacts(t *testing.T) {
	t.Parallel()
	anna := Holder{ID: "hld_1", Registrant: registrantNamed("Anna"), Contacts: Contacts{Tech: "hld_2", Billing: "hld_deleted"}}
	s := newService(t, &memory{holders: map[string]Holder{anna.ID: anna, "hld_2": {ID: "hld_2", Registrant: registrantNamed("Berta")}}})
	got, err := s.Get(t.Context(), person, anna.ID)
	if err != nil || got.Tech.Name != "Berta" || got.Billing != (registrar.Contact{}) {
		t.Errorf("tech %+v, billing %+v, %v", got.Tech, got.Billing, err)
	}
	if _, err := s.Get(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_2"}, anna.ID); registrar.CodeOf(err) != NoSuchHolder {
		t.Errorf("another account gets %v", err)
	}
	if _, err := s.Get(t.Context(), person, Own); registrar.CodeOf(err) != OwnMissing {
		t.Errorf("an account without data gets %v", err)
	}
}

func TestUpdate_RequiresRecentSignInOfAPerson(t *testing.T) {
	t.Parallel()
	late := person
	late.SignedInAt = now.Add(-24 * time.Hour)
	for name, actor := range map[string]registrar.Actor{"long ago": late, "an agent": {Kind: registrar.ActorToken, Customer: customer}} {
		stored := &memory{holders: map[string]Holder{"hld_1": {ID: "hld_1"}}}
		if err := newService(t, stored).Update(t.Context(), actor, "hld_1", formNamed("Anna"), "anna@example.org", Contacts{}); err == nil || len(stored.written) > 0 {
			t.Errorf("%s: %v, %d written", name, err, len(stored.written))
		}
	}
}

func TestAdd_IgnoresVATIDAndReportsInvalidFields(t *testing.T) {
	t.Parallel()
	stored := &memory{}
	s, form := newService(t, stored), formNamed("Anna")
	form.VATID = "DE1" // invalid, if it were read
	id, err := s.Add(t.Context(), person, form, "anna@example.org", Contacts{})
	if err != nil || !strings.HasPrefix(id, "hld_") || len(stored.written) != 1 || stored.written[0].ID != id {
		t.Fatalf("%s, %v, %+v", id, err, stored.written)
	}
	form.Name = ""
	if _, err := s.Add(t.Context(), person, form, "not an address", Contacts{}); err == nil || len(stored.written) != 1 {
		t.Errorf("invalid data: %v, %d written", err, len(stored.written))
	}
}
