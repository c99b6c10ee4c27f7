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
type writerConn struct{ *sql.Conn }

var _ DBTX = writerConn{}

// close closes the underlying connection instead of returning it to the pool, where its
// open transaction would survive.
func (l writerConn) close() {
	_ = l.Raw(func(any) error { return driver.ErrBadConn }) // makes database/sql close it
	_ = l.Close()
}

// exec runs a statement that the end of ctx interrupts.
func (l writerConn) exec(ctx context.Context, text string) error {
	_, err := l.Conn.ExecContext(ctx, text)
	return err
}

func (l writerConn) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	return l.Conn.ExecContext(context.WithoutCancel(ctx), text, values...)
}

func (l writerConn) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	return l.Conn.QueryContext(context.WithoutCancel(ctx), text, values...)
}

func (l writerConn) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	return l.Conn.QueryRowContext(context.WithoutCancel(ctx), text, values...)
}
