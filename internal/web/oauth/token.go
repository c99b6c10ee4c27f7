package oauth

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

const maxBodyBytes = 16 << 10

// resourceParameter may be repeated (RFC 8707, 2).
const resourceParameter = "resource"

// readForm parses a form. Empty parameters count as absent (RFC 6749, 3.2).
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if len(r.Header["Authorization"]) > 0 {
		return nil, registrar.Invalid(credentialsInHeader)
	}
	if r.URL.RawQuery != "" || r.URL.ForceQuery {
		return nil, registrar.Invalid(paramsInQuery)
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, registrar.Invalid(badContentType)
	}
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, registrar.Invalid(badBody)
	}
	if hasRepeated(form) {
		return nil, registrar.Invalid(oauth.RepeatedParameter)
	}
	return form, nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBodyBytes))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, registrar.Invalid(httpjson.BodyTooLarge)
	case err != nil:
		return nil, registrar.Invalid(badBody)
	}
	return body, nil
}

func hasRepeated(form url.Values) bool {
	for name, values := range form {
		if len(values) > 1 && name != resourceParameter {
			return true
		}
	}
	return false
}

func clientCredentials(form url.Values) oauth.ClientCredentials {
	return oauth.ClientCredentials{ClientID: form.Get("client_id"), Secret: form.Get("client_secret")}
}

type tokenResponse struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
}

// serveToken exchanges a code or a refresh token (RFC 6749, 4.1.3 and 6).
func (h *Handler) serveToken(w http.ResponseWriter, r *http.Request) {
	tokens, err := h.exchange(w, r)
	respond(w, http.StatusOK, tokenResponse{
		AccessToken: tokens.Access, TokenType: "Bearer", ExpiresIn: int64(tokens.ExpiresIn.Seconds()),
		RefreshToken: tokens.Refresh, Scope: tokens.Scope,
	}, err)
}

// respond writes a response or an error.
func respond(w http.ResponseWriter, status int, body any, err error) {
	if err != nil {
		writeError(w, err)
		return
	}
	setNoStore(w.Header())
	httpjson.WriteJSON(w, status, body)
}

// admit rejects wrong credentials from an address that has sent too many, before any
// lookup. A credential that was recently issued or accepted is always looked up.
func (h *Handler) admit(r *http.Request, credential string) error {
	if d := h.cfg.BadTokens.Admit(h.cfg.Address(r), credential); !d.Allowed {
		return &registrar.Error{Kind: registrar.KindRateLimited, Code: httpjson.TooManyBadTokens, RetryAfter: d.RetryAfter}
	}
	return nil
}

// countFailure counts wrong codes, tokens and secrets: invalid_grant or invalid_client.
func (h *Handler) countFailure(r *http.Request, credential string, err error) {
	if name := endpointErrors[registrar.CodeOf(err)].code; err != nil && (name == invalidGrant || name == invalidClient) {
		h.cfg.BadTokens.Fail(h.cfg.Address(r), credential)
	}
}

// wellFormed returns value if it can be a secret of one of these kinds, otherwise "".
func wellFormed(value string, kinds ...registrar.SecretKind) string {
	for _, kind := range kinds {
		if _, ok := registrar.HashSecret(kind, value); ok {
			return value
		}
	}
	return ""
}

func (h *Handler) exchange(w http.ResponseWriter, r *http.Request) (oauth.TokenResponse, error) {
	form, err := readForm(w, r)
	if err != nil {
		return oauth.TokenResponse{}, err
	}
	credential := wellFormed(form.Get("refresh_token"), registrar.RefreshToken)
	if form.Get("grant_type") == "authorization_code" {
		credential = wellFormed(form.Get("code"), registrar.AuthorizationCodeSecret)
	}
	if err := h.admit(r, credential); err != nil {
		return oauth.TokenResponse{}, err
	}
	tokens, err := h.grant(r, form)
	if err != nil {
		h.countFailure(r, credential, err)
		return oauth.TokenResponse{}, err
	}
	// A client that got no response sends the same refresh token again.
	h.cfg.BadTokens.Trust(credential)
	h.cfg.BadTokens.Trust(tokens.Refresh)
	h.cfg.BadTokens.Trust(tokens.Access) // it can be used to revoke the grant
	if h.cfg.Issued != nil {
		h.cfg.Issued(tokens.Access)
	}
	return tokens, nil
}

func (h *Handler) grant(r *http.Request, form url.Values) (oauth.TokenResponse, error) {
	switch form.Get("grant_type") {
	case "authorization_code":
		if form.Get("code") == "" {
			return oauth.TokenResponse{}, registrar.Invalid(noCode)
		}
		if form.Get("code_verifier") == "" {
			return oauth.TokenResponse{}, registrar.Invalid(noVerifier)
		}
		return h.cfg.Applications.Redeem(r.Context(), oauth.CodeRequest{
			ClientCredentials: clientCredentials(form), Code: form.Get("code"), Verifier: form.Get("code_verifier"),
			RedirectURI: form.Get("redirect_uri"), Resources: form[resourceParameter], Address: h.cfg.Address(r),
		})
	case "refresh_token":
		if form.Get("refresh_token") == "" {
			return oauth.TokenResponse{}, registrar.Invalid(noRefresh)
		}
		return h.cfg.Applications.Refresh(r.Context(), oauth.RefreshRequest{
			ClientCredentials: clientCredentials(form), Refresh: form.Get("refresh_token"), Scope: form.Get("scope"),
			Resources: form[resourceParameter], Address: h.cfg.Address(r),
		})
	case "":
		return oauth.TokenResponse{}, registrar.Invalid(noGrantType)
	default:
		return oauth.TokenResponse{}, registrar.Invalid(unsupportedGrantType)
	}
}

// serveRevoke revokes the grant of a token (RFC 7009).
func (h *Handler) serveRevoke(w http.ResponseWriter, r *http.Request) {
	if err := h.revoke(w, r); err != nil {
		writeError(w, err)
		return
	}
	setNoStore(w.Header())
	w.WriteHeader(http.StatusOK)
}

// revoke counts a request that revokes nothing as a failure; the response is the same.
func (h *Handler) revoke(w http.ResponseWriter, r *http.Request) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	token := form.Get("token")
	credential := wellFormed(token, registrar.AccessToken, registrar.RefreshToken)
	if err := h.admit(r, credential); err != nil {
		return err
	}
	if token == "" {
		return registrar.Invalid(noToken)
	}
	ended, err := h.cfg.Applications.RevokeToken(r.Context(), clientCredentials(form), token, h.cfg.Address(r))
	if err != nil {
		h.countFailure(r, credential, err)
		return err
	}
	if !ended {
		h.cfg.BadTokens.Fail(h.cfg.Address(r), credential)
	}
	return nil
}
