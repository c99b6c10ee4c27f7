package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync/atomic"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Every statement of the program passes the driver, so this is where errors get the
// name of their query and their class (causes.go). database/sql hands errors of a
// driver on as they are; a wrapper above it could not reach those of sql.Row and
// sql.Rows.

// openObserved is sql.Open whose errors are causes. target is what they name as the
// place of the database.
func openObserved(name, dsn, target string, h *health) (*sql.DB, error) {
	plain, err := sql.Open(name, dsn)
	if err != nil {
		return nil, err
	}
	under := plain.Driver()
	if err := plain.Close(); err != nil { // it has opened nothing yet
		return nil, err
	}
	var connector driver.Connector = dsnConnector{under, dsn}
	if opener, ok := under.(driver.DriverContext); ok {
		if connector, err = opener.OpenConnector(dsn); err != nil {
			return nil, err
		}
	}
	return sql.OpenDB(observed{connector, target, h}), nil
}

// dsnConnector is for drivers without a connector of their own.
type dsnConnector struct {
	under driver.Driver
	dsn   string
}

// Connect opens a connection.
func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.under.Open(c.dsn) }

// Driver is the driver.
func (c dsnConnector) Driver() driver.Driver { return c.under }

// observed opens connections whose errors are causes.
type observed struct {
	driver.Connector
	target string
	health *health
}

// Connect opens one.
func (o observed) Connect(ctx context.Context) (driver.Conn, error) {
	generation := o.health.generation.Load()
	conn, err := o.Connector.Connect(ctx)
	if err != nil {
		return nil, o.health.connectFailed(ctx, o.target, err)
	}
	full, ok := conn.(fullConn)
	if !ok {
		return nil, errors.Join(errors.New("store: connect: the driver lacks an interface"), conn.Close())
	}
	return &observedConn{fullConn: full, health: o.health, generation: generation}, nil
}

// fullConn is what both drivers can do.
type fullConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
}

type observedConn struct {
	fullConn
	health *health
	// generation is health.generation from before the connection was opened.
	generation int64
	// refused is set after the session refused a write as read-only.
	refused atomic.Bool
}

var (
	_ fullConn                 = (*observedConn)(nil)
	_ driver.Validator         = (*observedConn)(nil)
	_ driver.NamedValueChecker = (*observedConn)(nil)
)

// failed is the cause of an error of this connection. A PostgreSQL session keeps the
// default_transaction_read_only of its login, so a session that refuses a write as
// read-only is closed, and one that is about to be replaced says nothing
// about the present state of the database.
func (c *observedConn) failed(operation string, err error) error {
	if err != nil && c.health.engine == postgres {
		if class, code := classify(err); class == classReadOnly {
			c.refused.Store(true)
			if c.isStale() {
				cause := &registrar.Cause{Part: registrar.PartDatabase, Operation: operation, Class: class, Code: code, Err: err}
				cause.Outage = c.health.note(cause, ReadOnly, false)
				return cause
			}
		}
	}
	return c.health.failed(operation, err)
}

func (c *observedConn) isStale() bool { return c.generation < c.health.generation.Load() }

// ResetSession is called before a connection of the pool is used again.
func (c *observedConn) ResetSession(ctx context.Context) error {
	if c.refused.Load() || c.isStale() {
		return driver.ErrBadConn
	}
	return c.fullConn.ResetSession(ctx)
}

// IsValid is false for a connection that the pool closes instead of reusing it.
func (c *observedConn) IsValid() bool {
	if c.refused.Load() || c.isStale() {
		return false
	}
	if v, ok := c.fullConn.(driver.Validator); ok {
		return v.IsValid()
	}
	return true
}

// CheckNamedValue asks the driver; one that has no opinion leaves it to database/sql.
func (c *observedConn) CheckNamedValue(value *driver.NamedValue) error {
	if checker, ok := c.fullConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

// PrepareContext prepares a statement.
func (c *observedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	stmt, err := c.fullConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, c.failed(operation(text), err)
	}
	full, ok := stmt.(fullStmt)
	if !ok {
		return nil, errors.Join(errors.New("store: prepare: the driver lacks an interface"), stmt.Close())
	}
	return &observedStmt{full, text, c}, nil
}

// BeginTx begins a transaction.
func (c *observedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.fullConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, c.failed("begin", err)
	}
	return observedTx{tx, c}, nil
}

// ExecContext runs a statement.
func (c *observedConn) ExecContext(ctx context.Context, text string, values []driver.NamedValue) (driver.Result, error) {
	result, err := c.fullConn.ExecContext(ctx, text, values)
	if err != nil {
		return nil, c.failed(operation(text), err)
	}
	return result, nil
}

// QueryContext asks for rows.
func (c *observedConn) QueryContext(ctx context.Context, text string, values []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.fullConn.QueryContext(ctx, text, values)
	if err != nil {
		return nil, c.failed(operation(text), err)
	}
	return &observedRows{rows, text, c}, nil
}

// Ping asks for an answer.
func (c *observedConn) Ping(ctx context.Context) error {
	return c.failed("ping", c.fullConn.Ping(ctx))
}

// fullStmt is what the statements of both drivers can do.
type fullStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type observedStmt struct {
	fullStmt
	text string
	conn *observedConn
}

var _ fullStmt = (*observedStmt)(nil)

// ExecContext runs the statement.
func (s *observedStmt) ExecContext(ctx context.Context, values []driver.NamedValue) (driver.Result, error) {
	result, err := s.fullStmt.ExecContext(ctx, values)
	if err != nil {
		return nil, s.conn.failed(operation(s.text), err)
	}
	return result, nil
}

// QueryContext asks for rows.
func (s *observedStmt) QueryContext(ctx context.Context, values []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.fullStmt.QueryContext(ctx, values)
	if err != nil {
		return nil, s.conn.failed(operation(s.text), err)
	}
	return &observedRows{rows, s.text, s.conn}, nil
}

type observedTx struct {
	driver.Tx
	conn *observedConn
}

// Commit ends the transaction.
func (t observedTx) Commit() error { return t.conn.failed("commit", t.Tx.Commit()) }

// Rollback undoes the transaction.
func (t observedTx) Rollback() error { return t.conn.failed("rollback", t.Tx.Rollback()) }

type observedRows struct {
	driver.Rows
	text string
	conn *observedConn
}

// Next reads a row.
func (r *observedRows) Next(row []driver.Value) error {
	err := r.Rows.Next(row)
	if err == nil || err == io.EOF { //nolint:errorlint // database/sql compares in the same way
		return err
	}
	return r.conn.failed(operation(r.text), err)
}

// ColumnTypeDatabaseTypeName is the driver's.
func (r *observedRows) ColumnTypeDatabaseTypeName(index int) string {
	if typed, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return typed.ColumnTypeDatabaseTypeName(index)
	}
	return ""
}

// operation is the name of a query, which the generator writes into its first line, or
// the first word of another statement. Values are never in either.
func operation(text string) string {
	if rest, named := strings.CutPrefix(text, "-- name: "); named {
		name, _, _ := strings.Cut(rest, " ")
		return name
	}
	if words := strings.Fields(text); len(words) > 0 {
		return strings.ToLower(words[0])
	}
	return "statement"
}
