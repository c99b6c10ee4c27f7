package oauth

import (
	"cmp"
	"context"
	"crypto/subtle"
	"net/url"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	maxClientName = 200
	maxClientID   = 512
)

// ClientMetadata is what an application states about itself (RFC 7591, 2), when it registers
// or in a document at the URL that is its id. None of it is verified: the consent page shows
// the name next to the redirect host. Other fields, such as a logo's URL, are ignored.
type ClientMetadata struct {
	ClientID      string   `json:"client_id"` // in a document
	Name          string   `json:"client_name"`
	RedirectURIs  []string `json:"redirect_uris"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	Scope         string   `json:"scope"`
}

// Register creates a client. The secret is empty for a public one.
func (a *AuthorizationServer) Register(ctx context.Context, registration ClientMetadata) (client Client, secret string, err error) {
	if err := registration.check(); err != nil {
		return Client{}, "", err
	}
	method, ok := authMethod(registration.AuthMethod)
	if !ok {
		return Client{}, "", registrar.Invalid(BadAuthMethod)
	}
	now := a.cfg.Now()
	client = Client{
		ID: registrar.NewID("client_", now), Kind: ClientDynamic, Name: strings.TrimSpace(registration.Name),
		RedirectURIs: registration.RedirectURIs, AuthMethod: method, CreatedAt: now, LastUsedAt: now,
	}
	if method == AuthPost {
		secret, client.SecretHash = registrar.NewSecret(registrar.ClientSecret)
	}
	if err := a.cfg.Store.AddOAuthClient(ctx, client); err != nil {
		return Client{}, "", err
	}
	return client, secret, nil
}

// authMethod maps the requested method. Many clients name RFC 7591's default without needing it, so
// it is answered with a supported one. A public client never gets a secret.
func authMethod(requested string) (AuthMethod, bool) {
	switch requested {
	case "", string(AuthNone):
		return AuthNone, true
	case string(AuthPost), "client_secret_basic":
		return AuthPost, true
	default:
		return "", false
	}
}

func (r ClientMetadata) check() error {
	switch {
	case len(r.RedirectURIs) == 0:
		return registrar.Invalid(NoRedirectURI)
	case len(r.RedirectURIs) > maxRedirects:
		return registrar.Invalid(TooManyRedirectURIs)
	case !registrar.IsPrintable(r.Name, maxClientName):
		return registrar.Invalid(BadClientName)
	case len(r.GrantTypes) > 0 && !slices.Contains(r.GrantTypes, "authorization_code"):
		return registrar.Invalid(BadGrantType)
	case len(r.ResponseTypes) > 0 && !slices.Contains(r.ResponseTypes, "code"):
		return registrar.Invalid(BadResponseType)
	}
	for _, uri := range r.RedirectURIs {
		if !validRedirectURI(uri) {
			return registrar.Invalid(BadRedirectURI)
		}
	}
	return nil
}

// MetadataFetcher fetches a client metadata document. It refuses private addresses,
// follows no redirects, and bounds size and time.
type MetadataFetcher interface {
	FetchClientMetadata(ctx context.Context, address string) (ClientMetadata, error)
}

// resolveClient finds a client by its id, including clients described by a metadata document.
func (a *AuthorizationServer) resolveClient(ctx context.Context, id string) (Client, error) {
	if !strings.HasPrefix(id, "https://") {
		client, known, err := a.storedClient(ctx, id)
		if !known {
			err = cmp.Or(err, registrar.NotFound(UnknownClient))
		}
		return client, err
	}
	if a.cfg.Metadata == nil || !validMetadataURL(id) {
		return Client{}, registrar.NotFound(UnknownClient)
	}
	document, err := a.cfg.Metadata.FetchClientMetadata(ctx, id)
	if err != nil {
		return Client{}, &registrar.Error{Kind: registrar.KindUpstream, Code: BadClientMetadata, Err: err}
	}
	registration := ClientMetadata{Name: document.Name, RedirectURIs: document.RedirectURIs}
	if document.ClientID != id || document.AuthMethod != "" && document.AuthMethod != string(AuthNone) || registration.check() != nil {
		return Client{}, registrar.Invalid(BadClientMetadata)
	}
	now := a.cfg.Now()
	return Client{
		ID: id, Kind: ClientMetadataDocument, Name: strings.TrimSpace(document.Name), RedirectURIs: document.RedirectURIs,
		AuthMethod: AuthNone, CreatedAt: now, LastUsedAt: now,
	}, nil
}

// storedClient finds a client in the store. Impossible ids are not queried: PostgreSQL
// rejects NUL and invalid UTF-8, which would look like an internal error.
func (a *AuthorizationServer) storedClient(ctx context.Context, id string) (Client, bool, error) {
	if !validID(id) {
		return Client{}, false, nil
	}
	return a.cfg.Store.GetOAuthClient(ctx, id)
}

// validID checks for printable ASCII of bounded length, like all ids here.
func validID(id string) bool {
	return id != "" && len(id) <= maxClientID && printableASCII(id)
}

// validMetadataURL checks for a URL with a path and nothing ambiguous.
func validMetadataURL(id string) bool {
	if len(id) > maxClientID || !validRedirectURI(id) {
		return false
	}
	parsed, err := url.Parse(id)
	return err == nil && len(parsed.Path) > 1
}

// ClientCredentials are what an application presents at the token endpoint.
type ClientCredentials struct{ ClientID, Secret string }

// authenticate identifies the calling client. A client described by a metadata document was
// approved before it calls the token endpoint, so the document is not fetched again.
func (a *AuthorizationServer) authenticate(ctx context.Context, credentials ClientCredentials) (Client, error) {
	client, known, err := a.storedClient(ctx, credentials.ClientID)
	if !known {
		return Client{}, cmp.Or(err, registrar.Unauthenticated(UnknownClient))
	}
	if client.AuthMethod == AuthNone {
		// A secret sent for a public client may be one that leaked from another.
		if credentials.Secret != "" {
			return Client{}, registrar.Unauthenticated(SecretOfPublic)
		}
		return client, nil
	}
	hash, ok := registrar.HashSecret(registrar.ClientSecret, credentials.Secret)
	if !ok || subtle.ConstantTimeCompare([]byte(hash), []byte(client.SecretHash)) != 1 {
		return Client{}, registrar.Unauthenticated(WrongSecret)
	}
	return client, nil
}
