package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// maxRequestURI still fits into the sign-in page's URL as the return path.
const maxRequestURI = 4096

// authorize shows the consent page. Its first half identifies the application; until then errors
// stay on this page. Later errors are redirected to the application, but only with a signed-in
// customer: otherwise anyone who can register a client could use us as an open redirector.
func (h *Handler) authorize(req *ui.Request) error {
	req.AllowOAuthRedirect()
	if len(req.R.URL.RequestURI()) > maxRequestURI {
		return h.renderRefusal(req, registrar.Invalid("request_too_long"))
	}
	query, err := url.ParseQuery(req.R.URL.RawQuery)
	if err != nil || len(query["client_id"]) != 1 || len(query["redirect_uri"]) > 1 {
		return h.renderRefusal(req, registrar.Invalid("unclear_request"))
	}
	// A client's metadata document is fetched for signed-in customers only.
	if !req.SignedIn && strings.HasPrefix(query.Get("client_id"), "https://") {
		return req.RedirectToSignIn(ui.SignInPath)
	}
	authRequest, err := h.cfg.Applications.ParseRequest(req.R.Context(), parseRequest(query))
	if err != nil {
		return h.renderRefusal(req, err)
	}
	if !req.SignedIn {
		return req.RedirectToSignIn(ui.SignInPath)
	}
	if authRequest.Problem != "" {
		return h.redirectReply(req, oauth.AuthorizationResponse{RedirectURI: authRequest.RedirectURI, State: authRequest.State, Problem: authRequest.Problem})
	}
	// Connecting an application with write access is like creating a token.
	if authRequest.MayWrite() && !req.SignedInRecently() {
		return req.RedirectToSignIn(ui.SignInAgainPath)
	}
	secret, err := h.cfg.Applications.CreateConsent(req.R.Context(), req.Actor(), authRequest)
	if err != nil {
		return err
	}
	return h.renderConsent(req, authRequest, secret)
}

func parseRequest(query url.Values) oauth.AuthorizationRequest {
	return oauth.AuthorizationRequest{
		ClientID: query.Get("client_id"), RedirectURI: query.Get("redirect_uri"),
		ResponseType: query.Get("response_type"), ResponseMode: query.Get("response_mode"),
		Challenge: query.Get("code_challenge"), ChallengeMethod: query.Get("code_challenge_method"),
		Scope: query.Get("scope"), State: query.Get("state"), Resources: query[resourceParameter],
		Object: query.Has("request"), Address: query.Has("request_uri"), Repeated: hasRepeated(query),
	}
}

// consentView is the data of the page. Name, Host and Address are claims of the
// application; the template escapes them.
type consentView struct {
	Name, Host            string
	Local                 bool   // the response stays on the customer's device
	Address               string // the complete redirect URI
	MayWrite              bool
	Email, Secret, Action string
	Until                 time.Time
}

func (h *Handler) renderConsent(req *ui.Request, authRequest oauth.ParsedRequest, secret string) error {
	host, local := oauth.RedirectHost(authRequest.RedirectURI)
	return h.templates.Render(req, ui.View{Name: "consent", Title: "consent.title", Data: consentView{
		Name: authRequest.Client.Name, Host: host, Local: local, Address: authRequest.RedirectURI,
		MayWrite: authRequest.MayWrite(), Email: req.Visitor.Customer.Email, Until: req.Now.Add(oauth.RefreshTokenTTL),
		Secret: secret, Action: authorizePath,
	}})
}

// decide handles the customer's decision.
func (h *Handler) decide(req *ui.Request) error {
	req.AllowOAuthRedirect()
	decision := req.Field("decision")
	if decision != "approve" && decision != "deny" {
		return h.renderRefusal(req, registrar.Invalid("unclear_request"))
	}
	reply, err := h.cfg.Applications.Decide(req.R.Context(), req.Actor(), req.Field("consent"), decision == "approve")
	if registrar.CodeOf(err) == oauth.NoSuchConsent {
		return h.renderRefusal(req, err)
	}
	if err != nil {
		return err
	}
	return h.redirectReply(req, reply)
}

// redirectReply redirects the browser to the application, with iss (RFC 9207) and the unchanged
// state. Redirect URIs have no fragment, so the query can be appended without parsing them again.
func (h *Handler) redirectReply(req *ui.Request, reply oauth.AuthorizationResponse) error {
	values := url.Values{"iss": {h.issuer}}
	if reply.State != "" {
		values.Set("state", reply.State)
	}
	if reply.Problem == "" {
		h.cfg.BadTokens.Trust(reply.Code)
		values.Set("code", reply.Code)
	} else {
		p := redirectErrors[reply.Problem]
		values.Set("error", p.code)
		values.Set("error_description", p.description)
		httpjson.RecordError(req.W, registrar.Invalid(reply.Problem))
	}
	separator := "?"
	if strings.Contains(reply.RedirectURI, "?") {
		separator = "&"
	}
	return req.SeeOther(reply.RedirectURI + separator + values.Encode())
}

// renderRefusal is our own page about a request that must not be redirected.
func (h *Handler) renderRefusal(req *ui.Request, err error) error {
	code := registrar.CodeOf(err)
	if !h.templates.Has("refused." + string(code)) {
		return err
	}
	httpjson.RecordError(req.W, err)
	return h.templates.Render(req, ui.View{
		Name: "refused", Status: http.StatusBadRequest, Title: "refused.title",
		Data: struct{ Text string }{"refused." + string(code)},
	})
}
