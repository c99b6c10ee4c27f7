package app

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/sandbox/smtp"
)

// receiveMail waits for the next letter to an address and empties the mailbox.
func receiveMail(t *testing.T, box *smtp.Server, to string) smtp.Mail {
	t.Helper()
	for range 600 {
		if mails := box.Mails(to); len(mails) > 0 {
			box.Clear()
			return mails[0]
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("no letter to %s arrived", to)
	return smtp.Mail{}
}

var visitor = registrar.Actor{Kind: registrar.ActorPerson, Address: netip.MustParseAddr("127.0.0.1")}

func TestMailQueue_MailedLinksWork(t *testing.T) {
	t.Parallel()
	box, err := smtp.Start(smtp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Data, cfg.BaseURL = t.TempDir(), "https://domains.example"
	cfg.Mail = config.Mail{Server: box.Address(), TLS: "none", From: "post@domains.example"}
	metrics := prometheus.NewRegistry()
	hooks := serviceHooks{onMail: (&App{metrics: metrics, now: time.Now}).countMails()}
	services, err := openServicesWith(t.Context(), cfg, slog.New(slog.DiscardHandler), time.Now, hooks)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, work := range services.background {
		running.Go(func() { work(ctx) })
	}
	t.Cleanup(func() {
		stop()
		running.Wait()
		if err := services.Close(); err != nil {
			t.Error(err)
		}
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})

	const address = "erika@kundin.example"
	if err := services.Customers.Register(ctx, visitor, address, "en"); err != nil {
		t.Fatal(err)
	}
	mail := receiveMail(t, box, address)
	secret, found := strings.CutPrefix(mail.Links[0], "https://domains.example/portal/confirm?link=")
	if !found || mail.Subject != "Please confirm your email address" {
		t.Fatalf("%+v", mail)
	}
	if _, err := services.Customers.CheckLink(ctx, account.LinkReset, secret); err == nil {
		t.Error("a link to confirm also resets")
	}
	if _, err := services.Customers.Confirm(ctx, visitor, secret, "ponton-ebbe-rost-duene-22", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := services.Customers.Confirm(ctx, visitor, secret, "", ""); err == nil {
		t.Error("a link works twice")
	}

	if err := services.Customers.RequestPasswordReset(ctx, visitor, address, "de"); err != nil {
		t.Fatal(err)
	}
	mail = receiveMail(t, box, address)
	secret, found = strings.CutPrefix(mail.Links[0], "https://domains.example/portal/reset/new?link=")
	if !found {
		t.Fatalf("%+v", mail)
	}
	if err := services.Customers.ResetPassword(ctx, visitor, secret, "kutter-moewe-tide-welle-07"); err != nil {
		t.Fatal(err)
	}
	if mail := receiveMail(t, box, address); mail.Subject != "Your password was changed" {
		t.Errorf("%+v", mail)
	}

	// A mail is counted just after it arrives.
	sent := 0.0
	for range 600 {
		if sent = sumCounters(t, metrics); sent == 3 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%v mails were counted", sent)
}

// invoiceStore has one invoice.
type invoiceStore struct {
	mailStore
	document *invoice.Document
}

func (s invoiceStore) GetInvoice(context.Context, string) (invoice.Document, bool, error) {
	if s.document == nil {
		return invoice.Document{}, false, nil
	}
	return *s.document, true, nil
}

func TestReceiptAttacher_AttachesInvoiceAndTermsOnce(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.BaseURL = "https://domains.example"
	if attach, err := newReceiptAttacher(cfg, invoiceStore{}); attach != nil || err != nil {
		t.Fatalf("without a company: %v", err)
	}
	cfg.Company.Name, cfg.Company.Street, cfg.Company.PostalCode, cfg.Company.City = "Kontor GmbH", "Kai 1", "20457", "Hamburg"
	issued := &invoice.Document{
		Number: "RE-2026-000001", Kind: invoice.Invoice, Day: "2026-11-18", SuppliedOn: "2026-11-18", PaidOn: "2026-11-18", IssuedAt: time.Now(), Seller: sellerOf(cfg.Company),
		Buyer: invoice.Buyer{Name: "Erika", VATID: "ATU12345678"}, Category: invoice.Standard, Lines: []invoice.Line{{Text: "laden.de: Registrierung, 1 Jahr", Net: 1000, VAT: 190, Gross: 1190}}, Net: 1000, VAT: 190, Gross: 1190, RateBasisPoints: 1900,
	}
	paid := func(consumer string) map[string]string {
		return map[string]string{"gross": "11.90", "consumer": consumer}
	}
	for name, test := range map[string]struct {
		document *invoice.Document
		kind     registrar.MailKind
		data     map[string]string
		age      time.Duration
		language string
		want     string // names of the files
	}{
		"of a consumer":             {issued, registrar.MailOrderCompleted, paid("true"), 0, "de", "RE-2026-000001.pdf AGB-und-Widerrufsbelehrung.txt"},
		"of a business":             {issued, registrar.MailOrderPaid, paid("false"), 0, "en", "RE-2026-000001.pdf terms.txt"},
		"of an unknown buyer":       {issued, registrar.MailOrderPaid, map[string]string{"gross": "11.90"}, 0, "en", "RE-2026-000001.pdf terms-and-withdrawal.txt"},
		"free":                      {nil, registrar.MailOrderPaid, map[string]string{"gross": "0.00", "consumer": "true"}, 0, "de", "AGB-und-Widerrufsbelehrung.txt"},
		"invoice not issued yet":    {nil, registrar.MailOrderPaid, paid("true"), 0, "de", "invoice_pending"},
		"invoice not issued at all": {nil, registrar.MailOrderPaid, paid("true"), time.Hour, "de", "AGB-und-Widerrufsbelehrung.txt"},
		"another mail":              {issued, registrar.MailOrderEnded, paid("true"), 0, "de", ""},
	} {
		attach, err := newReceiptAttacher(cfg, invoiceStore{document: test.document})
		if err != nil {
			t.Fatal(err)
		}
		files, err := attach(t.Context(), mailer.QueuedMail{Kind: test.kind, Data: test.data, Language: test.language, CreatedAt: time.Now().Add(-test.age)})
		names := make([]string, 0, len(files))
		for _, file := range files {
			names = append(names, file.Name)
			if file.Kind == "" || len(file.Content) == 0 || file.Kind != mailer.InvoiceFile && !strings.Contains(strings.Join(strings.Fields(string(file.Content)), " "), "Kontor GmbH, Kai 1") {
				t.Errorf("%s: %s of kind %q: %.200s", name, file.Name, file.Kind, file.Content)
			}
		}
		if got := strings.Join(names, " ") + string(registrar.CodeOf(err)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	cfg.Company.Texts = t.TempDir() + "/none"
	if _, err := newReceiptAttacher(cfg, invoiceStore{}); err == nil {
		t.Error("a missing folder of texts was accepted")
	}
}

func sumCounters(t *testing.T, metrics *prometheus.Registry) float64 {
	t.Helper()
	figures, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, family := range figures {
		for _, one := range family.GetMetric() {
			sum += one.GetCounter().GetValue()
		}
	}
	return sum
}
