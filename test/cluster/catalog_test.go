package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// runCommand runs an operator command against the database.
func (p testDB) runCommand(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), suite.binary, args...)
	cmd.Env = append(testkit.Environment(), p.settings...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	return out.String(), errOut.String(), err
}

// price returns the price of .de that a node quotes.
func (n *node) price() string {
	n.t.Helper()
	return fmt.Sprint(n.callTool("", "tld_price", map[string]any{"tld": ".de"}).content["registerEur"])
}

func TestCatalogImport_AllNodesQuoteNewPriceWithinASecond(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]func(*testing.T) testDB{"sqlite": newSQLite, "postgres": newPostgres} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := database(t)
			const unlimited = "DOTKONTOR_LIMITS_LOOKUP_PER_MINUTE=10000"
			nodes := []*node{p.startNode(t, unlimited)}
			if name == "postgres" { // SQLite allows one node only
				nodes = append(nodes, p.startNode(t, unlimited), p.startNode(t, unlimited))
			}
			list, _, err := p.runCommand(t, "catalog", "export", "--config", suite.config)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "list.csv")
			if err := os.WriteFile(file, []byte(strings.Replace(list, "\n.de,6.90,", "\n.de,8.80,", 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, errOut, err := p.runCommand(t, "catalog", "import", "--config", suite.config, file); err != nil {
				t.Fatalf("%v: %s", err, errOut)
			}
			imported := time.Now()
			for i, n := range nodes {
				for n.price() != "8.8" {
					if time.Since(imported) > waitTimeout {
						t.Fatalf("node %d still quotes %s", i, n.price())
					}
					time.Sleep(10 * time.Millisecond)
				}
			}
			t.Logf("%d nodes had the new price after %s", len(nodes), time.Since(imported))
		})
	}
}

func TestConfigCheckConnect_ReportsEveryUpstreamInOneRun(t *testing.T) {
	t.Parallel()
	p := newSQLite(t)
	out, errOut, err := p.runCommand(t, "config", "check", "--connect", suite.config)
	if err != nil {
		t.Fatalf("%v: %s", err, errOut)
	}
	upstreams := []string{"database (SQLite)", "epp sandbox (", "stripe", "VIES", "mail (", "IANA bootstrap (", "DNS resolvers"}
	for _, upstream := range upstreams {
		if !strings.Contains(out, "ok   "+upstream) {
			t.Errorf("no line for %s in:\n%s", upstream, out)
		}
	}
	// Ports without a listener.
	p.settings = append(p.settings, "DOTKONTOR_MAIL_SERVER=127.0.0.1:1", "DOTKONTOR_STRIPE_API_URL=http://127.0.0.1:1", "DOTKONTOR_UPSTREAM_DNS=127.0.0.1:1")
	out, errOut, err = p.runCommand(t, "config", "check", "--connect", suite.config)
	if err == nil {
		t.Fatal("closed ports were not reported")
	}
	for upstream, setting := range map[string]string{"mail (127.0.0.1:1): ": "check mail.server", "stripe: ": "check stripe.api_url", "DNS resolvers: ": "check upstream.dns"} {
		_, line, found := strings.Cut(out, "FAIL "+upstream)
		line, _, _ = strings.Cut(line, "\n")
		if !found || !strings.Contains(line, setting) || strings.Contains(line, "registr") {
			t.Errorf("no line for %s with %q in:\n%s", upstream, setting, out)
		}
	}
	if strings.Contains(errOut, "127.0.0.1:1") {
		t.Errorf("failures on standard error:\n%s", errOut)
	}
	for _, upstream := range []string{"epp sandbox (", "VIES", "IANA bootstrap ("} {
		if !strings.Contains(out, "ok   "+upstream) {
			t.Errorf("one failure hid %s:\n%s", upstream, out)
		}
	}
}
