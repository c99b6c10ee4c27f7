package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ withdrawal.Store = (*DB)(nil)

const (
	// noticeScope is that of the idempotency keys of notices: their digests. No other scope has its form.
	noticeScope = "notices"
	// noticeKeyTTL is how long a digest can be repeated: it has a day in it.
	noticeKeyTTL = 24 * time.Hour
)

// claimNotice claims the digest of a notice, or returns AlreadySent if the notice that has it is open.
func claimNotice(ctx context.Context, q *query.Queries, notice withdrawal.Notice, clock time.Time) error {
	if notice.Digest == "" {
		return nil
	}
	ends := micros(clock.Add(noticeKeyTTL))
	fresh, err := q.InsertIdempotencyKey(ctx, query.InsertIdempotencyKeyParams{
		Scope: noticeScope, Key: notice.Digest, Run: notice.ID, LeaseEnds: ends, EndsAt: ends,
	})
	if err != nil || fresh == 1 {
		return err
	}
	for { // on PostgreSQL, another one may take it over meanwhile
		key, err := q.GetIdempotencyKey(ctx, noticeScope, notice.Digest)
		if err != nil {
			return err
		}
		sent, found, err := rowAs(noticeOf)(q.GetWithdrawalNotice(ctx, key.Run))
		if err != nil {
			return err
		}
		if found && sent.Open() {
			return &registrar.Error{Kind: registrar.KindConflict, Code: withdrawal.AlreadySent, Detail: sent.ID}
		}
		taken, err := q.TakeOverIdempotencyKey(ctx, query.TakeOverIdempotencyKeyParams{
			Run: notice.ID, LeaseEnds: ends, EndsAt: ends, Scope: noticeScope, Key: notice.Digest, PreviousRun: key.Run,
		})
		if err != nil || taken == 1 {
			return err
		}
	}
}

// AddWithdrawalNotice stores a notice with its mails, once for a digest.
func (db *DB) AddWithdrawalNotice(ctx context.Context, notice withdrawal.Notice, mails []registrar.Mail, clock time.Time) error {
	return db.write(ctx, func(q *query.Queries) error {
		if err := claimNotice(ctx, q, notice, clock); err != nil {
			return err
		}
		held, err := heldMails(ctx, q, notice)
		if err != nil {
			return err
		}
		err = q.InsertWithdrawalNotice(ctx, query.InsertWithdrawalNoticeParams{
			ID: notice.ID, Kind: string(notice.Kind), Name: notice.Name, Email: notice.Email, Contract: notice.Contract,
			Ground: string(notice.Ground), Reason: notice.Reason, EndDay: notice.End, Language: notice.Language,
			CreatedAt: micros(notice.At), CustomerID: notice.Customer, EmailKey: emailKey(notice.Email),
		})
		if err != nil {
			return fmt.Errorf("store: add withdrawal notice: %w", err)
		}
		return queueMails(ctx, q, slices.Concat(mails, held), clock)
	})
}

// heldMails returns the mails to accounts about the automatic renewals that a new notice puts on hold:
// those of domains without another open notice.
func heldMails(ctx context.Context, q *query.Queries, notice withdrawal.Notice) (mails []registrar.Mail, err error) {
	mentions := notice.Mentions()
	if len(mentions) == 0 || !notice.Open() {
		return nil, nil
	}
	params := query.ListRenewalsMentionedParams{
		CustomerID: notice.Customer, EmailKey: emailKey(notice.Email), Mentions: jsonText(mentions), MaxRows: registrar.MaxJoinedMails,
	}
	held := make(map[string][]renewal.Domain)
	for more := true; more; {
		rows, err := q.ListRenewalsMentioned(ctx, params)
		if err != nil {
			return nil, fmt.Errorf("store: list renewing domains: %w", err)
		}
		byCustomer := make(map[string][]renewal.Domain)
		for _, row := range rows {
			byCustomer[row.CustomerID] = append(byCustomer[row.CustomerID], renewal.Domain{ID: row.ID, Name: row.Name, PaidUntil: fromMicros(row.PaidUntil)})
			params.AfterCustomer, params.AfterName = row.CustomerID, row.Name
		}
		for customer, domains := range byCustomer {
			newly, err := newlyHeld(ctx, q, notice, customer, domains)
			if err != nil {
				return nil, err
			}
			held[customer] = append(held[customer], newly...)
		}
		more = len(rows) == registrar.MaxJoinedMails
	}
	for _, customer := range slices.Sorted(maps.Keys(held)) {
		mails = append(mails, renewal.HeldMails(customer, notice, held[customer])...)
	}
	return mails, nil
}

// newlyHeld returns those of a customer's domains that a new notice is about and no other open one.
func newlyHeld(ctx context.Context, q *query.Queries, notice withdrawal.Notice, customer string, domains []renewal.Domain) ([]renewal.Domain, error) {
	contracts, err := contractsOf(ctx, q, customer, domainIDs(domains))
	if err != nil {
		return nil, err
	}
	about := withdrawal.NoticesAbout([]withdrawal.Notice{notice}, contracts...)
	domains = slices.DeleteFunc(domains, func(d renewal.Domain) bool { return len(about[d.ID]) == 0 })
	err = visitNotices(ctx, q, customer, domainIDs(domains), time.Time{}, func(open map[string][]withdrawal.Notice) bool {
		domains = slices.DeleteFunc(domains, func(d renewal.Domain) bool { return len(open[d.ID]) > 0 })
		return len(domains) > 0
	})
	return domains, err
}

func domainIDs(domains []renewal.Domain) []string {
	ids := make([]string, len(domains))
	for i, d := range domains {
		ids[i] = d.ID
	}
	return ids
}

func noticeOf(row query.WithdrawalNotice) withdrawal.Notice {
	return withdrawal.Notice{
		ID: row.ID, Customer: row.CustomerID, Kind: withdrawal.Kind(row.Kind), Name: row.Name, Email: row.Email, Contract: row.Contract,
		Ground: withdrawal.Ground(row.Ground), Reason: row.Reason, End: row.EndDay, Language: row.Language,
		At: fromMicros(row.CreatedAt), DoneAt: fromMicros(row.DoneAt), DoneBy: row.DoneBy, DoneNote: row.DoneNote, DoneReply: row.DoneReply, DoneEnds: row.DoneEnds,
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

// noticePage is how many notices of an account are read at once. Anyone may send notices with its
// address, which is limited by address and hour, and operators handle them within days.
const noticePage = 1000

// maxListedNotices bounds the notices about some contracts that are listed.
const maxListedNotices = 1000

// ListOpenNotices returns, by domain, the kinds of a customer's open notices about its contract.
func (db *DB) ListOpenNotices(ctx context.Context, customer string, domains []string) (map[string][]withdrawal.Kind, error) {
	kinds := make(map[string][]withdrawal.Kind)
	err := visitNotices(ctx, db.read(), customer, domains, time.Time{}, func(about map[string][]withdrawal.Notice) bool {
		for domain, notices := range about {
			for _, kind := range withdrawal.Kinds(notices) {
				if !slices.Contains(kinds[domain], kind) {
					kinds[domain] = append(kinds[domain], kind)
				}
			}
		}
		return true
	})
	return kinds, err
}

// ListCustomerNotices returns the newest notices that a customer sent, open and handled.
func (db *DB) ListCustomerNotices(ctx context.Context, customer string, limit int) ([]withdrawal.Notice, error) {
	return rowsAs(noticeOf)(db.read().ListNoticesOfCustomer(ctx, query.ListNoticesOfCustomerParams{
		CustomerID: customer, BeforeID: lastNotice, MaxRows: int32(limit),
	}))
}

// ListContractNotices returns a customer's notices about the contract of a domain, open and handled,
// the newest first.
func (db *DB) ListContractNotices(ctx context.Context, customer, domain string) ([]withdrawal.Notice, error) {
	contracts, err := contractsOf(ctx, db.read(), customer, []string{domain})
	if err != nil {
		return nil, err
	}
	return db.ListNoticesAbout(ctx, customer, contracts...)
}

// ListNoticesAbout returns a customer's notices about some contracts, open and handled, the newest
// first.
func (db *DB) ListNoticesAbout(ctx context.Context, customer string, contracts ...withdrawal.Contract) (notices []withdrawal.Notice, err error) {
	if len(contracts) == 0 {
		return nil, nil
	}
	listed := make(map[string]bool)
	err = visitNoticesAbout(ctx, db.read(), customer, time.UnixMicro(1), func() ([]withdrawal.Contract, error) { return contracts, nil }, func(about map[string][]withdrawal.Notice) bool {
		for _, notice := range slices.Concat(slices.Collect(maps.Values(about))...) {
			if !listed[notice.ID] && len(notices) < maxListedNotices {
				notices, listed[notice.ID] = append(notices, notice), true
			}
		}
		return len(notices) < maxListedNotices
	})
	slices.SortFunc(notices, func(a, b withdrawal.Notice) int { return strings.Compare(b.ID, a.ID) })
	return notices, err
}

// visitNotices calls visit with a customer's notices about the contracts of some domains, by domain:
// the open ones, and those handled ones that were sent since a time; zero means none of these. It is
// called once for each page of notices, the newest first, until it returns false.
func visitNotices(
	ctx context.Context, q *query.Queries, customer string, domains []string, handledSince time.Time, visit func(about map[string][]withdrawal.Notice) bool,
) error {
	if len(domains) == 0 {
		return nil
	}
	return visitNoticesAbout(ctx, q, customer, handledSince, func() ([]withdrawal.Contract, error) { return contractsOf(ctx, q, customer, domains) }, visit)
}

// visitNoticesAbout is visitNotices with the contracts, which are read only if there are notices.
func visitNoticesAbout(
	ctx context.Context, q *query.Queries, customer string, handledSince time.Time,
	read func() ([]withdrawal.Contract, error), visit func(about map[string][]withdrawal.Notice) bool,
) error {
	since := int64(math.MaxInt64)
	if !handledSince.IsZero() {
		since = micros(handledSince.Truncate(time.Second)) // the precision of a notice
	}
	var contracts []withdrawal.Contract
	for before := lastNotice; ; {
		page, err := rowsAs(noticeOf)(q.ListNoticesOfCustomer(ctx, query.ListNoticesOfCustomerParams{
			CustomerID: customer, BeforeID: before, HandledSince: since, MaxRows: noticePage,
		}))
		if err != nil || len(page) == 0 {
			return err
		}
		if contracts == nil {
			if contracts, err = read(); err != nil || len(contracts) == 0 {
				return err
			}
		}
		if !visit(withdrawal.NoticesAbout(page, contracts...)) || len(page) < noticePage {
			return nil
		}
		before = page[len(page)-1].ID
	}
}

// contractsOf returns the contracts of those of some domains that a customer has.
func contractsOf(ctx context.Context, q *query.Queries, customer string, domains []string) ([]withdrawal.Contract, error) {
	rows, err := q.ListContractMentions(ctx, customer, jsonText(domains))
	var contracts []withdrawal.Contract
	for _, row := range rows {
		at := slices.IndexFunc(contracts, func(c withdrawal.Contract) bool { return c.Domain == row.ID })
		if at < 0 {
			at = len(contracts)
			contracts = append(contracts, withdrawal.Contract{Domain: row.ID, Name: row.Name, Since: fromMicros(row.CreatedAt)})
		}
		if row.OrderID == "" {
			continue
		}
		contract := &contracts[at]
		contract.Orders = append(contract.Orders, row.OrderID)
		if ordered := fromMicros(row.OrderedAt); ordered.Before(contract.Since) {
			contract.Since = ordered
		}
	}
	return contracts, err
}

// findNotice returns the newest such notice of a customer about the contract of a domain: an open one,
// or a handled one that was sent since a time; zero means none of these. It returns false if there is
// none.
func findNotice(
	ctx context.Context, q *query.Queries, customer, domain string, handledSince time.Time, such func(withdrawal.Notice) bool,
) (notice withdrawal.Notice, has bool, err error) {
	err = visitNotices(ctx, q, customer, []string{domain}, handledSince, func(about map[string][]withdrawal.Notice) bool {
		if at := slices.IndexFunc(about[domain], such); at >= 0 {
			notice, has = about[domain][at], true
		}
		return !has
	})
	return notice, has, err
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
				orders.paid_at, orders.consent_at, orders.consent_wording, orders.gross, `+buyerKind+`, orders.gross AS named,
				(SELECT count(*) FROM order_items WHERE order_items.order_id = orders.id) AS items, 1 AS by_number
			FROM orders WHERE orders.id IN (`+placeholders(1, len(ids))+`)`)
	}
	if len(names) > 0 && limit > 0 {
		parts = append(parts, `SELECT name AS mention, id, customer_id, name, paid_at, consent_at, consent_wording, gross, consumer, named, 1 AS items, 0 AS by_number
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
		items, _ := row[10].(int64)
		byNumber, _ := row[11].(int64)
		related.Items, related.ByNumber = int(items), byNumber != 0
		related.Gross, related.Named = registrar.Cents(gross), registrar.Cents(named)
		related.PaidAt, related.ConsentAt = fromMicros(paid), fromMicros(consented)
		found[mention] = append(found[mention], related)
	}
	return found, nil
}

// closeNotice is a compare-and-swap of an open notice.
func closeNotice(ctx context.Context, q *query.Queries, notice withdrawal.Notice, event registrar.AuditEvent) error {
	if err := swapped(q.MarkWithdrawalNoticeDone(ctx, query.MarkWithdrawalNoticeDoneParams{
		ID: notice.ID, DoneAt: micros(notice.DoneAt), DoneBy: notice.DoneBy, DoneNote: notice.DoneNote, DoneReply: notice.DoneReply, DoneEnds: notice.DoneEnds,
	})); err != nil {
		return err
	}
	return insertAuditEvent(ctx, q, event)
}
