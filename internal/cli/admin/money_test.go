package admin

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit/clitest"
)

// completeOrder marks an order as paid and completed.
func completeOrder(t *testing.T, settings, id string) {
	t.Helper()
	db := openData(t, settings)
	o, found, err := db.OrderByID(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("found %t, %v", found, err)
	}
	move := order.Transition{From: o, To: o, At: o.CreatedAt}
	move.To.State, move.To.PaidAt, move.To.Version = order.Completed, o.CreatedAt, o.Version+1
	move.To.Items = []order.Item{o.Items[0]}
	move.To.Items[0].State = order.ItemActive
	move.To.Payments = []order.Payment{{ID: "pay_2", State: order.PaymentCaptured, Amount: 1428, Intent: "pi_2", CreatedAt: o.CreatedAt, UpdatedAt: o.CreatedAt}}
	if moved, err := db.UpdateOrder(t.Context(), move); err != nil || !moved {
		t.Fatalf("moved %t, %v", moved, err)
	}
}

func openData(t *testing.T, settings string) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{Data: filepath.Dir(settings)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// mustFail runs a command line that has to fail with this text.
func mustFail(t *testing.T, settings, want string, args ...string) {
	t.Helper()
	code, _, errOut := clitest.Run(t, &grammar{}, nil, append(args, "--config", settings)...)
	if code == cli.ExitOK || !strings.Contains(errOut, want) {
		t.Errorf("%s: exit code %d, want %q: %s", strings.Join(args, " "), code, want, errOut)
	}
}

func TestOrdersRefund_PrintsPreviewAndStoresWithYes(t *testing.T) {
	t.Parallel()
	settings, id, failed := dataDirWithOrders(t)
	refunds := func() []order.Refund {
		o, _, err := openData(t, settings).OrderByID(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return o.Refunds
	}
	args := []string{"orders", "refund", id, "--reason", "goodwill", "--note", "zu langsam", "--domain", "Wartet.org", "--amount", "5.00"}
	mustFail(t, settings, "the order is not paid", args...)
	completeOrder(t, settings, id)
	out, _ := clitest.MustRun(t, &grammar{}, nil, append(args, "--config", settings)...)
	for _, want := range []string{`5\.00  of +14\.28  wartet\.org`, `net 4\.20 \+ VAT 0\.80, on one credit note`, `Nothing was changed`} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("the preview has no %q: %s", want, out)
		}
	}
	for _, bad := range [][]string{
		{"exceeds what is left", "--amount", "14.29"}, {"needs a reason", "--amount", "0.00"}, {"no such item", "--domain", "andere.org"}, {"no domain that can be deleted", "--delete", "--yes"},
	} {
		mustFail(t, settings, bad[0], append([]string{"orders", "refund", id, "--reason", "goodwill", "--note", "x"}, bad[1:]...)...)
	}
	mustFail(t, settings, "--reason", "orders", "refund", id, "--reason", "laune", "--note", "x")
	mustFail(t, settings, "everything is refunded already", "orders", "refund", failed, "--reason", "goodwill", "--note", "x")
	if stored := refunds(); len(stored) != 0 {
		t.Fatalf("a preview or an error stored %+v", stored)
	}
	out, _ = clitest.MustRun(t, &grammar{}, nil, append(args, "--yes", "--config", settings)...)
	stored := refunds()
	if len(stored) != 1 || stored[0].Amount != 500 || stored[0].Note != "zu langsam" || !stored[0].Due() || !strings.Contains(string(out), stored[0].ID) {
		t.Errorf("stored %+v: %s", stored, out)
	}
}

func settingsWithRegistry(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	settings := filepath.Join(folder, "serve.toml")
	text := fmt.Sprintf("base_url = \"https://domains.example\"\ndata = %q\n[[epp]]\nname = \"acme\"\nserver = \"127.0.0.1:700\"\nuser = \"client-1\"\npassword = \"geheim-1\"\nextensions = [\".com\"]\n", folder)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	clitest.MustRun(t, &grammar{}, nil, "customers", "add", "anna@example.com", "--config", settings) // creates the database
	return settings
}

func TestRegistryFunds_StoresValidEntriesOnly(t *testing.T) {
	t.Parallel()
	settings := settingsWithRegistry(t)
	for _, entry := range [][]string{
		{"opening", "500.00", "--at", "2026-11-01T00:00:00Z"}, {"deposit", "100.5", "--reference", "Beleg 7"}, {"statement", "-3.25", "--currency", "USD"},
	} {
		args := append([]string{"registry", "funds", "acme", "--config", settings}, entry[2:]...)
		clitest.MustRun(t, &grammar{}, nil, append(args, "--", entry[0], entry[1])...)
	}
	mustFail(t, settings, "no registry account is named", "registry", "funds", "other", "deposit", "1.00")
	mustFail(t, settings, "500.00", "registry", "funds", "acme", "deposit", "viel")
	mustFail(t, settings, "an entry needs an amount", "registry", "funds", "acme", "deposit", "0.00")
	mustFail(t, settings, "an entry needs an amount", "registry", "funds", "acme", "deposit", "1.00", "--currency", "euro")
	mustFail(t, settings, "--at", "registry", "funds", "acme", "deposit", "1.00", "--at", "gestern")
	mustFail(t, settings, "has an opening balance", "registry", "funds", "acme", "opening", "1.00")
	entries, err := openData(t, settings).ListRegistryFunds(t.Context(), 10)
	if err != nil || len(entries) != 3 || entries[0].Kind != cost.Opening || entries[0].Amount.String() != "500.00 EUR" || entries[0].At.Format(time.DateOnly) != "2026-11-01" {
		t.Errorf("stored %+v, %v", entries, err)
	}
}

func TestRegistryRates_StoresAllOrNothing(t *testing.T) {
	t.Parallel()
	settings := settingsWithRegistry(t)
	day := time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly)
	clitest.MustRun(t, &grammar{}, []byte("Date,USD,GBP,\n"+day+",1.25,0.8,\n"), "registry", "rates", "-", "--config", settings)
	code, _, errOut := clitest.Run(t, &grammar{}, []byte("Date,USD,\n"+day+",1.30,\n"+day+",viel,\n"), "registry", "rates", "-", "--config", settings)
	if code == cli.ExitOK || !strings.Contains(errOut, "nothing was changed: line 3") {
		t.Errorf("a bad file: exit code %d: %s", code, errOut)
	}
	rates, err := openData(t, settings).ListExchangeRates(t.Context(), time.Now().AddDate(0, 0, -7))
	if err != nil || len(rates) != 2 || rates[1] != (cost.Rate{Day: day, Currency: "USD", Value: 1_250_000}) {
		t.Errorf("stored %+v, %v", rates, err)
	}
}

func TestCatalogAllowBelowCost_ChangesOneExtensionAndBack(t *testing.T) {
	t.Parallel()
	settings := settingsWithRegistry(t)
	list := "tld,register,renew,transfer,restore,min_years,max_years,popular,requires,verify,rdap,whois,cost_currency,cost_register,cost_renew,cost_transfer,cost_restore,below_cost\n" +
		".com,10.00,12.00,12.00,80.00,1,10,yes,,,,,EUR,11.00,11.00,11.00,60.00,\n.org,10.00,12.00,12.00,80.00,1,10,,,,,,EUR,9.00,9.00,9.00,60.00,\n"
	importList := func(args ...string) (int, string) {
		code, _, errOut := clitest.Run(t, &grammar{}, []byte(list), append([]string{"catalog", "import", "--config", settings, "-"}, args...)...)
		return code, errOut
	}
	if code, errOut := importList(); code == cli.ExitOK {
		t.Errorf("a list with prices below cost needs no confirmation: %s", errOut)
	}
	if code, errOut := importList("--yes"); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, errOut)
	}
	exported := func() string {
		out, _ := clitest.MustRun(t, &grammar{}, nil, "catalog", "export", "--config", settings)
		return string(out)
	}
	before := exported()
	clitest.MustRun(t, &grammar{}, nil, "catalog", "allow-below-cost", ".com", "--config", settings)
	if got := exported(); got != strings.Replace(before, "11.00,60.00,\n", "11.00,60.00,yes\n", 1) {
		t.Errorf("allowed:\n%s", got)
	}
	mustFail(t, settings, "the price list has no extension .zzz", "catalog", "allow-below-cost", ".zzz")
	clitest.MustRun(t, &grammar{}, nil, "catalog", "allow-below-cost", ".com", "--forbid", "--config", settings)
	if got := exported(); got != before {
		t.Errorf("forbidden again:\n%s", got)
	}
}
