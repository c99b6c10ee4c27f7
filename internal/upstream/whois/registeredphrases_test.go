package whois

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// contradictingLines contradict a free line, whatever its wording.
var contradictingLines = map[string][]string{
	"the name is registered": {
		"example.com is registered", "Domain is already registered", "Domain example.com already exists", "The domain example.com is registered and active.", "Domain example.com is delegated.", "This name is taken.", "Sorry, example.com is not available.",
		"EXAMPLE.COM IS REGISTERED", "Notice: example.com is registered.", "The domain name you requested is already taken", "Domain: example.com is registered", "example.com: already registered", "Already registered", "Registered", "example.com is registered, you may ask for others", "Result: domain is in use",
		"The requested domain name is currently in use", "example.com has already been registered", "example.com is no longer available", "Domain example.com exists", "This domain is owned by somebody.", "Die Domain example.com ist bereits registriert.", "Domain nicht verfügbar", "El dominio example.com ya está registrado", "Dominio no disponible", "Le nom de domaine est déjà enregistré", "Домен занят", "Домен example.com уже зарегистрирован",
	},
	"between two holders": {
		"Pending delete", "Domain in redemption", "Status of the name: scheduled for deletion", "This domain is subject to a dispute", "The domain is locked", "In quarantine until tomorrow", "example.com is on hold", "Hold", "State of example.com: serverHold", "suspended", "This domain has expired",
	},
	"the question was not understood": {
		"Unknown TLD", "The TLD is not supported", "Unsupported query", "Syntax error", "Query not understood", "Error 500", "Error: 503", "Bad request", "Malformed query", "Invalid query", "The extension .com is not served here", "This server is not authoritative", "HTTP 429",
	},
	"the answer is not whole": {
		"Data is incomplete", "Partial results", "Truncated output", "The answer is incomplete",
	},
	"nameservers of a registration": {
		"ns1.foo.net\nns2.foo.net", "ns1.foo.net", "ns1.foo.net 192.0.2.1", "  ns1.foo.net, ns2.foo.net",
	},
}

func TestClassify_ContradictedFreeLineIsNotFree(t *testing.T) {
	t.Parallel()
	for rule, sayings := range contradictingLines {
		for _, otherText := range sayings {
			for _, free := range []string{"no match", "No records found", "no data found", "Not found", "Domain not found", "No match for example.com", "Status: available", "example.com is free"} {
				for _, answer := range []string{otherText + "\n" + free + "\n", free + "\n" + otherText + "\n", otherText + "\n\nThank you.\n\n" + free + ".\n", "% A registry\n\n" + free + "\n\n" + otherText + "\n"} {
					if got, code := classify([]byte(answer), "example.com"); got.State == lookup.Free {
						t.Errorf("%s: %q is called free (%q)", rule, answer, code)
					}
				}
			}
		}
	}
	for _, answer := range []string{"% example.com is registered\n% No entries found\n", "% Pending delete\n%\n% No match\n", "Error 500: not found\n", "Error 403: no match\n", "429 - not found\n", "503: no entries found\n", "Terms of use: be nice.\nNote that example.com is registered\nexample.com is taken\n\nNo match\n"} {
		if got, code := classify([]byte(answer), "example.com"); got.State == lookup.Free {
			t.Errorf("%q is called free (%q)", answer, code)
		}
	}
}

// Boilerplate in every response says nothing about the name.
func TestClassify_BoilerplateDoesNotContradictFree(t *testing.T) {
	t.Parallel()
	for _, otherText := range []string{
		"This service shows information on domain names registered by our customers.", "% stored information would prove to be wrong, incomplete or not\n% accurate in any sense.", "If a domain is registered, its record is shown here.",
		"Go to http://www.example.net to register it now!", "A response that a name was not found does not guarantee that it can be registered.", "Access to this service, which is free of charge for everybody, may be\nsuspended at any time and without warning.",
		"%ERROR:101: no entries found", "The domain has not been registered.", "Domain example.com does not exist", "A name may be locked or pending deletion.", "www.registry.example", "example.com",
	} {
		answer := otherText + "\n\nNo match for example.com\n"
		if got, code := classify([]byte(answer), "example.com"); got.State != lookup.Free {
			t.Errorf("%q: state %d, fault %q", answer, got.State, code)
		}
	}
}

func TestClassify_OtherProtocolIsBroken(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nNot found\r\n", "http/1.0 400 Bad Request\n\nNo match\n", "<html><body>\nNot found\n</body></html>\n", "\n<!DOCTYPE html>\nNo match\n", "<?xml version=\"1.0\"?>\nNot found\n",
		"SSH-2.0-Example\nno match\n", "Hello\n<HTML>\nNot found\n", "No match\n<head></head>\n", "Not found\n  <body class=x>\n",
	} {
		if got, code := classify([]byte(answer), "example.com"); code != registrar.FaultBroken {
			t.Errorf("%q: state %d, fault %q", answer, got.State, code)
		}
	}
}

func TestClassify_OtherHostNamesAreNotTheQueriedName(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]lookup.State{
		"No match for www.other.org\n":                                      lookup.Undecided,
		"No match for http://other.org/\n":                                  lookup.Undecided,
		"No match for\nhttp://other.org/\n":                                 lookup.Undecided,
		"No match for\nother.org\n":                                         lookup.Undecided,
		"No match for (https://other.org)\n":                                lookup.Undecided,
		"No entries found for hostmaster@other.org\n":                       lookup.Undecided,
		"hostmaster@other.org not found\n":                                  lookup.Undecided,
		"No match for @\n":                                                  lookup.Undecided,
		"@ is free\n":                                                       lookup.Undecided,
		"Domain: @\nStatus: free\n":                                         lookup.Undecided,
		"Domain: other\nStatus: free\n":                                     lookup.Undecided,
		"Domain: example\nStatus: free\n":                                   lookup.Free,
		"Domain: @other\nNo match for @other\n":                             lookup.Undecided,
		"No match for example.com\n":                                        lookup.Free,
		"No match for \n":                                                   lookup.Free,
		"example.com is available for registration, see http://other.org\n": lookup.Free,
		"This domain is available, please visit www.other.org\n":            lookup.Free,
		"No match for example.com\nVisit http://other.org/ or write to us@other.org\n": lookup.Free,
	} {
		if got, code := classify([]byte(answer), "example.com"); got.State != want || code != "" {
			t.Errorf("%q: state %d, fault %q; want %d", answer, got.State, code, want)
		}
	}
}

func TestClassify_EchoedLabelIsNotFreePhrase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer string
		free         bool
	}{
		{"available.de", "Domain: available\nStatus: granted\n", false},
		{"free.de", "domain: free\nstatus: granted\nchanged: 2020\n", false},
		{"free.de", "domain name: free\n", false},
		{"kaffee.de", "domain: free\nstatus: granted\n", false},
		{"free.com", "free\n", false},
		{"free.com", "FREE.\n", false},
		{"available.com", "available\n", false},
		{"free.com", "available\n", true},
		{"kaffee.com", "free\n", true},
		{"free.de", "domain: free.de\nstatus: free\n", true},
		{"free.de", "Domain: free.de is free\n", true},
	} {
		if got, code := classify([]byte(c.answer), c.name); (got.State == lookup.Free) != c.free {
			t.Errorf("%q about %s: state %d, fault %q", c.answer, c.name, got.State, code)
		}
	}
}
