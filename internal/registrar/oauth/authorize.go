package oauth

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// AuthorizationRequest is an authorization request as received (RFC 6749, 4.1.1).
type AuthorizationRequest struct {
	ClientID, RedirectURI      string
	ResponseType, ResponseMode string
	Challenge, ChallengeMethod string
	Scope, State               string
	Resources                  []string
	// Object and Address report the presence of request and request_uri.
	Object, Address bool
	Repeated        bool // reports that a parameter occurred twice
}

// ParsedRequest is a request of a known application with a valid redirect URI, so any
// further problem can be reported to the application.
type ParsedRequest struct {
	Client             Client
	RedirectURI, State string
	Scope, Resource    string
	Challenge          string
	Problem            registrar.Code // the code of what is wrong; empty if nothing is
}

// ParseRequest validates a request. Errors are shown to the person in the browser only:
// without a valid redirect URI, a redirect could lead anywhere.
func (a *AuthorizationServer) ParseRequest(ctx context.Context, request AuthorizationRequest) (ParsedRequest, error) {
	client, err := a.resolveClient(ctx, request.ClientID)
	if err != nil {
		return ParsedRequest{}, err
	}
	redirect := request.RedirectURI
	if redirect == "" && len(client.RedirectURIs) == 1 {
		redirect = client.RedirectURIs[0]
	}
	if !client.allowsRedirect(redirect) {
		return ParsedRequest{}, registrar.Invalid(BadRedirect)
	}
	parsed := ParsedRequest{
		Client: client, RedirectURI: redirect, State: request.State, Scope: ScopeToGrant(request.Scope),
		Resource: a.audience.canonical, Challenge: request.Challenge, Problem: a.checkRequest(request),
	}
	if len(parsed.State) > maxState {
		parsed.State = ""
	}
	return parsed, nil
}

func (a *AuthorizationServer) checkRequest(request AuthorizationRequest) registrar.Code {
	switch {
	case request.Repeated:
		return RepeatedParameter
	case request.Object:
		return RequestObject
	case request.Address:
		return RequestURI
	case request.ResponseType != "code":
		return BadResponseType
	case request.ResponseMode != "" && request.ResponseMode != "query":
		return BadResponseMode
	case len(request.State) > maxState:
		return BadState
	case request.ChallengeMethod != "S256":
		return BadChallengeMethod
	case !validChallenge(request.Challenge):
		return BadChallenge
	case !a.audience.accepts(request.Resources):
		return ForeignResource
	}
	return ""
}

// validChallenge checks for a SHA-256 in base64url without padding (RFC 7636, 4.2).
func validChallenge(challenge string) bool {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(challenge)
	return err == nil && len(sum) == 32
}

// storedRequest is the stored form of a request that awaits consent.
type storedRequest struct {
	ClientID     string     `json:"client_id"`
	ClientKind   ClientKind `json:"client_kind"`
	ClientName   string     `json:"client_name"`
	RedirectURIs []string   `json:"redirect_uris,omitempty"` // of a metadata document, which may change until the decision
	RedirectURI  string     `json:"redirect_uri"`
	State        []byte     `json:"state,omitempty"` // bytes, because JSON would replace invalid UTF-8 and it must be returned unchanged
	Scope        string     `json:"scope"`
	Resource     string     `json:"resource"`
	Challenge    string     `json:"code_challenge"`
}

// CreateConsent stores a request for the customer's decision and returns the secret for
// the form. It is valid once, for this person, in this session.
func (a *AuthorizationServer) CreateConsent(ctx context.Context, actor registrar.Actor, parsed ParsedRequest) (secret string, err error) {
	if err := requireSession(actor); err != nil {
		return "", err
	}
	if parsed.Problem != "" {
		return "", registrar.Invalid(parsed.Problem)
	}
	stored := storedRequest{
		ClientID: parsed.Client.ID, ClientKind: parsed.Client.Kind, ClientName: parsed.Client.Name, RedirectURI: parsed.RedirectURI,
		State: []byte(parsed.State), Scope: parsed.Scope, Resource: parsed.Resource, Challenge: parsed.Challenge,
	}
	if parsed.Client.Kind == ClientMetadataDocument {
		stored.RedirectURIs = parsed.Client.RedirectURIs
	}
	text, err := json.Marshal(stored)
	if err != nil {
		return "", err
	}
	secret, hash := registrar.NewSecret(registrar.ConsentSecret)
	return secret, a.cfg.Store.AddConsent(ctx, Consent{
		ConsentKey: ConsentKey{Hash: hash, Session: actor.Through, Customer: actor.Customer},
		Request:    string(text), ExpiresAt: a.cfg.Now().Add(ConsentTTL),
	}, maxOpenConsents)
}

// AuthorizationResponse is what the browser returns to the application.
type AuthorizationResponse struct {
	RedirectURI, State string
	Code               string // set if the customer approved; otherwise Problem is
	Problem            registrar.Code
}

// Decide approves or denies a pending consent.
func (a *AuthorizationServer) Decide(ctx context.Context, actor registrar.Actor, secret string, approved bool) (AuthorizationResponse, error) {
	if err := requireSession(actor); err != nil {
		return AuthorizationResponse{}, err
	}
	notFound := registrar.NotFound(NoSuchConsent)
	hash, ok := registrar.HashSecret(registrar.ConsentSecret, secret)
	if !ok {
		return AuthorizationResponse{}, notFound
	}
	now := a.cfg.Now()
	key := ConsentKey{Hash: hash, Session: actor.Through, Customer: actor.Customer}
	text, open, err := a.cfg.Store.GetOpenConsent(ctx, key, now)
	if !open {
		return AuthorizationResponse{}, cmp.Or(err, notFound)
	}
	var stored storedRequest
	if err := json.Unmarshal([]byte(text), &stored); err != nil {
		return AuthorizationResponse{}, errors.New("oauth: decide consent: invalid stored request")
	}
	reply := AuthorizationResponse{RedirectURI: stored.RedirectURI, State: string(stored.State), Problem: Denied}
	event := registrar.AuditEvent{
		Actor: actor, Action: AppDenied, Customer: actor.Customer, Object: AppLabel(stored.ClientName, stored.RedirectURI), At: now,
	}
	var approval *Approval
	if approved {
		event.Action = AppApproved
		reply.Problem = ""
		approval = &Approval{
			Client: Client{
				ID: stored.ClientID, Kind: stored.ClientKind, Name: stored.ClientName,
				RedirectURIs: stored.RedirectURIs, LastUsedAt: now,
			},
			Code: AuthorizationCode{
				ClientID: stored.ClientID, ClientName: stored.ClientName, Customer: actor.Customer,
				RedirectURI: stored.RedirectURI, Challenge: stored.Challenge, Scope: stored.Scope,
				Resource: stored.Resource, ExpiresAt: now.Add(CodeTTL),
			},
		}
		reply.Code, approval.Hash = registrar.NewSecret(registrar.AuthorizationCodeSecret)
		approval.Mail = applicationMail(registrar.MailApplicationConnected, actor, stored.ClientName, stored.RedirectURI)
	}
	if decided, err := a.cfg.Store.DecideConsent(ctx, key, approval, event); !decided || err != nil {
		return AuthorizationResponse{}, cmp.Or(err, notFound)
	}
	return reply, nil
}

// applicationMail states the host separately, since the name is unverified.
func applicationMail(kind registrar.MailKind, actor registrar.Actor, clientName, redirectURI string) registrar.Mail {
	host, _ := RedirectHost(redirectURI)
	mail := registrar.Mail{Kind: kind, Customer: actor.Customer, Data: map[string]string{"name": clientName, "host": host}}
	mail.SetAddress(actor)
	return mail
}

// ReplayMail builds the mail about a grant that ended because a code or token was presented twice.
func ReplayMail(actor registrar.Actor, clientName, redirectURI string) registrar.Mail {
	return applicationMail(registrar.MailApplicationReplayed, actor, clientName, redirectURI)
}

// requireSession requires a person in a session.
func requireSession(actor registrar.Actor) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	if actor.Through == "" {
		return registrar.Forbidden(registrar.PersonsOnly)
	}
	return nil
}

// MayWrite reports whether the application requests access to tools that require authentication.
func (parsed ParsedRequest) MayWrite() bool { return hasScope(parsed.Scope, ScopeWrite) }
