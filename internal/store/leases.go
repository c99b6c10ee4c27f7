package store

import (
	"context"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/store/query"
)

// Released counts the leases that a node gave back, by what they were on.
type Released struct {
	Orders, Lines, Changes, Mails, AgentEvents, Keys int64
}

// TakeNode makes this process the node of that name: its leases carry the name, and
// those that an earlier process of the name still holds are released. It is called
// once, before anything is claimed, and by the one process that has the name.
//
// Everything that is leased has a row here. Invoices, notices and looks at registries
// have no lease: a transaction takes them, or a compare-and-swap after the work does.
func (db *DB) TakeNode(ctx context.Context, name string, now time.Time) (Released, error) {
	db.node = name
	var released Released
	at := micros(now)
	// Each in a transaction of its own: nothing is locked while another table is
	// waited for.
	for _, one := range []struct {
		what string
		to   *int64
		free func(*query.Queries) (int64, error)
	}{
		{"orders", &released.Orders, func(q *query.Queries) (int64, error) {
			return q.FreeOrders(ctx, query.FreeOrdersParams{Node: name, Now: at})
		}},
		{"lines", &released.Lines, func(q *query.Queries) (int64, error) {
			return q.FreeLines(ctx, query.FreeLinesParams{Node: name, Now: at})
		}},
		{"changes", &released.Changes, func(q *query.Queries) (int64, error) {
			return q.FreeChanges(ctx, query.FreeChangesParams{Node: name, Now: at})
		}},
		{"mails", &released.Mails, func(q *query.Queries) (int64, error) {
			return q.FreeMails(ctx, query.FreeMailsParams{Node: name, Now: at})
		}},
		{"agent events", &released.AgentEvents, func(q *query.Queries) (int64, error) {
			return q.FreeAgentEvents(ctx, query.FreeAgentEventsParams{Node: name, Now: at})
		}},
		{"idempotency keys", &released.Keys, func(q *query.Queries) (int64, error) { return q.FreeRuns(ctx, name) }},
	} {
		err := db.write(ctx, func(q *query.Queries) (err error) {
			*one.to, err = one.free(q)
			return err
		})
		if err != nil {
			return released, fmt.Errorf("store: release leases on %s: %w", one.what, err)
		}
	}
	return released, nil
}
