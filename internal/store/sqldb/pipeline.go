package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// On PostgreSQL the round trips of a small transaction cost more than its statements. So
// BEGIN is sent with the first statement, and a statement whose result is not read is
// sent with the next query or with COMMIT. Statements keep their order. The failure of a
// statement is then reported by a later one or by the commit; since PostgreSQL aborts a
// transaction at the first error, no change can handle one and continue. A statement that must
// affect a row (RequireRow) is sent in a form that fails without one, so nothing behind it runs,
// COMMIT included.

// maxQueuedStatements bounds the statements that wait, for changes of many rows.
const maxQueuedStatements = 64

// pipeline is a transaction on a connection to PostgreSQL.
type pipeline struct {
	conn      *instrumentedConn
	requiring *requiringTexts
	queued    []*queuedStatement
	sent      bool // something has been sent, so there is something to roll back
	err       error
}

// queuedStatement is a statement and its result.
type queuedStatement struct {
	pipeline *pipeline
	ctx      context.Context //nolint:containedctx // driver.Result has no parameter for it
	text     string
	values   []any
	// errNoRow fails the transaction if the statement affects no row; nil if it may.
	errNoRow error
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
// otherwise, and the transaction is undone.
func RequireRow(result sql.Result, err, otherwise error) error {
	if err != nil {
		return err
	}
	if s, ok := result.(*queuedStatement); ok && !s.received {
		s.errNoRow = otherwise
		return nil
	}
	rows, err := result.RowsAffected()
	if err == nil && rows == 0 {
		return otherwise
	}
	return err
}

// requiringTexts caches the forms of statements that fail if they affect no row.
type requiringTexts struct {
	mu    sync.RWMutex
	texts map[string]string // one entry per query of the generated package
}

func newRequiringTexts() *requiringTexts { return &requiringTexts{texts: make(map[string]string)} }

// text returns a form of an INSERT, UPDATE or DELETE that divides by zero if it affects no row.
func (r *requiringTexts) text(statement string) string {
	r.mu.RLock()
	text, found := r.texts[statement]
	r.mu.RUnlock()
	if found {
		return text
	}
	name, body := "", statement
	if strings.HasPrefix(statement, queryNamePrefix) {
		name, body, _ = strings.Cut(statement, "\n")
		name += "\n"
	}
	text = name + "WITH affected AS (" + body + "\nRETURNING 1) SELECT 1 / count(*) AS must_affect_a_row FROM affected"
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts[statement] = text
	return text
}

// lacksRow reports whether a statement that must affect a row failed because there was none.
// No other part of a statement that must affect a row divides.
func lacksRow(err error) bool {
	var reported *pgconn.PgError
	return errors.As(err, &reported) && reported.Code == divisionByZero
}

// divisionByZero is PostgreSQL's SQLSTATE for it.
const divisionByZero = "22012"

// pipelinedTx is a transaction whose statements wait. It queues them itself: database/sql would lock
// the connection and check its state for each.
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
	s := &queuedStatement{pipeline: p, ctx: ctx, text: text, values: slices.Clone(values)}
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
	results, err := p.send(ctx, new(pgx.Batch), last)
	if err == nil {
		p.err = p.conn.wrapError(last, results.Close())
	}
	return p.err
}

// query sends a query together with the queued statements.
func (p *pipeline) query(ctx context.Context, text string, values []driver.NamedValue) (rows driver.Rows, err error) {
	switch {
	case p.err != nil:
	case len(p.queued) == 0:
		rows, p.err = p.conn.queryPostgres(ctx, text, values)
	default:
		rows, p.err = p.queryAfterQueued(ctx, text, values)
	}
	return rows, p.err
}

func (p *pipeline) queryAfterQueued(ctx context.Context, text string, values []driver.NamedValue) (driver.Rows, error) {
	query := new(pgx.Batch)
	query.Queue(text, plainValues(values)...)
	results, err := p.send(ctx, query, text)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err == nil {
		var converted *postgresRows
		if converted, err = newPostgresRows(rows, results.Close); err == nil {
			return &instrumentedRows{Rows: converted, text: text, conn: p.conn}, nil
		}
	}
	_ = results.Close() // after err
	return nil, p.conn.wrapError(text, err)
}

// send sends the queued statements and then those of more, whose results it returns. last is the
// last text.
func (p *pipeline) send(ctx context.Context, more *pgx.Batch, last string) (pgx.BatchResults, error) {
	conn, err := p.conn.postgres()
	if err != nil {
		return nil, err
	}
	queued := p.queued
	p.queued, p.sent = nil, true
	var batch pgx.Batch
	for _, s := range queued {
		text := s.text
		if s.errNoRow != nil {
			text = p.requiring.text(text)
		}
		batch.Queue(text, s.values...)
	}
	batch.QueuedQueries = append(batch.QueuedQueries, more.QueuedQueries...)
	results := conn.SendBatch(ctx, &batch)
	for _, s := range queued {
		if s.result, err = results.Exec(); err == nil {
			s.received = true
			continue
		}
		if p.err = s.errNoRow; p.err == nil || !lacksRow(err) {
			p.err = p.conn.wrapError(failedText(err, s.text, last), err)
		}
		_ = results.Close() // after p.err
		return nil, p.err
	}
	return results, nil
}

// failedText returns the statement that an error is about. The server reports a statement in its
// place. Everything else, such as a deadline or a statement that can't be prepared, ends the batch
// before its first result, and is mostly about the last one, which is not BEGIN.
func failedText(err error, current, last string) string {
	var (
		reported   *pgconn.PgError
		unprepared pgx.ErrPreprocessingBatch
	)
	switch {
	case errors.As(err, &unprepared):
		return unprepared.SQL()
	case errors.As(err, &reported):
		return current
	default:
		return last
	}
}

// errRolledBack is the result of a commit that the server answered with a rollback.
var errRolledBack = errors.New("sqldb: the transaction was rolled back")

// commit sends COMMIT with the statements that still wait.
func (p *pipeline) commit(ctx context.Context) error {
	if !p.sent && len(p.queued) == 1 { // only BEGIN
		return nil
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
		p = &pipeline{conn: instrumented, requiring: db.requiringTexts}
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
