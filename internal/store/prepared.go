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
	_ query.DBTX = (*prepared)(nil)
	_ query.DBTX = (*lane)(nil)
)

// prepared is a pool that reads.
type prepared struct {
	pool *sql.DB

	mu    sync.RWMutex
	known map[string]*sql.Stmt
}

func newPrepared(pool *sql.DB) *prepared {
	return &prepared{pool: pool, known: make(map[string]*sql.Stmt)}
}

// PrepareContext is a statement that is kept. Nobody closes it.
func (p *prepared) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	p.mu.RLock()
	statement := p.known[text]
	p.mu.RUnlock()
	if statement != nil {
		return statement, nil
	}
	fresh, err := p.pool.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if statement = p.known[text]; statement != nil {
		return statement, fresh.Close() // somebody was faster
	}
	p.known[text] = fresh
	return fresh, nil
}

// ExecContext runs a statement.
func (p *prepared) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	statement, err := p.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, values...)
}

// QueryContext asks for rows.
func (p *prepared) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	statement, err := p.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, values...)
}

// QueryRowContext asks for one row.
func (p *prepared) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	statement, err := p.PrepareContext(ctx, text)
	if err != nil {
		return p.pool.QueryRowContext(ctx, text, values...) // which fails in the same way, and can say so
	}
	return statement.QueryRowContext(ctx, values...)
}

// lane is the connection that writes. One uses it at a time.
//
// Statements run to their end, whatever becomes of their caller: SQLite gives the
// whole transaction up if one that writes is interrupted, and it is not only the
// caller's (shared.go). They are short.
type lane struct {
	conn  *sql.Conn
	known map[string]*sql.Stmt
}

func openLane(ctx context.Context, pool *sql.DB) (*lane, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &lane{conn: conn, known: make(map[string]*sql.Stmt)}, nil
}

// close ends the connection itself: in the pool it would keep what is open on it.
func (l *lane) close() {
	for _, statement := range l.known {
		_ = statement.Close() // the connection ends with all that it has
	}
	_ = l.conn.Raw(func(any) error { return driver.ErrBadConn }) // the answer is what ends it
	_ = l.conn.Close()
}

// exec runs a statement that can be interrupted.
func (l *lane) exec(ctx context.Context, text string) (sql.Result, error) {
	statement, err := l.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx)
}

// PrepareContext is a statement that is kept. Nobody closes it.
func (l *lane) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	if statement := l.known[text]; statement != nil {
		return statement, nil
	}
	statement, err := l.conn.PrepareContext(context.WithoutCancel(ctx), text)
	if err == nil {
		l.known[text] = statement
	}
	return statement, err
}

// ExecContext runs a statement.
func (l *lane) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	statement, err := l.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(context.WithoutCancel(ctx), values...)
}

// QueryContext asks for rows.
func (l *lane) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	statement, err := l.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(context.WithoutCancel(ctx), values...)
}

// QueryRowContext asks for one row.
func (l *lane) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	statement, err := l.PrepareContext(ctx, text)
	if err != nil {
		return l.conn.QueryRowContext(ctx, text, values...) // which fails in the same way, and can say so
	}
	return statement.QueryRowContext(ctx, values...)
}
