package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

const (
	// wantedGrowth is the maximum factor by which a query may be slower with a thousand
	// times the rows.
	wantedGrowth = 1.5
	smallRows    = 1_000
	// runsPerRound is how often a query runs in one part of a round, each time with
	// other keys. There are more rounds than elsewhere, because each is short.
	runsPerRound = 25
	scaleRounds  = 2 // for each of -rounds
	// remeasureFactor multiplies the rounds of a query that seems to grow too much.
	remeasureFactor = 4
	// maxQueryTime ends the rounds of a slow query, after leastRounds.
	maxQueryTime = 2 * time.Second
	minRounds    = 4
	// rowCountTolerance is the permitted difference of the rows found on the two sides:
	// the last page of a list is short, and with few rows it occurs more often.
	rowCountTolerance = 0.1
)

// dbPair is a small and a large database of one engine.
type dbPair struct {
	kind         engineKind
	small, large *sizedDB
}

// benchScale times every query of the product at a thousand and at a million rows in
// each table, alternating between the two databases. One engine follows the other, and
// its databases are removed first, so that the disk holds those of one engine only.
//
// Each query is timed in two ways. In one, a thousand customers are active on both
// sides: the tables are a thousand times larger, but the working set is not. In the
// other the keys are random, so that nearly every row is in no cache of the processor,
// the database or the system.
func benchScale(ctx context.Context, b bench) ([]measurement, error) {
	statements, err := readStatements(ctx)
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{b.folder, postgresFolder} {
		if err := requireDisk(folder, int64(b.rows)*bytesPerRow); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	progress := func(format string, args ...any) {
		b.progress("%4.0f s  %s", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	lines, failed := scaleOnSQLite(ctx, b, statements, progress)
	more, err := scaleOnPostgres(ctx, b, statements, progress)
	if errors.Is(err, pgtest.ErrMissing) {
		b.progress("  left out: %s", err)
		err = nil
	}
	return append(lines, more...), errors.Join(failed, err)
}

const (
	// bytesPerRow is the disk space that an engine needs for a row in each table: 11.5 kB
	// on SQLite, and more on PostgreSQL, which also has a log.
	bytesPerRow = 16_000
	// postgresFolder holds the databases of scripts/postgres.sh.
	postgresFolder = "/tmp"
)

// requireDisk fails if the disk of a folder has less space, which would show only after
// minutes of loading.
func requireDisk(folder string, need int64) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(folder, &disk); err != nil {
		return err
	}
	if free := int64(disk.Bavail) * int64(disk.Bsize); free < need { //nolint:unconvert // the types differ by system
		return fmt.Errorf("%s has %d GB of free space, and %d GB are needed for %d rows; set fewer -rows", folder, free/1e9, need/1e9, need/bytesPerRow)
	}
	return nil
}

func scaleOnSQLite(ctx context.Context, b bench, statements []statement, progress func(string, ...any)) (lines []measurement, err error) {
	folder := filepath.Join(b.folder, "scale")
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	return measureScale(ctx, b, statements, progress, onSQLite, func(size string) (store.Options, error) {
		return store.Options{Data: filepath.Join(folder, size)}, nil
	})
}

func scaleOnPostgres(ctx context.Context, b bench, statements []statement, progress func(string, ...any)) (lines []measurement, err error) {
	server, err := pgtest.Start(largeServer...) //nolint:contextcheck // the server must start and stop completely, even if the run is canceled
	if err != nil {
		return nil, err
	}
	var drops []func() error
	defer func() { //nolint:contextcheck // as above
		for _, drop := range drops {
			err = errors.Join(err, drop())
		}
		err = errors.Join(err, server.Stop())
	}()
	return measureScale(ctx, b, statements, progress, onPostgres, func(string) (store.Options, error) { //nolint:contextcheck // as above
		url, drop, err := server.NewDatabase()
		if err == nil {
			drops = append(drops, drop)
		}
		return store.Options{URL: url}, err
	})
}

// measureScale fills a small and a large database and measures the growth of each query.
func measureScale(ctx context.Context, b bench, statements []statement, progress func(string, ...any),
	kind engineKind, locate func(size string) (store.Options, error),
) (lines []measurement, err error) {
	s := &dbPair{kind: kind}
	defer func() { err = errors.Join(err, s.small.closeIfOpen(), s.large.closeIfOpen()) }()
	for _, size := range []struct {
		name string
		rows int64
		db   **sizedDB
	}{{"small", smallRows, &s.small}, {"large", int64(b.rows), &s.large}} {
		opts, err := locate(size.name)
		if err != nil {
			return nil, err
		}
		if *size.db, err = newSizedDB(ctx, kind, opts, size.rows, progress); err != nil {
			return nil, fmt.Errorf("%s: %w", kind.name, err)
		}
	}
	all, err := s.measure(ctx, statements, b.rounds*scaleRounds, progress)
	if len(all) == 0 {
		return nil, err
	}
	return growthMeasurements(b, kind, all), err // an error names the queries that failed
}

// largeServer configures PostgreSQL as for a million customers, with enough memory for
// hot data. Loading need not be recoverable.
var largeServer = []string{"shared_buffers=2GB", "wal_level=minimal", "max_wal_senders=0", "max_wal_size=2GB"}

func (s *dbPair) measure(ctx context.Context, statements []statement, rounds int, progress func(string, ...any)) ([]growth, error) {
	var all []growth
	var failed error // reported at the end, because loading took ten minutes
	for n, statement := range statements {
		g, err := statement.growth(ctx, s.small, s.large, rounds)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: query %s: %w", s.kind.name, statement.name, err))
			continue
		}
		if g.active.value() > wantedGrowth { // remeasure; the longer measurement counts
			progress("%s, query %d: %s: %s, remeasuring", s.kind.name, n+1, g.name, g.active)
			if again, err := statement.growth(ctx, s.small, s.large, remeasureFactor*rounds); err == nil {
				g = again
			}
		}
		all = append(all, g)
		progress("%s, query %d of %d: %s: %s; random: %s", s.kind.name, n+1, len(statements), g.name, g.active, g.random)
	}
	return all, failed
}

// growth is the result of a query.
type growth struct {
	name           string
	active, random factor
}

// factor is the time of a query with few and with many rows.
type factor struct{ small, large float64 } // microseconds

func (f factor) value() float64 { return f.large / f.small }

func (f factor) String() string {
	return fmt.Sprintf("%.2f (%.0f µs, then %.0f µs)", f.value(), f.small, f.large)
}

// growthMeasurements returns three measurements for each way of timing and lists all
// queries above the target.
func growthMeasurements(b bench, kind engineKind, all []growth) []measurement {
	rows := grouped(strconv.Itoa(b.rows))
	lines := factorMeasurements(b, kind.name+", from 1,000 to "+rows+" rows in each table, a thousand customers active", all, func(g growth) factor { return g.active })
	return append(lines, factorMeasurements(b, kind.name+", the same, anybody next", all, func(g growth) factor { return g.random })...)
}

// factorMeasurements puts the worst first.
func factorMeasurements(b bench, what string, all []growth, way func(growth) factor) []measurement {
	slices.SortFunc(all, func(x, y growth) int { return cmp.Compare(way(y).value(), way(x).value()) })
	values := make([]float64, 0, len(all))
	var above []string
	for _, g := range all {
		values = append(values, way(g).value())
		if way(g).value() > wantedGrowth {
			above = append(above, g.name+": "+way(g).String())
		}
	}
	if len(above) > 0 {
		b.progress("%s, above %.1f:\n  %s", what, wantedGrowth, strings.Join(above, "\n  "))
	}
	worst := all[0]
	return []measurement{
		newMeasurement(what+": the query that grows most", way(worst).value(), ratio, atMost(wantedGrowth),
			fmt.Sprintf("%s, of %d queries; from %.0f to %.0f µs", worst.name, len(all), way(worst).small, way(worst).large)),
		newMeasurement("  the median query", median(values), ratio, nil, ""),
		newMeasurement("  queries above", float64(len(above)), count, nil, ""),
	}
}

// growth alternates between the two sizes. Each run is timed separately and the medians
// are compared, so that an interrupted run does not count.
func (s statement) growth(ctx context.Context, few, many *sizedDB, rounds int) (growth, error) {
	for _, g := range []*sizedDB{few, many} { // active rows are warm
		if err := s.commitOnce(ctx, g); err != nil {
			return growth{}, err
		}
		if _, _, err := s.durations(ctx, g, smallRows, g.activeRowsInTurn()); err != nil {
			return growth{}, err
		}
	}
	active, err := s.factor(ctx, few, many, rounds, (*sizedDB).activeRow)
	if err != nil {
		return growth{}, err
	}
	anybody, err := s.factor(ctx, few, many, rounds, (*sizedDB).randomRow)
	return growth{name: s.name, active: active, random: anybody}, err
}

// commitOnce commits each writing statement once. If that splits a full index page,
// later runs find room there, as in production. A split that is rolled back would be
// repeated in each run.
func (s statement) commitOnce(ctx context.Context, g *sizedDB) error {
	if !s.writes {
		return nil
	}
	g.committed++
	set, err := s.arguments(g, g.rows-g.committed%g.rows-1, g.rows+smallRows+g.committed)
	if err != nil {
		return err
	}
	tx, err := g.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // no-op after a commit
	if _, err := s.run(ctx, g, tx, set); err != nil {
		return err
	}
	return tx.Commit()
}

func (s statement) factor(ctx context.Context, few, many *sizedDB, rounds int, pick func(*sizedDB) int64) (factor, error) {
	var times [2][]float64
	var touched [2]float64
	began := time.Now()
	for n := range rounds {
		if n >= minRounds && time.Since(began) > maxQueryTime {
			break
		}
		for i, g := range []*sizedDB{few, many} {
			took, found, err := s.durations(ctx, g, runsPerRound, func() int64 { return pick(g) })
			if err != nil {
				return factor{}, err
			}
			times[i] = append(times[i], took...)
			touched[i] += float64(found)
		}
	}
	more := max(touched[0], touched[1])
	if slices.Contains(emptyResultQueries, s.name) {
		more = 0 // occasionally a row is found
	}
	if touched[0] < more*(1-rowCountTolerance) || touched[1] < more*(1-rowCountTolerance) {
		return factor{}, fmt.Errorf("the query finds %.0f rows in the small database and %.0f in the large one, so its times can't be compared", touched[0], touched[1])
	}
	return factor{small: median(times[0]), large: median(times[1])}, nil
}

// runner is a pool or a transaction.
type runner interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// durations returns the microseconds of each run of a statement, run as in the product:
// reads on any connection, writes in a transaction. That is rolled back, because a
// commit costs the same at every size and would hide the rest.
func (s statement) durations(ctx context.Context, g *sizedDB, runs int64, pick func() int64) (all []float64, touched int64, err error) {
	all = make([]float64, 0, runs)
	for n, start := int64(0), time.Now(); n < runs && (n < minRounds || time.Since(start) < maxQueryTime); n++ {
		set, err := s.arguments(g, pick(), g.rows+n)
		if err != nil {
			return nil, 0, err
		}
		began := time.Now()
		found, err := s.runOnce(ctx, g, set)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, float64(time.Since(began).Nanoseconds())/1000)
		touched += found
	}
	if touched == 0 && !slices.Contains(emptyResultQueries, s.name) {
		return nil, 0, errors.New("the query finds no row, so its time is meaningless: see columnsByName in scaledata.go, or emptyResultQueries")
	}
	return all, touched, nil
}

func (s statement) runOnce(ctx context.Context, g *sizedDB, set []any) (n int64, err error) {
	if !s.writes {
		return s.run(ctx, g, g.reader, set)
	}
	tx, err := g.writer.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	n, err = s.run(ctx, g, tx, set)
	return n, errors.Join(err, tx.Rollback())
}

// run returns the number of rows found or changed.
func (s statement) run(ctx context.Context, g *sizedDB, on runner, set []any) (int64, error) {
	text, set := g.db.SQL().RewriteSQL(s.text, set)
	if !s.answers {
		result, err := on.ExecContext(ctx, text, set...)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	}
	rows, err := on.QueryContext(ctx, text, set...)
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
