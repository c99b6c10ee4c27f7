package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"iter"
	"slices"
	"strings"
)

// Table is a table as the database's catalog describes it, and a line of a backup.
type Table struct {
	Name    string   `json:"table"`
	Columns []string `json:"columns"`
}

// QuoteIdent quotes names from the catalog for use in SQL, separated by commas.
func QuoteIdent(names ...string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return strings.Join(quoted, ", ")
}

// catalogQueries list tables, a table's columns, and the tables that a table references.
type catalogQueries struct{ tables, columns, references string }

var catalogQueriesByEngine = map[Engine]catalogQueries{
	SQLite: {
		tables:     `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`,
		columns:    `SELECT name FROM pragma_table_info($1) ORDER BY cid`,
		references: `SELECT DISTINCT "table" FROM pragma_foreign_key_list($1)`,
	},
	Postgres: {
		tables: `SELECT tablename::text FROM pg_catalog.pg_tables WHERE schemaname = current_schema() ORDER BY 1`,
		columns: `SELECT column_name::text FROM information_schema.columns
			WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`,
		references: `SELECT DISTINCT target.relname::text FROM pg_catalog.pg_constraint c
			JOIN pg_catalog.pg_class source ON source.oid = c.conrelid
			JOIN pg_catalog.pg_class target ON target.oid = c.confrelid
			WHERE c.contype = 'f' AND source.relnamespace = current_schema()::regnamespace AND source.relname = $1`,
	},
}

// TableNames returns the names of all tables, VersionTable included.
func (db *DB) TableNames(ctx context.Context, tx *sql.Tx) ([]string, error) {
	return queryStrings(ctx, tx, catalogQueriesByEngine[db.engine].tables)
}

// Tables returns all tables except VersionTable, each after those that it references.
func (db *DB) Tables(ctx context.Context, tx *sql.Tx) ([]Table, error) {
	queries := catalogQueriesByEngine[db.engine]
	names, err := db.TableNames(ctx, tx)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == VersionTable })
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
	tables := make([]Table, len(ordered))
	for i, name := range ordered {
		tables[i] = Table{Name: name, Columns: columns[name]}
	}
	return tables, err
}

// sortByReferences puts each name after those that it references.
func sortByReferences(names []string, references map[string][]string) ([]string, error) {
	var ordered []string
	for len(ordered) < len(names) {
		before := len(ordered)
		for _, name := range names {
			blocked := slices.ContainsFunc(references[name], func(other string) bool {
				return other != name && !slices.Contains(ordered, other)
			})
			if !blocked && !slices.Contains(ordered, name) {
				ordered = append(ordered, name)
			}
		}
		if len(ordered) == before {
			return nil, errors.New("sqldb: list tables: circular references")
		}
	}
	return ordered, nil
}

func queryStrings(ctx context.Context, on DBTX, text string, values ...any) (all []string, err error) {
	for row, err := range Rows(ctx, on, text, values...) {
		if err != nil {
			return nil, err
		}
		value, _ := row[0].(string)
		all = append(all, value)
	}
	return all, nil
}

// Rows runs a query and yields the values of each row as the driver returns them: text and
// whole numbers in this schema. It ends with the first error.
func Rows(ctx context.Context, on DBTX, text string, values ...any) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		rows, err := on.QueryContext(ctx, text, values...)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		columns, err := rows.Columns()
		for err == nil && rows.Next() {
			row, places := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				places[i] = &row[i]
			}
			if err = rows.Scan(places...); err == nil && !yield(row, nil) {
				return
			}
		}
		if err = cmp.Or(err, rows.Err()); err != nil {
			yield(nil, err)
		}
	}
}
