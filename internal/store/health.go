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

// Trouble is a condition of the database under which the service is degraded.
type Trouble string

// The conditions. Lookups need no database and go on under each of them.
const (
	// Unreachable: no connection can be made, or the database does not answer in time.
	Unreachable Trouble = "unreachable"
	// DiskFull: what is stored can be read, and nothing can be written.
	DiskFull Trouble = "disk_full"
	// ReadOnly: the database refuses writes, or refuses them to this user.
	ReadOnly Trouble = "read_only"
	// Failing: the database reports I/O errors or damaged data.
	Failing Trouble = "failing"
)

// Troubles are all conditions.
var Troubles = []Trouble{Unreachable, DiskFull, ReadOnly, Failing}

const (
	// probeEvery is how often the database is asked for a sign of life, probeAgain how
	// often while it is in trouble, probeWithin how long the answer may take.
	probeEvery  = 10 * time.Second
	probeAgain  = 3 * time.Second
	probeWithin = 5 * time.Second
	// spaceReserve is how much space the disk of an SQLite database must have left. A
	// small write may still succeed below it, in space that the log has already.
	spaceReserve = 1 << 20
)

// Degraded is a condition that holds, and since when.
type Degraded struct {
	Trouble Trouble
	Since   time.Time
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

	mu     sync.Mutex
	holds  map[Trouble]time.Time
	counts func(class string)
}

func newHealth(e engine, logger *slog.Logger) *health {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &health{engine: e, logger: logger, holds: make(map[Trouble]time.Time), counts: func(string) {}}
}

// CountErrors has counts called with the class of every unexpected error of the
// database; violated constraints and callers that left are expected.
func (db *DB) CountErrors(counts func(class string)) {
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	db.health.counts = counts
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
	maps.DeleteFunc(all, func(class string, _ bool) bool { return !counted(class) })
	return slices.Sorted(maps.Keys(all))
}

// counted says whether errors of a class are unexpected errors. Lost connections are
// opened again.
func counted(class string) bool {
	return class != "constraint" && class != "canceled" && class != classLost
}

// Degraded are the conditions that hold.
func (db *DB) Degraded() []Degraded {
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	var all []Degraded
	for _, trouble := range Troubles {
		if since, holds := db.health.holds[trouble]; holds {
			all = append(all, Degraded{trouble, since})
		}
	}
	return all
}

// failed is the cause of an error of the driver; nil stays nil.
func (h *health) failed(operation string, err error) error {
	if err == nil || err == driver.ErrSkip { //nolint:errorlint // database/sql compares in the same way
		return err
	}
	class, code := classify(err)
	cause := &registrar.Cause{Part: registrar.PartDatabase, Operation: operation, Class: class, Code: code, Err: err}
	_, begins := troubleOf[class]
	// A missing right on one table says nothing about the others: the probe decides
	// whether the database is read-only.
	cause.Outage = h.note(cause, conditionOf(class), begins && class != classPermission)
	return cause
}

// troubleOf is what an error within a connection says about the database.
var troubleOf = map[string]Trouble{
	classDiskFull: DiskFull, classReadOnly: ReadOnly, classPermission: ReadOnly, classIO: Failing, classCorrupt: Failing,
}

// conditionOf is the condition that explains errors of a class within a connection; it is
// empty for errors that are none of the database's conditions. Errors of the network are
// part of an outage that a failed connection or the probe begins.
func conditionOf(class string) Trouble {
	if trouble, known := troubleOf[class]; known {
		return trouble
	}
	switch {
	case class == classLost, class == "server_shutdown", class == "cannot_open", class == "tls_refused", slices.Contains(registrar.NetworkClasses(), class):
		return Unreachable
	}
	return ""
}

// connectFailed is the cause of a connection that could not be made.
func (h *health) connectFailed(ctx context.Context, target string, err error) error {
	class, code := classify(err)
	cause := &registrar.Cause{Part: registrar.PartDatabase, Operation: "connect", Target: target, Class: class, Code: code, Err: err}
	trouble := Unreachable
	if class == classDiskFull {
		trouble = DiskFull
	}
	cause.Outage = h.note(cause, trouble, !errors.Is(ctx.Err(), context.Canceled))
	return cause
}

// note counts an error and begins the condition that it shows. It reports whether the
// condition that explains the error holds, which has its own record in the log then.
func (h *health) note(cause *registrar.Cause, trouble Trouble, begins bool) (outage bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if counted(cause.Class) {
		h.counts(cause.Class)
	}
	if begins {
		h.begin(trouble, cause)
	}
	_, outage = h.holds[trouble]
	return outage
}

func (h *health) begin(trouble Trouble, cause *registrar.Cause) {
	if _, holds := h.holds[trouble]; holds {
		return
	}
	h.holds[trouble] = time.Now()
	h.logger.Error("database degraded", "state", string(trouble), "cause", cause.Error(), "action", h.action(trouble, cause))
}

// actionOf is what an operator does about a PostgreSQL server that is unreachable for
// the reason of a class.
var actionOf = map[string]string{
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

// action is what an operator does about a condition.
func (h *health) action(trouble Trouble, cause *registrar.Cause) string {
	here := h.engine == sqlite
	switch {
	case trouble == Unreachable && !here && actionOf[cause.Class] != "" && !isDialTimeout(cause):
		return actionOf[cause.Class]
	case trouble == Unreachable && here:
		return "check that the data folder exists and that the service's user may read and write it"
	case trouble == Unreachable:
		return "check that the PostgreSQL server runs and that database.url names it, with the right password and certificate"
	case trouble == DiskFull && here:
		return "free space on the disk of the data folder"
	case trouble == DiskFull:
		return "free space on the disk of the PostgreSQL server"
	case trouble == ReadOnly && here:
		return "make the data folder and the database writable for the service's user"
	case trouble == ReadOnly:
		return "let the database user write, or connect to the primary server instead of a standby"
	default:
		return "check the disk for errors; if data is damaged, restore the last backup into an empty database"
	}
}

// settle makes holds what a probe has found: one condition, or none.
func (h *health) settle(found Trouble, cause *registrar.Cause) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, trouble := range Troubles {
		since, held := h.holds[trouble]
		if held && trouble != found {
			delete(h.holds, trouble)
			h.logger.Info("database recovered", "state", string(trouble), "after", time.Since(since).Round(time.Second).String())
		}
	}
	if found != "" {
		h.begin(found, cause)
	}
}

// Watch asks the database for a sign of life until ctx ends. It notices conditions
// before a customer does, and their end.
func (db *DB) Watch(ctx context.Context) {
	for {
		db.probe(ctx, probeWithin)
		pause := probeEvery
		if len(db.Degraded()) > 0 {
			pause = probeAgain
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// probe reads and writes once.
func (db *DB) probe(ctx context.Context, within time.Duration) {
	asking, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := db.readAndWriteAfresh(asking)
	if ctx.Err() != nil {
		return
	}
	var cause *registrar.Cause
	switch {
	case err == nil:
		db.health.settle("", nil)
		return
	case !errors.As(err, &cause): // of database/sql itself: no connection became free in time
		class, code := classify(err)
		cause = &registrar.Cause{Part: registrar.PartDatabase, Operation: "probe", Class: class, Code: code, Err: err}
	}
	trouble, known := troubleOf[cause.Class]
	switch {
	case cause.Class == classLocked: // another process writes for long; that ends
		return
	case !known:
		trouble = Unreachable
	}
	db.health.settle(trouble, cause)
}

// readAndWriteAfresh is readAndWrite that finds the database read-only only where a
// new session is: PostgreSQL sessions keep the default_transaction_read_only of their
// login. While the condition holds all sessions are replaced, so that none of them
// brings it back after its end.
func (db *DB) readAndWriteAfresh(ctx context.Context) error {
	held := db.engine == postgres && db.IsDegraded(ReadOnly)
	if held {
		db.health.generation.Add(1)
	}
	err := db.readAndWrite(ctx)
	var cause *registrar.Cause
	if !held && db.engine == postgres && errors.As(err, &cause) && cause.Class == classReadOnly {
		db.health.generation.Add(1)
		err = db.readAndWrite(ctx)
	}
	return err
}

// readAndWrite is the probe. What it writes is of no meaning, but it is a change:
// neither engine would go to the disk for less.
func (db *DB) readAndWrite(ctx context.Context) error {
	var one int
	if err := db.reader.QueryRowContext(ctx, "SELECT 1").Scan(&one); err != nil {
		return err
	}
	if db.engine == postgres {
		_, err := db.writer.ExecContext(ctx, "UPDATE goose_db_version SET tstamp = tstamp WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
		return err
	}
	if free, known := freeSpace(db.folder); known && free < spaceReserve {
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
func (db *DB) IsDegraded(trouble Trouble) bool {
	return slices.ContainsFunc(db.Degraded(), func(d Degraded) bool { return d.Trouble == trouble })
}
