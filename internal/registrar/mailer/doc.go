// Package letters sends the letters that other parts have stored.
//
// A letter is stored in the transaction of its cause, so there is none without
// a cause and no cause without its letter. It is sent later, by whichever node
// takes it first, and tried again while the mail server does not want it.
//
// A stored letter holds no secret. Where its text needs a link, the link's
// secret is made when the letter is sent: first its hash is stored, then the
// letter goes out, and nothing keeps the secret. A second attempt makes another
// secret and voids the former one, so that of a kind and a customer one link
// works at a time, the one that was sent last. Who voids a customer's links also
// withdraws the letters that would make one, even while one is under way: the
// hash is stored only if the letter is still there.
//
//	stored ──claim──► leased ──sent──────────────► gone
//	  ▲                 │ ├─────withdrawn────────────► gone
//	  │                 │ ├─────can't ever arrive──► gone, counted
//	  │                 │ └─────failed for 24 h────► gone, counted
//	  └──back-off───────┘
//
// A claim is a compare-and-swap on the time at which the letter is due: it
// moves that time to the end of a lease. A node that dies leaves the letter to
// the others when the lease is over. So a letter is sent at least once, and
// twice only if a node dies, or can't reach the store, between the mail server's
// yes and the removal of the row.
//
// Addresses and contents stay out of the log; the kind of a letter is enough.
package mailer
