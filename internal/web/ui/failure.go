package ui

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// failure is the page of an error: a status and the keys of its texts.
type failure struct {
	status      int
	title, text string
}

// failuresByCode take precedence over failuresByKind.
var failuresByCode = map[registrar.Code]failure{
	crossSite:             {http.StatusForbidden, "failure.cross_site.title", "failure.cross_site"},
	tooLarge:              {http.StatusRequestEntityTooLarge, "failure.invalid.title", "failure.too_large"},
	httpjson.NoSuchMethod: {http.StatusMethodNotAllowed, "failure.invalid.title", "failure.no_such_method"},
	tooManyStreams:        {http.StatusServiceUnavailable, "failure.upstream.title", "failure.upstream"},
	MailOff:               {http.StatusServiceUnavailable, "failure.mail_off.title", "failure.mail_off"},
}

var failuresByKind = map[registrar.Kind]failure{
	registrar.KindInvalid:         {http.StatusBadRequest, "failure.invalid.title", "failure.invalid"},
	registrar.KindUnsupported:     {http.StatusBadRequest, "failure.invalid.title", "failure.invalid"},
	registrar.KindRateLimited:     {http.StatusTooManyRequests, "failure.rate_limited.title", "failure.rate_limited"},
	registrar.KindNotFound:        {http.StatusNotFound, "failure.not_found.title", "failure.not_found"},
	registrar.KindUnauthenticated: {http.StatusUnauthorized, "failure.unauthenticated.title", "failure.unauthenticated"},
	registrar.KindForbidden:       {http.StatusForbidden, "failure.forbidden.title", "failure.forbidden"},
	registrar.KindConflict:        {http.StatusConflict, "failure.conflict.title", "failure.conflict"},
	registrar.KindUpstream:        {http.StatusServiceUnavailable, "failure.upstream.title", "failure.upstream"},
}

// databaseFailure returns the texts of a request that the database could not serve. Whether it
// has changed something is certain unless the page had begun to handle a form: the database
// may have lost its connection after a first change, or while confirming the only one. One
// without space, or read-only, stores nothing at all.
func (req *Request) databaseFailure(err error) (title, text string, ok bool) {
	cause, is := errors.AsType[*registrar.Cause](err)
	if !is || cause.Part != registrar.PartDatabase || !cause.Outage {
		return "", "", false
	}
	refuses := cause.Class == "disk_full" || cause.Class == "read_only"
	if req.handling && req.R.Method == http.MethodPost && !refuses {
		return "failure.database.title", "failure.database_unsure", true
	}
	return "failure.database.title", "failure.database", true
}

func (req *Request) failureOf(err error) failure {
	f, ok := failuresByCode[registrar.CodeOf(err)]
	if !ok {
		f, ok = failuresByKind[registrar.KindOf(err)]
	}
	if !ok {
		f = failure{http.StatusInternalServerError, "failure.internal.title", "failure.internal"}
	}
	if title, text, ok := req.databaseFailure(err); ok {
		f.title, f.text = title, text
	}
	return f
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
	f := req.failureOf(err)
	wait, _ := req.SetRetryAfter(err)
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
	f := req.failureOf(err)
	wait, _ := req.SetRetryAfter(err)
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

// SetRetryAfter sets Retry-After if an error asks for a delay. words is the delay in
// words, rounded up.
func (req *Request) SetRetryAfter(err error) (words string, asked bool) {
	text := func(key string, number int) string { return req.frame.templates.Text(req.Language, key, number) }
	var e *registrar.Error
	if !errors.As(err, &e) || e.RetryAfter <= 0 {
		return text("wait.soon", 0), false
	}
	seconds := int(math.Ceil(e.RetryAfter.Seconds()))
	req.W.Header().Set("Retry-After", strconv.Itoa(seconds))
	switch {
	case seconds <= 1:
		return text("wait.second", seconds), true
	case seconds < 100:
		return text("wait.seconds", seconds), true
	default:
		return text("wait.minutes", (seconds+59)/60), true
	}
}
