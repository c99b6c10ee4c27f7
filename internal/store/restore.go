package store

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// restoreBatch is how many rows go into one statement: many on PostgreSQL, where
// a statement is a journey, and few on SQLite, where it is none but each
// parameter is compared with all before it. maxParameters is below the bound of
// both.
const (
	restoreBatch  = 200
	sqliteBatch   = 8
	maxParameters = 30_000
)

// errBackupCorrupt is a backup that is not what Backup wrote.
var errBackupCorrupt = errors.New("the backup is cut or altered, nothing was restored")

// Restore fills the empty database at opts with what Backup wrote. Either all
// of it is there afterwards, or none: the rows are loaded in one transaction,
// which is committed when the end of the file has proved it whole.
//
// A backup with an older schema is loaded into that schema, and then brought up
// to date like a database that had been there all the time.
func Restore(ctx context.Context, opts Options, in io.Reader) (Summary, error) {
	lines, err := newLineReader(in)
	if err != nil {
		return Summary{}, err
	}
	var header backupHeader
	if err := lines.object(&header); err != nil || header.Format != backupFormat {
		return Summary{}, errors.New("this is no backup of dotkontor")
	}
	if header.Version != backupVersion {
		return Summary{}, fmt.Errorf("the backup's format %d is not known here: it was made by a newer dotkontor", header.Version)
	}
	db, err := open(opts)
	if err != nil {
		return Summary{}, err
	}
	summary, err := db.restore(ctx, header, lines)
	return summary, errors.Join(err, db.Close())
}

func (db *DB) restore(ctx context.Context, header backupHeader, lines *lineReader) (Summary, error) {
	migrator, err := db.migrator()
	if err != nil {
		return Summary{}, err
	}
	if newest := newestSchema(migrator); header.Schema < 1 || header.Schema > newest {
		return Summary{}, fmt.Errorf("the backup has schema %d and this dotkontor knows up to %d: restore it with the version that made it, or a later one", header.Schema, newest)
	}
	if err := db.migrateEmptyTo(ctx, migrator, header.Schema); err != nil {
		return Summary{}, err
	}
	summary := Summary{Schema: header.Schema, MadeAt: header.MadeAt}
	tx, err := db.sql.Writer().BeginTx(ctx, nil)
	if err != nil {
		return Summary{}, fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := db.load(ctx, tx, lines, &summary); err != nil {
		return Summary{}, err
	}
	if err := tx.Commit(); err != nil {
		return Summary{}, fmt.Errorf("commit: %w", err)
	}
	if _, err := migrator.Up(ctx); err != nil {
		return Summary{}, fmt.Errorf("the rows are restored, but the schema could not be brought up to date; start the service to try again: %w", err)
	}
	return summary, nil
}

// migrateEmptyTo gives a database without any rows the schema of the backup.
func (db *DB) migrateEmptyTo(ctx context.Context, migrator *goose.Provider, version int64) error {
	tx, err := db.sql.Writer().BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("the database can't be opened: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was changed
	current, err := db.schemaVersion(ctx, tx)
	if err != nil {
		return err
	}
	if newest := newestSchema(migrator); current > newest { // compatible or not: it can't be rolled back here
		return newerSchemaError(current, newest)
	}
	tables, err := db.dataTables(ctx, tx)
	if err != nil {
		return err
	}
	if current == 0 && len(tables) > 0 {
		return fmt.Errorf("the database has a table %s that is not ours: a restore wants a database of its own", tables[0].Name)
	}
	if err := requireEmpty(ctx, tx, tables); err != nil {
		return err
	}
	if err := tx.Rollback(); err != nil { // the migrations want the connection
		return err
	}
	if current > version {
		_, err = migrator.DownTo(ctx, version)
	} else {
		_, err = migrator.UpTo(ctx, version)
	}
	if err != nil {
		return fmt.Errorf("the database could not be given the backup's schema: %w", err)
	}
	return nil
}

// bootstrapTables have rows as soon as a service was started on an empty database.
var bootstrapTables = []string{"seal_keys", "seal_nodes"}

func requireEmpty(ctx context.Context, tx *sql.Tx, tables []sqldb.Table) error {
	for _, t := range tables {
		if slices.Contains(bootstrapTables, t.Name) {
			continue
		}
		var one int
		err := tx.QueryRowContext(ctx, "SELECT 1 FROM "+sqldb.QuoteIdent(t.Name)+" LIMIT 1").Scan(&one)
		if err == nil {
			return fmt.Errorf("the database is not empty (table %s has rows), nothing was restored: a restore never mixes", t.Name)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return nil
}

// load reads everything into the transaction and checks it against the trailer.
func (db *DB) load(ctx context.Context, tx *sql.Tx, lines *lineReader, summary *Summary) error {
	tables, err := db.dataTables(ctx, tx)
	if err != nil {
		return err
	}
	// A service that runs meanwhile must not write between this look and the
	// commit. SQLite's transaction keeps it out already.
	if db.sql.Engine() == sqldb.Postgres {
		names := make([]string, 0, len(tables))
		for _, t := range tables {
			names = append(names, t.Name)
		}
		if _, err := tx.ExecContext(ctx, "LOCK TABLE "+quoteIdentList(names)+" IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
	}
	if err := requireEmpty(ctx, tx, tables); err != nil {
		return err
	}
	// A service that was started once has stored its key and its report. Those of the
	// backup count.
	for _, name := range bootstrapTables {
		if slices.ContainsFunc(tables, func(t sqldb.Table) bool { return t.Name == name }) {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+sqldb.QuoteIdent(name)); err != nil {
				return err
			}
		}
	}
	loading := &loader{tx: tx, tables: tables, counts: make(map[string]int64), batch: restoreBatch}
	if db.sql.Engine() == sqldb.SQLite {
		loading.batch = sqliteBatch
	}
	for {
		line, err := lines.next()
		if err != nil {
			return err
		}
		if line[0] == '[' {
			lines.addToHash(line)
			if err := loading.row(ctx, line); err != nil {
				return err
			}
			continue
		}
		if err := loading.flush(ctx); err != nil {
			return err
		}
		var object struct {
			backupTable
			backupTrailer
		}
		if err := json.Unmarshal(line, &object); err != nil {
			return errBackupCorrupt
		}
		if object.Table != "" {
			lines.addToHash(line)
			if err := loading.begin(object.backupTable); err != nil {
				return err
			}
			continue
		}
		sum := hex.EncodeToString(lines.sum.Sum(nil))
		if object.SHA256 != sum || !maps.Equal(object.Rows, loading.counts) || len(loading.counts) != len(tables) || !lines.atEOF() {
			return errBackupCorrupt
		}
		summary.Tables = len(tables)
		for _, n := range loading.counts {
			summary.Rows += n
		}
		return nil
	}
}

// loader puts rows into one table after the other.
type loader struct {
	tx     *sql.Tx
	tables []sqldb.Table
	counts map[string]int64
	batch  int

	current     sqldb.Table
	values      []any // of the rows that wait for their statement
	pendingRows int
}

func (l *loader) begin(next backupTable) error {
	at := slices.IndexFunc(l.tables, func(t sqldb.Table) bool { return t.Name == next.Table })
	if _, seen := l.counts[next.Table]; seen || at < 0 {
		return errBackupCorrupt
	}
	// The order of columns may differ: a later migration adds them at the end.
	if !slices.Equal(slices.Sorted(slices.Values(next.Columns)), slices.Sorted(slices.Values(l.tables[at].Columns))) {
		return fmt.Errorf("table %s: the backup has other columns than this schema, nothing was restored", next.Table)
	}
	l.current = sqldb.Table{Name: next.Table, Columns: next.Columns}
	l.counts[next.Table] = 0
	return nil
}

func (l *loader) row(ctx context.Context, line []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	var row []any
	if err := decoder.Decode(&row); err != nil || len(row) != len(l.current.Columns) || l.current.Name == "" {
		return errBackupCorrupt
	}
	for i, value := range row {
		stored, err := decodeValue(value)
		if err != nil {
			return err
		}
		row[i] = stored
	}
	l.values = append(l.values, row...)
	l.pendingRows++
	l.counts[l.current.Name]++
	if l.pendingRows < l.batch && len(l.values)+len(row) <= maxParameters {
		return nil
	}
	return l.flush(ctx)
}

// decodeValue is the inverse of portable.
func decodeValue(value any) (any, error) {
	switch value := value.(type) {
	case nil, string:
		return value, nil
	case json.Number:
		if number, err := value.Int64(); err == nil {
			return number, nil
		}
	case map[string]any:
		if encoded, ok := value["base64"].(string); ok {
			if text, err := base64.StdEncoding.DecodeString(encoded); err == nil {
				return string(text), nil
			}
		}
	}
	return nil, errBackupCorrupt
}

func (l *loader) flush(ctx context.Context) error {
	if l.pendingRows == 0 {
		return nil
	}
	var statement strings.Builder
	statement.WriteString("INSERT INTO " + sqldb.QuoteIdent(l.current.Name) + " (" + quoteIdentList(l.current.Columns) + ") VALUES ")
	for i := range l.values {
		switch {
		case i == 0:
			statement.WriteString("(")
		case i%len(l.current.Columns) == 0:
			statement.WriteString("), (")
		default:
			statement.WriteString(", ")
		}
		statement.WriteString("$" + strconv.Itoa(i+1))
	}
	statement.WriteString(")")
	if _, err := l.tx.ExecContext(ctx, statement.String(), l.values...); err != nil {
		return fmt.Errorf("table %s, nothing was restored: %w", l.current.Name, err)
	}
	l.values, l.pendingRows = l.values[:0], 0
	return nil
}

// lineReader reads lines and adds up the hash of those that count.
type lineReader struct {
	plain *gzip.Reader
	lines *bufio.Scanner
	sum   hash.Hash
}

func newLineReader(in io.Reader) (*lineReader, error) {
	plain, err := gzip.NewReader(in)
	if err != nil {
		return nil, errors.New("this is no backup of dotkontor: it is not compressed as one")
	}
	scanner := bufio.NewScanner(plain)
	scanner.Buffer(make([]byte, 0, 64<<10), maxLineBytes)
	return &lineReader{plain: plain, lines: scanner, sum: sha256.New()}, nil
}

// next returns a line that is not empty; it is good until the next call.
func (r *lineReader) next() ([]byte, error) {
	if !r.lines.Scan() {
		return nil, errBackupCorrupt // also at the end: the trailer ends the reading
	}
	line := r.lines.Bytes()
	if len(line) == 0 {
		return nil, errBackupCorrupt
	}
	return line, nil
}

// addToHash adds a line to the hash; the last line has the hash of all but itself.
func (r *lineReader) addToHash(line []byte) {
	r.sum.Write(line)
	r.sum.Write([]byte{'\n'})
}

func (r *lineReader) object(into any) error {
	line, err := r.next()
	if err != nil {
		return err
	}
	r.addToHash(line)
	return json.Unmarshal(line, into)
}

// atEOF says that nothing follows, and that gzip's own sum was right.
func (r *lineReader) atEOF() bool { return !r.lines.Scan() && r.lines.Err() == nil }
