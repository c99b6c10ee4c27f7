package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// versionTable is where goose notes which migrations have run.
const versionTable = "goose_db_version"

// table is one table as the database describes it.
type table struct {
	name    string
	columns []string
}

// quoteIdent is a name from the database's own catalogue inside of SQL.
func quoteIdent(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// catalogQueries ask each engine for tables, a table's columns, and the
// tables that a table refers to.
type catalogQueries struct{ tables, columns, references string }

var catalogQueriesByEngine = map[engine]catalogQueries{
	sqlite: {
		tables:     `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`,
		columns:    `SELECT name FROM pragma_table_info($1) ORDER BY cid`,
		references: `SELECT DISTINCT "table" FROM pragma_foreign_key_list($1)`,
	},
	postgres: {
		tables: `SELECT tablename::text FROM pg_catalog.pg_tables WHERE schemaname = current_schema() ORDER BY 1`,
		columns: `SELECT column_name::text FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
		references: `SELECT DISTINCT target.relname::text FROM pg_catalog.pg_constraint c
			JOIN pg_catalog.pg_class source ON source.oid = c.conrelid
			JOIN pg_catalog.pg_class target ON target.oid = c.confrelid
			WHERE c.contype = 'f' AND source.relnamespace = current_schema()::regnamespace AND source.relname = $1`,
	},
}

// tables are all tables but goose's, each after those that it refers to. They
// come from the database itself, so that no list has to be kept.
func (db *DB) tables(ctx context.Context, tx *sql.Tx) ([]table, error) {
	queries := catalogQueriesByEngine[db.engine]
	names, err := queryStrings(ctx, tx, queries.tables)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == versionTable })
	columns, references := make(map[string][]string), make(map[string][]string)
	for _, name := range names {
		if columns[name], err = queryStrings(ctx, tx, queries.columns, name); err != nil {
			return nil, err
		}
		if references[name], err = queryStrings(ctx, tx, queries.references, name); err != nil {
			return nil, err
		}
	}
	ordered, err := sortByReferences(names, references)
	if err != nil {
		return nil, err
	}
	tables := make([]table, 0, len(ordered))
	for _, name := range ordered {
		tables = append(tables, table{name: name, columns: columns[name]})
	}
	return tables, nil
}

// sortByReferences puts each name after those that it refers to.
func sortByReferences(names []string, references map[string][]string) ([]string, error) {
	var ordered []string
	for len(ordered) < len(names) {
		before := len(ordered)
		for _, name := range names {
			waits := slices.ContainsFunc(references[name], func(other string) bool {
				return other != name && !slices.Contains(ordered, other)
			})
			if !waits && !slices.Contains(ordered, name) {
				ordered = append(ordered, name)
			}
		}
		if len(ordered) == before {
			return nil, errors.New("tables refer to each other in a circle")
		}
	}
	return ordered, nil
}

// SchemaVersion is the number of the last migration that has run.
func (db *DB) SchemaVersion(ctx context.Context) (int64, error) {
	tx, err := db.reader.BeginTx(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("store: read schema version: %w", err)
	}
	version, err := db.schemaVersion(ctx, tx)
	if err := errors.Join(err, tx.Rollback()); err != nil {
		return 0, fmt.Errorf("store: read schema version: %w", err)
	}
	return version, nil
}

// Engine names the database: sqlite or postgres.
func (db *DB) Engine() string {
	if db.engine == sqlite {
		return "sqlite"
	}
	return "postgres"
}

// schemaVersion is the number of the last migration that has run; 0 where none
// has.
func (db *DB) schemaVersion(ctx context.Context, tx *sql.Tx) (int64, error) {
	names, err := queryStrings(ctx, tx, catalogQueriesByEngine[db.engine].tables)
	if err != nil || !slices.Contains(names, versionTable) {
		return 0, err
	}
	var version sql.NullInt64
	err = tx.QueryRowContext(ctx, "SELECT max(version_id) FROM "+versionTable).Scan(&version)
	return version.Int64, err
}

// bootstrapTables have rows as soon as a service was started on an empty database.
var bootstrapTables = []string{"seal_keys", "seal_nodes"}

// firstNonEmptyTable is the name of a table that has rows; empty if none has but startTables.
func firstNonEmptyTable(ctx context.Context, tx *sql.Tx, tables []table) (string, error) {
	for _, t := range tables {
		if slices.Contains(bootstrapTables, t.name) {
			continue
		}
		var one int
		err := tx.QueryRowContext(ctx, "SELECT 1 FROM "+quoteIdent(t.name)+" LIMIT 1").Scan(&one)
		if err == nil {
			return t.name, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return "", fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	return "", nil
}

func queryStrings(ctx context.Context, tx *sql.Tx, question string, values ...any) ([]string, error) {
	rows, err := tx.QueryContext(ctx, question, values...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return all, rows.Err()
}
