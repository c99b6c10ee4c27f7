package epp

import (
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestRoleHandles_OnlyContactsThatTheRegistryTakes(t *testing.T) {
	t.Parallel()
	company := registrar.Contact{
		Name: "Tina Technik", Organisation: "Technik GmbH", Street: "Weg 1", PostalCode: "1010", City: "Wien", Country: "AT", Phone: "+43.15123456", Email: "tina@technik.example",
	}
	person, greek := company, company
	person.Organisation, greek.City = "", "Αθήνα"
	const linked, tech, billing = "DR23456789ABCDEF", "DT23456789ABCDEF", "DB23456789ABCDEF"
	for name, test := range map[string]struct {
		tld, handle   string
		tech, billing registrar.Contact
		own           string // RegistrarContact
		want          []Contact
	}{
		"both":                     {".org", linked, company, person, "", []Contact{{Admin, linked}, {Tech, tech}, {Billing, billing}}},
		"tech only":                {".org", linked, company, registrar.Contact{}, "OWN", []Contact{{Admin, "OWN"}, {Tech, tech}, {Billing, "OWN"}}},
		"none":                     {".org", "DK23456789ABCDEF", registrar.Contact{}, registrar.Contact{}, "", []Contact{{Admin, "DK23456789ABCDEF"}, {Tech, "DK23456789ABCDEF"}, {Billing, "DK23456789ABCDEF"}}},
		"handle of a gateway":      {".org", "C-4711", company, person, "", []Contact{{Admin, "C-4711"}, {Tech, "C-4711"}, {Billing, "C-4711"}}},
		"no billing":               {".at", linked, company, person, "", []Contact{{Tech, tech}}},
		"script that is rejected":  {".at", linked, greek, person, "", []Contact{{Tech, linked}}},
		"organisation is required": {".eu", linked, person, person, "OWN", []Contact{{Tech, "OWN"}}},
		"organisation":             {".eu", linked, company, person, "OWN", []Contact{{Tech, tech}}},
		"registrant only":          {".de", linked, company, person, "", nil},
		"no contacts":              {".com", linked, company, person, "", nil},
	} {
		policy := PolicyOf(test.tld)
		policy.RegistrarContact = test.own
		if got := policy.roleHandles(test.handle, registrar.Registrant{Name: "Max", Tech: test.tech, Billing: test.billing}); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
