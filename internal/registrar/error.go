package registrar

import (
	"errors"
	"time"
)

// Kind is the coarse class of an Error. Every transport has one file that turns
// kinds into its own status or code.
type Kind uint8

const (
	// KindInvalid: the caller's input is wrong. Nothing happened.
	KindInvalid Kind = iota + 1
	// KindUnsupported: the input is fine, but we do not carry the extension.
	KindUnsupported
	// KindRateLimited: the caller must wait RetryAfter.
	KindRateLimited
	// KindUpstream: a server that we depend on failed.
	KindUpstream
	// KindInternal: our own fault.
	KindInternal
	// KindNotFound: there is no such object, or it is somebody else's: a caller
	// never learns which.
	KindNotFound
	// KindUnauthenticated: the caller must sign in, or sign in again.
	KindUnauthenticated
	// KindForbidden: the caller is known and may not do this.
	KindForbidden
	// KindConflict: the object is not in a state in which this can be done.
	KindConflict
)

func (k Kind) String() string {
	switch k {
	case KindInvalid:
		return "invalid"
	case KindUnsupported:
		return "unsupported"
	case KindRateLimited:
		return "rate_limited"
	case KindUpstream:
		return "upstream"
	case KindInternal:
		return "internal"
	case KindNotFound:
		return "not_found"
	case KindUnauthenticated:
		return "unauthenticated"
	case KindForbidden:
		return "forbidden"
	case KindConflict:
		return "conflict"
	default:
		return "unknown"
	}
}

// Code names one reason exactly. Transports key their sentences by it.
type Code string

// Error is the one error type that crosses package borders.
type Error struct {
	Kind Kind
	Code Code
	// Detail is for the operator's log. It must not contain a searched name, a
	// secret or anything personal.
	Detail string
	// RetryAfter is how long to wait before asking again; zero if unknown.
	RetryAfter time.Duration
	// Err is the cause, for errors.Is and errors.As. It is never printed,
	// because the texts of foreign errors quote addresses and names.
	Err error
}

func (e *Error) Error() string {
	text := e.Kind.String()
	if e.Code != "" {
		text += " (" + string(e.Code) + ")"
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Is lets errors.Is(err, &Error{Kind: k}) ask for a kind and
// errors.Is(err, &Error{Code: c}) ask for a code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	if !ok {
		return false
	}
	return (t.Kind == 0 || t.Kind == e.Kind) && (t.Code == "" || t.Code == e.Code)
}

// KindOf is the kind of err, KindInternal if err is none of ours.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return KindInternal
}

// CodeOf is the code of err, empty if err is none of ours.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// IsTransient reports whether the outcome of a call is undecided, so that it may be
// retried: the other side failed, throttled the call or could not be reached.
func IsTransient(err error) bool {
	switch KindOf(err) {
	case KindUpstream, KindRateLimited, KindInternal:
		return true
	default:
		return false
	}
}

// The ways in which a server outside fails us.
const (
	FaultTimeout   Code = "timeout"   // no answer in time
	FaultRefused   Code = "refused"   // no connection, or one that was cut
	FaultThrottled Code = "throttled" // it told us to slow down
	FaultBroken    Code = "broken"    // an answer that can't be understood
	FaultBusy      Code = "busy"      // we held back, to protect it or us
)

// Fault reports that a server outside failed. host is the server's name, never
// what was asked of it.
func Fault(code Code, host string, cause error) *Error {
	return &Error{Kind: KindUpstream, Code: code, Detail: host, Err: cause}
}
