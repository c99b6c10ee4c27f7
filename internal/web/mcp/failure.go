package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// failure is the structured content of a failed call.
type failure struct {
	Code       string        `json:"code"`
	Message    string        `json:"message"`
	Retryable  bool          `json:"retryable"`
	RetryAfter int64         `json:"retryAfter,omitempty"`
	Reason     string        `json:"reason,omitempty"` // more specific than Code
	URL        string        `json:"url,omitempty"`    // where a human resolves the problem
	Items      []itemFailure `json:"items,omitempty"`
}

// Codes of failures.
const (
	invalidInput         = "invalid_input"
	unsupportedExtension = "unsupported_extension"
	rateLimited          = "rate_limited"
	upstreamFailed       = "upstream_failed"
	notFound             = "not_found"
	notPayable           = "not_payable"
	notCancelable        = "not_cancelable"
	internalFailure      = "internal"

	// Calls that were refused.
	signInRequired    = "sign_in_required"
	insufficientScope = "insufficient_scope"
)

// Outcomes are the outcomes of a tool call, as the metrics label them.
var Outcomes = []string{
	"ok", invalidInput, unsupportedExtension, rateLimited, upstreamFailed, notFound, notPayable, notCancelable, notChangeableCode, internalFailure, signInRequired, insufficientScope,
}

// argumentError is invalid input; its message names the argument.
type argumentError struct{ message string }

func (b *argumentError) Error() string { return "a bad argument" }

// Unwrap makes it a registrar.Error for the log, without its message.
func (b *argumentError) Unwrap() error { return registrar.Invalid("argument") }

func newArgumentError(format string, args ...any) error {
	return &argumentError{message: fmt.Sprintf(format, args...)}
}

// seconds rounds up to whole seconds, at least one.
func seconds(wait time.Duration) int64 { return max(1, int64((wait+time.Second-1)/time.Second)) }

// url returns the address of a page; empty for no path or without a portal.
func (s *Server) url(path string) string {
	if path == "" || !s.cfg.Portal {
		return ""
	}
	return s.cfg.BaseURL + path
}

// failureFor records why a tool failed and returns the failure for the model. An
// internal failure names the request id, because models see no headers.
func (s *Server) failureFor(state *requestState, err error) failure {
	f := s.failureOf(err)
	if f.Code == internalFailure && state.id != "" {
		f.Message += " Request ID: " + state.id
	}
	state.recordError(err)
	state.failureCode = f.Code
	return f
}

func (s *Server) failureOf(err error) failure {
	if argument, ok := errors.AsType[*argumentError](err); ok {
		return failure{Code: invalidInput, Message: argument.message}
	}
	if problems, ok := errors.AsType[*NotPayable](err); ok {
		return s.itemsRejected(problems.Items)
	}
	if ended, ok := errors.AsType[*NotCancelable](err); ok {
		return s.notCancelable(ended)
	}
	if problem, ok := errors.AsType[*notChangeable](err); ok {
		return s.autoRenewRefused(problem)
	}
	switch {
	case errors.Is(err, errNoDomain):
		return failure{Code: notFound, Message: messageNoDomain}
	case errors.Is(err, ErrNotFound):
		return failure{Code: notFound, Message: messageNotFound}
	case errors.Is(err, errNoOrders):
		return failure{Code: notPayable, Reason: string(order.NotServed), Message: messageNoOrders}
	}
	e, ok := errors.AsType[*registrar.Error](err)
	if !ok {
		return failure{Code: internalFailure, Message: messageInternal, Retryable: true}
	}
	switch e.Kind {
	case registrar.KindInvalid:
		return failure{Code: invalidInput, Message: messageFor(e.Code, messageBadName)}
	case registrar.KindUnsupported:
		return failure{Code: unsupportedExtension, Message: messageFor(e.Code, messageUnsupported)}
	case registrar.KindRateLimited:
		wait := seconds(e.RetryAfter)
		sentence := messageRateLimited
		switch e.Code {
		case codeOverTokenBudget:
			sentence = messageTokenLimited
		case order.OverBudget:
			sentence = messageNamesLimited
		}
		return failure{Code: rateLimited, Message: fmt.Sprintf(sentence, wait), Retryable: true, RetryAfter: wait}
	case registrar.KindNotFound:
		return failure{Code: notFound, Message: messageNotFound}
	case registrar.KindConflict, registrar.KindForbidden:
		f := failure{Code: notPayable, Message: messageFor(e.Code, messageNotPayable)}
		if e.Code == order.TooManyOpen {
			f.Reason, f.URL = string(order.TooManyOpen), s.url(ui.OrdersPath)
		}
		return f
	case registrar.KindUpstream:
		return failure{Code: upstreamFailed, Message: messageFor(e.Code, messageUpstream), Retryable: true}
	default:
		return failure{Code: internalFailure, Message: messageFor(e.Code, messageInternal), Retryable: true}
	}
}

func messageFor(code registrar.Code, otherwise string) string {
	return cmp.Or(messages[code], otherwise)
}

const (
	messageBadName      = "This is not a domain name. Give it with its extension, for example example.de."
	messageUnsupported  = "This extension is not in the price list. list_tlds shows those that are."
	messageRateLimited  = "The limit for this address is reached. Wait %d seconds before the next call."
	messageTokenLimited = "The limit for this access token is reached. Wait %d seconds before the next call." //nolint:gosec  // a text about tokens
	messageNamesLimited = "The limit for registry queries by this account is reached. Wait %d seconds before the next order."
	messageUpstream     = "The registry did not respond. Try again in a minute."
	messageInternal     = "Something went wrong on our side. Try again later."
	messageNotPayable   = "No order was created, because some items can't be ordered. Change or omit the items listed."
	messageUnasked      = "No order was created: the registries did not respond for the items listed. Call again after retryAfter seconds, or omit them."
	messageTerm         = "No order was created: the items listed are not sold for the requested number of years."
	messageNotFound     = "This customer has no such order. Use an orderId that start_order or list_orders returned."
	messageNoOrders     = "Nothing can be ordered here at the moment. Names and prices can be looked up; do not call this tool again in this conversation."
)

// messages say what is wrong with a name or a registry, and what to do.
var messages = map[registrar.Code]string{
	registrar.NameEmpty:        "The name is empty. Give a domain name, for example example.de.",
	registrar.NameNoExtension:  "The extension is missing. Give the full name, for example example.de, or use domain_search.",
	registrar.NameIsExtension:  "This is only an extension. Put a name before it, for example example.de, or use tld_price.",
	registrar.NameSubdomain:    "Only one label may precede the extension. Omit www and other parts.",
	registrar.NameEmptyLabel:   "A part of the name is empty. Check the dots.",
	registrar.NameLabelTooLong: "A part of the name is longer than 63 characters.",
	registrar.NameTooLong:      "The name is longer than 253 characters.",
	registrar.NameHyphenEdge:   "A part of a name must not begin or end with a hyphen.",
	registrar.NameHyphens34:    "The third and fourth characters must not both be hyphens.",
	registrar.NamePunycode:     "The part that begins with xn-- is not valid. Write the name in Unicode.",
	registrar.NameUnderscore:   "Underscores are not allowed in domain names. Use a hyphen.",
	registrar.NameAddress:      "This is an IP address. Give a domain name.",
	registrar.NameURL:          "This is a web address. Give only the domain name, without https:// and path.",
	registrar.NamePort:         "Give the domain name without colon and port.",
	registrar.NameEmail:        "This is an email address. Give only the domain name after the @.",
	registrar.NameControl:      "The name contains an invisible control character.",
	registrar.NameSpace:        "The name contains a space. Leave it out or use a hyphen.",
	registrar.NameCharacter:    "The name contains a character that is not allowed in domain names.",
	registrar.NameNotASCII:     "A search takes only a-z, 0-9 and hyphens. Check names with other letters with domain_check.",

	registrar.FaultTimeout:   "The registry did not respond in time. Try again in a minute.",
	registrar.FaultRefused:   "The registry can't be reached at the moment. Try again in a minute.",
	registrar.FaultThrottled: "The registry is rate-limiting us at the moment. Try again in a few minutes.",
	registrar.FaultBroken:    "The registry's response can't be read. Try again later.",
	registrar.FaultBusy:      "Too many lookups are in progress. Try again in a few seconds.",
	codeTokenUnchecked:       messageUnchecked,

	order.TooManyOpen:   "This customer has too many open orders. Ask the user to pay one at url, or cancel one with cancel_order (list_orders shows them); then call start_order again.",
	order.BadItems:      "Each domain name may occur only once. Remove the duplicates.",
	lookup.Undetermined: "No source says whether this name is registered.",
}
