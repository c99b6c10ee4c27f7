// Package mail lets the client that sends letters and the sandbox's mailbox
// meet on a socket. They share no code, so what one writes and the other reads
// was right on both sides.
package mail

import (
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/letters"
	"github.com/dotkontor/dotkontor/internal/sandbox/inbox"
	"github.com/dotkontor/dotkontor/internal/upstream/mail"
)

func open(t *testing.T, opts inbox.Options) (*inbox.Inbox, *mail.Client) {
	t.Helper()
	box, err := inbox.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	client, err := mail.New(mail.Options{
		Server: box.Address(), TLS: mail.NoTLS, From: "dotkontor <post@domains.example>", Portal: "https://domains.example/portal",
	})
	if err != nil {
		t.Fatal(err)
	}
	return box, client
}

func letter(kind registrar.LetterKind, language string) letters.Message {
	secret, _ := registrar.NewSecret(registrar.LinkSecret)
	return letters.Message{
		ID: "mail_1.1", Kind: kind, To: "erika@kundin.example", Language: language, At: time.Now(),
		Facts: map[string]string{"name": "Müllers <Laptop> & =C3=A4 .", "address": "203.0.113.7"},
		Link:  letters.Address("https://domains.example", kind, secret), LinkExpiresAt: time.Now().Add(time.Hour),
	}
}

func TestALinkArrivesInOnePieceInEveryLanguage(t *testing.T) {
	t.Parallel()
	box, client := open(t, inbox.Options{})
	for _, kind := range []registrar.LetterKind{registrar.LetterConfirm, registrar.LetterReset, registrar.LetterChangeEmail} {
		for _, language := range []string{"de", "en"} {
			box.Empty()
			message := letter(kind, language)
			if err := client.Send(t.Context(), message); err != nil {
				t.Fatal(err)
			}
			mails := box.Mails(message.To)
			if len(mails) != 1 || mails[0].Language != language || len(mails[0].Links) == 0 || mails[0].Links[0] != message.Link {
				t.Errorf("%s in %s: %+v, want the link %s", kind, language, mails, message.Link)
			}
		}
	}
}

func TestWhatACustomerWroteArrivesAsItIs(t *testing.T) {
	t.Parallel()
	box, client := open(t, inbox.Options{})
	if err := client.Send(t.Context(), letter(registrar.LetterTokenCreated, "de")); err != nil {
		t.Fatal(err)
	}
	if mails := box.Mails(""); len(mails) != 1 || !strings.Contains(mails[0].Text, "Name: Müllers <Laptop> & =C3=A4 .\n") {
		t.Errorf("%+v", mails)
	}
}

func TestAMailboxThatPutsOffIsAFaultThatPasses(t *testing.T) {
	t.Parallel()
	box, client := open(t, inbox.Options{Chaos: 0.5, Seed: 3})
	sent, failed := 0, 0
	for range 60 {
		err := client.Send(t.Context(), letter(registrar.LetterPasskey, "en"))
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
