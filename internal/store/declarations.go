package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/declaration"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ declaration.Store = (*DB)(nil)

// AddDeclaration stores one with its letters.
func (db *DB) AddDeclaration(ctx context.Context, declared declaration.Declaration, letters []registrar.Letter) error {
	return db.write(ctx, func(q *query.Queries) error {
		err := q.InsertDeclaration(ctx, query.InsertDeclarationParams{
			ID: declared.ID, Kind: string(declared.Kind), Name: declared.Name, Email: declared.Email, Contract: declared.Contract,
			Ground: string(declared.Ground), Reason: declared.Reason, EndDay: declared.End, Language: declared.Language,
			CreatedAt: micros(declared.At),
		})
		if err != nil {
			return fmt.Errorf("a declaration: %w", err)
		}
		for _, letter := range letters {
			if err := recordLetter(ctx, q, letter, declared.At); err != nil {
				return err
			}
		}
		return nil
	})
}

// Declarations is a page, the oldest first, after the id.
func (db *DB) Declarations(ctx context.Context, after string, limit int) ([]declaration.Declaration, error) {
	if neverStored(after) {
		return nil, nil
	}
	rows, err := db.read().DeclarationsAfter(ctx, query.DeclarationsAfterParams{ID: after, Limit: int32(limit)})
	list := make([]declaration.Declaration, 0, len(rows))
	for _, row := range rows {
		list = append(list, declaration.Declaration{
			ID: row.ID, Kind: declaration.Kind(row.Kind), Name: row.Name, Email: row.Email, Contract: row.Contract,
			Ground: declaration.Ground(row.Ground), Reason: row.Reason, End: row.EndDay, Language: row.Language,
			At: fromMicros(row.CreatedAt), DoneAt: fromMicros(row.DoneAt),
		})
	}
	return list, err
}

// OrdersAbout are the orders with a number, or the newest paid ones for a domain.
func (db *DB) OrdersAbout(ctx context.Context, mention string, limit int) ([]declaration.Ordered, error) {
	if neverStored(mention) {
		return nil, nil
	}
	if strings.HasPrefix(mention, orderPrefix) {
		row, err := db.read().OrderByID(ctx, mention)
		if ok, err := found(err); !ok {
			return nil, err
		}
		return []declaration.Ordered{{
			ID: row.ID, PaidAt: fromMicros(row.PaidAt), ConsentAt: fromMicros(row.ConsentAt), Wording: row.ConsentWording,
		}}, nil
	}
	rows, err := db.read().OrdersWithName(ctx, query.OrdersWithNameParams{Name: mention, Limit: int32(limit)})
	orders := make([]declaration.Ordered, 0, len(rows))
	for _, row := range rows {
		orders = append(orders, declaration.Ordered{
			ID: row.ID, PaidAt: fromMicros(row.PaidAt), ConsentAt: fromMicros(row.ConsentAt), Wording: row.ConsentWording,
		})
	}
	return orders, err
}

// FinishDeclaration notes that one is dealt with.
func (db *DB) FinishDeclaration(ctx context.Context, id string, at time.Time) (bool, error) {
	if neverStored(id) {
		return false, nil
	}
	var done int64
	err := db.write(ctx, func(q *query.Queries) (err error) {
		done, err = q.FinishDeclaration(ctx, query.FinishDeclarationParams{ID: id, DoneAt: micros(at)})
		return err
	})
	return done == 1, err
}
