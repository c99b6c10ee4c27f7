package oauth

import (
	"context"
	"crypto/subtle"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	maxClientName = 200
	maxClientID   = 512
)

// Registration is what an application says about itself (RFC 7591, 2). Nothing of
// it is believed: the name is shown as a claim beside the redirect host.
type Registration struct {
	Name          string
	RedirectURIs  []string
	AuthMethod    string
	GrantTypes    []string
	ResponseTypes []string
}

// Register makes a client. The secret is empty for a public one.
func (a *AuthorizationServer) Register(ctx context.Context, registration Registration) (client Client, secret string, err error) {
	if err := registration.check(); err != nil {
		return Client{}, "", err
	}
	method, ok := authMethod(registration.AuthMethod)
	if !ok {
		return Client{}, "", invalid(BadAuthMethod)
	}
	now := a.now()
	client = Client{
		ID: registrar.NewID("client_", now), Kind: ClientDynamic, Name: strings.TrimSpace(registration.Name),
		RedirectURIs: registration.RedirectURIs, AuthMethod: method, CreatedAt: now, LastUsedAt: now,
	}
	if method == AuthPost {
		secret, client.SecretHash = registrar.NewSecret(registrar.ClientSecret)
	}
	if err := a.store.AddOAuthClient(ctx, client); err != nil {
		return Client{}, "", err
	}
	return client, secret, nil
}

// authMethod: many clients name RFC 7591's default without needing it, so it is
// answered with what we have. A public client never gets a secret.
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

func (r Registration) check() error {
	switch {
	case len(r.RedirectURIs) == 0:
		return invalid(NoRedirectURI)
	case len(r.RedirectURIs) > maxRedirects:
		return invalid(TooManyRedirectURIs)
	case !validClientName(r.Name):
		return invalid(BadClientName)
	case len(r.GrantTypes) > 0 && !slices.Contains(r.GrantTypes, "authorization_code"):
		return invalid(BadGrantType)
	case len(r.ResponseTypes) > 0 && !slices.Contains(r.ResponseTypes, "code"):
		return invalid(BadResponseType)
	}
	for _, uri := range r.RedirectURIs {
		if !validRedirectURI(uri) {
			return invalid(BadRedirectURI)
		}
	}
	return nil
}

// validClientName keeps out what would garble the consent page, such as letters
// that turn the direction of those after them.
func validClientName(name string) bool {
	if !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxClientName {
		return false
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// MetadataFetcher fetches the document at an address. It goes to no private address,
// follows no redirect and bounds size and time.
type MetadataFetcher interface {
	FetchClientMetadata(ctx context.Context, address string) (ClientMetadata, error)
}

// ClientMetadata is what an application says about itself at its own address.
type ClientMetadata struct {
	ClientID     string
	Name         string
	RedirectURIs []string
	AuthMethod   string
}

// resolveClient finds an application by its id, also one that is known by a document.
func (a *AuthorizationServer) resolveClient(ctx context.Context, id string) (Client, error) {
	unknown := &registrar.Error{Kind: registrar.KindNotFound, Code: UnknownClient}
	if !strings.HasPrefix(id, "https://") {
		client, known, err := a.storedClient(ctx, id)
		if err == nil && !known {
			return Client{}, unknown
		}
		return client, err
	}
	if a.metadata == nil || !validMetadataURL(id) {
		return Client{}, unknown
	}
	document, err := a.metadata.FetchClientMetadata(ctx, id)
	if err != nil {
		return Client{}, &registrar.Error{Kind: registrar.KindUpstream, Code: BadClientMetadata, Err: err}
	}
	registration := Registration{Name: document.Name, RedirectURIs: document.RedirectURIs}
	if document.ClientID != id || document.AuthMethod != "" && document.AuthMethod != string(AuthNone) || registration.check() != nil {
		return Client{}, invalid(BadClientMetadata)
	}
	now := a.now()
	return Client{
		ID: id, Kind: ClientMetadataDocument, Name: strings.TrimSpace(document.Name), RedirectURIs: document.RedirectURIs,
		AuthMethod: AuthNone, CreatedAt: now, LastUsedAt: now,
	}, nil
}

// storedClient finds an application that is in the store. What can't be an id is not
// asked for: PostgreSQL answers a NUL or broken UTF-8 with an error, and so would
// we, as if something were wrong with us.
func (a *AuthorizationServer) storedClient(ctx context.Context, id string) (Client, bool, error) {
	if !validID(id) {
		return Client{}, false, nil
	}
	return a.store.GetOAuthClient(ctx, id)
}

// goodID: printable ASCII of bounded length, as all our ids are.
func validID(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxClientID
}

// goodDocumentID: an address with a path and nothing by which it could be read
// in two ways.
func validMetadataURL(id string) bool {
	if len(id) > maxClientID || !validRedirectURI(id) {
		return false
	}
	parsed, err := url.Parse(id)
	return err == nil && len(parsed.Path) > 1
}

// ClientCredentials are what an application sends to the token endpoint.
type ClientCredentials struct{ ClientID, Secret string }

// authenticate finds out which application is calling. An application that is
// known by a document has been approved by somebody before it comes here, so it
// is not fetched again.
func (a *AuthorizationServer) authenticate(ctx context.Context, credentials ClientCredentials) (Client, error) {
	client, known, err := a.storedClient(ctx, credentials.ClientID)
	if err != nil {
		return Client{}, err
	}
	if !known {
		return Client{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: UnknownClient}
	}
	if client.AuthMethod == AuthNone {
		// It may be somebody who found out a secret of another client's.
		if credentials.Secret != "" {
			return Client{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: SecretOfPublic}
		}
		return client, nil
	}
	hash, ok := registrar.HashSecret(registrar.ClientSecret, credentials.Secret)
	if !ok || subtle.ConstantTimeCompare([]byte(hash), []byte(client.SecretHash)) != 1 {
		return Client{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: WrongSecret}
	}
	return client, nil
}
