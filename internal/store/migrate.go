package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// sqliteAttempts is how often the schema is tried on SQLite: as often as other
// processes may have been faster with one migration each.
const sqliteAttempts = 10

// migrate brings the schema up to date. On PostgreSQL one node does it and the
// others wait for it. SQLite has no such lock, but a command may be started
// while the service starts: whoever comes second with a migration fails, changes
// nothing, and finds it done at the next look.
func (db *DB) migrate(ctx context.Context) error {
	provider, err := db.migrator()
	if err != nil {
		return err
	}
	attempts := 1
	if db.engine == sqlite {
		attempts = sqliteAttempts
	}
	for range attempts {
		if _, err = provider.Up(ctx); err == nil {
			return nil
		}
	}
	return fmt.Errorf("the database's schema could not be brought up to date: %w", err)
}

func (db *DB) migrator() (*goose.Provider, error) {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	if db.engine == sqlite {
		return goose.NewProvider(goose.DialectSQLite3, db.writer, folder)
	}
	// Asked each second, for five minutes: nodes that start together wait for one.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db.writer, folder, goose.WithSessionLocker(locker))
}
