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

// bytewise are the migrations as PostgreSQL gets them.
type bytewise struct{ fs.FS }

var textColumn = regexp.MustCompile(`\bTEXT\b`)

// Open opens a file or the folder.
func (b bytewise) Open(name string) (fs.File, error) {
	file, err := b.FS.Open(name)
	if err != nil || !strings.HasSuffix(name, ".sql") {
		return file, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return spelledFile{File: file, text: strings.NewReader(textColumn.ReplaceAllString(string(text), `TEXT COLLATE "C"`))}, nil
}

type spelledFile struct {
	fs.File
	text io.Reader
}

// Read reads the text instead of the file.
func (f spelledFile) Read(into []byte) (int, error) { return f.text.Read(into) }

// byteOrder names what is not compared by bytes yet, as statements that mend it.
// Only tables of ours are looked at: all that are in the schema where ours are made.
const byteOrder = `
SELECT format('ALTER TABLE %I ', c.relname) ||
    string_agg(format('ALTER COLUMN %I TYPE TEXT COLLATE "C"', a.attname), ', ' ORDER BY a.attnum)
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
WHERE a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'text'::regtype AND a.attcollation <> 'pg_catalog."C"'::regcollation
    AND c.relname <> 'goose_db_version'
GROUP BY c.relname
ORDER BY c.relname`

// byteOrderLock is the key of a lock that one node holds while it changes columns;
// an arbitrary number, and not the one of the migrations.
const byteOrderLock = 5_087_311_482

// compareBytes mends what a version before this one has made, or somebody by hand.
func (db *DB) compareBytes(ctx context.Context) (err error) {
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
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(byteOrderLock)); err != nil {
		return err
	}
	statements, err := mendings(ctx, tx)
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

func mendings(ctx context.Context, tx *sql.Tx) (statements []string, err error) {
	rows, err := tx.QueryContext(ctx, byteOrder)
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
