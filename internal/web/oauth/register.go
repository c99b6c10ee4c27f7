package oauth

import (
	"encoding/json"
	"mime"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// metadata is what we read of a registration (RFC 7591, 2). All else, such as
// the address of a logo, is not even kept.
type metadata struct {
	Name          string   `json:"client_name"`
	RedirectURIs  []string `json:"redirect_uris"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	Scope         string   `json:"scope"`
}

// registered is the answer (RFC 7591, 3.2.1). Clients stumble over an empty
// secret and over null where they expect a list.
type registered struct {
	ID            string            `json:"client_id"`
	IssuedAt      int64             `json:"client_id_issued_at"`
	Secret        string            `json:"client_secret,omitempty"`
	SecretExpires *int              `json:"client_secret_expires_at,omitempty"`
	Name          string            `json:"client_name,omitempty"`
	RedirectURIs  []string          `json:"redirect_uris"`
	AuthMethod    access.AuthMethod `json:"token_endpoint_auth_method"`
	GrantTypes    []string          `json:"grant_types"`
	ResponseTypes []string          `json:"response_types"`
	Scope         string            `json:"scope"`
}

// Register makes a client of an application.
func (h *Handler) Register(w http.ResponseWriter, r *http.Request) {
	answer, err := h.register(w, r)
	if err != nil {
		fail(w, err)
		return
	}
	neverStore(w.Header())
	wire.WriteJSON(w, http.StatusCreated, answer)
}

func (h *Handler) register(w http.ResponseWriter, r *http.Request) (registered, error) {
	// Counted before anything is read: what is refused costs something, too.
	if decision := h.registrations.Allow(quota.AddressKey(h.address(r))); !decision.Allowed {
		return registered{}, &registrar.Error{Kind: registrar.KindRateLimited, Code: tooMany, RetryAfter: decision.RetryAfter}
	}
	asked, err := readMetadata(w, r)
	if err != nil {
		return registered{}, err
	}
	client, secret, err := h.applications.Register(r.Context(), access.Registration{
		Name: asked.Name, RedirectURIs: asked.RedirectURIs, AuthMethod: asked.AuthMethod,
		GrantTypes: asked.GrantTypes, ResponseTypes: asked.ResponseTypes,
	})
	if err != nil {
		return registered{}, err
	}
	answer := registered{
		ID: client.ID, IssuedAt: client.CreatedAt.Truncate(time.Second).Unix(), Secret: secret, Name: client.Name,
		RedirectURIs: client.RedirectURIs, AuthMethod: client.AuthMethod,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		Scope: access.ScopeToGrant(asked.Scope),
	}
	if secret != "" {
		answer.SecretExpires = new(int) // 0: never
	}
	return answer, nil
}

func readMetadata(w http.ResponseWriter, r *http.Request) (metadata, error) {
	if given := r.Header.Get("Content-Type"); given != "" {
		if kind, _, err := mime.ParseMediaType(given); err != nil || kind != "application/json" {
			return metadata{}, refuse(badMetadata)
		}
	}
	body, err := readBody(w, r)
	if err != nil {
		if registrar.CodeOf(err) == bodyTooLarge {
			return metadata{}, err
		}
		return metadata{}, refuse(badMetadata)
	}
	var asked *metadata
	if err := json.Unmarshal(body, &asked); err != nil || asked == nil {
		return metadata{}, refuse(badMetadata)
	}
	return *asked, nil
}
