package sqldb

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	sqlitedriver "modernc.org/sqlite"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Error classes that code depends on.
const (
	classDiskFull       = "disk_full"
	classReadOnly       = "read_only"
	classPermission     = "permission_denied"
	classConnectionLost = "connection_lost"
	classLocked         = "locked"
	classIO             = "io_error"
	classCorrupt        = "database_corrupt"
)

// sqliteClasses are the primary result codes (https://sqlite.org/rescode.html).
var sqliteClasses = map[int]string{
	3: classPermission, 5: classLocked, 6: classLocked, 7: "out_of_memory", 8: classReadOnly, 9: "interrupted", 10: classIO,
	11: classCorrupt, 13: classDiskFull, 14: "cannot_open", 17: "schema_changed", 19: "constraint", 23: classPermission, 26: classCorrupt,
}

// sqlStates are PostgreSQL error codes that are classified individually (appendix A of
// its manual); sqlStateClasses classify the others by their first two characters.
var (
	sqlStates = map[string]string{
		"53100": classDiskFull, "53200": "out_of_memory", "53300": "too_many_connections", "25006": classReadOnly, "42501": classPermission,
		"40P01": "deadlock", "40001": "serialization_failure", "57014": "statement_timeout", "55P03": "lock_timeout",
		"3D000": "no_such_database", "XX001": classCorrupt, "XX002": classCorrupt, "25P02": "transaction_aborted",
		"25P03": "transaction_timeout", "25P04": "transaction_timeout", "57P05": "session_timeout",
	}
	sqlStateClasses = map[string]string{
		"08": classConnectionLost, "22": "invalid_value", "23": "constraint", "28": "login_refused", "42": "schema_mismatch", "53": "out_of_resources",
		"57": "server_shutdown", "58": classIO,
	}
)

// IsDeadlock reports whether PostgreSQL has rolled a transaction back so that another one could
// continue. It can be repeated.
func IsDeadlock(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == "40P01"
}

// newCause returns the cause of a driver error.
func newCause(operation string, err error) *registrar.Cause {
	class, code := classify(err)
	return &registrar.Cause{Part: registrar.PartDatabase, Operation: operation, Class: class, Code: code, Err: err}
}

// classify returns the class of a driver error and the engine's own code.
func classify(err error) (class, code string) {
	var lite *sqlitedriver.Error
	var server *pgconn.PgError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return registrar.NetworkClass(err), ""
	case errors.As(err, &lite):
		class = sqliteClasses[lite.Code()&0xff]
		return cmp.Or(class, "sqlite_error"), "SQLite " + strconv.Itoa(lite.Code())
	case errors.As(err, &server):
		class = cmp.Or(sqlStates[server.Code], sqlStateClasses[server.Code[:min(2, len(server.Code))]])
		return cmp.Or(class, "server_error"), "SQLSTATE " + server.Code
	case errors.Is(err, driver.ErrBadConn):
		return classConnectionLost, ""
	}
	if class := registrar.NetworkClass(err); class != "" {
		return class, ""
	}
	if strings.Contains(err.Error(), "server refused TLS connection") { // pgconn has no error type for it
		return "tls_refused", ""
	}
	return "unclassified", ""
}
