package sqldb

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"sync"
)

// PostgreSQL reuses the generic plan of a prepared statement unless a plan for the actual
// values looks cheaper. With a parameter as LIMIT it always does, because the generic plan
// assumes a tenth of the table, so such statements are planned at every call, which takes
// longer the larger the table is. Limits are a few constants of the program, so they
// become part of the text.

// limitInliner rewrites statements for PostgreSQL. It caches one entry per query of the
// generated package; no other statements come here.
type limitInliner struct {
	mu     sync.RWMutex
	splits map[string]limitSplit
}

// limitSplit is a statement split at its limit; ok is false if the last parameter is not
// the limit.
type limitSplit struct {
	before, after string
	ok            bool
}

func newLimitInliner() *limitInliner { return &limitInliner{splits: make(map[string]limitSplit)} }

// inline returns the statement with its last parameter inlined, if that is its limit.
func (l *limitInliner) inline(text string, values []any) (string, []any) {
	if len(values) == 0 {
		return text, values
	}
	limit, whole := values[len(values)-1].(int32) // the type that sqlc gives limits
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

// splitAtLimit splits the statement if the parameter is used as its limit and nowhere else.
func splitAtLimit(text string, parameter int) limitSplit {
	dollar := "$" + strconv.Itoa(parameter)
	before, after, found := strings.Cut(text, "LIMIT "+dollar)
	if !found || strings.Contains(before, dollar) || strings.Contains(after, dollar) ||
		after != "" && after[0] >= '0' && after[0] <= '9' { // the first digit of a longer number
		return limitSplit{}
	}
	return limitSplit{before: before + "LIMIT ", after: after, ok: true}
}

// limitInliningDB is a PostgreSQL pool or transaction that inlines limits.
type limitInliningDB struct {
	DBTX
	inliner *limitInliner
}

func (s limitInliningDB) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	text, values = s.inliner.inline(text, values)
	return s.DBTX.ExecContext(ctx, text, values...)
}

func (s limitInliningDB) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	text, values = s.inliner.inline(text, values)
	return s.DBTX.QueryContext(ctx, text, values...)
}

func (s limitInliningDB) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	text, values = s.inliner.inline(text, values)
	return s.DBTX.QueryRowContext(ctx, text, values...)
}
