package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ inbox.Store = (*DB)(nil)

// messagePrefix begins the numbers of registry messages.
const messagePrefix = "msg_"

// StoreRegistryMessage stores a poll message with the domain it is about, and makes its
// subject due. A repeated message does so too: the first time may have been interrupted
// between the row and the acknowledgement.
func (db *DB) StoreRegistryMessage(ctx context.Context, account string, message inbox.Message, at, now time.Time) (bool, error) {
	details, err := json.Marshal(message.Details)
	if err != nil {
		return false, fmt.Errorf("store: registry message: %w", err)
	}
	var added int64
	err = db.write(ctx, func(q *query.Queries) error {
		subject, err := subjectOf(ctx, q, message.Name)
		if err != nil {
			return err
		}
		added, err = q.InsertRegistryMessage(ctx, query.InsertRegistryMessageParams{
			Account: account, ID: messageKey(message.ID), Name: message.Name, Text: message.Text, QueuedAt: micros(message.Queued), StoredAt: micros(at),
			Number: registrar.NewID(messagePrefix, now), Kind: string(message.Kind), Details: string(details), Raw: message.Raw,
			DomainID: subject.Domain, Unread: boolToInt(inbox.NeedsOperator(message, subject)),
		})
		if err != nil || message.Name == "" {
			return err
		}
		if added == 1 {
			if err := followTransferMessage(ctx, q, account, message, subject, now); err != nil {
				return err
			}
		}
		if err := q.MakePendingProvisionItemsDue(ctx, micros(now), message.Name); err != nil {
			return err
		}
		return q.MakeDomainSyncDue(ctx, micros(now), message.Name)
	})
	return added == 1, err
}

// maxMessageKey is the length of an id that an index of every database holds.
const maxMessageKey = 255

// messageKey returns the id of a message, or its digest if a registry sends one that is too long
// for the index: it must be stored to be acknowledged.
func messageKey(id string) string {
	if len(id) <= maxMessageKey {
		return id
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(id)))
}

// subjectOf returns what we know about a name.
func subjectOf(ctx context.Context, q *query.Queries, name string) (subject inbox.Subject, err error) {
	if name == "" {
		return subject, nil
	}
	domains, err := rowsAs(provisionDomainOf)(q.ListDomainsByName(ctx, name))
	if err != nil {
		return subject, err
	}
	if domain, found := heldOrLast(domains); found {
		subject.Domain, subject.Known = domain.ID, true
		subject.Held = domain.Status != registrar.DomainTransferredOut
		deletions, err := q.CountDeletionsOfDomain(ctx, domain.ID)
		if err != nil {
			return subject, err
		}
		subject.Deleted = deletions > 0
	}
	items, err := q.ListOrderedKindsOfName(ctx, name)
	for _, item := range items {
		subject.Known = true
		open := item.DueAt > 0
		subject.Transfers = subject.Transfers || open && item.Kind == string(provision.Transfer)
		subject.Restores = subject.Restores || open && item.Kind == string(provision.Restore)
	}
	return subject, err
}

// ClaimRegistryPoller takes or renews a node's lease on polling an account.
func (db *DB) ClaimRegistryPoller(ctx context.Context, account, node string, now, until time.Time) (bool, error) {
	claimed, err := db.single().ClaimRegistryPoller(ctx, query.ClaimRegistryPollerParams{Account: account, Node: node, DueAt: micros(until), Now: micros(now)})
	return claimed == 1, err
}

// ReleaseRegistryPoller ends a node's lease on polling an account.
func (db *DB) ReleaseRegistryPoller(ctx context.Context, account, node string, now time.Time) error {
	return db.single().ReleaseRegistryPoller(ctx, query.ReleaseRegistryPollerParams{Account: account, Node: node, Now: micros(now)})
}

type listedMessageRow interface {
	query.ListRegistryMessagesRow | query.ListRegistryMessagesOfKindRow | query.ListRegistryMessagesOfAccountRow |
		query.ListRegistryMessagesOfKindAndAccountRow | query.GetNewestBalanceMessageRow
}

func storedMessageOf[Row listedMessageRow](r Row) (inbox.Stored, error) {
	row := query.ListRegistryMessagesRow(r)
	stored := inbox.Stored{
		Number: row.Number, Account: row.Account, Domain: row.DomainID, StoredAt: fromMicros(row.StoredAt), Unread: row.Unread == 1,
		ReadAt: fromMicros(row.ReadAt), ReadBy: row.ReadBy, Note: row.Note,
		Message: inbox.Message{ID: row.ID, Name: row.Name, Text: row.Text, Queued: fromMicros(row.QueuedAt), Kind: inbox.Kind(row.Kind)},
	}
	if err := json.Unmarshal([]byte(row.Details), &stored.Details); err != nil {
		return stored, fmt.Errorf("store: details of registry message %s: %w", row.Number, err)
	}
	return stored, nil
}

// GetRegistryMessage returns a message with its raw frame, customer and order.
func (db *DB) GetRegistryMessage(ctx context.Context, number string) (inbox.Stored, bool, error) {
	if sqldb.IsUnstorable(number) {
		return inbox.Stored{}, false, nil
	}
	return decodeRow(func(row query.GetRegistryMessageRow) (inbox.Stored, error) {
		stored, err := storedMessageOf(query.ListRegistryMessagesRow{
			Account: row.Account, ID: row.ID, Name: row.Name, Text: row.Text, QueuedAt: row.QueuedAt, StoredAt: row.StoredAt, Number: row.Number,
			Kind: row.Kind, Details: row.Details, DomainID: row.DomainID, Unread: row.Unread, ReadAt: row.ReadAt, ReadBy: row.ReadBy, Note: row.Note,
		})
		stored.Raw, stored.Customer, stored.Order = row.Raw, row.CustomerID, row.OrderID
		return stored, err
	})(db.read().GetRegistryMessage(ctx, number))
}

// ListRegistryMessages returns a page of messages, the newest first, without raw frames.
func (db *DB) ListRegistryMessages(ctx context.Context, filter inbox.Filter, unread bool, before string, limit int) ([]inbox.Stored, error) {
	if sqldb.IsUnstorable(before) || sqldb.IsUnstorable(filter.Account) {
		return nil, nil
	}
	before = cmp.Or(before, messagePrefix+afterAllIDs)
	q, is, most := db.read(), boolToInt(unread), int32(limit)
	switch {
	case filter.Kind != "" && filter.Account != "":
		return decodeRows(storedMessageOf[query.ListRegistryMessagesOfKindAndAccountRow])(q.ListRegistryMessagesOfKindAndAccount(ctx, query.ListRegistryMessagesOfKindAndAccountParams{
			Unread: is, Kind: string(filter.Kind), Account: filter.Account, Number: before, Limit: most,
		}))
	case filter.Kind != "":
		return decodeRows(storedMessageOf[query.ListRegistryMessagesOfKindRow])(q.ListRegistryMessagesOfKind(ctx, query.ListRegistryMessagesOfKindParams{
			Unread: is, Kind: string(filter.Kind), Number: before, Limit: most,
		}))
	case filter.Account != "":
		return decodeRows(storedMessageOf[query.ListRegistryMessagesOfAccountRow])(q.ListRegistryMessagesOfAccount(ctx, query.ListRegistryMessagesOfAccountParams{
			Unread: is, Account: filter.Account, Number: before, Limit: most,
		}))
	default:
		return decodeRows(storedMessageOf[query.ListRegistryMessagesRow])(q.ListRegistryMessages(ctx, query.ListRegistryMessagesParams{Unread: is, Number: before, Limit: most}))
	}
}

// CountUnreadRegistryMessages counts unread messages, up to 1000.
func (db *DB) CountUnreadRegistryMessages(ctx context.Context) (int, error) {
	count, err := db.read().CountUnreadRegistryMessages(ctx)
	return int(count), err
}

// NewestBalance returns the newest message about the balance of an account, or what the registry
// reported when it was queried since.
func (db *DB) NewestBalance(ctx context.Context, account string) (inbox.Stored, bool, error) {
	message, found, err := decodeRow(storedMessageOf[query.GetNewestBalanceMessageRow])(db.read().GetNewestBalanceMessage(ctx, account))
	if err != nil {
		return inbox.Stored{}, false, err
	}
	queried, known, err := db.QueriedBalance(ctx, account)
	if err != nil || !known || found && message.Queued.After(queried.Queued) {
		return message, found, err
	}
	return queried, true, nil
}

// QueriedBalance returns what the registry reported when the balance was last queried.
func (db *DB) QueriedBalance(ctx context.Context, account string) (inbox.Stored, bool, error) {
	return decodeRow(func(row query.RegistryBalance) (inbox.Stored, error) {
		balance := new(inbox.Balance)
		if err := json.Unmarshal([]byte(row.Details), balance); err != nil {
			return inbox.Stored{}, fmt.Errorf("store: balance of registry account %s: %w", row.Account, err)
		}
		return inbox.QueriedBalance(row.Account, balance, fromMicros(row.QueriedAt), fromMicros(row.StoredAt)), nil
	})(db.read().GetRegistryBalance(ctx, account))
}

// ListRegistryBookings returns what operators have booked on an account since a time.
func (db *DB) ListRegistryBookings(ctx context.Context, account string, since time.Time, limit int) ([]inbox.Booking, error) {
	return rowsAs(func(row query.ListRegistryFundsSinceRow) inbox.Booking {
		return inbox.Booking{
			Amount:    registrar.Money{Amount: registrar.Amount(row.Amount), Currency: row.Currency},
			Statement: row.Kind != string(cost.Deposit), // an opening balance states it, too
		}
	})(db.read().ListRegistryFundsSince(ctx, query.ListRegistryFundsSinceParams{Account: account, Since: micros(since), MaxRows: int32(limit)}))
}

// AccountCurrency returns the currency of the newest booking on an account, or else that of all charges
// to it; empty if there are none, or in several currencies.
func (db *DB) AccountCurrency(ctx context.Context, account string) (string, error) {
	booked, err := db.read().GetBookedCurrency(ctx, account)
	if ok, err := found(err); ok || err != nil {
		return booked, err
	}
	row, err := db.read().GetChargedCurrencies(ctx, account)
	if err != nil || row.FirstCurrency != row.LastCurrency {
		return "", err
	}
	return row.FirstCurrency, nil
}

// StoreQueriedBalance replaces the balance that was last queried.
func (db *DB) StoreQueriedBalance(ctx context.Context, account string, balance inbox.Balance, at, now time.Time) error {
	return db.single().PutRegistryBalance(ctx, query.PutRegistryBalanceParams{
		Account: account, Details: jsonText(balance), QueriedAt: micros(at), StoredAt: micros(now),
	})
}

// MarkRegistryMessageRead marks an unread message, with its audit event.
func (db *DB) MarkRegistryMessageRead(ctx context.Context, message inbox.Stored, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(q.MarkRegistryMessageRead(ctx, query.MarkRegistryMessageReadParams{
			Number: message.Number, ReadAt: micros(message.ReadAt), ReadBy: message.ReadBy, Note: message.Note,
		})); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// MarkRegistryMessagesRead marks a batch of the unread messages of a kind up to a number, with
// an audit event if there are any.
func (db *DB) MarkRegistryMessagesRead(ctx context.Context, kind inbox.Kind, last string, event registrar.AuditEvent, limit int) (int, error) {
	if sqldb.IsUnstorable(last) {
		return 0, nil
	}
	var marked int64
	err := db.write(ctx, func(q *query.Queries) (err error) {
		marked, err = q.MarkRegistryMessagesRead(ctx, query.MarkRegistryMessagesReadParams{
			Kind: string(kind), LastNumber: last, ReadAt: micros(event.At), ReadBy: event.Actor.Through, MaxRows: int32(limit),
		})
		if err != nil || marked == 0 {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
	return int(marked), err
}
