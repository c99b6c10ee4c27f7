package page

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

const noSuchMethod registrar.Code = "no_such_method"

// failure is how an error looks: a status and the keys of its texts.
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
	case noSuchMethod:
		return failure{http.StatusMethodNotAllowed, "failure.invalid.title", "failure.no_such_method"}
	case crowdedOut:
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

// MailOff is the code of the error for what needs a letter where no letters can
// be sent.
const MailOff registrar.Code = "mail_off"

// fail shows the page of an error, or sends the visitor to the sign-in that is
// missing.
func (v *Visit) fail(err error) {
	err = inTime(err)
	wire.Annotate(v.W, err)
	if registrar.KindOf(err) == registrar.KindUnauthenticated {
		path := SignInPath
		if registrar.CodeOf(err) == registrar.SignInAgain && v.SignedIn {
			path = SignInAgainPath
		}
		_ = v.SignInFirst(path) // it only writes
		return
	}
	f := failureOf(err)
	wait := v.sayWhen(err)
	id := ""
	if f.status >= http.StatusInternalServerError {
		id = wire.RequestID(v.W)
	}
	view := View{Name: "failure", Status: f.status, Title: f.title, Data: struct {
		Status int
		Text   string
		Wait   string
		// ID is that of the request, for those who report the failure.
		ID string
	}{f.status, f.text, wait, id}}
	if err := v.frame.views.Render(v, view); err != nil {
		// Even the page of errors failed: say so in the least that is needed.
		wire.Annotate(v.W, err)
		http.Error(v.W, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
	}
}

// inTime gives the end of a visit's time its own kind: nothing is wrong here, but
// something behind us does not answer.
func inTime(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &registrar.Error{Kind: registrar.KindUpstream, Code: tookLong, Err: err}
	}
	return err
}

// failScript is fail for our own script.
func (v *Visit) failScript(err error) {
	err = inTime(err)
	wire.Annotate(v.W, err)
	f := failureOf(err)
	wait := v.sayWhen(err)
	answer := struct {
		Error string `json:"error"`
		// Go is where the script sends the browser.
		Go string `json:"go,omitempty"`
	}{Error: v.frame.views.Text(v.Language, f.text, wait)}
	var told *Told
	switch {
	case errors.As(err, &told):
		answer.Error = told.Sentence
	case registrar.KindOf(err) == registrar.KindUnauthenticated && v.back != SignInPath:
		path := SignInPath
		if v.SignedIn {
			path = SignInAgainPath
		}
		answer.Go = path + "?next=" + url.QueryEscape(v.back)
	}
	wire.WriteJSON(v.W, f.status, answer)
}

// Told is an error of a Script with a sentence of its own.
type Told struct {
	Sentence string
	Err      error
}

func (t *Told) Error() string { return t.Err.Error() }

// Unwrap gives the error its kind and code.
func (t *Told) Unwrap() error { return t.Err }

// sayWhen sets Retry-After and returns the wait in words.
func (v *Visit) sayWhen(err error) string {
	wait := RetryAfter(err)
	if wait <= 0 {
		return v.frame.views.Text(v.Language, "wait.soon")
	}
	seconds := int(math.Ceil(wait.Seconds()))
	v.W.Header().Set("Retry-After", strconv.Itoa(seconds))
	return Wait(v.frame.views, v.Language, wait)
}

// Wait says a duration in words, rounded up.
func Wait(views *Views, language string, wait time.Duration) string {
	switch seconds := int(math.Ceil(wait.Seconds())); {
	case seconds <= 1:
		return views.Text(language, "wait.second")
	case seconds < 100:
		return views.Text(language, "wait.seconds", strconv.Itoa(seconds))
	default:
		return views.Text(language, "wait.minutes", strconv.Itoa((seconds+59)/60))
	}
}
