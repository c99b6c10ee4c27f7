package acp

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// problem is an error response. The log records its code and never its message, which
// may quote the client.
type problem struct {
	status     int
	body       errorBody
	retryAfter time.Duration // sent if the request can be repeated; zero is not sent
	cause      error         // recorded in the log; nil means the code above
}

// errorBody is the protocol's Error.
type errorBody struct {
	Type     string   `json:"type"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	Param    string   `json:"param,omitempty"`
	Versions []string `json:"supported_versions,omitempty"`
}

// Types of errors. The schemas have no others.
const (
	invalidRequest     = "invalid_request"
	notIdempotent      = "request_not_idempotent" // 2025-09-29 only
	processingError    = "processing_error"
	serviceUnavailable = "service_unavailable"
)

// Codes of errors that clients can act on. Those of signatures come from package
// signing.
const (
	codeNotFound            = "not_found"
	codeMissing             = "missing"
	codeInvalid             = "invalid"
	codeOutOfStock          = "out_of_stock"
	codeConflict            = "conflict"
	codeDeclined            = "payment_declined"
	codeRateLimited         = "rate_limited"
	codeMissingField        = "missing_required_field"
	codeUnknownField        = "unknown_field"
	codeInvalidField        = "invalid_field"
	codeInvalidItem         = "invalid_item_id"
	codeQuantity            = "invalid_quantity"
	codeCurrency            = "unsupported_currency"
	codeProvider            = "unsupported_provider"
	codeHandler             = "unsupported_payment_handler"
	codeOption              = "invalid_fulfillment_option"
	codeBody                = "invalid_body"
	codeDuplicate           = "duplicate_key"
	codeContentType         = "unsupported_content_type"
	codeVersion             = "unsupported_api_version"
	codeKeyRequired         = "idempotency_key_required"
	codeKeyInvalid          = "invalid_idempotency_key"
	codeKeyConflict         = "idempotency_conflict"
	codeKeyInFlight         = "idempotency_in_flight"
	codeOutOfService        = "service_unavailable"
	codeInternal            = "internal_error"
	codeNoSuchMethod        = "method_not_allowed"
	codeTooManyOpen         = "too_many_open_sessions"
	codeRegistryUnavailable = "registry_unavailable"
)

func (p *problem) Error() string { return "a refused request (" + p.body.Code + ")" }

// Unwrap returns what the log records.
func (p *problem) Unwrap() error {
	if p.cause != nil {
		return p.cause
	}
	return &registrar.Error{Kind: cmp.Or(kinds[p.status], registrar.KindConflict), Code: registrar.Code(p.body.Code)}
}

// kinds of the statuses; all others are KindConflict.
var kinds = map[int]registrar.Kind{
	http.StatusUnauthorized:        registrar.KindUnauthenticated,
	http.StatusNotFound:            registrar.KindNotFound,
	http.StatusTooManyRequests:     registrar.KindRateLimited,
	http.StatusServiceUnavailable:  registrar.KindUpstream,
	http.StatusInternalServerError: registrar.KindInternal,
	http.StatusBadRequest:          registrar.KindInvalid,
}

func newProblem(status int, code, message, param string) *problem {
	kind := invalidRequest
	switch {
	case status == http.StatusPaymentRequired, status == http.StatusInternalServerError:
		kind = processingError
	case status > http.StatusInternalServerError:
		kind = serviceUnavailable
	}
	return &problem{status: status, body: errorBody{Type: kind, Code: code, Message: message, Param: param}}
}

// newInvalid is 400.
func newInvalid(code, message, param string) *problem {
	return newProblem(http.StatusBadRequest, code, message, param)
}

// asProblem finds the problem in err; nil if there is none.
func asProblem(err error) *problem {
	p, _ := errors.AsType[*problem](err)
	return p
}

// response is what is sent, and stored for a repetition.
type response struct {
	status  int
	header  map[string]string
	body    []byte
	pending bool // the outcome is open: the key may be used again
}

// seconds rounds up, so that a client which waits that long is admitted.
func seconds(d time.Duration) string {
	return strconv.FormatInt(max(1, int64((d+time.Second-1)/time.Second)), 10)
}
