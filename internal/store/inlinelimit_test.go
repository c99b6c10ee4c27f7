package store

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
		for range 2 { // the second time it is remembered
			if text, rest := l.inline(test.text, test.values); text != test.want || !slices.Equal(rest, test.values[:test.rest]) {
				t.Errorf("%s: %q with %v, want %q", name, text, rest, test.want)
			}
		}
	}
}

// What a server that is set up for a language would answer otherwise: there
// punctuation hardly counts, and capitals stand beside small letters.
func TestCollation_TextComparesByBytes(t *testing.T) {
	t.Parallel()
	eachOptions(t, func(t *testing.T, place Options) {
		db := openAt(t, place)
		if db.engine == postgres { // as a version before this one has left it
			if _, err := db.writer.ExecContext(t.Context(), `ALTER TABLE customers ALTER COLUMN id TYPE TEXT COLLATE "de-x-icu"`); err != nil {
				t.Fatal(err)
			}
			db = openAt(t, place)
			var others int
			err := db.reader.QueryRowContext(t.Context(), `SELECT count(*) FROM information_schema.columns
				WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`).Scan(&others)
			if err != nil || others != 0 {
				t.Errorf("%d columns are compared otherwise: %v", others, err)
			}
		}
		for _, id := range []string{"cus_b", "cus_B", "cus_-a", "cus_a"} {
			if _, err := db.writer.ExecContext(t.Context(), "INSERT INTO customers (id, email, email_key, user_handle, language, created_at) VALUES ($1, $1, $1, $1, 'de', 1)", id); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := db.reader.QueryContext(t.Context(), "SELECT id FROM customers ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var got []string
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			got = append(got, id)
		}
		if want := []string{"cus_-a", "cus_B", "cus_a", "cus_b"}; rows.Err() != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v; want %v", got, rows.Err(), want)
		}
	})
}
