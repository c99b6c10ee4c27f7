package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
)

// PostgreSQL compares our texts by their bytes, as SQLite does by itself. Nearly all
// of them are ids, hashes, names and codes, and no answer relies on a language's
// order; but a server that was set up for a language asks its rules at each step
// through an index. There are twice as many steps among a million rows as among a
// thousand, and each such question costs more than the step.

// collationFS are the migrations as PostgreSQL gets them.
type collationFS struct{ fs.FS }

var textColumn = regexp.MustCompile(`\bTEXT\b`)

// Open opens a file or the folder.
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

// Read reads the text instead of the file.
func (f rewrittenFile) Read(into []byte) (int, error) { return f.text.Read(into) }

// collationFixesQuery names what is not compared by bytes yet, as statements that mend it.
// Only tables of ours are looked at: all that are in the schema where ours are made.
const collationFixesQuery = `
SELECT format('ALTER TABLE %I ', c.relname) ||
    string_agg(format('ALTER COLUMN %I TYPE TEXT COLLATE "C"', a.attname), ', ' ORDER BY a.attnum)
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'text'::regtype AND a.attcollation <> 'pg_catalog."C"'::regcollation
    AND c.relname <> 'goose_db_version'
GROUP BY c.relname
ORDER BY c.relname`

// collationLockKey is the key of a lock that one node holds while it changes columns;
// an arbitrary number, and not the one of the migrations.
const collationLockKey = 5_087_311_482

// ensureByteCollation mends what a version before this one has made, or somebody by hand.
func (db *DB) ensureByteCollation(ctx context.Context) (err error) {
	if db.engine != postgres {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("the database's texts could not be put into the order of bytes: %w", err)
		}
	}()
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(collationLockKey)); err != nil {
		return err
	}
	statements, err := listCollationFixes(ctx, tx)
	if err != nil {
		return err
	}
	for _, text := range statements {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func listCollationFixes(ctx context.Context, tx *sql.Tx) (statements []string, err error) {
	rows, err := tx.QueryContext(ctx, collationFixesQuery)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		statements = append(statements, text)
	}
	return statements, rows.Err()
}
