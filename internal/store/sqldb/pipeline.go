package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// On PostgreSQL the round trips of a small transaction cost more than its statements. So
// BEGIN is sent with the first statement, and a statement whose result is not read is
// sent with the next query or with COMMIT. Statements keep their order. The failure of a
// statement, or that it affected no row (RequireRow), is then reported by a later one or by the
// commit; since PostgreSQL aborts a transaction at the first error, no change can handle one and
// continue. COMMIT waits until every required row is known.

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
	// otherwise is the error of the transaction if the statement affects no row; nil if it may.
	otherwise error
	// received is set when result is known.
	received bool
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

// RequireRow returns otherwise if a statement affected no row. The result of a statement that
// still waits is not worth a round trip: whatever sends it, at the latest the commit, returns
// otherwise and undoes what was sent after it.
func RequireRow(result sql.Result, err, otherwise error) error {
	if err != nil {
		return err
	}
	if s, ok := result.(*queuedStatement); ok && !s.received {
		s.otherwise = otherwise
		return nil
	}
	rows, err := result.RowsAffected()
	if err == nil && rows == 0 {
		return otherwise
	}
	return err
}

// pipelinedTx is a transaction whose statements wait. It uses its connection directly:
// database/sql would lock it and check its state for every statement that is only put into a
// list.
type pipelinedTx struct {
	*sql.Conn
	pipeline *pipeline
}

var _ DBTX = pipelinedTx{}

func (t pipelinedTx) ExecContext(ctx context.Context, text string, values ...any) (sql.Result, error) {
	return t.pipeline.enqueue(ctx, text, values)
}

func (p *pipeline) enqueue(ctx context.Context, text string, values []any) (*queuedStatement, error) {
	p.conn.health.count(text)
	s := &queuedStatement{pipeline: p, ctx: ctx, text: text, values: values}
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
	last := p.queued[len(p.queued)-1].text
	results, err := p.send(ctx, new(pgx.Batch))
	if err != nil {
		return err
	}
	p.err = p.conn.wrapError(last, results.Close())
	return p.err
}

// query sends a query together with the queued statements.
func (p *pipeline) query(ctx context.Context, text string, values []driver.NamedValue) (driver.Rows, error) {
	if p.err != nil {
		return nil, p.err
	}
	if len(p.queued) == 0 {
		return p.conn.queryPostgres(ctx, text, values)
	}
	batch := new(pgx.Batch)
	batch.Queue(text, plainValues(values)...)
	results, err := p.send(ctx, batch)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err == nil {
		var converted *postgresRows
		if converted, err = newPostgresRows(rows, results.Close); err == nil {
			return &instrumentedRows{converted, text, p.conn}, nil
		}
	}
	_ = results.Close() // after err
	p.err = p.conn.wrapError(text, err)
	return nil, p.err
}

// send sends the queued statements, followed by those of batch, and returns the results of the
// latter.
func (p *pipeline) send(ctx context.Context, batch *pgx.Batch) (pgx.BatchResults, error) {
	conn, err := p.conn.postgres()
	if err != nil {
		return nil, err
	}
	queued := p.queued
	p.queued, p.sent = nil, true
	after := batch.QueuedQueries
	batch.QueuedQueries = nil
	for _, s := range queued {
		batch.Queue(s.text, s.values...)
	}
	batch.QueuedQueries = append(batch.QueuedQueries, after...)
	results := conn.SendBatch(ctx, batch)
	for _, s := range queued {
		if s.result, err = results.Exec(); err != nil {
			p.err = p.conn.wrapError(s.text, err)
		} else if s.received = true; s.otherwise != nil && s.result.RowsAffected() == 0 {
			p.err = s.otherwise
		}
		if p.err != nil {
			_ = results.Close() // after p.err
			return nil, p.err
		}
	}
	return results, nil
}

// errRolledBack is the result of a commit that the server answered with a rollback.
var errRolledBack = errors.New("sqldb: the transaction was rolled back")

// commit sends COMMIT with the statements that still wait.
func (p *pipeline) commit(ctx context.Context) error {
	if !p.sent && len(p.queued) == 1 { // only BEGIN
		return nil
	}
	// What a statement must have affected is known before the transaction is committed.
	if slices.ContainsFunc(p.queued, func(s *queuedStatement) bool { return s.otherwise != nil }) {
		if err := p.flush(ctx); err != nil {
			return err
		}
	}
	committed, err := p.enqueue(ctx, commitStatement, nil)
	if err == nil {
		err = p.flush(ctx)
	}
	if err != nil {
		return err
	}
	p.sent = false
	if committed.result.String() != commitStatement {
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
	if err := change(rewritingDB{pipelinedTx{conn, p}, db.limitInliner, false}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return conn.Raw(func(any) error { return p.commit(ctx) })
}

var _ DBTX = (*sql.Conn)(nil)
