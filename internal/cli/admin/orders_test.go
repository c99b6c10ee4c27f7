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
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit/clitest"
)

// dataDirWithOrders returns a service whose customer has an open order and a failed one
// with a refund due.
func dataDirWithOrders(t *testing.T) (settings, open, failed string) {
	t.Helper()
	folder := t.TempDir()
	settings = filepath.Join(folder, "serve.toml")
	if err := os.WriteFile(settings, fmt.Appendf(nil, "base_url = \"https://domains.example\"\ndata = %q\n", folder), 0o600); err != nil {
		t.Fatal(err)
	}
	clitest.MustRun(t, &grammar{}, nil, "customers", "add", "anna@example.com", "--config", settings)
	clitest.MustRun(t, &grammar{}, nil, "customers", "add", "bert@example.com", "--config", settings)
	db, err := store.Open(t.Context(), store.Options{Data: folder})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	anna, found, err := db.ReadCustomers().AccountByEmail(t.Context(), "anna@example.com")
	if err != nil || !found {
		t.Fatalf("found %t, %v", found, err)
	}
	at := time.Date(2026, 11, 15, 8, 0, 0, 0, time.UTC)
	add := func(name string) order.Order {
		o := order.Order{
			ID: registrar.NewID("ord_", at), Customer: anna.ID, Email: anna.Email, State: order.AwaitingPayment, Channel: order.ChannelMCP,
			By: registrar.Actor{Kind: registrar.ActorToken, Customer: anna.ID, Through: "tok_1"}, ByName: "Lap\x1btop", ItemsKey: name,
			PayLink: registrar.SecretHash("hash-" + name), SealedPayLink: "sealed-" + name,
			Items: []order.Item{{
				ID: "itm_" + name, Name: name, TLD: ".org", Kind: order.Register, Years: 1, Net: 1200, VAT: 228, Gross: 1428, State: order.ItemWaiting,
			}},
			Totals:    order.Totals{Net: 1200, VAT: 228, Gross: 1428, RateBasisPoints: 1900, Rule: "germany", Country: "DE", Unchecked: true},
			CreatedAt: at, UpdatedAt: at, ExpiresAt: at.Add(24 * time.Hour),
		}
		o, _, err := db.AddOrder(t.Context(), o, 20, registrar.AuditEvent{Actor: o.By, Action: order.ActionCreated, Customer: anna.ID, Object: o.ID, At: at})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	waiting, refused := add("wartet.org"), add("vergeben.org")
	transition := order.Transition{From: refused, To: refused}
	transition.To.State, transition.To.PaidAt = order.Failed, at
	transition.To.Consent = order.Consent{At: at, Wording: order.ConsentWording("de")}
	transition.To.Items = []order.Item{refused.Items[0]}
	transition.To.Items[0].State, transition.To.Items[0].Failure = order.ItemFailed, registrar.NameHeld
	transition.To.Payments = []order.Payment{{ID: "pay_1", State: order.PaymentCaptured, Amount: 1428, Session: "cs_1", Intent: "pi_1", CreatedAt: at, UpdatedAt: at}}
	transition.To.Refunds = []order.Refund{{ID: "rfd_1", Payment: "pay_1", Item: "itm_vergeben.org", Amount: 1428, CreatedAt: at}}
	if moved, err := db.UpdateOrder(t.Context(), transition); err != nil || !moved {
		t.Fatalf("moved %t, %v", moved, err)
	}
	return settings, waiting.ID, refused.ID
}

func TestOrders_ListAndShowPaymentsAndRefunds(t *testing.T) {
	t.Parallel()
	settings, open, failed := dataDirWithOrders(t)
	for _, test := range []struct {
		args  string
		wants []string
		not   string
	}{
		{"orders list", []string{open + `  awaiting_payment .* 14\.28 .* wartet\.org\n`, failed + `  failed `}, ""},
		{"orders list --open", []string{open, failed}, ""}, // the failed order has a refund due
		{"orders list --customer anna@example.com --json", []string{
			`"status":"awaiting_payment","domains":\["wartet\.org"\],"gross":14\.28,"refunds_due":0,"created_at":"2026-11-15T08:00:00Z","paid_at":null`,
			`"status":"failed","domains":\["vergeben\.org"\],"gross":14\.28,"refunds_due":1`,
		}, ""},
		{"orders list --customer bert@example.com", []string{"^no entries\n$"}, "ord_"},
		{"orders show " + failed, []string{
			"^" + failed + "  failed\n", `consent \(UTC\) +2026-11-15 08:00 ` + order.ConsentWording("de") + `\n`, `12\.00 \+ 2\.28 = 14\.28`, `germany DE 19\.00 % \(VAT ID not verified`, `token tok_1 Lap.top`,
			`itm_vergeben\.org  register  failed +14\.28  vergeben\.org  -  \(name_held\)`,
			`pay_1  payment +captured +14\.28  2026-11-15 08:00  cs_1  pi_1`, `rfd_1  refund +due +14\.28  2026-11-15 08:00  -  itm_vergeben\.org`,
		}, "hash-|sealed-|\x1b"},
	} {
		out, _ := clitest.MustRun(t, &grammar{}, nil, append(strings.Fields(test.args), "--config", settings)...)
		for _, want := range test.wants {
			if !regexp.MustCompile(want).Match(out) {
				t.Errorf("%s does not print %s:\n%s", test.args, want, out)
			}
		}
		if test.not != "" && regexp.MustCompile(test.not).Match(out) {
			t.Errorf("%s prints something that matches %q:\n%s", test.args, test.not, out)
		}
	}
	for _, id := range []string{"ord_nothing", "\xff"} {
		if code, _, errOut := clitest.Run(t, &grammar{}, nil, "orders", "show", id, "--config", settings); code != cli.ExitError || !strings.Contains(errOut, "no such order") {
			t.Errorf("%q: %d, %s", id, code, errOut)
		}
	}
}
