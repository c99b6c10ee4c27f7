package store

import (
	"context"
	"net/netip"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// deedPrefix and lastDeed bound the identifiers of deeds; pages go backwards
// from the last one. It is longer than any and made of letters, because
// PostgreSQL may order text by a language's rules, where punctuation stands first.
const (
	deedPrefix = "act_"
	lastDeed   = deedPrefix + "zzzzzzzzzzzzzzzzzzzzzzzzzzz"
)

// recordDeed writes one entry of the audit, in the transaction of what it tells.
func recordDeed(ctx context.Context, q *query.Queries, deed registrar.Deed) error {
	actor := deed.Actor.Customer
	if deed.Actor.Kind == registrar.ActorOperator {
		actor = deed.Actor.Through
	}
	return q.InsertDeed(ctx, query.InsertDeedParams{
		ID:         registrar.NewID(deedPrefix, deed.At),
		CustomerID: deed.Customer,
		ActorKind:  string(deed.Actor.Kind),
		Actor:      actor,
		Through:    deed.Actor.Through,
		Address:    addressText(deed.Actor.Address),
		Action:     string(deed.Action),
		Object:     deed.Object,
		At:         micros(deed.At),
	})
}

func addressText(address netip.Addr) string {
	if !address.IsValid() {
		return ""
	}
	return address.String()
}

// DeedsOf returns what was done to an account, the newest first. before is the
// id of the last one of the page before; empty means from the newest on.
func (db *DB) DeedsOf(ctx context.Context, id, before string, limit int) ([]customer.Entry, error) {
	return accounts{db.read()}.DeedsOf(ctx, id, before, limit)
}

func (a accounts) DeedsOf(ctx context.Context, id, before string, limit int) ([]customer.Entry, error) {
	if neverStored(before) {
		return nil, nil
	}
	if before == "" {
		before = lastDeed
	}
	rows, err := a.q.DeedsOfCustomer(ctx, query.DeedsOfCustomerParams{CustomerID: id, ID: before, Limit: int32(limit)})
	if err != nil {
		return nil, err
	}
	deeds := make([]customer.Entry, 0, len(rows))
	for _, row := range rows {
		deeds = append(deeds, customer.Entry{ID: row.ID, Deed: deedOf(row)})
	}
	return deeds, nil
}

func deedOf(row query.Deed) registrar.Deed {
	address, _ := netip.ParseAddr(row.Address)
	return registrar.Deed{
		Actor: registrar.Actor{
			Kind: registrar.ActorKind(row.ActorKind), Customer: row.Actor, Through: row.Through, Address: address,
		},
		Action: registrar.Action(row.Action), Customer: row.CustomerID, Object: row.Object, At: fromMicros(row.At),
	}
}
