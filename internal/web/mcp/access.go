package mcp

import (
	"encoding/json"
	"net/http"
	"net/netip"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Errors of a refused caller.
const (
	messageBadTokens = "Too many invalid access tokens from this address. Wait for Retry-After seconds."
	messageSignIn    = "Sign in first: this needs a valid access token. The WWW-Authenticate header says where to get one."
	messageUnchecked = "Access tokens can't be checked at the moment. Keep the token and try again in a minute."
	messageNoScope   = "This token lacks the scope mcp:write, which signed-in tools require. Connect again and request that scope, or use a personal access token."
	insufficientText = `Bearer error="insufficient_scope", scope="` + oauth.ScopeWrite + `", `
)

// requestState is the caller of a request and the outcome of its call.
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
	verifyErr error
	// report sends progress to the caller; nil if none is wanted.
	report        func(done, total int, text string)
	refusedStatus int // 401 or 403
	tool          string
	errs          []error // of the tool, or of single names of a search
	failureCode   string  // code of the failure
}

// codeTokenUnchecked is the reason of a signed-in tool that was not called because its
// token could not be verified.
const codeTokenUnchecked registrar.Code = "token_unchecked"

// recordError records an error that is part of a result, such as that of one name of
// many.
func (s *requestState) recordError(err error) { s.errs = append(s.errs, err) }

// outcome returns the outcome of a tool: ok, the failure code, or why it was refused.
func (s *requestState) outcome() string {
	switch {
	case s.refusedStatus == http.StatusUnauthorized:
		return signInRequired
	case s.refusedStatus == http.StatusForbidden:
		return insufficientScope
	case s.failureCode != "":
		return s.failureCode
	default:
		return "ok"
	}
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

// accessRefusal is the response of a 401 or 403.
type accessRefusal struct {
	challenge []string // the WWW-Authenticate header, which OAuth clients use
	err       *RPCError
}

// newAccessRefusal returns a refusal whose data has the reason and the page where a human
// signs in and creates a token.
func (s *Server) newAccessRefusal(status int, challenge, code, message string) (accessRefusal, error) {
	help, err := json.Marshal(struct {
		Code  string `json:"code"`
		Scope string `json:"scope"`
		URL   string `json:"url,omitempty"`
		Guide string `json:"documentation_url"`
	}{code, oauth.ScopeWrite, s.url(ui.TokensPath), s.cfg.BaseURL + "/auth.md"})
	challenge += `resource_metadata="` + s.cfg.BaseURL + `/.well-known/oauth-protected-resource/api/mcp"`
	return accessRefusal{[]string{challenge}, &RPCError{Code: codeNoAccess, Message: message, Data: help, status: status}}, err
}
