package ui

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// failure is the page of an error: a status and the keys of its texts.
type failure struct {
	status      int
	title, text string
}

func failureOf(err error) failure {
	switch registrar.CodeOf(err) {
	case crossSite:
		return failure{http.StatusForbidden, "failure.cross_site.title", "failure.cross_site"}
	case tooLarge:
		return failure{http.StatusRequestEntityTooLarge, "failure.invalid.title", "failure.too_large"}
	case httpjson.NoSuchMethod:
		return failure{http.StatusMethodNotAllowed, "failure.invalid.title", "failure.no_such_method"}
	case tooManyStreams:
		return failure{http.StatusServiceUnavailable, "failure.upstream.title", "failure.upstream"}
	case MailOff:
		return failure{http.StatusServiceUnavailable, "failure.mail_off.title", "failure.mail_off"}
	}
	switch registrar.KindOf(err) {
	case registrar.KindInvalid, registrar.KindUnsupported:
		return failure{http.StatusBadRequest, "failure.invalid.title", "failure.invalid"}
	case registrar.KindRateLimited:
		return failure{http.StatusTooManyRequests, "failure.rate_limited.title", "failure.rate_limited"}
	case registrar.KindNotFound:
		return failure{http.StatusNotFound, "failure.not_found.title", "failure.not_found"}
	case registrar.KindUnauthenticated:
		return failure{http.StatusUnauthorized, "failure.unauthenticated.title", "failure.unauthenticated"}
	case registrar.KindForbidden:
		return failure{http.StatusForbidden, "failure.forbidden.title", "failure.forbidden"}
	case registrar.KindConflict:
		return failure{http.StatusConflict, "failure.conflict.title", "failure.conflict"}
	case registrar.KindUpstream:
		return failure{http.StatusServiceUnavailable, "failure.upstream.title", "failure.upstream"}
	case registrar.KindInternal:
	}
	return failure{http.StatusInternalServerError, "failure.internal.title", "failure.internal"}
}

// MailOff is the code of an operation that needs mail while mail is not configured.
const MailOff registrar.Code = "mail_off"

// renderError shows the page of an error, or redirects to the required sign-in.
func (req *Request) renderError(err error) {
	err = asTimeout(err)
	httpjson.RecordError(req.W, err)
	if registrar.KindOf(err) == registrar.KindUnauthenticated {
		path := SignInPath
		if registrar.CodeOf(err) == registrar.SignInAgain && req.SignedIn {
			path = SignInAgainPath
		}
		_ = req.RedirectToSignIn(path) // only writes headers
		return
	}
	f := failureOf(err)
	wait := req.setRetryAfter(err)
	id := ""
	if f.status >= http.StatusInternalServerError {
		id = httpjson.RequestID(req.W)
	}
	view := View{Name: "failure", Status: f.status, Title: f.title, Data: struct {
		Status int
		Text   string
		Wait   string
		// ID is the request id, to be quoted in a report.
		ID string
	}{f.status, f.text, wait, id}}
	if err := req.frame.templates.Render(req, view); err != nil {
		// Rendering the error page failed: respond with the minimum.
		httpjson.RecordError(req.W, err)
		http.Error(req.W, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
	}
}

// asTimeout classifies an expired request: an upstream or the database did not respond.
func asTimeout(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &registrar.Error{Kind: registrar.KindUpstream, Code: codeTimeout, Err: err}
	}
	return err
}

// writeScriptError is renderError for our own script.
func (req *Request) writeScriptError(err error) {
	err = asTimeout(err)
	httpjson.RecordError(req.W, err)
	f := failureOf(err)
	wait := req.setRetryAfter(err)
	answer := struct {
		Error string `json:"error"`
		// Go is where the script navigates to.
		Go string `json:"go,omitempty"`
	}{Error: req.frame.templates.Text(req.Language, f.text, wait)}
	var withMessage *MessageError
	switch {
	case errors.As(err, &withMessage):
		answer.Error = withMessage.Message
	case registrar.KindOf(err) == registrar.KindUnauthenticated && req.formPath != SignInPath:
		path := SignInPath
		if req.SignedIn {
			path = SignInAgainPath
		}
		answer.Go = WithNext(path, req.formPath)
	}
	httpjson.WriteJSON(req.W, f.status, answer)
}

// MessageError is an error of a Script with a message of its own.
type MessageError struct {
	Message string
	Err     error
}

func (t *MessageError) Error() string { return t.Err.Error() }

// Unwrap gives the error its kind and code.
func (t *MessageError) Unwrap() error { return t.Err }

// setRetryAfter sets Retry-After and returns the delay in words.
func (req *Request) setRetryAfter(err error) string {
	wait := RetryAfter(err)
	if wait <= 0 {
		return req.frame.templates.Text(req.Language, "wait.soon")
	}
	seconds := int(math.Ceil(wait.Seconds()))
	req.W.Header().Set("Retry-After", strconv.Itoa(seconds))
	return FormatWait(req.frame.templates, req.Language, wait)
}

// FormatWait returns a duration in words, rounded up.
func FormatWait(templates *Templates, language string, wait time.Duration) string {
	switch seconds := int(math.Ceil(wait.Seconds())); {
	case seconds <= 1:
		return templates.Text(language, "wait.second")
	case seconds < 100:
		return templates.Text(language, "wait.seconds", strconv.Itoa(seconds))
	default:
		return templates.Text(language, "wait.minutes", strconv.Itoa((seconds+59)/60))
	}
}
