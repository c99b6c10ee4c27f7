package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/config"
)

const goodEPP = `
[registration]
nameservers = ["ns1.example.net", "ns2.example.net"]
[[epp]]
name = "gateway"
server = "epp.example:700"
user = "REG-1"
password = "geheim-geheim"
extensions = ["*", "!.gr"]
[[epp.policy]]
extensions = ["*"]
contacts = ["registrant", "admin"]
registrar_contact = "OWN-TECH"
addresses = "both"
nameservers = "objects"
[[epp]]
name = "own"
server = "epp.own.example:700"
user = "REG-2"
password = "geheim-geheim"
extensions = [".berlin"]
`

func loadText(t *testing.T, text string) (config.Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dotkontor.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(path, nil)
}

func TestAccountFor_OneAccountPerExtension(t *testing.T) {
	t.Parallel()
	cfg, err := loadText(t, goodEPP)
	if err != nil {
		t.Fatal(err)
	}
	for tld, want := range map[string]int{".com": 0, ".berlin": 1, ".gr": -1} {
		if got := config.AccountFor(cfg.EPP, tld); got != want {
			t.Errorf("%s is served by account %d, want %d", tld, got, want)
		}
	}
	if !cfg.EPP[0].Policy[0].AppliesTo(".com") {
		t.Error("a policy for * does not apply to .com")
	}
}

func TestWrite_EPPAccountRoundTrips(t *testing.T) {
	t.Parallel()
	cfg, err := loadText(t, goodEPP)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "again.toml")
	if err := cfg.Write(path); err != nil {
		t.Fatal(err)
	}
	again, err := config.Load(path, nil)
	if err != nil || len(again.EPP) != 2 || again.EPP[0].Password != "geheim-geheim" || len(again.EPP[0].Policy) != 1 {
		t.Errorf("%v, %+v", err, again.EPP)
	}
}

func TestCheckEPP_ReportsEveryMistakeWithoutPassword(t *testing.T) {
	t.Parallel()
	for change, want := range map[[2]string]string{
		{`name = "own"`, `name = "gateway"`}:                                             "already the name of another account",
		{`name = "own"`, `name = "a b"`}:                                                 "is not a name",
		{`epp.own.example:700`, `epp.own.example`}:                                       "is not host:port",
		{`"REG-2"`, `"R"`}:                                                               "3 to 16 characters",
		{`extensions = [".berlin"]`, `extensions = ["berlin"]`}:                          "is not an extension",
		{`extensions = [".berlin"]`, `extensions = ["*"]`}:                               "only one account can serve",
		{`extensions = [".berlin"]`, `extensions = []`}:                                  "list the extensions",
		{`extensions = [".berlin"]`, "extensions = [\".berlin\"]\nca = \"missing.pem\""}: "missing.pem",
		{`extensions = [".berlin"]`, "extensions = [\".berlin\"]\ncert = \"config.go\""}: "belong together",
		{`extensions = [".berlin"]`, `extensions = ["!.berlin"]`}:                        "which is not listed",
		{`user = "REG-2"`, "user = \"REG-2\"\nconnections = 2\norder_connections = 2"}:   "none is left for lookups",
		{"extensions = [\"*\"]\ncontacts", "contacts"}:                                   "list the extensions",
		{`["registrant", "admin"]`, `["admin"]`}:                                         "the registrant is missing",
		{`nameservers = "objects"`, "min_years = 3\nmax_years = 2"}:                      "more than max_years",
		{`nameservers = "objects"`, `nameservers = "some"`}:                              "is not one of",
		{`"OWN-TECH"`, `"OT"`}:                                                           "a handle has 3 to 16 characters",
		{`addresses = "both"`, `addresses = "ascii"`}:                                    "is not one of",
		{`["registrant", "admin"]`, `["registrant", "none"]`}:                            "can't be combined",
		{`"ns1.example.net"`, `"NS1.example.net"`}:                                       "host name in lower case",
		{`extensions = [".berlin"]`, "extensions = [\".berlin\"]\nconections = 3"}:       "unknown key",
	} {
		_, err := loadText(t, strings.Replace(goodEPP, change[0], change[1], 1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", change[1], err, want)
		}
		if err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("the error contains the password: %v", err)
		}
	}
}
