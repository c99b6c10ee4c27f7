package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

func TestOpen_SecondTimeKeepsSchemaAndRows(t *testing.T) {
	t.Parallel()
	eachOptions(t, func(t *testing.T, place Options) {
		first := openAt(t, place)
		newCustomer(t, first, "anna")
		second := openAt(t, place)
		if got := count(t, second, "SELECT count(*) FROM customers"); got != 1 {
			t.Errorf("%d customers after opening again, want 1", got)
		}
		if once, twice := schemaOf(t, first), schemaOf(t, second); once != twice || once == "" {
			t.Errorf("the schema was\n%s\nand is\n%s", once, twice)
		}
	})
}

func TestMigrations_AreReversible(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		before := schemaOf(t, db)
		migrator, err := db.migrator()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := migrator.DownTo(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if left := schemaOf(t, db); left != "" {
			t.Errorf("left behind:\n%s", left)
		}
		if err := db.migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if after := schemaOf(t, db); after != before {
			t.Errorf("the schema was\n%s\nand is\n%s", before, after)
		}
	})
}

// schemaOf returns all tables and columns as text.
func schemaOf(t *testing.T, db *DB) string {
	t.Helper()
	tx, err := db.sql.Reader().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	tables, err := db.sql.Tables(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, one := range tables {
		text.WriteString(one.Name + " " + strings.Join(one.Columns, " ") + "\n")
	}
	return text.String()
}

func TestMigrations_SameSchemaOnBothEngines(t *testing.T) {
	t.Parallel()
	small, large := openAt(t, Options{Data: t.TempDir()}), openAt(t, Options{URL: pgtest.Database(t)})
	if a, b := schemaOf(t, small), schemaOf(t, large); a != b {
		t.Errorf("SQLite has\n%s\nPostgreSQL has\n%s", a, b)
	}
}

func TestOpen_FourNodesConcurrently(t *testing.T) {
	t.Parallel()
	eachOptions(t, func(t *testing.T, place Options) {
		var wait sync.WaitGroup
		for range 4 {
			wait.Go(func() {
				db, err := Open(t.Context(), place)
				if err != nil {
					t.Error(err)
					return
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		newCustomer(t, openAt(t, place), "anna")
	})
}

func TestWrite_FailedChangeIsRolledBack(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		failure := errors.New("no")
		err := db.write(t.Context(), func(q *query.Queries) error {
			event := registrar.AuditEvent{Actor: personActor(anna), Action: "x", Customer: anna, At: testTime}
			return errors.Join(insertAuditEvent(t.Context(), q, event), failure)
		})
		if !errors.Is(err, failure) {
			t.Errorf("got %v", err)
		}
		if left := count(t, db, "SELECT count(*) FROM audit_events"); left != 0 {
			t.Errorf("%d rows are left", left)
		}
	})
}

func TestWrite_CanceledCallerIsRolledBack(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, cancel := context.WithCancel(t.Context())
		err := db.write(ctx, func(q *query.Queries) error {
			event := registrar.AuditEvent{Actor: operatorActor(), Action: "x", At: testTime}
			err := insertAuditEvent(ctx, q, event)
			cancel()
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if left := count(t, db, "SELECT count(*) FROM audit_events"); left != 0 {
			t.Errorf("%d rows are left", left)
		}
	})
}

func TestSQLite_ReadersCannotWrite(t *testing.T) {
	t.Parallel()
	db := openAt(t, Options{Data: newMigratedSQLite(t)})
	for _, statement := range []string{"DELETE FROM audit_events", "DROP TABLE audit_events", "CREATE TABLE more (x TEXT)"} {
		if _, err := db.sql.Reader().ExecContext(t.Context(), statement); err == nil {
			t.Errorf("a reader executed: %s", statement)
		}
	}
}

func TestSchema_EnforcesForeignKeys(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		if _, err := db.sql.Writer().ExecContext(t.Context(),
			"INSERT INTO personal_access_tokens (id, customer_id, name, hash, created_at) VALUES ('tok_1', 'cus_nobody', 'x', 'x', 1)"); err == nil {
			t.Error("a token without a customer was stored")
		}
	})
}

func TestWrite_EightConcurrentReadThenWriteAllSucceed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		var wait sync.WaitGroup
		for range 8 {
			wait.Go(func() {
				for range 10 {
					err := db.write(t.Context(), func(q *query.Queries) error {
						if _, err := q.GetBuyer(t.Context(), anna); err != nil {
							return err
						}
						return insertAuditEvent(t.Context(), q, registrar.AuditEvent{Actor: personActor(anna), Action: "x", Customer: anna, At: testTime})
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wait.Wait()
		if written := count(t, db, "SELECT count(*) FROM audit_events"); written != 80 {
			t.Errorf("%d of 80 were written", written)
		}
	})
}

func TestRead_NotBlockedByWriter(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		err := db.write(t.Context(), func(q *query.Queries) error {
			if err := insertAuditEvent(t.Context(), q, registrar.AuditEvent{Actor: personActor(anna), Customer: anna, Action: "x", At: testTime}); err != nil {
				return err
			}
			events, err := db.ListAuditEvents(t.Context(), anna, "", 10)
			if len(events) != 0 {
				t.Error("uncommitted data was read")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestListAuditEvents_PagesNewestFirst(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		for i := range 5 {
			err := db.write(t.Context(), func(q *query.Queries) error {
				return insertAuditEvent(t.Context(), q, registrar.AuditEvent{
					Actor: personActor(anna), Customer: anna, Action: "x", Object: strconv.Itoa(i), At: testTime.Add(time.Duration(i) * time.Second),
				})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		var seen string
		before := ""
		for range 4 {
			page, err := db.ListAuditEvents(t.Context(), anna, before, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, event := range page {
				seen += event.Object
				before = event.ID
			}
			seen += "|"
		}
		if seen != "43|21|0||" {
			t.Errorf("got %s", seen)
		}
		if page, err := db.ListAuditEvents(t.Context(), "cus_other", "", 2); err != nil || len(page) != 0 {
			t.Errorf("another customer reads %+v, %v", page, err)
		}
	})
}

func TestSQLite_FilesReadableByOwnerOnly(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	db := openAt(t, Options{Data: folder})
	newCustomer(t, db, "anna")
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files, %v", err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if open := info.Mode().Perm() &^ 0o600; open != 0 {
			t.Errorf("%s is accessible to others: %v", filepath.Base(file), info.Mode())
		}
	}
}

func TestOpen_ErrorsOmitDatabasePassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"postgres://me:verysecret@127.0.0.1:1/x?connect_timeout=1", "postgres://me:verysecret@[::1/x", "mysql://me:verysecret@x/y",
		"postgres://me:verysecret@127.0.0.1:notaport/x",
	} {
		_, err := Open(t.Context(), Options{URL: address})
		if err == nil || strings.Contains(err.Error(), "verysecret") {
			t.Errorf("%s: got %v", address, err)
		}
	}
	if _, err := Open(t.Context(), Options{URL: "postgres://me:verysecret@127.0.0.1:1/x"}); err == nil || !strings.Contains(err.Error(), "connection_refused") {
		t.Errorf("closed port: got %v", err)
	}
}

// A linguistic collation mostly ignores punctuation and sorts upper case next to lower
// case.
func TestCollation_TextComparesByBytes(t *testing.T) {
	t.Parallel()
	eachMigrated(t, func(t *testing.T, place Options) {
		db := openAt(t, place)
		if db.sql.Engine() == sqldb.Postgres { // a column created without the collation
			if _, err := db.sql.Writer().ExecContext(t.Context(), `ALTER TABLE customers ALTER COLUMN id TYPE TEXT COLLATE "de-x-icu"`); err != nil {
				t.Fatal(err)
			}
			db = openAt(t, place)
			var others int
			err := db.sql.Reader().QueryRowContext(t.Context(), `SELECT count(*) FROM information_schema.columns
				WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`).Scan(&others)
			if err != nil || others != 0 {
				t.Errorf("%d columns have another collation: %v", others, err)
			}
		}
		for _, id := range []string{"cus_b", "cus_B", "cus_-a", "cus_a"} {
			if _, err := db.sql.Writer().ExecContext(t.Context(), "INSERT INTO customers (id, email, email_key, user_handle, language, created_at) VALUES ($1, $1, $1, $1, 'de', 1)", id); err != nil {
				t.Fatal(err)
			}
		}
		got := queryStrings(t, db.sql.Reader(), "SELECT id FROM customers ORDER BY id")
		if want := []string{"cus_-a", "cus_B", "cus_a", "cus_b"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
