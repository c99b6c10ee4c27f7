package sqldb

import (
	"context"
	"errors"
	"fmt"
	"testing"

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
