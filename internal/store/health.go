package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Condition is a condition of the database under which the service is degraded.
type Condition string

// The conditions. Lookups need no database and go on under each of them.
const (
	// Unreachable: no connection can be made, or the database does not answer in time.
	Unreachable Condition = "unreachable"
	// DiskFull: what is stored can be read, and nothing can be written.
	DiskFull Condition = "disk_full"
	// ReadOnly: the database refuses writes, or refuses them to this user.
	ReadOnly Condition = "read_only"
	// Failing: the database reports I/O errors or damaged data.
	Failing Condition = "failing"
)

// Conditions are all conditions.
var Conditions = []Condition{Unreachable, DiskFull, ReadOnly, Failing}

const (
	// probeInterval is how often the database is asked for a sign of life, probeAgain how
	// often while it is in trouble, probeWithin how long the answer may take.
	probeInterval         = 10 * time.Second
	degradedProbeInterval = 3 * time.Second
	probeTimeout          = 5 * time.Second
	// minFreeSpace is how much space the disk of an SQLite database must have left. A
	// small write may still succeed below it, in space that the log has already.
	minFreeSpace = 1 << 20
)

// Degraded is a condition that holds, and since when.
type Degraded struct {
	Condition Condition
	Since     time.Time
}

// health turns errors of the drivers into causes and knows which conditions hold. A
// condition begins with the first error that shows it and ends with a probe that
// finds it gone; each end has one log record, however many requests fail between.
type health struct {
	engine engine
	logger *slog.Logger
	// generation increases when all sessions must be replaced: connections from before
	// are not used again.
	generation atomic.Int64

	mu          sync.Mutex
	activeSince map[Condition]time.Time
	onError     func(class string)
}

func newHealth(e engine, logger *slog.Logger) *health {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &health{engine: e, logger: logger, activeSince: make(map[Condition]time.Time), onError: func(string) {}}
}

// CountErrors has counts called with the class of every unexpected error of the
// database; violated constraints and callers that left are expected.
func (db *DB) CountErrors(counts func(class string)) {
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	db.health.onError = counts
}

// ErrorClasses are all classes that CountErrors can report.
func ErrorClasses() []string {
	all := map[string]bool{"sqlite_error": true, "server_error": true, "tls_refused": true, "unclassified": true}
	for _, classes := range []map[string]string{sqlStates, sqlStateClasses} {
		for _, class := range classes {
			all[class] = true
		}
	}
	for _, class := range sqliteClasses {
		all[class] = true
	}
	for _, class := range registrar.NetworkClasses() {
		all[class] = true
	}
	maps.DeleteFunc(all, func(class string, _ bool) bool { return !isUnexpectedClass(class) })
	return slices.Sorted(maps.Keys(all))
}

// isUnexpectedClass says whether errors of a class are unexpected errors. Lost connections are
// opened again.
func isUnexpectedClass(class string) bool {
	return class != "constraint" && class != "canceled" && class != classConnectionLost
}

// Degraded are the conditions that hold.
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

// wrapError is the cause of an error of the driver; nil stays nil.
func (h *health) wrapError(operation string, err error) error {
	if err == nil || err == driver.ErrSkip { //nolint:errorlint // database/sql compares in the same way
		return err
	}
	class, code := classify(err)
	cause := &registrar.Cause{Part: registrar.PartDatabase, Operation: operation, Class: class, Code: code, Err: err}
	_, begins := conditionByClass[class]
	// A missing right on one table says nothing about the others: the probe decides
	// whether the database is read-only.
	cause.Outage = h.recordError(cause, conditionExplaining(class), begins && class != classPermission)
	return cause
}

// conditionByClass is what an error within a connection says about the database.
var conditionByClass = map[string]Condition{
	classDiskFull: DiskFull, classReadOnly: ReadOnly, classPermission: ReadOnly, classIO: Failing, classCorrupt: Failing,
}

// conditionExplaining is the condition that explains errors of a class within a connection; it is
// empty for errors that are none of the database's conditions. Errors of the network are
// part of an outage that a failed connection or the probe begins.
func conditionExplaining(class string) Condition {
	if condition, known := conditionByClass[class]; known {
		return condition
	}
	switch {
	case class == classConnectionLost, class == "server_shutdown", class == "cannot_open", class == "tls_refused", slices.Contains(registrar.NetworkClasses(), class):
		return Unreachable
	}
	return ""
}

// wrapConnectError is the cause of a connection that could not be made.
func (h *health) wrapConnectError(ctx context.Context, target string, err error) error {
	class, code := classify(err)
	cause := &registrar.Cause{Part: registrar.PartDatabase, Operation: "connect", Target: target, Class: class, Code: code, Err: err}
	condition := Unreachable
	if class == classDiskFull {
		condition = DiskFull
	}
	cause.Outage = h.recordError(cause, condition, !errors.Is(ctx.Err(), context.Canceled))
	return cause
}

// recordError counts an error and begins the condition that it shows. It reports whether the
// condition that explains the error holds, which has its own record in the log then.
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

// actionByClass is what an operator does about a PostgreSQL server that is unreachable for
// the reason of a class.
var actionByClass = map[string]string{
	"too_many_connections": "lower database.max_connections or raise the server's limit",
	"login_refused":        "check user and password in database.url",
	"timeout":              "the server accepts connections and does not answer: check its load and locks",
}

// isDialTimeout reports that no connection was accepted: the server's load is not the
// reason then.
func isDialTimeout(cause *registrar.Cause) bool {
	var dial *net.OpError
	return errors.As(cause, &dial) && dial.Op == "dial"
}

// operatorAction is what an operator does about a condition.
func (h *health) operatorAction(condition Condition, cause *registrar.Cause) string {
	here := h.engine == sqlite
	switch {
	case condition == Unreachable && !here && actionByClass[cause.Class] != "" && !isDialTimeout(cause):
		return actionByClass[cause.Class]
	case condition == Unreachable && here:
		return "check that the data folder exists and that the service's user may read and write it"
	case condition == Unreachable:
		return "check that the PostgreSQL server runs and that database.url names it, with the right password and certificate"
	case condition == DiskFull && here:
		return "free space on the disk of the data folder"
	case condition == DiskFull:
		return "free space on the disk of the PostgreSQL server"
	case condition == ReadOnly && here:
		return "make the data folder and the database writable for the service's user"
	case condition == ReadOnly:
		return "let the database user write, or connect to the primary server instead of a standby"
	default:
		return "check the disk for errors; if data is damaged, restore the last backup into an empty database"
	}
}

// applyProbeResult makes holds what a probe has found: one condition, or none.
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

// WatchHealth asks the database for a sign of life until ctx ends. It notices conditions
// before a customer does, and their end.
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
	var cause *registrar.Cause
	switch {
	case err == nil:
		db.health.applyProbeResult("", nil)
		return
	case !errors.As(err, &cause): // of database/sql itself: no connection became free in time
		class, code := classify(err)
		cause = &registrar.Cause{Part: registrar.PartDatabase, Operation: "probe", Class: class, Code: code, Err: err}
	}
	condition, known := conditionByClass[cause.Class]
	switch {
	case cause.Class == classLocked: // another process writes for long; that ends
		return
	case !known:
		condition = Unreachable
	}
	db.health.applyProbeResult(condition, cause)
}

// probeReplacingSessions is readAndWrite that finds the database read-only only where a
// new session is: PostgreSQL sessions keep the default_transaction_read_only of their
// login. While the condition holds all sessions are replaced, so that none of them
// brings it back after its end.
func (db *DB) probeReplacingSessions(ctx context.Context) error {
	held := db.engine == postgres && db.IsDegraded(ReadOnly)
	if held {
		db.health.generation.Add(1)
	}
	err := db.probeReadWrite(ctx)
	var cause *registrar.Cause
	if !held && db.engine == postgres && errors.As(err, &cause) && cause.Class == classReadOnly {
		db.health.generation.Add(1)
		err = db.probeReadWrite(ctx)
	}
	return err
}

// probeReadWrite is the probe. What it writes is of no meaning, but it is a change:
// neither engine would go to the disk for less.
func (db *DB) probeReadWrite(ctx context.Context) error {
	var one int
	if err := db.reader.QueryRowContext(ctx, "SELECT 1").Scan(&one); err != nil {
		return err
	}
	if db.engine == postgres {
		_, err := db.writer.ExecContext(ctx, "UPDATE goose_db_version SET tstamp = tstamp WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
		return err
	}
	if free, known := freeSpace(db.dataDir); known && free < minFreeSpace {
		return &registrar.Cause{
			Part: registrar.PartDatabase, Operation: "probe", Class: classDiskFull, Code: fmt.Sprintf("%d KiB left", free>>10),
		}
	}
	_, err := db.writer.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", time.Now().Unix()&0x7fffffff))
	if err != nil && ctx.Err() != nil {
		// SQLite waits longer for the write lock than a probe may take, and the database
		// has just been read.
		return &registrar.Cause{Part: registrar.PartDatabase, Operation: "probe", Class: classLocked, Err: err}
	}
	return err
}

// IsDegraded reports whether one of the conditions holds.
func (db *DB) IsDegraded(condition Condition) bool {
	return slices.ContainsFunc(db.Degraded(), func(d Degraded) bool { return d.Condition == condition })
}
