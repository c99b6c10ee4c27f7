package registrar

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// Kind is the coarse class of an Error. Each transport maps kinds to its own status
// codes in one file.
type Kind uint8

// The kinds.
const (
	KindInvalid         Kind = iota + 1 // the caller's input is wrong; nothing happened
	KindUnsupported                     // the input is valid, but the extension is not offered
	KindRateLimited                     // the caller must wait RetryAfter
	KindUpstream                        // another system failed
	KindInternal                        // an internal error
	KindNotFound                        // there is no such object, or it belongs to another customer: deliberately the same
	KindUnauthenticated                 // the caller must sign in, or sign in again
	KindForbidden                       // the caller is authenticated but not allowed to do this
	KindConflict                        // the state of the object does not allow this
)

var kindNames = map[Kind]string{
	KindInvalid: "invalid", KindUnsupported: "unsupported", KindRateLimited: "rate_limited", KindUpstream: "upstream", KindInternal: "internal",
	KindNotFound: "not_found", KindUnauthenticated: "unauthenticated", KindForbidden: "forbidden", KindConflict: "conflict",
}

func (k Kind) String() string { return cmp.Or(kindNames[k], "unknown") }

// Code identifies the exact reason. Transports look up their messages by it.
type Code string

// Error is the error type that crosses package boundaries.
type Error struct {
	Kind Kind
	Code Code
	// Detail is for the operator's log. It must not contain a searched name, a
	// secret or anything personal.
	Detail string
	// RetryAfter is how long to wait before a retry; zero if unknown.
	RetryAfter time.Duration
	// Err is the cause, for errors.Is and errors.As. It is never printed, because
	// foreign error texts quote addresses and names.
	Err error
}

// Invalid returns an Error of KindInvalid.
func Invalid(code Code) error { return &Error{Kind: KindInvalid, Code: code} }

// NotFound returns an Error of KindNotFound.
func NotFound(code Code) error { return &Error{Kind: KindNotFound, Code: code} }

// Conflict returns an Error of KindConflict.
func Conflict(code Code) error { return &Error{Kind: KindConflict, Code: code} }

// Unsupported returns an Error of KindUnsupported.
func Unsupported(code Code) error { return &Error{Kind: KindUnsupported, Code: code} }

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

// Is matches by kind or code: errors.Is(err, &Error{Kind: k}) or errors.Is(err,
// &Error{Code: c}).
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	if !ok {
		return false
	}
	return (t.Kind == 0 || t.Kind == e.Kind) && (t.Code == "" || t.Code == e.Code)
}

// KindOf returns the kind of err; KindInternal if err is not an Error.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return KindInternal
}

// CodeOf returns the code of err; empty if err is not an Error.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// IsTransient reports whether the outcome of a call is undecided, so that it may be
// retried: the other side failed, throttled the call or could not be reached.
func IsTransient(err error) bool {
	kind := KindOf(err)
	return kind == KindUpstream || kind == KindRateLimited || kind == KindInternal
}

// The failures of another system.
const (
	FaultTimeout   Code = "timeout"   // no response in time
	FaultRefused   Code = "refused"   // connection refused or closed
	FaultThrottled Code = "throttled" // rate limited by the other system
	FaultBroken    Code = "broken"    // invalid response
	FaultBusy      Code = "busy"      // not sent: a local limit was reached
)

// Fault returns an error about another system. host is the server's name, never the
// request.
func Fault(code Code, host string, cause error) *Error {
	return &Error{Kind: KindUpstream, Code: code, Detail: host, Err: cause}
}

// DatabaseError gives a driver's error a kind and a code for the log; other errors, and
// nil, are returned as they are.
func DatabaseError(err error) error {
	if _, known := errors.AsType[*Error](err); known || err == nil {
		return err
	}
	code := Code("database")
	if errors.Is(err, context.DeadlineExceeded) {
		code = "database_timeout"
	}
	return &Error{Kind: KindInternal, Code: code, Err: err}
}
