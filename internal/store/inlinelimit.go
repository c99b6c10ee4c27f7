package store

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"sync"

	"github.com/dotkontor/dotkontor/internal/store/query"
)

// PostgreSQL keeps the plan of a statement unless planning for the very values
// promises a cheaper one, and a LIMIT that it does not know always promises that:
// it takes an unknown one for a tenth of the table. So such statements were planned
// anew at each call, the longer the larger the table. Limits are a few constants of
// ours; here they become part of the text.

// limitInliner spells statements for PostgreSQL. It knows as many as the generated package
// has: no others come here.
type limitInliner struct {
	mu     sync.RWMutex
	splits map[string]limitSplit
}

// limitSplit is a statement around its limit; ok is false for one whose last
// parameter is something else.
type limitSplit struct {
	before, after string
	ok            bool
}

func newLimitInliner() *limitInliner { return &limitInliner{splits: make(map[string]limitSplit)} }

// inline returns the statement without its last parameter, if that is its limit.
func (l *limitInliner) inline(text string, values []any) (string, []any) {
	if len(values) == 0 {
		return text, values
	}
	limit, whole := values[len(values)-1].(int32) // as sqlc has limits
	if !whole || limit < 0 {
		return text, values
	}
	l.mu.RLock()
	parts, found := l.splits[text]
	l.mu.RUnlock()
	if !found {
		parts = splitAtLimit(text, len(values))
		l.mu.Lock()
		l.splits[text] = parts
		l.mu.Unlock()
	}
	if !parts.ok {
		return text, values
	}
	return parts.before + strconv.Itoa(int(limit)) + parts.after, values[:len(values)-1]
}

// splitAtLimit cuts the parameter out if it is the limit, and that alone.
func splitAtLimit(text string, parameter int) limitSplit {
	dollar := "$" + strconv.Itoa(parameter)
	before, after, found := strings.Cut(text, "LIMIT "+dollar)
	if !found || strings.Contains(before, dollar) || strings.Contains(after, dollar) ||
		after != "" && after[0] >= '0' && after[0] <= '9' { // the beginning of another number
		return limitSplit{}
	}
	return limitSplit{before: before + "LIMIT ", after: after, ok: true}
}

// limitInliningDB is a pool or a transaction of PostgreSQL whose statements are spelled.
type limitInliningDB struct {
	query.DBTX
	inliner *limitInliner
}

// ExecContext runs a statement.
func (s limitInliningDB) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	text, values = s.inliner.inline(text, values)
	return s.DBTX.ExecContext(ctx, text, values...)
}

// QueryContext asks for rows.
func (s limitInliningDB) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	text, values = s.inliner.inline(text, values)
	return s.DBTX.QueryContext(ctx, text, values...)
}

// QueryRowContext asks for one row.
func (s limitInliningDB) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	text, values = s.inliner.inline(text, values)
	return s.DBTX.QueryRowContext(ctx, text, values...)
}
