package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// priceListsSchema is the first migration that has the table price_lists.
const priceListsSchema = 1

// priceListTimeout bounds one read of the price list.
const priceListTimeout = 5 * time.Second

// PriceList returns the price list in force. If the stored list is invalid, the
// returned edition still has its number, so that it can be replaced.
func (db *DB) PriceList(ctx context.Context) (catalog.Edition, error) {
	row, err := db.read().GetNewestPriceList(ctx)
	ok, err := found(err)
	if err != nil {
		return catalog.Edition{}, fmt.Errorf("store: read price list: %w", err)
	}
	if !ok || row.Content == "" {
		return shippedEdition(row.Edition)
	}
	list, err := catalog.Parse(strings.NewReader(row.Content))
	if err != nil {
		return catalog.Edition{Number: row.Edition}, fmt.Errorf("edition %d of the price list is invalid; import a valid one:\n%w", row.Edition, err)
	}
	return catalog.Edition{Number: row.Edition, List: list}, nil
}

func shippedEdition(number int64) (catalog.Edition, error) {
	list, err := catalog.Shipped()
	return catalog.Edition{Number: number, List: list}, err
}

// ReadPriceList returns the price list in force at opts for commands that only look
// prices up: it neither creates a database nor changes the schema of one.
func ReadPriceList(ctx context.Context, opts Options) (catalog.Edition, error) {
	if !sqldb.Exists(opts) {
		return shippedEdition(0)
	}
	db, err := open(opts)
	if err != nil {
		return catalog.Edition{}, err
	}
	schema, err := db.SchemaVersion(ctx)
	edition, shippedErr := shippedEdition(0)
	if err == nil && schema >= priceListsSchema {
		edition, err = db.PriceList(ctx)
	}
	return edition, errors.Join(err, shippedErr, db.Close())
}

// ReplacePriceList stores the edition after was, and its audit event. A nil list goes
// back to the one that ships with the program. If another edition has come into force
// since was, it changes nothing and returns catalog.ErrEditionConflict.
func (db *DB) ReplacePriceList(ctx context.Context, was catalog.Edition, next *catalog.Catalog, event registrar.AuditEvent) (catalog.Edition, error) {
	edition := catalog.Edition{Number: was.Number + 1, List: next}
	var content bytes.Buffer
	if next == nil {
		shipped, err := shippedEdition(edition.Number)
		if err != nil {
			return catalog.Edition{}, err
		}
		edition = shipped
	} else if err := next.Write(&content); err != nil {
		return catalog.Edition{}, err
	}
	err := db.write(ctx, func(q *query.Queries) error {
		err := rowOr(catalog.ErrEditionConflict)(q.InsertPriceList(ctx, query.InsertPriceListParams{
			Edition: edition.Number, Content: content.String(), CreatedAt: micros(event.At),
		}))
		if err != nil {
			return err
		}
		return insertAuditEvent(ctx, q, event)
	})
	return edition, err
}

// WatchPriceList puts each new edition into live until ctx ends. seen is the edition
// that live has. An invalid edition is logged once and changes nothing. Failed reads
// are not logged here: the next one follows at once, and an unreachable database is
// reported centrally.
func (db *DB) WatchPriceList(ctx context.Context, every time.Duration, seen int64, live *catalog.Live, logger *slog.Logger) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		edition, err := db.newerPriceList(ctx, seen)
		if edition.Number == seen || edition.Number == 0 {
			continue // nothing new, or the database is unavailable
		}
		seen = edition.Number
		if err != nil {
			logger.ErrorContext(ctx, "price list rejected, keeping the previous one", "edition", edition.Number, "error", err.Error())
			continue
		}
		changes := len(live.Catalog().Diff(edition.List))
		live.Replace(edition.List)
		logger.InfoContext(ctx, "price list replaced", "edition", edition.Number, "extensions", edition.List.Len(), "changes", changes)
	}
}

// newerPriceList reads an edition that was not seen yet. An unavailable database must not
// stop the watch.
func (db *DB) newerPriceList(ctx context.Context, seen int64) (catalog.Edition, error) {
	ctx, cancel := context.WithTimeout(ctx, priceListTimeout)
	defer cancel()
	newest, err := db.read().GetNewestPriceListEdition(ctx)
	if err != nil || newest == seen {
		return catalog.Edition{Number: newest}, err
	}
	return db.PriceList(ctx)
}
