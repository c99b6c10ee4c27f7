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
	hooks := serviceHooks{onMail: (&App{metrics: metrics}).countMails()}
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
