package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// maxSQLiteAttempts is how often the schema is tried on SQLite: as often as other
// processes may have been faster with one migration each.
const maxSQLiteAttempts = 10

// migrate brings the schema up to date. On PostgreSQL one node does it and the
// others wait for it. SQLite has no such lock, but a command may be started
// while the service starts: whoever comes second with a migration fails, changes
// nothing, and finds it done at the next look.
//
// A schema that a later version made is refused: this version would write rows
// that miss what the later one relies on. It is looked at before, so that
// nothing is done to such a database, and again afterwards, because the node
// that this one waited for may have been of the later version.
func (db *DB) migrate(ctx context.Context) error {
	provider, err := db.migrator()
	if err != nil {
		return err
	}
	if err := db.rejectNewerSchema(ctx, provider); err != nil {
		return err
	}
	attempts := 1
	if db.sql.Engine() == sqldb.SQLite {
		attempts = maxSQLiteAttempts
	}
	for range attempts {
		if _, err = provider.Up(ctx); err != nil {
			continue
		}
		if err := db.rejectNewerSchema(ctx, provider); err != nil {
			return err
		}
		return db.sql.EnsureByteCollation(ctx)
	}
	return fmt.Errorf("the database's schema could not be brought up to date: %w", err)
}

// rejectNewerSchema fails where the database has had a migration that is not known
// here.
func (db *DB) rejectNewerSchema(ctx context.Context, provider *goose.Provider) error {
	tx, err := db.sql.Reader().BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("the database can't be opened: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was changed
	current, err := db.schemaVersion(ctx, tx)
	if err != nil {
		return fmt.Errorf("the version of the database's schema can't be read: %w", err)
	}
	if newest := newestSchema(provider); current > newest {
		return fmt.Errorf("the database has schema %d and this dotkontor knows up to %d: a later version has used it, so start that version or a later one", current, newest)
	}
	return nil
}

// newestSchema is the number of the last migration that is known here.
func newestSchema(provider *goose.Provider) int64 {
	sources := provider.ListSources()
	return sources[len(sources)-1].Version
}

func (db *DB) migrator() (*goose.Provider, error) {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	if db.sql.Engine() == sqldb.SQLite {
		return goose.NewProvider(goose.DialectSQLite3, db.sql.Writer(), folder)
	}
	// Asked each second, for five minutes: nodes that start together wait for one.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db.sql.Writer(), sqldb.CollationFS(folder), goose.WithSessionLocker(locker))
}

// SchemaVersion returns the number of the last migration that has run.
func (db *DB) SchemaVersion(ctx context.Context) (int64, error) {
	tx, err := db.sql.Reader().BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("store: read schema version: %w", err)
	}
	version, err := db.schemaVersion(ctx, tx)
	if err := errors.Join(err, tx.Rollback()); err != nil {
		return 0, fmt.Errorf("store: read schema version: %w", err)
	}
	return version, nil
}

// schemaVersion returns the number of the last migration that has run; 0 if none has.
func (db *DB) schemaVersion(ctx context.Context, tx *sql.Tx) (int64, error) {
	names, err := db.sql.TableNames(ctx, tx)
	if err != nil || !slices.Contains(names, sqldb.VersionTable) {
		return 0, err
	}
	var version sql.NullInt64
	err = tx.QueryRowContext(ctx, "SELECT max(version_id) FROM "+sqldb.VersionTable).Scan(&version)
	return version.Int64, err
}
