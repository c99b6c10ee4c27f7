package renewal

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// maxChoiceEvents bounds the events of a domain that are read: a term has a few.
const maxChoiceEvents = 50

// EventLister returns the audit events of a customer's object, the newest first.
type EventLister interface {
	ListObjectAuditEvents(ctx context.Context, customer, object string, limit int) ([]registrar.AuditEvent, error)
}

// LiftedExpiry returns a function that reports whether the last renewal of a customer's domain lifted
// the choice to let it expire. The domain itself has forgotten that choice.
func LiftedExpiry(events EventLister) func(ctx context.Context, customer, name string) (bool, error) {
	return func(ctx context.Context, customer, name string) (bool, error) {
		listed, err := events.ListObjectAuditEvents(ctx, customer, name, maxChoiceEvents)
		return expiryLifted(listed), err
	}
}

// expiryLifted reads the events back to the last renewal, and from there to the choice before it.
func expiryLifted(events []registrar.AuditEvent) bool {
	renewed := false
	for _, event := range events {
		switch event.Action {
		case provision.ActionRenewed, provision.ActionRestored:
			if renewed { // the choice was made in an earlier term, if at all
				return false
			}
			renewed = true
		case ActionLetExpire, withdrawal.ContractTerminated, withdrawal.ContractWithdrawn:
			if renewed {
				return true
			}
		case ActionKeep, ActionOn, ActionOff:
			if renewed {
				return false
			}
		}
	}
	return false
}
