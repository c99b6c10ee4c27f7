package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// maxLease exceeds the lease of every mail and webhook delivery.
const maxLease = 5 * time.Minute

// jobQueries are the two lists of one kind of job, and the query that makes one due. A new
// kind is one entry here.
type jobQueries struct {
	listRetrying, listNext func(ctx context.Context, q *query.Queries, limit int32) ([]admin.Job, error)
	makeDue                func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error)
}

var jobQueriesByKind = map[admin.JobKind]jobQueries{
	admin.JobItem: {
		listRetrying: jobQuery((*query.Queries).ListRetryingProvisionItems, func(r query.ListRetryingProvisionItemsRow) admin.Job {
			return admin.Job{ID: r.ID, What: r.Kind, State: r.State, Name: r.Name, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		listNext: jobQuery((*query.Queries).ListNextProvisionItems, func(r query.ListNextProvisionItemsRow) admin.Job {
			return admin.Job{ID: r.ID, What: r.Kind, State: r.State, Name: r.Name, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		makeDue: func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error) {
			return q.RetryProvisionItem(ctx, now, id)
		},
	},
	admin.JobOrder: {
		listRetrying: jobQuery((*query.Queries).ListRetryingOrders, func(r query.ListRetryingOrdersRow) admin.Job {
			return admin.Job{ID: r.ID, What: r.Channel, State: r.State, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		listNext: jobQuery((*query.Queries).ListNextOrders, func(r query.ListNextOrdersRow) admin.Job {
			return admin.Job{ID: r.ID, What: r.Channel, State: r.State, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		makeDue: func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error) {
			return q.RetryOrder(ctx, now, id)
		},
	},
	admin.JobChange: {
		listRetrying: jobQuery((*query.Queries).ListRetryingDomainChanges, func(r query.ListRetryingDomainChangesRow) admin.Job {
			return admin.Job{ID: r.ID, What: r.Kind, State: r.State, Name: r.Name, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		listNext: jobQuery((*query.Queries).ListNextDomainChanges, func(r query.ListNextDomainChangesRow) admin.Job {
			return admin.Job{ID: r.ID, What: r.Kind, State: r.State, Name: r.Name, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		makeDue: func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error) {
			return q.RetryDomainChange(ctx, now, id)
		},
	},
	admin.JobMail: {
		listRetrying: jobQuery((*query.Queries).ListRetryingMails, func(r query.ListRetryingMailsRow) admin.Job {
			return admin.Job{ID: r.ID, What: r.Kind, DueAt: fromMicros(r.DueAt), Attempts: int(r.Attempts)}
		}),
		listNext: jobQuery((*query.Queries).ListNextMails, func(r query.ListNextMailsRow) admin.Job {
			return admin.Job{ID: r.ID, What: r.Kind, DueAt: fromMicros(r.DueAt), Attempts: int(r.Attempts)}
		}),
		makeDue: func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error) {
			return q.RetryMail(ctx, query.RetryMailParams{ID: id, Now: now, LongestLease: now + maxLease.Microseconds()})
		},
	},
	admin.JobWebhook: {
		listRetrying: jobQuery((*query.Queries).ListRetryingWebhookDeliveries, func(r query.ListRetryingWebhookDeliveriesRow) admin.Job {
			return admin.Job{ID: r.OrderID, DueAt: fromMicros(r.DueAt), Attempts: int(r.Attempts)}
		}),
		listNext: jobQuery((*query.Queries).ListNextWebhookDeliveries, func(r query.ListNextWebhookDeliveriesRow) admin.Job {
			return admin.Job{ID: r.OrderID, DueAt: fromMicros(r.DueAt), Attempts: int(r.Attempts)}
		}),
		makeDue: func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error) {
			return q.RetryWebhookDelivery(ctx, query.RetryWebhookDeliveryParams{ID: id, Now: now, LongestLease: now + maxLease.Microseconds()})
		},
	},
}

// jobQuery is a query that returns jobs.
func jobQuery[R any](
	list func(*query.Queries, context.Context, int32) ([]R, error), job func(R) admin.Job,
) func(context.Context, *query.Queries, int32) ([]admin.Job, error) {
	return func(ctx context.Context, q *query.Queries, limit int32) ([]admin.Job, error) {
		rows, err := list(q, ctx, limit)
		jobs := make([]admin.Job, 0, len(rows))
		for _, row := range rows {
			jobs = append(jobs, job(row))
		}
		return jobs, err
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

// RetryJobNow makes a job due now, unless it is leased.
func (db *DB) RetryJobNow(ctx context.Context, kind admin.JobKind, id string, now time.Time, event registrar.AuditEvent) (madeDue bool, err error) {
	if isUnstorableText(id) {
		return false, nil
	}
	err = db.write(ctx, func(q *query.Queries) error {
		madeDue, err = changed(jobQueriesByKind[kind].makeDue(ctx, q, id, micros(now)))
		if err != nil || !madeDue {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
	return madeDue, err
}
