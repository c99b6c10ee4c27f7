package oauth

import (
	"encoding/json"
	"mime"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// registrationResponse is RFC 7591, 3.2.1. Clients fail on an empty secret and on null lists.
type registrationResponse struct {
	ID            string           `json:"client_id"`
	IssuedAt      int64            `json:"client_id_issued_at"`
	Secret        string           `json:"client_secret,omitempty"`
	SecretExpires *int             `json:"client_secret_expires_at,omitempty"`
	Name          string           `json:"client_name,omitempty"`
	RedirectURIs  []string         `json:"redirect_uris"`
	AuthMethod    oauth.AuthMethod `json:"token_endpoint_auth_method"`
	GrantTypes    []string         `json:"grant_types"`
	ResponseTypes []string         `json:"response_types"`
	Scope         string           `json:"scope"`
}

// serveRegister is dynamic client registration (RFC 7591).
func (h *Handler) serveRegister(w http.ResponseWriter, r *http.Request) {
	answer, err := h.register(w, r)
	respond(w, http.StatusCreated, answer, err)
}

func (h *Handler) register(w http.ResponseWriter, r *http.Request) (registrationResponse, error) {
	// Counted before anything is read: rejected requests have a cost, too.
	if decision := h.cfg.Registrations.Allow(ratelimit.AddressKey(h.cfg.Address(r))); !decision.Allowed {
		return registrationResponse{}, &registrar.Error{Kind: registrar.KindRateLimited, Code: tooManyRegistrations, RetryAfter: decision.RetryAfter}
	}
	metadata, err := readMetadata(w, r)
	if err != nil {
		return registrationResponse{}, err
	}
	client, secret, err := h.cfg.Applications.Register(r.Context(), metadata)
	if err != nil {
		return registrationResponse{}, err
	}
	answer := registrationResponse{
		ID: client.ID, IssuedAt: client.CreatedAt.Truncate(time.Second).Unix(), Secret: secret, Name: client.Name,
		RedirectURIs: client.RedirectURIs, AuthMethod: client.AuthMethod,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		Scope: oauth.ScopeToGrant(metadata.Scope),
	}
	if secret != "" {
		answer.SecretExpires = new(int) // 0: never
	}
	return answer, nil
}

func readMetadata(w http.ResponseWriter, r *http.Request) (oauth.ClientMetadata, error) {
	if contentType := r.Header.Get("Content-Type"); contentType != "" {
		if kind, _, err := mime.ParseMediaType(contentType); err != nil || kind != "application/json" {
			return oauth.ClientMetadata{}, registrar.Invalid(badMetadata)
		}
	}
	body, err := readBody(w, r)
	if registrar.CodeOf(err) == httpjson.BodyTooLarge {
		return oauth.ClientMetadata{}, err
	}
	var parsed *oauth.ClientMetadata
	if err != nil || json.Unmarshal(body, &parsed) != nil || parsed == nil {
		return oauth.ClientMetadata{}, registrar.Invalid(badMetadata)
	}
	return *parsed, nil
}
