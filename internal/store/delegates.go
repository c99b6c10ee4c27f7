package store

import (
	"context"
	"slices"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/delegate"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ delegate.Store = (*DB)(nil)

// ListOrdersThrough returns the customer's orders by token, grant or agent.
func (db *DB) ListOrdersThrough(ctx context.Context, customer string) ([]delegate.Through, error) {
	return rowsAs(func(row query.ListOrdersThroughRow) delegate.Through {
		return delegate.Through{
			Kind: registrar.ActorKind(row.ByKind), ID: row.ByID, LastAt: fromMicros(row.LastAt),
			Orders: delegate.Orders{Prepared: int(row.Orders), Paid: int(row.Paid), Spent: registrar.Cents(row.Spent)},
		}
	})(db.read().ListOrdersThrough(ctx, customer))
}

// ListOrdersCompleted returns the customer's orders that agents paid although others had
// created them, by agent and creator.
func (db *DB) ListOrdersCompleted(ctx context.Context, customer string) ([]delegate.Through, error) {
	return rowsAs(func(row query.ListOrdersCompletedRow) delegate.Through {
		return delegate.Through{
			Kind: registrar.ActorAgent, ID: row.CompleterID, CreatorKind: registrar.ActorKind(row.ByKind), CreatorID: row.ByID, LastAt: fromMicros(row.LastAt),
			Orders: delegate.Orders{Paid: int(row.Orders), Spent: registrar.Cents(row.Spent)},
		}
	})(db.read().ListOrdersCompleted(ctx, customer))
}

// RevokeDelegates ends the access of all tokens, applications and agents of a customer. The
// customer's row is locked first, like when a token is created or revoked.
func (db *DB) RevokeDelegates(ctx context.Context, customer string, event registrar.AuditEvent) (count int, err error) {
	err = db.write(ctx, func(q *query.Queries) error {
		count = 0
		if err := q.LockCustomer(ctx, customer); err != nil {
			return err
		}
		for _, revoke := range []func(context.Context, *query.Queries, string, registrar.AuditEvent) (int, error){revokeUnexpiredTokens, revokeApps, unlinkAgents} {
			revoked, err := revoke(ctx, q, customer, event)
			if err != nil {
				return err
			}
			count += revoked
		}
		return nil
	})
	return count, err
}

func revokeUnexpiredTokens(ctx context.Context, q *query.Queries, customer string, event registrar.AuditEvent) (int, error) {
	return revokeTokens(ctx, q, customer, event, func(token oauth.PersonalAccessToken) bool { return !token.Expired(event.At) })
}

func revokeApps(ctx context.Context, q *query.Queries, customer string, event registrar.AuditEvent) (int, error) {
	if err := q.RevokeAuthorizationCodesOfCustomer(ctx, customer, micros(event.At)); err != nil {
		return 0, err
	}
	grants, err := q.ListUnrevokedGrants(ctx, customer)
	if err != nil {
		return 0, err
	}
	var ids, clients []string
	for _, grant := range grants {
		ids = append(ids, grant.ID)
		if slices.Contains(clients, grant.ClientID) {
			continue
		}
		clients = append(clients, grant.ClientID)
		event.Action, event.Object = oauth.AppDisconnected, oauth.AppLabel(grant.ClientName, grant.RedirectUri)
		if err := insertAuditEvent(ctx, q, event); err != nil {
			return 0, err
		}
	}
	return len(clients), revokeGrants(ctx, q, ids, micros(event.At))
}

func unlinkAgents(ctx context.Context, q *query.Queries, customer string, event registrar.AuditEvent) (int, error) {
	links, err := q.ListAgentLinks(ctx, customer)
	if err != nil {
		return 0, err
	}
	for _, link := range links {
		event.Action, event.Object = agent.Unlinked, link.Name
		if _, err := unlinkAgent(ctx, q, customer, link.ID, event); err != nil { // or it was unlinked meanwhile
			return 0, err
		}
	}
	return len(links), nil
}
