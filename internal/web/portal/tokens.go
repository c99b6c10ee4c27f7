package portal

import (
	"net/http"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type tokensView struct {
	Tab       string
	Tokens    []oauth.PersonalAccessToken
	MaxTokens int
	Endpoint  string // where agents connect
	Now       time.Time
	Recent    bool
	Again     string
	Problem   string
	tokenFields
	Issued oauth.PersonalAccessToken // set only in the response that shows a token
	Secret string                    // that of Issued
}

// tokenFields are the inputs of a new token. Life is a number of days, "date" for the day in
// Until, or "never".
type tokenFields struct{ Name, Purpose, Life, Until ui.Field }

const (
	lifeDate  = "date"
	lifeNever = "never"
)

func newTokenFields() tokenFields {
	return tokenFields{
		Name: ui.Field{
			ID: "token-name", Name: "name", Label: "field.token_name", Hint: "hint.token_name", Type: "text", Autocomplete: "off",
			MaxLength: oauth.MaxTokenName,
		},
		Purpose: ui.Field{
			Name: "purpose", Label: "field.token_purpose", Hint: "hint.token_purpose", Type: "text", Autocomplete: "off",
			MaxLength: oauth.MaxTokenPurpose, Optional: true,
		},
		Life: ui.Field{Name: "life", Label: "field.token_life", Value: "90", Choices: []ui.Choice{
			{Value: "30", Label: "life.30"},
			{Value: "90", Label: "life.90"},
			{Value: "365", Label: "life.365"},
			{Value: lifeDate, Label: "life.date"},
			{Value: lifeNever, Label: "life.never"},
		}},
		Until: ui.Field{Name: "until", Label: "field.token_until", Type: "date", Autocomplete: "off", ServerChecked: true, Only: "date"},
	}
}

func (h *Handler) tokens(req *ui.Request) error {
	return h.showTokens(req, http.StatusOK, tokensView{tokenFields: newTokenFields()})
}

func (h *Handler) showTokens(req *ui.Request, status int, view tokensView) error {
	tokens, err := h.AccessTokens.List(req.R.Context(), req.Actor())
	if err != nil {
		return err
	}
	view.Tab, view.Now = tokensPath, req.Now
	view.Tokens, view.MaxTokens, view.Recent = tokens, oauth.MaxActiveTokens, req.SignedInRecently()
	view.Endpoint = h.Frame.URL("/api/mcp")
	view.Again = ui.WithNext(ui.SignInAgainPath, tokensPath)
	return h.templates.Render(req, ui.View{Name: "tokens", Status: status, Title: "tokens.title", Section: agentsPath, Data: view})
}

// tokenExpiry returns the chosen end of a token: the last moment of a day, in UTC like the
// dates of the list.
func tokenExpiry(now time.Time, life, until string) (time.Time, error) {
	var day time.Time
	switch life {
	case lifeNever:
		return time.Time{}, nil
	case lifeDate:
		var err error
		if day, err = time.Parse(time.DateOnly, until); err != nil {
			return time.Time{}, registrar.Invalid(oauth.BadTokenExpiry)
		}
	default:
		days, err := strconv.Atoi(life)
		if err != nil || days != 30 && days != 90 && days != 365 {
			return time.Time{}, invalidForm()
		}
		day = now.UTC().AddDate(0, 0, days)
	}
	return time.Date(day.Year(), day.Month(), day.Day(), 23, 59, 59, 0, time.UTC), nil
}

// createToken responds with the page itself: a redirect would have to carry the secret.
func (h *Handler) createToken(req *ui.Request) error {
	expires, err := tokenExpiry(req.Now, req.Text("life"), req.Text("until"))
	if err == nil {
		var token oauth.PersonalAccessToken
		var secret string
		token, secret, err = h.AccessTokens.Create(req.R.Context(), req.Actor(), oauth.TokenParams{
			Name: req.Text("name"), Purpose: req.Text("purpose"), ExpiresAt: expires,
		})
		if err == nil {
			return h.showTokens(req, http.StatusOK, tokensView{tokenFields: newTokenFields(), Issued: token, Secret: secret})
		}
	}
	key, ok := h.problemKey(err)
	if !ok {
		return err
	}
	view := tokensView{tokenFields: newTokenFields()}
	for _, field := range []struct {
		*ui.Field
		code registrar.Code
	}{{&view.Name, oauth.BadTokenName}, {&view.Purpose, oauth.BadTokenPurpose}, {&view.Life, ""}, {&view.Until, oauth.BadTokenExpiry}} {
		field.Value = req.Text(field.Name)
		if field.code == registrar.CodeOf(err) {
			field.Problem = key
		}
	}
	if view.Name.Problem+view.Purpose.Problem+view.Until.Problem == "" {
		view.Problem = h.templates.Text(req.Language, key, oauth.MaxActiveTokens)
	}
	return h.showTokens(req, http.StatusUnprocessableEntity, view)
}
