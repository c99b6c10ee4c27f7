package epp

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Result codes that this package acts on (RFC 5730, 3).
const (
	codeCompleted        = 1000
	CodePending          = 1001
	CodeNoMessages       = 1300
	CodeAckToDequeue     = 1301
	CodeLogout           = 1500
	CodeValueRange       = 2004
	CodeAuthorization    = 2201
	CodeAuthInfo         = 2202
	CodePendingTransfer  = 2300
	CodeExists           = 2302
	CodeMissing          = 2303
	CodeFailed           = 2400
	CodeFailedClosing    = 2500
	CodeSessionsExceeded = 2502
)

// Codes of registrar.Error for registry refusals, in addition to those of package
// registrar.
const (
	ResultStatusProhibits registrar.Code = "epp_status_prohibits"
	ResultInUse           registrar.Code = "epp_in_use"
	ResultPolicy          registrar.Code = "epp_policy"
	ResultValue           registrar.Code = "epp_value"
	ResultTransferState   registrar.Code = "epp_transfer_state"
	ResultLogin           registrar.Code = "epp_login"
	ResultUnsupported     registrar.Code = "epp_unsupported"
	ResultSyntax          registrar.Code = "epp_syntax"
	ResultSessions        registrar.Code = "epp_sessions"
	ResultOutcomeUnknown  registrar.Code = "epp_outcome_unknown"
)

// ErrOutcomeUnknown means that a transform command was sent and its response was
// lost. The registry may have executed it; query before repeating.
var ErrOutcomeUnknown = errors.New("epp: response lost; the command may have been executed")

// meaningOf returns the error kind and code of a result code.
func meaningOf(code int) (registrar.Kind, registrar.Code) {
	switch code {
	case 2000, 2001, 2002:
		return registrar.KindInternal, ResultSyntax
	case 2003, 2004, 2005: // 2003: a parameter that this registry requires is missing
		return registrar.KindInvalid, ResultValue
	case 2100, 2101, 2102, 2103, 2307:
		return registrar.KindUnsupported, ResultUnsupported
	case 2104:
		return registrar.KindUpstream, registrar.EPPBilling
	case 2105, 2106:
		return registrar.KindConflict, registrar.EPPNotEligible
	case 2200, 2501:
		return registrar.KindUpstream, ResultLogin
	case 2201:
		return registrar.KindForbidden, registrar.EPPNotAllowed
	case 2202:
		return registrar.KindInvalid, registrar.EPPAuthInfo
	case 2300, 2301:
		return registrar.KindConflict, ResultTransferState
	case 2302:
		return registrar.KindConflict, registrar.EPPExists
	case 2303:
		return registrar.KindNotFound, registrar.EPPMissing
	case 2304:
		return registrar.KindConflict, ResultStatusProhibits
	case 2305:
		return registrar.KindConflict, ResultInUse
	case 2306, 2308:
		return registrar.KindInvalid, ResultPolicy
	case 2502:
		return registrar.KindUpstream, ResultSessions
	default: // 2400, 2500 and unknown ones
		return registrar.KindUpstream, registrar.FaultBroken
	}
}

// ResultError is a registry's refusal. Its text is the code alone; the other fields
// may contain names and personal data.
type ResultError struct {
	Code int
	// Message is the registry's text for the code.
	Message string
	// Reasons are its explanations, such as the rejected value.
	Reasons []string
}

func (e *ResultError) Error() string { return "EPP result " + strconv.Itoa(e.Code) }

// ResultCode returns the registry's result code in err, or 0.
func ResultCode(err error) int {
	var refused *ResultError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return 0
}

// response is one parsed frame from the server: a response or a greeting.
type response struct {
	greeting *Node

	code      int
	message   string
	reasons   []string
	clTRID    string
	svTRID    string
	queue     *Node
	data      *Node
	extension *Node

	// raw is the frame of a poll message, which is stored if it is not understood;
	// extensionUnread means that the protocol extension rejects its part of it.
	raw             []byte
	extensionUnread bool
}

var (
	errNotEPP          = errors.New("epp: response is not an EPP document")
	errNoResult        = errors.New("epp: response has no result")
	errTRIDMismatch    = errors.New("epp: response belongs to another command")
	errUnsolicited     = errors.New("epp: unsolicited response")
	errNoGreeting      = errors.New("epp: server sent no greeting")
	errResponseTimeout = errors.New("epp: response timed out")
)

// parseResponse parses one frame. The order of its parts does not matter.
func parseResponse(frame []byte) (*response, error) {
	root, err := parseDocument(frame)
	if err != nil {
		return nil, err
	}
	if !root.is(nsEPP, "epp") {
		return nil, errNotEPP
	}
	if greeting := root.Child(nsEPP, "greeting"); greeting != nil {
		return &response{greeting: greeting}, nil
	}
	node := root.Child(nsEPP, "response")
	result := node.Child(nsEPP, "result")
	code, err := strconv.Atoi(result.Attr("code"))
	if err != nil || code < 1000 || code > 2999 {
		return nil, errNoResult
	}
	ids := node.Child(nsEPP, "trID")
	a := &response{
		code:      code,
		message:   result.value(nsEPP, "msg"),
		clTRID:    ids.value(nsEPP, "clTRID"),
		svTRID:    ids.value(nsEPP, "svTRID"),
		queue:     node.Child(nsEPP, "msgQ"),
		data:      node.Child(nsEPP, "resData"),
		extension: node.Child(nsEPP, "extension"),
	}
	if code == CodeAckToDequeue {
		a.raw = bytes.Clone(frame)
	}
	if code >= 2000 {
		a.reasons = reasonsOf(node)
	}
	return a, nil
}

// reasonsOf collects the reasons of every result.
func reasonsOf(response *Node) []string {
	var reasons []string
	for _, result := range response.All(nsEPP, "result") {
		for _, part := range result.Children {
			switch part.Local {
			case "extValue": // the value, then the reason
				for _, child := range part.Children {
					if text := strings.TrimSpace(allText(child)); text != "" {
						reasons = append(reasons, text)
					}
				}
			case "value":
				if text := strings.TrimSpace(allText(part)); text != "" {
					reasons = append(reasons, text)
				}
			}
		}
	}
	return reasons
}

func allText(n *Node) string {
	text := n.Text
	for _, child := range n.Children {
		text += " " + allText(child)
	}
	return text
}

// closesSession reports whether the server ends the session with this response.
func (a *response) closesSession() bool { return a.code == CodeLogout || a.code >= CodeFailedClosing }

// asError returns the error of a response, nil if the command succeeded.
func (a *response) asError(to *Account, operation string) error {
	if a.code < 2000 {
		return nil
	}
	kind, code := meaningOf(a.code)
	err := &registrar.Error{
		Kind: kind, Code: code,
		Detail: to.host() + ": result " + strconv.Itoa(a.code),
		Err: &registrar.Cause{
			Part: "epp", Operation: operation, Target: to.addressLabel(), Class: causeClassOf(code), Code: "EPP " + strconv.Itoa(a.code),
			Reference: registrar.PlainReference(a.svTRID),
			Err:       &ResultError{Code: a.code, Message: a.message, Reasons: a.reasons},
		},
	}
	if a.code == CodeSessionsExceeded {
		err.RetryAfter = time.Second
	}
	return err
}

// causeClassOf returns the class of a refusal: login_refused, sessions_exceeded, or
// the code without its prefix.
func causeClassOf(code registrar.Code) string {
	switch code {
	case ResultLogin:
		return "login_refused"
	case ResultSessions:
		return "sessions_exceeded"
	case registrar.FaultBroken:
		return "command_failed"
	default:
		return strings.TrimPrefix(string(code), "epp_")
	}
}

func outcomeUnknown(host string, cause error) *registrar.Error {
	return &registrar.Error{
		Kind: registrar.KindUpstream, Code: ResultOutcomeUnknown,
		Detail: host + ": response lost", Err: errors.Join(ErrOutcomeUnknown, cause),
	}
}
