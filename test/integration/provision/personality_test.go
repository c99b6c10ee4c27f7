package provision

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/test/testkit/eppschema"
)

// frames are what both sides of the EPP connection sent.
type frames struct {
	mu  sync.Mutex
	all []string
}

func (f *frames) tap(frame []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, string(frame))
}

func (f *frames) count(text string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, frame := range f.all {
		n += strings.Count(frame, text)
	}
	return n
}

// startStrict starts a registry whose frames are recorded, and a service that follows the
// built-in policies of registries.
func startStrict(t *testing.T) (*env, *frames) {
	t.Helper()
	recorded := &frames{}
	s := startEnv(t, registry.Options{Tap: recorded.tap, TapReceived: recorded.tap}, func(tld string) epp.Policy {
		policy := epp.PolicyOf(tld)
		if policy.Contact.Type == epp.TypeEURid {
			policy.RegistrarContact = registry.TechContact
		}
		return policy
	}, "ns1.dotkontor.example", "ns2.dotkontor.example")
	return s, recorded
}

// personalities has an extension of each personality.
var personalities = map[string]ledger.Personality{
	".com": ledger.MinimumData, ".eu": ledger.EURid, ".at": ledger.NicAT, ".org": ledger.Thick, ".de": ledger.Gateway,
}

func (s *env) setRegistrant(t *testing.T, registrant account.Registrant) {
	t.Helper()
	registrant.UpdatedAt = time.Now()
	if err := s.db.UpdateCustomers(t.Context(), func(tx account.Tx) error { return tx.PutRegistrant(t.Context(), customerID, registrant) }); err != nil {
		t.Fatal(err)
	}
}

func person() account.Registrant {
	return account.Registrant{
		Kind: account.Person, Name: "Ada Größe", Street: "Hauptstr. 1", PostalCode: "10115", City: "Köln", Country: "DE", Phone: "+49.301234567",
	}
}

func company() account.Registrant {
	registrant := person()
	registrant.Kind, registrant.Organisation = account.Company, "Größe & Söhne GmbH"
	return registrant
}

func (s *env) createItem(t *testing.T, label, tld, requires string) (provision.Item, error) {
	t.Helper()
	return s.service.CreateItem(t.Context(), operator, provision.PaidItem{
		Customer: customerID, Name: registrar.NewName(label, tld), Extension: registrar.Extension{TLD: tld, Requires: requires},
		Kind: provision.Register, Payment: "manual:" + label + tld,
	})
}

func TestPersonality_RegistersPersonsAndCompaniesWithValidFrames(t *testing.T) {
	t.Parallel()
	s, recorded := startStrict(t)
	for tld, kind := range personalities {
		if got := ledger.PolicyOf(tld).Personality; got != kind {
			t.Fatalf("%s has the personality %s, not %s", tld, got, kind)
		}
	}
	for label, registrant := range map[string]account.Registrant{"person": person(), "firma": company()} {
		s.setRegistrant(t, registrant)
		for tld := range personalities {
			item, err := s.createItem(t, label, tld, "")
			if err != nil {
				t.Fatalf("%s%s: %v", label, tld, err)
			}
			if item = s.waitForState(t, item.ID, provision.StateActive, provision.StateFailed); item.State != provision.StateActive {
				t.Errorf("%s%s: %s, %s", label, tld, item.State, item.Failure)
			}
		}
	}
	held := s.world.Sponsored(registry.ProductAccount)
	if len(held.Domains) != 10 || len(held.Contacts) != 8 || len(held.Unused) != 0 {
		t.Errorf("the registry has %d domains, %d contacts, %v unused", len(held.Domains), len(held.Contacts), held.Unused)
	}
	for _, contact := range held.Contacts {
		at := slices.IndexFunc(held.Domains, func(d *ledger.Domain) bool { return d.Registrant == contact.ID })
		if at < 0 {
			t.Fatalf("no domain has the registrant %s", contact.ID)
		}
		checkSent(t, held.Domains[at], contact)
	}
	recorded.validate(t, 60)
}

// validate validates the frames of both sides with xmllint.
func (f *frames) validate(t *testing.T, atLeast int) {
	t.Helper()
	schemas := eppschema.Folder()
	if schemas == "" {
		t.Skip("EPP_XSD_DIR is not set: these frames are not validated against the EPP schemas")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.DeleteFunc(f.all, func(frame string) bool { return strings.Contains(frame, "<balance:info") }) // has no public schema
	if err := eppschema.Validate(schemas, all); err != nil {
		t.Error(err)
	}
	if len(all) < atLeast {
		t.Errorf("only %d frames", len(all))
	}
}

// checkSent checks what the registry of a domain got about its registrant.
func checkSent(t *testing.T, domain *ledger.Domain, contact *ledger.Contact) {
	t.Helper()
	label, rest, _ := strings.Cut(domain.Name, ".")
	isPerson := label == "person"
	forms := ""
	for _, postal := range contact.Postal {
		forms += postal.Type
	}
	typed := ledger.ContactType{}
	if contact.Typed != nil {
		typed = *contact.Typed
	}
	hidden := 0
	if contact.Disclosure != nil {
		hidden = len(contact.Disclosure.Fields)
	}
	ok := false
	switch personalities["."+rest] {
	case ledger.EURid:
		ok = forms == "loc" && typed == (ledger.ContactType{Registry: ledger.EURid, Type: "registrant", Lang: "de", Person: isPerson}) && hidden == 0 &&
			slices.Equal(domain.Contacts, []ledger.Role{{Type: "tech", ID: registry.TechContact}})
	case ledger.NicAT:
		want := map[bool]ledger.ContactType{true: {Registry: ledger.NicAT, Type: "privateperson"}, false: {Registry: ledger.NicAT, Type: "organisation"}}
		ok = forms == "int" && typed == want[isPerson] && len(domain.Contacts) == 1 && hidden == map[bool]int{true: 0, false: 3}[isPerson]
	case ledger.Thick:
		ok = forms == "intloc" && contact.Typed == nil && hidden == 9 && len(domain.Contacts) == 3
	case ledger.Lenient, ledger.MinimumData: // have no contact here
	case ledger.Gateway:
		ok = forms == "intloc" && contact.Typed == nil && hidden == 9 && len(domain.Contacts) == 0
	}
	if !ok {
		t.Errorf("%s: forms %s, type %+v, %d hidden fields, contacts %v", domain.Name, forms, typed, hidden, domain.Contacts)
	}
}

// A company takes over the domains of a person, which changes the type of contacts.
func TestPersonality_RegistrantCanChange(t *testing.T) {
	t.Parallel()
	s, recorded := startStrict(t)
	for _, tld := range []string{".eu", ".at", ".org", ".de"} {
		item, err := s.createItem(t, "person", tld, "")
		if err != nil {
			t.Fatal(err)
		}
		item = s.waitForState(t, item.ID, provision.StateActive)
		result, err := s.account.ApplyChange(t.Context(), domainchange.Task{
			Kind: domainchange.UpdateRegistrant, Name: item.Name, TLD: tld, Handle: "DKFIRMA" + strings.ToUpper(tld[1:]), OldHandle: item.Handle,
			Registrant: registrar.Registrant{
				Name: "Ada Größe", Organisation: "Größe GmbH", Street: "Hauptstr. 1", PostalCode: "10115", City: "Köln", Country: "DE",
				Phone: "+49.301234567", Email: "ada@example.org",
			},
			Transaction: "chg-" + tld[1:],
		})
		if err != nil || result.Pending {
			t.Errorf("%s: %+v, %v", item.Name, result, err)
		}
	}
	held := s.world.Sponsored(registry.ProductAccount)
	if len(held.Domains) != 4 || len(held.Contacts) != 4 || len(held.Unused) != 0 {
		t.Errorf("the registry has %d domains, %d contacts, %v unused", len(held.Domains), len(held.Contacts), held.Unused)
	}
	for _, contact := range held.Contacts {
		if !strings.HasPrefix(contact.ID, "DKFIRMA") || contact.Typed != nil && (contact.Typed.Person || contact.Typed.Type == "privateperson") {
			t.Errorf("contact %s of type %+v", contact.ID, contact.Typed)
		}
	}
	recorded.validate(t, 40)
}

func TestPersonality_RejectedRegistrantsCauseNoContact(t *testing.T) {
	t.Parallel()
	s, recorded := startStrict(t)
	for _, test := range []struct {
		tld, requires string
		change        func(*account.Registrant)
		want          string
	}{
		{".eu", "", func(r *account.Registrant) { r.Name = strings.Repeat("Ä", 51) }, "registrant_name_over_50"},
		{".eu", "", func(r *account.Registrant) { r.Organisation = strings.Repeat("x", 101) }, "registrant_organisation_over_100"},
		{".eu", "", func(r *account.Registrant) { r.Phone = "" }, "registrant_phone_missing"},
		{".eu", "eu_presence", func(r *account.Registrant) { r.Country = "US" }, "eu_presence"},
		{".at", "", func(r *account.Registrant) { r.Name = "Ада Кофе" }, "registrant_name_script"},
		{".at", "", func(r *account.Registrant) { r.City = "北京" }, "registrant_city_script"},
		{".org", "", func(r *account.Registrant) { r.Phone = "" }, "registrant_phone_missing"},
		{".de", "", func(r *account.Registrant) { r.PostalCode = "" }, "registrant_postal_code_missing"},
	} {
		registrant := person()
		test.change(&registrant)
		s.setRegistrant(t, registrant)
		_, err := s.createItem(t, "abgelehnt", test.tld, test.requires)
		refused, ok := errors.AsType[*registrar.Error](err)
		if registrar.CodeOf(err) != provision.NotEligible || !ok || refused.Detail != test.want {
			t.Errorf("%s, %s: %v", test.tld, test.want, err)
		}
	}
	s.setRegistrant(t, person()) // whose address is ada@example.org
	if _, err := s.createItem(t, "example", ".eu", ""); err != nil {
		t.Errorf("an address below another domain: %v", err)
	}
	if n := recorded.count("<contact:create"); n > 1 {
		t.Errorf("%d contacts were sent", n)
	}
}
