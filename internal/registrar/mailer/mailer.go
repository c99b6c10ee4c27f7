package mailer

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// QueuedMail is a mail waiting to be sent.
type QueuedMail struct {
	ID        string
	Kind      registrar.MailKind
	Customer  string
	To        string
	Language  string
	Data      map[string]string
	CreatedAt time.Time
	DueAt     time.Time
	// Attempts includes the current one.
	Attempts int
	// NoPassword says that the account has none; other mails advise to change it.
	NoPassword bool
}

// Link is the stored part of the link in a mail.
type Link struct {
	Hash      registrar.SecretHash
	Kind      registrar.MailKind // the mail's, and determines what the link is valid for
	Customer  string
	Email     string
	ExpiresAt time.Time
}

// Store persists the mail queue.
type Store interface {
	// ClaimDueMails moves the due times of up to limit due mails to the end of the lease,
	// counts the attempts and returns the mails.
	ClaimDueMails(ctx context.Context, now, lease time.Time, limit int) ([]QueuedMail, error)
	// StoreLink stores the link of a claimed mail and invalidates the customer's others of
	// its kind. It returns false and stores nothing if the mail was withdrawn or its lease
	// has expired.
	StoreLink(ctx context.Context, id string, lease time.Time, link Link) (bool, error)
	// PostponeMail moves a mail's due time from the end of its lease to another time.
	PostponeMail(ctx context.Context, id string, lease, due time.Time) error
	// DeleteMail deletes a mail that was sent or abandoned, and stores the evidence of a
	// notice; nil for every other mail.
	DeleteMail(ctx context.Context, id string, evidence *Evidence) error
}

// Evidence is a notice as it was sent or abandoned.
type Evidence struct {
	Mail QueuedMail
	Delivery
	At       time.Time // when the mail server answered
	Accepted bool      // false: abandoned
}

// Message is one mail to render and send.
type Message struct {
	// ID differs for each attempt: a mailbox that drops duplicates must not drop the one
	// with the working link.
	ID            string
	Kind          registrar.MailKind
	To            string
	Language      string
	At            time.Time // when the event that the mail reports occurred
	Data          map[string]string
	NoPassword    bool
	Link          string // empty if the mail has none
	LinkExpiresAt time.Time
	Attachments   []Attachment
}

// FileKind is what an attached file is.
type FileKind string

// Kinds of files.
const (
	InvoiceFile       FileKind = "invoice"
	TermsFile         FileKind = "terms"
	ConsumerTermsFile FileKind = "consumer_terms" // with the instructions on withdrawal
)

// Attachment is a file of a mail.
type Attachment struct {
	Kind       FileKind
	Name, Type string
	Content    []byte
}

// Undeliverable is the code of a permanent failure: the mail is not retried.
const Undeliverable registrar.Code = "undeliverable"

// Delivery is what was sent and what the mail server answered.
type Delivery struct {
	Subject, Text string
	Response      string // a refusal's code, or the response to an accepted mail
}

// Sender hands a message to the mail server. It returns what it sent also with an error.
type Sender interface {
	Send(ctx context.Context, message Message) (Delivery, error)
}

// linkSpecs are the mails with a link. A reset and a sign-in open an account to anyone who
// reads the mailbox, so they are the shortest. A claim lasts longer: the buyer may have to open an
// account first.
var linkSpecs = map[registrar.MailKind]struct {
	path string
	ttl  time.Duration
}{
	registrar.MailConfirm:       {"/portal/confirm", 48 * time.Hour},
	registrar.MailPasswordReset: {"/portal/reset/new", time.Hour},
	registrar.MailSignIn:        {"/portal/sign-in/link", time.Hour},
	registrar.MailChangeEmail:   {"/portal/email/confirm", 24 * time.Hour},
	registrar.MailClaim:         {"/checkout/claim", 30 * 24 * time.Hour},
	registrar.MailContactCheck:  {"/portal/contact-check", 60 * 24 * time.Hour}, // a suspension ends with it
}

// LinkURL returns the URL of a link; empty for kinds without one.
func LinkURL(baseURL string, kind registrar.MailKind, secret string) string {
	link, found := linkSpecs[kind]
	if !found {
		return ""
	}
	return baseURL + link.path + "?link=" + secret
}
