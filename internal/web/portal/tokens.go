package portal

import (
	"net/http"

	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type tokensView struct {
	Tokens    []oauth.PersonalAccessToken
	MaxTokens int
	Endpoint  string // where agents connect
	Recent    bool
	Again     string
	Problem   string
	Name      ui.Field
	Issued    oauth.PersonalAccessToken // set only in the response that shows a token
	Secret    string                    // that of Issued
}

var tokenNameField = ui.Field{
	ID: "token-name", Name: "name", Label: "field.token_name", Hint: "hint.token_name", Type: "text", Autocomplete: "off",
	MaxLength: oauth.MaxTokenName,
}

func (h *Handler) tokens(req *ui.Request) error {
	return h.showTokens(req, http.StatusOK, tokensView{Name: tokenNameField})
}

func (h *Handler) showTokens(req *ui.Request, status int, view tokensView) error {
	tokens, err := h.AccessTokens.List(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	view.Tokens, view.MaxTokens, view.Recent = tokens, oauth.MaxActiveTokens, req.SignedInRecently()
	view.Endpoint = h.Frame.URL("/api/mcp")
	view.Again = ui.WithNext(ui.SignInAgainPath, tokensPath)
	return h.templates.Render(req, ui.View{Name: "tokens", Status: status, Title: "tokens.title", Section: tokensPath, Data: view})
}

// createToken responds with the page itself: a redirect would have to carry the secret.
func (h *Handler) createToken(req *ui.Request) error {
	name := req.Text("name")
	token, secret, err := h.AccessTokens.Create(req.R.Context(), req.Actor(), name)
	if err == nil {
		return h.showTokens(req, http.StatusOK, tokensView{Name: tokenNameField, Issued: token, Secret: secret})
	}
	key, ok := h.problemKey(err)
	if !ok {
		return err
	}
	view := tokensView{Name: tokenNameField.With(name, key)}
	if key != ui.ProblemKey(oauth.BadTokenName) {
		view.Name.Problem, view.Problem = "", h.templates.Text(req.Language, key, oauth.MaxActiveTokens)
	}
	return h.showTokens(req, http.StatusUnprocessableEntity, view)
}
