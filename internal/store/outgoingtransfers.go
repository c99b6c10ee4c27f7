package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ transferaway.Store = (*DB)(nil)

// outgoingPrefix begins the ids of outgoing transfers.
const outgoingPrefix = "out_"

const (
	// overdue is a due time in the past by every clock.
	overdue = 1
	// maxOpenTransfers bounds what is read of a domain: a registry has one open at a time.
	maxOpenTransfers = 20
	tolerance        = int64(transferaway.TimeTolerance / time.Microsecond)
	// pendingTransfer is the status of a domain with an undecided transfer (RFC 5731, 2.3).
	pendingTransfer = "pendingTransfer"
)

func outgoingTransferOf(row query.OutgoingTransfer) transferaway.Transfer {
	t := transferaway.Transfer{
		ID: row.ID, Customer: row.CustomerID, Domain: row.DomainID, Name: row.Name, TLD: row.Tld, Account: row.Account, Gaining: row.Gaining,
		RequestedAt: fromMicros(row.RequestedAt), ActsAt: fromMicros(row.ActsAt), State: transferaway.State(row.State),
		RegistryStatus: row.RegistryStatus, Failure: registrar.Code(row.Failure), Reason: transferaway.Reason(row.Reason), Statement: row.Statement,
		DecidedAt: fromMicros(row.DecidedAt), DueAt: fromMicros(row.DueAt), Node: row.Node, Attempts: int(row.Attempts),
		CreatedAt: fromMicros(row.CreatedAt), UpdatedAt: fromMicros(row.UpdatedAt), EndedAt: fromMicros(row.EndedAt),
	}
	if row.ByKind != "" {
		address, _ := netip.ParseAddr(row.ByAddress)
		t.Actor = registrar.Actor{Kind: registrar.ActorKind(row.ByKind), Through: row.ByID, Address: address}
		if t.Actor.Kind != registrar.ActorOperator {
			t.Actor.Customer = row.CustomerID
		}
	}
	return t
}

// GetOutgoingTransfer returns a transfer of any customer.
func (db *DB) GetOutgoingTransfer(ctx context.Context, id string) (transferaway.Transfer, bool, error) {
	if sqldb.IsUnstorable(id) {
		return transferaway.Transfer{}, false, nil
	}
	return rowAs(outgoingTransferOf)(db.read().GetOutgoingTransfer(ctx, id))
}

// ListDomainOutgoingTransfers returns a domain's transfers, the newest first.
func (db *DB) ListDomainOutgoingTransfers(ctx context.Context, domain string, limit int) ([]transferaway.Transfer, error) {
	return rowsAs(outgoingTransferOf)(db.read().ListDomainOutgoingTransfers(ctx, domain, int32(limit)))
}

// ListOutgoingTransfers returns a page of the open or ended transfers, the newest first.
func (db *DB) ListOutgoingTransfers(ctx context.Context, ended bool, before string, limit int) ([]transferaway.Transfer, error) {
	if sqldb.IsUnstorable(before) {
		return nil, nil
	}
	before = cmp.Or(before, outgoingPrefix+afterAllIDs)
	if ended {
		return rowsAs(outgoingTransferOf)(db.read().ListEndedOutgoingTransfers(ctx, before, int32(limit)))
	}
	return rowsAs(outgoingTransferOf)(db.read().ListOpenOutgoingTransfers(ctx, before, int32(limit)))
}

// CountOpenOutgoingTransfers counts open transfers, up to 1000.
func (db *DB) CountOpenOutgoingTransfers(ctx context.Context) (int, error) {
	count, err := db.read().CountOpenOutgoingTransfers(ctx)
	return int(count), err
}

// ClaimDueOutgoingTransfers leases transfers that are due, the longest overdue first.
func (db *DB) ClaimDueOutgoingTransfers(ctx context.Context, now, lease time.Time, limit int) (claimed []transferaway.Transfer, err error) {
	err = db.sql.WriteOne(ctx, func(tx sqldb.DBTX) (err error) {
		claimed, err = rowsAs(outgoingTransferOf)(query.New(tx).ClaimDueOutgoingTransfers(ctx, query.ClaimDueOutgoingTransfersParams{
			Clock: micros(now), Lease: micros(lease), Node: db.node, MaxRows: int32(limit),
		}))
		return err
	})
	return claimed, err
}

// DecideOutgoingTransfer stores a decision about a pending transfer with its audit event.
func (db *DB) DecideOutgoingTransfer(ctx context.Context, t transferaway.Transfer, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.DecideOutgoingTransfer(ctx, query.DecideOutgoingTransferParams{
			State: string(t.State), Reason: string(t.Reason), Statement: t.Statement, ByKind: string(t.Actor.Kind), ByID: t.Actor.Through,
			ByAddress: addressText(t.Actor.Address), DecidedAt: micros(t.DecidedAt), DueAt: micros(t.DueAt), Node: t.Node, ID: t.ID,
		})); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// UpdateOutgoingTransfer stores a transition of a transfer, and with the end of one that the
// domain left by, the domain's status. The domain is locked first, as by the transactions that
// open transfers.
func (db *DB) UpdateOutgoingTransfer(ctx context.Context, transition transferaway.Transition) (bool, error) {
	was, now := transition.From, transition.To
	return db.swap(ctx, func(q *query.Queries) error {
		if transition.SyncDomain {
			if err := q.MakeDomainSyncDue(ctx, micros(transition.At), now.Name); err != nil {
				return err
			}
		}
		drop := transition.Drop
		if unnotified := was.State == transferaway.StateNew || was.State == transferaway.StateEnding; unnotified && !drop {
			same, err := q.CountSameOutgoingTransfers(ctx, query.CountSameOutgoingTransfersParams{
				DomainID: now.Domain, Earliest: micros(now.RequestedAt) - tolerance, Latest: micros(now.RequestedAt) + tolerance, ID: now.ID,
			})
			if err != nil {
				return err
			}
			drop = same > 0
		}
		if drop {
			return swapped(q.DeleteOutgoingTransfer(ctx, query.DeleteOutgoingTransferParams{ID: was.ID, WasState: string(was.State), WasDue: micros(was.DueAt)}))
		}
		if err := swapped(q.UpdateOutgoingTransfer(ctx, query.UpdateOutgoingTransferParams{
			State: string(now.State), RegistryStatus: now.RegistryStatus, Gaining: now.Gaining, RequestedAt: micros(now.RequestedAt),
			ActsAt: micros(now.ActsAt), Failure: string(now.Failure), DueAt: micros(now.DueAt), Node: now.Node, Attempts: int64(now.Attempts),
			UpdatedAt: micros(now.UpdatedAt), EndedAt: micros(now.EndedAt), ID: was.ID,
			WasState: string(was.State), WasDue: micros(was.DueAt), WasStatus: was.RegistryStatus,
		})); err != nil {
			return err
		}
		if now.State.Left() {
			if err := markTransferredOut(ctx, q, now.Customer, now.Domain, now.UpdatedAt); err != nil {
				return err
			}
		}
		return recordEffects(ctx, q, transition.AuditEvent, transition.Mail, transition.At)
	})
}

// markTransferredOut stores that another registrar sponsors a domain, unless that is known.
func markTransferredOut(ctx context.Context, q *query.Queries, customer, domain string, at time.Time) error {
	was, found, err := rowAs(provisionDomainOf)(q.GetCustomerDomain(ctx, domain, customer))
	if err != nil || !found || was.Status == registrar.DomainTransferredOut || was.Status == registrar.DomainTransit {
		return err
	}
	if err := swapped(q.UpdateDomainFromRegistry(ctx, query.UpdateDomainFromRegistryParams{
		Status: string(registrar.DomainTransferredOut), RegistryStatus: strings.Join(was.RegistryStatus, " "), RegistryExpires: micros(was.RegistryExpires),
		SyncedAt: micros(was.SyncedAt), UpdatedAt: micros(at), ID: was.ID, WasStatus: string(was.Status), WasDue: micros(was.SyncDue),
	})); err != nil {
		return err
	}
	return endConsent(ctx, q, domain, renewal.EndTransferred, at)
}

// followTransferMessage opens the transfer that a message is about, or updates it. The domain
// is locked, so that a sync does not open it at the same time.
func followTransferMessage(ctx context.Context, q *query.Queries, account string, message inbox.Message, about inbox.Subject, now time.Time) error {
	reported := message.Details.Transfer
	if message.Kind != inbox.KindTransfer || message.Details.Object != inbox.ObjectDomain || reported == nil || reported.Ours || about.Domain == "" {
		return nil
	}
	if _, err := found(ignoreRow(q.LockDomain(ctx, about.Domain))); err != nil {
		return err
	}
	requested := reported.RequestedAt
	if requested.IsZero() {
		requested = message.Queued
	}
	opened := query.InsertOutgoingTransferParams{
		ID: registrar.NewID(outgoingPrefix, requested), DomainID: about.Domain, Account: account, Gaining: reported.RequestedBy,
		RequestedAt: micros(requested), State: string(transferaway.StateNew), RegistryStatus: reported.Status, DueAt: overdue, Now: micros(now),
	}
	if reported.Pending() {
		opened.ActsAt = micros(reported.DecidedAt)
	} else {
		opened.State = string(transferaway.StateEnding)
	}
	open, err := openTransfersOf(ctx, q, about.Domain)
	if err != nil {
		return err
	}
	for _, one := range open {
		if one.Account == account && (one.RequestedAt.IsZero() || transferaway.IsSameTime(one.RequestedAt, requested)) {
			return q.ReportOutgoingTransfer(ctx, query.ReportOutgoingTransferParams{
				RegistryStatus: reported.Status, Gaining: reported.RequestedBy, RequestedAt: micros(requested), ActsAt: opened.ActsAt, Now: micros(now), ID: one.ID,
			})
		}
	}
	// Others of the domain have ended: the registry has one at a time.
	if err := q.MakeOutgoingTransfersDue(ctx, micros(now), about.Domain); err != nil || !about.Held {
		return err
	}
	_, err = q.InsertOutgoingTransfer(ctx, opened)
	return err
}

func openTransfersOf(ctx context.Context, q *query.Queries, domain string) ([]transferaway.Transfer, error) {
	all, err := rowsAs(outgoingTransferOf)(q.ListDomainOutgoingTransfers(ctx, domain, maxOpenTransfers))
	return slices.DeleteFunc(all, func(t transferaway.Transfer) bool { return t.State.Final() }), err
}

// followSyncedTransfer opens the transfer that a registry sync finds without a message: the
// domain waits for a transfer, or another registrar sponsors it. The caller has locked the
// domain.
func followSyncedTransfer(ctx context.Context, q *query.Queries, domain provision.Domain, account string) error {
	left := domain.Status == registrar.DomainTransferredOut
	if !left && !slices.Contains(domain.RegistryStatus, pendingTransfer) {
		return nil
	}
	all, err := rowsAs(outgoingTransferOf)(q.ListDomainOutgoingTransfers(ctx, domain.ID, maxOpenTransfers))
	if err != nil {
		return err
	}
	known := func(t transferaway.Transfer) bool { return !t.State.Final() || left && t.State.Left() }
	if slices.ContainsFunc(all, known) {
		return q.MakeOutgoingTransfersDue(ctx, overdue, domain.ID)
	}
	state := transferaway.StateNew
	if left {
		state = transferaway.StateEnding
	}
	_, err = q.InsertOutgoingTransfer(ctx, query.InsertOutgoingTransferParams{
		ID: registrar.NewID(outgoingPrefix, domain.SyncedAt), DomainID: domain.ID, Account: account,
		State: string(state), DueAt: overdue, Now: micros(domain.SyncedAt),
	})
	return err
}

// ListTransferMessages returns what registries reported about the transfers of a name, the
// newest first.
func (db *DB) ListTransferMessages(ctx context.Context, name string, limit int) ([]inbox.Transfer, error) {
	rows, err := db.read().ListTransferMessages(ctx, name, int32(limit))
	if err != nil {
		return nil, err
	}
	var all []inbox.Transfer
	for _, row := range rows {
		var details inbox.Details
		if err := json.Unmarshal([]byte(row), &details); err != nil {
			return nil, fmt.Errorf("store: details of a transfer message: %w", err)
		}
		if details.Transfer != nil {
			all = append(all, *details.Transfer)
		}
	}
	return all, nil
}
