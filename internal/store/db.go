package store

import (
	"context"
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

// SQL returns the database below the store, for health checks, metrics and measurements.
// The product reads and writes through the methods of DB, which keep rows and the audit
// log consistent.
func (db *DB) SQL() *sqldb.DB { return db.sql }

// read returns the queries on the pool, for a single statement that changes nothing.
func (db *DB) read() *query.Queries { return query.New(db.sql.Queries()) }

// write runs change in a transaction that is committed if it returns nil.
func (db *DB) write(ctx context.Context, change func(*query.Queries) error) error {
	return db.sql.Write(ctx, func(tx sqldb.DBTX) error { return change(query.New(tx)) })
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
