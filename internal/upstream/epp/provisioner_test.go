package epp

import (
	"strconv"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestPostalForms_WritesASCIIAndLocalForms(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		latin string
		forms int
	}{
		"Marlene Petersen": {"Marlene Petersen", 1},
		"Jörg Groß":        {"Joerg Gross", 2},
		"Ångström, Łucja":  {"Aangstroem, Lucja", 2},
		"Dvořák Ñandú":     {"Dvorak Nandu", 2},
		"Иван Петров":      {"", 1},
	} {
		forms := postalForms(registrar.Registrant{Name: name, Street: "Hauptstr. 1", City: "Berlin", Country: "DE", Email: "a@example.org"}, PostalBoth)
		if len(forms) != want.forms {
			t.Errorf("%s: %+v", name, forms)
			continue
		}
		first, last := forms[0], forms[len(forms)-1]
		if want.latin != "" && (first.kind != "int" || first.Name != want.latin || !first.isASCII()) {
			t.Errorf("%s is written as %+v", name, first)
		}
		if last.Name != name && want.forms == 2 || want.latin == "" && last.kind != "loc" {
			t.Errorf("%s has the local form %+v", name, last)
		}
	}
}

func TestProvisioner_RegistrationFollowsTLDPolicy(t *testing.T) {
	t.Parallel()
	provisioner := NewProvisioner(nil, nil)
	for tld, want := range map[string]provision.Rules{
		".com": {HostObjects: true, CodeLength: 16, TransferYears: 1, TransferDays: 5, MaxYears: 10, TransferLock: true},
		".de":  {Contacts: true, MaxYears: 1},
		".org": {Contacts: true, HostObjects: true, CodeLength: 16, TransferYears: 1, TransferDays: 5, MaxYears: 10, TransferLock: true},
		".nl":  {Contacts: true, HostObjects: true, MaxYears: 1, NoRenew: true},
	} {
		if got := provisioner.Rules(tld); got != want {
			t.Errorf("%s: %+v, want %+v", tld, got, want)
		}
		q := provisioner.createCommand(provision.Request{
			Name: "neu" + tld, TLD: tld, Years: 1, Handle: "DK1", Nameservers: []string{"ns1.example.net", "ns2.example.net"},
			Code: "0123456789abcdef"[:want.CodeLength],
		})
		policy := PolicyOf(tld)
		if err := policy.Check(&q); err != nil {
			t.Errorf("%s: our own command violates the policy: %v", tld, err)
		}
	}
}

func TestProvisioner_NewDomainsAreLockedWhereRegistryAcceptsStatus(t *testing.T) {
	t.Parallel()
	provisioner := NewProvisioner(nil, nil)
	for tld, want := range map[string]bool{
		".com": true, ".org": true, ".io": true, ".se": true, ".unlisted": true,
		".de": false, ".uk": false, ".co.uk": false, ".eu": false, ".at": false, ".ch": false, ".li": false, ".nl": false, ".dk": false, ".pl": false,
	} {
		if got := provisioner.Rules(tld).TransferLock; got != want || provisioner.Capabilities(tld).Lock != want {
			t.Errorf("%s: locked %t, want %t", tld, got, want)
		}
	}
}

func TestProvisioner_MapsResultCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]struct {
		code registrar.Code
		kind registrar.Kind
	}{
		2104:       {provision.Billing, registrar.KindUpstream}, // the item waits, and the operator is alerted
		CodeFailed: {registrar.FaultBroken, registrar.KindUpstream},
		2306:       {ResultPolicy, registrar.KindInvalid},
		2304:       {ResultStatusProhibits, registrar.KindConflict},
	} {
		f := &fakeServer{handle: func(request *Node) reply { return reply{xml: responseXML(code, tridOf(request), "", "")} }}
		provisioner := NewProvisioner(f.client(t, nil), nil)
		_, err := provisioner.Request(t.Context(), provision.Request{
			Kind: provision.Register, Name: "neu.com", TLD: ".com", Years: 1, Code: "0123456789abcdef", Transaction: "prv_1-d",
		})
		if registrar.CodeOf(err) != want.code || registrar.KindOf(err) != want.kind {
			t.Errorf("%d became %v", code, err)
		}
	}
}

func TestProvisioner_StoresBoundedNumberOfPolicies(t *testing.T) {
	t.Parallel()
	made := 0
	p := NewProvisioner(nil, func(tld string) Policy {
		made++
		return PolicyOf(tld)
	})
	for range 2 {
		if p.Rules(".de").MaxYears != PolicyOf(".de").MaxYears || p.Rules(".test").MaxYears != PolicyOf(".test").MaxYears {
			t.Error("the policy is another one")
		}
	}
	if made != 2 {
		t.Errorf("%d policies were made for two TLDs", made)
	}
	for i := range maxPolicies + 10 {
		p.Rules("." + strconv.Itoa(i))
	}
	if len(p.policies) != maxPolicies {
		t.Errorf("%d policies are stored", len(p.policies))
	}
}
