package access

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
	maxDocumentID = 512
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
func (a *Applications) Register(ctx context.Context, registration Registration) (client Client, secret string, err error) {
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
	if err := a.store.AddClient(ctx, client); err != nil {
		return Client{}, "", err
	}
	return client, secret, nil
}

// authMethod: many clients name RFC 7591's default without needing it, so it is
// answered with what we have. A public client never gets a secret.
func authMethod(asked string) (AuthMethod, bool) {
	switch asked {
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
		return invalid(ManyRedirects)
	case !goodClientName(r.Name):
		return invalid(BadClientName)
	case len(r.GrantTypes) > 0 && !slices.Contains(r.GrantTypes, "authorization_code"):
		return invalid(BadGrantType)
	case len(r.ResponseTypes) > 0 && !slices.Contains(r.ResponseTypes, "code"):
		return invalid(BadResponseType)
	}
	for _, uri := range r.RedirectURIs {
		if !goodRedirect(uri) {
			return invalid(BadRedirectURI)
		}
	}
	return nil
}

// goodClientName keeps out what would garble the consent page, such as letters
// that turn the direction of those after them.
func goodClientName(name string) bool {
	if !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxClientName {
		return false
	}
	for _, letter := range name {
		if !unicode.IsPrint(letter) {
			return false
		}
	}
	return true
}

// Documents fetches the document at an address. It goes to no private address,
// follows no redirect and bounds size and time.
type Documents interface {
	Document(ctx context.Context, address string) (Document, error)
}

// Document is what an application says about itself at its own address.
type Document struct {
	ClientID     string
	Name         string
	RedirectURIs []string
	AuthMethod   string
}

// client finds an application by its id, also one that is known by a document.
func (a *Applications) client(ctx context.Context, id string) (Client, error) {
	unknown := &registrar.Error{Kind: registrar.KindNotFound, Code: UnknownClient}
	if !strings.HasPrefix(id, "https://") {
		client, known, err := a.stored(ctx, id)
		if err == nil && !known {
			return Client{}, unknown
		}
		return client, err
	}
	if a.documents == nil || !goodDocumentID(id) {
		return Client{}, unknown
	}
	document, err := a.documents.Document(ctx, id)
	if err != nil {
		return Client{}, &registrar.Error{Kind: registrar.KindUpstream, Code: BadDocument, Err: err}
	}
	about := Registration{Name: document.Name, RedirectURIs: document.RedirectURIs}
	if document.ClientID != id || document.AuthMethod != "" && document.AuthMethod != string(AuthNone) || about.check() != nil {
		return Client{}, invalid(BadDocument)
	}
	now := a.now()
	return Client{
		ID: id, Kind: ClientDocument, Name: strings.TrimSpace(document.Name), RedirectURIs: document.RedirectURIs,
		AuthMethod: AuthNone, CreatedAt: now, LastUsedAt: now,
	}, nil
}

// stored finds an application that is in the store. What can't be an id is not
// asked for: PostgreSQL answers a NUL or broken UTF-8 with an error, and so would
// we, as if something were wrong with us.
func (a *Applications) stored(ctx context.Context, id string) (Client, bool, error) {
	if !goodID(id) {
		return Client{}, false, nil
	}
	return a.store.Client(ctx, id)
}

// goodID: printable ASCII of bounded length, as all our ids are.
func goodID(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxDocumentID
}

// goodDocumentID: an address with a path and nothing by which it could be read
// in two ways.
func goodDocumentID(id string) bool {
	if len(id) > maxDocumentID || !goodRedirect(id) {
		return false
	}
	parsed, err := url.Parse(id)
	return err == nil && len(parsed.Path) > 1
}

// Credentials are what an application sends to the token endpoint.
type Credentials struct{ ClientID, Secret string }

// authenticate finds out which application is calling. An application that is
// known by a document has been approved by somebody before it comes here, so it
// is not fetched again.
func (a *Applications) authenticate(ctx context.Context, given Credentials) (Client, error) {
	client, known, err := a.stored(ctx, given.ClientID)
	if err != nil {
		return Client{}, err
	}
	if !known {
		return Client{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: UnknownClient}
	}
	if client.AuthMethod == AuthNone {
		// It may be somebody who found out a secret of another client's.
		if given.Secret != "" {
			return Client{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: SecretOfPublic}
		}
		return client, nil
	}
	hash, ok := registrar.HashSecret(registrar.ClientSecret, given.Secret)
	if !ok || subtle.ConstantTimeCompare([]byte(hash), []byte(client.SecretHash)) != 1 {
		return Client{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: WrongSecret}
	}
	return client, nil
}
