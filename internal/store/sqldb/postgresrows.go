package sqldb

import (
	"cmp"
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// Rows of PostgreSQL are decoded here: the driver plans how to scan each column again for
// every query, and that of an order returns more than sixty. Nearly all columns are text or 64-bit integers.

// postgres returns the connection below database/sql.
func (c *instrumentedConn) postgres() (*pgx.Conn, error) {
	driverConn, ok := c.fullConn.(interface{ Conn() *pgx.Conn })
	if !ok {
		return nil, errors.New("sqldb: the driver lacks an interface")
	}
	return driverConn.Conn(), nil
}

// queryPostgres runs a query on its own.
func (c *instrumentedConn) queryPostgres(ctx context.Context, text string, values []driver.NamedValue) (driver.Rows, error) {
	conn, err := c.postgres()
	if err != nil {
		return nil, err
	}
	if conn.IsClosed() {
		return nil, c.wrapError(text, driver.ErrBadConn)
	}
	rows, err := conn.Query(ctx, text, plainValues(values)...)
	if err == nil {
		var converted *postgresRows
		if converted, err = newPostgresRows(rows, nil); err == nil {
			return &instrumentedRows{Rows: converted, text: text, conn: c}, nil
		}
	} else if pgconn.SafeToRetry(err) { // nothing was sent: database/sql takes another connection
		err = driver.ErrBadConn
	}
	return nil, c.wrapError(text, err)
}

func plainValues(values []driver.NamedValue) []any {
	plain := make([]any, len(values))
	for i, value := range values {
		plain[i] = value.Value
	}
	return plain
}

// postgresRows are the rows of a query.
type postgresRows struct {
	rows pgx.Rows
	// more says whether rows is at a row that Next has not returned.
	more bool
	// finish ends what the query was sent with; nil if it was sent on its own.
	finish func() error
}

// newPostgresRows reads the first row, before which the columns are not known.
func newPostgresRows(rows pgx.Rows, finish func() error) (*postgresRows, error) {
	r := &postgresRows{rows: rows, more: rows.Next(), finish: finish}
	if err := rows.Err(); err != nil {
		rows.Close()
		return nil, err
	}
	return r, nil
}

func (r *postgresRows) Columns() []string {
	fields := r.rows.FieldDescriptions()
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name
	}
	return names
}

// ColumnTypeDatabaseTypeName returns a type such as INT8.
func (r *postgresRows) ColumnTypeDatabaseTypeName(index int) string {
	if known, ok := r.rows.Conn().TypeMap().TypeForOID(r.rows.FieldDescriptions()[index].DataTypeOID); ok {
		return strings.ToUpper(known.Name)
	}
	return ""
}

func (r *postgresRows) Next(row []driver.Value) error {
	if !r.more {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	fields := r.rows.FieldDescriptions()
	for i, raw := range r.rows.RawValues() {
		var err error
		if row[i], err = r.decode(fields[i].DataTypeOID, fields[i].Format, raw); err != nil {
			return fmt.Errorf("decode column %s: %w", fields[i].Name, err)
		}
	}
	r.more = r.rows.Next()
	return nil
}

// decode returns a value as database/sql expects it.
func (r *postgresRows) decode(kind uint32, format int16, raw []byte) (driver.Value, error) {
	switch {
	case raw == nil:
		return nil, nil
	case kind == pgtype.TextOID, kind == pgtype.VarcharOID: // the same bytes in both formats
		return string(raw), nil
	case kind == pgtype.Int8OID && format == pgx.BinaryFormatCode && len(raw) == 8:
		return int64(binary.BigEndian.Uint64(raw)), nil
	}
	types := r.rows.Conn().TypeMap()
	known, ok := types.TypeForOID(kind)
	if !ok {
		return string(raw), nil
	}
	if _, isArray := known.Codec.(*pgtype.ArrayCodec); isArray && format == pgx.BinaryFormatCode {
		return nil, errors.New("arrays are not supported")
	}
	return known.Codec.DecodeDatabaseSQLValue(types, kind, format, raw)
}

func (r *postgresRows) Close() error {
	r.rows.Close()
	err := r.rows.Err()
	if r.finish != nil {
		err = cmp.Or(err, r.finish()) // usually the same error
	}
	return err
}
