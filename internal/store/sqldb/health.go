package sqldb

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Condition is a state of the database in which the service is degraded.
type Condition string

// The conditions. Lookups need no database and work under each of them.
const (
	// Unreachable: no connection can be made, or the database does not respond in time.
	Unreachable Condition = "unreachable"
	// DiskFull: the database can be read but not written.
	DiskFull Condition = "disk_full"
	// ReadOnly: the database refuses writes, or this user's writes.
	ReadOnly Condition = "read_only"
	// Failing: the database reports I/O errors or corrupt data.
	Failing Condition = "failing"
)

// Conditions lists all conditions.
var Conditions = []Condition{Unreachable, DiskFull, ReadOnly, Failing}

const (
	// The database is probed every probeInterval, and more often while it is degraded.
	probeInterval         = 10 * time.Second
	degradedProbeInterval = 3 * time.Second
	probeTimeout          = 5 * time.Second
	// minFreeSpace is the free space below which the disk of an SQLite database counts as
	// full. A small write may still succeed, in space that the log has already.
	minFreeSpace = 1 << 20
)

// Degraded is an active condition.
type Degraded struct {
	Condition Condition
	Since     time.Time
}

// health wraps driver errors and tracks the active conditions. A condition begins with
// the first error that indicates it and ends with a probe that no longer does. Its begin
// and its end are logged once each, however many requests fail in between.
type health struct {
	engine Engine
	logger *slog.Logger
	// generation increases when all sessions must be replaced: connections of an earlier
	// generation are not reused.
	generation atomic.Int64
	// statements and commits are counted for Statements and Commits.
	statements, commits atomic.Int64

	mu          sync.Mutex
	activeSince map[Condition]time.Time
	onError     func(class string)
}

func newHealth(e Engine, logger *slog.Logger) *health {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &health{engine: e, logger: logger, activeSince: make(map[Condition]time.Time), onError: func(string) {}}
}

const commitStatement = "COMMIT"

// count counts a statement that is sent to the database. Transaction control, migrations
// and probes are no statements of the product.
func (h *health) count(text string) {
	if strings.HasPrefix(text, queryNamePrefix) {
		h.statements.Add(1)
	} else if text == commitStatement {
		h.commits.Add(1)
	}
}

// Statements returns the number of queries that this process has sent.
func (db *DB) Statements() int64 { return db.health.statements.Load() }

// Commits returns the number of transactions that this process has committed; changes that
// share a commit count once.
func (db *DB) Commits() int64 { return db.health.commits.Load() }

// CountErrors sets a function that is called with the class of every unexpected database
// error. Violated constraints and canceled callers are expected.
func (db *DB) CountErrors(count func(class string)) {
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	db.health.onError = count
}

// ErrorClasses returns all classes that CountErrors can report.
func ErrorClasses() []string {
	all := slices.AppendSeq([]string{"sqlite_error", "server_error", "tls_refused", "unclassified"}, maps.Values(sqliteClasses))
	all = slices.AppendSeq(all, maps.Values(sqlStates))
	all = slices.AppendSeq(all, maps.Values(sqlStateClasses))
	all = slices.DeleteFunc(append(all, registrar.NetworkClasses()...), func(class string) bool { return !isUnexpectedClass(class) })
	slices.Sort(all)
	return slices.Compact(all)
}

// isUnexpectedClass reports whether errors of a class are counted. Lost connections are
// replaced by the pool.
func isUnexpectedClass(class string) bool {
	return class != "constraint" && class != "canceled" && class != classConnectionLost
}

// Degraded returns the active conditions.
func (db *DB) Degraded() []Degraded {
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	var all []Degraded
	for _, condition := range Conditions {
		if since, holds := db.health.activeSince[condition]; holds {
			all = append(all, Degraded{condition, since})
		}
	}
	return all
}

// wrapError returns the cause of a driver error, or nil for nil.
func (h *health) wrapError(operation string, err error) error {
	if err == nil || err == driver.ErrSkip { //nolint:errorlint // as database/sql does
		return err
	}
	cause := newCause(operation, err)
	_, begins := conditionByClass[cause.Class]
	// A missing privilege on one table does not imply the others: only the probe decides
	// that the database is read-only.
	cause.Outage = h.recordError(cause, conditionExplaining(cause.Class), begins && cause.Class != classPermission)
	return cause
}

// conditionByClass is the condition that an error on a connection indicates.
var conditionByClass = map[string]Condition{
	classDiskFull: DiskFull, classReadOnly: ReadOnly, classPermission: ReadOnly, classIO: Failing, classCorrupt: Failing,
}

// conditionExplaining returns the condition that explains errors of a class on a
// connection, or "". Network errors are explained by Unreachable, but only a failed
// connection attempt or the probe starts it.
func conditionExplaining(class string) Condition {
	if condition, known := conditionByClass[class]; known {
		return condition
	}
	unreachable := append(registrar.NetworkClasses(), classConnectionLost, "server_shutdown", "cannot_open", "tls_refused")
	if slices.Contains(unreachable, class) {
		return Unreachable
	}
	return ""
}

// wrapConnectError returns the cause of a failed connection attempt.
func (h *health) wrapConnectError(ctx context.Context, target string, err error) error {
	cause := newCause("connect", err)
	cause.Target = target
	condition := Unreachable
	switch cause.Class {
	case classDiskFull, classIO, classCorrupt:
		condition = conditionByClass[cause.Class]
	}
	cause.Outage = h.recordError(cause, condition, !errors.Is(ctx.Err(), context.Canceled))
	return cause
}

// recordError counts an error and, if begins is set, starts the condition. It reports
// whether the condition is active, so that callers need not log the error again.
func (h *health) recordError(cause *registrar.Cause, condition Condition, begins bool) (outage bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if isUnexpectedClass(cause.Class) {
		h.onError(cause.Class)
	}
	if begins {
		h.startCondition(condition, cause)
	}
	_, outage = h.activeSince[condition]
	return outage
}

func (h *health) startCondition(condition Condition, cause *registrar.Cause) {
	if _, active := h.activeSince[condition]; active {
		return
	}
	h.activeSince[condition] = time.Now()
	h.logger.Error("database degraded", "state", string(condition), "cause", cause.Error(), "action", h.operatorAction(condition, cause))
}

// actionByClass is the suggested action for an unreachable PostgreSQL server.
var actionByClass = map[string]string{
	"too_many_connections": "lower database.max_connections or raise the server's limit",
	"login_refused":        "check user and password in database.url",
	"timeout":              "the server accepts connections but does not respond: check its load and locks",
}

// actions is what an operator does about a condition.
var actions = map[Engine]map[Condition]string{
	SQLite: {
		Unreachable: "check that the data folder exists and that the service's user may read and write it",
		DiskFull:    "free space on the disk of the data folder",
		ReadOnly:    "make the data folder and the database writable for the service's user",
	},
	Postgres: {
		Unreachable: "check that the PostgreSQL server is running and that database.url has the right host, password and certificate",
		DiskFull:    "free space on the disk of the PostgreSQL server",
		ReadOnly:    "grant the database user write privileges, or connect to the primary server instead of a standby",
	},
}

func (h *health) operatorAction(condition Condition, cause *registrar.Cause) string {
	var dial *net.OpError // not accepted: the server's load is not the reason
	dialTimeout := errors.As(cause, &dial) && dial.Op == "dial"
	if condition == Unreachable && h.engine == Postgres && actionByClass[cause.Class] != "" && !dialTimeout {
		return actionByClass[cause.Class]
	}
	return cmp.Or(actions[h.engine][condition], damagedAction)
}

const damagedAction = "check the disk for errors; if data is damaged, restore the last backup into an empty database"

// ActionIfDamaged returns what an operator does if the database is damaged, which err says,
// or "".
func ActionIfDamaged(err error) string {
	var cause *registrar.Cause
	if errors.As(err, &cause) && conditionByClass[cause.Class] == Failing {
		return damagedAction
	}
	return ""
}

// applyProbeResult ends all conditions except the one that a probe found, if any, and starts that.
func (h *health) applyProbeResult(found Condition, cause *registrar.Cause) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, condition := range Conditions {
		since, held := h.activeSince[condition]
		if held && condition != found {
			delete(h.activeSince, condition)
			h.logger.Info("database recovered", "state", string(condition), "after", time.Since(since).Round(time.Second).String())
		}
	}
	if found != "" {
		h.startCondition(found, cause)
	}
}

// WatchHealth probes the database until ctx ends. It detects conditions without waiting
// for a request to fail, and detects their end.
func (db *DB) WatchHealth(ctx context.Context) {
	for {
		db.probe(ctx, probeTimeout)
		interval := probeInterval
		if len(db.Degraded()) > 0 {
			interval = degradedProbeInterval
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(interval):
		}
	}
}

// probe reads and writes once.
func (db *DB) probe(ctx context.Context, timeout time.Duration) {
	probeCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := db.probeReplacingSessions(probeCtx)
	if ctx.Err() != nil {
		return
	}
	if err == nil {
		db.health.applyProbeResult("", nil)
		return
	}
	var cause *registrar.Cause
	if !errors.As(err, &cause) { // from database/sql itself: no connection became free in time
		cause = newCause("probe", err)
	}
	if cause.Class == classLocked { // another process holds the write lock; no condition
		return
	}
	condition := cmp.Or(conditionByClass[cause.Class], Unreachable)
	db.health.applyProbeResult(condition, cause)
}

// probeReplacingSessions is probeReadWrite that reports read-only only if a new session is:
// PostgreSQL sessions keep the default_transaction_read_only of their login. While the
// condition is active all sessions are replaced, so that an old one can't start it again
// after its end.
func (db *DB) probeReplacingSessions(ctx context.Context) error {
	held := db.engine == Postgres && db.IsDegraded(ReadOnly)
	if held {
		db.health.generation.Add(1)
	}
	err := db.probeReadWrite(ctx)
	var cause *registrar.Cause
	if !held && db.engine == Postgres && errors.As(err, &cause) && cause.Class == classReadOnly {
		db.health.generation.Add(1)
		err = db.probeReadWrite(ctx)
	}
	return err
}

// probeReadWrite reads and writes once. The written value is meaningless, but it must be a
// change, because neither engine goes to the disk for less.
func (db *DB) probeReadWrite(ctx context.Context) error {
	var one int
	if err := db.reader.QueryRowContext(ctx, "SELECT 1").Scan(&one); err != nil {
		return err
	}
	if db.engine == Postgres {
		_, err := db.writer.ExecContext(ctx, "UPDATE "+VersionTable+" SET tstamp = tstamp WHERE version_id = (SELECT max(version_id) FROM "+VersionTable+")")
		return err
	}
	if free, known := freeSpace(db.dataDir); known && free < minFreeSpace {
		return &registrar.Cause{
			Part: registrar.PartDatabase, Operation: "probe", Class: classDiskFull, Code: fmt.Sprintf("%d KiB left", free>>10),
		}
	}
	_, err := db.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", time.Now().Unix()&0x7fffffff))
	if err != nil && ctx.Err() != nil {
		// SQLite waits longer for the write lock than the probe's timeout, and the read
		// has succeeded.
		return &registrar.Cause{Part: registrar.PartDatabase, Operation: "probe", Class: classLocked, Err: err}
	}
	return err
}

// IsDegraded reports whether a condition is active.
func (db *DB) IsDegraded(condition Condition) bool {
	return slices.ContainsFunc(db.Degraded(), func(d Degraded) bool { return d.Condition == condition })
}
