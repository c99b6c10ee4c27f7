package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync/atomic"
)

// Driver errors are wrapped inside the driver, because database/sql returns them
// unchanged; a wrapper above database/sql could not reach the errors of sql.Row and
// sql.Rows.

// openInstrumented is sql.Open with errors of type *registrar.Cause, which name target as
// the location of the database.
func openInstrumented(name, dsn, target string, h *health) (*sql.DB, error) {
	plain, err := sql.Open(name, dsn)
	if err != nil {
		return nil, err
	}
	base := plain.Driver()
	if err := plain.Close(); err != nil { // no connection was opened
		return nil, err
	}
	var connector driver.Connector = dsnConnector{base, dsn}
	if opener, ok := base.(driver.DriverContext); ok {
		if connector, err = opener.OpenConnector(dsn); err != nil {
			return nil, err
		}
	}
	return sql.OpenDB(instrumentedConnector{connector, target, h}), nil
}

// dsnConnector is the connector of a driver without one.
type dsnConnector struct {
	base driver.Driver
	dsn  string
}

func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.base.Open(c.dsn) }

func (c dsnConnector) Driver() driver.Driver { return c.base }

// instrumentedConnector opens instrumented connections.
type instrumentedConnector struct {
	driver.Connector
	target string
	health *health
}

func (o instrumentedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	generation := o.health.generation.Load()
	conn, err := o.Connector.Connect(ctx)
	if err != nil {
		return nil, o.health.wrapConnectError(ctx, o.target, err)
	}
	full, ok := conn.(fullConn)
	if !ok {
		return nil, errors.Join(errors.New("sqldb: connect: the driver lacks an interface"), conn.Close())
	}
	instrumented := &instrumentedConn{fullConn: full, health: o.health, generation: generation}
	if o.health.engine == SQLite {
		instrumented.statements = make(map[string]fullStmt)
	}
	return instrumented, nil
}

// fullConn lists the interfaces that connections of both drivers implement.
type fullConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
}

type instrumentedConn struct {
	fullConn
	health *health
	// generation is the value of health.generation when the connection was opened.
	generation int64
	// refusedWrite is set after the session refused a write as read-only.
	refusedWrite atomic.Bool
	// pipeline is the transaction of Write on PostgreSQL; nil outside of one.
	pipeline *pipeline
	// statements are prepared ones by text; nil on PostgreSQL, whose driver caches them.
	statements map[string]fullStmt
}

var (
	_ fullConn                 = (*instrumentedConn)(nil)
	_ driver.Validator         = (*instrumentedConn)(nil)
	_ driver.NamedValueChecker = (*instrumentedConn)(nil)
)

// wrapError returns the cause of an error of this connection. A PostgreSQL session keeps
// the default_transaction_read_only of its login, so a session that refuses a write as
// read-only is closed, and a stale session does not start the condition ReadOnly.
func (c *instrumentedConn) wrapError(text string, err error) error {
	if err == nil {
		return nil
	}
	operation := operationName(text)
	if c.health.engine == Postgres {
		if cause := newCause(operation, err); cause.Class == classReadOnly {
			c.refusedWrite.Store(true)
			if c.isStale() {
				cause.Outage = c.health.recordError(cause, ReadOnly, false)
				return cause
			}
		}
	}
	return c.health.wrapError(operation, err)
}

func (c *instrumentedConn) isStale() bool { return c.generation < c.health.generation.Load() }

func (c *instrumentedConn) ResetSession(ctx context.Context) error {
	if c.refusedWrite.Load() || c.isStale() {
		return driver.ErrBadConn
	}
	return c.fullConn.ResetSession(ctx)
}

// IsValid implements driver.Validator: the pool closes an invalid connection.
func (c *instrumentedConn) IsValid() bool {
	if c.refusedWrite.Load() || c.isStale() {
		return false
	}
	if v, ok := c.fullConn.(driver.Validator); ok {
		return v.IsValid()
	}
	return true
}

func (c *instrumentedConn) CheckNamedValue(value *driver.NamedValue) error {
	if checker, ok := c.fullConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

// sqliteDialect removes locks, which SQLite can't parse and, with one writer, does not need, and
// replaces PostgreSQL's functions for lists, which are passed as a JSON array, with SQLite's.
var sqliteDialect = strings.NewReplacer(
	"FOR UPDATE SKIP LOCKED", "", "FOR UPDATE", "",
	"json_array_elements_text(", "json_each(", "json_array_elements(", "json_each(", "AS TEXT)::json)", "AS TEXT))",
)

// ForSQLite returns a query in SQLite's dialect.
func ForSQLite(text string) string { return sqliteDialect.Replace(text) }

// statement returns the prepared statement for a text, or nil if it is not worth keeping.
// SQLite takes longer to parse a small query than to execute it. Only generated queries,
// of which there is a fixed set, and the statements around changes are kept. They are kept
// here because database/sql looks up, locks and tracks a sql.Stmt at every call.
func (c *instrumentedConn) statement(ctx context.Context, text string) (fullStmt, error) {
	stmt, found := c.statements[text]
	if found || c.statements == nil {
		return stmt, nil
	}
	switch text {
	case beginImmediate, beginChange, undoChange, endChange, commitStatement:
	default:
		if !strings.HasPrefix(text, queryNamePrefix) {
			return nil, nil
		}
	}
	prepared, err := c.PrepareContext(ctx, ForSQLite(text))
	if err != nil {
		return nil, err
	}
	stmt, ok := prepared.(fullStmt)
	if !ok {
		return nil, errors.Join(errors.New("sqldb: prepare: the driver lacks an interface"), prepared.Close())
	}
	c.statements[text] = stmt
	return stmt, nil
}

// Close closes the prepared statements too.
func (c *instrumentedConn) Close() error {
	var errs []error
	for _, stmt := range c.statements {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.fullConn.Close())...)
}

func (c *instrumentedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.fullConn.BeginTx(ctx, opts)
	return instrumentedTx{tx, c}, c.wrapError("begin", err)
}

func (c *instrumentedConn) ExecContext(ctx context.Context, text string, values []driver.NamedValue) (driver.Result, error) {
	c.health.count(text)
	var result driver.Result
	stmt, err := c.statement(ctx, text)
	switch {
	case err != nil:
	case stmt != nil:
		result, err = stmt.ExecContext(ctx, values)
	default:
		result, err = c.fullConn.ExecContext(ctx, text, values)
	}
	return result, c.wrapError(text, err)
}

func (c *instrumentedConn) QueryContext(ctx context.Context, text string, values []driver.NamedValue) (driver.Rows, error) {
	c.health.count(text)
	switch {
	case c.pipeline != nil:
		return c.pipeline.query(ctx, text, values)
	case c.health.engine == Postgres:
		return c.queryPostgres(ctx, text, values)
	}
	var rows driver.Rows
	stmt, err := c.statement(ctx, text)
	switch {
	case err != nil:
	case stmt != nil:
		// The driver would start a goroutine to interrupt the step to the first row, which
		// an index makes short.
		rows, err = stmt.QueryContext(context.WithoutCancel(ctx), values)
	default:
		rows, err = c.fullConn.QueryContext(ctx, text, values)
	}
	return &instrumentedRows{Rows: rows, text: text, conn: c}, c.wrapError(text, err)
}

func (c *instrumentedConn) Ping(ctx context.Context) error {
	return c.wrapError("ping", c.fullConn.Ping(ctx))
}

// fullStmt lists the interfaces that statements of both drivers implement.
type fullStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type instrumentedTx struct {
	driver.Tx
	conn *instrumentedConn
}

func (t instrumentedTx) Commit() error {
	t.conn.health.count(commitStatement)
	return t.conn.wrapError("commit", t.Tx.Commit())
}

func (t instrumentedTx) Rollback() error { return t.conn.wrapError("rollback", t.Tx.Rollback()) }

type instrumentedRows struct {
	driver.Rows
	text string
	conn *instrumentedConn
	// failure is what Next has reported. Drivers repeat it when the rows are closed.
	failure error
}

func (r *instrumentedRows) Next(row []driver.Value) error {
	err := r.Rows.Next(row)
	if err == nil || err == io.EOF { //nolint:errorlint // as database/sql does
		return err
	}
	r.failure = r.conn.wrapError(r.text, err)
	return r.failure
}

// Close reports a failure after the last row that was read, too.
func (r *instrumentedRows) Close() error {
	err := r.Rows.Close()
	if r.failure != nil {
		return r.failure
	}
	return r.conn.wrapError(r.text, err)
}

func (r *instrumentedRows) ColumnTypeDatabaseTypeName(index int) string {
	if typed, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return typed.ColumnTypeDatabaseTypeName(index)
	}
	return ""
}

// queryNamePrefix begins every generated query.
const queryNamePrefix = "-- name: "

// operationName returns the name of a query, which sqlc writes into its first line, or the
// first word of another statement. Neither contains values.
func operationName(text string) string {
	if rest, named := strings.CutPrefix(text, queryNamePrefix); named {
		name, _, _ := strings.Cut(rest, " ")
		return name
	}
	if words := strings.Fields(text); len(words) > 0 {
		return strings.ToLower(words[0])
	}
	return "statement"
}
