package epp

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func wishFor(kind provision.Kind, name string) provision.Wish {
	return provision.Wish{
		Kind: kind, Name: name, TLD: ".test", Years: 1, Nameservers: []string{"ns1.example.net"}, Told: true,
		Holder: provision.Holder{Name: "Ada", Street: "Hauptstr. 1", PostalCode: "10115", City: "Berlin", Country: "DE", Email: "a@example.org"},
	}
}

// offer is what a quote makes of a wish.
func offer(t *testing.T, desk *Desk, wish provision.Wish) (missing []string, err error) {
	t.Helper()
	if err := desk.Offer(t.Context(), wish); err != nil {
		return nil, err
	}
	return desk.Missing(wish), nil
}

func TestWhatCantBeHadIsNoOffer(t *testing.T) {
	t.Parallel()
	f := &fake{handle: priced}
	desk := NewDesk(f.client(t, nil), nil)
	wish := func(name string) provision.Wish { return wishFor(provision.Register, name) }
	if missing, err := offer(t, desk, wish("free.test")); err != nil || len(missing) > 0 {
		t.Errorf("a free name: %v, %v", missing, err)
	}
	if _, err := offer(t, desk, wish("taken.test")); registrar.CodeOf(err) != provision.NameTaken {
		t.Errorf("a taken name: %v", err)
	}
	if _, err := offer(t, desk, wish("reserved.test")); registrar.CodeOf(err) != provision.NameReserved {
		t.Errorf("a reserved name: %v", err)
	}
	mute := &fake{handle: func(r *Node) reply { return reply{xml: respond(CodePolicy, tridOf(r), "", "")} }}
	for _, kind := range []provision.Kind{provision.Register, provision.Transfer} {
		_, err := offer(t, NewDesk(mute.client(t, nil), nil), wishFor(kind, "free.test"))
		if registrar.CodeOf(err) != provision.Undecided || registrar.KindOf(err) != registrar.KindConflict {
			t.Errorf("%s of a name without a decision: %v", kind, err)
		}
	}
	if _, err := offer(t, desk, wish("gold.test")); registrar.CodeOf(err) != provision.NamePremium {
		t.Errorf("a premium name: %v", err)
	}
	silent := &fake{handle: chk} // has fees, and tells none
	if _, err := offer(t, NewDesk(silent.client(t, nil), nil), wish("free.test")); registrar.CodeOf(err) != provision.NamePremium {
		t.Errorf("a name whose price nobody knows: %v", err)
	}
	feeless := &fake{handle: chk, greeting: greetingXML("<extURI>urn:x</extURI>")}
	if _, err := offer(t, NewDesk(feeless.client(t, nil), nil), wish("free.test")); err != nil {
		t.Errorf("a registry without fees: %v", err)
	}
	long := wish("free.test")
	long.Years = 11
	if _, err := offer(t, desk, long); registrar.CodeOf(err) != provision.BadTerm {
		t.Errorf("eleven years: %v", err)
	}
	alien := wish("free.test")
	alien.Requires = "it_tax_id" // EPP has no field for it, and this account no gateway
	if _, err := offer(t, desk, alien); registrar.CodeOf(err) != provision.NotEligible || registrar.KindOf(err) != registrar.KindUnsupported {
		t.Errorf("a rule that we can't meet: %v", err)
	}
}

func TestWhatTheHolderCanStillTellIsMissingAndNoRefusal(t *testing.T) {
	t.Parallel()
	desk := NewDesk((&fake{handle: priced}).client(t, nil), nil)
	for name, test := range map[string]struct {
		change func(*provision.Wish)
		want   string
	}{
		"no registrant":             {func(w *provision.Wish) { w.Told, w.Holder = false, provision.Holder{} }, "registrant"},
		"no city":                   {func(w *provision.Wish) { w.Holder.City = "" }, "registrant"},
		"lives elsewhere":           {func(w *provision.Wish) { w.Requires, w.Holder.Country = "eu_presence", "US" }, "eu_presence"},
		"nobody knows where":        {func(w *provision.Wish) { w.Requires, w.Told, w.Holder = "eu_presence", false, provision.Holder{} }, "registrant"},
		"lives where it should be":  {func(w *provision.Wish) { w.Requires = "eu_presence" }, ""},
		"no contacts, so no matter": {func(w *provision.Wish) { w.TLD, w.Name, w.Holder.City = ".com", "free.com", "" }, ""},
	} {
		wish := wishFor(provision.Register, "free.test")
		test.change(&wish)
		missing, err := offer(t, desk, wish)
		if err != nil || strings.Join(missing, " ") != test.want {
			t.Errorf("%s: %v, %v", name, missing, err)
		}
	}
	taken := wishFor(provision.Register, "taken.test")
	taken.Told = false
	if _, err := offer(t, desk, taken); registrar.CodeOf(err) != provision.NameTaken {
		t.Errorf("data are missing, but the name is taken anyway: %v", err)
	}
}

// elsewhere is a registry whose names are registered, with a fee for each command
// that is asked for and answers to info by label.
func elsewhere(fees bool) func(*Node) reply {
	return func(r *Node) reply {
		object := objectOf(r)
		name := object.Child(nsDomain, "name").Text
		label, _, _ := strings.Cut(name, ".")
		if object.Local == "info" {
			info := func(sponsor, statuses string) reply {
				return reply{xml: respond(1000, tridOf(r), `<d:infData xmlns:d="`+nsDomain+`"><d:name>`+name+`</d:name><d:roid>X-1</d:roid>`+
					statuses+`<d:clID>`+sponsor+`</d:clID><d:exDate>`+time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC3339)+`</d:exDate></d:infData>`, "")}
			}
			code := object.Child(nsDomain, "authInfo").value(nsDomain, "pw")
			switch {
			case label == "closed" && code == "":
				return reply{xml: respond(CodeAuthorization, tridOf(r), "", "")}
			case code != "" && code != "right":
				return reply{xml: respond(CodeAuthInfo, tridOf(r), "", "")}
			case label == "reserved":
				return reply{xml: respond(CodeMissing, tridOf(r), "", "")}
			case label == "locked":
				return info("other", `<d:status s="clientTransferProhibited"/><d:status s="serverRenewProhibited"/>`)
			case label == "moving":
				return info("other", `<d:status s="pendingTransfer"/>`)
			case strings.HasPrefix(label, "ours"):
				return info("ClientX", `<d:status s="`+map[bool]string{true: "clientRenewProhibited", false: "ok"}[label == "ours-locked"]+`"/>`)
			default:
				return info("other", `<d:status s="ok"/>`)
			}
		}
		class, avail := "standard", "0"
		if strings.Contains(label, "gold") {
			class = "premium"
		}
		if label == "free" {
			avail = "1"
		}
		extension := ""
		if asked := r.Child("", "command").Child("", "extension"); asked != nil {
			command := asked.Child(nsFee, "check").Child(nsFee, "command").Attr("name")
			if !fees {
				command = "restore" // tells something, and not what was asked
			}
			extension = `<f:chkData xmlns:f="` + nsFee + `"><f:currency>EUR</f:currency><f:cd><f:objID>` + name + `</f:objID><f:class>` + class +
				`</f:class><f:command name="` + command + `"><f:period unit="y">1</f:period><f:fee>8.00</f:fee></f:command></f:cd></f:chkData>`
		}
		return reply{xml: respond(1000, tridOf(r), `<d:chkData xmlns:d="`+nsDomain+`"><d:cd><d:name avail="`+avail+`">`+name+`</d:name></d:cd></d:chkData>`, extension)}
	}
}

func TestATransferIsOfferedOnlyIfItCanSucceed(t *testing.T) {
	t.Parallel()
	desk := NewDesk((&fake{handle: elsewhere(true)}).client(t, nil), nil)
	silent := NewDesk((&fake{handle: elsewhere(false)}).client(t, nil), nil)
	for name, test := range map[string]struct {
		desk        *Desk
		label, code string
		missing     []string
		want        registrar.Code
	}{
		"with its code":           {desk: desk, label: "open", code: "right"},
		"without a code":          {desk: desk, label: "open", missing: []string{"auth_code"}},
		"hidden without a code":   {desk: desk, label: "closed", missing: []string{"auth_code"}},
		"hidden, with its code":   {desk: desk, label: "closed", code: "right"},
		"with a wrong code":       {desk: desk, label: "open", code: "wrong", want: provision.WrongCode},
		"locked":                  {desk: desk, label: "locked", code: "right", want: provision.Locked},
		"locked, without a code":  {desk: desk, label: "locked", want: provision.Locked},
		"on its way":              {desk: desk, label: "moving", want: provision.Locked},
		"not registered":          {desk: desk, label: "free", want: provision.NotRegistered},
		"reserved":                {desk: desk, label: "reserved", want: provision.NotRegistered},
		"ours already":            {desk: desk, label: "ours", want: provision.NameHeld},
		"at a price of its own":   {desk: desk, label: "gold", code: "right", want: provision.NamePremium},
		"at a price nobody knows": {desk: silent, label: "open", code: "right", want: provision.NamePremium},
	} {
		wish := wishFor(provision.Transfer, test.label+".test")
		wish.Code = test.code
		missing, err := offer(t, test.desk, wish)
		if registrar.CodeOf(err) != test.want || err == nil && !slices.Equal(missing, test.missing) {
			t.Errorf("%s: %v, %v", name, missing, err)
		}
	}
	pushed := wishFor(provision.Transfer, "open.co.uk")
	pushed.TLD = ".co.uk"
	if _, err := offer(t, desk, pushed); registrar.KindOf(err) != registrar.KindUnsupported {
		t.Errorf("a name that can't be asked for: %v", err)
	}
}

func TestARenewalIsOfferedOnlyForWhatTheAccountHas(t *testing.T) {
	t.Parallel()
	desk := NewDesk((&fake{handle: elsewhere(true)}).client(t, nil), nil)
	for label, want := range map[string]registrar.Code{
		"ours": "", "open": provision.NotRenewable, "closed": provision.NotRenewable, "reserved": provision.NotRenewable,
		"ours-locked": provision.NotRenewable, "ours-gold": provision.NamePremium,
	} {
		wish := wishFor(provision.Renew, label+".test")
		wish.Told = false // the registry has the holder already
		if missing, err := offer(t, desk, wish); registrar.CodeOf(err) != want || len(missing) > 0 {
			t.Errorf("%s: %v, %v", label, missing, err)
		}
	}
	wish := wishFor(provision.Renew, "ours.test")
	wish.Years = 10
	if _, err := offer(t, desk, wish); registrar.CodeOf(err) != provision.BadTerm {
		t.Errorf("eleven years ahead: %v", err)
	}
}
