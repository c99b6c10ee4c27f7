// Package mail tests the SMTP client against the sandbox's mail server over a
// socket. They share no code, so a mail that arrives intact is correct on both
// sides.
package mail

import (
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	sandboxsmtp "github.com/dotkontor/dotkontor/internal/sandbox/smtp"
	upstreamsmtp "github.com/dotkontor/dotkontor/internal/upstream/smtp"
)

func newInboxAndClient(t *testing.T, opts sandboxsmtp.Options) (*sandboxsmtp.Server, *upstreamsmtp.Client) {
	t.Helper()
	box, err := sandboxsmtp.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	client, err := upstreamsmtp.New(upstreamsmtp.Options{
		Server: box.Address(), TLS: upstreamsmtp.NoTLS, From: "dotkontor <post@domains.example>", Portal: "https://domains.example/portal",
	})
	if err != nil {
		t.Fatal(err)
	}
	return box, client
}

func newMessage(kind registrar.MailKind, language string) mailer.Message {
	secret, _ := registrar.NewSecret(registrar.LinkSecret)
	return mailer.Message{
		ID: "mail_1.1", Kind: kind, To: "erika@kundin.example", Language: language, At: time.Now(),
		Data: map[string]string{"name": "Müllers <Laptop> & =C3=A4 .", "address": "203.0.113.7"},
		Link: mailer.LinkURL("https://domains.example", kind, secret), LinkExpiresAt: time.Now().Add(time.Hour),
	}
}

func TestMail_LinkArrivesIntactInEveryLanguage(t *testing.T) {
	t.Parallel()
	box, client := newInboxAndClient(t, sandboxsmtp.Options{})
	for _, kind := range []registrar.MailKind{registrar.MailConfirm, registrar.MailPasswordReset, registrar.MailChangeEmail} {
		for _, language := range []string{"de", "en"} {
			box.Clear()
			message := newMessage(kind, language)
			if _, err := client.Send(t.Context(), message); err != nil {
				t.Fatal(err)
			}
			mails := box.Mails(message.To)
			if len(mails) != 1 || mails[0].Language != language || len(mails[0].Links) == 0 || mails[0].Links[0] != message.Link {
				t.Errorf("%s in %s: %+v, want the link %s", kind, language, mails, message.Link)
			}
		}
	}
}

func TestMail_CustomerTextArrivesUnchanged(t *testing.T) {
	t.Parallel()
	box, client := newInboxAndClient(t, sandboxsmtp.Options{})
	if _, err := client.Send(t.Context(), newMessage(registrar.MailTokenCreated, "de")); err != nil {
		t.Fatal(err)
	}
	if mails := box.Mails(""); len(mails) != 1 || !strings.Contains(mails[0].Text, "Name: Müllers <Laptop> & =C3=A4 .\n") {
		t.Errorf("%+v", mails)
	}
}

func TestMail_DeferringServerIsTemporaryFault(t *testing.T) {
	t.Parallel()
	box, client := newInboxAndClient(t, sandboxsmtp.Options{Chaos: 0.5, Seed: 3})
	sent, failed := 0, 0
	for range 60 {
		_, err := client.Send(t.Context(), newMessage(registrar.MailPasskey, "en"))
		switch code := registrar.CodeOf(err); {
		case err == nil:
			sent++
		case code == registrar.FaultThrottled || code == registrar.FaultRefused:
			failed++
		default:
			t.Errorf("%v", err)
		}
	}
	if sent == 0 || failed == 0 || len(box.Mails("")) != sent {
		t.Errorf("%d sent, %d failed, %d arrived", sent, failed, len(box.Mails("")))
	}
}
