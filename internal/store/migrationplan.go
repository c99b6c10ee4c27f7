package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// compatibilityMark is the statement with which a migration records which programs may run
// on its schema.
var compatibilityMark = regexp.MustCompile(`(?i)INSERT INTO schema_compatibility \(version, compatible_from\) VALUES \((\d+), (\d+)\)`)

// Migration is a migration of this program.
type Migration struct {
	Version int64
	Name    string
	// CompatibleFrom is the oldest schema whose programs may run after this migration.
	CompatibleFrom int64
}

// Expands reports whether programs of the schema before this one may run after it.
func (m Migration) Expands() bool { return m.CompatibleFrom < m.Version }

// MigrationPlan is what Open would do with a database.
type MigrationPlan struct {
	Engine sqldb.Engine
	// Current is the schema of the database, 0 if it is empty or missing; Newest is that of
	// this program.
	Current, Newest int64
	Pending         []Migration
}

// Compatible reports whether nodes that run on the current schema may continue during and
// after the pending migrations. An empty database has none.
func (p MigrationPlan) Compatible() bool {
	return p.Current == 0 || p.OldestProgram() <= p.Current
}

// OldestProgram returns the oldest schema whose programs may run after the pending migrations.
func (p MigrationPlan) OldestProgram() int64 {
	oldest := int64(0)
	for _, migration := range p.Pending {
		oldest = max(oldest, migration.CompatibleFrom)
	}
	return oldest
}

// PlanMigrations returns what Open would do with the database at opts. It changes nothing, and
// fails where Open would refuse the schema.
func PlanMigrations(ctx context.Context, opts Options) (plan MigrationPlan, err error) {
	known, err := listMigrations(migrations)
	if err != nil {
		return plan, err
	}
	plan.Newest, plan.Engine = known[len(known)-1].Version, sqldb.SQLite
	if opts.URL != "" {
		plan.Engine = sqldb.Postgres
	}
	db, err := OpenExisting(ctx, opts)
	if err != nil {
		return plan, err
	}
	if db != nil {
		defer func() { err = errors.Join(err, db.Close()) }()
		if err := db.checkSchema(ctx, plan.Newest); err != nil {
			return plan, err
		}
		if plan.Current, err = db.SchemaVersion(ctx); err != nil {
			return plan, err
		}
	}
	for _, migration := range known {
		if migration.Version > plan.Current {
			plan.Pending = append(plan.Pending, migration)
		}
	}
	return plan, nil
}

// listMigrations returns the migrations in a file system, by version.
func listMigrations(files fs.FS) ([]Migration, error) {
	names, err := fs.Glob(files, "migrations/*.sql") // sorted, and versions have leading zeros
	if err != nil {
		return nil, err
	}
	all := make([]Migration, 0, len(names))
	for _, file := range names {
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return nil, err
		}
		number, name, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".sql"), "_")
		m := Migration{Name: name}
		if m.Version, err = strconv.ParseInt(number, 10, 64); err != nil {
			return nil, fmt.Errorf("store: migration %s: %w", file, err)
		}
		mark := compatibilityMark.FindStringSubmatch(string(text))
		if mark == nil {
			return nil, fmt.Errorf("store: migration %s does not insert its row into %s", file, compatibilityTable)
		}
		if m.CompatibleFrom, err = strconv.ParseInt(mark[2], 10, 64); err != nil {
			return nil, fmt.Errorf("store: migration %s: %w", file, err)
		}
		all = append(all, m)
	}
	return all, nil
}
