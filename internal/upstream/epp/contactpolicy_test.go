package epp

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestContactPolicies_ShippedTableIsValid(t *testing.T) {
	t.Parallel()
	all, err := contactPolicies()
	if err != nil {
		t.Fatal(err)
	}
	words := provision.RegistrantProblems()
	for tld, policy := range all {
		if tld != defaultRow && !strings.HasPrefix(tld, ".") {
			t.Errorf("%q is no TLD", tld)
		}
		rule := policy.rule
		var possible []string
		for _, field := range rule.Required {
			possible = append(possible, provision.RegistrantProblem(field, provision.ProblemMissing))
		}
		if rule.NameMax > 0 {
			possible = append(possible, provision.RegistrantProblem("name", provision.ProblemOver(rule.NameMax)))
		}
		if rule.OrganisationMax > 0 {
			possible = append(possible, provision.RegistrantProblem("organisation", provision.ProblemOver(rule.OrganisationMax)))
		}
		for _, word := range possible {
			if !slices.Contains(words, word) {
				t.Errorf("%s can cause %s, which has no text", tld, word)
			}
		}
	}
	for tld := range policies {
		if policy := PolicyOf(tld); policy.Contact.Source == "" {
			t.Errorf("%s has no source", tld)
		}
	}
}

func TestParseContactPolicies_RejectsInvalidRows(t *testing.T) {
	t.Parallel()
	head, rest, _ := strings.Cut(contactTable, "\n")
	first, _, _ := strings.Cut(rest, "\n")
	for name, row := range map[string]string{
		"no source":             ".x,registrant,,both,,,,,all,,",
		"unknown role":          ".x,registrant owner,,both,,,,,all,,s",
		"a role twice":          ".x,registrant tech tech,,both,,,,,all,,s",
		"no registrant":         ".x,tech,,both,,,,,all,,s",
		"rules without roles":   ".x,,,both,,,,,all,,s",
		"unknown type":          ".x,registrant,sidn,both,,,,,all,,s",
		"unknown form":          ".x,registrant,,any,,,,,all,,s",
		"unknown field":         ".x,registrant,,both,fax,,,,all,,s",
		"a length of zero":      ".x,registrant,,both,,0,,,all,,s",
		"unknown disclosure":    ".x,registrant,,both,,,,,some,,s",
		"unknown email rule":    ".x,registrant,,both,,,,inside,all,,s",
		"EURid in no language":  ".x,registrant,eurid,loc,,,,,none,,s",
		"a language of no type": ".x,registrant,,loc,,,,,none,de,s",
		"a TLD twice":           ".x .x,registrant,,both,,,,,all,,s",
	} {
		if _, err := parseContactPolicies(head + "\n" + first + "\n" + row + "\n"); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := parseContactPolicies(head + "\n.x,registrant,,both,,,,,all,,s\n"); err == nil {
		t.Error("a table without a default is accepted")
	}
	if _, err := parseContactPolicies(strings.Replace(head, "tlds", "tld", 1) + "\n" + first + "\n"); err == nil {
		t.Error("other columns are accepted")
	}
}

func TestMissing_NamesFieldThatRegistryRejects(t *testing.T) {
	t.Parallel()
	provisioner := NewProvisioner(nil, nil)
	for _, test := range []struct {
		tld    string
		change func(*registrar.Registrant)
		want   string
	}{
		{".eu", func(*registrar.Registrant) {}, ""},
		{".eu", func(r *registrar.Registrant) { r.Name = strings.Repeat("ß", 50) }, ""},
		{".eu", func(r *registrar.Registrant) { r.Name, r.Phone = strings.Repeat("ß", 51), "" }, "registrant_name_over_50 registrant_phone_missing"},
		{".eu", func(r *registrar.Registrant) { r.Organisation = strings.Repeat("x", 101) }, "registrant_organisation_over_100"},
		{".eu", func(r *registrar.Registrant) { r.Name = "Ελένη" }, ""},
		{".eu", func(r *registrar.Registrant) { r.Email = "info@Neu.eu" }, "registrant_email_below_domain"},
		{".eu", func(r *registrar.Registrant) { r.Email = "info@post.neu.eu" }, "registrant_email_below_domain"},
		{".eu", func(r *registrar.Registrant) { r.Email = "info@sehrneu.eu" }, ""},
		{".eu", func(r *registrar.Registrant) { r.City = "" }, "registrant"},
		{".at", func(r *registrar.Registrant) { r.Name, r.Phone = "Jürgen Groß", "" }, ""},
		{".at", func(r *registrar.Registrant) { r.Name, r.Organisation, r.City = "Ελένη", "Ελιά", "Αθήνα" }, "registrant_city_script registrant_name_script registrant_organisation_script"},
		{".org", func(r *registrar.Registrant) { r.Name = "Ελένη" }, ""},
		{".org", func(r *registrar.Registrant) { r.Phone = "" }, "registrant_phone_missing"},
		{".de", func(r *registrar.Registrant) { r.PostalCode, r.Country = "", "HK" }, "registrant_postal_code_missing"},
		{".com", func(r *registrar.Registrant) { *r = registrar.Registrant{Name: "Ada"} }, ""},
	} {
		query := queryFor(provision.Register, "neu"+test.tld)
		query.TLD = test.tld
		test.change(&query.Registrant)
		if got := strings.Join(provisioner.Missing(query), " "); got != test.want {
			t.Errorf("%s, %+v: %q, want %q", test.tld, query.Registrant, got, test.want)
		}
		query.Kind, query.Code = provision.Transfer, "x"
		if got := provisioner.Missing(query); test.want != "registrant" && len(got) > 0 {
			t.Errorf("%s: a transfer, which sends no contact, lacks %q", test.tld, got)
		}
	}
}

func TestCreateContact_TypedOnlyIfServerOffersIt(t *testing.T) {
	t.Parallel()
	company := sampleRegistrant
	company.Organisation = "Muster GmbH"
	person := sampleRegistrant
	person.Organisation = ""
	for _, test := range []struct {
		tld, uri   string
		registrant registrar.Registrant
		want       []string
		never      string
	}{
		{".eu", nsContactEURid, person, []string{`type="loc"`, "<contact-ext:type>registrant<", "<contact-ext:lang>de<", "<contact-ext:naturalPerson>true<"}, "disclose"},
		{".eu", nsContactEURid, company, []string{"<contact-ext:naturalPerson>false<"}, `type="int"`},
		{".eu", "urn:example:gateway", company, []string{`type="loc"`}, "contact-ext"},
		{".at", nsContactNicAT, person, []string{`type="int"`, ">privateperson<"}, "disclose"},
		{".at", nsContactNicAT, company, []string{">organisation<", `<contact:disclose flag="0"><contact:voice/><contact:fax/><contact:email/></contact:disclose>`}, `type="loc"`},
		{".org", nsContactEURid, company, []string{`<contact:org type="int"/>`, "<contact:voice/>"}, "extension"},
	} {
		f := &fakeServer{greeting: greetingXML("<extURI>" + test.uri + "</extURI>"), handle: func(r *Node) reply {
			return reply{xml: responseXML(1000, tridOf(r), `<c:creData xmlns:c="`+nsContact+`"><c:id>CON-1</c:id><c:crDate>2026-11-15T00:00:00Z</c:crDate></c:creData>`, "")}
		}}
		p := NewProvisioner(f.client(t, nil), nil)
		if _, err := p.EnsureContact(context.Background(), provision.Contact{Handle: "CON-1", TLD: test.tld, Registrant: test.registrant, Transaction: "prv_1-c"}); err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		sent := f.frames[len(f.frames)-1]
		f.mu.Unlock()
		for _, text := range test.want {
			if !strings.Contains(sent, text) {
				t.Errorf("%s: no %s in %s", test.tld, text, sent)
			}
		}
		if strings.Contains(sent, test.never) {
			t.Errorf("%s: %s in %s", test.tld, test.never, sent)
		}
	}
}

func TestCheckAvailability_EURidNeedsOwnTechContact(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		greeting, contact string
		want              registrar.Code
	}{
		"EURid without one": {"<extURI>" + nsContactEURid + "</extURI>", "", registrar.NoRegistryAccount},
		"EURid":             {"<extURI>" + nsContactEURid + "</extURI>", "OWN-TECH", ""},
		"a gateway":         {"<extURI>urn:x</extURI>", "", ""},
	} {
		p := NewProvisioner((&fakeServer{handle: respondCheck, greeting: greetingXML(test.greeting)}).client(t, nil), func(tld string) Policy {
			policy := PolicyOf(tld)
			policy.RegistrarContact = test.contact
			return policy
		})
		query := queryFor(provision.Register, "free.eu")
		query.TLD = ".eu"
		if _, err := p.CheckAvailability(t.Context(), query); registrar.CodeOf(err) != test.want {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
