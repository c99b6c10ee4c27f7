package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/pg"
)

const (
	// wantedGrowth is how much longer a query may take with a thousand times the
	// rows.
	wantedGrowth = 1.5
	fewRows      = 1_000
	// timesEach is how often a query runs in one part of a round, each time
	// with other keys. More rounds than elsewhere, since each is short.
	timesEach   = 100
	scaleRounds = 3 // for each of -rounds
)

// benchScale times every query of the product at a thousand and at a million
// rows in each table. The two databases take turns.
func benchScale(ctx context.Context, b bench) (lines []line, err error) {
	statements, err := readStatements(ctx)
	if err != nil {
		return nil, err
	}
	onDisk := func(rows int64) (store.Options, error) {
		return store.Options{Data: filepath.Join(b.folder, "scale-"+strconv.FormatInt(rows, 10))}, nil
	}
	lines, err = scaleOn(ctx, b, onSQLite, onDisk, statements)
	if err != nil {
		return nil, err
	}
	server, err := pg.Start() //nolint:contextcheck // the server must start and end whole, also when the run is stopped
	if errors.Is(err, pg.ErrMissing) {
		b.progress("  left out: %s", err)
		return lines, nil
	}
	if err != nil {
		return nil, err
	}
	var drops []func() error
	defer func() { //nolint:contextcheck // the server must start and end whole, also when the run is stopped
		for _, drop := range drops {
			err = errors.Join(err, drop())
		}
		err = errors.Join(err, server.Stop())
	}()
	onServer := func(int64) (store.Options, error) { //nolint:contextcheck // the server must start and end whole, also when the run is stopped
		url, drop, err := server.NewDatabase()
		if err == nil {
			drops = append(drops, drop)
		}
		return store.Options{URL: url}, err
	}
	more, err := scaleOn(ctx, b, onPostgres, onServer, statements)
	return append(lines, more...), err
}

func scaleOn(ctx context.Context, b bench, kind engineKind, where func(rows int64) (store.Options, error), statements []statement) (lines []line, err error) {
	var sizes []*grown
	defer func() {
		for _, g := range sizes {
			err = errors.Join(err, g.close())
		}
	}()
	for _, rows := range []int64{fewRows, int64(b.rows)} {
		b.progress("%s: %d rows in each table", kind.name, rows)
		opts, err := where(rows)
		if err != nil {
			return nil, err
		}
		g, err := grow(ctx, kind, opts, rows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.name, err)
		}
		sizes = append(sizes, g)
	}
	b.progress("%s: timing %d queries", kind.name, len(statements))
	var all []growth
	for _, s := range statements {
		g, err := s.growth(ctx, sizes[0], sizes[1], b.rounds*scaleRounds)
		if err != nil {
			return nil, fmt.Errorf("%s: query %s: %w", kind.name, s.name, err)
		}
		all = append(all, g)
	}
	return tellGrowth(b, kind, all), nil
}

// growth is how a query fared.
type growth struct {
	name      string
	factor    float64
	few, many float64 // microseconds
}

// tellGrowth puts the worst first.
func tellGrowth(b bench, kind engineKind, all []growth) []line {
	slices.SortFunc(all, func(x, y growth) int {
		if x.factor > y.factor {
			return -1
		}
		return 1
	})
	factors := make([]float64, 0, len(all))
	for n, g := range all {
		factors = append(factors, g.factor)
		if n < 5 {
			b.progress("  %s: %.2f (%.0f µs, then %.0f µs)", g.name, g.factor, g.few, g.many)
		}
	}
	worst := all[0]
	return []line{
		measured(kind.name+", the query that grows most from 1,000 to "+grouped(strconv.Itoa(b.rows))+" rows in each table", worst.factor, ratio, atMost(wantedGrowth),
			fmt.Sprintf("%s, of %d queries; from %.0f to %.0f µs", worst.name, len(all), worst.few, worst.many)),
		measured("  the median query", median(factors), ratio, nil, ""),
	}
}

// growth lets the two sizes take turns. Each run is timed for itself and the
// medians are compared, so that a run which the machine has interrupted does not
// count.
func (s statement) growth(ctx context.Context, few, many *grown, rounds int) (growth, error) {
	var fewTimes, manyTimes []float64
	for n := range rounds + 1 {
		for _, side := range []struct {
			g     *grown
			times *[]float64
		}{{few, &fewTimes}, {many, &manyTimes}} {
			took, err := s.times(ctx, side.g)
			if err != nil {
				return growth{}, err
			}
			if n > 0 { // the first one warms up
				*side.times = append(*side.times, took...)
			}
		}
	}
	g := growth{name: s.name, few: median(fewTimes), many: median(manyTimes)}
	g.factor = g.many / g.few
	return g, nil
}

// runner is a pool or a transaction.
type runner interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// times is how many microseconds the statement takes each time, as the product
// runs it: what only reads on any connection, what writes in a transaction of its
// own. That is taken back instead of committed, since a commit costs the same at
// every size and would hide the rest.
func (s statement) times(ctx context.Context, g *grown) ([]float64, error) {
	all := make([]float64, 0, timesEach)
	touched := int64(0)
	for n := range int64(timesEach) {
		set, err := s.arguments(g.tables, rand.Int64N(g.rows), g.rows+n)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		found, err := s.once(ctx, g, set)
		if err != nil {
			return nil, err
		}
		all = append(all, float64(time.Since(began).Nanoseconds())/1000)
		touched += found
	}
	if touched == 0 && !slices.Contains(mayMiss, s.name) {
		return nil, errors.New("it finds no row, so its time says nothing: see byName in scaledata.go, or mayMiss")
	}
	return all, nil
}

func (s statement) once(ctx context.Context, g *grown, set []any) (n int64, err error) {
	if !s.writes {
		return s.run(ctx, g.reader, set)
	}
	tx, err := g.writer.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	n, err = s.run(ctx, tx, set)
	return n, errors.Join(err, tx.Rollback())
}

// run returns how many rows were found or touched.
func (s statement) run(ctx context.Context, on runner, set []any) (int64, error) {
	if !s.answers {
		result, err := on.ExecContext(ctx, s.text, set...)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	}
	rows, err := on.QueryContext(ctx, s.text, set...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := int64(0)
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}
