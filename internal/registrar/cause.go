package registrar

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Cause describes a failure of the database or of another system. Every field may be
// logged: operations and classes are constants, targets come from the configuration,
// codes and references are filtered. Err holds the original error for errors.Is and
// errors.As and is never printed, because such texts quote names, addresses and values.
type Cause struct {
	// Part is the failing component: database, epp, stripe, smtp, vies, rdap, whois,
	// webhook.
	Part      string
	Operation string // the name of the query, command or call
	Target    string // the configured address of the other system
	// Class is one of a closed list of reasons, such as disk_full or
	// tls_unknown_authority. docs/operating.md says what to do about each.
	Class string
	// Code is the other system's own code: an SQLSTATE, an SQLite or EPP result code,
	// an HTTP status.
	Code      string
	Reference string // the other system's id of the exchange, such as an EPP svTRID
	// Outage marks a condition that is logged once when it begins and once when it
	// ends, so that each failed attempt need not log it.
	Outage bool
	Err    error
}

// Parts that are used by name. PartRegistry is a registry account whose connections are
// up or down.
const (
	PartDatabase = "database"
	PartRegistry = "registry"
	PartShared   = "shared" // what all nodes share outside the database
	PartTerms    = "terms"  // what happens at the ends of terms, while its safety brake is engaged
)

// PanicRecovered is the message of every log record about a recovered panic, so that
// they can be counted.
const PanicRecovered = "panic recovered"

// Error formats as "part: operation at target: class (code, reference)".
func (c *Cause) Error() string {
	text := c.Part + ": " + c.Operation
	if c.Target != "" {
		text += " at " + c.Target
	}
	text += ": " + c.Class
	switch {
	case c.Code != "" && c.Reference != "":
		text += " (" + c.Code + ", " + c.Reference + ")"
	case c.Code+c.Reference != "":
		text += " (" + c.Code + c.Reference + ")"
	}
	return text
}

// Unwrap returns the original error.
func (c *Cause) Unwrap() error { return c.Err }

// CauseOf describes err for the log without quoting foreign text. It is empty for an
// Error whose code says everything. Error types with a LogCause method describe
// themselves.
func CauseOf(err error) string {
	if cause, ok := errors.AsType[*Cause](err); ok {
		return cause.Error()
	}
	var loggable interface{ LogCause() string }
	if errors.As(err, &loggable) {
		return loggable.LogCause()
	}
	if ours, ok := errors.AsType[*Error](err); ok {
		if ours.Err == nil {
			return ""
		}
		err = ours.Err
	}
	if class := NetworkClass(err); class != "" {
		return class
	}
	return "unclassified: " + innermostType(err)
}

// LogFailure returns the log fields of an error: reason, code and cause.
func LogFailure(err error) slog.Attr {
	return slog.Group("", "reason", KindOf(err).String(), "code", string(CodeOf(err)), "cause", CauseOf(err))
}

// innermostType returns the type of the innermost wrapped error.
func innermostType(err error) string {
	for {
		switch wrapper := err.(type) { //nolint:errorlint // this walks the chain itself
		case interface{ Unwrap() error }:
			if next := wrapper.Unwrap(); next != nil {
				err = next
				continue
			}
		case interface{ Unwrap() []error }:
			if all := wrapper.Unwrap(); len(all) > 0 {
				err = all[0]
				continue
			}
		}
		return fmt.Sprintf("%T", err)
	}
}

// NetworkClass classifies the failure of a connection, a handshake or a file operation;
// empty for any other error.
func NetworkClass(err error) string {
	if class := tlsClass(err); class != "" {
		return class
	}
	number, _ := errors.AsType[syscall.Errno](err)
	switch {
	case err == nil:
		return ""
	case is[*net.DNSError](err):
		return "name_resolution_failed"
	case errnoClasses[number] != "":
		return errnoClasses[number]
	case IsTimeout(err):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "connection_closed"
	case number != 0:
		return "errno_" + strconv.Itoa(int(number))
	default:
		return ""
	}
}

// IsTimeout reports whether a deadline ended an exchange with another system.
func IsTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}

// NetworkFault returns the code of a failed exchange: FaultTimeout or FaultRefused.
func NetworkFault(err error) Code {
	if IsTimeout(err) {
		return FaultTimeout
	}
	return FaultRefused
}

// NetworkClasses lists the results of NetworkClass, except TLS alerts and unnamed
// errnos.
func NetworkClasses() []string {
	classes := []string{
		"name_resolution_failed", "timeout", "canceled", "connection_closed", "tls_unknown_authority", "tls_wrong_host_name",
		"tls_certificate_expired", "tls_certificate_invalid", "tls_not_spoken",
	}
	return slices.AppendSeq(classes, maps.Values(errnoClasses))
}

var errnoClasses = map[syscall.Errno]string{
	syscall.ECONNREFUSED: "connection_refused",
	syscall.ECONNRESET:   "connection_reset",
	syscall.EPIPE:        "connection_reset",
	syscall.EHOSTUNREACH: "network_unreachable",
	syscall.ENETUNREACH:  "network_unreachable",
	syscall.ETIMEDOUT:    "timeout",
	syscall.ENOSPC:       "disk_full",
	syscall.EDQUOT:       "disk_full",
	syscall.EROFS:        "read_only",
	syscall.EACCES:       "permission_denied",
	syscall.EPERM:        "permission_denied",
	syscall.EMFILE:       "too_many_open_files",
	syscall.ENFILE:       "too_many_open_files",
	syscall.ENOENT:       "no_such_file",
	syscall.EIO:          "io_error",
}

// is reports whether err is or wraps an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func tlsClass(err error) string {
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	alert, isAlert := errors.AsType[*net.OpError](err)
	switch {
	case is[x509.UnknownAuthorityError](err), is[x509.SystemRootsError](err):
		return "tls_unknown_authority"
	case is[x509.HostnameError](err):
		return "tls_wrong_host_name"
	case isInvalid && invalid.Reason == x509.Expired:
		return "tls_certificate_expired"
	case isInvalid, is[*tls.CertificateVerificationError](err):
		return "tls_certificate_invalid"
	case is[tls.RecordHeaderError](err):
		return "tls_not_spoken"
	case isAlert && alert.Op == "remote error":
		// The alert type is unexported in crypto/tls (RFC 8446, 6).
		if number := reflect.ValueOf(alert.Err); number.Kind() == reflect.Uint8 {
			return "tls_alert_" + strconv.FormatUint(number.Uint(), 10)
		}
		return "tls_alert"
	default:
		return ""
	}
}

// HTTPClass classifies an HTTP error status.
func HTTPClass(status int) string {
	switch {
	case status == 401, status == 403:
		return "login_refused"
	case status == 429:
		return "throttled"
	case status >= 500:
		return "server_error"
	default:
		return "http_status"
	}
}

// PlainReference returns text if it looks like an exchange id, otherwise an empty
// string; without a dot it can't be a domain name.
func PlainReference(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if len(text) > 64 || strings.Trim(text, plain) != "" {
		return ""
	}
	return text
}
