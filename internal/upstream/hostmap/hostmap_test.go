package hostmap

import (
	"net/url"
	"strings"
	"testing"
)

func TestRewrite_ReplacesServerAndKeepsPathAndQuery(t *testing.T) {
	t.Parallel()
	table := Table{
		"rdap.example.net:443": "http://127.0.0.1:41001",
		"rdap.example.net:80":  "http://127.0.0.1:41002/",
		"odd.example.net:8443": "https://[::1]:41003",
	}
	for given, want := range map[string]string{
		"https://rdap.example.net/v1/domain/a.example?x=1": "http://127.0.0.1:41001/v1/domain/a.example?x=1",
		"https://RDAP.Example.NET:443/":                    "http://127.0.0.1:41001/",
		"http://rdap.example.net/p":                        "http://127.0.0.1:41002/p",
		"https://odd.example.net:8443/p":                   "https://[::1]:41003/p",
		"https://odd.example.net/p":                        "https://odd.example.net/p",
		"https://elsewhere.example/p":                      "https://elsewhere.example/p",
	} {
		u, err := url.Parse(given)
		if err != nil {
			t.Fatal(err)
		}
		if got := table.Rewrite(u).String(); got != want {
			t.Errorf("Rewrite(%s) = %s, want %s", given, got, want)
		}
		if u.String() != given {
			t.Errorf("Rewrite changed its argument %s to %s", given, u)
		}
	}
}

func TestContains_MatchesHostAndPortOnly(t *testing.T) {
	t.Parallel()
	table := Table{"a.example:80": "http://127.0.0.1:1"}
	known := &url.URL{Scheme: "http", Host: "A.example"}
	unknown := &url.URL{Scheme: "https", Host: "a.example"}
	if !table.Contains(known) || table.Contains(unknown) || Table(nil).Contains(known) {
		t.Error("Contains must compare host and port only")
	}
}

func TestAddress_UnmappedServerIsUnchanged(t *testing.T) {
	t.Parallel()
	table := Table{"whois.example.net:43": "127.0.0.1:41004"}
	for given, want := range map[string]string{
		"whois.example.net:43":   "127.0.0.1:41004",
		"WHOIS.example.net:43":   "127.0.0.1:41004",
		"whois.example.net:4343": "whois.example.net:4343",
	} {
		if got := table.Address(given); got != want {
			t.Errorf("Address(%s) = %s, want %s", given, got, want)
		}
	}
	if got := Table(nil).Address("a:1"); got != "a:1" {
		t.Errorf("an empty table changed the address to %s", got)
	}
}

func TestValidate_RefusesInvalidEntries(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, value, complaint string }{
		{"rdap.example:443", "http://127.0.0.1:41001", ""},
		{"rdap.example:443", "https://inner.example/", ""},
		{"whois.example:43", "127.0.0.1:41002", ""},
		{"whois.example:4343", "[::1]:41002", ""},
		{"rdap.example", "http://127.0.0.1:1", "host:port"},
		{"rdap.example:0", "http://127.0.0.1:1", "host:port"},
		{"rdap.example:70000", "http://127.0.0.1:1", "host:port"},
		{":443", "http://127.0.0.1:1", "host:port"},
		{"https://rdap.example:443", "http://127.0.0.1:1", "host:port"},
		{"RDAP.example:443", "http://127.0.0.1:1", "lower case"},
		{"rdap.example:443", "127.0.0.1:1", "web server"},
		{"whois.example:43", "http://127.0.0.1:1", "WHOIS"},
		{"rdap.example:443", "ftp://127.0.0.1:1", "http://"},
		{"rdap.example:443", "http://:1", "host"},
		{"rdap.example:443", "http://u:p@127.0.0.1:1", "password"},
		{"rdap.example:443", "http://127.0.0.1:1/path", "path"},
		{"rdap.example:443", "http://127.0.0.1:99999", "host:port"},
		{"rdap.example:443", "http://127.0.0.1:x", "address"},
		{"whois.example:43", "", "host:port"},
	} {
		err := Table{c.key: c.value}.Validate()
		switch {
		case c.complaint == "" && err != nil:
			t.Errorf("%s = %s refused: %v", c.key, c.value, err)
		case c.complaint != "" && err == nil:
			t.Errorf("%s = %s accepted", c.key, c.value)
		case err != nil && !strings.Contains(err.Error(), c.complaint):
			t.Errorf("%s = %s: %q does not mention %q", c.key, c.value, err, c.complaint)
		}
	}
}
