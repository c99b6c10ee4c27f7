package sqldb

import (
	"context"
	"database/sql"
	"strings"
	"unicode/utf8"
)

// PostgreSQL rejects text with a zero byte or invalid UTF-8, where SQLite finds nothing.
// Such text comes from outside, as an id in a path for example.

// IsUnstorable reports whether PostgreSQL rejects a text. Reading by an id needs no check,
// but a change does, and the key that a page starts after.
func IsUnstorable(text string) bool { return !utf8.ValidString(text) || strings.ContainsRune(text, 0) }

// findingDB is a PostgreSQL pool for reading. It replaces what is unstorable by U+FFFD,
// which no id contains, so that a query finds nothing instead of failing.
type findingDB struct{ limitInliningDB }

func (f findingDB) QueryContext(ctx context.Context, text string, values ...any) (*sql.Rows, error) {
	return f.limitInliningDB.QueryContext(ctx, text, storable(values)...)
}

func (f findingDB) QueryRowContext(ctx context.Context, text string, values ...any) *sql.Row {
	return f.limitInliningDB.QueryRowContext(ctx, text, storable(values)...)
}

func storable(values []any) []any {
	for i, value := range values {
		if text, ok := value.(string); ok && IsUnstorable(text) {
			values[i] = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
		}
	}
	return values
}
