package rest

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Codes of requests that are invalid before their content is examined.
const (
	contentTypeNotJSON registrar.Code = "content_type"
	bodyTooLarge                      = httpjson.BodyTooLarge
	bodyUnreadable     registrar.Code = "body_unreadable"
	bodyEmpty          registrar.Code = "body_empty"
	bodyBroken         registrar.Code = "body_broken"
	bodyNoObject       registrar.Code = "body_no_object"
	overBudget                        = httpjson.OverBudget

	// Used by the router.
	NoSuchPath   registrar.Code = "no_such_path"
	NoSuchMethod                = httpjson.NoSuchMethod
)

func missingField(field string) registrar.Code   { return registrar.Code("missing_" + field) }
func wrongTypeField(field string) registrar.Code { return registrar.Code("wrong_type_" + field) }

// statuses are the contract's. Codes come before kinds; all other kinds are 500.
var (
	codeStatuses = map[registrar.Code]int{NoSuchPath: http.StatusNotFound, NoSuchMethod: http.StatusMethodNotAllowed}
	kindStatuses = map[registrar.Kind]int{
		registrar.KindInvalid:     http.StatusBadRequest,
		registrar.KindUnsupported: http.StatusBadRequest,
		registrar.KindRateLimited: http.StatusTooManyRequests,
		registrar.KindUpstream:    http.StatusBadGateway,
	}
)

func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	return cmp.Or(codeStatuses[registrar.CodeOf(err)], kindStatuses[registrar.KindOf(err)], http.StatusInternalServerError)
}

// WriteError writes the German Error body with the status of err's kind.
func WriteError(w http.ResponseWriter, err error) {
	httpjson.RecordError(w, err)
	httpjson.WriteJSON(w, statusOf(err), errorBody{Error: message(err)})
}

// rateLimitHeaders are the header parts that depend on the windows only.
type rateLimitHeaders struct {
	policy []string
	// names are the prefixes of the RateLimit header, one per window. A window is named
	// by its length: "60s".
	names []string
}

func newRateLimitHeaders(windows []ratelimit.Window) *rateLimitHeaders {
	h := &rateLimitHeaders{}
	var policy []string
	for _, window := range windows {
		length := strconv.FormatInt(seconds(window.Per), 10)
		name := `"` + length + `s"`
		policy = append(policy, name+";q="+strconv.Itoa(window.Limit)+";w="+length)
		h.names = append(h.names, name+";r=")
	}
	h.policy = []string{strings.Join(policy, ", ")}
	return h
}

// writeRateLimitHeaders reports the remaining budget: the headers of the IETF draft
// "RateLimit header fields for HTTP" for the tightest window, and Retry-After once the
// budget is spent.
func (h *Handler) writeRateLimitHeaders(header http.Header, d ratelimit.Decision, windows []ratelimit.Window) {
	if d.Window >= len(windows) {
		return
	}
	known, ok := h.headers.Load(&windows[0])
	if !ok {
		known, _ = h.headers.LoadOrStore(&windows[0], newRateLimitHeaders(windows))
	}
	texts := known.(*rateLimitHeaders) //nolint:errcheck,forcetypeassert // the map holds nothing else
	header["Ratelimit-Policy"] = texts.policy
	state := make([]byte, 0, 32)
	state = append(state, texts.names[d.Window]...)
	state = strconv.AppendInt(state, int64(d.Remaining), 10)
	state = append(state, ";t="...)
	// A strict window is slightly longer than its name says; the difference is hidden.
	state = strconv.AppendInt(state, min(seconds(d.Reset), seconds(windows[d.Window].Per)), 10)
	header["Ratelimit"] = []string{string(state)}
	if !d.Allowed {
		header["Retry-After"] = []string{strconv.Itoa(d.RetryAfterSeconds())}
	}
}

// seconds rounds up, so that a client which waits that long is admitted.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
