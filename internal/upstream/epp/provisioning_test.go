package epp

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestAHolderIsWrittenInASCIIAndInTheirOwnLetters(t *testing.T) {
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
		person := personOf(provision.Holder{Name: name, Street: "Hauptstr. 1", City: "Berlin", Country: "DE", Email: "a@example.org"})
		if len(person.Postal) != want.forms || !person.Hide {
			t.Errorf("%s: %+v", name, person)
			continue
		}
		first, last := person.Postal[0], person.Postal[len(person.Postal)-1]
		if want.latin != "" && (first.Local || first.Name != want.latin || !first.isASCII()) {
			t.Errorf("%s is written as %+v", name, first)
		}
		if last.Name != name && want.forms == 2 || want.latin == "" && !last.Local {
			t.Errorf("%s has the local form %+v", name, last)
		}
	}
}

func TestThePolicyOfAnExtensionDecidesWhatARegistrationCarries(t *testing.T) {
	t.Parallel()
	desk := NewDesk(nil, nil)
	for tld, want := range map[string]provision.Rules{
		".com": {HostObjects: true, CodeLength: 16},
		".de":  {Contacts: true},
		".org": {Contacts: true, HostObjects: true, CodeLength: 16},
		".nl":  {Contacts: true, HostObjects: true},
	} {
		if got := desk.Rules(tld); got != want {
			t.Errorf("%s: %+v, want %+v", tld, got, want)
		}
		q := desk.creation(provision.Request{
			Name: "neu" + tld, TLD: tld, Years: 1, Handle: "DK1", Nameservers: []string{"ns1.example.net", "ns2.example.net"},
			Code: "0123456789abcdef"[:want.CodeLength],
		})
		policy := PolicyOf(tld, nil)
		if err := policy.Check(&q); err != nil {
			t.Errorf("%s: our own command breaks the policy: %v", tld, err)
		}
	}
}

func TestWhatARegistryAnswersIsKeptApart(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]struct {
		code registrar.Code
		kind registrar.Kind
	}{
		CodeBilling:         {provision.Billing, registrar.KindUpstream}, // waits, and raises the alarm
		CodeFailed:          {registrar.FaultBroken, registrar.KindUpstream},
		CodePolicy:          {ResultPolicy, registrar.KindInvalid},
		CodeStatusProhibits: {ResultStatusProhibits, registrar.KindConflict},
	} {
		f := &fake{handle: func(request *Node) reply { return reply{xml: respond(code, tridOf(request), "", "")} }}
		desk := NewDesk(f.client(t, nil), nil)
		_, err := desk.Request(t.Context(), provision.Request{
			Kind: provision.Register, Name: "neu.com", TLD: ".com", Years: 1, Code: "0123456789abcdef", Transaction: "lin_1-d",
		})
		if registrar.CodeOf(err) != want.code || registrar.KindOf(err) != want.kind {
			t.Errorf("%d became %v", code, err)
		}
	}
}

func TestWhatCantBeHadIsNoOffer(t *testing.T) {
	t.Parallel()
	f := &fake{handle: priced}
	desk := NewDesk(f.client(t, nil), nil)
	wish := func(name string) provision.Wish {
		return provision.Wish{
			Kind: provision.Register, Name: name, TLD: ".test", Years: 1, Nameservers: []string{"ns1.example.net"},
			Holder: provision.Holder{Name: "Ada", Street: "Hauptstr. 1", PostalCode: "10115", City: "Berlin", Country: "DE", Email: "a@example.org"},
		}
	}
	if err := desk.Offer(t.Context(), wish("free.test")); err != nil {
		t.Errorf("a free name: %v", err)
	}
	if err := desk.Offer(t.Context(), wish("taken.test")); registrar.CodeOf(err) != provision.NameTaken {
		t.Errorf("a taken name: %v", err)
	}
	if err := desk.Offer(t.Context(), wish("gold.test")); registrar.CodeOf(err) != provision.NamePremium {
		t.Errorf("a premium name: %v", err)
	}
	silent := &fake{handle: chk} // has fees, and tells none
	if err := NewDesk(silent.client(t, nil), nil).Offer(t.Context(), wish("free.test")); registrar.CodeOf(err) != provision.NamePremium {
		t.Errorf("a name whose price nobody knows: %v", err)
	}
	feeless := &fake{handle: chk, greeting: greetingXML("<extURI>urn:x</extURI>")}
	if err := NewDesk(feeless.client(t, nil), nil).Offer(t.Context(), wish("free.test")); err != nil {
		t.Errorf("a registry without fees: %v", err)
	}
	homeless := wish("free.test")
	homeless.Holder.City = ""
	if err := desk.Offer(t.Context(), homeless); registrar.CodeOf(err) != provision.NoRegistrant {
		t.Errorf("a holder without a city: %v", err)
	}
	long := wish("free.test")
	long.Years = 11
	if err := desk.Offer(t.Context(), long); registrar.CodeOf(err) != provision.BadTerm {
		t.Errorf("eleven years: %v", err)
	}
	strict := wish("free.test")
	strict.Requires = "eu_presence"
	strict.Holder.Country = "US"
	if err := desk.Offer(t.Context(), strict); registrar.CodeOf(err) != provision.NotEligible {
		t.Errorf("a holder from elsewhere: %v", err)
	}
}
