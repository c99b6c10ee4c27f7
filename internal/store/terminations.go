package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// namedDomain are the columns of ListNamedDomains after the mention.
const namedDomain = `domains.id, domains.customer_id, domains.name, customers.email, domains.status, domains.paid_until, domains.at_term_end, domains.tld`

// ListNamedDomains returns, by mention, the domain with a name or those of the order with a
// number. It is one query for all of them, like ListRelatedOrders.
func (db *DB) ListNamedDomains(ctx context.Context, mentions []string, limit int) (map[string][]withdrawal.NamedDomain, error) {
	ids, names := splitMentions(mentions)
	var parts []string
	if len(ids) > 0 {
		parts = append(parts, `SELECT order_items.order_id AS mention, `+namedDomain+`
			FROM order_items JOIN orders ON orders.id = order_items.order_id
			JOIN domains ON domains.name = order_items.name AND domains.status <> 'transferred_out' AND domains.customer_id = orders.customer_id
			JOIN customers ON customers.id = domains.customer_id
			WHERE order_items.order_id IN (`+placeholders(1, len(ids))+`) AND order_items.position < `+strconv.Itoa(limit))
	}
	if len(names) > 0 {
		parts = append(parts, `SELECT domains.name AS mention, `+namedDomain+`
			FROM domains JOIN customers ON customers.id = domains.customer_id
			WHERE domains.name IN (`+placeholders(len(ids)+1, len(names))+`) AND domains.status <> 'transferred_out'`)
	}
	found := make(map[string][]withdrawal.NamedDomain)
	if len(parts) == 0 {
		return found, nil
	}
	text := strings.Join(parts, " UNION ALL ") + " ORDER BY 1, 4"
	for row, err := range sqldb.Rows(ctx, db.sql.Reader(), text, slices.Concat(ids, names)...) {
		if err != nil {
			return nil, fmt.Errorf("store: list named domains: %w", err)
		}
		column := func(i int) string {
			value, _ := row[i].(string)
			return value
		}
		paid, _ := row[6].(int64)
		found[column(0)] = append(found[column(0)], withdrawal.NamedDomain{
			ID: column(1), Customer: column(2), Name: column(3), Email: column(4), Status: registrar.DomainStatus(column(5)),
			PaidUntil: fromMicros(paid), Choice: registrar.TermEndChoice(column(7)), TLD: column(8),
		})
	}
	return found, nil
}

// ListRefundedDomains returns those of some domains of whose orders something was refunded for a notice, or
// is to be.
func (db *DB) ListRefundedDomains(ctx context.Context, notice string, domains []withdrawal.NamedDomain) (refunded []withdrawal.NamedDomain, err error) {
	orders := make(map[string][]order.Order) // by customer
	for _, domain := range domains {
		of, listed := orders[domain.Customer]
		if !listed {
			if of, err = db.ListOrdersOfNotices(ctx, domain.Customer, []string{notice}); err != nil {
				return nil, err
			}
			orders[domain.Customer] = of
		}
		if slices.ContainsFunc(of, func(o order.Order) bool { return o.IsRefundedFor(notice, domain.Name) }) {
			refunded = append(refunded, domain)
		}
	}
	return refunded, nil
}

// splitMentions divides what a notice mentions into numbers of orders and names of domains.
func splitMentions(mentions []string) (ids, names []any) {
	for _, mention := range mentions {
		switch {
		case sqldb.IsUnstorable(mention):
		case strings.HasPrefix(mention, orderPrefix):
			ids = append(ids, mention)
		default:
			names = append(names, mention)
		}
	}
	return ids, names
}

// StoreOutcome closes a notice with its mails and lets its domains expire.
func (db *DB) StoreOutcome(ctx context.Context, done withdrawal.Outcome) error {
	// Two transactions lock the domains in the same order.
	contracts := slices.SortedFunc(slices.Values(done.Contracts), func(a, b withdrawal.EndedContract) int { return cmp.Compare(a.Domain.ID, b.Domain.ID) })
	closed, err := db.swap(ctx, func(q *query.Queries) error {
		if err := closeNotice(ctx, q, done.Notice, done.AuditEvent); err != nil {
			return err
		}
		for _, contract := range contracts {
			if err := endContract(ctx, q, contract, done); err != nil {
				return err
			}
		}
		return queueMails(ctx, q, done.Mails, done.At)
	})
	if err == nil && !closed {
		err = registrar.Conflict(withdrawal.AlreadyHandled)
	}
	return err
}

// endContract lets a domain expire if it is still as the operator has seen it.
func endContract(ctx context.Context, q *query.Queries, contract withdrawal.EndedContract, done withdrawal.Outcome) error {
	domain := contract.Domain
	if err := rowOr(registrar.Conflict(withdrawal.TerminationChanged))(q.LetSeenDomainExpire(ctx, query.LetSeenDomainExpireParams{
		UpdatedAt: micros(done.Now), ID: domain.ID, CustomerID: domain.Customer, Was: string(domain.Choice), PaidUntil: micros(domain.PaidUntil),
		Status: string(domain.Status),
	})); err != nil {
		return err
	}
	charging, err := q.CountChargingRenewals(ctx, domain.ID)
	switch {
	case err != nil:
		return err
	case charging > 0:
		return registrar.Conflict(renewal.InProgress)
	}
	if err := endConsent(ctx, q, domain.ID, renewal.EndTerminated, done.Now); err != nil {
		return err
	}
	return insertAuditEvent(ctx, q, contract.AuditEvent)
}

// endRefundedRenewals ends the automatic renewals of an order's domains of which something was refunded
// for a withdrawal notice that this closes. The money is back by then, so a charge in flight does not
// prevent it: its order renews the domain once more.
func endRefundedRenewals(ctx context.Context, q *query.Queries, o order.Order, notice string) error {
	for _, item := range o.Items {
		if !o.IsRefundedFor(notice, item.Name) {
			continue
		}
		domain, err := q.GetCurrentDomainByName(ctx, item.Name)
		ok, err := found(err)
		if err != nil {
			return err
		}
		if !ok || domain.CustomerID != o.Customer || domain.AtTermEnd != string(registrar.TermEndRenew) {
			continue
		}
		ended, err := changed(rowsOf(q.LetSeenDomainExpire(ctx, query.LetSeenDomainExpireParams{
			UpdatedAt: micros(o.UpdatedAt), ID: domain.ID, CustomerID: o.Customer, Was: domain.AtTermEnd, PaidUntil: domain.PaidUntil, Status: domain.Status,
		})))
		if err == nil && ended {
			err = endConsent(ctx, q, domain.ID, renewal.EndTerminated, o.UpdatedAt)
		}
		if err == nil && ended {
			err = insertAuditEvent(ctx, q, registrar.AuditEvent{
				Actor:  registrar.Actor{Kind: registrar.ActorSystem, Through: o.ID},
				Action: withdrawal.ContractWithdrawn, Customer: o.Customer, Object: domain.Name, At: o.UpdatedAt,
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
