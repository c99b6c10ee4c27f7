package contract

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// withoutAccount is the world's configuration without its registry accounts, so
// that names are looked up in public sources alone.
func withoutAccount(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(stage.worldConfig)
	if err != nil {
		t.Fatal(err)
	}
	var kept [][]byte
	account, seen := false, false
	for line := range bytes.Lines(text) {
		if head := bytes.TrimSpace(line); bytes.HasPrefix(head, []byte("[")) {
			account = bytes.HasPrefix(head, []byte("[[epp")) || bytes.HasPrefix(head, []byte("[epp"))
			seen = seen || account
		}
		if !account {
			kept = append(kept, line)
		}
	}
	if !seen {
		t.Fatal("the world's configuration has no registry account, so leaving it out proves nothing")
	}
	path := filepath.Join(t.TempDir(), "without-account.toml")
	if err := os.WriteFile(path, bytes.Join(kept, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadyz_UnreachableRegistryIsListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(stage.worldConfig)
	if err != nil {
		t.Fatal(err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close() // from now on connections to it are refused
	server := regexp.MustCompile(`(?m)^(\s*)server = ['"]127\.0\.0\.1:\d+['"]$`)
	if !server.Match(text) {
		t.Fatal("the world's configuration has no registry account")
	}
	path := filepath.Join(t.TempDir(), "dead-registry.toml")
	if err := os.WriteFile(path, server.ReplaceAll(text, []byte(`${1}server = "`+closed.Addr().String()+`"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	on := ownServeWith(t, "dead-registry", path)
	from(t, on).check("google.com")
	got := from(t, on).get("/readyz")
	if got.status != http.StatusOK || !strings.Contains(string(got.body), "\ndegraded registry unreachable since ") {
		t.Errorf("got %s", got)
	}
}

func TestWithoutARegistryAccountPublicSourcesDecide(t *testing.T) {
	t.Parallel()
	on := ownServeWith(t, "without-account", withoutAccount(t))
	for _, test := range []struct {
		domain string
		want   fields
	}{
		{"google.com", fields{"available": "false", "source": `"rdap"`, "reason": `"registered"`}},
		{secret + "-leiter.com", fields{"available": "true", "source": `"rdap"`}},
		{"google.dev", fields{"available": "false", "source": `"rdap"`}},
		{"ohne-dns.dev", fields{"available": "false", "source": `"rdap"`}}, // to the DNS it looks free
		{"google.eu", fields{"available": "false", "source": `"whois"`}},
		{secret + "-leiter.eu", fields{"available": "true", "source": `"whois"`}},
		{"ohne-dns.eu", fields{"available": "false", "source": `"whois"`}},
		{"google.gr", fields{"available": "false", "source": `"dns"`}},
		{secret + "-leiter.gr", fields{"available": "null"}}, // a missing record alone proves nothing
		{"d.dev", fields{"available": "null"}},               // RDAP's 404, and the registry withholds one letter
		{"nic.dev", fields{"available": "false", "source": `"rdap"`, "reason": `"reserved"`}},
		{"unknown-" + secret + "-leiter.com", fields{"available": "null", "reason": `"unknown"`}},
		{"unknown-" + secret + "-leiter.eu", fields{"available": "null", "reason": `"unknown"`}},
	} {
		got := from(t, on).check(test.domain)
		mustBe(t, test.domain, got, http.StatusOK, test.want)
		onlyFields(t, test.domain, got.fields, checkFields...)
	}
	together([]string{".com", ".dev", ".eu", ".gr"}, func(tld string) {
		domain := "timeout-" + secret + "-leiter" + tld
		got := from(t, on).check(domain)
		mustRefuse(t, domain, got, http.StatusBadGateway)
		if got.took > answersWithin {
			t.Errorf("%s: the answer took %s", domain, got.took)
		}
	})
}
