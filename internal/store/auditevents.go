package store

import (
	"cmp"
	"context"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// auditEventPrefix and lastAuditEvent bound the ids of audit events; pages go backwards
// from the last one, which is longer than any id.
const (
	auditEventPrefix = "act_"
	lastAuditEvent   = auditEventPrefix + "zzzzzzzzzzzzzzzzzzzzzzzzzzz"
)

// insertAuditEvent stores an audit event in the transaction of the change that it records.
func insertAuditEvent(ctx context.Context, q *query.Queries, event registrar.AuditEvent) error {
	actor := event.Actor.Customer
	if event.Actor.Kind == registrar.ActorOperator {
		actor = event.Actor.Through
	}
	return q.InsertAuditEvent(ctx, query.InsertAuditEventParams{
		ID: registrar.NewID(auditEventPrefix, event.At), CustomerID: event.Customer, ActorKind: string(event.Actor.Kind), Actor: actor,
		Through: event.Actor.Through, Address: addressText(event.Actor.Address), Action: string(event.Action), Object: event.Object,
		At: micros(event.At), RefundID: event.Refund,
	})
}

func addressText(address netip.Addr) string {
	if !address.IsValid() {
		return ""
	}
	return address.String()
}

// recordEffects stores the audit event and the mail of a change; either may be nil.
func recordEffects(ctx context.Context, q *query.Queries, event *registrar.AuditEvent, mail *registrar.Mail, at time.Time) error {
	if event != nil {
		if err := insertAuditEvent(ctx, q, *event); err != nil {
			return err
		}
	}
	if mail == nil {
		return nil
	}
	return enqueueMail(ctx, q, *mail, at)
}

// ListAuditEvents returns a page of an account's audit events, the newest first.
func (db *DB) ListAuditEvents(ctx context.Context, id, before string, limit int) ([]account.AuditEntry, error) {
	return accounts{db.read()}.ListAuditEvents(ctx, id, before, limit)
}

func (a accounts) ListAuditEvents(ctx context.Context, id, before string, limit int) ([]account.AuditEntry, error) {
	if sqldb.IsUnstorable(before) {
		return nil, nil
	}
	return rowsAs(func(row query.AuditEvent) account.AuditEntry {
		return account.AuditEntry{ID: row.ID, AuditEvent: auditEventOf(row)}
	})(a.q.ListAuditEvents(ctx, query.ListAuditEventsParams{CustomerID: id, ID: cmp.Or(before, lastAuditEvent), Limit: int32(limit)}))
}

func auditEventOf(row query.AuditEvent) registrar.AuditEvent {
	address, _ := netip.ParseAddr(row.Address)
	return registrar.AuditEvent{
		Actor: registrar.Actor{
			Kind: registrar.ActorKind(row.ActorKind), Customer: row.Actor, Through: row.Through, Address: address,
		},
		Action: registrar.Action(row.Action), Customer: row.CustomerID, Object: row.Object, Refund: row.RefundID, At: fromMicros(row.At),
	}
}
