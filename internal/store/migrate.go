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

// maxMigrationAttempts bounds the retries of migrations. On SQLite, each attempt fails at most
// because another process was faster with one migration; on PostgreSQL, because of a deadlock
// with a statement of a running node, which takes locks on the same tables in another order.
const maxMigrationAttempts = 10

// compatibilityTable is created by the baseline, so a migrated database without it is
// older than the baseline.
const compatibilityTable = "schema_compatibility"

// migrate brings the schema up to date. On PostgreSQL one node migrates while the others
// wait. SQLite has no such lock, but a command may start together with the service: the
// second to run a migration fails without effect, and finds it done when it retries.
//
// The schema is checked before, so that an incompatible database is not changed, and
// again afterwards, because the node that this one waited for may be of a later version.
func (db *DB) migrate(ctx context.Context) error {
	provider, err := db.migrator()
	if err != nil {
		return err
	}
	newest := newestSchema(provider)
	if err := db.checkSchema(ctx, newest); err != nil {
		return err
	}
	for range maxMigrationAttempts {
		_, err = provider.Up(ctx)
		if err == nil {
			if err := db.checkSchema(ctx, newest); err != nil {
				return err
			}
			return db.sql.EnsureByteCollation(ctx)
		}
		if db.sql.Engine() == sqldb.Postgres && !sqldb.IsDeadlock(err) {
			break
		}
	}
	return fmt.Errorf("store: migrate the database: %w", err)
}

// checkSchema fails unless a program whose last migration is newest can use the database:
// it has no later migrations, or each of them is marked as compatible.
func (db *DB) checkSchema(ctx context.Context, newest int64) error {
	tx, err := db.sql.Reader().BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("store: open the database: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // read only
	current, err := db.schemaVersion(ctx, tx)
	if err != nil {
		return fmt.Errorf("store: read schema version: %w", err)
	}
	if current <= newest {
		return nil
	}
	// One statement, so that it sees a migration and its mark together.
	var incompatible int64
	err = tx.QueryRowContext(ctx, "SELECT count(*) FROM "+sqldb.VersionTable+" WHERE version_id > $1 AND NOT EXISTS (SELECT 1 FROM "+
		compatibilityTable+" WHERE version = version_id AND compatible_from <= $1)", newest).Scan(&incompatible)
	if err != nil {
		return fmt.Errorf("store: read schema compatibility: %w", err)
	}
	if incompatible > 0 {
		return newerSchemaError(current, newest)
	}
	return nil
}

func newerSchemaError(current, newest int64) error {
	return fmt.Errorf("the database has schema %d, which is incompatible with this dotkontor (schema %d): start the version that migrated it, or a later one", current, newest)
}

// outdatedError is returned for a database from before the baseline.
func (db *DB) outdatedError() error {
	fresh := "create an empty database and name it in database.url"
	if db.dataDir != "" {
		fresh = "move the data folder " + db.dataDir + " away, or name another one (data in the configuration, --data for the sandbox)"
	}
	return errors.New("the database was created by a development version before v0.1.0 and can't be upgraded; to start fresh, " + fresh)
}

// newestSchema returns the number of the last migration of this program.
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
	// Nodes that start together wait for one, for up to five minutes.
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

// schemaVersion returns the number of the last migration that has run; 0 if none has. It
// fails for a database from before the baseline.
func (db *DB) schemaVersion(ctx context.Context, tx *sql.Tx) (int64, error) {
	names, err := db.sql.TableNames(ctx, tx)
	if err != nil || !slices.Contains(names, sqldb.VersionTable) {
		return 0, err
	}
	var version sql.NullInt64
	if err = tx.QueryRowContext(ctx, "SELECT max(version_id) FROM "+sqldb.VersionTable).Scan(&version); err != nil || version.Int64 == 0 {
		return 0, err
	}
	// Listed again, because another node may have run the baseline in between.
	if names, err = db.sql.TableNames(ctx, tx); err == nil && !slices.Contains(names, compatibilityTable) {
		err = db.outdatedError()
	}
	return version.Int64, err
}
