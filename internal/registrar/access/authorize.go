package access

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Request is an authorization request as it came (RFC 6749, 4.1.1).
type Request struct {
	ClientID, RedirectURI      string
	ResponseType, ResponseMode string
	Challenge, ChallengeMethod string
	Scope, State               string
	Resources                  []string
	// Object and Address say that there was a request or a request_uri.
	Object, Address bool
	// Repeated says that a parameter came twice.
	Repeated bool
}

// Ask is a request of a known application with a good redirect URI: whatever else
// is wrong with it can be told to the application.
type Ask struct {
	Client             Client
	RedirectURI, State string
	Scope, Resource    string
	Challenge          string
	// Problem is what is wrong with it; empty if nothing is.
	Problem registrar.Code
}

// Begin reads a request. An error is for the person in the browser alone, since
// nobody knows to whom a redirect would lead.
func (a *Applications) Begin(ctx context.Context, request Request) (Ask, error) {
	client, err := a.client(ctx, request.ClientID)
	if err != nil {
		return Ask{}, err
	}
	redirect := request.RedirectURI
	if redirect == "" && len(client.RedirectURIs) == 1 {
		redirect = client.RedirectURIs[0]
	}
	if !client.allowsRedirect(redirect) {
		return Ask{}, invalid(BadRedirect)
	}
	ask := Ask{
		Client: client, RedirectURI: redirect, State: request.State, Scope: ScopeToGrant(request.Scope),
		Resource: a.resources.canonical, Challenge: request.Challenge, Problem: a.problemOf(request),
	}
	if len(ask.State) > maxState {
		ask.State = ""
	}
	return ask, nil
}

func (a *Applications) problemOf(request Request) registrar.Code {
	switch {
	case request.Repeated:
		return Repeated
	case request.Object:
		return RequestObject
	case request.Address:
		return RequestAddress
	case request.ResponseType != "code":
		return BadResponseType
	case request.ResponseMode != "" && request.ResponseMode != "query":
		return BadResponseMode
	case len(request.State) > maxState:
		return BadState
	case request.ChallengeMethod != "S256":
		return BadMethod
	case !goodChallenge(request.Challenge):
		return BadChallenge
	case !a.resources.accepts(request.Resources):
		return ForeignResource
	}
	return ""
}

// goodChallenge: SHA-256 in base64url without padding (RFC 7636, 4.2).
func goodChallenge(challenge string) bool {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(challenge)
	return err == nil && len(sum) == 32
}

// pending is a question as it is stored.
type pending struct {
	ClientID    string     `json:"client_id"`
	ClientKind  ClientKind `json:"client_kind"`
	ClientName  string     `json:"client_name"`
	Redirects   []string   `json:"redirect_uris,omitempty"` // of a document, which may have changed by then
	RedirectURI string     `json:"redirect_uri"`
	State       []byte     `json:"state,omitempty"` // bytes: JSON would mend broken UTF-8, and it goes back as it came
	Scope       string     `json:"scope"`
	Resource    string     `json:"resource"`
	Challenge   string     `json:"code_challenge"`
}

// Question stores what the customer is asked and returns the secret that stands
// in the form. It is good once, for this person, in this session.
func (a *Applications) Question(ctx context.Context, actor registrar.Actor, ask Ask) (secret string, err error) {
	if err := requireSession(actor); err != nil {
		return "", err
	}
	if ask.Problem != "" {
		return "", invalid(ask.Problem)
	}
	question := pending{
		ClientID: ask.Client.ID, ClientKind: ask.Client.Kind, ClientName: ask.Client.Name, RedirectURI: ask.RedirectURI,
		State: []byte(ask.State), Scope: ask.Scope, Resource: ask.Resource, Challenge: ask.Challenge,
	}
	if ask.Client.Kind == ClientDocument {
		question.Redirects = ask.Client.RedirectURIs
	}
	text, err := json.Marshal(question)
	if err != nil {
		return "", err
	}
	secret, hash := registrar.NewSecret(registrar.ConsentSecret)
	return secret, a.store.AddConsent(ctx, Consent{
		ConsentKey: ConsentKey{Hash: hash, Session: actor.Through, Customer: actor.Customer},
		Request:    string(text), ExpiresAt: a.now().Add(ConsentLife),
	}, maxPending)
}

// Reply is what the browser takes back to the application.
type Reply struct {
	RedirectURI, State string
	// Code is there if the customer approved; otherwise Problem is.
	Code    string
	Problem registrar.Code
}

// Approve answers a question with yes.
func (a *Applications) Approve(ctx context.Context, actor registrar.Actor, secret string) (Reply, error) {
	return a.decide(ctx, actor, secret, true)
}

// Deny answers a question with no.
func (a *Applications) Deny(ctx context.Context, actor registrar.Actor, secret string) (Reply, error) {
	return a.decide(ctx, actor, secret, false)
}

func (a *Applications) decide(ctx context.Context, actor registrar.Actor, secret string, approved bool) (Reply, error) {
	if err := requireSession(actor); err != nil {
		return Reply{}, err
	}
	gone := &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchConsent}
	hash, ok := registrar.HashSecret(registrar.ConsentSecret, secret)
	if !ok {
		return Reply{}, gone
	}
	now := a.now()
	key := ConsentKey{Hash: hash, Session: actor.Through, Customer: actor.Customer}
	text, open, err := a.store.OpenConsent(ctx, key, now)
	if err != nil {
		return Reply{}, err
	}
	if !open {
		return Reply{}, gone
	}
	var question pending
	if err := json.Unmarshal([]byte(text), &question); err != nil {
		return Reply{}, errors.New("a stored question can't be read")
	}
	reply := Reply{RedirectURI: question.RedirectURI, State: string(question.State), Problem: Denied}
	deed := registrar.Deed{Actor: actor, Action: AppDenied, Customer: actor.Customer, At: now}
	deed.Object = AppLabel(question.ClientName, question.RedirectURI)
	var approval *Approval
	if approved {
		deed.Action = AppApproved
		reply.Problem = ""
		approval = &Approval{
			Client: Client{
				ID: question.ClientID, Kind: question.ClientKind, Name: question.ClientName,
				RedirectURIs: question.Redirects, LastUsedAt: now,
			},
			Code: Code{
				ClientID: question.ClientID, ClientName: question.ClientName, Customer: actor.Customer,
				RedirectURI: question.RedirectURI, Challenge: question.Challenge, Scope: question.Scope,
				Resource: question.Resource, ExpiresAt: now.Add(CodeLife),
			},
		}
		reply.Code, approval.Hash = registrar.NewSecret(registrar.CodeSecret)
		approval.Letter = connectedLetter(actor, question)
	}
	decided, err := a.store.Decide(ctx, key, approval, deed)
	if err != nil {
		return Reply{}, err
	}
	if !decided {
		return Reply{}, gone
	}
	return reply, nil
}

// connectedLetter names host and name apart, since only the host is known.
func connectedLetter(actor registrar.Actor, question pending) registrar.Letter {
	return applicationLetter(registrar.LetterApplication, actor, question.ClientName, question.RedirectURI)
}

func applicationLetter(kind registrar.LetterKind, actor registrar.Actor, clientName, redirectURI string) registrar.Letter {
	host, _ := RedirectHost(redirectURI)
	facts := factsOf(actor, clientName)
	facts["host"] = host
	return registrar.Letter{Kind: kind, Customer: actor.Customer, Facts: facts}
}

// ReplayLetter tells the customer that a connection ended because a code or token of
// it was presented twice.
func ReplayLetter(actor registrar.Actor, clientName, redirectURI string) registrar.Letter {
	return applicationLetter(registrar.LetterApplicationReplayed, actor, clientName, redirectURI)
}

// requireSession: a question is asked of a person, in a session.
func requireSession(actor registrar.Actor) error {
	if err := requirePerson(actor); err != nil {
		return err
	}
	if actor.Through == "" {
		return &registrar.Error{Kind: registrar.KindForbidden, Code: PersonsOnly}
	}
	return nil
}

// MayWrite says whether the application asks for what only signed-in tools do.
func (ask Ask) MayWrite() bool { return contains(ask.Scope, ScopeWrite) }
