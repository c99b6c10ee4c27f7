package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ query.DBTX = sqldb.DBTX(nil)

// Options locate the database.
type Options = sqldb.Options

// DB is an open database whose schema this program can use.
type DB struct {
	sql *sqldb.DB
	// dataDir is the folder of an SQLite database; empty on PostgreSQL.
	dataDir string
	// node names this process in leases; empty before ClaimNode.
	node string
	// seal is set by UseSeal; nil leaves sealed values as they are.
	seal *registrar.Seal
}

// Open opens the database and brings its schema up to date.
func Open(ctx context.Context, opts Options) (*DB, error) {
	db, err := open(opts)
	if err != nil {
		return nil, err
	}
	if err := db.migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func open(opts Options) (*DB, error) {
	engine, err := sqldb.Open(opts)
	if err != nil {
		return nil, err
	}
	db := &DB{sql: engine}
	if opts.URL == "" {
		db.dataDir = opts.Data
	}
	return db, nil
}

// Close closes every connection.
func (db *DB) Close() error { return db.sql.Close() }

// SQL returns the database below the store, for health checks, metrics and measurements:
// only the methods of DB keep rows and the audit log consistent.
func (db *DB) SQL() *sqldb.DB { return db.sql }

// read returns the queries on the pool, for a single statement that changes nothing.
func (db *DB) read() *query.Queries { return query.New(db.sql.Queries()) }

// write runs change in a transaction that is committed if it returns nil.
func (db *DB) write(ctx context.Context, change func(*query.Queries) error) error {
	return db.sql.Write(ctx, func(tx sqldb.DBTX) error { return change(query.New(tx)) })
}

// single returns queries that each run in a transaction of their own, for a change of one
// statement that returns no rows.
func (db *DB) single() *query.Queries { return query.New(singleWrites{db.sql.Queries(), db.sql}) }

type singleWrites struct {
	sqldb.DBTX
	db *sqldb.DB
}

func (s singleWrites) ExecContext(ctx context.Context, text string, values ...any) (result sql.Result, err error) {
	err = s.db.WriteOne(ctx, func(tx sqldb.DBTX) (err error) {
		result, err = tx.ExecContext(ctx, text, values...)
		return err
	})
	return result, err
}

// errConflict rolls back a compare-and-swap of a row that has changed.
var errConflict = errors.New("the row has changed")

// swap is write for a compare-and-swap. It returns false if change returns errConflict.
func (db *DB) swap(ctx context.Context, change func(*query.Queries) error) (bool, error) {
	err := db.write(ctx, change)
	if errors.Is(err, errConflict) {
		return false, nil
	}
	return err == nil, err
}

// rowOr checks the result of a statement that must affect a row: the transaction fails with
// otherwise if there is none, on PostgreSQL at the latest with its commit.
func rowOr(otherwise error) func(sql.Result, error) error {
	return func(result sql.Result, err error) error { return sqldb.RequireRow(result, err, otherwise) }
}

// swapped checks the statement of a compare-and-swap.
var swapped = rowOr(errConflict)

// rowsOf returns how many rows a statement has affected.
func rowsOf(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// changed reports whether a statement affected a row.
func changed(rows int64, err error) (bool, error) { return rows > 0, err }

// found converts sql.ErrNoRows into false.
func found(err error) (bool, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// foundValue is found for a query of one value.
func foundValue[T any](value T, err error) (T, bool, error) {
	ok, err := found(err)
	return value, ok, err
}

// rowAs converts the row that a query returns, and sql.ErrNoRows into false.
func rowAs[Row, T any](convert func(Row) T) func(Row, error) (T, bool, error) {
	return decodeRow(func(row Row) (T, error) { return convert(row), nil })
}

// rowsAs converts the rows that a query returns.
func rowsAs[Row, T any](convert func(Row) T) func([]Row, error) ([]T, error) {
	return decodeRows(func(row Row) (T, error) { return convert(row), nil })
}

// decodeRow is rowAs for rows that can be invalid.
func decodeRow[Row, T any](convert func(Row) (T, error)) func(Row, error) (T, bool, error) {
	return func(row Row, err error) (value T, ok bool, _ error) {
		if ok, err = found(err); ok {
			value, err = convert(row)
		}
		return value, ok && err == nil, err
	}
}

// decodeRows is rowsAs for rows that can be invalid.
func decodeRows[Row, T any](convert func(Row) (T, error)) func([]Row, error) ([]T, error) {
	return func(rows []Row, err error) ([]T, error) {
		if err != nil {
			return nil, err
		}
		values := make([]T, len(rows))
		for i, row := range rows {
			if values[i], err = convert(row); err != nil {
				return nil, err
			}
		}
		return values, nil
	}
}

// inOrder runs statements about one id until one fails.
func inOrder(ctx context.Context, id string, statements ...func(context.Context, string) error) error {
	for _, statement := range statements {
		if err := statement(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func noSuchCustomer() error {
	return &registrar.Error{Kind: registrar.KindNotFound, Code: registrar.NoSuchCustomer}
}

// jsonText encodes a value of strings, which always succeeds.
func jsonText(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// optionalJSON encodes a value of strings; empty text means the zero value.
func optionalJSON[T comparable](value T) string {
	if value == *new(T) {
		return ""
	}
	return jsonText(value)
}

// fromJSON decodes what optionalJSON has encoded; text that it can't read is the zero value.
func fromJSON[T any](text string) (value T) {
	if text != "" {
		_ = json.Unmarshal([]byte(text), &value)
	}
	return value
}

// micros and fromMicros convert times to and from their stored form; the zero time is
// stored as 0.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// boolToInt returns the stored form of a boolean.
func boolToInt(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
