package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/dotkontor/dotkontor/internal/store"
)

// A table's rows are made inside the database, by one statement that both engines
// understand, because a million rows in ten tables would take minutes to send.
// What stands in row i is known here too, so every key that exists can be named
// without asking for it. A new column or table needs no line here unless it must
// be unique or hold one of a few words.

// formula is what a column holds in row i, as SQL and in Go.
type formula struct {
	expression string
	value      func(i int64) any
}

const (
	idBase    = 100_000_000_000 // so that every number is as long as the next
	firstDay  = 1_790_000_000e6 // microseconds: September 2026
	farAway   = 4_000_000_000e6 // microseconds: the year 2096
	scatter   = 2_654_435_761   // odd, so that it reaches every number below
	scattered = 1 << 32
	// filling makes a hash as long as a real one.
	filling = "-AbCdEfGhIjKlMnOpQrStUvWxYz012345"
)

func constant(text string) formula {
	return formula{"'" + text + "'", func(int64) any { return text }}
}

func number64(value int64) formula {
	return formula{strconv.FormatInt(value, 10), func(int64) any { return value }}
}

// inOrder grows with i, like an identifier that begins with the time.
func inOrder(before, behind string) formula {
	return formula{
		"'" + before + "' || (" + strconv.FormatInt(idBase, 10) + " + i) || '" + behind + "'",
		func(i int64) any { return before + strconv.FormatInt(idBase+i, 10) + behind },
	}
}

// anywhere is another text for each i, in no order, like a hash.
func anywhere() formula {
	return formula{
		fmt.Sprintf("(%d + (i * %d) %% %d) || '%s'", idBase, scatter, int64(scattered), filling),
		func(i int64) any { return strconv.FormatInt(idBase+i*scatter%scattered, 10) + filling },
	}
}

func microsFrom(start int64) formula {
	return formula{
		fmt.Sprintf("%d + i * 1000", start),
		func(i int64) any { return start + i*1000 },
	}
}

// byName are the columns that hold the same kind of thing in every table, or,
// with the table's name, in one.
var byName = map[string]formula{
	"hash":                  anywhere(),
	"credential_id":         anywhere(),
	"user_handle":           anywhere(),
	"email":                 inOrder("kunde-", "@example.org"),
	"email_key":             inOrder("kunde-", "@example.org"),
	"recipient":             inOrder("kunde-", "@example.org"),
	"domains.name":          inOrder("name-", ".de"),
	"domains.status":        constant("active"),
	"domains.tld":           constant(".de"),
	"domains.sync_due":      microsFrom(firstDay),
	"lines.name":            inOrder("zeile-", ".de"),
	"lines.state":           constant("pending"),
	"lines.node":            inOrder("node_", ""),
	"customers.token_count": number64(1),
	"customers.language":    constant("de"),
	"sessions.state":        constant("open"),
	"links.kind":            constant("reset"),
	"ceremonies.kind":       constant("sign_in"),
	"deeds.actor":           inOrder("cus_", ""),
	"created_at":            microsFrom(firstDay),
	"confirmed_at":          microsFrom(firstDay),
	"updated_at":            microsFrom(firstDay),
	"authenticated_at":      microsFrom(firstDay),
	"seen_at":               microsFrom(firstDay),
	"due_at":                microsFrom(firstDay),
	"at":                    microsFrom(firstDay),
	"paid_until":            microsFrom(farAway),
	"expires_at":            microsFrom(farAway),
}

// column is one of a table's.
type column struct {
	name string
	text bool
	formula
	// refers is true where the column names a row of another table.
	refers bool
}

// grown is a database with the same number of rows in each table.
type grown struct {
	rows           int64
	writer, reader *sql.DB
	tables         map[string][]column
	close          func() error
}

// formulaFor decides what a column holds.
func formulaFor(table, name string, isText bool, tables []string) (f formula, refers bool) {
	if f, known := ofOrders[table+"."+name]; known {
		return f, false
	}
	if f, known := byName[table+"."+name]; known {
		return f, false
	}
	if name == "id" {
		return identifier(table), false
	}
	if noun, isReference := strings.CutSuffix(name, "_id"); isReference {
		for _, other := range tables {
			if other == noun+"s" || strings.HasSuffix(other, "_"+noun+"s") {
				return identifier(other), true
			}
		}
	}
	if f, known := byName[name]; known {
		return f, false
	}
	if isText {
		return constant("x"), false
	}
	return number64(0), false
}

// identifier has a prefix and 26 characters, like a real one.
func identifier(table string) formula {
	return inOrder(table[:3]+"_", "abcdefghjkmnpq")
}

// describe reads which tables and columns there are.
func describe(ctx context.Context, pool *sql.DB, names []string) (map[string][]column, error) {
	tables := map[string][]column{}
	for _, table := range names {
		types, err := columnTypes(ctx, pool, table)
		if err != nil {
			return nil, err
		}
		for _, t := range types {
			c := column{name: t.Name(), text: t.DatabaseTypeName() == "TEXT"}
			c.formula, c.refers = formulaFor(table, c.name, c.text, names)
			tables[table] = append(tables[table], c)
		}
	}
	return tables, nil
}

func columnTypes(ctx context.Context, pool *sql.DB, table string) ([]*sql.ColumnType, error) {
	rows, err := pool.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	return types, errors.Join(err, rows.Err())
}

// fill writes the rows of a table.
func fill(ctx context.Context, tx *sql.Tx, table string, columns []column, rows int64) error {
	var names, values []string
	for _, c := range columns {
		names, values = append(names, c.name), append(values, c.expression)
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(
		"WITH RECURSIVE n(i) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) INSERT INTO %s (%s) SELECT %s FROM n",
		rows, table, strings.Join(names, ", "), strings.Join(values, ", ")))
	if err != nil {
		return fmt.Errorf("filling %s: %w", table, err)
	}
	return nil
}

// engineKind is what differs between the two when a database is filled.
type engineKind struct {
	name   string
	tables string // the statement that lists them
	// loose lets rows come in any order, as far as references go.
	loose  string
	settle []string
	driver string
}

var (
	onSQLite = engineKind{
		name: "SQLite", driver: "sqlite",
		tables: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose_%'",
		loose:  "PRAGMA defer_foreign_keys = 1", settle: []string{"ANALYZE"},
	}
	onPostgres = engineKind{
		name: "PostgreSQL", driver: "pgx",
		tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_name NOT LIKE 'goose_%'",
		loose:  "SET LOCAL session_replication_role = replica", settle: []string{"VACUUM ANALYZE", "CHECKPOINT"},
	}
)

// grow makes the schema as the product does, fills it over a connection that
// need not survive a power cut, and opens it again as the product does.
func grow(ctx context.Context, kind engineKind, opts store.Options, rows int64) (*grown, error) {
	db, err := store.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	tables, err := loadRows(ctx, kind, opts, rows)
	if err != nil {
		return nil, err
	}
	if db, err = store.Open(ctx, opts); err != nil {
		return nil, err
	}
	g := &grown{rows: rows, tables: tables, close: db.Close}
	g.writer, g.reader = db.Pools()
	return g, nil
}

func loadRows(ctx context.Context, kind engineKind, opts store.Options, rows int64) (map[string][]column, error) {
	address := opts.URL
	if address == "" {
		address = "file:" + filepath.Join(opts.Data, "dotkontor.db") + "?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=cache_size(-1000000)"
	}
	pool, err := sql.Open(kind.driver, address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = pool.Close() }() // what was loaded is committed
	pool.SetMaxOpenConns(1)
	names, err := listTables(ctx, pool, kind)
	if err != nil {
		return nil, err
	}
	tables, err := describe(ctx, pool, names)
	if err != nil {
		return nil, err
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, kind.loose); err != nil {
		return nil, err
	}
	for _, table := range names {
		if err := fill(ctx, tx, table, tables[table], rows); err != nil {
			return nil, err
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	// What is still to be written must not be written during the rounds.
	for _, statement := range kind.settle {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

func listTables(ctx context.Context, pool *sql.DB, kind engineKind) ([]string, error) {
	rows, err := pool.QueryContext(ctx, kind.tables)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, rows.Err()
}
