package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Errors of a refused caller.
const (
	// codeNoAccess is the JSON-RPC code of 401 and 403, from the server-defined range.
	codeNoAccess     = -32001
	messageBadTokens = "Too many invalid access tokens came from this address. Retry-After says how long to wait."
	messageSignIn    = "Sign in first: this needs a valid access token. The WWW-Authenticate header says where to get one."
	messageUnchecked = "Access tokens can't be checked at the moment. Keep the token and try again in a minute."
	messageNoScope   = "This token may not do that: signed-in tools need the scope mcp:write. Connect again and ask for that scope, or use a personal access token."
	callToolMethod   = "tools/call"
	insufficientText = `Bearer error="insufficient_scope", scope="` + oauth.ScopeWrite + `", `
)

// requestState is the state of one HTTP request inside the SDK: the caller, its address
// and the outcome. The SDK's goroutines may outlive the HTTP request, so writes are
// locked.
type requestState struct {
	address netip.Addr
	// caller is nil without a valid token. Calls are counted by its Through, which is the
	// same for all tokens of one grant.
	caller *registrar.Actor
	// mayWrite means that the token has the scope mcp:write, which every signed-in tool
	// requires.
	mayWrite bool
	// id is the request id, as in the log and the response header.
	id string
	// verifyErr is why a token could not be verified.
	verifyErr     error
	mu            sync.Mutex
	refusedStatus int // 401 or 403 once the gate is closed
	tool          string
	err           error
	failureCode   string // code of the failure
}

// codeTokenUnchecked is the reason of a signed-in tool that was not called because its
// token could not be verified.
const codeTokenUnchecked registrar.Code = "token_unchecked"

type stateKey struct{}

func withState(ctx context.Context, state *requestState) context.Context {
	return context.WithValue(ctx, stateKey{}, state)
}

// stateOf is never nil: a context without state has no caller.
func stateOf(ctx context.Context) *requestState {
	if state, ok := ctx.Value(stateKey{}).(*requestState); ok {
		return state
	}
	return &requestState{}
}

func (s *requestState) refuse(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusedStatus = status
}

func (s *requestState) refusedWith() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusedStatus
}

func (s *requestState) setTool(tool string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tool = tool
}

// recordError records an error that is part of a result, such as that of one name of
// many.
func (s *requestState) recordError(err error) { s.recordFailure(err, "") }

// recordFailure records why a tool failed, and with which code.
func (s *requestState) recordFailure(err error, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.failureCode = err, code
}

// outcome returns which tool was called and its outcome: ok, the failure code, or why
// it was refused.
func (s *requestState) outcome() (tool, outcome string, toolErr error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	outcome = "ok"
	switch {
	case s.refusedStatus == http.StatusUnauthorized:
		outcome = signInRequired
	case s.refusedStatus == http.StatusForbidden:
		outcome = insufficientScope
	case s.failureCode != "":
		outcome = s.failureCode
	}
	return s.tool, outcome, s.err
}

// signedInStatus is the only place that authorizes signed-in tools; 0 means authorized.
func (s *requestState) signedInStatus() (status int) {
	switch {
	case s.verifyErr != nil:
		return http.StatusServiceUnavailable
	case s.caller == nil:
		return http.StatusUnauthorized
	case !s.mayWrite:
		return http.StatusForbidden
	default:
		return 0
	}
}

// fail records why a tool failed and returns the failure for the model. An internal
// failure names the request id, because models see no headers.
func (s *Server) fail(state *requestState, err error) (*sdk.CallToolResult, error) {
	f := s.failureOf(err)
	if f.Code == internalFailure && state.id != "" {
		f.Message += " Request ID: " + state.id
	}
	state.recordFailure(err, f.Code)
	return encode(f, true)
}

// authorize is the middleware between the SDK's parser and the tools.
func (s *Server) authorize(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (result sdk.Result, err error) {
		state := stateOf(ctx)
		defer func() {
			if problem := recover(); problem != nil {
				result, err = s.recoverPanic(ctx, state)
			}
		}()
		if !s.isServed(method) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this server has no such method"}
		}
		if method != callToolMethod {
			result, err = next(ctx, method, req)
			if list, ok := result.(*sdk.ListToolsResult); ok && err == nil {
				s.sortTools(list.Tools)
			}
			return result, err
		}
		params, ok := req.GetParams().(*sdk.CallToolParamsRaw)
		if !ok || params == nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "tools/call needs the name of a tool"}
		}
		known, ok := s.tools[params.Name]
		if !ok {
			return next(ctx, method, req) // the SDK reports the unknown tool
		}
		state.setTool(known.name)
		if !known.signedIn {
			return next(ctx, method, req)
		}
		switch status := state.signedInStatus(); status {
		case http.StatusServiceUnavailable:
			// A failed call rather than an error: models read these and clients retry
			// them.
			err := &registrar.Error{Kind: registrar.KindInternal, Code: codeTokenUnchecked, Err: state.verifyErr}
			return s.fail(state, err)
		case http.StatusUnauthorized, http.StatusForbidden:
			state.refuse(status)
			return nil, s.refusals[status].err
		default:
			return next(ctx, method, req)
		}
	}
}

// sortTools restores the order of tools.json: anonymous tools first, since some clients
// try the first tool they see.
func (s *Server) sortTools(list []*sdk.Tool) {
	position := func(t *sdk.Tool) int {
		if known, ok := s.tools[t.Name]; ok {
			return known.position
		}
		return len(s.tools)
	}
	slices.SortStableFunc(list, func(a, b *sdk.Tool) int { return cmp.Compare(position(a), position(b)) })
}

// isServed reports whether a method belongs to the declared capabilities. The SDK
// would serve more, such as empty lists of prompts.
func (s *Server) isServed(method string) bool {
	switch method {
	case "initialize", "ping", "tools/list", callToolMethod, "server/discover":
		return true
	default:
		return strings.HasPrefix(method, "notifications/") || Fixtures != nil && Fixtures.Serves(method)
	}
}

// accessRefusal is the response of a 401 or 403.
type accessRefusal struct {
	challenge []string // the WWW-Authenticate header, which OAuth clients use
	err       *jsonrpc.Error
}

// newAccessRefusal returns a refusal whose data has the reason and the page where a human
// signs in and creates a token.
func (s *Server) newAccessRefusal(challenge, code, message string) (accessRefusal, error) {
	help, err := json.Marshal(struct {
		Code  string `json:"code"`
		Scope string `json:"scope"`
		URL   string `json:"url,omitempty"`
		Guide string `json:"documentation_url"`
	}{code, oauth.ScopeWrite, s.url(ui.TokensPath), s.cfg.BaseURL + "/auth.md"})
	challenge += `resource_metadata="` + s.cfg.BaseURL + `/.well-known/oauth-protected-resource/api/mcp"`
	return accessRefusal{[]string{challenge}, &jsonrpc.Error{Code: codeNoAccess, Message: message, Data: help}}, err
}
