package store

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// longestLease is longer than anybody has a mail or a message in hand.
const longestLease = 5 * time.Minute

// worked are the two lists of one kind, and what makes a row of it due. A new kind of
// work is a line here.
type worked struct {
	tried, next func(ctx context.Context, q *query.Queries, limit int32) ([]office.Job, error)
	hurry       func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error)
}

var work = map[office.JobKind]worked{
	office.JobLine: {
		tried: jobsBy((*query.Queries).TriedLines, func(r query.TriedLinesRow) office.Job {
			return office.Job{ID: r.ID, What: r.Kind, State: r.State, Name: r.Name, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		next: jobsBy((*query.Queries).NextLines, func(r query.NextLinesRow) office.Job {
			return office.Job{ID: r.ID, What: r.Kind, State: r.State, Name: r.Name, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		hurry: func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error) {
			return q.RetryLine(ctx, query.RetryLineParams{ID: id, Now: now})
		},
	},
	office.JobOrder: {
		tried: jobsBy((*query.Queries).TriedOrders, func(r query.TriedOrdersRow) office.Job {
			return office.Job{ID: r.ID, What: r.Channel, State: r.State, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		next: jobsBy((*query.Queries).NextOrders, func(r query.NextOrdersRow) office.Job {
			return office.Job{ID: r.ID, What: r.Channel, State: r.State, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		hurry: func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error) {
			return q.RetryOrder(ctx, query.RetryOrderParams{ID: id, Now: now})
		},
	},
	office.JobChange: {
		tried: jobsBy((*query.Queries).TriedChanges, func(r query.TriedChangesRow) office.Job {
			return office.Job{ID: r.ID, What: r.Kind, State: r.State, Name: r.Name, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		next: jobsBy((*query.Queries).NextChanges, func(r query.NextChangesRow) office.Job {
			return office.Job{ID: r.ID, What: r.Kind, State: r.State, Name: r.Name, DueAt: fromMicros(r.DueAt), Node: r.Node, Attempts: int(r.Attempts)}
		}),
		hurry: func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error) {
			return q.RetryChange(ctx, query.RetryChangeParams{ID: id, Now: now})
		},
	},
	office.JobMail: {
		tried: jobsBy((*query.Queries).TriedMails, func(r query.TriedMailsRow) office.Job {
			return office.Job{ID: r.ID, What: r.Kind, DueAt: fromMicros(r.DueAt), Attempts: int(r.Attempts)}
		}),
		next: jobsBy((*query.Queries).NextMails, func(r query.NextMailsRow) office.Job {
			return office.Job{ID: r.ID, What: r.Kind, DueAt: fromMicros(r.DueAt), Attempts: int(r.Attempts)}
		}),
		hurry: func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error) {
			return q.RetryMail(ctx, query.RetryMailParams{ID: id, Now: now, LongestLease: now + longestLease.Microseconds()})
		},
	},
	office.JobEvent: {
		tried: jobsBy((*query.Queries).TriedEvents, func(r query.TriedEventsRow) office.Job {
			return office.Job{ID: r.OrderID, DueAt: fromMicros(r.DueAt), Attempts: int(r.Attempts)}
		}),
		next: jobsBy((*query.Queries).NextEvents, func(r query.NextEventsRow) office.Job {
			return office.Job{ID: r.OrderID, DueAt: fromMicros(r.DueAt), Attempts: int(r.Attempts)}
		}),
		hurry: func(ctx context.Context, q *query.Queries, id string, now int64) (int64, error) {
			return q.RetryEvent(ctx, query.RetryEventParams{ID: id, Now: now, LongestLease: now + longestLease.Microseconds()})
		},
	},
}

// jobsBy is a query whose rows are jobs.
func jobsBy[R any](
	ask func(*query.Queries, context.Context, int32) ([]R, error), job func(R) office.Job,
) func(context.Context, *query.Queries, int32) ([]office.Job, error) {
	return func(ctx context.Context, q *query.Queries, limit int32) ([]office.Job, error) {
		rows, err := ask(q, ctx, limit)
		jobs := make([]office.Job, 0, len(rows))
		for _, row := range rows {
			jobs = append(jobs, job(row))
		}
		return jobs, err
	}
}

// Work is what is not done of a kind.
func (db *DB) Work(ctx context.Context, kind office.JobKind, tried bool, limit int) ([]office.Job, error) {
	ask := work[kind].next
	if tried {
		ask = work[kind].tried
	}
	jobs, err := ask(ctx, db.read(), int32(limit))
	for i := range jobs {
		jobs[i].Kind = kind
	}
	return jobs, err
}

// HurryJob makes a job due now, unless somebody has it in hand.
func (db *DB) HurryJob(ctx context.Context, kind office.JobKind, id string, now time.Time, deed registrar.Deed) (hurried bool, err error) {
	if neverStored(id) {
		return false, nil
	}
	err = db.write(ctx, func(q *query.Queries) error {
		hurried, err = changed(work[kind].hurry(ctx, q, id, micros(now)))
		if err != nil || !hurried {
			return err
		}
		return recordDeed(ctx, q, deed)
	})
	return hurried, err
}
