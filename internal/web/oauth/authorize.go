package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// longestRequest is what still fits into the address of the sign-in page as the
// place to come back to.
const longestRequest = 4096

// authorize shows the consent page. Its first half decides who is asking; as long
// as that is not clear nothing leaves this page. Whatever else is wrong is told
// to the application, but only with somebody signed in: otherwise whoever can
// register a client could have us redirect strangers to any place.
func (h *Handler) authorize(v *page.Visit) error {
	v.LeadToApplication()
	if len(v.R.URL.RequestURI()) > longestRequest {
		return h.refuse(v, refuse("request_too_long"))
	}
	query, err := url.ParseQuery(v.R.URL.RawQuery)
	if err != nil || len(query["client_id"]) != 1 || len(query["redirect_uri"]) > 1 {
		return h.refuse(v, refuse("unclear_request"))
	}
	// The document of a client is not fetched for strangers.
	if !v.SignedIn && strings.HasPrefix(query.Get("client_id"), "https://") {
		return v.SignInFirst(page.SignInPath)
	}
	ask, err := h.applications.Begin(v.R.Context(), requestOf(query))
	if err != nil {
		return h.refuse(v, err)
	}
	if !v.SignedIn {
		return v.SignInFirst(page.SignInPath)
	}
	if ask.Problem != "" {
		return h.reply(v, access.Reply{RedirectURI: ask.RedirectURI, State: ask.State, Problem: ask.Problem})
	}
	// Whoever connects an application that may act makes a token for it.
	if ask.MayWrite() && !v.Recent() {
		return v.SignInFirst(page.SignInAgainPath)
	}
	secret, err := h.applications.Question(v.R.Context(), v.Actor(), ask)
	if err != nil {
		return err
	}
	return h.ask(v, ask, secret)
}

func requestOf(query url.Values) access.Request {
	return access.Request{
		ClientID: query.Get("client_id"), RedirectURI: query.Get("redirect_uri"),
		ResponseType: query.Get("response_type"), ResponseMode: query.Get("response_mode"),
		Challenge: query.Get("code_challenge"), ChallengeMethod: query.Get("code_challenge_method"),
		Scope: query.Get("scope"), State: query.Get("state"), Resources: query[resourceParameter],
		Object: query.Has("request"), Address: query.Has("request_uri"), Repeated: repeated(query),
	}
}

// consentView is what the page shows. Name, Host and Address are claims of the
// application's; the template escapes them.
type consentView struct {
	Name, Host string
	// Local says that the answer stays on the customer's device.
	Local bool
	// Address is the whole redirect URI, for those who look closely.
	Address  string
	MayWrite bool
	Email    string
	Until    time.Time
	Secret   string
	Action   string
}

func (h *Handler) ask(v *page.Visit, ask access.Ask, secret string) error {
	host, local := access.RedirectHost(ask.RedirectURI)
	return h.views.Render(v, page.View{Name: "consent", Title: "consent.title", Data: consentView{
		Name: ask.Client.Name, Host: host, Local: local, Address: ask.RedirectURI,
		MayWrite: ask.MayWrite(), Email: v.Visitor.Customer.Email, Until: v.Now.Add(access.RefreshLife),
		Secret: secret, Action: authorizePath,
	}})
}

// decide takes the customer's answer.
func (h *Handler) decide(v *page.Visit) error {
	v.LeadToApplication()
	answer := h.applications.Deny
	switch v.Field("decision") {
	case "approve":
		answer = h.applications.Approve
	case "deny":
	default:
		return h.refuse(v, refuse("unclear_request"))
	}
	reply, err := answer(v.R.Context(), v.Actor(), v.Field("consent"))
	if registrar.CodeOf(err) == access.NoSuchConsent {
		return h.refuse(v, err)
	}
	if err != nil {
		return err
	}
	return h.reply(v, reply)
}

// reply sends the browser back to the application, with iss (RFC 9207) and the
// state as it came. Redirect URIs have no fragment, so a query can be appended
// without reading them again.
func (h *Handler) reply(v *page.Visit, reply access.Reply) error {
	values := url.Values{"iss": {h.issuer}}
	if reply.State != "" {
		values.Set("state", reply.State)
	}
	if reply.Problem == "" {
		h.badTokens.Prove(reply.Code)
		values.Set("code", reply.Code)
	} else {
		p := redirected[reply.Problem]
		values.Set("error", p.name)
		values.Set("error_description", p.sentence)
		wire.Annotate(v.W, refuse(reply.Problem))
	}
	separator := "?"
	if strings.Contains(reply.RedirectURI, "?") {
		separator = "&"
	}
	return v.SeeOther(reply.RedirectURI + separator + values.Encode())
}

// refuse is a page of ours about a request that can't be answered elsewhere.
func (h *Handler) refuse(v *page.Visit, err error) error {
	code := registrar.CodeOf(err)
	if !h.views.Has("refused." + string(code)) {
		return err
	}
	wire.Annotate(v.W, err)
	return h.views.Render(v, page.View{
		Name: "refused", Status: http.StatusBadRequest, Title: "refused.title",
		Data: struct{ Text string }{"refused." + string(code)},
	})
}
