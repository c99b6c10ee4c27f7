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

// configWithoutRegistryAccount returns the world's configuration without registry
// accounts, so that only public sources are used.
func configWithoutRegistryAccount(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(suite.worldConfig)
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
		t.Fatal("the world's configuration has no registry account, so the test proves nothing")
	}
	path := filepath.Join(t.TempDir(), "without-account.toml")
	if err := os.WriteFile(path, bytes.Join(kept, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadyz_UnreachableRegistryIsListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(suite.worldConfig)
	if err != nil {
		t.Fatal(err)
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close() // connections to it are refused
	server := regexp.MustCompile(`(?m)^(\s*)server = ['"]127\.0\.0\.1:\d+['"]$`)
	if !server.Match(text) {
		t.Fatal("the world's configuration has no registry account")
	}
	path := filepath.Join(t.TempDir(), "dead-registry.toml")
	if err := os.WriteFile(path, server.ReplaceAll(text, []byte(`${1}server = "`+closed.Addr().String()+`"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	on := startOwnServeWithConfig(t, "dead-registry", path)
	newCaller(t, on).check("google.com")
	got := newCaller(t, on).get("/readyz")
	if got.status != http.StatusOK || !strings.Contains(string(got.body), "\ndegraded registry unreachable since ") {
		t.Errorf("got %s", got)
	}
}

func TestCheck_WithoutRegistryAccountUsesPublicSources(t *testing.T) {
	t.Parallel()
	on := startOwnServeWithConfig(t, "without-account", configWithoutRegistryAccount(t))
	for _, test := range []struct {
		domain string
		want   wantFields
	}{
		{"google.com", wantFields{"available": "false", "source": `"rdap"`, "reason": `"registered"`}},
		{marker + "-leiter.com", wantFields{"available": "true", "source": `"rdap"`}},
		{"google.dev", wantFields{"available": "false", "source": `"rdap"`}},
		{"ohne-dns.dev", wantFields{"available": "false", "source": `"rdap"`}}, // not in DNS
		{"google.eu", wantFields{"available": "false", "source": `"whois"`}},
		{marker + "-leiter.eu", wantFields{"available": "true", "source": `"whois"`}},
		{"ohne-dns.eu", wantFields{"available": "false", "source": `"whois"`}},
		{"google.gr", wantFields{"available": "false", "source": `"dns"`}},
		{marker + "-leiter.gr", wantFields{"available": "null"}}, // a missing record alone proves nothing
		{"d.dev", wantFields{"available": "null"}},               // RDAP answers 404, but one letter may be reserved
		{"nic.dev", wantFields{"available": "false", "source": `"rdap"`, "reason": `"reserved"`}},
		{"gold.shop", wantFields{"available": "true", "source": `"rdap"`, "premium": "true", "registerEur": "", "renewEur": "", "orderable": "false"}}, // only EPP knows the fee
		{"unknown-" + marker + "-leiter.com", wantFields{"available": "null", "reason": `"unknown"`}},
		{"unknown-" + marker + "-leiter.eu", wantFields{"available": "null", "reason": `"unknown"`}},
	} {
		got := newCaller(t, on).check(test.domain)
		wantResponse(t, test.domain, got, http.StatusOK, test.want)
		wantOnlyFields(t, test.domain, got.fields, checkFields...)
	}
	inParallel([]string{".com", ".dev", ".eu", ".gr"}, func(tld string) {
		domain := "timeout-" + marker + "-leiter" + tld
		got := newCaller(t, on).check(domain)
		wantErrorResponse(t, domain, got, http.StatusBadGateway)
		if got.took > responseLimit {
			t.Errorf("%s: the response took %s", domain, got.took)
		}
	})
}
