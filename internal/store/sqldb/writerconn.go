package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// writerConn is the one connection that writes to SQLite. It is not safe for concurrent
// use.
//
// Statements ignore the end of their ctx: SQLite rolls back the whole transaction if a
// writing statement is interrupted, and other callers' changes may be part of it
// (groupcommit.go). Statements are short.
type writerConn struct {
	*sql.Conn
	statements map[string]statement
}

func openWriterConn(ctx context.Context, pool *sql.DB) (*writerConn, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &writerConn{Conn: conn, statements: make(map[string]statement)}, nil
}

// close closes the underlying connection instead of returning it to the pool, where its
// open transaction would survive.
func (l *writerConn) close() {
	_ = l.Raw(func(any) error { return driver.ErrBadConn }) // makes database/sql close it
	_ = l.Close()
}

// exec runs a statement that the end of ctx interrupts.
func (l *writerConn) exec(ctx context.Context, text string) error {
	stmt, err := l.statement(ctx, text)
	if err == nil {
		_, err = stmt.ExecContext(ctx)
	}
	return err
}

func (l *writerConn) statement(ctx context.Context, text string) (statement, error) {
	if stmt, found := l.statements[text]; found {
		return stmt, nil
	}
	prepared, err := l.PrepareContext(context.WithoutCancel(ctx), text)
	if err != nil {
		return nil, err
	}
	l.statements[text] = prepared
	return prepared, nil
}

func (l *writerConn) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	stmt, err := l.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(context.WithoutCancel(ctx), values...)
}

func (l *writerConn) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	stmt, err := l.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.WithoutCancel(ctx), values...)
}

func (l *writerConn) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	stmt, err := l.statement(ctx, text)
	if err != nil {
		return l.Conn.QueryRowContext(ctx, text, values...) // a sql.Row with the same error can't be built here
	}
	return stmt.QueryRowContext(ctx, values...)
}
