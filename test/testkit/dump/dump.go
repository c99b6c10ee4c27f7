// Package dump shows the content of a stolen database.
package dump

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/dotkontor/dotkontor/internal/store"
)

// Database returns every row of every table as text.
func Database(t testing.TB, options store.Options) string {
	t.Helper()
	driver, address := "pgx", options.URL
	tables := "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
	if options.URL == "" {
		driver, address = "sqlite", "file:"+filepath.Join(options.Data, "dotkontor.db")+"?mode=ro"
		tables = "SELECT name FROM sqlite_master WHERE type = 'table'"
	}
	pool, err := sql.Open(driver, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }() // only read
	var text strings.Builder
	for _, table := range rows(t, pool, tables) {
		for _, row := range rows(t, pool, `SELECT * FROM "`+table+`"`) {
			fmt.Fprintln(&text, table, row)
		}
	}
	if text.Len() == 0 {
		t.Fatal("the database is empty, so nothing was checked")
	}
	return text.String()
}

// rows returns each row as one line of text.
func rows(t testing.TB, pool *sql.DB, query string) (lines []string) {
	t.Helper()
	found, err := pool.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for found.Next() {
		cells, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := found.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, cell := range cells {
			if raw, ok := cell.([]byte); ok {
				cells[i] = string(raw)
			}
		}
		lines = append(lines, strings.TrimSuffix(fmt.Sprintln(cells...), "\n"))
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}
