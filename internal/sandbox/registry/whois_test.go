package registry

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// whoisHosts are the hosts of someZones with a zone each and the markers of their
// style.
var whoisHosts = []struct {
	host, tld, taken, free, reserved, throttled string
}{
	{"whois.verisign-grs.com:43", ".com", "Domain Name: GOOGLE.COM\r\n", "No match for \"NOBODY-HAS-THIS.COM\".\r\n", "reserved", "limit exceeded"},
	{"whois.verisign-grs.com:43", ".net", "Domain Name: GOOGLE.NET\r\n", "No match for \"NOBODY-HAS-THIS.NET\".\r\n", "reserved", "limit exceeded"},
	{"whois.denic.de:43", ".de", "Domain: google.de\r\n", "Status: free\r\n", "Status: reserved", "Error: 55000000002 Connection refused; access control limit reached."},
	{"whois.eu:43", ".eu", "Status: NOT AVAILABLE\r\n", "Status: AVAILABLE\r\n", "RESERVED", "Excessive querying"},
	{"whois.nic.at:43", ".at", "domain:         google.at\r\n", "% nothing found\r\n", "reserved", "Quota exceeded"},
	{"whois.nic.ch:43", ".ch", "Domain name:\r\ngoogle.ch\r\n", "We do not have an entry in our database matching your query.\r\n", "reserved", "too many"},
	{"whois.nic.uk:43", ".uk", "Domain name:\r\n        google.uk\r\n", "No match for \"nobody-has-this.uk\".\r\n", "reserved", "exceeded"},
	{"whois.nic.uk:43", ".co.uk", "        google.co.uk\r\n", "This domain name has not been registered.\r\n", "reserved", "exceeded"},
	{"whois.nic.it:43", ".it", "Status:             ok\r\n", "Status:             AVAILABLE\r\n", "RESERVED", "exceeded"},
	{"whois.dns.be:43", ".be", "Status:\tNOT AVAILABLE\r\n", "Status:\tAVAILABLE\r\n", "RESERVED", "Maximum queries"},
	{"whois.iis.se:43", ".se", "domain:           google.se\r\n", "domain \"nobody-has-this.se\" not found.\r\n", "reserved", "Too many"},
	{"whois.punktum.dk:43", ".dk", "Domain:               google.dk\r\n", "No entries found for the selected source.\r\n", "Reserved", "Too many"},
	{"whois.nic.hu:43", ".hu", "Domain Name: google.hu\r\n", "Domain not found.\r\n", "reserved", "limit exceeded"},
	{"whois.nic.io:43", ".io", "Registry Expiry Date: ", "Domain not found.\r\n", "reserved", "limit exceeded"},
	{"whois.centralnic.com:43", ".com.de", "Domain Name: google.com.de\r\n", "Domain not found.\r\n", "reserved", "limit exceeded"},
	{"whois.example:4343", ".xn--p1acf", "Domain Name: google.xn--p1acf\r\n", "Domain not found.\r\n", "reserved", "limit exceeded"},
}

func TestWHOIS_UsesHostStyle(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	for _, c := range whoisHosts {
		t.Run(c.tld, func(t *testing.T) {
			t.Parallel()
			for label, says := range map[string]string{
				"google": c.taken, "GOOGLE": c.taken, "nobody-has-this": c.free, "reserved": c.reserved, "throttled-x": c.throttled,
			} {
				text := mustAskWHOIS(t, r, c.host, label+c.tld)
				if !strings.Contains(text, says) {
					t.Errorf("%s: %q is missing in\n%s", label, says, text)
				}
				if label != "google" && label != "GOOGLE" && strings.Contains(text, c.taken) {
					t.Errorf("%s looks taken:\n%s", label, text)
				}
				if label != "nobody-has-this" && strings.Contains(text, c.free) {
					t.Errorf("%s looks free:\n%s", label, text)
				}
				if strings.Contains(text, "{") {
					t.Errorf("%s: a template was not filled:\n%s", label, text)
				}
				if strings.Count(text, "\n") != strings.Count(text, "\r\n") {
					t.Errorf("%s: a line does not end in CRLF", label)
				}
			}
		})
	}
}

func TestWHOIS_RecordsCarryCanaries(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	for _, c := range whoisHosts {
		for _, label := range []string{"google", "ohne-dns"} {
			text := mustAskWHOIS(t, r, c.host, label+c.tld)
			found := 0
			for _, canary := range Canaries {
				found += strings.Count(text, canary)
			}
			if found == 0 {
				t.Errorf("%s%s: no canary in\n%s", label, c.tld, text)
			}
		}
	}
}

func TestWHOIS_PremiumNamesAreFreeWithRemark(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	for _, c := range whoisHosts {
		says := strings.NewReplacer("nobody-has-this", "premium-x", "NOBODY-HAS-THIS", "PREMIUM-X").Replace(c.free)
		if text := mustAskWHOIS(t, r, c.host, "premium-x"+c.tld); !strings.Contains(text, says) || !strings.Contains(text, "premium price") {
			t.Errorf("%s:\n%s", c.tld, text)
		}
	}
}

func TestWHOIS_MagicNames(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{Chaos: 1, Seed: 1}) // magic names are exempt from chaos
	for _, c := range whoisHosts {
		t.Run(c.tld, func(t *testing.T) {
			t.Parallel()
			address := r.Hosts()[c.host]
			if text, err := askWHOIS(t, silenceTimeout, address, "timeout-x"+c.tld); !isTimeout(err) || text != "" {
				t.Errorf("timeout: %q, %v", text, err)
			}
			if text, err := askWHOIS(t, answerTimeout, address, "refused-x"+c.tld); !isReset(err) || text != "" {
				t.Errorf("refused: %q, %v", text, err)
			}
			if text := mustAskWHOIS(t, r, c.host, "garbled-x"+c.tld); strings.Count(text, "\x00") < 10 || utf8.ValidString(text) {
				t.Errorf("garbled: %q", text)
			}
			if text := mustAskWHOIS(t, r, c.host, "unknown-x"+c.tld); !strings.Contains(text, "is not provided by this service") {
				t.Errorf("unknown: %q", text)
			}
		})
	}
}

func TestWHOIS_QueryForms(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	for _, c := range []struct{ host, question, says string }{
		{"whois.denic.de:43", "-T dn,ace kaffee.de", "Status: connect"},
		{"whois.denic.de:43", "-T dn,ace nobody-has-this.de", "Status: free"},
		{"whois.denic.de:43", "müller.de", "Domain: xn--mller-kva.de"},
		{"whois.verisign-grs.com:43", "domain google.com", "Domain Name: GOOGLE.COM"},
		{"whois.verisign-grs.com:43", "=google.com", "Domain Name: GOOGLE.COM"},
		{"whois.verisign-grs.com:43", "google.com.", "Domain Name: GOOGLE.COM"},
		{"whois.punktum.dk:43", "--charset=utf-8 google.dk", "Status:               Active"},
		{"whois.verisign-grs.com:43", "nic.com", "reserved"},
		{"whois.verisign-grs.com:43", "google.de", "not provided"},
		{"whois.verisign-grs.com:43", "www.google.com", "not provided"},
		{"whois.verisign-grs.com:43", "", "not understood"},
		{"whois.verisign-grs.com:43", "two words", "not understood"},
	} {
		if text := mustAskWHOIS(t, r, c.host, c.question); !strings.Contains(text, c.says) {
			t.Errorf("%q at %s: %q is missing in\n%s", c.question, c.host, c.says, text)
		}
	}
	// More than 512 bytes without a line end: the response may be lost in the reset
	// that unread bytes cause, but no record can be returned.
	if text, _ := askWHOIS(t, answerTimeout, r.Hosts()["whois.denic.de:43"], "google.de"+strings.Repeat(" ", 600)); strings.Contains(text, "connect") {
		t.Errorf("a query of 600 bytes was answered: %s", text)
	}
}

func TestWHOIS_NameWithoutNameservers(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	if text := mustAskWHOIS(t, r, "whois.denic.de:43", "ohne-dns.de"); !strings.Contains(text, "Status: connect") || strings.Contains(text, "Nserver") {
		t.Errorf("%s", text)
	}
}

func TestWHOIS_Latin1Hosts(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	for _, c := range []struct{ host, name string }{{"whois.nic.at:43", "google.at"}, {"whois.nic.hu:43", "google.hu"}} {
		text := []byte(mustAskWHOIS(t, r, c.host, c.name))
		if utf8.Valid(text) || !bytes.Contains(text, []byte("J\xfcrgen Kanarienvogelsang")) {
			t.Errorf("%s:\n%q", c.host, text)
		}
	}
	if text := mustAskWHOIS(t, r, "whois.nic.io:43", "google.io"); !strings.Contains(text, "Jürgen") {
		t.Errorf("not UTF-8: %q", text)
	}
}
