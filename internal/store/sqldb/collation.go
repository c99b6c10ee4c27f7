package sqldb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
)

// Text columns use COLLATE "C" on PostgreSQL: they are compared by bytes, as on SQLite.
// Nearly all of them hold ids, hashes, names and codes, and no result relies on a
// language's order. A linguistic collation is evaluated at every step through an index
// and costs more than the step itself.

// CollationFS returns the migrations in fsys as PostgreSQL receives them: with COLLATE "C"
// on every text column.
func CollationFS(fsys fs.FS) fs.FS { return collationFS{fsys} }

type collationFS struct{ fs.FS }

var textColumn = regexp.MustCompile(`\bTEXT\b`)

func (b collationFS) Open(name string) (fs.File, error) {
	file, err := b.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return file, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return rewrittenFile{File: file, text: strings.NewReader(textColumn.ReplaceAllString(string(text), `TEXT COLLATE "C"`))}, nil
}

type rewrittenFile struct {
	fs.File
	text io.Reader
}

// Read reads the rewritten text.
func (f rewrittenFile) Read(into []byte) (int, error) { return f.text.Read(into) }

// collationFixesQuery lists statements that correct text columns with another collation,
// for all tables in the current schema.
const collationFixesQuery = `
SELECT format('ALTER TABLE %I ', c.relname) ||
    string_agg(format('ALTER COLUMN %I TYPE TEXT COLLATE "C"', a.attname), ', ' ORDER BY a.attnum)
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'text'::regtype AND a.attcollation <> 'pg_catalog."C"'::regcollation
    AND c.relname <> '` + VersionTable + `'
GROUP BY c.relname
ORDER BY c.relname`

// collationLockKey is the advisory lock that one node holds while it changes columns; an
// arbitrary number that differs from goose's.
const collationLockKey = 5_087_311_482

// EnsureByteCollation corrects text columns that were created outside of CollationFS, for
// example by hand. It does nothing on SQLite.
func (db *DB) EnsureByteCollation(ctx context.Context) error {
	if db.engine != Postgres {
		return nil
	}
	err := db.Write(ctx, func(tx DBTX) error {
		if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(collationLockKey)); err != nil {
			return err
		}
		statements, err := queryStrings(ctx, tx, collationFixesQuery)
		if err != nil {
			return err
		}
		for _, text := range statements {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("sqldb: set byte collation: %w", err)
	}
	return nil
}
