package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/test/testkit/clitest"
)

// reconcileEnv is a service with one paid order, and the payment provider's records.
type reconcileEnv struct {
	folder, config             string
	charges, refunds, disputes string // JSON objects, separated by commas
}

func newReconcileEnv(t *testing.T) *reconcileEnv {
	t.Helper()
	b := &reconcileEnv{
		folder:  clitest.DataDirWithCustomer(t),
		charges: `{"id":"ch_1","object":"charge","amount":1190,"amount_captured":1190,"amount_refunded":0,"captured":true,"currency":"eur","created":1000,"status":"succeeded","payment_intent":"pi_1","metadata":{"order":"ord_1","payment":"pay_1"}}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data := b.refunds
		if r.URL.Path == "/v1/charges" {
			data = b.charges
		}
		if r.URL.Path == "/v1/disputes" {
			data = b.disputes
		}
		_, _ = io.WriteString(w, `{"object":"list","has_more":false,"data":[`+data+`]}`)
	}))
	t.Cleanup(server.Close)
	b.config = filepath.Join(b.folder, "serve.toml")
	text := fmt.Sprintf("data = %q\n[stripe]\nsecret_key = %q\nwebhook_secrets = [%q]\napi_url = %q\n",
		b.folder, "sk_test_"+strings.Repeat("b", 32), "whsec_"+strings.Repeat("b", 32), server.URL)
	if err := os.WriteFile(b.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		`INSERT INTO orders (id, customer_id, email_key, state, channel, by_kind, by_id, by_address, by_name, items_key, net, vat, gross, vat_rate, vat_rule, vat_country,
			vat_id, vat_unchecked, pay_link, pay_sealed, verify_link, verify_sealed, created_at, updated_at, expires_at, paid_at, open_order)
			VALUES ('ord_1', 'cus_1', 'anna', 'completed', 'mcp', 'token', 'tok_1', '', '', 'k', 1000, 190, 1190, 1900, 'domestic', 'DE', '', 0, 'p', '', 'v', '', 1, 1, 1, 1, 0)`,
		`INSERT INTO order_items (id, order_id, position, name, tld, kind, years, net, vat, gross, account, provision_item_id, state)
			VALUES ('itm_1', 'ord_1', 0, 'anna.org', '.org', 'register', 1, 1000, 190, 1190, 'one', 'prv_1', 'active')`,
		`INSERT INTO payments (id, order_id, customer_id, state, amount, session, intent, created_at, ends_at, updated_at) VALUES ('pay_1', 'ord_1', 'cus_1', 'captured', 1190, 'cs_1', 'pi_1', 1, 1, 1)`,
		`INSERT INTO domains (id, customer_id, name, tld, status, paid_until, account, created_at, updated_at) VALUES ('dom_1', 'cus_1', 'anna.org', '.org', 'active', 1, 'one', 1, 1)`,
		`INSERT INTO provision_items (id, customer_id, name, tld, kind, years, payment, state, account, domain_id, requested_at, due_at, created_at, updated_at)
			VALUES ('prv_1', 'cus_1', 'anna.org', '.org', 'register', 1, 'order:ord_1', 'active', 'one', 'dom_1', 1, 0, 1, 1)`,
		`INSERT INTO invoices (id, order_id, refund_id, kind, series, number, label, net, vat, gross, issued_at, content)
			VALUES ('inv_1', 'ord_1', '', 'invoice', 'RE-1970', 1, 'RE-1970-000001', 1000, 190, 1190, 1, '{}')`,
	} {
		b.exec(t, row)
	}
	return b
}

func (b *reconcileEnv) exec(t *testing.T, change string) {
	t.Helper()
	clitest.ExecSQL(t, "sqlite", filepath.Join(b.folder, "dotkontor.db"), change)
}

func TestReconcile_CleanReportShowsTotals(t *testing.T) {
	t.Parallel()
	b := newReconcileEnv(t)
	out, errOut := clitest.MustRun(t, &grammar{}, nil, "doctor", "--reconcile", "--config", b.config)
	if got, want := string(out), "no differences: 1 orders, 1 invoices, 1 provision items, 0 automatic renewals, 1 domains; 1 charges of 11.90 EUR, 0 refunds of 0.00 EUR\n"; got != want || errOut != "" {
		t.Errorf("got %q, %q; want %q", got, errOut, want)
	}
}

func TestReconcile_FindsMismatchInEveryTable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, change, charges, refunds, disputes, want string
	}{
		{name: "an order", change: `UPDATE orders SET gross = 1191`, want: "FAIL  totals     ord_1: the items add up to"},
		{name: "an invoice", change: `UPDATE invoices SET gross = 1191`, want: "FAIL  invoice    ord_1: RE-1970-000001 says 10.00 + 1.90 = 11.91, the order 10.00 + 1.90 = 11.90"},
		{name: "no invoice", change: `DELETE FROM invoices`, want: "FAIL  invoice    ord_1: the invoice should exist once and exists 0 times"},
		{
			name: "an invoice that waits", change: `INSERT INTO pending_invoices (id, order_id, refund_id, buyer, created_at) VALUES ('due_1', 'ord_1', '', '', 1)`,
			want: "FAIL  stuck      ord_1: the invoice is pending since 1970-01-01 00:00:00; is company.name set?",
		},
		{name: "an item", change: `UPDATE provision_items SET state = 'paid'`, want: "FAIL  item       prv_1: the provision item for anna.org is open"},
		{name: "a domain", change: `DELETE FROM domains`, want: "FAIL  domain     prv_1: anna.org is provisioned and there is no domain dom_1"},
		{name: "no charge", charges: " ", want: "FAIL  charge     ord_1: payment pay_1 is captured and has 0 charges"},
		{name: "a charge that failed", charges: `{"id":"ch_1","amount":1190,"captured":true,"currency":"eur","status":"failed","payment_intent":"pi_1"}`, want: "payment pay_1 is captured and has 0 charges"},
		{
			name: "a dispute", disputes: `{"id":"du_1","object":"dispute","amount":1190,"created":1000,"status":"lost","charge":"ch_1","payment_intent":"pi_1"}`,
			want: "FAIL  dispute    du_1: the provider has a dispute over 11.90 that is not stored",
		},
		{name: "a refund", refunds: `{"id":"re_1","object":"refund","amount":1190,"created":1000,"status":"succeeded","payment_intent":"pi_1"}`, want: "FAIL  refund     re_1: the provider refunded 11.90 of ord_1 without a refund here"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newReconcileEnv(t)
			if test.change != "" {
				b.exec(t, test.change)
			}
			if test.charges != "" {
				b.charges = strings.TrimSpace(test.charges)
			}
			b.refunds, b.disputes = test.refunds, test.disputes
			code, out, errOut := clitest.Run(t, &grammar{}, nil, "doctor", "--reconcile", "--config", b.config)
			if code != cli.ExitError || !strings.Contains(string(out), test.want) || !strings.Contains(string(out), " findings: ") {
				t.Errorf("exit %d, %s%s", code, out, errOut)
			}
		})
	}
}

func TestReconcile_JSON(t *testing.T) {
	t.Parallel()
	b := newReconcileEnv(t)
	out, _ := clitest.MustRun(t, &grammar{}, nil, "doctor", "--reconcile", "--json", "--config", b.config)
	var report struct {
		OK       bool              `json:"ok"`
		Findings []json.RawMessage `json:"findings"`
		Orders   int               `json:"orders"`
		Charged  json.Number       `json:"chargedEur"`
	}
	if err := json.Unmarshal(out, &report); err != nil || !report.OK || report.Findings == nil || report.Orders != 1 || report.Charged != "11.90" {
		t.Errorf("%v: %s", err, out)
	}
}

func TestReconcile_WarnsBeforeOSSThreshold(t *testing.T) {
	t.Parallel()
	b := newReconcileEnv(t)
	// An order that is paid in the far future counts in every current year.
	b.exec(t, `UPDATE orders SET vat_rule = 'eu_consumer', vat_country = 'DE', net = 800000, vat = 152000, gross = 952000, paid_at = 4102444800000000`)
	b.exec(t, `UPDATE order_items SET net = 800000, vat = 152000, gross = 952000`)
	b.exec(t, `UPDATE payments SET amount = 952000`)
	b.exec(t, `UPDATE invoices SET net = 800000, vat = 152000, gross = 952000`)
	b.charges = strings.ReplaceAll(b.charges, "1190", "952000")
	out, _ := clitest.MustRun(t, &grammar{}, nil, "doctor", "--reconcile", "--config", b.config)
	if !strings.Contains(string(out), "WARN  vat        sales to consumers in other EU countries are 8000.00 EUR this year; at 10000.00 EUR") {
		t.Errorf("%s", out)
	}
}

func TestReconcile_UnreadableProviderFails(t *testing.T) {
	t.Parallel()
	b := newReconcileEnv(t)
	b.charges = "not JSON"
	code, out, errOut := clitest.Run(t, &grammar{}, nil, "doctor", "--reconcile", "--config", b.config)
	if code != cli.ExitError || len(out) != 0 || !strings.Contains(errOut, "reconcile: read charges") {
		t.Errorf("exit %d, %s%s", code, out, errOut)
	}
}

func TestDoctor_RequiresOneTarget(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"with --url URL":    {"doctor"},
		"can't be combined": {"doctor", "--reconcile", "--url", "https://domains.example"},
		"--patience":        {"doctor", "--reconcile", "--patience", "-1s"},
	} {
		if code, _, errOut := clitest.Run(t, &grammar{}, nil, args...); code != cli.ExitUsage || !strings.Contains(errOut, want) {
			t.Errorf("%v: exit %d, %s", args, code, errOut)
		}
	}
}
