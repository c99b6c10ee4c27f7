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

// openInstrumented is sql.Open whose errors are causes. target is what they name as the
// place of the database.
func openInstrumented(name, dsn, target string, h *health) (*sql.DB, error) {
	plain, err := sql.Open(name, dsn)
	if err != nil {
		return nil, err
	}
	base := plain.Driver()
	if err := plain.Close(); err != nil { // it has opened nothing yet
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

// dsnConnector is for drivers without a connector of their own.
type dsnConnector struct {
	base driver.Driver
	dsn  string
}

// Connect opens a connection.
func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.base.Open(c.dsn) }

// Driver is the driver.
func (c dsnConnector) Driver() driver.Driver { return c.base }

// instrumentedConnector opens connections whose errors are causes.
type instrumentedConnector struct {
	driver.Connector
	target string
	health *health
}

// Connect opens one.
func (o instrumentedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	generation := o.health.generation.Load()
	conn, err := o.Connector.Connect(ctx)
	if err != nil {
		return nil, o.health.wrapConnectError(ctx, o.target, err)
	}
	full, ok := conn.(fullConn)
	if !ok {
		return nil, errors.Join(errors.New("store: connect: the driver lacks an interface"), conn.Close())
	}
	return &instrumentedConn{fullConn: full, health: o.health, generation: generation}, nil
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

type instrumentedConn struct {
	fullConn
	health *health
	// generation is health.generation from before the connection was opened.
	generation int64
	// refusedWrite is set after the session refused a write as read-only.
	refusedWrite atomic.Bool
}

var (
	_ fullConn                 = (*instrumentedConn)(nil)
	_ driver.Validator         = (*instrumentedConn)(nil)
	_ driver.NamedValueChecker = (*instrumentedConn)(nil)
)

// wrapError is the cause of an error of this connection. A PostgreSQL session keeps the
// default_transaction_read_only of its login, so a session that refuses a write as
// read-only is closed, and one that is about to be replaced says nothing
// about the present state of the database.
func (c *instrumentedConn) wrapError(operation string, err error) error {
	if err != nil && c.health.engine == postgres {
		if class, code := classify(err); class == classReadOnly {
			c.refusedWrite.Store(true)
			if c.isStale() {
				cause := &registrar.Cause{Part: registrar.PartDatabase, Operation: operation, Class: class, Code: code, Err: err}
				cause.Outage = c.health.recordError(cause, ReadOnly, false)
				return cause
			}
		}
	}
	return c.health.wrapError(operation, err)
}

func (c *instrumentedConn) isStale() bool { return c.generation < c.health.generation.Load() }

// ResetSession is called before a connection of the pool is used again.
func (c *instrumentedConn) ResetSession(ctx context.Context) error {
	if c.refusedWrite.Load() || c.isStale() {
		return driver.ErrBadConn
	}
	return c.fullConn.ResetSession(ctx)
}

// IsValid is false for a connection that the pool closes instead of reusing it.
func (c *instrumentedConn) IsValid() bool {
	if c.refusedWrite.Load() || c.isStale() {
		return false
	}
	if v, ok := c.fullConn.(driver.Validator); ok {
		return v.IsValid()
	}
	return true
}

// CheckNamedValue asks the driver; one that has no opinion leaves it to database/sql.
func (c *instrumentedConn) CheckNamedValue(value *driver.NamedValue) error {
	if checker, ok := c.fullConn.(driver.NamedValueChecker); ok {
		return checker.CheckNamedValue(value)
	}
	return driver.ErrSkip
}

// PrepareContext prepares a statement.
func (c *instrumentedConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	stmt, err := c.fullConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, c.wrapError(operationName(text), err)
	}
	full, ok := stmt.(fullStmt)
	if !ok {
		return nil, errors.Join(errors.New("store: prepare: the driver lacks an interface"), stmt.Close())
	}
	return &instrumentedStmt{full, text, c}, nil
}

// BeginTx begins a transaction.
func (c *instrumentedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	tx, err := c.fullConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, c.wrapError("begin", err)
	}
	return instrumentedTx{tx, c}, nil
}

// ExecContext runs a statement.
func (c *instrumentedConn) ExecContext(ctx context.Context, text string, values []driver.NamedValue) (driver.Result, error) {
	result, err := c.fullConn.ExecContext(ctx, text, values)
	if err != nil {
		return nil, c.wrapError(operationName(text), err)
	}
	return result, nil
}

// QueryContext asks for rows.
func (c *instrumentedConn) QueryContext(ctx context.Context, text string, values []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.fullConn.QueryContext(ctx, text, values)
	if err != nil {
		return nil, c.wrapError(operationName(text), err)
	}
	return &instrumentedRows{rows, text, c}, nil
}

// Ping asks for an answer.
func (c *instrumentedConn) Ping(ctx context.Context) error {
	return c.wrapError("ping", c.fullConn.Ping(ctx))
}

// fullStmt is what the statements of both drivers can do.
type fullStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type instrumentedStmt struct {
	fullStmt
	text string
	conn *instrumentedConn
}

var _ fullStmt = (*instrumentedStmt)(nil)

// ExecContext runs the statement.
func (s *instrumentedStmt) ExecContext(ctx context.Context, values []driver.NamedValue) (driver.Result, error) {
	result, err := s.fullStmt.ExecContext(ctx, values)
	if err != nil {
		return nil, s.conn.wrapError(operationName(s.text), err)
	}
	return result, nil
}

// QueryContext asks for rows.
func (s *instrumentedStmt) QueryContext(ctx context.Context, values []driver.NamedValue) (driver.Rows, error) {
	rows, err := s.fullStmt.QueryContext(ctx, values)
	if err != nil {
		return nil, s.conn.wrapError(operationName(s.text), err)
	}
	return &instrumentedRows{rows, s.text, s.conn}, nil
}

type instrumentedTx struct {
	driver.Tx
	conn *instrumentedConn
}

// Commit ends the transaction.
func (t instrumentedTx) Commit() error { return t.conn.wrapError("commit", t.Tx.Commit()) }

// Rollback undoes the transaction.
func (t instrumentedTx) Rollback() error { return t.conn.wrapError("rollback", t.Tx.Rollback()) }

type instrumentedRows struct {
	driver.Rows
	text string
	conn *instrumentedConn
}

// Next reads a row.
func (r *instrumentedRows) Next(row []driver.Value) error {
	err := r.Rows.Next(row)
	if err == nil || err == io.EOF { //nolint:errorlint // database/sql compares in the same way
		return err
	}
	return r.conn.wrapError(operationName(r.text), err)
}

// ColumnTypeDatabaseTypeName is the driver's.
func (r *instrumentedRows) ColumnTypeDatabaseTypeName(index int) string {
	if typed, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return typed.ColumnTypeDatabaseTypeName(index)
	}
	return ""
}

// operationName is the name of a query, which the generator writes into its first line, or
// the first word of another statement. Values are never in either.
func operationName(text string) string {
	if rest, named := strings.CutPrefix(text, "-- name: "); named {
		name, _, _ := strings.Cut(rest, " ")
		return name
	}
	if words := strings.Fields(text); len(words) > 0 {
		return strings.ToLower(words[0])
	}
	return "statement"
}
