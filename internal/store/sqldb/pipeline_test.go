package sqldb

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

func countNotes(t *testing.T, db *DB) (n int) {
	t.Helper()
	if err := db.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM notes").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestWrite_FailedStatementRollsBackAndIsNamed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		t.Helper()
		ctx := t.Context()
		for name, more := range map[string]func(tx DBTX) error{
			"at the commit":  func(DBTX) error { return nil },
			"at a statement": func(tx DBTX) error { return insertNote(ctx, tx, "b", "two") },
			"at a query": func(tx DBTX) error {
				_, err := getNote(ctx, tx, "a")
				return err
			},
		} {
			err := db.Write(ctx, func(tx DBTX) error {
				if err := errors.Join(insertNote(ctx, tx, "a", "one"), insertNote(ctx, tx, "a", "one")); err != nil {
					return err
				}
				return more(tx)
			})
			var cause *registrar.Cause
			if !errors.As(err, &cause) || cause.Operation != "InsertNote" || cause.Class != "constraint" {
				t.Errorf("%s: %v, want a constraint of InsertNote", name, err)
			}
			if n := countNotes(t, db); n != 0 {
				t.Errorf("%s: %d rows stay", name, n)
			}
		}
	})
}

func TestWrite_StatementsKeepTheirOrderBeyondTheQueue(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		t.Helper()
		ctx := t.Context()
		for _, count := range []int{maxQueuedStatements - 2, maxQueuedStatements - 1, maxQueuedStatements, 2*maxQueuedStatements + 1} {
			err := db.Write(ctx, func(tx DBTX) error {
				_, err := tx.ExecContext(ctx, "DELETE FROM notes")
				for i := range count {
					err = errors.Join(err, insertNote(ctx, tx, fmt.Sprint(i), "one"))
				}
				return err
			})
			if n := countNotes(t, db); err != nil || n != count {
				t.Errorf("%d rows of %d are stored: %v", n, count, err)
			}
		}
	})
}

func TestWrite_RowsAffectedAreThoseOfTheStatement(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		t.Helper()
		ctx := t.Context()
		err := db.Write(ctx, func(tx DBTX) error {
			if err := errors.Join(insertNote(ctx, tx, "a", "one"), insertNote(ctx, tx, "b", "one")); err != nil {
				return err
			}
			result, err := tx.ExecContext(ctx, "UPDATE notes SET text = $1", "two")
			if err != nil {
				return err
			}
			if err := insertNote(ctx, tx, "c", "three"); err != nil {
				return err
			}
			if n, err := result.RowsAffected(); n != 2 || err != nil {
				t.Errorf("%d rows, %v, want 2", n, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

var errNoRow = errors.New("no row was affected")

// updateNote must affect a row.
func updateNote(ctx context.Context, tx DBTX, id, text string) error {
	result, err := tx.ExecContext(ctx, "UPDATE notes SET text = $1 WHERE id = $2", text, id)
	return RequireRow(result, err, errNoRow)
}

func TestRequireRow_TransactionFailsWithoutIt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		t.Helper()
		ctx := t.Context()
		for name, more := range map[string]func(tx DBTX) error{
			"at the commit":                  func(DBTX) error { return nil },
			"before a statement that fails":  func(tx DBTX) error { return insertNote(ctx, tx, "a", "two") },
			"before another that lacks rows": func(tx DBTX) error { return updateNote(ctx, tx, "y", "two") },
			"before a query": func(tx DBTX) error {
				_, err := getNote(ctx, tx, "a")
				return err
			},
			"when another result is read": func(tx DBTX) error {
				result, err := tx.ExecContext(ctx, "UPDATE notes SET text = 'two'")
				if err == nil {
					_, err = result.RowsAffected()
				}
				return err
			},
			"beyond the queue": func(tx DBTX) (err error) {
				for i := range 2 * maxQueuedStatements {
					err = errors.Join(err, insertNote(ctx, tx, fmt.Sprint(i), "one"))
				}
				return err
			},
		} {
			err := db.Write(ctx, func(tx DBTX) error {
				if err := insertNote(ctx, tx, "a", "one"); err != nil {
					return err
				}
				if err := updateNote(ctx, tx, "x", "two"); err != nil {
					return err
				}
				return more(tx)
			})
			if !errors.Is(err, errNoRow) {
				t.Errorf("%s: %v", name, err)
			}
			if n := countNotes(t, db); n != 0 {
				t.Errorf("%s: %d rows stay", name, n)
			}
		}
	})
}

func TestRequireRow_AffectedRowIsCommitted(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		t.Helper()
		ctx := t.Context()
		err := db.Write(ctx, func(tx DBTX) error {
			return errors.Join(insertNote(ctx, tx, "a", "one"), updateNote(ctx, tx, "a", "two"))
		})
		if text, _ := getNote(ctx, db.Queries(), "a"); err != nil || text != "two" {
			t.Errorf("%q, %v", text, err)
		}
		err = db.WriteOne(ctx, func(tx DBTX) error { return updateNote(ctx, tx, "b", "two") })
		if !errors.Is(err, errNoRow) {
			t.Errorf("without a transaction: %v", err)
		}
	})
}

func TestWrite_QueriesSeeTheStatementsBefore(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		t.Helper()
		ctx := t.Context()
		err := db.Write(ctx, func(tx DBTX) error {
			if err := errors.Join(insertNote(ctx, tx, "a", "one"), insertNote(ctx, tx, "b", "two")); err != nil {
				return err
			}
			rows, err := tx.QueryContext(ctx, "SELECT id FROM notes ORDER BY id")
			if err != nil {
				return err
			}
			defer rows.Close()
			ids := ""
			for rows.Next() {
				var id string
				if err := rows.Scan(&id); err != nil {
					return err
				}
				ids += id
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil || ids != "ab" {
				t.Errorf("%q, %v", ids, err)
			}
			if err := insertNote(ctx, tx, "c", "three"); err != nil {
				return err
			}
			if _, err := getNote(ctx, tx, "d"); !errors.Is(err, sql.ErrNoRows) {
				t.Errorf("a note that is missing: %v", err)
			}
			return nil
		})
		if n := countNotes(t, db); err != nil || n != 3 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}

// A query that fails is named, and nothing before it stays.
func TestWrite_FailedQueryRollsBack(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		t.Helper()
		ctx := t.Context()
		err := db.Write(ctx, func(tx DBTX) error {
			if err := insertNote(ctx, tx, "a", "one"); err != nil {
				return err
			}
			var id string
			return tx.QueryRowContext(ctx, "-- name: CopyNote :one\nINSERT INTO notes (id, text) SELECT id, text FROM notes RETURNING id").Scan(&id)
		})
		var cause *registrar.Cause
		if !errors.As(err, &cause) || cause.Operation != "CopyNote" || cause.Class != "constraint" {
			t.Errorf("%v, want a constraint of CopyNote", err)
		}
		if n := countNotes(t, db); n != 0 {
			t.Errorf("%d rows stay", n)
		}
	})
}

// The rows are what database/sql's users expect, alone and behind queued statements.
func TestQuery_PostgresTypesAreDecoded(t *testing.T) {
	t.Parallel()
	db := openWithSchema(t, Options{URL: pgtest.Database(t), MaxConnections: 1})
	ctx := t.Context()
	const statement = `SELECT CAST(-7 AS BIGINT), CAST(-7 AS INTEGER), CAST(-7 AS SMALLINT), true, 'ä', CAST(1.5 AS DOUBLE PRECISION), CAST(12.50 AS NUMERIC),
		CAST('\x0001' AS BYTEA), CAST('2026-02-28T12:00:00Z' AS TIMESTAMPTZ), CAST('{"a":1}' AS JSON), CAST(NULL AS TEXT), CAST('a' AS VARCHAR), oid
		FROM pg_class WHERE relname = $1`
	check := func(where string, tx DBTX) error {
		var (
			long, medium, short, number       int64
			yes                               bool
			text, amount, document, character string
			float                             float64
			data                              []byte
			at                                time.Time
			none                              *string
		)
		err := tx.QueryRowContext(ctx, statement, "notes").Scan(
			&long, &medium, &short, &yes, &text, &float, &amount, &data, &at, &document, &none, &character, &number)
		got := fmt.Sprintln(long, medium, short, yes, text, float, amount, hex.EncodeToString(data), at.UTC(), document, none == nil, character, number > 0)
		if want := `-7 -7 -7 true ä 1.5 12.50 0001 2026-02-28 12:00:00 +0000 UTC {"a":1} true a true` + "\n"; err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", where, got, err, want)
		}
		return err
	}
	err := db.Write(ctx, func(tx DBTX) error { return check("behind BEGIN", tx) })
	if err := errors.Join(err, check("alone", db.Queries())); err != nil {
		t.Fatal(err)
	}
}

// What the server does not report of one statement is about the last one sent, not about BEGIN.
func TestWrite_ErrorsNameTheirStatement(t *testing.T) {
	t.Parallel()
	db := openWithSchema(t, Options{URL: pgtest.Database(t), MaxConnections: 1})
	for name, test := range map[string]struct {
		operation string
		change    func(ctx context.Context, tx DBTX) error
	}{
		"a query that can't be prepared": {"Missing", func(ctx context.Context, tx DBTX) error {
			return tx.QueryRowContext(ctx, "-- name: Missing :one\nSELECT nothing FROM notes").Scan(new(string))
		}},
		"a statement before the last one": {"Missing", func(ctx context.Context, tx DBTX) error {
			_, err := tx.ExecContext(ctx, "-- name: Missing :exec\nUPDATE notes SET nothing = 1")
			return errors.Join(err, insertNote(ctx, tx, "a", "one"))
		}},
		"a deadline": {"Slow", func(ctx context.Context, tx DBTX) error {
			return tx.QueryRowContext(ctx, "-- name: Slow :one\nSELECT CAST(pg_sleep(30) AS TEXT)").Scan(new(string))
		}},
		"a failure that the change ignores": {"Divide", func(ctx context.Context, tx DBTX) error {
			if _, err := getNote(ctx, tx, "a"); !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			_ = tx.QueryRowContext(ctx, "-- name: Divide :one\nSELECT 1 / count(*) FROM notes").Scan(new(int))
			return insertNote(ctx, tx, "a", "one")
		}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := db.Write(ctx, func(tx DBTX) error { return test.change(ctx, tx) })
		cancel()
		var cause *registrar.Cause
		if !errors.As(err, &cause) || cause.Operation != test.operation {
			t.Errorf("%s: %v, want one of %s", name, err, test.operation)
		}
	}
}

func TestQuery_ErrorAfterTheFirstRowIsCountedOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		t.Helper()
		counted := 0
		db.CountErrors(func(string) { counted++ })
		statement := "SELECT 1 / (3 - n) FROM generate_series(1, 5) AS n"
		if db.engine == SQLite {
			statement = "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 5) SELECT CASE n WHEN 3 THEN abs(-9223372036854775807 - 1) ELSE n END FROM s"
		}
		rows, err := db.Queries().QueryContext(t.Context(), statement)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		read := 0
		for rows.Next() {
			read++
		}
		if failed := errors.Join(rows.Err(), rows.Close()); failed == nil || read != 2 || counted != 1 {
			t.Errorf("%d rows, counted %d, %v", read, counted, failed)
		}
	})
}

func TestWrite_ValuesMayBeReused(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		t.Helper()
		err := db.Write(t.Context(), func(tx DBTX) error {
			values := []any{"a", "one"}
			_, err := tx.ExecContext(t.Context(), insertNoteSQL, values...)
			values[0] = "b"
			_, again := tx.ExecContext(t.Context(), insertNoteSQL, values...)
			return errors.Join(err, again)
		})
		if n := countNotes(t, db); err != nil || n != 2 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}

func TestWrite_PanicAndCanceledCallerRollBack(t *testing.T) {
	t.Parallel()
	db := openWithSchema(t, Options{URL: pgtest.Database(t), MaxConnections: 1})
	func() {
		defer func() { _ = recover() }()
		_ = db.Write(t.Context(), func(tx DBTX) error {
			if _, err := getNote(t.Context(), tx, "a"); err == nil {
				t.Error("there is a note")
			}
			_ = insertNote(t.Context(), tx, "a", "one")
			panic("oops")
		})
	}()
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Write(ctx, func(tx DBTX) error {
		cancel()
		return insertNote(ctx, tx, "a", "one")
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if n := countNotes(t, db); n != 0 {
		t.Errorf("%d rows stay", n)
	}
	if err := db.WriteOne(t.Context(), func(tx DBTX) error { return insertNote(t.Context(), tx, "a", "one") }); err != nil {
		t.Error(err)
	}
}
