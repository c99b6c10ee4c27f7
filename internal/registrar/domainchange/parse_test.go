package domainchange

import (
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestParseNameservers_AcceptsTypedInputRejectsInvalid(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"":                                   "",
		"ns1.example.net":                    "ns1.example.net",
		"NS1.Example.NET.\r\n\r\n ns2.x.org": "ns1.example.net|ns2.x.org",
		"ns1.müller.de\n":                    "ns1.xn--mller-kva.de",
		"ns1.eigene.de 192.0.2.1":            "ns1.eigene.de 192.0.2.1",
		"ns1.eigene.de, 192.0.2.1; 192.0.2.1 2001:db8::1": "ns1.eigene.de 192.0.2.1 2001:db8::1",
		"ns1.eigene.de ::ffff:192.0.2.1":                  "ns1.eigene.de 192.0.2.1",
		"ns1":                                             string(BadNameserver),
		"192.0.2.1":                                       string(BadNameserver),
		"2001:db8::1":                                     string(BadNameserver),
		"http://ns1.example.net/":                         string(BadNameserver),
		"ns_1.example.net":                                string(BadNameserver),
		"-ns.example.net":                                 string(BadNameserver),
		"ns..example.net":                                 string(BadNameserver),
		strings.Repeat("a", 64) + ".net":                  string(BadNameserver),
		"ns1.eigene.de 999.0.2.1":                         string(BadNameserver),
		"ns1.eigene.de fe80::1%eth0":                      string(BadNameserver),
		"ns1.eigene.de 127.0.0.1":                         string(BadNameserver),
		"ns1.example.net\nNS1.example.net.":               string(DuplicateNameserver),
		"ns1.eigene.de":                                   string(GlueMissing),
		"eigene.de":                                       string(GlueMissing),
		"ns1.example.net 192.0.2.1":                       string(UnexpectedGlue),
		"ns1.example.net, ns2.example.net":                string(SeveralNameservers),
		"ns1.nichteigene.de":                              "ns1.nichteigene.de",
	} {
		servers, err := parseNameservers("eigene.de", input)
		got := strings.ReplaceAll(joinNameservers(servers), "\n", "|")
		if err != nil {
			got = string(registrar.CodeOf(err))
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", input, got, want)
		}
	}
}

func joinNameservers(servers []Nameserver) string {
	var lines []string
	for _, server := range servers {
		lines = append(lines, server.String())
	}
	return strings.Join(lines, "\n")
}

func TestParseDS_AcceptsToolOutputRejectsInvalidOrWeak(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("AB", 32)
	good := DS{KeyTag: 2371, Algorithm: 13, DigestType: 2, Digest: digest}
	for _, input := range []string{
		"2371 13 2 " + digest, "example.de. 3600 IN DS 2371 13 2 " + strings.ToLower(digest),
		"example.de.\tIN\tDS\t2371 13 2 ( " + digest[:30] + "\n " + digest[30:] + " )",
	} {
		if got, err := parseDS(input); err != nil || got != good {
			t.Errorf("%q: %+v, %v", input, got, err)
		}
	}
	for input, want := range map[string]registrar.Code{
		"": BadDS, "2371 13 2": BadDS, "x 13 2 " + digest: BadDS, "65536 13 2 " + digest: BadDS, "2371 256 2 " + digest: BadDS,
		"2371 13 2 " + digest[:62]: BadDS, "2371 13 2 " + digest + "zz": BadDS, "2371 13 4 " + digest: BadDS,
		"2371 5 2 " + digest: WeakDS, "2371 13 1 " + digest[:40]: WeakDS, "2371 13 9 " + digest: BadDS, "2371 99 2 ab12": BadDS,
	} {
		if _, err := parseDS(input); registrar.CodeOf(err) != want {
			t.Errorf("%q: %v, want %s", input, err, want)
		}
	}
}

func TestActions_EachChangeKindHasUniqueAction(t *testing.T) {
	t.Parallel()
	seen := Actions()
	slices.Sort(seen)
	if len(slices.Compact(seen)) != len(ChangeKinds())+5 || slices.Contains(seen, "") {
		t.Errorf("actions = %v", seen)
	}
}
