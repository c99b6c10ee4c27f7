package sqldb

import "testing"

func TestStatements_CountQueriesAndCommitsNotTransactionControl(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		t.Helper()
		ctx := t.Context()
		statements, commits := db.Statements(), db.Commits()
		if err := db.Write(ctx, func(tx DBTX) error {
			if err := insertNote(ctx, tx, "a", "one"); err != nil {
				return err
			}
			return insertNote(ctx, tx, "b", "two")
		}); err != nil {
			t.Fatal(err)
		}
		if err := db.WriteOne(ctx, func(tx DBTX) error { return insertNote(ctx, tx, "c", "three") }); err != nil {
			t.Fatal(err)
		}
		if _, err := getNote(ctx, db.Queries(), "a"); err != nil {
			t.Fatal(err)
		}
		if statements, commits = db.Statements()-statements, db.Commits()-commits; statements != 4 || commits != 2 {
			t.Errorf("three inserts in two transactions and a read are %d statements and %d commits, want 4 and 2", statements, commits)
		}
	})
}
