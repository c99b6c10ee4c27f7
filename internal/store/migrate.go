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

// migrate brings the schema up to date. On PostgreSQL one node does it and the
// others wait for it; on SQLite the one writing connection does.
func (db *DB) migrate(ctx context.Context) error {
	provider, err := db.migrator()
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("the database's schema could not be brought up to date: %w", err)
	}
	return nil
}

func (db *DB) migrator() (*goose.Provider, error) {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	if db.engine == sqlite {
		return goose.NewProvider(goose.DialectSQLite3, db.writer, folder)
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, db.writer, folder, goose.WithSessionLocker(locker))
}
