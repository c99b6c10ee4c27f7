package sqldb

import (
	"context"
	"database/sql"
	"sync"
)

// SQLite spends more time on parsing a small query than on executing it, so each is
// prepared once per connection. The generated package has a fixed set of queries, and no
// others come here. PostgreSQL's driver caches statements itself.

var (
	_ DBTX = (*preparedPool)(nil)
	_ DBTX = (*writerConn)(nil)
)

// statement is a cached *sql.Stmt. It is never closed: it ends with its connections.
type statement interface {
	ExecContext(ctx context.Context, values ...any) (sql.Result, error)
	QueryContext(ctx context.Context, values ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, values ...any) *sql.Row
}

// preparedPool is a read-only pool that caches its statements.
type preparedPool struct {
	*sql.DB

	// prepareMu is held while a statement is prepared, which may wait for a connection;
	// mu only for access to the map, so that lookups do not wait.
	prepareMu  sync.Mutex
	mu         sync.RWMutex
	statements map[string]statement
}

func (p *preparedPool) lookup(text string) (stmt statement, found bool) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	stmt, found = p.statements[text]
	return stmt, found
}

// statement returns the cached statement or prepares it.
func (p *preparedPool) statement(ctx context.Context, text string) (statement, error) {
	if stmt, found := p.lookup(text); found {
		return stmt, nil
	}
	p.prepareMu.Lock()
	defer p.prepareMu.Unlock()
	if stmt, found := p.lookup(text); found {
		return stmt, nil // prepared while we waited
	}
	prepared, err := p.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.statements[text] = prepared
	return prepared, nil
}

func (p *preparedPool) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	stmt, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, values...)
}

func (p *preparedPool) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	stmt, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, values...)
}

func (p *preparedPool) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	stmt, err := p.statement(ctx, text)
	if err != nil {
		return p.DB.QueryRowContext(ctx, text, values...) // a sql.Row with the same error can't be built here
	}
	return stmt.QueryRowContext(ctx, values...)
}
