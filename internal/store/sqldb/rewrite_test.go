package sqldb

import (
	"slices"
	"testing"
)

func TestInlineLimit_RewritesOnlyTheLimit(t *testing.T) {
	t.Parallel()
	l := newLimitInliner()
	for name, test := range map[string]struct {
		text   string
		values []any
		want   string
		rest   int
	}{
		"at the end":        {"SELECT a FROM t WHERE b > $1 LIMIT $2", []any{"x", int32(7)}, "SELECT a FROM t WHERE b > $1 LIMIT 7", 1},
		"inside":            {"DELETE FROM t WHERE a IN (SELECT a FROM t WHERE b < $1 LIMIT $2)", []any{"x", int32(7)}, "DELETE FROM t WHERE a IN (SELECT a FROM t WHERE b < $1 LIMIT 7)", 1},
		"another parameter": {"SELECT a FROM t WHERE b = $1", []any{int32(7)}, "SELECT a FROM t WHERE b = $1", 1},
		"used twice":        {"SELECT a FROM t WHERE b = $1 LIMIT $1", []any{int32(7)}, "SELECT a FROM t WHERE b = $1 LIMIT $1", 1},
		"not the last":      {"SELECT a FROM t LIMIT $1 OFFSET $2", []any{int32(7), int32(8)}, "SELECT a FROM t LIMIT $1 OFFSET $2", 2},
		"negative":          {"SELECT a FROM t LIMIT $1", []any{int32(-7)}, "SELECT a FROM t LIMIT $1", 1},
		"no number":         {"SELECT a FROM t LIMIT $1", []any{"7; DROP"}, "SELECT a FROM t LIMIT $1", 1},
		"a longer number":   {"SELECT a FROM t LIMIT $12", []any{int32(7)}, "SELECT a FROM t LIMIT $12", 1},
	} {
		for range 2 { // the second time from the cache
			if text, rest := l.inline(test.text, test.values); text != test.want || !slices.Equal(rest, test.values[:test.rest]) {
				t.Errorf("%s: %q with %v, want %q", name, text, rest, test.want)
			}
		}
	}
}
