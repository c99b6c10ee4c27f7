package portal

import (
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

type tokensView struct {
	Tokens []access.Token
	Most   int
	// Endpoint is where agents connect.
	Endpoint string
	Recent   bool
	Again    string
	Problem  string
	Name     page.Field
	// Made and Secret are set on the one answer that shows a token.
	Made   access.Token
	Secret string
}

var tokenNameField = page.Field{
	ID: "token-name", Name: "name", Label: "field.token_name", Hint: "hint.token_name", Type: "text", Autocomplete: "off",
	MaxLength: access.MaxName,
}

func (h *Handler) tokens(v *page.Visit) error {
	return h.showTokens(v, http.StatusOK, tokensView{Name: tokenNameField})
}

func (h *Handler) showTokens(v *page.Visit, status int, view tokensView) error {
	tokens, err := h.access.List(v.R.Context(), v.Actor())
	if err != nil {
		return err
	}
	view.Tokens, view.Most, view.Recent = tokens, access.MaxActive, v.Recent()
	view.Endpoint = h.frame.Address("/api/mcp")
	view.Again = withNext(page.SignInAgainPath, tokensPath)
	return h.views.Render(v, page.View{Name: "tokens", Status: status, Title: "tokens.title", Section: tokensPath, Data: view})
}

// createToken answers with the page itself: a redirect would have to carry the
// secret somewhere.
func (h *Handler) createToken(v *page.Visit) error {
	name := v.Text("name")
	token, secret, err := h.access.Create(v.R.Context(), v.Actor(), name)
	if err == nil {
		return h.showTokens(v, http.StatusOK, tokensView{Name: tokenNameField, Made: token, Secret: secret})
	}
	key, ok := h.problemKey(err)
	if !ok {
		return err
	}
	view := tokensView{Name: tokenNameField.With(name, key)}
	if key != page.ProblemKey(access.BadTokenName) {
		view.Name.Problem, view.Problem = "", h.views.Text(v.Language, key, access.MaxActive)
	}
	return h.showTokens(v, http.StatusUnprocessableEntity, view)
}

func (h *Handler) revokeToken(v *page.Visit) error {
	if err := h.access.Revoke(v.R.Context(), v.Actor(), v.R.PathValue("id")); err != nil {
		return err
	}
	v.Note("token_revoked")
	return v.SeeOther(tokensPath)
}
