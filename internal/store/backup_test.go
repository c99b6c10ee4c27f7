package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// dumpOf returns a backup as text.
func dumpOf(t *testing.T, db *DB) string {
	t.Helper()
	var packed bytes.Buffer
	if _, err := db.backup(t.Context(), testTime, &packed); err != nil {
		t.Fatal(err)
	}
	return unpack(t, packed.Bytes())
}

func unpack(t *testing.T, packed []byte) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func pack(text string) []byte {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, _ = io.WriteString(writer, text)
	_ = writer.Close()
	return packed.Bytes()
}

// sortedRows returns the rows of a dump in sorted order and without the last line,
// because a backup has the engine's row order.
func sortedRows(dump string) []string {
	lines := strings.Split(strings.TrimSpace(dump), "\n")
	return slices.Sorted(slices.Values(lines[:len(lines)-1]))
}

// openFilled opens a database and fills some tables, with more rows than one restore
// statement inserts and with awkward texts.
func openFilled(t *testing.T, place Options) *DB {
	t.Helper()
	db := openAt(t, place)
	anna := newCustomer(t, db, "anna")
	newCustomer(t, db, "bert")
	execStatement(t, db, "UPDATE customers SET email = $1, token_count = $2 WHERE id = $3", "Ä\"\\\n\u2028<&>🦉 @example.com", int64(1)<<62, anna)
	tx, err := db.sql.Writer().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for i := range 3*restoreBatch + 7 {
		id := "tok_" + time.UnixMicro(int64(i)).UTC().Format("150405.000000")
		if _, err := tx.ExecContext(t.Context(),
			"INSERT INTO personal_access_tokens (id, customer_id, name, hash, created_at, revoked_at) VALUES ($1, $2, '', $1, $3, -5)", id, anna, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return db
}

func backupOf(t *testing.T, place Options) []byte {
	t.Helper()
	var packed bytes.Buffer
	if _, err := Backup(t.Context(), place, testTime, &packed); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func TestRestore_BringsBackEveryRow(t *testing.T) {
	t.Parallel()
	eachMigrated(t, func(t *testing.T, place Options) {
		want := sortedRows(dumpOf(t, openFilled(t, place)))
		if len(want) < 600 {
			t.Fatalf("only %d lines", len(want))
		}
		packed := backupOf(t, place)
		var fresh Options
		if place.URL == "" {
			fresh.Data = t.TempDir()
		} else {
			fresh.URL = pgtest.Database(t)
		}
		summary, err := Restore(t.Context(), fresh, bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		if summary.Rows != 3*restoreBatch+7+2 || !summary.MadeAt.Equal(testTime) {
			t.Errorf("got %+v", summary)
		}
		if got := sortedRows(dumpOf(t, openAt(t, fresh))); !slices.Equal(got, want) {
			t.Errorf("%d of %d lines were restored, or they differ", len(got), len(want))
		}
	})
}

func TestRestore_AcrossEnginesAndBack(t *testing.T) {
	t.Parallel()
	first, large, second := Options{Data: t.TempDir()}, Options{URL: pgtest.Database(t)}, Options{Data: t.TempDir()}
	want := sortedRows(dumpOf(t, openFilled(t, first)))
	for _, step := range [][2]Options{{first, large}, {large, second}} {
		if _, err := Restore(t.Context(), step[1], bytes.NewReader(backupOf(t, step[0]))); err != nil {
			t.Fatal(err)
		}
		if got := sortedRows(dumpOf(t, openAt(t, step[1]))); !slices.Equal(got, want) {
			t.Errorf("%d of %d lines were copied, or they differ", len(got), len(want))
		}
	}
}

func TestBackup_ContainsEveryTable(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		execStatement(t, db, "CREATE TABLE aaa_later (id TEXT NOT NULL PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers (id))")
		newCustomer(t, db, "anna")
		execStatement(t, db, "INSERT INTO aaa_later (id, customer_id) VALUES ('later', 'cus_anna')")
		dump := dumpOf(t, db)
		if parent, child := strings.Index(dump, `{"table":"customers"`), strings.Index(dump, `["later","cus_anna"]`); parent < 0 || child < parent {
			t.Errorf("the later table is missing, or precedes the table that it references:\n%s", dump)
		}
		for _, line := range strings.Split(schemaOf(t, db), "\n") {
			// The migrations fill the table of compatible versions.
			if name, _, _ := strings.Cut(line, " "); strings.Contains(dump, `{"table":"`+name) == (name == compatibilityTable) {
				t.Errorf("%s: in the backup %t", name, name == compatibilityTable)
			}
		}
	})
}

func TestBackup_IsConsistentSnapshot(t *testing.T) {
	t.Parallel()
	eachMigrated(t, func(t *testing.T, place Options) {
		db := openFilled(t, place)
		meanwhile := writerFunc(func([]byte) {
			execStatement(t, db, "DELETE FROM personal_access_tokens")
			execStatement(t, db, "UPDATE customers SET language = 'en'")
		})
		var packed bytes.Buffer
		summary, err := db.backup(t.Context(), testTime, io.MultiWriter(meanwhile, &packed))
		if err != nil {
			t.Fatal(err)
		}
		if left := count(t, db, "SELECT count(*) FROM personal_access_tokens"); left != 0 {
			t.Fatal("no rows were written during the backup, so the test proves nothing")
		}
		if summary.Rows != 3*restoreBatch+7+2 || strings.Contains(unpack(t, packed.Bytes()), `"en"`) {
			t.Errorf("the backup is not a consistent snapshot: %+v", summary)
		}
	})
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

func TestRestore_CorruptBackupLeavesNothing(t *testing.T) {
	t.Parallel()
	source := Options{Data: newMigratedSQLite(t)}
	openFilled(t, source)
	whole := backupOf(t, source)
	text := unpack(t, whole)
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1] // the text after the last line break is empty
	row := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, `["tok_`) })
	without := func(at int) string { return strings.Join(slices.Delete(slices.Clone(lines), at, at+1), "") }
	eachOptions(t, func(t *testing.T, place Options) {
		for name, broken := range map[string][]byte{
			"cut in the middle":      whole[:len(whole)/2],
			"cut near the end":       whole[:len(whole)-3],
			"without its last line":  pack(without(len(lines) - 1)),
			"without one row":        pack(without(row)),
			"with a row twice":       pack(strings.Replace(text, lines[row], lines[row]+lines[row], 1)),
			"with another value":     pack(strings.Replace(text, "bert@", "bret@", 1)),
			"with a line more":       pack(text + "[]\n"),
			"with a broken row":      pack(strings.Replace(text, lines[row], "[\n", 1)),
			"with a short row":       pack(strings.Replace(text, lines[row], "[\"x\"]\n", 1)),
			"with a fraction":        pack(strings.Replace(text, "-5,", "-5.5,", 1)),
			"with a foreign table":   pack(strings.Replace(text, `{"table":"personal_access_tokens"`, `{"table":"goose_db_version"`, 1)),
			"with a foreign column":  pack(strings.Replace(text, `"hash"`, `"hush"`, 1)),
			"with rows and no table": pack(lines[0] + "[]\n"),
			"of another product":     pack(`{"format":"other"}` + "\n"),
			"of an empty file":       nil,
			"of a newer format":      pack(strings.Replace(text, `"version":1`, `"version":2`, 1)),
			"of a newer schema":      pack(strings.Replace(text, `"schema":`, `"schema":9`, 1)),
			"of no schema":           pack(strings.Replace(text, `"schema":`, `"schema":-`, 1)),
		} {
			if _, err := Restore(t.Context(), place, bytes.NewReader(broken)); err == nil {
				t.Errorf("%s: restored", name)
			}
		}
		// The location can still be restored from the complete backup.
		if _, err := Restore(t.Context(), place, bytes.NewReader(whole)); err != nil {
			t.Errorf("rows were left behind: %v", err)
		}
	})
}

func TestRestore_RefusesNonEmptyDatabase(t *testing.T) {
	t.Parallel()
	eachMigrated(t, func(t *testing.T, place Options) {
		db := openFilled(t, place)
		packed := backupOf(t, place)
		before := sortedRows(dumpOf(t, db))
		if _, err := Restore(t.Context(), place, bytes.NewReader(packed)); err == nil || !strings.Contains(err.Error(), "not empty") {
			t.Errorf("got %v", err)
		}
		if !slices.Equal(sortedRows(dumpOf(t, db)), before) {
			t.Error("rows were changed")
		}
	})
}

func TestRestore_RefusesForeignDatabase(t *testing.T) {
	t.Parallel()
	source := Options{Data: newMigratedSQLite(t)}
	openFilled(t, source)
	packed := backupOf(t, source)
	eachOptions(t, func(t *testing.T, place Options) {
		db, err := open(place)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		execStatement(t, db, "CREATE TABLE theirs (x TEXT)")
		if _, err := Restore(t.Context(), place, bytes.NewReader(packed)); err == nil || !strings.Contains(err.Error(), "theirs") {
			t.Errorf("got %v", err)
		}
	})
}

func TestBackup_MissingDatabaseIsAnError(t *testing.T) {
	t.Parallel()
	eachOptions(t, func(t *testing.T, place Options) {
		if _, err := Backup(t.Context(), place, testTime, io.Discard); err == nil {
			t.Error("backing up nothing was no error")
		}
	})
}

func TestRestore_MigratesOlderBackup(t *testing.T) {
	t.Parallel()
	eachOptions(t, func(t *testing.T, place Options) {
		db, err := open(place)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		migrator, err := db.migrator()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := migrator.UpTo(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		newCustomer(t, db, "anna")
		packed := backupOf(t, place)
		var header backupHeader
		if err := json.NewDecoder(strings.NewReader(unpack(t, packed))).Decode(&header); err != nil || header.Schema != 1 {
			t.Fatalf("the backup changed the schema: %+v, %v", header, err)
		}
		fresh := Options{Data: t.TempDir()}
		today := openAt(t, fresh) // a service has started there: the database is empty and up to date
		if _, err := Restore(t.Context(), fresh, bytes.NewReader(packed)); err != nil {
			t.Fatal(err)
		}
		if got := count(t, today, "SELECT count(*) FROM customers"); got != 1 {
			t.Errorf("%d customers", got)
		}
		if version := currentSchema(t, today); version != newestKnownSchema(t, today) {
			t.Errorf("the schema is %d", version)
		}
	})
}

func currentSchema(t *testing.T, db *DB) int64 {
	t.Helper()
	tx, err := db.sql.Reader().BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	version, err := db.schemaVersion(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func newestKnownSchema(t *testing.T, db *DB) int64 {
	t.Helper()
	migrator, err := db.migrator()
	if err != nil {
		t.Fatal(err)
	}
	return newestSchema(migrator)
}

func TestBackup_KeepsConsumerConsent(t *testing.T) {
	t.Parallel()
	eachMigrated(t, func(t *testing.T, place Options) {
		db := openAt(t, place)
		given := order.Consent{At: testTime, Wording: order.ConsentWording("en")}
		o := mustUpdateOrder(t, db, addOrder(t, db, testOrder(newCustomer(t, db, "anna"), "a.org")), func(o *order.Order, _ *order.Transition) { o.Consent = given })
		fresh := Options{Data: t.TempDir()}
		if _, err := Restore(t.Context(), fresh, bytes.NewReader(backupOf(t, place))); err != nil {
			t.Fatal(err)
		}
		if got := getOrder(t, openAt(t, fresh), o.ID); got.Consent != given {
			t.Errorf("restored as %+v", got.Consent)
		}
	})
}
