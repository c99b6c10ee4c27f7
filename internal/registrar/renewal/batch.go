package renewal

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// batchDelay is how long the mail of a batch waits for the next domain. It is queued with the
// first one, so that no confirmation is lost if the process dies in between.
const batchDelay = 10 * time.Second

// Batch turns automatic renewal on or off for many domains, one after the other. Their
// confirmations are lines of one mail, at most registrar.MaxJoinedMails in each; the evidence
// stays one per domain. It is not safe for concurrent use.
type Batch struct {
	consents *Consents
	mail     string // the id of the mail
	lines    int    // how many it has
}

// NewBatch returns a Batch.
func (s *Consents) NewBatch() *Batch { return &Batch{consents: s} }

// Agree is Consents.Agree.
func (b *Batch) Agree(ctx context.Context, actor registrar.Actor, domain string, agreed Agreement) error {
	return b.consents.agree(ctx, actor, domain, agreed, b)
}

// TurnOff is Consents.TurnOff.
func (b *Batch) TurnOff(ctx context.Context, actor registrar.Actor, domain string) error {
	return b.consents.turnOff(ctx, actor, domain, b)
}

// join makes a confirmation a line of the batch's mail. The store decides whether it still
// can be one: only the queued mail shows which earlier domains were stored.
func (b *Batch) join(mail *registrar.Mail) {
	if b == nil {
		return
	}
	if b.mail == "" || b.lines == registrar.MaxJoinedMails {
		b.lines = 0
		b.mail = registrar.NewID("mail_", b.consents.cfg.Clock())
	}
	mail.Join, mail.Delay = b.mail, batchDelay
	if b.lines == 0 {
		mail.ID = b.mail
	}
}

func (b *Batch) joined() {
	if b != nil {
		b.lines++
	}
}
