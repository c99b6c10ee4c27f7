package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
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
	"price_lists.edition":   microsFrom(firstDay),
	"seal_nodes.name":       inOrder("node_", ""),
	"domains.name":          inOrder("name-", ".de"),
	"domains.status":        constant("active"),
	"domains.tld":           constant(".de"),
	"domains.sync_due":      microsFrom(firstDay),
	"lines.name":            inOrder("zeile-", ".de"),
	"lines.state":           constant("pending"),
	"lines.node":            inOrder("node_", ""),
	"changes.node":          inOrder("node_", ""),
	"changes.wanted":        constant("{}"),
	"changes.by_address":    constant(""),
	"registry_records.data": constant("{}"),
	"setbacks.job":          inOrder("line:", ""),
	"lines.attempts":        number64(1),
	"orders.attempts":       number64(1),
	"changes.attempts":      number64(1),
	"mails.attempts":        number64(1),
	"agent_events.attempts": number64(1),
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
	db             *store.DB
	writer, reader *sql.DB
	tables         map[string][]column
	settled        int64 // statements that have written for good
	close          func() error
}

// active is one of a thousand rows, in steps over all of them.
func (g *grown) active() int64 { return g.nth(rand.Int64N(fewRows)) }

func (g *grown) nth(n int64) int64 { return n * max(1, g.rows/fewRows) % g.rows }

// anybody is any row.
func (g *grown) anybody() int64 { return rand.Int64N(g.rows) }

// inTurn is every active row, one after the other.
func (g *grown) inTurn() func() int64 {
	n := int64(-1)
	return func() int64 {
		n++
		return g.nth(n)
	}
}

// shut closes what was opened, also if that was nothing.
func (g *grown) shut() error {
	if g == nil {
		return nil
	}
	return g.close()
}

// formulaFor decides what a column holds.
func formulaFor(table, name string, isText bool, tables []string, rows int64) (f formula, refers bool) {
	for _, special := range []map[string]formula{ofOrders, ofAgents} {
		if f, known := special[table+"."+name]; known {
			return f, false
		}
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
				return shuffled(identifier(other), rows), true
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

// shuffled is what another row holds, each row once: customers do not come back in
// the order in which they came. Rows in that order would leave no room in the pages
// of an index, and each new one would split some.
func shuffled(f formula, rows int64) formula {
	return formula{
		strings.ReplaceAll(f.expression, " i)", fmt.Sprintf(" (i * %d) %% %d)", scatter, rows)),
		func(i int64) any { return f.value(i * scatter % rows) },
	}
}

// describe reads which tables and columns there are.
func describe(ctx context.Context, pool *sql.DB, names []string, rows int64) (map[string][]column, error) {
	tables := map[string][]column{}
	for _, table := range names {
		types, err := columnTypes(ctx, pool, table)
		if err != nil {
			return nil, err
		}
		for _, t := range types {
			c := column{name: t.Name(), text: t.DatabaseTypeName() == "TEXT"}
			c.formula, c.refers = formulaFor(table, c.name, c.text, names, rows)
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

// fill writes the rows of a table from one number on, up to another.
func fill(ctx context.Context, tx *sql.Tx, table string, columns []column, from, to int64) error {
	var names, values []string
	for _, c := range columns {
		names, values = append(names, c.name), append(values, c.expression)
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(
		"WITH RECURSIVE n(i) AS (SELECT CAST(%d AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < %d) INSERT INTO %s (%s) SELECT %s FROM n",
		from, to, table, strings.Join(names, ", "), strings.Join(values, ", ")))
	if err != nil {
		return fmt.Errorf("filling %s: %w", table, err)
	}
	return nil
}

// engineKind is what differs between the two when a database is filled.
type engineKind struct {
	name   string
	tables string // the statement that lists them
	// indexes lists name and statement of those that no key of a table needs.
	indexes string
	// loose lets rows come in any order, as far as references go.
	loose  []string
	settle []string
	driver string
}

var (
	onSQLite = engineKind{
		name: "SQLite", driver: "sqlite",
		tables:  "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose_%'",
		indexes: "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name",
		loose:   []string{"PRAGMA defer_foreign_keys = 1"}, settle: []string{"PRAGMA analysis_limit = 1000", "ANALYZE"},
	}
	onPostgres = engineKind{
		name: "PostgreSQL", driver: "pgx",
		tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_name NOT LIKE 'goose_%'",
		indexes: `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE 'goose_%'
			AND indexname NOT IN (SELECT conname FROM pg_constraint) ORDER BY indexname`,
		loose:  []string{"SET LOCAL session_replication_role = replica", "SET LOCAL maintenance_work_mem = '256MB'"},
		settle: []string{"VACUUM ANALYZE", "CHECKPOINT"},
	}
)

// grow makes the schema as the product does, fills it over a connection that
// need not survive a power cut, and opens it again as the product does.
func grow(ctx context.Context, kind engineKind, opts store.Options, rows int64, tell func(format string, args ...any)) (*grown, error) {
	db, err := store.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	tables, err := loadRows(ctx, kind, opts, rows, tell)
	if err != nil {
		return nil, err
	}
	if db, err = store.Open(ctx, opts); err != nil {
		return nil, err
	}
	g := &grown{rows: rows, db: db, tables: tables, close: db.Close}
	g.writer, g.reader = db.Pools()
	return g, nil
}

func loadRows(ctx context.Context, kind engineKind, opts store.Options, rows int64, tell func(format string, args ...any)) (map[string][]column, error) {
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
	listed, err := list(ctx, pool, kind.tables)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, row := range listed {
		names = append(names, row[0])
	}
	slices.Sort(names)
	tables, err := describe(ctx, pool, names, rows)
	if err != nil {
		return nil, err
	}
	if err := fillAll(ctx, pool, kind, names, tables, rows, tell); err != nil {
		return nil, err
	}
	// What is still to be written must not be written during the rounds.
	for _, statement := range kind.settle {
		tell("%s, %d rows: %s", kind.name, rows, statement)
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// fillAll writes all tables in one transaction. Most rows come before the indexes,
// which is faster. The rest comes after them, because pages of an index that has
// never had a new row among the old ones are full, as they never are in a life.
func fillAll(ctx context.Context, pool *sql.DB, kind engineKind, names []string, tables map[string][]column, rows int64, tell func(format string, args ...any)) error {
	indexes, err := list(ctx, pool, kind.indexes)
	if err != nil {
		return err
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	do := func(statements []string) error {
		for _, statement := range statements {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	}
	var drop, create []string
	for _, index := range indexes {
		drop, create = append(drop, "DROP INDEX "+index[0]), append(create, index[1])
	}
	if err := do(append(slices.Clone(kind.loose), drop...)); err != nil {
		return err
	}
	most := rows - rows/10
	for _, part := range []struct {
		from, to int64
		then     []string
	}{{0, most, create}, {most, rows, nil}} {
		for _, table := range names {
			tell("%s, rows %d to %d of %s", kind.name, part.from, part.to, table)
			if err := fill(ctx, tx, table, tables[table], part.from, part.to); err != nil {
				return err
			}
		}
		if err := do(part.then); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// list reads rows of one or two texts.
func list(ctx context.Context, pool *sql.DB, statement string) ([][2]string, error) {
	rows, err := pool.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var all [][2]string
	for rows.Next() {
		var row [2]string
		if err := rows.Scan([]any{&row[0], &row[1]}[:len(columns)]...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
