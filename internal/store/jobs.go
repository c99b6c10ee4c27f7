package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/keyring"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// maxLease exceeds the lease of every mail and webhook delivery.
const maxLease = 5 * time.Minute

// jobQueries are the two lists of one kind of job, and the query that makes one due. A new
// kind is one entry here.
type jobQueries struct {
	listRetrying, listNext func(ctx context.Context, q *query.Queries, limit int32) ([]admin.Job, error)
	makeDue                func(q *query.Queries, ctx context.Context, now int64, id string) (sql.Result, error)
}

var jobQueriesByKind = map[admin.JobKind]jobQueries{
	admin.JobItem: {
		jobList((*query.Queries).ListRetryingProvisionItems), jobList((*query.Queries).ListNextProvisionItems), (*query.Queries).RetryProvisionItem,
	},
	admin.JobOrder: {
		jobList((*query.Queries).ListRetryingOrders), jobList((*query.Queries).ListNextOrders), (*query.Queries).RetryOrder,
	},
	admin.JobChange: {
		jobList((*query.Queries).ListRetryingDomainChanges), jobList((*query.Queries).ListNextDomainChanges), (*query.Queries).RetryDomainChange,
	},
	admin.JobMail: {
		jobList((*query.Queries).ListRetryingMails), jobList((*query.Queries).ListNextMails),
		func(q *query.Queries, ctx context.Context, now int64, id string) (sql.Result, error) {
			return q.RetryMail(ctx, query.RetryMailParams{ID: id, Now: now, LongestLease: now + maxLease.Microseconds()})
		},
	},
	admin.JobWebhook: {
		jobList((*query.Queries).ListRetryingWebhookDeliveries), jobList((*query.Queries).ListNextWebhookDeliveries),
		func(q *query.Queries, ctx context.Context, now int64, id string) (sql.Result, error) {
			return q.RetryWebhookDelivery(ctx, query.RetryWebhookDeliveryParams{ID: id, Now: now, LongestLease: now + maxLease.Microseconds()})
		},
	},
}

// jobRow is a row of each query that lists jobs.
type jobRow = struct {
	ID, What, State, Name string
	DueAt                 int64
	Node                  string
	Attempts              int64
	Since                 int64
}

// jobList is a query that returns jobs.
func jobList[R ~jobRow](
	list func(*query.Queries, context.Context, int32) ([]R, error),
) func(context.Context, *query.Queries, int32) ([]admin.Job, error) {
	return func(ctx context.Context, q *query.Queries, limit int32) ([]admin.Job, error) {
		return rowsAs(jobOf[R](""))(list(q, ctx, limit))
	}
}

func jobOf[R ~jobRow](kind admin.JobKind) func(R) admin.Job {
	return func(row R) admin.Job {
		r := jobRow(row)
		return admin.Job{Kind: kind, ID: r.ID, What: r.What, State: r.State, Name: r.Name, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts), Since: fromMicros(r.Since)}
	}
}

// ListJobs returns the unfinished jobs of a kind.
func (db *DB) ListJobs(ctx context.Context, kind admin.JobKind, tried bool, limit int) ([]admin.Job, error) {
	list := jobQueriesByKind[kind].listNext
	if tried {
		list = jobQueriesByKind[kind].listRetrying
	}
	jobs, err := list(ctx, db.read(), int32(limit))
	for i := range jobs {
		jobs[i].Kind = kind
	}
	return jobs, err
}

// ListFailedItems returns items whose last attempt failed with a code and that wait for the next one.
func (db *DB) ListFailedItems(ctx context.Context, code registrar.Code, now time.Time, limit int) ([]admin.FailedItem, error) {
	return rowsAs(func(row query.ListFailedItemsRow) admin.FailedItem {
		return admin.FailedItem{ID: row.ID, Account: row.Account, Order: row.OrderID, Gross: registrar.Cents(row.Gross)}
	})(
		db.read().ListFailedItems(ctx, query.ListFailedItemsParams{Now: micros(now), Code: string(code), MaxRows: int32(limit)}))
}

// PaidForItem returns what is refunded of its order if an item fails; 0 if it has none.
func (db *DB) PaidForItem(ctx context.Context, id string) (registrar.Cents, bool, error) {
	item, found, err := db.ProvisionItemByID(ctx, id)
	if err != nil || !found {
		return 0, false, err
	}
	o, _, err := db.OrderByID(ctx, strings.TrimPrefix(item.Payment, orderPayment))
	for _, paid := range o.Items {
		if paid.ProvisionItem == id {
			return o.RemainingOf(paid.ID), true, err
		}
	}
	return 0, true, err
}

// RetryJobNow makes a job due now, unless it is leased.
func (db *DB) RetryJobNow(ctx context.Context, kind admin.JobKind, id string, now time.Time, event registrar.AuditEvent) (bool, error) {
	if sqldb.IsUnstorable(id) {
		return false, nil
	}
	return db.swap(ctx, func(q *query.Queries) error {
		if err := swapped(jobQueriesByKind[kind].makeDue(q, ctx, micros(now), id)); err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
}

// ReleasedLeases counts released leases by kind.
type ReleasedLeases struct {
	Orders, ProvisionItems, DomainChanges, OutgoingTransfers, TermEnds, Mails, WebhookDeliveries, RegistryPollers, Disputes, DisputeListings, IdempotencyKeys int64
}

// leaseKinds are all kinds of leases. Invoices, expiry notices and registry syncs have none: a
// transaction claims them, or a compare-and-swap after the work.
var leaseKinds = []struct {
	what    string
	count   func(*ReleasedLeases) *int64
	release func(q *query.Queries, ctx context.Context, now int64, node string) (int64, error)
}{
	{"orders", func(r *ReleasedLeases) *int64 { return &r.Orders }, (*query.Queries).ReleaseOrders},
	{"provision items", func(r *ReleasedLeases) *int64 { return &r.ProvisionItems }, (*query.Queries).ReleaseProvisionItems},
	{"domain changes", func(r *ReleasedLeases) *int64 { return &r.DomainChanges }, (*query.Queries).ReleaseDomainChanges},
	{"outgoing transfers", func(r *ReleasedLeases) *int64 { return &r.OutgoingTransfers }, (*query.Queries).ReleaseOutgoingTransfers},
	{"unpaid terms", func(r *ReleasedLeases) *int64 { return &r.TermEnds }, (*query.Queries).ReleaseTermEnds},
	{"mails", func(r *ReleasedLeases) *int64 { return &r.Mails }, (*query.Queries).ReleaseMails},
	{"webhook deliveries", func(r *ReleasedLeases) *int64 { return &r.WebhookDeliveries }, (*query.Queries).ReleaseWebhookDeliveries},
	{"registry pollers", func(r *ReleasedLeases) *int64 { return &r.RegistryPollers }, (*query.Queries).ReleaseRegistryPollers},
	{"disputes", func(r *ReleasedLeases) *int64 { return &r.Disputes }, (*query.Queries).ReleaseDisputes},
	{"dispute listings", func(r *ReleasedLeases) *int64 { return &r.DisputeListings }, (*query.Queries).ReleaseDisputeListings},
	{
		"idempotency keys", func(r *ReleasedLeases) *int64 { return &r.IdempotencyKeys },
		func(q *query.Queries, ctx context.Context, _ int64, node string) (int64, error) {
			return q.ReleaseIdempotencyKeys(ctx, node)
		},
	},
}

// ClaimNode makes this process the node of that name: its leases carry the name, and
// those that an earlier process of the name still holds are released. It is called
// once, before anything is claimed, and by the one process that has the name.
func (db *DB) ClaimNode(ctx context.Context, name string, now time.Time) (released ReleasedLeases, err error) {
	db.node = name
	q := db.single() // no rows stay locked while another table is waited for
	for _, lease := range leaseKinds {
		if *lease.count(&released), err = lease.release(q, ctx, micros(now), name); err != nil {
			return released, fmt.Errorf("store: release leases on %s: %w", lease.what, err)
		}
	}
	return released, nil
}

// ReportNode stores that this node is alive, and returns the reports of all nodes.
func (db *DB) ReportNode(ctx context.Context, now time.Time) ([]keyring.Node, error) {
	if err := db.single().TouchSealNode(ctx, micros(now), db.node); err != nil {
		return nil, err
	}
	return db.SealNodes(ctx)
}

// ReleaseDeadNode releases the leases of another node unless it has reported after seenAt. Each
// table is a transaction of its own that also locks the report: the node can't return in the
// middle of one, and no rows stay locked while another table is waited for.
func (db *DB) ReleaseDeadNode(ctx context.Context, name string, seenAt, now time.Time) (released ReleasedLeases, err error) {
	for _, lease := range leaseKinds {
		dead, err := db.swap(ctx, func(q *query.Queries) (err error) {
			if err := swapped(q.LockSealNode(ctx, name, micros(seenAt))); err != nil {
				return err
			}
			*lease.count(&released), err = lease.release(q, ctx, micros(now), name)
			return err
		})
		if err != nil {
			return released, fmt.Errorf("store: release leases of a dead node on %s: %w", lease.what, err)
		}
		if !dead {
			break
		}
	}
	return released, nil
}

// CountDueWork counts the jobs that are due at a business time and a real time, and those
// in progress.
func (db *DB) CountDueWork(ctx context.Context, now, clock time.Time) (int, error) {
	toAnnounce, err := db.ListCustomersToAnnounce(ctx, renewal.AnnounceWindow(now), 1)
	if err != nil || len(toAnnounce) > 0 {
		return len(toAnnounce), err
	}
	due, err := db.read().CountDueWork(ctx, query.CountDueWorkParams{
		Clock: micros(clock), Now: micros(now), LastRun: micros(now.Add(-time.Hour)), Week: micros(now.AddDate(0, 0, 7)), Month: micros(now.AddDate(0, 0, 30)),
		GuestsSince: micros(now.Add(-contactcheck.GuestDelay)),
	})
	return int(due), err
}
