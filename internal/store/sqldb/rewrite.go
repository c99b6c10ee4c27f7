package sqldb

import (
	"context"
	"database/sql"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// PostgreSQL reuses the generic plan of a prepared statement unless a plan for the actual
// values looks cheaper. With a parameter as LIMIT it always does, because the generic plan
// assumes a tenth of the table, so such statements are planned at every call, which takes
// longer the larger the table is. SQLite plans with the value of the limit too, so it
// parses such a statement again after each call. Limits are a few constants of the
// program, so they become part of the text.

// limitInliner rewrites statements. It caches one entry per query of the
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

// rewritingDB is a pool or transaction that inlines limits. For reading from PostgreSQL, it
// also replaces unstorable text.
type rewritingDB struct {
	DBTX
	inliner *limitInliner
	reading bool
}

func (r rewritingDB) rewrite(text string, values []any) (string, []any) {
	if r.reading {
		replaceUnstorable(values)
	}
	return r.inliner.inline(text, values)
}

func (r rewritingDB) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	text, values = r.rewrite(text, values)
	return r.DBTX.ExecContext(ctx, text, values...)
}

func (r rewritingDB) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	text, values = r.rewrite(text, values)
	return r.DBTX.QueryContext(ctx, text, values...)
}

func (r rewritingDB) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	text, values = r.rewrite(text, values)
	return r.DBTX.QueryRowContext(ctx, text, values...)
}

// IsUnstorable reports whether PostgreSQL rejects a text, where SQLite finds nothing. Such
// text comes from outside, as an id in a path for example. Reading by an id needs no check,
// but a change does, and the key that a page starts after.
func IsUnstorable(text string) bool { return !utf8.ValidString(text) || strings.ContainsRune(text, 0) }

// replaceUnstorable puts U+FFFD, which no id contains, into text from outside: a query then
// finds nothing instead of failing.
func replaceUnstorable(values []any) {
	for i, value := range values {
		if text, ok := value.(string); ok && IsUnstorable(text) {
			values[i] = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
		}
	}
}
