package epp

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Result codes that callers of this package need (RFC 5730, 3).
const (
	CodeDone             = 1000
	CodePending          = 1001
	CodeNoMessages       = 1300
	CodeMessage          = 1301
	CodeLogout           = 1500
	CodeValueRange       = 2004
	CodeBilling          = 2104
	CodeNotRenewable     = 2105
	CodeNotTransferable  = 2106
	CodeAuthentication   = 2200
	CodeAuthorization    = 2201
	CodeAuthInfo         = 2202
	CodePendingTransfer  = 2300
	CodeNoTransfer       = 2301
	CodeExists           = 2302
	CodeMissing          = 2303
	CodeStatusProhibits  = 2304
	CodeAssociation      = 2305
	CodePolicy           = 2306
	CodeDataPolicy       = 2308
	CodeFailed           = 2400
	CodeFailedClosing    = 2500
	CodeLoginClosing     = 2501
	CodeSessionsExceeded = 2502
)

// Codes of registrar.Error for registry refusals.
const (
	ResultExists                         = registrar.EPPExists
	ResultMissing                        = registrar.EPPMissing
	ResultStatusProhibits registrar.Code = "epp_status_prohibits"
	ResultInUse           registrar.Code = "epp_in_use"
	ResultPolicy          registrar.Code = "epp_policy"
	ResultValue           registrar.Code = "epp_value"
	ResultBilling                        = registrar.EPPBilling
	ResultAuthInfo                       = registrar.EPPAuthInfo
	ResultNotAllowed                     = registrar.EPPNotAllowed
	ResultNotEligible                    = registrar.EPPNotEligible
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

// resultMeanings maps result codes to error kinds and codes.
var resultMeanings = map[int]struct {
	kind registrar.Kind
	code registrar.Code
}{
	2000:                 {registrar.KindInternal, ResultSyntax},
	2001:                 {registrar.KindInternal, ResultSyntax},
	2002:                 {registrar.KindInternal, ResultSyntax},
	2003:                 {registrar.KindInvalid, ResultValue}, // a parameter that this registry requires is missing
	CodeValueRange:       {registrar.KindInvalid, ResultValue},
	2005:                 {registrar.KindInvalid, ResultValue},
	2100:                 {registrar.KindUnsupported, ResultUnsupported},
	2101:                 {registrar.KindUnsupported, ResultUnsupported},
	2102:                 {registrar.KindUnsupported, ResultUnsupported},
	2103:                 {registrar.KindUnsupported, ResultUnsupported},
	CodeBilling:          {registrar.KindUpstream, ResultBilling},
	CodeNotRenewable:     {registrar.KindConflict, ResultNotEligible},
	CodeNotTransferable:  {registrar.KindConflict, ResultNotEligible},
	CodeAuthentication:   {registrar.KindUpstream, ResultLogin},
	CodeAuthorization:    {registrar.KindForbidden, ResultNotAllowed},
	CodeAuthInfo:         {registrar.KindInvalid, ResultAuthInfo},
	CodePendingTransfer:  {registrar.KindConflict, ResultTransferState},
	CodeNoTransfer:       {registrar.KindConflict, ResultTransferState},
	CodeExists:           {registrar.KindConflict, ResultExists},
	CodeMissing:          {registrar.KindNotFound, ResultMissing},
	CodeStatusProhibits:  {registrar.KindConflict, ResultStatusProhibits},
	CodeAssociation:      {registrar.KindConflict, ResultInUse},
	CodePolicy:           {registrar.KindInvalid, ResultPolicy},
	2307:                 {registrar.KindUnsupported, ResultUnsupported},
	CodeDataPolicy:       {registrar.KindInvalid, ResultPolicy},
	CodeFailed:           {registrar.KindUpstream, registrar.FaultBroken},
	CodeFailedClosing:    {registrar.KindUpstream, registrar.FaultBroken},
	CodeLoginClosing:     {registrar.KindUpstream, ResultLogin},
	CodeSessionsExceeded: {registrar.KindUpstream, ResultSessions},
}

// ResultError is a registry's refusal. Its text is the code alone; the other fields
// may contain names and personal data.
type ResultError struct {
	Code int
	// Message is the registry's text for the code.
	Message string
	// Reasons are its explanations, such as the rejected value.
	Reasons []string
	SvTRID  string
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

// Receipt is what every successful command returns besides its data.
type Receipt struct {
	Code   int
	ClTRID string
	SvTRID string
	// ExtensionNode is the response's extension element, for callers that know it.
	ExtensionNode *Node
}

// Pending reports whether the registry accepted the command and announces the
// outcome in a poll message (RFC 5730, 2.9.1.1; code 1001).
func (r Receipt) Pending() bool { return r.Code == CodePending }

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
			case "extValue":
				if reason := part.value("", "reason"); reason != "" {
					reasons = append(reasons, reason)
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

func (a *response) receipt() Receipt {
	return Receipt{Code: a.code, ClTRID: a.clTRID, SvTRID: a.svTRID, ExtensionNode: a.extension}
}

// closesSession reports whether the server ends the session with this response.
func (a *response) closesSession() bool { return a.code == CodeLogout || a.code >= CodeFailedClosing }

// asError returns the error of a response, nil if the command succeeded.
func (a *response) asError(to *Account, operation string) error {
	if a.code < 2000 {
		return nil
	}
	meaning, known := resultMeanings[a.code]
	if !known {
		meaning.kind, meaning.code = registrar.KindUpstream, registrar.FaultBroken
	}
	err := &registrar.Error{
		Kind: meaning.kind, Code: meaning.code,
		Detail: to.host() + ": result " + strconv.Itoa(a.code),
		Err: &registrar.Cause{
			Part: "epp", Operation: operation, Target: to.addressLabel(), Class: causeClassOf(meaning.code), Code: "EPP " + strconv.Itoa(a.code),
			Reference: registrar.PlainReference(a.svTRID),
			Err:       &ResultError{Code: a.code, Message: a.message, Reasons: a.reasons, SvTRID: a.svTRID},
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
