// Package mailer sends queued mails.
//
// A mail is queued in the transaction of its cause, so neither exists without the other.
// The first node that claims it sends it later, and retries while the mail server does
// not accept it.
//
// A queued mail holds no secret. If its text needs a link, the link's secret is generated
// when the mail is sent: its hash is stored first, then the mail is sent, and the secret
// itself is never stored. A retry generates a new secret and invalidates the previous one, so
// per kind and customer only the link sent last works. Invalidating a customer's links
// also withdraws queued mails that would contain one, even while one is being sent: the
// hash is stored only if the mail still exists.
//
//	queued ──claim──► leased ──sent──────────────► deleted
//	  ▲                 │ ├─────withdrawn────────► deleted
//	  │                 │ ├─────undeliverable────► deleted, counted
//	  │                 │ └─────failed for 24 h──► deleted, counted
//	  └──backoff────────┘
//
// While it is queued, a mail can be merged with a later one: its row gets the kind and the
// data of the mail that says both, or a further line (registrar.JoinMails). Once it is
// claimed, it keeps its text.
//
// A claim moves the due times of a batch to the end of a lease; nodes skip rows that another
// one is claiming. If a node dies, the others take the mail when the lease expires. Delivery
// is at least once: a mail is sent twice only if a node dies or loses the store between the
// mail server's acceptance and the deletion of the row.
//
// Addresses and contents are not logged, only the kind of a mail.
package mailer
