package epp

import (
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

func TestPolicies_EachCanBeMet(t *testing.T) {
	t.Parallel()
	for tld := range policies {
		p := PolicyOf(tld)
		q := CreateDomain{Name: "example-name" + tld, Years: p.MinYears, HostAttributes: p.HostAttributes}
		for _, role := range p.Roles {
			if role == Registrant {
				q.Registrant = "REG-1"
			} else {
				q.Contacts = append(q.Contacts, Contact{role, "CON-1"})
			}
		}
		for range p.MinNameservers {
			q.Nameservers = append(q.Nameservers, domainchange.Nameserver{Name: "ns.test"})
		}
		if !p.AuthInfo.OnDemand && p.AuthInfo.Max > 0 {
			q.AuthInfo = strings.Repeat("x", p.AuthInfo.Min)
		}
		if err := p.Check(&q); err != nil {
			t.Errorf("%s: %v", tld, err)
		}
		if p.MinYears < 1 || p.MaxYears < p.MinYears || p.MinNameservers > p.MaxNameservers || p.AuthInfo.Min > p.AuthInfo.Max {
			t.Errorf("%s is inconsistent: %+v", tld, p)
		}
		if slices.Contains(p.Roles, Registrant) != p.NeedsContacts() {
			t.Errorf("%s has contacts without a registrant", tld)
		}
	}
}

func TestPolicyOf_KnownRegistries(t *testing.T) {
	t.Parallel()
	for tld, want := range map[string]func(p Policy) bool{
		".com": func(p Policy) bool {
			return !p.NeedsContacts() && p.Transfer == PendingTransfer
		},
		".net": func(p Policy) bool { return !p.NeedsContacts() },
		".dev": func(p Policy) bool { return !p.NeedsContacts() },
		".de": func(p Policy) bool {
			return p.Transfer == ImmediateTransfer && p.TransferYears == 0
		},
		".co.uk": func(p Policy) bool { return p.Transfer == PushTransfer },
		".ai":    func(p Policy) bool { return p.MinYears == 2 },
		".unknown": func(p Policy) bool {
			return len(p.Roles) == 4 && !p.HostAttributes && p.MinYears == 1 && p.MaxYears == 10
		},
	} {
		if p := PolicyOf(tld); !want(p) {
			t.Errorf("%s: %+v", tld, p)
		}
	}
}

func TestPolicyCheck_ReportsViolationsBeforeSending(t *testing.T) {
	t.Parallel()
	good := CreateDomain{Name: "hidden.de", Years: 1, HostAttributes: true, Nameservers: []domainchange.Nameserver{{Name: "a"}, {Name: "b"}}, Registrant: "REG-1"}
	p := PolicyOf(".de")
	if err := p.Check(&good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(q *CreateDomain){
		"two years":       func(q *CreateDomain) { q.Years = 2 },
		"one nameserver":  func(q *CreateDomain) { q.Nameservers = q.Nameservers[:1] },
		"host objects":    func(q *CreateDomain) { q.HostAttributes = false },
		"no registrant":   func(q *CreateDomain) { q.Registrant = "" },
		"billing contact": func(q *CreateDomain) { q.Contacts = []Contact{{Billing, "BIL-1"}} },
		"an auth code":    func(q *CreateDomain) { q.AuthInfo = "too-early" },
		"label too long":  func(q *CreateDomain) { q.Name = strings.Repeat("x", 64) + ".de" },
	} {
		q := good
		change(&q)
		err := p.Check(&q)
		if registrar.CodeOf(err) != PolicyViolation || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", name, err)
		}
	}
	nl, it := PolicyOf(".nl"), PolicyOf(".it")
	if nl.Label.violation("xn--mller-kva") == "" || it.Label.violation("xn--mller-kva") != "" || it.Label.violation("ab") == "" {
		t.Error("wrong label verdict")
	}
}

func TestRequirementOf_CatalogValues(t *testing.T) {
	t.Parallel()
	europe, none, odd := registrar.RequirementOf("eu_presence"), registrar.RequirementOf(""), registrar.RequirementOf("something_new")
	if !europe.Admits("DE") || !europe.Admits("NO") || europe.Admits("US") || europe.Gateway {
		t.Errorf("eu_presence: %+v", europe)
	}
	if !none.Admits("US") || none.Gateway || !odd.Gateway {
		t.Errorf("none %+v, unknown %+v", none, odd)
	}
}

// gatewayExtension is a ProtocolExtension like those of wholesale gateways.
type gatewayExtension struct{ seen []string }

func (*gatewayExtension) URIs() []string { return []string{"urn:example:unknown-9.9"} }

func (*gatewayExtension) WriteExtension(command Command, w *Writer) {
	if q, ok := command.Request.(CreateDomain); ok {
		w.Start("x:create", Attr{"xmlns:x", "urn:example:unknown-9.9"})
		w.Leaf("x:trustee", "yes, for "+q.Name)
		w.End("x:create")
	}
}

func (g *gatewayExtension) ReadExtension(command Command, extension *Node) error {
	if text := extension.Child("urn:example:unknown-9.9", "result").text(); text != "" {
		g.seen = append(g.seen, command.Verb+" "+text)
	}
	return nil
}

func TestProtocolExtension_WritesElementsAndReadsResponses(t *testing.T) {
	t.Parallel()
	hook := &gatewayExtension{}
	f := &fakeServer{handle: func(r *Node) reply {
		return reply{xml: responseXML(1000, tridOf(r), "", `<y:result xmlns:y="urn:example:unknown-9.9">handle-9</y:result>`)}
	}}
	c := f.client(t, func(a *Account) { a.ProtocolExtension = hook })
	if _, err := c.CreateDomain(t.Context(), CreateDomain{Name: "a.test"}); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if login := f.frames[0]; !strings.Contains(login, "<extURI>urn:example:unknown-9.9</extURI>") {
		t.Error("the login did not request the extension")
	}
	root, err := parseDocument([]byte(f.frames[1]))
	if err != nil || outline(root.Child("", "command").Child("", "extension")) != "extension(create(trustee))" {
		t.Errorf("sent %s", f.frames[1])
	}
	if len(hook.seen) != 1 || hook.seen[0] != "create handle-9" {
		t.Errorf("read %v", hook.seen)
	}
}
