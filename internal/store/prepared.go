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

// statement is one that was understood and is kept: a *sql.Stmt that nobody closes,
// because it ends with its connections.
type statement interface {
	ExecContext(ctx context.Context, values ...any) (sql.Result, error)
	QueryContext(ctx context.Context, values ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, values ...any) *sql.Row
}

// prepared is a pool that reads.
type prepared struct {
	pool *sql.DB

	// making is held while a statement is made, which may wait for a connection; mu
	// for the moment of a look, so that nobody else waits with it.
	making sync.Mutex
	mu     sync.RWMutex
	known  map[string]statement
}

func newPrepared(pool *sql.DB) *prepared {
	return &prepared{pool: pool, known: make(map[string]statement)}
}

func (p *prepared) look(text string) (kept statement, found bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	kept, found = p.known[text]
	return kept, found
}

// statement is made once.
func (p *prepared) statement(ctx context.Context, text string) (statement, error) {
	if kept, found := p.look(text); found {
		return kept, nil
	}
	p.making.Lock()
	defer p.making.Unlock()
	if kept, found := p.look(text); found {
		return kept, nil // somebody was faster
	}
	fresh, err := p.pool.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[text] = fresh
	return fresh, nil
}

// PrepareContext is for those who close it themselves.
func (p *prepared) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	return p.pool.PrepareContext(ctx, text)
}

// ExecContext runs a statement.
func (p *prepared) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	kept, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return kept.ExecContext(ctx, values...)
}

// QueryContext asks for rows.
func (p *prepared) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	kept, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return kept.QueryContext(ctx, values...)
}

// QueryRowContext asks for one row.
func (p *prepared) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	kept, err := p.statement(ctx, text)
	if err != nil {
		return p.pool.QueryRowContext(ctx, text, values...) // which fails in the same way, and can say so
	}
	return kept.QueryRowContext(ctx, values...)
}

// lane is the connection that writes. One uses it at a time.
//
// Statements run to their end, whatever becomes of their caller: SQLite gives the
// whole transaction up if one that writes is interrupted, and it is not only the
// caller's (shared.go). They are short.
type lane struct {
	conn  *sql.Conn
	known map[string]statement
}

func openLane(ctx context.Context, pool *sql.DB) (*lane, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &lane{conn: conn, known: make(map[string]statement)}, nil
}

// close ends the connection itself: in the pool it would keep what is open on it.
func (l *lane) close() {
	_ = l.conn.Raw(func(any) error { return driver.ErrBadConn }) // the answer is what ends it
	_ = l.conn.Close()
}

// do runs a statement that can be interrupted.
func (l *lane) do(ctx context.Context, text string) error {
	kept, err := l.statement(ctx, text)
	if err == nil {
		_, err = kept.ExecContext(ctx)
	}
	return err
}

func (l *lane) statement(ctx context.Context, text string) (statement, error) {
	if kept, found := l.known[text]; found {
		return kept, nil
	}
	fresh, err := l.conn.PrepareContext(context.WithoutCancel(ctx), text)
	if err != nil {
		return nil, err
	}
	l.known[text] = fresh
	return fresh, nil
}

// PrepareContext is for those who close it themselves.
func (l *lane) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	return l.conn.PrepareContext(context.WithoutCancel(ctx), text)
}

// ExecContext runs a statement.
func (l *lane) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	kept, err := l.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return kept.ExecContext(context.WithoutCancel(ctx), values...)
}

// QueryContext asks for rows.
func (l *lane) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	kept, err := l.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return kept.QueryContext(context.WithoutCancel(ctx), values...)
}

// QueryRowContext asks for one row.
func (l *lane) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	ctx = context.WithoutCancel(ctx)
	kept, err := l.statement(ctx, text)
	if err != nil {
		return l.conn.QueryRowContext(ctx, text, values...) // which fails in the same way, and can say so
	}
	return kept.QueryRowContext(ctx, values...)
}
