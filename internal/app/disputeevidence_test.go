package app

import (
	"archive/zip"
	"bytes"
	"io"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

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
		"summary.txt":              "order_created by person, 192.0.2.7",
		"order.json":               `"beispiel.org"`,
		"events.json":              `"order_created"`,
		"mails/001-order_paid.txt": "beispiel.org für ein Jahr",
		"consent.txt":              "No consent",
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
