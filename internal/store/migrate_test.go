package store

import (
	"bytes"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3/lock"

	"github.com/dotkontor/dotkontor/internal/store/sqldb"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

// insertMigration records a migration as applied, without a compatibility mark.
func insertMigration(t *testing.T, db *DB, version int64) {
	t.Helper()
	execStatement(t, db, fmt.Sprintf("INSERT INTO %s (version_id, is_applied) VALUES (%d, TRUE)", sqldb.VersionTable, version))
}

// markMigration records which program versions may run on a schema version.
func markMigration(t *testing.T, db *DB, version, compatibleFrom int64) {
	t.Helper()
	execStatement(t, db, fmt.Sprintf("INSERT INTO %s (version, compatible_from) VALUES (%d, %d)", compatibilityTable, version, compatibleFrom))
}

// requireNewerSchemaError checks that an error names the schema versions of database
// and program.
func requireNewerSchemaError(t *testing.T, what string, current, newest int64, err error) {
	t.Helper()
	if want := fmt.Sprintf("the database has schema %d, which is incompatible with this dotkontor (schema %d)", current, newest); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want %s", what, err, want)
	}
}

func TestOpen_RefusesNewerSchema(t *testing.T) {
	t.Parallel()
	for name, mark := range map[string]func(t *testing.T, db *DB, newest int64){
		"unmarked":     func(*testing.T, *DB, int64) {},
		"incompatible": func(t *testing.T, db *DB, newest int64) { markMigration(t, db, newest+1, newest+1) },
		"second of two": func(t *testing.T, db *DB, newest int64) {
			markMigration(t, db, newest+1, newest)
			insertMigration(t, db, newest+2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachMigrated(t, func(t *testing.T, place Options) {
				db := openAt(t, place)
				var backup bytes.Buffer
				if _, err := Backup(t.Context(), place, testTime, &backup); err != nil {
					t.Fatal(err)
				}
				before, newest := schemaOf(t, db), newestKnownSchema(t, db)
				insertMigration(t, db, newest+1)
				mark(t, db, newest)
				current := currentSchema(t, db)
				_, err := Open(t.Context(), place)
				requireNewerSchemaError(t, "Open", current, newest, err)
				_, err = Restore(t.Context(), place, &backup)
				requireNewerSchemaError(t, "Restore", current, newest, err)
				if after := schemaOf(t, db); after != before {
					t.Errorf("the schema was\n%s\nand is\n%s", before, after)
				}
				// The data can still be backed up.
				if summary, err := Backup(t.Context(), place, testTime, &backup); err != nil || summary.Schema != current {
					t.Errorf("Backup: schema %d, %v", summary.Schema, err)
				}
			})
		})
	}
}

// Nodes are upgraded one by one: the first new one migrates, and the old ones restart
// on its schema until they are upgraded.
func TestOpen_AcceptsNewerCompatibleSchema(t *testing.T) {
	t.Parallel()
	eachMigrated(t, func(t *testing.T, place Options) {
		db := openAt(t, place)
		backup := backupOf(t, place)
		newest := newestKnownSchema(t, db)
		execStatement(t, db, "ALTER TABLE customers ADD COLUMN added TEXT NOT NULL DEFAULT ''")
		execStatement(t, db, "CREATE TABLE added (id TEXT NOT NULL PRIMARY KEY, required TEXT NOT NULL)")
		for version := newest + 1; version <= newest+2; version++ {
			insertMigration(t, db, version)
			markMigration(t, db, version, newest)
		}
		before := schemaOf(t, db)
		older := openAt(t, place)
		newCustomer(t, older, "anna")
		if after := schemaOf(t, older); after != before {
			t.Errorf("the schema was\n%s\nand is\n%s", before, after)
		}
		_, err := Restore(t.Context(), place, bytes.NewReader(backup))
		requireNewerSchemaError(t, "Restore", newest+2, newest, err)
	})
}

// An old and a new node start together, and the old one waits for the new one's
// migrations.
func TestOpen_ChecksSchemaMigratedWhileWaiting(t *testing.T) {
	t.Parallel()
	for name, compatible := range map[string]bool{"compatible": true, "unmarked": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			place := Options{URL: pgtest.Database(t), MaxConnections: 4}
			db := openAt(t, place)
			newest := newestKnownSchema(t, db)
			// A node without pending migrations does not wait.
			execStatement(t, db, fmt.Sprintf("DELETE FROM %s WHERE version_id = %d", sqldb.VersionTable, newest))
			later, err := db.sql.Writer().Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer later.Close()
			if _, err := later.ExecContext(t.Context(), "SELECT pg_advisory_lock($1)", lock.DefaultLockID); err != nil {
				t.Fatal(err)
			}
			opened := make(chan error, 1)
			go func() {
				other, err := Open(t.Context(), place)
				if err == nil {
					err = other.Close()
				}
				opened <- err
			}()
			waits := func() bool {
				return count(t, db, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_try_advisory_lock%' AND pid <> pg_backend_pid()") > 0
			}
			for deadline := time.Now().Add(time.Minute); !waits(); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the node does not wait for the lock")
				}
			}
			insertMigration(t, db, newest)
			insertMigration(t, db, newest+1)
			if compatible {
				markMigration(t, db, newest+1, newest)
			}
			if _, err := later.ExecContext(t.Context(), "SELECT pg_advisory_unlock($1)", lock.DefaultLockID); err != nil {
				t.Fatal(err)
			}
			if err := <-opened; !compatible {
				requireNewerSchemaError(t, "Open", newest+1, newest, err)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// A running node reads the tables that a migration changes in another order. PostgreSQL then rolls
// one of the two back.
func TestOpen_RepeatsMigrationAfterDeadlock(t *testing.T) {
	t.Parallel()
	place := Options{URL: newMigratedPostgres(t), MaxConnections: 4}
	db := openAt(t, place)
	provider, err := db.migrator()
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for range 5 { // until the migration is the one that is rolled back
		if _, err := provider.DownTo(ctx, 20); err != nil {
			t.Fatal(err)
		}
		node, err := db.sql.Writer().BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Migration 21 changes order_items first and domains last.
		for _, statement := range []string{"SET LOCAL deadlock_timeout = '10s'", "SELECT count(*) FROM domains"} {
			if _, err := node.ExecContext(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		opened := make(chan error, 1)
		go func() {
			other, err := Open(ctx, place)
			if err == nil {
				err = other.Close()
			}
			opened <- err
		}()
		for deadline := time.Now().Add(time.Minute); count(t, db, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'domains'::regclass") == 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the migration does not wait for the node")
			}
		}
		_, nodeErr := node.ExecContext(ctx, "SELECT count(*) FROM order_items")
		_ = node.Rollback() // nothing was changed
		if err := <-opened; err != nil {
			t.Fatal(err)
		}
		if nodeErr == nil {
			return
		}
	}
	t.Error("the migration was never rolled back")
}

func TestOpen_DatabaseBeforeBaselineSaysHowToStartFresh(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]int64{"first migration": 1, "last migration": 23} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachOptions(t, func(t *testing.T, place Options) {
				backup := backupOf(t, Options{Data: newMigratedSQLite(t)})
				old, err := open(place)
				if err != nil {
					t.Fatal(err)
				}
				defer old.Close()
				for _, statement := range []string{
					"CREATE TABLE " + sqldb.VersionTable + " (id BIGINT, version_id BIGINT NOT NULL, is_applied BOOLEAN NOT NULL, tstamp TIMESTAMP)",
					"CREATE TABLE deeds (id TEXT NOT NULL PRIMARY KEY)", "CREATE TABLE price_lists (edition BIGINT)", "CREATE TABLE seal_keys (id TEXT)",
				} {
					execStatement(t, old, statement)
				}
				for version := range last + 1 {
					insertMigration(t, old, version)
				}
				before := schemaOf(t, old)
				_, openErr := Open(t.Context(), place)
				_, listErr := ReadPriceList(t.Context(), place)
				_, existingErr := OpenExisting(t.Context(), place)
				_, restoreErr := Restore(t.Context(), place, bytes.NewReader(backup))
				fresh := "create an empty database and name it in database.url"
				if place.URL == "" {
					fresh = "move the data folder " + place.Data + " away"
				}
				for what, err := range map[string]error{"Open": openErr, "ReadPriceList": listErr, "OpenExisting": existingErr, "Restore": restoreErr} {
					if err == nil || !strings.Contains(err.Error(), "before v0.1.0") || !strings.Contains(err.Error(), fresh) {
						t.Errorf("%s: got %v", what, err)
					}
				}
				if after := schemaOf(t, old); after != before {
					t.Errorf("the schema was\n%s\nand is\n%s", before, after)
				}
			})
		})
	}
}

var (
	sqlComment  = regexp.MustCompile(`--[^\n]*`)
	createTable = regexp.MustCompile(`(?i)^CREATE TABLE (\w+)`)
	createIndex = regexp.MustCompile(`(?i)^CREATE (UNIQUE )?INDEX \w+ ON (\w+)`)
	addColumn   = regexp.MustCompile(`(?i)^ALTER TABLE \w+ ADD COLUMN `)
	narrowing   = regexp.MustCompile(`(?i)\b(CHECK|UNIQUE|PRIMARY KEY|REFERENCES)\b`)
)

// incompatibilities lists the statements of a migration that break programs of the
// previous schema. Only new tables, new non-unique indexes, new optional columns and
// the compatibility mark are allowed; an older program does not write to a new table.
func incompatibilities(text string) (found []string) {
	up, _, _ := strings.Cut(text, "-- +goose Down")
	var created []string
	for statement := range strings.SplitSeq(sqlComment.ReplaceAllString(up, ""), ";") {
		statement = strings.Join(strings.Fields(statement), " ")
		if table := createTable.FindStringSubmatch(statement); table != nil {
			created = append(created, table[1])
			continue
		}
		index := createIndex.FindStringSubmatch(statement)
		upper := strings.ToUpper(statement)
		switch {
		case statement == "", compatibilityMark.MatchString(statement):
		case index != nil && (index[1] == "" || slices.Contains(created, index[2])):
		case addColumn.MatchString(statement) && !narrowing.MatchString(statement) &&
			(!strings.Contains(upper, "NOT NULL") || strings.Contains(upper, " DEFAULT ")):
		default:
			found = append(found, statement)
		}
	}
	return found
}

// lintMigration checks one migration after the baseline.
func lintMigration(version, text string) []string {
	mark := compatibilityMark.FindStringSubmatch(text)
	if mark == nil || mark[1] != version {
		return []string{"does not insert its row into " + compatibilityTable}
	}
	if !strings.Contains(text, "DELETE FROM "+compatibilityTable+" WHERE version = "+version) {
		return []string{"its Down does not delete its row from " + compatibilityTable}
	}
	if mark[2] == version { // requires that all nodes are stopped, and says so
		return nil
	}
	return incompatibilities(text)
}

func TestMigrations_ExpandOnlyUnlessMarkedIncompatible(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d migrations, %v", len(files), err)
	}
	for _, file := range files[1:] {
		text, err := fs.ReadFile(migrations, file)
		if err != nil {
			t.Fatal(err)
		}
		number, _, _ := strings.Cut(strings.TrimPrefix(file, "migrations/"), "_")
		for _, problem := range lintMigration(strings.TrimLeft(number, "0"), string(text)) {
			t.Errorf("%s: %s", file, problem)
		}
	}
}

func TestLintMigration_FindsStatementsThatOlderProgramsCannotRunOn(t *testing.T) {
	t.Parallel()
	migration := func(statement string, compatibleFrom int) string {
		return fmt.Sprintf("-- +goose Up\n%s;\nINSERT INTO schema_compatibility (version, compatible_from) VALUES (2, %d);\n"+
			"-- +goose Down\nDROP TABLE x;\nDELETE FROM schema_compatibility WHERE version = 2;\n", statement, compatibleFrom)
	}
	for statement, compatible := range map[string]bool{
		"CREATE TABLE x (a TEXT NOT NULL PRIMARY KEY, b BIGINT NOT NULL CHECK (b > 0))":     true,
		"CREATE TABLE x (a TEXT NOT NULL);\nCREATE UNIQUE INDEX x_a ON x (a)":               true,
		"CREATE INDEX customers_x ON customers (language) -- DROP is a word in a comment":   true,
		"ALTER TABLE customers ADD COLUMN x TEXT NOT NULL DEFAULT ''":                       true,
		"ALTER TABLE customers ADD COLUMN x TEXT":                                           true,
		"ALTER TABLE customers ADD COLUMN x TEXT NOT NULL":                                  false,
		"ALTER TABLE customers ADD COLUMN x BIGINT NOT NULL DEFAULT 0 CHECK (x < 9)":        false,
		"ALTER TABLE customers ADD COLUMN x TEXT NOT NULL DEFAULT '' REFERENCES agents(id)": false,
		"ALTER TABLE customers RENAME COLUMN email TO mail":                                 false,
		"ALTER TABLE customers RENAME TO accounts":                                          false,
		"ALTER TABLE customers DROP COLUMN email":                                           false,
		"alter table customers alter column email set not null":                             false,
		"DROP TABLE devices":                                        false,
		"DROP INDEX customers_email_key":                            false,
		"CREATE UNIQUE INDEX customers_x ON customers (language)":   false,
		"UPDATE payments SET state = 'captured' WHERE state = 'ok'": false,
	} {
		if found := lintMigration("2", migration(statement, 1)); (len(found) == 0) != compatible {
			t.Errorf("%s: got %q", statement, found)
		}
		if found := lintMigration("2", migration(statement, 2)); len(found) != 0 {
			t.Errorf("%s, marked as incompatible: got %q", statement, found)
		}
	}
	for _, text := range []string{"-- +goose Up\nDROP TABLE x;\n", migration("DROP TABLE x", 1)[:60]} {
		if len(lintMigration("2", text)) == 0 {
			t.Errorf("a migration without a mark passes: %s", text)
		}
	}
}
