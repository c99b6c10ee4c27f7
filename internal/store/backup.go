package store

import (
	"bufio"
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
	"slices"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// A backup is gzipped lines of JSON, the same for both engines, so that it can also be used
// to move from SQLite to PostgreSQL and back:
//
//	{"format":"dotkontor-backup","version":1,"schema":1,"made_at":"…"}
//	{"table":"customers","columns":["id","email",…]}
//	["cus_…","anna@example.com",…]        a row; one line each
//	…                                     each table after those it references
//	{"rows":{"customers":1,…},"sha256":"…"}
//
// The last line proves that the file is complete: it has the row counts and the SHA-256 of
// all lines before it. Text that is not UTF-8 is written as {"base64":"…"}.
const (
	backupFormat  = "dotkontor-backup"
	backupVersion = 1
	// maxLineBytes bounds a row, and so the memory for reading a hostile file.
	maxLineBytes = 16 << 20
)

type backupHeader struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Schema  int64     `json:"schema"`
	MadeAt  time.Time `json:"made_at"`
}

type backupTrailer struct {
	Rows   map[string]int64 `json:"rows"`
	SHA256 string           `json:"sha256"`
}

// Summary describes a backup.
type Summary struct {
	// Schema is the schema version of the rows.
	Schema int64
	MadeAt time.Time
	Tables int
	Rows   int64
}

// Backup writes a consistent snapshot of the database at opts to out, while others may
// write. It does not migrate the database.
func Backup(ctx context.Context, opts Options, now time.Time, out io.Writer) (Summary, error) {
	if !sqldb.Exists(opts) { // Open would create it
		return Summary{}, fmt.Errorf("no database in the data folder %s", opts.Data)
	}
	db, err := open(opts)
	if err != nil {
		return Summary{}, err
	}
	summary, err := db.backup(ctx, now, out)
	return summary, errors.Join(err, db.Close())
}

func (db *DB) backup(ctx context.Context, now time.Time, out io.Writer) (Summary, error) {
	tx, err := db.sql.BeginSnapshot(ctx)
	if err != nil {
		return Summary{}, fmt.Errorf("store: read the database: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // read only
	version, err := db.schemaVersion(ctx, tx)
	if err != nil {
		return Summary{}, err
	}
	if version == 0 {
		return Summary{}, errors.New("the database is empty")
	}
	tables, err := db.dataTables(ctx, tx)
	if err != nil {
		return Summary{}, err
	}
	lines := newLineWriter(out)
	lines.write(backupHeader{Format: backupFormat, Version: backupVersion, Schema: version, MadeAt: now.UTC()})
	counts := make(map[string]int64)
	summary := Summary{Schema: version, MadeAt: now, Tables: len(tables)}
	for _, t := range tables {
		if counts[t.Name], err = lines.table(ctx, tx, t); err != nil {
			return Summary{}, fmt.Errorf("table %s: %w", t.Name, err)
		}
		summary.Rows += counts[t.Name]
	}
	return summary, lines.finish(counts)
}

// dataTables returns the tables that a backup contains, each after those that it references.
// The migrations fill the others.
func (db *DB) dataTables(ctx context.Context, tx *sql.Tx) ([]sqldb.Table, error) {
	tables, err := db.sql.Tables(ctx, tx)
	return slices.DeleteFunc(tables, func(t sqldb.Table) bool { return t.Name == compatibilityTable }), err
}

// lineWriter writes lines, hashes them, and keeps the first error.
type lineWriter struct {
	compressed *gzip.Writer
	buffered   *bufio.Writer
	sum        hash.Hash
	err        error
}

func newLineWriter(out io.Writer) *lineWriter {
	compressed := gzip.NewWriter(out)
	return &lineWriter{compressed: compressed, buffered: bufio.NewWriterSize(compressed, 64<<10), sum: sha256.New()}
}

func (w *lineWriter) write(value any) {
	if w.err != nil {
		return
	}
	line, err := json.Marshal(value)
	if err == nil && len(line) >= maxLineBytes {
		err = fmt.Errorf("a row of %d bytes exceeds the limit of a backup", len(line))
	}
	if err != nil {
		w.err = err
		return
	}
	line = append(line, '\n')
	w.sum.Write(line)
	_, w.err = w.buffered.Write(line)
}

func (w *lineWriter) finish(counts map[string]int64) error {
	w.write(backupTrailer{Rows: counts, SHA256: hex.EncodeToString(w.sum.Sum(nil))})
	if w.err != nil {
		return w.err
	}
	return errors.Join(w.buffered.Flush(), w.compressed.Close())
}

func (w *lineWriter) table(ctx context.Context, tx *sql.Tx, t sqldb.Table) (written int64, err error) {
	w.write(t)
	query := "SELECT " + sqldb.QuoteIdent(t.Columns...) + " FROM " + sqldb.QuoteIdent(t.Name)
	for row, err := range sqldb.Rows(ctx, tx, query) {
		if err != nil {
			return 0, err
		}
		for i, value := range row {
			if row[i], err = encodeValue(value); err != nil {
				return 0, fmt.Errorf("column %s: %w", t.Columns[i], err)
			}
		}
		if w.write(row); w.err != nil {
			return 0, w.err
		}
		written++
	}
	return written, w.err
}

// encodeValue returns the form of a value in a backup. The schema has numbers and text
// only; any other type could not be restored faithfully.
func encodeValue(value any) (any, error) {
	switch value := value.(type) {
	case nil, int64:
		return value, nil
	case string:
		if utf8.ValidString(value) {
			return value, nil
		}
		return map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(value))}, nil
	default:
		return nil, fmt.Errorf("unsupported type %T", value)
	}
}
