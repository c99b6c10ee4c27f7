package main

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/sandbox/inbox"
)

// arrived waits for the next letter to an address and empties the mailbox.
func arrived(t *testing.T, box *inbox.Inbox, to string) inbox.Mail {
	t.Helper()
	for range 600 {
		if mails := box.Mails(to); len(mails) > 0 {
			box.Empty()
			return mails[0]
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("no letter to %s arrived", to)
	return inbox.Mail{}
}

func TestLinksThatArriveByMailWork(t *testing.T) {
	t.Parallel()
	box, err := inbox.Start(inbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Default()
	cfg.Data, cfg.BaseURL = t.TempDir(), "https://domains.example"
	cfg.Mail = config.Mail{Server: box.Address(), TLS: "none", From: "post@domains.example"}
	people, err := openAccounts(t.Context(), cfg, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	metrics := prometheus.NewRegistry()
	if err := people.post.count(metrics); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, work := range people.background {
		running.Go(func() { work(ctx) })
	}
	t.Cleanup(func() {
		stop()
		running.Wait()
		if err := people.close(); err != nil {
			t.Error(err)
		}
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})

	const address = "erika@kundin.example"
	if err := people.customers.Register(ctx, visitor, customer.Registration{Email: address, Language: "en"}); err != nil {
		t.Fatal(err)
	}
	mail := arrived(t, box, address)
	secret, found := strings.CutPrefix(mail.Links[0], "https://domains.example/portal/confirm?link=")
	if !found || mail.Subject != "Please confirm your e-mail address" {
		t.Fatalf("%+v", mail)
	}
	if _, err := people.customers.PeekLink(ctx, customer.LinkReset, secret); err == nil {
		t.Error("a link to confirm also resets")
	}
	if _, err := people.customers.Confirm(ctx, visitor, secret, customer.Confirmation{Password: "ponton-ebbe-rost-duene-22"}); err != nil {
		t.Fatal(err)
	}
	if _, err := people.customers.Confirm(ctx, visitor, secret, customer.Confirmation{}); err == nil {
		t.Error("a link works twice")
	}

	if err := people.customers.AskReset(ctx, visitor, address, "de"); err != nil {
		t.Fatal(err)
	}
	mail = arrived(t, box, address)
	secret, found = strings.CutPrefix(mail.Links[0], "https://domains.example/portal/reset/new?link=")
	if !found {
		t.Fatalf("%+v", mail)
	}
	if err := people.customers.Reset(ctx, visitor, secret, "kutter-moewe-tide-welle-07"); err != nil {
		t.Fatal(err)
	}
	if mail := arrived(t, box, address); mail.Subject != "Your password was changed" {
		t.Errorf("%+v", mail)
	}

	// A letter is counted just after it has arrived.
	sent := 0.0
	for range 600 {
		if sent = total(t, metrics); sent == 3 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%v letters were counted", sent)
}

func total(t *testing.T, metrics *prometheus.Registry) float64 {
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
