package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ withdrawal.Store = (*DB)(nil)

// AddWithdrawalNotice stores a notice with its mails.
func (db *DB) AddWithdrawalNotice(ctx context.Context, notice withdrawal.Notice, mails []registrar.Mail, clock time.Time) error {
	return db.write(ctx, func(q *query.Queries) error {
		err := q.InsertWithdrawalNotice(ctx, query.InsertWithdrawalNoticeParams{
			ID: notice.ID, Kind: string(notice.Kind), Name: notice.Name, Email: notice.Email, Contract: notice.Contract,
			Ground: string(notice.Ground), Reason: notice.Reason, EndDay: notice.End, Language: notice.Language,
			CreatedAt: micros(notice.At),
		})
		if err != nil {
			return fmt.Errorf("store: add withdrawal notice: %w", err)
		}
		return queueMails(ctx, q, mails, clock)
	})
}

func noticeOf(row query.WithdrawalNotice) withdrawal.Notice {
	return withdrawal.Notice{
		ID: row.ID, Kind: withdrawal.Kind(row.Kind), Name: row.Name, Email: row.Email, Contract: row.Contract,
		Ground: withdrawal.Ground(row.Ground), Reason: row.Reason, End: row.EndDay, Language: row.Language,
		At: fromMicros(row.CreatedAt), DoneAt: fromMicros(row.DoneAt), DoneBy: row.DoneBy, DoneNote: row.DoneNote,
	}
}

// ListWithdrawalNotices returns a page of notices after an id, the oldest first.
func (db *DB) ListWithdrawalNotices(ctx context.Context, after string, limit int) ([]withdrawal.Notice, error) {
	if sqldb.IsUnstorable(after) {
		return nil, nil
	}
	return rowsAs(noticeOf)(db.read().ListWithdrawalNotices(ctx, after, int32(limit)))
}

// GetWithdrawalNotice returns a notice.
func (db *DB) GetWithdrawalNotice(ctx context.Context, id string) (withdrawal.Notice, bool, error) {
	if sqldb.IsUnstorable(id) {
		return withdrawal.Notice{}, false, nil
	}
	return rowAs(noticeOf)(db.read().GetWithdrawalNotice(ctx, id))
}

// ListOpenWithdrawalNotices returns open notices, the oldest first.
func (db *DB) ListOpenWithdrawalNotices(ctx context.Context, limit int) ([]withdrawal.Notice, error) {
	return rowsAs(noticeOf)(db.read().ListOpenWithdrawalNotices(ctx, int32(limit)))
}

// ListNoticesOfAddress returns the notices sent with an address, the newest first.
func (db *DB) ListNoticesOfAddress(ctx context.Context, email string, limit int) ([]withdrawal.Notice, error) {
	return rowsAs(noticeOf)(db.read().ListNoticesOfAddress(ctx, emailKey(email), int32(limit)))
}

// ListDeclared returns, by domain, the kinds of a customer's open notices about its contract.
func (db *DB) ListDeclared(ctx context.Context, customer string, domains []string) (map[string][]withdrawal.Kind, error) {
	declared := make(map[string][]withdrawal.Kind)
	notices, err := noticesOf(ctx, db.read(), customer)
	for _, domain := range domains {
		if err != nil || len(notices) == 0 {
			break
		}
		var since time.Time
		var mentions []string
		since, mentions, err = contractMentions(ctx, db.read(), customer, domain)
		if kinds := withdrawal.OpenKinds(notices, since, mentions...); len(kinds) > 0 {
			declared[domain] = kinds
		}
	}
	return declared, err
}

// noticesOf returns the newest notices that were sent with a customer's address.
func noticesOf(ctx context.Context, q *query.Queries, customer string) ([]withdrawal.Notice, error) {
	return rowsAs(noticeOf)(q.ListNoticesOfCustomer(ctx, customer, withdrawal.MaxDeclared))
}

// contractMentions returns since when a customer holds a domain, and what a notice about its
// contract may mention: the name and the numbers of its orders.
func contractMentions(ctx context.Context, q *query.Queries, customer, domain string) (since time.Time, mentions []string, err error) {
	rows, err := q.ListContractMentions(ctx, domain, customer)
	for i, row := range rows {
		if i == 0 {
			since, mentions = fromMicros(row.CreatedAt), []string{row.Name}
		}
		if row.OrderID != "" {
			mentions = append(mentions, row.OrderID)
		}
	}
	return since, mentions, err
}

// contractNotices returns a customer's notices about the contract of a domain.
func contractNotices(ctx context.Context, q *query.Queries, customer, domain string) ([]withdrawal.Notice, error) {
	notices, err := noticesOf(ctx, q, customer)
	if err != nil || len(notices) == 0 {
		return nil, err
	}
	since, mentions, err := contractMentions(ctx, q, customer, domain)
	return withdrawal.Mentioning(notices, since, mentions...), err
}

// lastNotice sorts after every id of a notice.
const lastNotice = "dcl_zzzzzzzzzzzzzzzzzzzzzzzzzzz"

// ListHandledWithdrawalNotices returns a page of handled notices, the newest first.
func (db *DB) ListHandledWithdrawalNotices(ctx context.Context, before string, limit int) ([]withdrawal.Notice, error) {
	if sqldb.IsUnstorable(before) {
		return nil, nil
	}
	return rowsAs(noticeOf)(db.read().ListHandledWithdrawalNotices(ctx, cmp.Or(before, lastNotice), int32(limit)))
}

// CountOpenWithdrawalNotices counts open notices, up to 1000.
func (db *DB) CountOpenWithdrawalNotices(ctx context.Context) (int, error) {
	count, err := db.read().CountOpenWithdrawalNotices(ctx)
	return int(count), err
}

// buyerKind says whether the buyer of an order was a consumer. Only consumers give a consent.
const buyerKind = `CASE WHEN orders.consent_at > 0 THEN 'consumer' WHEN orders.vat_id <> '' THEN 'business'
	ELSE coalesce((SELECT CASE WHEN registrants.kind = 'company' THEN 'business' ELSE 'consumer' END
		FROM registrants WHERE registrants.customer_id = orders.customer_id), '') END AS consumer`

// ListRelatedOrders returns, by mention, the order with a number or the newest paid orders
// for a domain. It is one query for all of them: a list has many notices.
func (db *DB) ListRelatedOrders(ctx context.Context, mentions []string, limit int) (map[string][]withdrawal.RelatedOrder, error) {
	ids, names := splitMentions(mentions)
	var parts []string
	if len(ids) > 0 {
		parts = append(parts, `SELECT orders.id AS mention, orders.id, orders.customer_id,
				coalesce((SELECT order_items.name FROM order_items WHERE order_items.order_id = orders.id ORDER BY order_items.position LIMIT 1), ''),
				orders.paid_at, orders.consent_at, orders.consent_wording, orders.gross, `+buyerKind+`, orders.gross AS named
			FROM orders WHERE orders.id IN (`+placeholders(1, len(ids))+`)`)
	}
	if len(names) > 0 && limit > 0 {
		parts = append(parts, `SELECT name AS mention, id, customer_id, name, paid_at, consent_at, consent_wording, gross, consumer, named
			FROM (
				SELECT order_items.name, orders.id, orders.customer_id, orders.paid_at, orders.consent_at, orders.consent_wording, orders.gross, `+buyerKind+`, order_items.gross AS named,
					row_number() OVER (PARTITION BY order_items.name ORDER BY orders.id DESC) AS place
				FROM order_items JOIN orders ON orders.id = order_items.order_id
				WHERE order_items.name IN (`+placeholders(len(ids)+1, len(names))+`) AND orders.paid_at > 0) AS newest
			WHERE place <= `+strconv.Itoa(limit))
	} else {
		names = nil
	}
	found := make(map[string][]withdrawal.RelatedOrder)
	if len(parts) == 0 {
		return found, nil
	}
	text := strings.Join(parts, " UNION ALL ") + " ORDER BY 1, 2 DESC"
	for row, err := range sqldb.Rows(ctx, db.sql.Reader(), text, slices.Concat(ids, names)...) {
		if err != nil {
			return nil, fmt.Errorf("store: list related orders: %w", err)
		}
		mention, _ := row[0].(string)
		related := withdrawal.RelatedOrder{}
		related.ID, _ = row[1].(string)
		related.Customer, _ = row[2].(string)
		related.Name, _ = row[3].(string)
		related.ConsentVersion, _ = row[6].(string)
		paid, _ := row[4].(int64)
		consented, _ := row[5].(int64)
		gross, _ := row[7].(int64)
		related.Consumer, _ = row[8].(string)
		named, _ := row[9].(int64)
		related.Gross, related.Named = registrar.Cents(gross), registrar.Cents(named)
		related.PaidAt, related.ConsentAt = fromMicros(paid), fromMicros(consented)
		found[mention] = append(found[mention], related)
	}
	return found, nil
}

// MarkWithdrawalNoticeDone closes an open notice, with its audit event.
func (db *DB) MarkWithdrawalNoticeDone(ctx context.Context, notice withdrawal.Notice, event registrar.AuditEvent) (bool, error) {
	return db.swap(ctx, func(q *query.Queries) error { return closeNotice(ctx, q, notice, event) })
}

// closeNotice is a compare-and-swap of an open notice.
func closeNotice(ctx context.Context, q *query.Queries, notice withdrawal.Notice, event registrar.AuditEvent) error {
	if err := swapped(q.MarkWithdrawalNoticeDone(ctx, query.MarkWithdrawalNoticeDoneParams{
		ID: notice.ID, DoneAt: micros(notice.DoneAt), DoneBy: notice.DoneBy, DoneNote: notice.DoneNote,
	})); err != nil {
		return err
	}
	return insertAuditEvent(ctx, q, event)
}
