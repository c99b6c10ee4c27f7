package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"sync"

	"github.com/dotkontor/dotkontor/internal/store/query"
)

// SQLite spends more time on understanding a small query than on answering it. So
// each is understood once for each connection. There are as many as the generated
// package has, and no others come here. PostgreSQL's driver does the same by itself.

var (
	_ query.DBTX = (*preparedPool)(nil)
	_ query.DBTX = (*writerConn)(nil)
)

// statement is one that was understood and is kept: a *sql.Stmt that nobody closes,
// because it ends with its connections.
type statement interface {
	ExecContext(ctx context.Context, values ...any) (sql.Result, error)
	QueryContext(ctx context.Context, values ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, values ...any) *sql.Row
}

// preparedPool is a pool that reads.
type preparedPool struct {
	pool *sql.DB

	// prepareMu is held while a statement is made, which may wait for a connection; mu
	// for the moment of a look, so that nobody else waits with it.
	prepareMu  sync.Mutex
	mu         sync.RWMutex
	statements map[string]statement
}

func newPreparedPool(pool *sql.DB) *preparedPool {
	return &preparedPool{pool: pool, statements: make(map[string]statement)}
}

func (p *preparedPool) lookup(text string) (stmt statement, found bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	stmt, found = p.statements[text]
	return stmt, found
}

// statement is made once.
func (p *preparedPool) statement(ctx context.Context, text string) (statement, error) {
	if stmt, found := p.lookup(text); found {
		return stmt, nil
	}
	p.prepareMu.Lock()
	defer p.prepareMu.Unlock()
	if stmt, found := p.lookup(text); found {
		return stmt, nil // somebody was faster
	}
	fresh, err := p.pool.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.statements[text] = fresh
	return fresh, nil
}

// PrepareContext is for those who close it themselves.
func (p *preparedPool) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	return p.pool.PrepareContext(ctx, text)
}

// ExecContext runs a statement.
func (p *preparedPool) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	stmt, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, values...)
}

// QueryContext asks for rows.
func (p *preparedPool) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	stmt, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, values...)
}

// QueryRowContext asks for one row.
func (p *preparedPool) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	stmt, err := p.statement(ctx, text)
	if err != nil {
		return p.pool.QueryRowContext(ctx, text, values...) // which fails in the same way, and can say so
	}
	return stmt.QueryRowContext(ctx, values...)
}

// writerConn is the connection that writes. One uses it at a time.
//
// Statements run to their end, whatever becomes of their caller: SQLite gives the
// whole transaction up if one that writes is interrupted, and it is not only the
// caller's (shared.go). They are short.
type writerConn struct {
	conn       *sql.Conn
	statements map[string]statement
}

func openWriterConn(ctx context.Context, pool *sql.DB) (*writerConn, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &writerConn{conn: conn, statements: make(map[string]statement)}, nil
}

// close ends the connection itself: in the pool it would keep what is open on it.
func (l *writerConn) close() {
	_ = l.conn.Raw(func(any) error { return driver.ErrBadConn }) // the answer is what ends it
	_ = l.conn.Close()
}

// exec runs a statement that can be interrupted.
func (l *writerConn) exec(ctx context.Context, text string) error {
	kept, err := l.statement(ctx, text)
	if err == nil {
		_, err = kept.ExecContext(ctx)
	}
	return err
}

func (l *writerConn) statement(ctx context.Context, text string) (statement, error) {
	if stmt, found := l.statements[text]; found {
		return stmt, nil
	}
	fresh, err := l.conn.PrepareContext(context.WithoutCancel(ctx), text)
	if err != nil {
		return nil, err
	}
	l.statements[text] = fresh
	return fresh, nil
}

// PrepareContext is for those who close it themselves.
func (l *writerConn) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	return l.conn.PrepareContext(context.WithoutCancel(ctx), text)
}

// ExecContext runs a statement.
func (l *writerConn) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	stmt, err := l.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(context.WithoutCancel(ctx), values...)
}

// QueryContext asks for rows.
func (l *writerConn) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	stmt, err := l.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.WithoutCancel(ctx), values...)
}

// QueryRowContext asks for one row.
func (l *writerConn) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	stmt, err := l.statement(ctx, text)
	if err != nil {
		return l.conn.QueryRowContext(ctx, text, values...) // which fails in the same way, and can say so
	}
	return stmt.QueryRowContext(ctx, values...)
}
