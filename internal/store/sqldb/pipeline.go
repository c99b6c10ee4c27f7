package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// On PostgreSQL the round trips of a small transaction cost more than its statements. So
// BEGIN is sent with the first statement, and a statement whose result is not read is
// sent with the next one or with COMMIT. Statements keep their order. The failure of a
// statement is then reported by a later one or by the commit; since PostgreSQL aborts a
// transaction at the first error, no change can handle one and continue.

// maxQueuedStatements bounds the statements that wait, for changes of many rows.
const maxQueuedStatements = 64

// pipeline is a transaction on a connection to PostgreSQL.
type pipeline struct {
	conn   *instrumentedConn
	queued []*queuedStatement
	sent   bool // something has been sent, so there is something to roll back
	err    error
}

// queuedStatement is a statement and its result.
type queuedStatement struct {
	pipeline *pipeline
	ctx      context.Context //nolint:containedctx // driver.Result has no parameter for it
	text     string
	values   []any
	result   pgconn.CommandTag
}

// RowsAffected sends the statement if it still waits.
func (s *queuedStatement) RowsAffected() (int64, error) {
	err := s.pipeline.flush(s.ctx)
	return s.result.RowsAffected(), err
}

func (*queuedStatement) LastInsertId() (int64, error) {
	return 0, errors.New("sqldb: PostgreSQL has no last inserted id")
}

func (p *pipeline) enqueue(ctx context.Context, text string, values []driver.NamedValue) (*queuedStatement, error) {
	s := &queuedStatement{pipeline: p, ctx: ctx, text: text, values: make([]any, len(values))}
	for i, value := range values {
		s.values[i] = value.Value
	}
	p.queued = append(p.queued, s)
	if len(p.queued) < maxQueuedStatements {
		return s, p.err
	}
	return s, p.flush(ctx)
}

// flush sends the queued statements and waits for their results. After a failure it
// returns the error of the first statement that failed.
func (p *pipeline) flush(ctx context.Context) error {
	if p.err != nil || len(p.queued) == 0 {
		return p.err
	}
	driverConn, ok := p.conn.fullConn.(interface{ Conn() *pgx.Conn })
	if !ok {
		return errors.New("sqldb: flush: the driver lacks an interface")
	}
	var batch pgx.Batch
	for _, s := range p.queued {
		batch.Queue(s.text, s.values...)
	}
	p.sent = true
	results := driverConn.Conn().SendBatch(ctx, &batch)
	last := p.queued[len(p.queued)-1]
	for _, s := range p.queued {
		var err error
		if s.result, err = results.Exec(); err != nil {
			p.err = p.conn.wrapError(s.text, err)
			break
		}
	}
	p.queued = nil
	if err := results.Close(); p.err == nil {
		p.err = p.conn.wrapError(last.text, err)
	}
	return p.err
}

// errRolledBack is the result of a commit that the server answered with a rollback.
var errRolledBack = errors.New("sqldb: the transaction was rolled back")

// commit sends COMMIT with the statements that still wait.
func (p *pipeline) commit(ctx context.Context) error {
	if !p.sent && len(p.queued) == 1 { // only BEGIN
		return nil
	}
	result, err := p.conn.ExecContext(ctx, commitStatement, nil)
	if err == nil {
		err = p.flush(ctx)
	}
	if err != nil {
		return err
	}
	p.sent = false
	if s, ok := result.(*queuedStatement); !ok || s.result.String() != commitStatement {
		return errRolledBack
	}
	return nil
}

// end takes the transaction off its connection and rolls it back if it was not committed.
// The connection is discarded if its state is unknown.
func (p *pipeline) end(ctx context.Context) error {
	p.conn.pipeline = nil
	if !p.sent {
		return nil
	}
	if _, err := p.conn.ExecContext(ctx, "ROLLBACK", nil); err != nil {
		return driver.ErrBadConn
	}
	return nil
}

// writePipelined runs change in a transaction that is committed if it returns nil.
func (db *DB) writePipelined(ctx context.Context, change func(DBTX) error) error {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // fails only if the connection was discarded
	var p *pipeline
	err = conn.Raw(func(driverConn any) error {
		instrumented, ok := driverConn.(*instrumentedConn)
		if !ok {
			return errors.New("sqldb: begin: the connection is not instrumented")
		}
		p = &pipeline{conn: instrumented}
		instrumented.pipeline = p
		_, err := p.enqueue(ctx, "BEGIN", nil)
		return err
	})
	if err != nil {
		return err
	}
	// Runs after a panic too. An error means that the connection was discarded.
	defer func() { _ = conn.Raw(func(any) error { return p.end(ctx) }) }()
	if err := change(rewritingDB{conn, db.limitInliner, false}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return conn.Raw(func(any) error { return p.commit(ctx) })
}

var _ DBTX = (*sql.Conn)(nil)
