package transferaway

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Store persists transfers; packages inbox and provision open them. Lookups return false if
// there is nothing.
type Store interface {
	GetOutgoingTransfer(ctx context.Context, id string) (Transfer, bool, error)
	// ListDomainOutgoingTransfers returns a domain's transfers, the newest first.
	ListDomainOutgoingTransfers(ctx context.Context, domain string, limit int) ([]Transfer, error)
	// ListOutgoingTransfers returns the page before an id of the open or ended transfers, the
	// newest first; an empty id starts at the top.
	ListOutgoingTransfers(ctx context.Context, ended bool, before string, limit int) ([]Transfer, error)
	// DecideOutgoingTransfer stores State, Actor, Reason, Statement and the lease of a pending
	// transfer with the event. It returns false and changes nothing if it is not pending.
	DecideOutgoingTransfer(ctx context.Context, transfer Transfer, event registrar.AuditEvent) (bool, error)
	// UpdateOutgoingTransfer applies one transition. It returns false, and changes nothing, if
	// state or due time are no longer those of From. A registry status that was reported
	// meanwhile stays and makes the transfer due, unless it has ended. A transfer that ends in a
	// state that has Left ends the domain, too: it is transferred out.
	UpdateOutgoingTransfer(ctx context.Context, transition Transition) (bool, error)
	ClaimDueOutgoingTransfers(ctx context.Context, now, leaseEnd time.Time, limit int) ([]Transfer, error)
}

// Transition moves a transfer from the state and due time of From to To.
type Transition struct {
	From, To Transfer
	// Drop deletes the row instead; so does another row of the same request, if From was never
	// pending.
	Drop bool
	// SyncDomain makes the domain due for a registry sync.
	SyncDomain bool
	// AuditEvent and Mail are nil for steps that are not reported.
	AuditEvent *registrar.AuditEvent
	Mail       *registrar.Mail
	At         time.Time // the real time, used for mails
}

// Registry is a registry account. Errors are *registrar.Error: KindUpstream, KindRateLimited
// and KindInternal mean that nothing is decided and the call can be repeated; every other kind
// is the registry's decision.
type Registry interface {
	// OutgoingRules returns what the registry of a TLD lets the losing registrar do.
	OutgoingRules(tld string) Rules
	// QueryTransfer returns the last transfer of a domain, and who sponsors it.
	QueryTransfer(ctx context.Context, name string) (RegistryTransfer, error)
	// AnswerTransfer approves or rejects the pending transfer.
	AnswerTransfer(ctx context.Context, name string, approve bool, transaction string) error
}

// Rules is what the registry of a TLD lets the losing registrar do.
type Rules struct {
	Answer bool // it can approve or reject a transfer before the registry decides
}

// RegistryTransfer is the last transfer of a domain as the registry has it.
type RegistryTransfer struct {
	Status              string // RFC 5730, 2.9.3.4; empty if the registry reports none
	Gaining             string
	RequestedAt, ActsAt time.Time
	Held                bool   // we sponsor the domain
	Missing             bool   // the registry has no such domain
	Sponsor             string // the domain's; empty if the registry does not tell
}
