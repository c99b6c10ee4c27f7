package contract

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// priceEffectiveWithin bounds how long a running product quotes an old price.
const priceEffectiveWithin = 10 * time.Second

// priceList writes the current list with one text replaced and returns the path.
func priceList(t *testing.T, data, old, replacement string) string {
	t.Helper()
	got := runCLI(t, "catalog", "export", "--data", data)
	if got.code != 0 || !strings.Contains(got.out, old) {
		t.Fatalf("export: exit code %d, %q is not in it\n%s", got.code, old, got.errOut)
	}
	path := filepath.Join(t.TempDir(), "list.csv")
	if err := os.WriteFile(path, []byte(strings.Replace(got.out, old, replacement, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCatalogImport_PriceEffectiveWithoutRestart(t *testing.T) {
	t.Parallel()
	sandbox, err := startSandbox("sandbox-prices")
	if err != nil {
		t.Fatal(err)
	}
	for _, on := range []*target{sandbox, startOwnServe(t, "serve-prices")} {
		t.Run(on.name, func(t *testing.T) {
			const domain = marker + "-preis.de"
			wantResponse(t, "before", newCaller(t, on).check(domain), http.StatusOK, wantFields{"registerEur": "6.90", "renewEur": "5.90"})

			list := priceList(t, on.data, "\n.de,6.90,", "\n.de,4.50,")
			done := runCLI(t, "catalog", "import", "--data", on.data, list)
			if done.code != 0 || !strings.Contains(done.out, "6.90 -> 4.50") {
				t.Fatalf("import: exit code %d\n%s%s", done.code, done.out, done.errOut)
			}
			imported := time.Now()
			testkit.Eventually(t, "new price", func() bool {
				return string(newCaller(t, on).check(domain).fields["registerEur"]) == "4.50"
			})
			if took := time.Since(imported); took > priceEffectiveWithin {
				t.Errorf("the new price took %s", took)
			}
			wantResponse(t, "after", newCaller(t, on).check(domain), http.StatusOK, wantFields{"renewEur": "5.90", "transferEur": "5.90"})
			first := entries(t, "search", newCaller(t, on).search(marker))[0]
			wantEntry(t, "search", first, wantFields{"tld": `".de"`, "priceEur": "4.50"})

			before := runCLI(t, "catalog", "export", "--data", on.data)
			refused := priceList(t, on.data, "\n.abogado,28.90,", "\n.abogado,gratis,")
			done = runCLI(t, "catalog", "import", "--data", on.data, refused)
			if done.code != 1 || !strings.Contains(done.errOut, "line 2, register") {
				t.Errorf("a list with a wrong row: exit code %d\n%s%s", done.code, done.out, done.errOut)
			}
			if after := runCLI(t, "catalog", "export", "--data", on.data); after.out != before.out {
				t.Error("a refused list has changed the current one")
			}
			wantResponse(t, "after the refusal", newCaller(t, on).check(domain), http.StatusOK, wantFields{"registerEur": "4.50"})
		})
	}
}
