package oauth

import (
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// What is wrong with a request before it is understood.
const (
	badBody        registrar.Code = "bad_body"
	bodyTooLarge   registrar.Code = "body_too_large"
	badContentType registrar.Code = "bad_content_type"
	badMetadata    registrar.Code = "bad_client_metadata"
	inQuery        registrar.Code = "parameters_in_query"
	inHeader       registrar.Code = "credentials_in_header"
	noGrantType    registrar.Code = "no_grant_type"
	otherGrantType registrar.Code = "other_grant_type"
	noCode         registrar.Code = "no_code"
	noVerifier     registrar.Code = "no_code_verifier"
	noRefresh      registrar.Code = "no_refresh_token"
	noToken        registrar.Code = "no_token"
	tooMany        registrar.Code = "too_many_registrations"
	noSuchMethod   registrar.Code = "no_such_method"
	tooManyBad     registrar.Code = "too_many_bad_tokens"
)

// problem is how an error looks to an application (RFC 6749, 4.1.2.1 and 5.2;
// RFC 7591, 3.2.2; RFC 8707, 2).
type problem struct {
	name     string
	status   int
	sentence string
}

const (
	invalidRequest  = "invalid_request"
	invalidClient   = "invalid_client"
	invalidGrant    = "invalid_grant"
	invalidMetadata = "invalid_client_metadata"
)

var problems = map[registrar.Code]problem{
	access.UnknownClient:    {invalidClient, 401, "This client is not registered here. Register again."},
	access.WrongSecret:      {invalidClient, 401, "The client_secret is missing or wrong."},
	access.SecretOfPublic:   {invalidClient, 401, "This client was registered with token_endpoint_auth_method none and must not send a client_secret."},
	inHeader:                {invalidClient, 401, "Send client_id, and client_secret if there is one, in the body. The Authorization header is not read here."},
	inQuery:                 {invalidRequest, 400, "Send the parameters in the body, never in the query."},
	badContentType:          {invalidRequest, 400, "The Content-Type must be application/x-www-form-urlencoded."},
	badBody:                 {invalidRequest, 400, "The body can't be read."},
	bodyTooLarge:            {invalidRequest, 413, "The body is larger than 16 KiB."},
	access.Repeated:         {invalidRequest, 400, "A parameter comes more than once."},
	noGrantType:             {invalidRequest, 400, "The parameter grant_type is missing."},
	noCode:                  {invalidRequest, 400, "The parameter code is missing."},
	noVerifier:              {invalidRequest, 400, "The parameter code_verifier is missing."},
	noRefresh:               {invalidRequest, 400, "The parameter refresh_token is missing."},
	noToken:                 {invalidRequest, 400, "The parameter token is missing."},
	noSuchMethod:            {invalidRequest, 405, "This method is not available here."},
	otherGrantType:          {"unsupported_grant_type", 400, "The grant_type is authorization_code or refresh_token."},
	access.BadCode:          {invalidGrant, 400, "The code is unknown, used or expired, or code_verifier or redirect_uri do not fit it. Ask for a new one."},
	access.BadRefresh:       {invalidGrant, 400, "The refresh token is unknown, used, expired or revoked. The customer must sign in again."},
	access.TooManyRefreshes: {"temporarily_unavailable", 429, "This connection was refreshed too often. Its refresh token stays good. Retry-After says how long to wait."},
	access.WiderScope:       {"invalid_scope", 400, "The scope is wider than the one that was granted."},
	access.ForeignResource:  {"invalid_target", 400, "The resource is not the MCP endpoint of this service."},

	access.NoRedirectURI:   {"invalid_redirect_uri", 400, "At least one of redirect_uris is needed."},
	access.BadRedirectURI:  {"invalid_redirect_uri", 400, "Redirect URIs are https, http on 127.0.0.1, [::1] or localhost, or of a private scheme with a dot; at most 2,048 characters, without fragment, user or dot segments."},
	access.ManyRedirects:   {"invalid_redirect_uri", 400, "At most 10 redirect_uris are accepted."},
	access.BadClientName:   {invalidMetadata, 400, "The client_name has at most 200 printable characters."},
	access.BadAuthMethod:   {invalidMetadata, 400, "The token_endpoint_auth_method is none or client_secret_post."},
	access.BadGrantType:    {invalidMetadata, 400, "The grant_types must include authorization_code."},
	access.BadResponseType: {invalidMetadata, 400, "The response_types must include code."},
	badMetadata:            {invalidMetadata, 400, "The body must be a JSON object as RFC 7591 describes it, of at most 16 KiB."},
	tooManyBad:             {"temporarily_unavailable", 429, "Too many wrong credentials came from this address. Retry-After says how long to wait."},
	tooMany:                {"temporarily_unavailable", 429, "Too many clients were registered from this address. Retry-After says how long to wait."},
}

// redirected are the problems that an application hears of through the browser.
// Their sentences go into an address, so they are short.
var redirected = map[registrar.Code]problem{
	access.Repeated:        {name: invalidRequest, sentence: "A parameter comes more than once."},
	access.RequestObject:   {name: "request_not_supported", sentence: "Request objects are not supported."},
	access.RequestAddress:  {name: "request_uri_not_supported", sentence: "request_uri is not supported."},
	access.BadResponseType: {name: "unsupported_response_type", sentence: "The response_type must be code."},
	access.BadResponseMode: {name: invalidRequest, sentence: "The response_mode must be query."},
	access.BadState:        {name: invalidRequest, sentence: "The state is too long."},
	access.BadMethod:       {name: invalidRequest, sentence: "The code_challenge_method must be S256."},
	access.BadChallenge:    {name: invalidRequest, sentence: "A code_challenge of 43 characters is needed."},
	access.ForeignResource: {name: "invalid_target", sentence: "The resource is not the MCP endpoint of this service."},
	access.Denied:          {name: "access_denied", sentence: "The customer did not approve."},
}

type errorBody struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// fail answers an application with an error.
func fail(w http.ResponseWriter, err error) {
	wire.Annotate(w, err)
	code := registrar.CodeOf(err)
	p, known := problems[code]
	if !known {
		p = problem{"server_error", http.StatusInternalServerError, "This did not work, through no fault of yours. Try again."}
	}
	neverStore(w.Header())
	var told *registrar.Error
	if errors.As(err, &told) && told.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(told.RetryAfter.Seconds()))))
	}
	if code == inHeader {
		// RFC 6749, 5.2 asks for it where a client tried the header.
		w.Header().Set("WWW-Authenticate", `Basic realm="not supported, use client_secret_post"`)
	}
	wire.WriteJSON(w, p.status, errorBody{Error: p.name, Description: p.sentence})
}

// Fail answers where no handler has.
func Fail(w http.ResponseWriter, _ *http.Request, err error) { fail(w, err) }

// RefuseMethod answers where a path does not have the method.
func RefuseMethod(w http.ResponseWriter, _ *http.Request) { fail(w, refuse(noSuchMethod)) }

func refuse(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindInvalid, Code: code}
}

// neverStore: RFC 6749, 5.1.
func neverStore(header http.Header) {
	header.Set("Cache-Control", "no-store")
	header.Set("Pragma", "no-cache")
}
