package rest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// What can be wrong with a request before its content is looked at.
const (
	contentTypeNotJSON registrar.Code = "content_type"
	bodyTooLarge       registrar.Code = "body_too_large"
	bodyUnreadable     registrar.Code = "body_unreadable"
	bodyEmpty          registrar.Code = "body_empty"
	bodyBroken         registrar.Code = "body_broken"
	bodyNoObject       registrar.Code = "body_no_object"
	overBudget         registrar.Code = "over_budget"

	// NoSuchPath and NoSuchMethod are for the router, which has no sentences of
	// its own.
	NoSuchPath   registrar.Code = "no_such_path"
	NoSuchMethod registrar.Code = "no_such_method"
)

func missingField(field string) registrar.Code   { return registrar.Code("missing_" + field) }
func wrongTypeField(field string) registrar.Code { return registrar.Code("wrong_type_" + field) }

// statusOf turns a kind into the contract's status.
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	switch code := registrar.CodeOf(err); code {
	case NoSuchPath:
		return http.StatusNotFound
	case NoSuchMethod:
		return http.StatusMethodNotAllowed
	}
	switch registrar.KindOf(err) {
	case registrar.KindInvalid, registrar.KindUnsupported:
		return http.StatusBadRequest
	case registrar.KindRateLimited:
		return http.StatusTooManyRequests
	case registrar.KindUpstream:
		return http.StatusBadGateway
	default:
		return http.StatusInternalServerError
	}
}

// WriteError answers with the German Error body and the status of err's kind.
func WriteError(w http.ResponseWriter, err error) {
	wire.Annotate(w, err)
	wire.WriteJSON(w, statusOf(err), errorBody{Error: sentence(err)})
}

// writeBudget tells the client where it stands: the headers of the IETF draft
// "RateLimit header fields for HTTP" for the tightest window, and Retry-After
// once the budget is spent.
func writeBudget(header http.Header, d quota.Decision, windows []quota.Window) {
	var policy []byte
	for i, window := range windows {
		if i > 0 {
			policy = append(policy, ", "...)
		}
		policy = appendWindowName(policy, window)
		policy = append(policy, ";q="...)
		policy = strconv.AppendInt(policy, int64(window.Limit), 10)
		policy = append(policy, ";w="...)
		policy = strconv.AppendInt(policy, seconds(window.Per), 10)
	}
	header["Ratelimit-Policy"] = []string{string(policy)}
	if d.Window < len(windows) {
		state := appendWindowName(nil, windows[d.Window])
		state = append(state, ";r="...)
		state = strconv.AppendInt(state, int64(d.Remaining), 10)
		state = append(state, ";t="...)
		state = strconv.AppendInt(state, seconds(d.Reset), 10)
		header["Ratelimit"] = []string{string(state)}
	}
	if !d.Allowed {
		header["Retry-After"] = []string{strconv.Itoa(d.RetryAfterSeconds())}
	}
}

// appendWindowName names a window by its length, since that is what tells two
// of them apart: "60s".
func appendWindowName(b []byte, window quota.Window) []byte {
	b = append(b, '"')
	b = strconv.AppendInt(b, seconds(window.Per), 10)
	return append(b, `s"`...)
}

// seconds rounds up: a client that waits that long has waited long enough.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
