// Package sqldb runs the same SQL on SQLite and PostgreSQL.
//
// It knows neither the schema nor the generated queries. What it adds to
// database/sql:
//
//   - SQLite has one connection that writes, whose transactions begin as writers, and a
//     pool that can only read: two deferred transactions that both read and then write
//     fail each other. Concurrent changes share one commit (groupcommit.go), and each
//     query is prepared once per connection (instrumented.go).
//   - PostgreSQL has one pool. Changes send their statements in few round trips
//     (pipeline.go). Text that can't be stored is not found (rewrite.go). Text is
//     compared by bytes (collation.go). Connections over a network need TLS
//     (transport.go).
//   - LIMIT parameters are inlined (rewrite.go).
//   - Driver errors become a *registrar.Cause with the name of the query and a class
//     (errorclass.go, instrumented.go). A probe watches for conditions under which the
//     database is degraded (health.go).
//
// A transaction never takes a second connection, on either engine.
package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// databaseFile is the SQLite database in the data folder.
const databaseFile = "dotkontor.db"

// VersionTable is the table in which goose records the migrations that have run. The
// PostgreSQL probe writes to it.
const VersionTable = "goose_db_version"

// Options locate the database.
type Options struct {
	// URL is that of a PostgreSQL database; empty means SQLite in Data.
	URL string
	// AllowPlaintext permits connections over a network without TLS.
	AllowPlaintext bool
	// Data is the folder of the SQLite database.
	Data string
	// MaxConnections bounds the pool; 0 means a default that suits the engine.
	MaxConnections int
	// Logger receives one record when a degraded condition begins and one when it ends;
	// nil means none.
	Logger *slog.Logger
}

// Exists is false if opts name an SQLite database that Open would create.
func Exists(opts Options) bool {
	if opts.URL != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(opts.Data, databaseFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// Engine is the kind of a database.
type Engine string

// The engines.
const (
	SQLite   Engine = "sqlite"
	Postgres Engine = "postgres"
)

// DBTX runs statements on a pool or in a transaction. It is the interface that sqlc
// generates.
type DBTX interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	PrepareContext(context.Context, string) (*sql.Stmt, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// DB is an open database.
type DB struct {
	engine Engine
	// writer and reader are one pool on PostgreSQL.
	writer, reader *sql.DB
	// queries is the reader with rewritten statements.
	queries DBTX
	// writeQueue serialises access to the writer of SQLite; nil on PostgreSQL.
	writeQueue   *writeQueue
	limitInliner *limitInliner
	// requiringTexts are for transactions on PostgreSQL.
	requiringTexts *requiringTexts
	health         *health
	// dataDir is the folder of an SQLite database.
	dataDir string
}

const (
	// defaultConnections keeps two cores busy while others wait for a disk.
	defaultConnections = 16
	connectionLifetime = 30 * time.Minute
)

// Open opens the database. It connects with the first statement.
func Open(opts Options) (*DB, error) {
	connections := cmp.Or(opts.MaxConnections, defaultConnections)
	if opts.URL == "" {
		return openSQLite(opts.Data, min(connections, sqliteReaders()), newHealth(SQLite, opts.Logger))
	}
	if !strings.HasPrefix(opts.URL, "postgres://") && !strings.HasPrefix(opts.URL, "postgresql://") {
		return nil, errors.New("database.url must begin with postgres://; without it the database is SQLite in the data folder")
	}
	if err := CheckTransport(opts); err != nil {
		return nil, err
	}
	health := newHealth(Postgres, opts.Logger)
	host := ""
	if parsed, err := url.Parse(opts.URL); err == nil {
		host = parsed.Host
	}
	pool, err := openInstrumented("pgx", opts.URL, host, health)
	if err != nil {
		return nil, errBadURL
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	pool.SetConnMaxLifetime(connectionLifetime)
	inliner := newLimitInliner()
	return &DB{
		engine: Postgres, writer: pool, reader: pool, queries: rewritingDB{pool, inliner, true},
		limitInliner: inliner, requiringTexts: newRequiringTexts(), health: health,
	}, nil
}

// sqliteReaders returns how many readers are useful: they rarely wait, because what they read
// is in memory, and each holds its own copy of the schema.
func sqliteReaders() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

// openSQLite opens a writer and a read-only pool. Commits survive a power failure:
// synchronous is FULL.
func openSQLite(folder string, readers int, health *health) (*DB, error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fmt.Errorf("the data folder: %w", err)
	}
	path := filepath.Join(folder, databaseFile)
	if err := createPrivateFile(path); err != nil {
		return nil, fmt.Errorf("the database: %w", err)
	}
	// temp_store: the pages that a savepoint could restore are copied to memory, not to a file.
	// wal_autocheckpoint: a checkpoint writes a page once, however often it was changed since the last
	// one, so the log may grow to 16 MiB between two of them.
	common := []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-16384)", "temp_store(MEMORY)", "wal_autocheckpoint(4000)"}
	writer, err := openInstrumented("sqlite", sqliteDSN(path, append(common, "query_only(0)"), "immediate"), path, health)
	if err != nil {
		return nil, fmt.Errorf("the database %s: %w", path, err)
	}
	// One connection for all changes (groupcommit.go) and one for migrations.
	writer.SetMaxOpenConns(2)
	writer.SetMaxIdleConns(1)
	reader, err := openInstrumented("sqlite", sqliteDSN(path, append(common, "query_only(1)"), "deferred"), path, health)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the database %s: %w", path, err), writer.Close())
	}
	reader.SetMaxOpenConns(readers)
	reader.SetMaxIdleConns(readers)
	inliner := newLimitInliner()
	return &DB{
		engine: SQLite, writer: writer, reader: reader,
		queries:    rewritingDB{reader, inliner, false},
		writeQueue: &writeQueue{pool: writer, inliner: inliner, maxDuration: maxGroupDuration}, limitInliner: inliner, health: health, dataDir: folder,
	}, nil
}

// createPrivateFile creates the file if it is missing: SQLite would make it readable to
// all users, and it holds personal data. An existing file is not opened, because closing
// any descriptor of a file releases all POSIX locks that the process holds on it. Another
// program would then take the write-ahead log for abandoned and delete it.
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

// Engine returns the kind of the database.
func (db *DB) Engine() Engine { return db.engine }

// Writer returns the pool for migrations, restores and measurements. Changes go through
// Write.
func (db *DB) Writer() *sql.DB { return db.writer }

// Reader returns the pool for reading transactions and for statements that are not
// worth preparing. On SQLite its connections can't write.
func (db *DB) Reader() *sql.DB { return db.reader }

// Queries runs single statements that change nothing.
func (db *DB) Queries() DBTX { return db.queries }

// BeginSnapshot begins a transaction that reads the database as it is at one moment.
func (db *DB) BeginSnapshot(ctx context.Context) (*sql.Tx, error) {
	if db.engine == Postgres {
		return db.reader.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	}
	return db.reader.BeginTx(ctx, nil)
}

// RewriteSQL returns a statement and its parameters as this engine receives them from
// Queries and Write.
func (db *DB) RewriteSQL(text string, values []any) (rewritten string, rest []any) {
	return db.limitInliner.inline(text, values)
}

// WriteOne is Write for a change of a single statement, which PostgreSQL commits by itself:
// one round trip instead of three.
func (db *DB) WriteOne(ctx context.Context, change func(DBTX) error) error {
	if db.writeQueue != nil {
		return db.writeQueue.write(ctx, change)
	}
	db.health.count(commitStatement)
	return change(rewritingDB{db.writer, db.limitInliner, false})
}

// Write runs change in a transaction that is committed if it returns nil. All statements
// of the change go through the given DBTX: a second connection inside a transaction could
// wait for the first one forever.
func (db *DB) Write(ctx context.Context, change func(DBTX) error) error {
	if db.writeQueue != nil {
		return db.writeQueue.write(ctx, change)
	}
	return db.writePipelined(ctx, change)
}
