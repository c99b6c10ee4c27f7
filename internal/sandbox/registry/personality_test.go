package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/eppschema"
)

// rejection is a row of docs/sandbox-registries.md: a frame and its result code.
type rejection struct {
	says, code, command, ext string
}

// newContact is a contact with everything that any personality requires. Edits are pairs of
// old and new text.
func newContact(id, form string, edits ...string) string {
	body := `<:id>` + id + `</:id><:postalInfo type="` + form + `"><:name>Ada Kaffee</:name><:addr><:street>Weg 1</:street>` +
		`<:city>Bonn</:city><:pc>53111</:pc><:cc>DE</:cc></:addr></:postalInfo><:voice>+49.30123</:voice><:email>a@b.example</:email>` +
		`<:authInfo><:pw>secret-1</:pw></:authInfo>`
	return objectCommand("contact", "create", strings.NewReplacer(edits...).Replace(body))
}

const (
	withOrg     = `<:name>Ada Kaffee</:name><:org>Kaffee GmbH</:org>`
	withoutOrg  = `<:name>Ada Kaffee</:name>`
	voiceXML    = `<:voice>+49.30123</:voice>`
	streetXML   = `<:street>Weg 1</:street>`
	postcodeXML = `<:pc>53111</:pc>`
	authXML     = `<:authInfo><:pw>secret-1</:pw></:authInfo>`
	germany     = `<:cc>DE</:cc>`
	elsewhere   = `<:cc>US</:cc>`
	twoHosts    = `<:ns><:hostAttr><:hostName>ns1.anderswo.example</:hostName></:hostAttr><:hostAttr><:hostName>ns2.anderswo.example</:hostName></:hostAttr></:ns>`
	oneHost     = `<:ns><:hostAttr><:hostName>ns1.anderswo.example</:hostName></:hostAttr></:ns>`
	hostObject  = `<:ns><:hostObj>ns1.anderswo.example</:hostObj></:ns>`
)

func hidden(fields string) string {
	return authXML + `<:disclose flag="0">` + fields + `</:disclose>`
}

// eurType is EURid's contact-ext:create.
func eurType(kind, lang, person string, more ...string) string {
	body := `<contact-ext:type>` + kind + `</contact-ext:type>`
	if lang != "" {
		body += `<contact-ext:lang>` + lang + `</contact-ext:lang>`
	}
	if person != "" {
		body += `<contact-ext:naturalPerson>` + person + `</contact-ext:naturalPerson>`
	}
	return `<contact-ext:create xmlns:contact-ext="http://www.eurid.eu/xml/epp/contact-ext-1.3">` + body + strings.Join(more, "") + `</contact-ext:create>`
}

// nicATType is nic.at's at-ext-contact:create.
func nicATType(kind string) string {
	return `<at-ext-contact:create xmlns:at-ext-contact="http://www.nic.at/xsd/at-ext-contact-1.0"><at-ext-contact:type>` + kind +
		`</at-ext-contact:type></at-ext-contact:create>`
}

// newDomain is a create without authInfo for registries that make it.
func newDomain(name, auth string, more ...string) string {
	return objectCommand("domain", "create", `<:name>`+name+`</:name>`+strings.Join(more, "")+`<:authInfo><:pw>`+auth+`</:pw></:authInfo>`)
}

func roles(registrant string, pairs ...string) string {
	text := ""
	if registrant != "" {
		text = `<:registrant>` + registrant + `</:registrant>`
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		text += `<:contact type="` + pairs[i] + `">` + pairs[i+1] + `</:contact>`
	}
	return text
}

const typedServices = `<extURI>http://www.eurid.eu/xml/epp/contact-ext-1.3</extURI><extURI>http://www.nic.at/xsd/at-ext-contact-1.0</extURI></svcExtension>`

// checkPersonality sends what a registry accepts, then the rejections of its section, each of
// which must be a row of the manual, and vice versa.
func checkPersonality(t *testing.T, section string, accepted, rejected []rejection) {
	t.Helper()
	zones := append([]Zone{{TLD: ".org"}}, someZones...)
	r := startEPPWorld(t, Options{Zones: zones})
	session := func(account string) *eppClient {
		s := dialEPP(t, r)
		known, _ := r.Account(account)
		s.mustReturn("1000", loginCommand(account, known.Password, strings.Replace(allServices, "</svcExtension>", typedServices, 1)))
		return s
	}
	ours, theirs := session("dotkontor"), session("andere")
	for _, step := range accepted {
		ours.mustReturn(step.code, step.command, step.ext)
	}
	if len(rejected) < 10 {
		t.Errorf("only %d rejections", len(rejected))
	}
	var rows, frames []string
	for _, row := range rejected {
		client := ours
		if strings.Contains(row.says, "another registrar") {
			client = theirs
		}
		frames = append(frames, client.wrap(row.command, row.ext))
		client.mustReturn(row.code, row.command, row.ext)
		rows = append(rows, "| "+row.says+" | "+row.code+" |")
	}
	if schemas := eppschema.Folder(); schemas != "" { // valid, so that the registry's rules refuse them
		if err := eppschema.Validate(schemas, frames); err != nil {
			t.Error(err)
		}
	}
	manual, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "sandbox-registries.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(manual), "\n## "+section+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	if _, table, ok := strings.Cut(text, "|---|---|\n"); !found || !ok || strings.TrimSpace(table) != strings.Join(rows, "\n") {
		t.Errorf("docs/sandbox-registries.md, %s: the table must be\n%s", section, strings.Join(rows, "\n"))
	}
}

func TestPersonality_MinimumData(t *testing.T) {
	t.Parallel()
	checkPersonality(t, "Minimum data set: .com, .net, .dev", []rejection{
		{"", "1000", newContact("kaffee-1", "int"), ""},
		{"", "1000", objectCommand("host", "create", `<:name>ns1.anderswo.example</:name>`), ""},
		{"", "1000", newDomain("unser-name.com", "secret-1", hostObject), ""},
		{"", "1000", objectCommand("host", "create", `<:name>ns1.unser-name.com</:name><:addr ip="v4">192.0.2.7</:addr>`), ""},
		{"", "1000", newDomain("zweiter-name.com", "secret-1", `<:ns><:hostObj>ns1.unser-name.com</:hostObj></:ns>`), ""},
	}, []rejection{
		{"a domain with a registrant", "2306", newDomain("frei.com", "secret-1", roles("kaffee-1")), ""},
		{"a domain with an admin contact", "2306", newDomain("frei.com", "secret-1", roles("", "admin", "kaffee-1")), ""},
		{"a registrant added later", "2306", objectCommand("domain", "update", `<:name>unser-name.com</:name><:chg><:registrant>kaffee-1</:registrant></:chg>`), ""},
		{"a nameserver as an attribute", "2306", newDomain("frei.com", "secret-1", oneHost), ""},
		{"a nameserver that does not exist as an object", "2303", newDomain("frei.com", "secret-1", `<:ns><:hostObj>ns7.anderswo.example</:hostObj></:ns>`), ""},
		{"a host below the domain of another registrar", "2201", objectCommand("host", "create", `<:name>ns2.unser-name.com</:name><:addr>192.0.2.1</:addr>`), ""},
		{"a domain without an auth code", "2003", newDomain("frei.com", ""), ""},
		{"an auth code of five characters", "2004", newDomain("frei.com", "12345"), ""},
		{"a term of eleven years", "2004", newDomain("frei.com", "secret-1", `<:period unit="y">11</:period>`), ""},
		{"a reserved name", "2306", newDomain("reserved.com", "secret-1"), ""},
		{"a taken name", "2302", newDomain("google.com", "secret-1"), ""},
		{"a registration without funds", "2104", newDomain("unpaid-name.com", "secret-1"), ""},
		{"the deletion of a domain with hosts that others use", "2305", domainCommand("delete", "unser-name.com"), ""},
		{"the transfer of a locked domain", "2304", domainTransfer("request", "google.com", "auth-google"), ""},
	})
}

func TestPersonality_EURid(t *testing.T) {
	t.Parallel()
	person := eurType("registrant", "de", "true")
	company := eurType("registrant", "de", "false")
	tech := []string{"tech", TechContact}
	checkPersonality(t, "EURid: .eu", []rejection{
		{"", "1000", newContact("kaffee-1", "loc"), person},
		{"", "1000", newContact("kaffee-2", "loc", withoutOrg, withOrg), company},
		{"", "1000", newContact("kaffee-3", "loc", germany, elsewhere), eurType("registrant", "en", "true", `<contact-ext:countryOfCitizenship>BE</contact-ext:countryOfCitizenship>`)},
		{"", "1000", newContact("kaffee-4", "loc"), ""},
		{"", "1000", newContact("kaffee-5", "loc", "a@b.example", "info@post.eigene-post.eu"), person},
		{"", "1000", newDomain("unser-name.eu", "", twoHosts, roles("kaffee-1", tech...)), ""},
		{"", "1000", newDomain("weiterer-name.eu", "", roles("kaffee-3", tech...)), ""},
		{"", "1000", objectCommand("contact", "info", `<:id>kaffee-3</:id>`), ""},
	}, []rejection{
		{"a contact without a telephone number", "2003", newContact("neu-1", "loc", voiceXML, ""), person},
		{"a contact without a language", "2003", newContact("neu-1", "loc"), eurType("registrant", "", "true")},
		{"a contact that does not say whether it is a person", "2003", newContact("neu-1", "loc"), eurType("registrant", "de", "")},
		{"a language from outside the Union", "2005", newContact("neu-1", "loc"), eurType("registrant", "ja", "true")},
		{"a contact of the type admin", "2005", newContact("neu-1", "loc"), eurType("admin", "de", "true")},
		{"an address in international form", "2306", newContact("neu-1", "int"), person},
		{"a name of 51 characters", "2004", newContact("neu-1", "loc", "Ada Kaffee", strings.Repeat("x", 51)), person},
		{"an organisation of 101 characters", "2004", newContact("neu-1", "loc", withoutOrg, `<:name>Ada</:name><:org>`+strings.Repeat("x", 101)+`</:org>`), company},
		{"an organisation without its name", "2003", newContact("neu-1", "loc"), company},
		{"a person with an organisation", "2306", newContact("neu-1", "loc", withoutOrg, withOrg), person},
		{"an organisation in the wrong country", "2306", newContact("neu-1", "loc", withoutOrg, withOrg, germany, elsewhere), company},
		{"a person in the wrong country who is not a citizen", "2306", newContact("neu-1", "loc", germany, elsewhere), person},
		{"a choice of disclosure", "2306", newContact("neu-1", "loc", authXML, hidden(`<:email/>`)), person},
		{"a move of the registrant to the wrong country", "2306", objectCommand("contact", "update", `<:id>kaffee-1</:id><:chg><:postalInfo type="loc"><:addr>`+streetXML+`<:city>Bonn</:city>`+elsewhere+`</:addr></:postalInfo></:chg>`), ""},
		{"a registrant created without a type", "2306", newDomain("frei.eu", "", roles("kaffee-4", tech...)), ""},
		{"a tech contact that is the registrant", "2306", newDomain("frei.eu", "", roles("kaffee-1", "tech", "kaffee-1")), ""},
		{"a registrant that is a tech contact", "2306", newDomain("frei.eu", "", roles(TechContact, tech...)), ""},
		{"a domain without a tech contact", "2003", newDomain("frei.eu", "", roles("kaffee-1")), ""},
		{"a domain with an admin contact", "2306", newDomain("frei.eu", "", roles("kaffee-1", "tech", TechContact, "admin", TechContact)), ""},
		{"a contact that does not exist", "2303", newDomain("frei.eu", "", roles("nobody", tech...)), ""},
		{"a registrant whose email address is below the domain", "2306", newDomain("eigene-post.eu", "", roles("kaffee-5", tech...)), ""},
		{"an auth code chosen by the registrar", "2306", newDomain("frei.eu", "secret-1", roles("kaffee-1", tech...)), ""},
		{"a nameserver as an object", "2306", newDomain("frei.eu", "", hostObject, roles("kaffee-1", tech...)), ""},
		{"a label of one character", "2306", newDomain("x.eu", "", roles("kaffee-1", tech...)), ""},
		{"a reserved name", "2308", newDomain("reserved.eu", "", roles("kaffee-1", tech...)), ""},
		{"a client status", "2306", objectCommand("domain", "update", `<:name>unser-name.eu</:name><:add><:status s="clientTransferProhibited"/></:add>`), ""},
		{"the deletion of a contact in use", "2305", objectCommand("contact", "delete", `<:id>kaffee-1</:id>`), ""},
		{"a contact of another registrar", "2201", objectCommand("contact", "info", `<:id>kaffee-1</:id>`), ""},
		{"a registration without funds", "2104", newDomain("unpaid-name.eu", "", roles("kaffee-1", tech...)), ""},
	})
}

func TestPersonality_NicAT(t *testing.T) {
	t.Parallel()
	person, company := nicATType("privateperson"), nicATType("organisation")
	checkPersonality(t, "nic.at: .at, .co.at, .or.at", []rejection{
		{"", "1000", newContact("kaffee-1", "int"), person},
		{"", "1000", newContact("kaffee-2", "int", withoutOrg, withOrg, authXML, hidden(`<:voice/><:email/>`)), company},
		{"", "1000", newContact("kaffee-3", "int"), nicATType("role")},
		{"", "1000", newContact("kaffee-4", "int"), ""},
		{"", "1000", newDomain("unser-name.at", "", twoHosts, roles("kaffee-1", "tech", "kaffee-3")), ""},
		{"", "1000", newDomain("firmen-name.at", "secret-1", twoHosts, roles("kaffee-2", "tech", "kaffee-2")), ""},
		{"", "1000", objectCommand("contact", "info", `<:id>kaffee-2</:id>`), ""},
	}, []rejection{
		{"a contact of an unknown type", "2005", newContact("neu-1", "int"), nicATType("registrant")},
		{"an address in local form", "2306", newContact("neu-1", "loc"), person},
		{"an international form that is not in ASCII", "2005", newContact("neu-1", "int", "Ada Kaffee", "Ада Кофе"), person},
		{"an organisation without its name", "2003", newContact("neu-1", "int"), company},
		{"a person with an organisation", "2306", newContact("neu-1", "int", withoutOrg, withOrg), person},
		{"a disclosure chosen by a person", "2306", newContact("neu-1", "int", authXML, hidden(`<:email/>`)), person},
		{"an organisation that hides its address", "2306", newContact("neu-1", "int", withoutOrg, withOrg, authXML, hidden(`<:addr type="int"/>`)), company},
		{"a registrant created without a type", "2306", newDomain("frei.at", "", twoHosts, roles("kaffee-4", "tech", "kaffee-3")), ""},
		{"a registrant that is a role", "2306", newDomain("frei.at", "", twoHosts, roles("kaffee-3", "tech", "kaffee-3")), ""},
		{"a contact that does not exist", "2303", newDomain("frei.at", "", twoHosts, roles("nobody", "tech", "kaffee-3")), ""},
		{"a domain without a tech contact", "2003", newDomain("frei.at", "", twoHosts, roles("kaffee-1")), ""},
		{"a domain with an admin contact", "2306", newDomain("frei.at", "", twoHosts, roles("kaffee-1", "admin", "kaffee-1", "tech", "kaffee-3")), ""},
		{"three tech contacts", "2306", newDomain("frei.at", "", twoHosts, roles("kaffee-1", "tech", "kaffee-1", "tech", "kaffee-2", "tech", "kaffee-3")), ""},
		{"a single nameserver", "2004", newDomain("frei.at", "", oneHost, roles("kaffee-1", "tech", "kaffee-3")), ""},
		{"a nameserver as an object", "2306", newDomain("frei.at", "", strings.Replace(hostObject, `</:ns>`, `<:hostObj>ns2.anderswo.example</:hostObj></:ns>`, 1), roles("kaffee-1", "tech", "kaffee-3")), ""},
		{"a nameserver below the domain without an address", "2003", newDomain("frei.at", "", strings.Replace(twoHosts, "ns2.anderswo.example", "ns2.frei.at", 1), roles("kaffee-1", "tech", "kaffee-3")), ""},
		{"a reserved name", "2308", newDomain("reserved.at", "", twoHosts, roles("kaffee-1", "tech", "kaffee-3")), ""},
		{"a renewal", "2101", objectCommand("domain", "renew", `<:name>unser-name.at</:name><:curExpDate>2026-01-01</:curExpDate>`), ""},
		{"the deletion of a contact in use", "2305", objectCommand("contact", "delete", `<:id>kaffee-3</:id>`), ""},
		{"the update of a domain by another registrar", "2201", objectCommand("domain", "update", `<:name>unser-name.at</:name><:chg><:authInfo><:pw>secret-2</:pw></:authInfo></:chg>`), ""},
		{"a registration without funds", "2104", newDomain("unpaid-name.at", "", twoHosts, roles("kaffee-1", "tech", "kaffee-3")), ""},
	})
}

func TestPersonality_Thick(t *testing.T) {
	t.Parallel()
	all := func(id string) string { return roles(id, "admin", id, "tech", id, "billing", id) }
	checkPersonality(t, "Thick gTLD: .org, .info", []rejection{
		{"", "1000", newContact("kaffee-1", "int"), ""},
		{"", "1000", newContact("kaffee-2", "int", voiceXML, ""), ""},
		{"", "1000", newContact("kaffee-3", "int", streetXML, ""), ""},
		{"", "1000", newContact("kaffee-4", "loc"), eurType("registrant", "de", "true")},
		{"", "1000", newDomain("unser-name.org", "secret-1", all("kaffee-1")), ""},
	}, []rejection{
		{"a domain without a registrant", "2003", newDomain("frei.org", "secret-1", roles("", "admin", "kaffee-1", "tech", "kaffee-1", "billing", "kaffee-1")), ""},
		{"a domain without an admin contact", "2003", newDomain("frei.org", "secret-1", roles("kaffee-1", "tech", "kaffee-1", "billing", "kaffee-1")), ""},
		{"a domain without a tech contact", "2003", newDomain("frei.org", "secret-1", roles("kaffee-1", "admin", "kaffee-1", "billing", "kaffee-1")), ""},
		{"a domain without a billing contact", "2003", newDomain("frei.org", "secret-1", roles("kaffee-1", "admin", "kaffee-1", "tech", "kaffee-1")), ""},
		{"the removal of the only tech contact", "2003", objectCommand("domain", "update", `<:name>unser-name.org</:name><:rem><:contact type="tech">kaffee-1</:contact></:rem>`), ""},
		{"a contact that does not exist", "2303", newDomain("frei.org", "secret-1", all("nobody")), ""},
		{"a contact without a telephone number", "2306", newDomain("frei.org", "secret-1", all("kaffee-2")), ""},
		{"a contact without a street", "2306", newDomain("frei.org", "secret-1", all("kaffee-3")), ""},
		{"a contact of another registry", "2306", newDomain("frei.org", "secret-1", all("kaffee-4")), ""},
		{"an international form that is not in ASCII", "2005", newContact("neu-1", "int", "Ada Kaffee", "Ада Кофе"), ""},
		{"an email address without a domain", "2005", newContact("neu-1", "int", "a@b.example", "kaffee"), ""},
		{"a country in small letters", "2005", newContact("neu-1", "int", germany, "<:cc>de</:cc>"), ""},
		{"a contact's auth code of five characters", "2004", newContact("neu-1", "int", "secret-1", "12345"), ""},
		{"a handle in use", "2302", newContact("kaffee-1", "int"), ""},
		{"the deletion of a contact in use", "2305", objectCommand("contact", "delete", `<:id>kaffee-1</:id>`), ""},
		{"a contact of another registrar", "2201", objectCommand("contact", "info", `<:id>kaffee-1</:id>`), ""},
		{"a nameserver as an attribute", "2306", newDomain("frei.org", "secret-1", oneHost, all("kaffee-1")), ""},
		{"a reserved name", "2306", newDomain("nic.org", "secret-1", all("kaffee-1")), ""},
		{"a registration without funds", "2104", newDomain("unpaid-name.org", "secret-1", all("kaffee-1")), ""},
	})
}

func TestPersonality_Gateway(t *testing.T) {
	t.Parallel()
	checkPersonality(t, "Gateway: .de", []rejection{
		{"", "1000", newContact("kaffee-1", "int", voiceXML, ""), ""},
		{"", "1000", newContact("kaffee-2", "int", postcodeXML, ""), ""},
		{"", "1000", newContact("kaffee-3", "int", streetXML, ""), ""},
		{"", "1000", newDomain("unser-name.de", "secret-1", twoHosts, roles("kaffee-1")), ""},
		{"", "1000", newDomain("ohne-code.de", "", roles("kaffee-1")), ""},
	}, []rejection{
		{"a domain without a registrant", "2003", newDomain("frei.de", "secret-1", twoHosts), ""},
		{"a contact that does not exist", "2303", newDomain("frei.de", "secret-1", twoHosts, roles("nobody")), ""},
		{"a registrant without a postal code", "2306", newDomain("frei.de", "secret-1", twoHosts, roles("kaffee-2")), ""},
		{"a registrant without a street", "2306", newDomain("frei.de", "secret-1", twoHosts, roles("kaffee-3")), ""},
		{"a change to a registrant without a postal code", "2306", objectCommand("domain", "update", `<:name>unser-name.de</:name><:chg><:registrant>kaffee-2</:registrant></:chg>`), ""},
		{"a single nameserver", "2004", newDomain("frei.de", "secret-1", oneHost, roles("kaffee-1")), ""},
		{"a nameserver below the domain without an address", "2003", newDomain("frei.de", "secret-1", strings.Replace(twoHosts, "ns2.anderswo.example", "ns2.frei.de", 1), roles("kaffee-1")), ""},
		{"a taken name", "2302", newDomain("google.de", "secret-1", twoHosts, roles("kaffee-1")), ""},
		{"a reserved name", "2306", newDomain("reserviert.de", "secret-1", twoHosts, roles("kaffee-1")), ""},
		{"a transfer with a wrong auth code by another registrar", "2202", domainTransfer("request", "unser-name.de", "falsch-1"), ""},
		{"a transfer without an auth code by another registrar", "2003", domainTransfer("request", "unser-name.de", ""), ""},
		{"the update of a domain by another registrar", "2201", objectCommand("domain", "update", `<:name>unser-name.de</:name><:chg><:authInfo><:pw>secret-2</:pw></:authInfo></:chg>`), ""},
		{"the deletion of a contact in use", "2305", objectCommand("contact", "delete", `<:id>kaffee-1</:id>`), ""},
		{"a registration without funds", "2104", newDomain("unpaid-name.de", "secret-1", twoHosts, roles("kaffee-1")), ""},
	})
}
