package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// databaseFile is the SQLite database in the data folder.
const databaseFile = "dotkontor.db"

// Options say where the database is.
type Options struct {
	// URL is that of a PostgreSQL database; empty means SQLite in Data.
	URL string
	// AllowPlaintext permits connections over a network without TLS.
	AllowPlaintext bool
	// Data is the folder of the SQLite database.
	Data string
	// MaxConnections bounds the pool; 0 means a default that suits the engine.
	MaxConnections int
	// Logger gets a record when the database gets into trouble and when it is out of it
	// again; nil means none.
	Logger *slog.Logger
}

// DB is an open database whose schema is up to date.
type DB struct {
	engine engine
	// writer and reader are one pool on PostgreSQL.
	writer, reader *sql.DB
	// queries is the reader with what it has prepared.
	queries query.DBTX
	// writeQueue is who may use the writer of SQLite; nil on PostgreSQL.
	writeQueue *writeQueue
	// limitInliner spells statements for PostgreSQL; nil on SQLite.
	limitInliner *limitInliner
	// health knows what the database can't do at the moment, and folder is where an
	// SQLite database is.
	health  *health
	dataDir string
	// node names this process in leases; empty before TakeNode.
	node string
	// seal is UseSeal's; nil leaves sealed values as they are.
	seal *registrar.Seal
}

type engine uint8

const (
	sqlite engine = iota
	postgres
)

// defaultConnections is enough for two cores that wait for a disk.
const (
	defaultConnections = 16
	connectionLifetime = 30 * time.Minute
)

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
	connections := opts.MaxConnections
	if connections == 0 {
		connections = defaultConnections
	}
	if opts.URL == "" {
		return openSQLite(opts.Data, connections, newHealth(sqlite, opts.Logger))
	}
	if !strings.HasPrefix(opts.URL, "postgres://") && !strings.HasPrefix(opts.URL, "postgresql://") {
		return nil, errors.New("database.url must begin with postgres://; without it the database is SQLite in the data folder")
	}
	if err := CheckTransport(opts); err != nil {
		return nil, err
	}
	health := newHealth(postgres, opts.Logger)
	pool, err := openInstrumented("pgx", opts.URL, hostOfURL(opts.URL), health)
	if err != nil {
		return nil, errBadURL
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	pool.SetConnMaxLifetime(connectionLifetime)
	inliner := newLimitInliner()
	return &DB{engine: postgres, writer: pool, reader: pool, queries: limitInliningDB{pool, inliner}, limitInliner: inliner, health: health}, nil
}

// hostOfURL is the host and port in the address of a database, without the rest.
func hostOfURL(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return parsed.Host
}

// openSQLite opens one connection that writes and a pool that can't. Data that
// was said to be stored is on the disk: synchronous is FULL.
func openSQLite(folder string, readers int, health *health) (*DB, error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fmt.Errorf("the data folder: %w", err)
	}
	path := filepath.Join(folder, databaseFile)
	if err := createPrivateFile(path); err != nil {
		return nil, fmt.Errorf("the database: %w", err)
	}
	common := []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-16384)"}
	writer, err := openInstrumented("sqlite", sqliteDSN(path, append(common, "query_only(0)"), "immediate"), path, health)
	if err != nil {
		return nil, fmt.Errorf("the database %s: %w", path, err)
	}
	// One is for all changes (shared.go), and one for the schema.
	writer.SetMaxOpenConns(2)
	reader, err := openInstrumented("sqlite", sqliteDSN(path, append(common, "query_only(1)"), "deferred"), path, health)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the database %s: %w", path, err), writer.Close())
	}
	reader.SetMaxOpenConns(readers)
	reader.SetMaxIdleConns(readers)
	return &DB{
		engine: sqlite, writer: writer, reader: reader, queries: newPreparedPool(reader), writeQueue: &writeQueue{pool: writer, maxDuration: maxGroupDuration},
		health: health, dataDir: folder,
	}, nil
}

// createPrivateFile makes the file if there is none: SQLite would make it readable to all,
// and it holds personal data. One that is there is not even opened. Whoever closes a
// file loses all locks that the process has on it, also those of connections to it;
// another program would then take the log of what was written for abandoned, and
// delete it.
func createPrivateFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

func sqliteDSN(path string, pragmas []string, lock string) string {
	values := url.Values{"_txlock": {lock}, "_pragma": pragmas}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: values.Encode()}).String()
}

// Close closes every connection.
func (db *DB) Close() error {
	if db.writer == db.reader {
		return db.writer.Close()
	}
	db.writeQueue.close()
	return errors.Join(db.writer.Close(), db.reader.Close())
}

// read returns the queries on the pool, for a single statement that changes
// nothing.
func (db *DB) read() *query.Queries { return query.New(db.queries) }

// write runs change in a transaction that is committed if it returns nil. All
// it does goes through the given queries: a second connection inside a
// transaction would wait for the first one for ever.
func (db *DB) write(ctx context.Context, change func(*query.Queries) error) error {
	if db.writeQueue != nil {
		return db.writeQueue.write(ctx, func(tx query.DBTX) error { return change(query.New(tx)) })
	}
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := change(query.New(limitInliningDB{tx, db.limitInliner})); err != nil {
		return err
	}
	err = tx.Commit()
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil { // it was taken back because the caller has gone
		err = ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// micros and fromMicros are the form in which times are stored; the zero time is
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
