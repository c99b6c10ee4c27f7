package epp

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func queryFor(kind provision.Kind, name string) provision.AvailabilityQuery {
	return provision.AvailabilityQuery{
		Kind: kind, Name: name, TLD: ".test", Years: 1, Nameservers: []string{"ns1.example.net"}, HasRegistrant: true,
		Registrant: registrar.Registrant{Name: "Ada", Street: "Hauptstr. 1", PostalCode: "10115", City: "Berlin", Country: "DE", Phone: "+49.30123456", Email: "a@example.org"},
	}
}

// checkAvailability returns what a quote reports for a query.
func checkAvailability(t *testing.T, provisioner *Provisioner, query provision.AvailabilityQuery) (missing []string, err error) {
	t.Helper()
	if _, err := provisioner.CheckAvailability(t.Context(), query); err != nil {
		return nil, err
	}
	return provisioner.Missing(query), nil
}

func TestCheckAvailability_UnavailableNamesAreRefused(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: respondPriced}
	provisioner := NewProvisioner(f.client(t, nil), nil)
	query := func(name string) provision.AvailabilityQuery { return queryFor(provision.Register, name) }
	if missing, err := checkAvailability(t, provisioner, query("free.test")); err != nil || len(missing) > 0 {
		t.Errorf("a free name: %v, %v", missing, err)
	}
	if _, err := checkAvailability(t, provisioner, query("taken.test")); registrar.CodeOf(err) != provision.NameTaken {
		t.Errorf("a taken name: %v", err)
	}
	if _, err := checkAvailability(t, provisioner, query("reserved.test")); registrar.CodeOf(err) != registrar.NameReserved {
		t.Errorf("a reserved name: %v", err)
	}
	mute := &fakeServer{handle: func(r *Node) reply { return reply{xml: responseXML(2306, tridOf(r), "", "")} }}
	for _, kind := range []provision.Kind{provision.Register, provision.Transfer} {
		_, err := checkAvailability(t, NewProvisioner(mute.client(t, nil), nil), queryFor(kind, "free.test"))
		if registrar.CodeOf(err) != provision.Undecided || registrar.KindOf(err) != registrar.KindConflict {
			t.Errorf("%s of a name without a decision: %v", kind, err)
		}
	}
	silent := &fakeServer{handle: respondCheck} // announces fees but reports none
	if _, err := checkAvailability(t, NewProvisioner(silent.client(t, nil), nil), query("free.test")); registrar.CodeOf(err) != registrar.NamePremium {
		t.Errorf("a name of unknown price: %v", err)
	}
	feeless := &fakeServer{handle: respondCheck, greeting: greetingXML("<extURI>urn:x</extURI>")}
	if _, err := checkAvailability(t, NewProvisioner(feeless.client(t, nil), nil), query("free.test")); registrar.CodeOf(err) != registrar.NamePremium {
		t.Errorf("a registry without fees, whose names may be premium: %v", err)
	}
	uniform := query("free.com")
	uniform.TLD = ".com"
	if _, err := checkAvailability(t, NewProvisioner(feeless.client(t, nil), nil), uniform); err != nil {
		t.Errorf("a registry without fees and with one price for all names: %v", err)
	}
	long := query("free.test")
	long.Years = 11
	if _, err := checkAvailability(t, provisioner, long); registrar.CodeOf(err) != provision.BadTerm {
		t.Errorf("eleven years: %v", err)
	}
	alien := query("free.test")
	alien.Requires = "it_tax_id" // EPP has no field for it, and this account has no gateway
	if _, err := checkAvailability(t, provisioner, alien); registrar.CodeOf(err) != provision.NotEligible || registrar.KindOf(err) != registrar.KindUnsupported {
		t.Errorf("an unsupported requirement: %v", err)
	}
}

func TestCheckAvailability_PremiumNameHasFeesOfWholeTermAndRenewal(t *testing.T) {
	t.Parallel()
	older := strings.ReplaceAll(allServices, nsFee, "urn:ietf:params:xml:ns:fee-0.11")
	months := func(r *Node) reply {
		priced := respondPriced(r)
		priced.xml = strings.ReplaceAll(priced.xml, `unit="y"`, `unit="m"`)
		return priced
	}
	silent := func(r *Node) reply {
		priced := respondPriced(r)
		priced.xml = strings.ReplaceAll(priced.xml, "<f:fee>7.00</f:fee>", "")
		return priced
	}
	for name, test := range map[string]struct {
		server  *fakeServer
		label   string
		years   int
		want    string
		renewal string
		code    registrar.Code
	}{
		"premium":                         {&fakeServer{handle: respondPriced}, "gold", 1, "10.00 EUR", "7.00 EUR", ""},
		"for three years":                 {&fakeServer{handle: respondPriced}, "gold", 3, "30.00 EUR", "7.00 EUR", ""},
		"renewal not stated":              {&fakeServer{handle: silent}, "gold", 1, "10.00 EUR", "", ""},
		"standard":                        {&fakeServer{handle: respondPriced}, "free", 1, "", "", ""},
		"only an older fee extension":     {&fakeServer{handle: respondPriced, greeting: greetingXML(older)}, "gold", 1, "", "", registrar.NamePremium},
		"the fee of another term":         {&fakeServer{handle: months}, "gold", 1, "", "", registrar.NamePremium},
		"fees announced but not reported": {&fakeServer{handle: respondCheck}, "gold", 1, "", "", registrar.NamePremium},
	} {
		query := queryFor(provision.Register, test.label+".test")
		query.Years = test.years
		fees, err := NewProvisioner(test.server.client(t, nil), nil).CheckAvailability(t.Context(), query)
		if fees.Term.String() != test.want || fees.Renewal.String() != test.renewal || registrar.CodeOf(err) != test.code {
			t.Errorf("%s: %v, %v, want %s, then %s, %s", name, fees, err, test.want, test.renewal, test.code)
		}
	}
}

func TestMissing_IncompleteRegistrantIsMissingNotRefused(t *testing.T) {
	t.Parallel()
	provisioner := NewProvisioner((&fakeServer{handle: respondPriced}).client(t, nil), nil)
	for name, test := range map[string]struct {
		change func(*provision.AvailabilityQuery)
		want   string
	}{
		"no registrant":   {func(w *provision.AvailabilityQuery) { w.HasRegistrant, w.Registrant = false, registrar.Registrant{} }, "registrant"},
		"no city":         {func(w *provision.AvailabilityQuery) { w.Registrant.City = "" }, "registrant"},
		"lives elsewhere": {func(w *provision.AvailabilityQuery) { w.Requires, w.Registrant.Country = "eu_presence", "US" }, "eu_presence"},
		"unknown country": {func(w *provision.AvailabilityQuery) {
			w.Requires, w.HasRegistrant, w.Registrant = "eu_presence", false, registrar.Registrant{}
		}, "registrant"},
		"resident":             {func(w *provision.AvailabilityQuery) { w.Requires = "eu_presence" }, ""},
		"no contacts required": {func(w *provision.AvailabilityQuery) { w.TLD, w.Name, w.Registrant.City = ".com", "free.com", "" }, ""},
	} {
		query := queryFor(provision.Register, "free.test")
		test.change(&query)
		missing, err := checkAvailability(t, provisioner, query)
		if err != nil || strings.Join(missing, " ") != test.want {
			t.Errorf("%s: %v, %v", name, missing, err)
		}
	}
	taken := queryFor(provision.Register, "taken.test")
	taken.HasRegistrant = false
	if _, err := checkAvailability(t, provisioner, taken); registrar.CodeOf(err) != provision.NameTaken {
		t.Errorf("registrant data is missing, but the name is taken: %v", err)
	}
}

// registeredElsewhere is a registry whose names are all registered, with a fee for
// each queried command; info responses depend on the label.
func registeredElsewhere(fees bool) func(*Node) reply {
	return func(r *Node) reply {
		object := objectOf(r)
		name := object.Child(nsDomain, "name").Text
		label, _, _ := strings.Cut(name, ".")
		if object.Local == "info" {
			info := func(sponsor, statuses string) reply {
				return reply{xml: responseXML(1000, tridOf(r), `<d:infData xmlns:d="`+nsDomain+`"><d:name>`+name+`</d:name><d:roid>X-1</d:roid>`+
					statuses+`<d:clID>`+sponsor+`</d:clID><d:exDate>`+time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC3339)+`</d:exDate></d:infData>`, "")}
			}
			code := object.Child(nsDomain, "authInfo").value(nsDomain, "pw")
			switch {
			case label == "closed" && code == "":
				return reply{xml: responseXML(CodeAuthorization, tridOf(r), "", "")}
			case code != "" && code != "right":
				return reply{xml: responseXML(CodeAuthInfo, tridOf(r), "", "")}
			case label == "reserved":
				return reply{xml: responseXML(CodeMissing, tridOf(r), "", "")}
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
				command = "restore" // reports a fee for another command
			}
			extension = `<f:chkData xmlns:f="` + nsFee + `"><f:currency>EUR</f:currency><f:cd><f:objID>` + name + `</f:objID><f:class>` + class +
				`</f:class><f:command name="` + command + `"><f:period unit="y">1</f:period><f:fee>8.00</f:fee></f:command></f:cd></f:chkData>`
		}
		return reply{xml: responseXML(1000, tridOf(r), `<d:chkData xmlns:d="`+nsDomain+`"><d:cd><d:name avail="`+avail+`">`+name+`</d:name></d:cd></d:chkData>`, extension)}
	}
}

func TestCheckAvailability_TransferMustBePossible(t *testing.T) {
	t.Parallel()
	provisioner := NewProvisioner((&fakeServer{handle: registeredElsewhere(true)}).client(t, nil), nil)
	silent := NewProvisioner((&fakeServer{handle: registeredElsewhere(false)}).client(t, nil), nil)
	for name, test := range map[string]struct {
		desk        *Provisioner
		label, code string
		missing     []string
		want        registrar.Code
	}{
		"with its code":          {desk: provisioner, label: "open", code: "right"},
		"without a code":         {desk: provisioner, label: "open", missing: []string{"auth_code"}},
		"hidden without a code":  {desk: provisioner, label: "closed", missing: []string{"auth_code"}},
		"hidden, with its code":  {desk: provisioner, label: "closed", code: "right"},
		"with a wrong code":      {desk: provisioner, label: "open", code: "wrong", want: provision.WrongCode},
		"locked":                 {desk: provisioner, label: "locked", code: "right", want: provision.Locked},
		"locked, without a code": {desk: provisioner, label: "locked", want: provision.Locked},
		"pending transfer":       {desk: provisioner, label: "moving", want: provision.Locked},
		"not registered":         {desk: provisioner, label: "free", want: provision.NotRegistered},
		"reserved":               {desk: provisioner, label: "reserved", want: provision.NotRegistered},
		"ours already":           {desk: provisioner, label: "ours", want: registrar.NameHeld},
		"premium price":          {desk: provisioner, label: "gold", code: "right"},
		"unknown price":          {desk: silent, label: "open", code: "right", want: registrar.NamePremium},
	} {
		query := queryFor(provision.Transfer, test.label+".test")
		query.Code = test.code
		missing, err := checkAvailability(t, test.desk, query)
		if registrar.CodeOf(err) != test.want || err == nil && !slices.Equal(missing, test.missing) {
			t.Errorf("%s: %v, %v", name, missing, err)
		}
	}
	pushed := queryFor(provision.Transfer, "open.co.uk")
	pushed.TLD = ".co.uk"
	if _, err := checkAvailability(t, provisioner, pushed); registrar.KindOf(err) != registrar.KindUnsupported {
		t.Errorf("a name that can't be requested: %v", err)
	}
}

func TestCheckAvailability_WrongCodeOfLockedDomainReportsBoth(t *testing.T) {
	t.Parallel()
	provisioner := NewProvisioner((&fakeServer{handle: registeredElsewhere(true)}).client(t, nil), nil)
	for label, locked := range map[string]bool{"locked": true, "moving": true, "open": false, "closed": false} {
		query := queryFor(provision.Transfer, label+".test")
		query.Code = "wrong"
		_, err := checkAvailability(t, provisioner, query)
		if registrar.CodeOf(err) != provision.WrongCode || registrar.KindOf(err) != registrar.KindInvalid || errors.Is(err, &registrar.Error{Code: provision.Locked}) != locked {
			t.Errorf("%s: %v", label, err)
		}
	}
}

func TestCheckAvailability_RenewalRequiresSponsoredDomain(t *testing.T) {
	t.Parallel()
	provisioner := NewProvisioner((&fakeServer{handle: registeredElsewhere(true)}).client(t, nil), nil)
	for label, want := range map[string]registrar.Code{
		"ours": "", "open": provision.NotRenewable, "closed": provision.NotRenewable, "reserved": provision.NotRenewable,
		"ours-locked": provision.NotRenewable, "ours-gold": "",
	} {
		query := queryFor(provision.Renew, label+".test")
		query.HasRegistrant = false // the registry already has the registrant
		if missing, err := checkAvailability(t, provisioner, query); registrar.CodeOf(err) != want || len(missing) > 0 {
			t.Errorf("%s: %v, %v", label, missing, err)
		}
	}
	query := queryFor(provision.Renew, "ours.test")
	query.Years = 10
	if _, err := checkAvailability(t, provisioner, query); registrar.CodeOf(err) != provision.BadTerm {
		t.Errorf("eleven years ahead: %v", err)
	}
}
