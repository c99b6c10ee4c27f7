package store

import (
	"context"
	"database/sql"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// queryTexts are the texts of all generated queries, by name.
func queryTexts(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("query/*.sql.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no generated queries, %v", err)
	}
	queries := make(map[string]string)
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			constants, ok := declaration.(*ast.GenDecl)
			if !ok || constants.Tok != token.CONST {
				continue
			}
			for _, spec := range constants.Specs {
				value, ok := spec.(*ast.ValueSpec)
				if !ok || len(value.Values) != 1 {
					t.Fatalf("%s has a constant that is no query", file)
				}
				literal, ok := value.Values[0].(*ast.BasicLit)
				if !ok {
					t.Fatalf("%s: %s is no text", file, value.Names[0])
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				queries[value.Names[0].Name] = text
			}
		}
	}
	return queries
}

var parameter = regexp.MustCompile(`\$(\d+)`)

// parameters is how many a query has.
func parameters(text string) int {
	most := 0
	for _, found := range parameter.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(found[1])
		most = max(most, n)
	}
	return most
}

// wholeTable finds a step of a plan that reads a whole table or a whole index:
// its cost grows with everybody's rows.
var wholeTable = map[engine]*regexp.Regexp{
	sqlite: regexp.MustCompile(`^SCAN `),
	// An index without a condition is read from its beginning to its end.
	postgres: regexp.MustCompile(`Seq Scan`),
}

// bounded are scans that read a few rows whatever the table's size: those that
// stop at a LIMIT, in the order of an index.
var orderedByIndex = regexp.MustCompile(`^SCAN \w+ USING (COVERING )?INDEX `)

func TestEveryQueryFindsItsRowsByAnIndex(t *testing.T) {
	t.Parallel()
	queries := queryTexts(t)
	eachEngine(t, func(t *testing.T, db *DB) {
		for name, text := range queries {
			plan := planOf(t, db, name, text)
			limited := regexp.MustCompile(`(?i)\bLIMIT\b`).MatchString(text)
			for _, step := range plan {
				if limited && orderedByIndex.MatchString(step) {
					continue
				}
				if wholeTable[db.engine].MatchString(step) {
					t.Errorf("%s reads a whole table:\n%s\n%s", name, text, strings.Join(plan, "\n"))
					break
				}
			}
		}
	})
}

// A test that can't fail proves nothing.
func TestAQueryWithoutAnIndexIsNoticed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		for _, text := range []string{
			"SELECT id FROM tokens WHERE name = $1",
			"UPDATE tokens SET name = $1 WHERE last_used_at = $2",
			"DELETE FROM tokens WHERE id IN (SELECT id FROM tokens WHERE name = $1 LIMIT 5)",
			"SELECT t.id FROM tokens t JOIN customers c ON c.language = t.name WHERE t.id = $1",
		} {
			found := false
			for _, step := range planOf(t, db, "bad", text) {
				found = found || wholeTable[db.engine].MatchString(step)
			}
			if !found {
				t.Errorf("not noticed: %s", text)
			}
		}
	})
}

// planOf asks how a query would be run, whatever its parameters are.
func planOf(t *testing.T, db *DB, name, text string) []string {
	t.Helper()
	connection, err := db.writer.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if db.engine == sqlite {
		return sqlitePlan(t.Context(), t, connection, name, text)
	}
	return postgresPlan(t.Context(), t, connection, name, text)
}

func sqlitePlan(ctx context.Context, t *testing.T, connection *sql.Conn, name, text string) []string {
	t.Helper()
	rows, err := connection.QueryContext(ctx, "EXPLAIN QUERY PLAN "+text, make([]any, parameters(text))...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan
}

// postgresPlan asks for the plan that serves all values of the parameters.
// Tables are empty in a test, and those are best read as a whole; so that is
// made dear, and happens only where there is no other way.
func postgresPlan(ctx context.Context, t *testing.T, connection *sql.Conn, name, text string) []string {
	t.Helper()
	for _, setting := range []string{
		"SET enable_seqscan = off", "SET plan_cache_mode = force_generic_plan", "PREPARE planned AS " + text,
	} {
		if _, err := connection.ExecContext(ctx, setting); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	defer func() {
		if _, err := connection.ExecContext(ctx, "DEALLOCATE planned"); err != nil {
			t.Error(err)
		}
	}()
	execute := "EXPLAIN EXECUTE planned"
	if n := parameters(text); n > 0 {
		execute += "(" + strings.TrimSuffix(strings.Repeat("NULL, ", n), ", ") + ")"
	}
	rows, err := connection.QueryContext(ctx, execute)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var step string
		if err := rows.Scan(&step); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(plan) == 0 {
		t.Fatal(fmt.Sprintf("%s has no plan", name))
	}
	return plan
}
