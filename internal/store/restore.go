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
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// restoreBatch is the number of rows per statement on PostgreSQL, where a statement is a
// round trip. On SQLite each parameter is compared with all before it, so few rows are
// faster. maxParameters is below the limit of both.
const (
	restoreBatch  = 200
	sqliteBatch   = 8
	maxParameters = 30_000
)

// errBackupCorrupt is returned for a file that Backup did not write.
var errBackupCorrupt = errors.New("the backup is truncated or altered, nothing was restored")

// Restore loads a backup into the empty database at opts, in one transaction that is
// committed after the end of the file has proved it complete.
//
// A backup with an older schema is loaded into that schema, which is then migrated.
func Restore(ctx context.Context, opts Options, in io.Reader) (Summary, error) {
	lines, err := newLineReader(in)
	if err != nil {
		return Summary{}, err
	}
	var header backupHeader
	first, err := lines.next()
	if err != nil || json.Unmarshal(first, &header) != nil || header.Format != backupFormat {
		return Summary{}, errors.New("not a dotkontor backup")
	}
	lines.addToHash(first)
	if header.Version != backupVersion {
		return Summary{}, fmt.Errorf("unknown backup format %d: the backup was made by a newer dotkontor", header.Version)
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
		return Summary{}, fmt.Errorf("the backup has schema %d and this dotkontor supports up to %d: restore it with the version that made it, or a later one", header.Schema, newest)
	}
	if err := db.migrateEmptyTo(ctx, migrator, header.Schema); err != nil {
		return Summary{}, err
	}
	summary := Summary{Schema: header.Schema, MadeAt: header.MadeAt}
	tx, err := db.sql.Writer().BeginTx(ctx, nil)
	if err != nil {
		return Summary{}, fmt.Errorf("begin: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // no-op after a commit
	if err := db.load(ctx, tx, lines, &summary); err != nil {
		return Summary{}, err
	}
	if err := tx.Commit(); err != nil {
		return Summary{}, fmt.Errorf("commit: %w", err)
	}
	if _, err := migrator.Up(ctx); err != nil {
		return Summary{}, fmt.Errorf("the rows are restored, but the migration failed; start the service to retry: %w", err)
	}
	return summary, nil
}

// migrateEmptyTo migrates a database without rows to the schema of the backup.
func (db *DB) migrateEmptyTo(ctx context.Context, migrator *goose.Provider, version int64) error {
	tx, err := db.sql.Writer().BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("store: open the database: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // read only
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
		return fmt.Errorf("the database has another table, %s: a restore needs an empty database", tables[0].Name)
	}
	if err := requireEmpty(ctx, tx, tables); err != nil {
		return err
	}
	if err := tx.Rollback(); err != nil { // the migrations need the connection
		return err
	}
	if current > version {
		_, err = migrator.DownTo(ctx, version)
	} else {
		_, err = migrator.UpTo(ctx, version)
	}
	if err != nil {
		return fmt.Errorf("store: migrate to the backup's schema: %w", err)
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
			return fmt.Errorf("the database is not empty (table %s has rows), nothing was restored", t.Name)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return nil
}

// load inserts all rows in the transaction and verifies the trailer.
func (db *DB) load(ctx context.Context, tx *sql.Tx, lines *lineReader, summary *Summary) error {
	tables, err := db.dataTables(ctx, tx)
	if err != nil {
		return err
	}
	// A running service must not write between the check below and the commit. On SQLite
	// the transaction excludes other writers already.
	if db.sql.Engine() == sqldb.Postgres {
		names := make([]string, 0, len(tables))
		for _, t := range tables {
			names = append(names, t.Name)
		}
		if _, err := tx.ExecContext(ctx, "LOCK TABLE "+sqldb.QuoteIdent(names...)+" IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
	}
	if err := requireEmpty(ctx, tx, tables); err != nil {
		return err
	}
	// A service that was started once has stored its key and its report. They are replaced
	// by those of the backup.
	for _, name := range bootstrapTables {
		if slices.ContainsFunc(tables, func(t sqldb.Table) bool { return t.Name == name }) {
			if _, err := tx.ExecContext(ctx, "DELETE FROM "+sqldb.QuoteIdent(name)); err != nil { //nolint:gosec // a constant
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
			sqldb.Table
			backupTrailer
		}
		if err := json.Unmarshal(line, &object); err != nil {
			return errBackupCorrupt
		}
		if object.Name != "" {
			lines.addToHash(line)
			if err := loading.begin(object.Table); err != nil {
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

// loader inserts rows into one table after the other.
type loader struct {
	tx     *sql.Tx
	tables []sqldb.Table
	counts map[string]int64
	batch  int

	current sqldb.Table
	values  []any // of the pending rows
}

func (l *loader) begin(next sqldb.Table) error {
	at := slices.IndexFunc(l.tables, func(t sqldb.Table) bool { return t.Name == next.Name })
	if _, seen := l.counts[next.Name]; seen || at < 0 {
		return errBackupCorrupt
	}
	// The order of columns may differ: migrations append them.
	if !slices.Equal(slices.Sorted(slices.Values(next.Columns)), slices.Sorted(slices.Values(l.tables[at].Columns))) {
		return fmt.Errorf("table %s: the columns differ from this schema, nothing was restored", next.Name)
	}
	l.current = next
	l.counts[next.Name] = 0
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
		var err error
		if row[i], err = decodeValue(value); err != nil {
			return err
		}
	}
	l.values = append(l.values, row...)
	l.counts[l.current.Name]++
	if len(l.values) < l.batch*len(row) && len(l.values)+len(row) <= maxParameters {
		return nil
	}
	return l.flush(ctx)
}

// decodeValue is the inverse of encodeValue.
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
	if len(l.values) == 0 {
		return nil
	}
	var rows []string
	for first := 1; first <= len(l.values); first += len(l.current.Columns) {
		rows = append(rows, "("+placeholders(first, len(l.current.Columns))+")")
	}
	statement := "INSERT INTO " + sqldb.QuoteIdent(l.current.Name) + //nolint:gosec // names from the catalog
		" (" + sqldb.QuoteIdent(l.current.Columns...) + ") VALUES " + strings.Join(rows, ", ")
	if _, err := l.tx.ExecContext(ctx, statement, l.values...); err != nil {
		return fmt.Errorf("table %s, nothing was restored: %w", l.current.Name, err)
	}
	l.values = l.values[:0]
	return nil
}

// lineReader reads lines and hashes them.
type lineReader struct {
	plain *gzip.Reader
	lines *bufio.Scanner
	sum   hash.Hash
}

func newLineReader(in io.Reader) (*lineReader, error) {
	plain, err := gzip.NewReader(in)
	if err != nil {
		return nil, errors.New("not a dotkontor backup: not gzip")
	}
	scanner := bufio.NewScanner(plain)
	scanner.Buffer(make([]byte, 0, 64<<10), maxLineBytes)
	return &lineReader{plain: plain, lines: scanner, sum: sha256.New()}, nil
}

// next returns a non-empty line, valid until the next call.
func (r *lineReader) next() ([]byte, error) {
	if !r.lines.Scan() || len(r.lines.Bytes()) == 0 {
		return nil, errBackupCorrupt // also at the end: the trailer must come first
	}
	return r.lines.Bytes(), nil
}

// addToHash hashes a line; the trailer is not hashed.
func (r *lineReader) addToHash(line []byte) {
	r.sum.Write(line)
	r.sum.Write([]byte{'\n'})
}

// atEOF reports that nothing follows and that gzip's checksum is correct.
func (r *lineReader) atEOF() bool { return !r.lines.Scan() && r.lines.Err() == nil }
