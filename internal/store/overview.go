package store

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/overview"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ overview.Store = (*DB)(nil)

// OverviewFacts reads what the overview of an account is made of, with one query for each
// kind of fact, and one more to count what exceeds the limit.
func (db *DB) OverviewFacts(ctx context.Context, customer string, bounds overview.Bounds) (facts overview.Facts, err error) {
	q := db.read()
	account, err := q.GetOverviewAccount(ctx, customer, micros(bounds.Clock))
	if err != nil {
		return facts, err
	}
	facts = overview.Facts{HasRegistrant: account.Registrants > 0, NewEmail: account.NewEmail, NewEmailUntil: fromMicros(account.NewEmailUntil)}
	if err := addUnfinished(ctx, q, customer, bounds.Limit, &facts); err != nil {
		return facts, err
	}
	if err := addEndingSoon(ctx, q, customer, bounds, &facts); err != nil {
		return facts, err
	}
	if facts.Months, facts.Later, err = countTermEnds(ctx, q, customer, bounds.Months); err != nil {
		return facts, err
	}
	facts.Spent, err = rowsAs(func(row query.SumSpendingByDayRow) overview.Day {
		return overview.Day{Day: dayOf(row.Day), Spent: registrar.Cents(row.Spent)}
	})(q.SumSpendingByDay(ctx, customer, micros(bounds.SpentSince)))
	return facts, err
}

// addUnfinished adds orders, changes and outgoing transfers. The first two are counted only if
// they exceed the limit.
func addUnfinished(ctx context.Context, q *query.Queries, customer string, limit int, facts *overview.Facts) (err error) {
	if facts.Orders, err = rowsAs(unfinishedOrderOf)(q.ListUnfinishedOrders(ctx, customer, int32(limit))); err != nil {
		return err
	}
	if facts.OrderCount = len(facts.Orders); facts.OrderCount == limit {
		orders, err := q.CountUnfinishedOrders(ctx, customer)
		if err != nil {
			return err
		}
		facts.OrderCount = int(orders)
	}
	transferring := func(o overview.Order) bool { return o.State == order.Provisioning && o.Kind == order.Transfer }
	if slices.ContainsFunc(facts.Orders, transferring) {
		if facts.Transfers, err = listRunningTransfers(ctx, q, customer, overview.MaxTransfers, 0); err != nil {
			return err
		}
	}
	if facts.Changes, err = rowsAs(openChangeOf)(q.ListOpenDomainChanges(ctx, customer, int32(limit))); err != nil {
		return err
	}
	if facts.ChangeCount = len(facts.Changes); facts.ChangeCount == limit {
		changes, err := q.CountOpenDomainChanges(ctx, customer)
		if err != nil {
			return err
		}
		facts.ChangeCount = int(changes)
	}
	facts.Leaving, err = rowsAs(leavingDomainOf)(q.ListLeavingDomains(ctx, customer, overview.MaxLeaving))
	return err
}

// addEndingSoon adds the domains whose term ends. Those that need a decision are read
// separately, so that others with an earlier end don't displace them.
func addEndingSoon(ctx context.Context, q *query.Queries, customer string, bounds overview.Bounds, facts *overview.Facts) (err error) {
	list := func(deciding int64) ([]portfolio.Domain, error) {
		return rowsAs(func(row query.ListDomainsEndingSoonRow) portfolio.Domain {
			return domainWithTermOf(query.SearchDomainsRow(row))
		})(q.ListDomainsEndingSoon(ctx, query.ListDomainsEndingSoonParams{
			CustomerID: customer, PaidBefore: micros(bounds.PaidBefore), DecideBefore: micros(bounds.DecideBefore), Deciding: deciding, MaxRows: int32(bounds.Limit),
		}))
	}
	if facts.Deciding, err = list(1); err != nil {
		return err
	}
	if facts.Expiring, err = list(0); err != nil {
		return err
	}
	if facts.Restricted, err = listRestricted(ctx, q, customer); err != nil {
		return err
	}
	facts.DecidingCount, facts.ExpiringCount = len(facts.Deciding), len(facts.Expiring)
	if facts.DecidingCount < bounds.Limit && facts.ExpiringCount < bounds.Limit {
		return nil
	}
	soon, err := q.CountDomainsEndingSoon(ctx, query.CountDomainsEndingSoonParams{
		CustomerID: customer, PaidBefore: micros(bounds.PaidBefore), DecideBefore: micros(bounds.DecideBefore),
	})
	facts.DecidingCount, facts.ExpiringCount = int(soon.Deciding), int(soon.Ending-soon.Deciding)
	return err
}

// countTermEnds counts the terms that end in each of twelve months, given the beginnings of
// thirteen, and after them.
func countTermEnds(ctx context.Context, q *query.Queries, customer string, months [13]time.Time) (counts [12]int, later int, err error) {
	row, err := q.CountTermEnds(ctx, query.CountTermEndsParams{
		CustomerID: customer,
		Month0:     micros(months[0]), Month1: micros(months[1]), Month2: micros(months[2]), Month3: micros(months[3]), Month4: micros(months[4]),
		Month5: micros(months[5]), Month6: micros(months[6]), Month7: micros(months[7]), Month8: micros(months[8]), Month9: micros(months[9]),
		Month10: micros(months[10]), Month11: micros(months[11]), Month12: micros(months[12]),
	})
	for i, count := range [12]int64{
		row.Count0, row.Count1, row.Count2, row.Count3, row.Count4, row.Count5, row.Count6, row.Count7, row.Count8, row.Count9, row.Count10, row.Count11,
	} {
		counts[i] = int(count)
	}
	return counts, int(row.CountLater), err
}

// dayOf returns the beginning of a day since 1970.
func dayOf(day int64) time.Time { return time.Unix(day*24*60*60, 0).UTC() }

func unfinishedOrderOf(row query.ListUnfinishedOrdersRow) overview.Order {
	return overview.Order{
		ID: row.ID, State: order.State(row.State), Channel: order.Channel(row.Channel), ByKind: registrar.ActorKind(row.ByKind), ByName: row.ByName,
		Name: row.Name, Kind: order.Kind(row.Kind), Items: int(row.Items), Failed: int(row.Failed), Net: registrar.Cents(row.Net), Gross: registrar.Cents(row.Gross), VATRule: row.VatRule, SealedPayLink: row.PaySealed,
		CreatedAt: fromMicros(row.CreatedAt), ExpiresAt: fromMicros(row.ExpiresAt),
	}
}

func openChangeOf(row query.ListOpenDomainChangesRow) overview.Change {
	return overview.Change{Domain: row.DomainID, Name: row.Name, Kind: row.Kind, WaitUntil: fromMicros(row.WaitUntil)}
}

func leavingDomainOf(row query.ListLeavingDomainsRow) overview.Leaving {
	state := transferaway.State(row.State)
	return overview.Leaving{
		Domain: row.DomainID, Name: row.Name, ActsAt: fromMicros(row.ActsAt),
		Pending: state == transferaway.StateNew || state == transferaway.StatePending,
	}
}
