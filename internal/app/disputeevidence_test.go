package app

import (
	"archive/zip"
	"bytes"
	"io"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/upstream/smtp"
	"github.com/dotkontor/dotkontor/internal/web/operator"
)

var (
	// rawCode matches our codes, not ids, which have digits.
	rawCode       = regexp.MustCompile(`\b[a-z]+(_[a-z]+)+\b`)
	parenthesised = regexp.MustCompile(`\([^)]*\)`)
)

func TestDisputeEvidence_EveryCodeHasWords(t *testing.T) {
	t.Parallel()
	codes := map[string][]string{
		"what":         {"register", "transfer", "renew", "restore"},
		"who":          {"person", "token", "application", "agent", "operator", "system"},
		"channel":      {"mcp", "acp", "portal", "renewal"},
		"payment_kind": {string(order.ByPage), string(order.ByToken), string(order.ByMethod)},
		"refund_state": {"due", "made", "returned", "refused"},
	}
	for _, state := range order.States() {
		codes["state"] = append(codes["state"], string(state))
	}
	for _, state := range order.PaymentStates() {
		codes["payment"] = append(codes["payment"], string(state))
	}
	for _, status := range dispute.Statuses() {
		codes["dispute_status"] = append(codes["dispute_status"], string(status))
	}
	codes["refund_reason"] = order.OperatorReasons()
	for _, kind := range smtp.MailKinds() {
		if kind.IsNotice() {
			codes["mail"] = append(codes["mail"], string(kind))
		}
	}
	for kind, all := range codes {
		for _, code := range all {
			if _, known := operator.EnglishText(kind + "." + code); !known {
				t.Errorf("there are no words for %s.%s", kind, code)
			}
		}
	}
	if got := inWords("state", "some_new_state") + "; " + actionInWords("some_action") + "; " + strings.Join(statusesInWords([]string{"clientHold", "odd"}), ", "); got != "some new state; some action; taken out of the DNS by the provider (clientHold), odd" {
		t.Errorf("without words: %s", got)
	}
}

func TestDisputeEvidence_SaysThatDomainWasDeleted(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 3, 14, 5, 0, 0, time.UTC)
	record := operator.OrderRecord{
		Order: order.Order{
			ID: "ord_1", State: order.Completed, Channel: order.ChannelRenewal, PaidAt: at,
			Items: []order.Item{{ID: "itm_1", Name: "weg.org", Kind: order.Renew, Years: 2, Gross: 2856, State: order.ItemActive}},
			Payments: []order.Payment{{
				Kind: order.ByMethod, State: order.PaymentCaptured, Amount: 2856, Intent: "pi_1", Card: "fingerprint", URL: "https://pay.example/secret", CreatedAt: at,
			}},
			Refunds: []order.Refund{{Amount: 2856, Provider: "re_1", Source: order.ByOperator, Reason: "goodwill", Note: "our note", By: "cus_ops", MadeAt: at}},
		},
		Ended: map[string]lifecycle.EndedDomain{"itm_1": {At: at}},
	}
	text := string(orderEvidence(record))
	for _, want := range []string{
		"weg.org: Renewal, 2 years, 28.56 EUR, active until it was deleted on 2026-11-03 14:05:00 UTC", "28.56 EUR, paid, saved payment method, pi_1",
		"28.56 EUR, refunded, goodwill, re_1", "via automatic renewal",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q:\n%s", want, text)
		}
	}
	for _, never := range []string{"fingerprint", "pay.example", "our note", "cus_ops", "captured"} {
		if strings.Contains(text, never) {
			t.Errorf("contains %q:\n%s", never, text)
		}
	}
}

func TestDisputeEvidence_TellsTheBankWhatHappened(t *testing.T) {
	t.Parallel()
	services := openTestServices(t)
	t.Cleanup(func() { _ = services.Close() })
	at := time.Date(2026, 11, 3, 14, 5, 0, 0, time.UTC)
	recorder, err := admin.New(admin.Config{Store: services.DB})
	if err != nil {
		t.Fatal(err)
	}
	p := &App{services: services, admin: recorder, now: func() time.Time { return at.Add(time.Hour) }}
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "test", Address: netip.MustParseAddr("192.0.2.200")}
	anna, _, err := services.Customers.Add(t.Context(), operator, "anna@example.com", "de")
	if err != nil {
		t.Fatal(err)
	}

	buyer := registrar.Actor{Kind: registrar.ActorPerson, Customer: anna.ID, Through: "ses_1", Address: netip.MustParseAddr("192.0.2.7")}
	id := registrar.NewID("ord_", at)
	o, added, err := services.DB.AddOrder(t.Context(), order.Order{
		ID: id, Customer: anna.ID, Email: "anna@example.com", State: order.AwaitingPayment, Channel: order.ChannelPortal,
		By: buyer, Claimed: true, PayLink: "hash-of-link", SealedPayLink: "sealed-link", CreatedAt: at, UpdatedAt: at, ExpiresAt: at.Add(time.Hour), Version: 1,
		Totals: order.Totals{Net: 1200, VAT: 228, Gross: 1428},
		Items: []order.Item{{
			ID: registrar.NewID("itm_", at), Name: "beispiel.org", TLD: ".org", Kind: order.Register, Years: 1, Net: 1200, VAT: 228, Gross: 1428, State: order.ItemWaiting,
		}},
	}, 10, registrar.AuditEvent{Actor: buyer, Action: order.ActionCreated, Customer: anna.ID, Object: id, At: at})
	if err != nil || !added {
		t.Fatalf("added %t, %v", added, err)
	}
	receipt := mailer.QueuedMail{ID: "mail_" + o.ID, Kind: registrar.MailOrderPaid, Customer: anna.ID, To: o.Email, Data: map[string]string{"order": o.ID}, CreatedAt: at}
	sent := &mailer.Evidence{Mail: receipt, Delivery: mailer.Delivery{Subject: "Ihre Bestellung", Text: "beispiel.org für ein Jahr", Response: "250 ok"}, At: at, Accepted: true}
	if err := services.DB.DeleteMail(t.Context(), receipt.ID, sent); err != nil {
		t.Fatal(err)
	}

	archive, err := p.disputeEvidence(t.Context(), operator, dispute.Dispute{Order: o.ID, Report: dispute.Report{
		ID: "du_1", Charge: "ch_1", Reason: "fraudulent", Currency: "eur", Amount: 1428, Charged: 1428, OpenedAt: at,
	}})
	if err != nil {
		t.Fatal(err)
	}
	files := unzip(t, archive)
	for name, want := range map[string]string{
		"summary.txt":                   "Order prepared, by the customer, 192.0.2.7",
		"dispute.txt":                   "Reported as fraudulent (fraudulent)",
		"order.txt":                     "beispiel.org: Registration, 1 year, 14.28 EUR, waiting",
		"events.txt":                    "2026-11-03 14:05:00 UTC  Order prepared, by the customer, 192.0.2.7",
		"mails/001-payment-receipt.txt": "beispiel.org für ein Jahr",
		"consent.txt":                   "No consent",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s lacks %q:\n%s", name, want, files[name])
		}
	}
	for name, text := range files {
		for _, secret := range []string{"hash-of-link", "sealed-link", "192.0.2.200", "customer_viewed"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s contains %s", name, secret)
			}
		}
		if code := rawCode.FindString(parenthesised.ReplaceAllString(name+"\n"+text, "")); code != "" {
			t.Errorf("%s contains the code %s:\n%s", name, code, text)
		}
		if name != "summary.txt" && !strings.Contains(files["summary.txt"], name) {
			t.Errorf("the summary does not list %s", name)
		}
	}
}

func unzip(t *testing.T, archive []byte) map[string]string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string, len(r.File))
	for _, file := range r.File {
		opened, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(opened)
		if err != nil {
			t.Fatal(err)
		}
		files[file.Name] = string(text)
	}
	return files
}
