package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/store"
)

// A query with unknown parameters stops the bench, and so does one that finds no
// generated row; this test detects both earlier.
func TestStatements_EveryQueryCanBeTimed(t *testing.T) {
	t.Parallel()
	statements, err := readStatements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	g, err := newSizedDB(t.Context(), onSQLite, store.Options{Data: t.TempDir()}, 300, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	const rows = 300
	for _, s := range statements {
		times, found, err := s.durations(t.Context(), g, rows, g.activeRowsInTurn())
		if err != nil || len(times) == 0 { // a slow machine gets through fewer runs
			t.Errorf("%s: %d times, %v", s.name, len(times), err)
		}
		if found < int64(len(times))*9/10 && !slices.Contains(emptyResultQueries, s.name) {
			t.Errorf("%s finds only %d rows in %d times: see columnsByName, or emptyResultQueries", s.name, found, len(times))
		}
	}
	for _, name := range emptyResultQueries {
		if !slices.ContainsFunc(statements, func(s statement) bool { return s.name == name }) {
			t.Errorf("there is no query %s any more", name)
		}
	}
}

func TestFill_RowsMatchFormulas(t *testing.T) {
	t.Parallel()
	g, err := newSizedDB(t.Context(), onSQLite, store.Options{Data: t.TempDir()}, 20, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	defer g.close()
	for table, columns := range g.tables {
		for _, c := range columns {
			var found int
			err := g.reader.QueryRowContext(context.Background(),
				"SELECT COUNT(*) FROM "+table+" WHERE "+c.name+" = $1", c.value(17)).Scan(&found)
			if err != nil || found == 0 {
				t.Errorf("%s.%s of row 17 should be %v: %d, %v", table, c.name, c.value(17), found, err)
			}
		}
	}
}

func TestReadStatement_FindsParameterColumns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SELECT a FROM t WHERE b = $1 AND c > $2 LIMIT $3":                      "t.b= t.c> fixed",
		"INSERT INTO t (a, b) VALUES ($2, $1)":                                  "t.b= t.a=",
		"UPDATE t SET a = $2 WHERE b = $1 AND a < $2":                           "t.b= t.a<",
		"DELETE FROM t WHERE $1 > a":                                            "t.a<",
		"SELECT x.a FROM t AS x JOIN u ON u.id = x.u_id WHERE u.hash = $1":      "u.hash=",
		"SELECT t.a FROM t JOIN u ON u.t_id = t.id WHERE t.b = $1 AND u.c = $2": "t.b= u.c=",
		"UPDATE t SET n = n + $1 WHERE id = $2":                                 "t.n= t.id=",
		"DELETE FROM t WHERE a = $1 AND b <> $2 AND NOT (a <> $1 OR b = 3)":     "t.a= t.b<>",
	} {
		s, err := readStatement("-- name: X :exec\n" + text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, p := range s.parameters {
			if p.column == "" {
				got = append(got, "fixed")
				continue
			}
			got = append(got, p.table+"."+p.column+p.operator)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: read as %q, want %q", text, got, want)
		}
	}
	if s, err := readStatement("-- name: X :one\nSELECT a FROM t WHERE f($1)"); err == nil {
		t.Errorf("an ambiguous query is parsed as %+v", s)
	}
}

func TestSatisfying_ValueFitsComparison(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value    any
		operator string
		want     any
	}{
		{int64(5), "=", int64(5)},
		{int64(5), ">", int64(4)},
		{int64(5), "<=", int64(6)},
		{"abc", "<", "abc~"},
		{"abc", ">", "ab"},
		{"abc", "<>", "abc~"},
		{"abc", "=", "abc"},
	} {
		if got := satisfying(test.value, test.operator); got != test.want {
			t.Errorf("%v %s: %v, want %v", test.value, test.operator, got, test.want)
		}
	}
}

func TestGrowthMeasurements_NameWorstQuery(t *testing.T) {
	t.Parallel()
	b := bench{settings: settings{rows: million}, progress: func(string, ...any) {}}
	lines := growthMeasurements(b, onSQLite, []growth{
		{name: "Quick", active: factor{10, 11}, random: factor{10, 20}}, {name: "Slow", active: factor{10, 16}, random: factor{10, 14}},
	})
	if len(lines) != 6 || lines[0].OK || lines[0].Measured != 1.6 || !strings.HasPrefix(lines[0].Note, "Slow") {
		t.Errorf("got %+v", lines)
	}
	if len(lines) == 6 && (lines[3].Measured != 2 || !strings.HasPrefix(lines[3].Note, "Quick") || lines[5].Measured != 1) {
		t.Errorf("got %+v", lines[3:])
	}
}
