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

// Rows are generated inside the database, by one statement for both engines, because
// sending a million rows in ten tables would take minutes. The content of row i is also
// known in Go, so every existing key is known without a query. A new column or table
// needs no entry here unless it must be unique or have one of a few values.

// columnFormula is the value of a column in row i, as SQL and in Go.
type columnFormula struct {
	expression string
	value      func(i int64) any
}

const (
	idBase    = 100_000_000_000 // so that all numbers have the same length
	firstDay  = 1_790_000_000e6 // microseconds: September 2026
	farFuture = 4_000_000_000e6 // microseconds: the year 2096
	scatter   = 2_654_435_761   // odd, so that it permutes all numbers below scattered
	scattered = 1 << 32
	// hashPadding makes a hash as long as a real one.
	hashPadding = "-AbCdEfGhIjKlMnOpQrStUvWxYz012345"
)

func constantText(text string) columnFormula {
	return columnFormula{"'" + text + "'", func(int64) any { return text }}
}

func constantInt(value int64) columnFormula {
	return columnFormula{strconv.FormatInt(value, 10), func(int64) any { return value }}
}

// sequentialText grows with i, like an identifier that begins with the time.
func sequentialText(before, behind string) columnFormula {
	return columnFormula{
		"'" + before + "' || (" + strconv.FormatInt(idBase, 10) + " + i) || '" + behind + "'",
		func(i int64) any { return before + strconv.FormatInt(idBase+i, 10) + behind },
	}
}

// scatteredText is a different text for each i, unordered, like a hash.
func scatteredText() columnFormula {
	return columnFormula{
		fmt.Sprintf("(%d + (i * %d) %% %d) || '%s'", idBase, scatter, int64(scattered), hashPadding),
		func(i int64) any { return strconv.FormatInt(idBase+i*scatter%scattered, 10) + hashPadding },
	}
}

func microsFrom(start int64) columnFormula {
	return columnFormula{
		fmt.Sprintf("%d + i * 1000", start),
		func(i int64) any { return start + i*1000 },
	}
}

// columnsByName are the columns with the same kind of value in every table or, with the
// table's name, in one.
var columnsByName = map[string]columnFormula{
	"hash":                        scatteredText(),
	"credential_id":               scatteredText(),
	"digest":                      scatteredText(),
	"user_handle":                 scatteredText(),
	"email":                       sequentialText("kunde-", "@example.org"),
	"email_key":                   sequentialText("kunde-", "@example.org"),
	"recipient":                   sequentialText("kunde-", "@example.org"),
	"price_lists.edition":         microsFrom(firstDay),
	"seal_nodes.name":             sequentialText("node_", ""),
	"service_secrets.name":        sequentialText("secret_", ""),
	"domains.name":                sequentialText("name-", ".de"),
	"domains.status":              constantText("active"),
	"domains.tld":                 constantText(".de"),
	"domains.sync_due":            microsFrom(firstDay),
	"domains.holder_id":           constantText(""),
	"provision_items.name":        sequentialText("zeile-", ".de"),
	"provision_items.state":       constantText("pending"),
	"provision_items.kind":        constantText("transfer"),
	"provision_items.node":        sequentialText("node_", ""),
	"domain_changes.node":         sequentialText("node_", ""),
	"mails.node":                  sequentialText("node_", ""),
	"domain_changes.desired":      constantText("{}"),
	"domain_changes.by_address":   constantText(""),
	"registry_records.data":       constantText("{}"),
	"brakes.name":                 sequentialText("brake_", ""),
	"dispute_listings.provider":   sequentialText("provider_", ""),
	"registry_pollers.account":    sequentialText("account_", ""),
	"registry_balances.account":   sequentialText("account_", ""),
	"exchange_rates.day":          sequentialText("day_", ""),
	"margin_months.tld":           sequentialText(".tld", ""),
	"outgoing_transfers.node":     sequentialText("node_", ""),
	"outgoing_transfers.state":    constantText("pending"),
	"disputes.node":               sequentialText("node_", ""),
	"registry_messages.number":    sequentialText("msg_", ""),
	"registry_messages.kind":      constantText("balance"),
	"registry_messages.unread":    constantInt(1),
	"term_ends.node":              sequentialText("node_", ""),
	"term_ends.state":             constantText("held"),
	"term_ends.step_at":           microsFrom(firstDay),
	"term_ends.waits_for":         constantText("notices"),
	"contact_checks.id":           sequentialText("chk_", ""),
	"domains.contact_check":       sequentialText("chk_", ""),
	"domains.contact_hold":        constantText(""),
	"contact_checks.state":        constantText("pending"),
	"contact_checks.notices":      constantInt(3),
	"contact_checks.step_at":      microsFrom(firstDay),
	"contact_checks.waits_for":    constantText(""),
	"contact_checks.ended_at":     constantInt(0),
	"customers.data_reminder_at":  microsFrom(firstDay),
	"job_errors.job":              sequentialText("line:", ""),
	"provision_items.attempts":    constantInt(1),
	"orders.attempts":             constantInt(1),
	"domain_changes.attempts":     constantInt(1),
	"mails.attempts":              constantInt(1),
	"webhook_deliveries.attempts": constantInt(1),
	"customers.token_count":       constantInt(1),
	"customers.language":          constantText("de"),
	"sessions.state":              constantText("open"),
	"links.kind":                  constantText("reset"),
	"webauthn_challenges.kind":    constantText("sign_in"),
	"audit_events.actor":          sequentialText("cus_", ""),
	"created_at":                  microsFrom(firstDay),
	"confirmed_at":                microsFrom(firstDay),
	"updated_at":                  microsFrom(firstDay),
	"authenticated_at":            microsFrom(firstDay),
	"seen_at":                     microsFrom(firstDay),
	"due_at":                      microsFrom(firstDay),
	"at":                          microsFrom(firstDay),
	"paid_until":                  microsFrom(farFuture),
	"expires_at":                  microsFrom(farFuture),
}

// column is a column of a table.
type column struct {
	name string
	text bool
	columnFormula
	// isReference reports whether the column refers to a row of another table.
	isReference bool
}

// sizedDB is a database with the same number of rows in each table.
type sizedDB struct {
	rows           int64
	db             *store.DB
	writer, reader *sql.DB
	tables         map[string][]column
	committed      int64 // committed writes
	close          func() error
}

// activeRow is one of a thousand rows, evenly distributed over all.
func (g *sizedDB) activeRow() int64 { return g.activeRowAt(rand.Int64N(smallRows)) }

func (g *sizedDB) activeRowAt(n int64) int64 { return n * max(1, g.rows/smallRows) % g.rows }

// randomRow is any row.
func (g *sizedDB) randomRow() int64 { return rand.Int64N(g.rows) }

// activeRowsInTurn returns the active rows one after the other.
func (g *sizedDB) activeRowsInTurn() func() int64 {
	n := int64(-1)
	return func() int64 {
		n++
		return g.activeRowAt(n)
	}
}

// closeIfOpen closes the database if it is open.
func (g *sizedDB) closeIfOpen() error {
	if g == nil {
		return nil
	}
	return g.close()
}

// formulaFor decides the values of a column.
func formulaFor(table, name string, isText bool, tables []string, rows int64) (f columnFormula, refers bool) {
	for _, special := range []map[string]columnFormula{orderColumns, agentColumns} {
		if f, known := special[table+"."+name]; known {
			return f, false
		}
	}
	if f, known := columnsByName[table+"."+name]; known {
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
	if f, known := columnsByName[name]; known {
		return f, false
	}
	if isText {
		return constantText("x"), false
	}
	return constantInt(0), false
}

// identifier returns a prefix and 26 characters, like a real one.
func identifier(table string) columnFormula {
	return sequentialText(table[:3]+"_", "abcdefghjkmnpq")
}

// shuffled permutes the rows: customers do not return in the order in which they
// registered. Rows in that order would leave no room in index pages, and each new one
// would split some.
func shuffled(f columnFormula, rows int64) columnFormula {
	return columnFormula{
		strings.ReplaceAll(f.expression, " i)", fmt.Sprintf(" (i * %d) %% %d)", scatter, rows)),
		func(i int64) any { return f.value(i * scatter % rows) },
	}
}

// describe reads the tables and columns.
func describe(ctx context.Context, pool *sql.DB, names []string, rows int64) (map[string][]column, error) {
	tables := map[string][]column{}
	for _, table := range names {
		types, err := columnTypes(ctx, pool, table)
		if err != nil {
			return nil, err
		}
		for _, t := range types {
			c := column{name: t.Name(), text: t.DatabaseTypeName() == "TEXT"}
			c.columnFormula, c.isReference = formulaFor(table, c.name, c.text, names, rows)
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

// fill inserts rows from..to of a table.
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

// engineKind has the differences between the engines when a database is filled.
type engineKind struct {
	name   string
	tables string // the statement that lists tables
	// indexes lists name and statement of those that belong to no key or constraint.
	indexes string
	// deferConstraints allows rows in any order with respect to references.
	deferConstraints []string
	// analyze collects statistics where a database does by itself: SQLite does not.
	analyze []string
	driver  string
}

var (
	onSQLite = engineKind{
		name: "SQLite", driver: "sqlite",
		tables:           "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'goose_%' AND name <> 'schema_compatibility'",
		indexes:          "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid", // of several that fit, SQLite takes the newest
		deferConstraints: []string{"PRAGMA defer_foreign_keys = 1"},
	}
	onPostgres = engineKind{
		name: "PostgreSQL", driver: "pgx",
		tables: "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_name NOT LIKE 'goose_%' AND table_name <> 'schema_compatibility'",
		indexes: `SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT LIKE 'goose_%'
			AND indexname NOT IN (SELECT conname FROM pg_constraint) ORDER BY indexname`,
		deferConstraints: []string{"SET LOCAL session_replication_role = replica", "SET LOCAL maintenance_work_mem = '256MB'"},
		analyze:          []string{"VACUUM ANALYZE", "CHECKPOINT"},
	}
)

// newSizedDB creates the schema as the product does, fills it over a connection without
// durability, and opens it again as the product does.
func newSizedDB(ctx context.Context, kind engineKind, opts store.Options, rows int64, progress func(format string, args ...any)) (*sizedDB, error) {
	db, err := store.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	tables, err := loadRows(ctx, kind, opts, dataset{rows: rows}, progress)
	if err != nil {
		return nil, err
	}
	if db, err = store.Open(ctx, opts); err != nil {
		return nil, err
	}
	g := &sizedDB{rows: rows, db: db, tables: tables, close: db.Close}
	g.writer, g.reader = db.SQL().Writer(), db.SQL().Reader()
	return g, nil
}

// dataset is what loadRows generates.
type dataset struct {
	rows   int64    // of each table
	tables []string // nil means all
	// columns have other values than those of formulaFor, by table and column.
	columns map[string]columnFormula
}

func loadRows(ctx context.Context, kind engineKind, opts store.Options, data dataset, progress func(format string, args ...any)) (map[string][]column, error) {
	address := opts.URL
	if address == "" {
		address = "file:" + filepath.Join(opts.Data, "dotkontor.db") + "?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=cache_size(-1000000)"
	}
	pool, err := sql.Open(kind.driver, address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = pool.Close() }() // the rows are committed
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
	tables, err := describe(ctx, pool, names, data.rows)
	if err != nil {
		return nil, err
	}
	for table, columns := range tables {
		for i, c := range columns {
			if f, special := data.columns[table+"."+c.name]; special {
				columns[i].columnFormula = f
			}
		}
	}
	if data.tables != nil {
		names = data.tables
	}
	if err := fillAll(ctx, pool, kind, names, tables, data.rows, progress); err != nil {
		return nil, err
	}
	// Pending writes must not be flushed during the rounds.
	for _, statement := range kind.analyze {
		progress("%s, %d rows: %s", kind.name, data.rows, statement)
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// fillAll fills all tables in one transaction. Most rows are inserted before the
// indexes are created, which is faster. The rest follows, because pages of an index
// without later inserts are full, as they never are in production.
func fillAll(ctx context.Context, pool *sql.DB, kind engineKind, names []string, tables map[string][]column, rows int64, progress func(format string, args ...any)) error {
	indexes, err := list(ctx, pool, kind.indexes)
	if err != nil {
		return err
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no-op after a commit
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
	if err := do(append(slices.Clone(kind.deferConstraints), drop...)); err != nil {
		return err
	}
	most := rows - rows/10
	for _, part := range []struct {
		from, to int64
		then     []string
	}{{0, most, create}, {most, rows, nil}} {
		for _, table := range names {
			progress("%s, rows %d to %d of %s", kind.name, part.from, part.to, table)
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
