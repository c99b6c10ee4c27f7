package mailer

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// QueuedMail is a letter that waits to be sent.
type QueuedMail struct {
	ID        string
	Kind      registrar.MailKind
	Customer  string
	To        string
	Language  string
	Data      map[string]string
	CreatedAt time.Time
	DueAt     time.Time
	// Attempts counts those before this one.
	Attempts int
}

// Link is what is stored of the link in a letter.
type Link struct {
	Hash registrar.SecretHash
	// Kind is the letter's, and with it what the link opens.
	Kind      registrar.MailKind
	Customer  string
	Email     string
	ExpiresAt time.Time
}

// Store is where letters wait.
type Store interface {
	ListDueMails(ctx context.Context, now time.Time, limit int) ([]QueuedMail, error)
	// ClaimMail moves the time at which a letter is due from wasDue to the end
	// of the lease and counts the attempt. It is false if that was done already.
	ClaimMail(ctx context.Context, id string, wasDue, lease time.Time) (bool, error)
	// StoreLink stores the link of a claimed letter and voids the customer's others
	// of its kind. It is false, and stores nothing, if the letter was withdrawn or
	// its lease is over.
	StoreLink(ctx context.Context, id string, lease time.Time, link Link) (bool, error)
	// PostponeMail moves a letter from the end of its lease to another time.
	PostponeMail(ctx context.Context, id string, lease, due time.Time) error
	DeleteMail(ctx context.Context, id string) error
}

// Message is what is needed to write and send one letter.
type Message struct {
	// ID is another one for each attempt: a mailbox that drops repetitions must
	// not drop the one with the link that works.
	ID       string
	Kind     registrar.MailKind
	To       string
	Language string
	// At is when that happened which the letter tells of.
	At   time.Time
	Data map[string]string
	// Link is empty where the letter has none.
	Link          string
	LinkExpiresAt time.Time
}

// Undeliverable is the code of the error for a letter that can't ever be
// delivered: it is not tried again.
const Undeliverable registrar.Code = "undeliverable"

// Sender hands a message to the mail server.
type Sender interface {
	Send(ctx context.Context, message Message) error
}

// linkSpec says where the link of a letter leads to and how long it works.
type linkSpec struct {
	path string
	ttl  time.Duration
}

// linkSpecs are the letters that have one. A reset opens an account to whoever reads
// the mailbox, so it is the shortest. What an agent has ordered waits longer: its
// buyer may have to open an account first.
var linkSpecs = map[registrar.MailKind]linkSpec{
	registrar.MailConfirm:       {"/portal/confirm", 48 * time.Hour},
	registrar.MailPasswordReset: {"/portal/reset/new", time.Hour},
	registrar.MailChangeEmail:   {"/portal/email/confirm", 24 * time.Hour},
	registrar.MailClaim:         {"/checkout/claim", 30 * 24 * time.Hour},
}

// LinkURL is the address behind which a link's secret opens what its kind says;
// empty for kinds that have no link.
func LinkURL(baseURL string, kind registrar.MailKind, secret string) string {
	link, found := linkSpecs[kind]
	if !found {
		return ""
	}
	return baseURL + link.path + "?link=" + secret
}
