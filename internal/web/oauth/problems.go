package oauth

import (
	"errors"
	"math"
	"net/http"
	"strconv"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Codes of invalid requests.
const (
	badBody              registrar.Code = "bad_body"
	badContentType       registrar.Code = "bad_content_type"
	badMetadata          registrar.Code = "bad_client_metadata"
	paramsInQuery        registrar.Code = "parameters_in_query"
	credentialsInHeader  registrar.Code = "credentials_in_header"
	noGrantType          registrar.Code = "no_grant_type"
	unsupportedGrantType registrar.Code = "other_grant_type"
	noCode               registrar.Code = "no_code"
	noVerifier           registrar.Code = "no_code_verifier"
	noRefresh            registrar.Code = "no_refresh_token"
	noToken              registrar.Code = "no_token"
	tooManyRegistrations registrar.Code = "too_many_registrations"
)

// oauthError is an error response (RFC 6749, 4.1.2.1 and 5.2; RFC 7591, 3.2.2; RFC 8707, 2).
type oauthError struct {
	code        string
	status      int
	description string
}

const (
	invalidRequest  = "invalid_request"
	invalidClient   = "invalid_client"
	invalidGrant    = "invalid_grant"
	invalidMetadata = "invalid_client_metadata"
)

var endpointErrors = map[registrar.Code]oauthError{
	oauth.UnknownClient:     {invalidClient, 401, "This client is not registered here. Register again."},
	oauth.WrongSecret:       {invalidClient, 401, "The client_secret is missing or wrong."},
	oauth.SecretOfPublic:    {invalidClient, 401, "This client was registered with token_endpoint_auth_method none and must not send a client_secret."},
	credentialsInHeader:     {invalidClient, 401, "Send client_id, and client_secret if there is one, in the body. The Authorization header is not read here."},
	paramsInQuery:           {invalidRequest, 400, "Send the parameters in the body, never in the query."},
	badContentType:          {invalidRequest, 400, "The Content-Type must be application/x-www-form-urlencoded."},
	badBody:                 {invalidRequest, 400, "The body can't be read."},
	httpjson.BodyTooLarge:   {invalidRequest, 413, "The body is larger than 16 KiB."},
	oauth.RepeatedParameter: {invalidRequest, 400, "A parameter comes more than once."},
	noGrantType:             {invalidRequest, 400, "The parameter grant_type is missing."},
	noCode:                  {invalidRequest, 400, "The parameter code is missing."},
	noVerifier:              {invalidRequest, 400, "The parameter code_verifier is missing."},
	noRefresh:               {invalidRequest, 400, "The parameter refresh_token is missing."},
	noToken:                 {invalidRequest, 400, "The parameter token is missing."},
	httpjson.NoSuchMethod:   {invalidRequest, 405, "This method is not available here."},
	unsupportedGrantType:    {"unsupported_grant_type", 400, "The grant_type is authorization_code or refresh_token."},
	oauth.BadCode:           {invalidGrant, 400, "The code is unknown, used or expired, or code_verifier or redirect_uri do not fit it. Ask for a new one."},
	oauth.BadRefresh:        {invalidGrant, 400, "The refresh token is unknown, used, expired or revoked. The customer must sign in again."},
	oauth.TooManyRefreshes:  {"temporarily_unavailable", 429, "This connection was refreshed too often. Its refresh token stays good. Retry-After says how long to wait."},
	oauth.WiderScope:        {"invalid_scope", 400, "The scope is wider than the one that was granted."},
	oauth.ForeignResource:   {"invalid_target", 400, "The resource is not the MCP endpoint of this service."},

	oauth.NoRedirectURI:       {"invalid_redirect_uri", 400, "At least one of redirect_uris is needed."},
	oauth.BadRedirectURI:      {"invalid_redirect_uri", 400, "Redirect URIs are https, http on 127.0.0.1, [::1] or localhost, or of a private scheme with a dot; at most 2,048 characters, without fragment, user or dot segments."},
	oauth.TooManyRedirectURIs: {"invalid_redirect_uri", 400, "At most 10 redirect_uris are accepted."},
	oauth.BadClientName:       {invalidMetadata, 400, "The client_name has at most 200 printable characters."},
	oauth.BadAuthMethod:       {invalidMetadata, 400, "The token_endpoint_auth_method is none or client_secret_post."},
	oauth.BadGrantType:        {invalidMetadata, 400, "The grant_types must include authorization_code."},
	oauth.BadResponseType:     {invalidMetadata, 400, "The response_types must include code."},
	badMetadata:               {invalidMetadata, 400, "The body must be a JSON object as RFC 7591 describes it, of at most 16 KiB."},
	httpjson.TooManyBadTokens: {"temporarily_unavailable", 429, "Too many wrong credentials came from this address. Retry-After says how long to wait."},
	tooManyRegistrations:      {"temporarily_unavailable", 429, "Too many clients were registered from this address. Retry-After says how long to wait."},
}

// redirectErrors reach the application in a URL, so their descriptions are short.
var redirectErrors = map[registrar.Code]oauthError{
	oauth.RepeatedParameter:  {code: invalidRequest, description: "A parameter comes more than once."},
	oauth.RequestObject:      {code: "request_not_supported", description: "Request objects are not supported."},
	oauth.RequestURI:         {code: "request_uri_not_supported", description: "request_uri is not supported."},
	oauth.BadResponseType:    {code: "unsupported_response_type", description: "The response_type must be code."},
	oauth.BadResponseMode:    {code: invalidRequest, description: "The response_mode must be query."},
	oauth.BadState:           {code: invalidRequest, description: "The state is too long."},
	oauth.BadChallengeMethod: {code: invalidRequest, description: "The code_challenge_method must be S256."},
	oauth.BadChallenge:       {code: invalidRequest, description: "A code_challenge of 43 characters is needed."},
	oauth.ForeignResource:    {code: "invalid_target", description: "The resource is not the MCP endpoint of this service."},
	oauth.Denied:             {code: "access_denied", description: "The customer did not approve."},
}

type errorBody struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// writeError writes an error response.
func writeError(w http.ResponseWriter, err error) {
	httpjson.RecordError(w, err)
	code := registrar.CodeOf(err)
	p, known := endpointErrors[code]
	if !known {
		p = oauthError{"server_error", http.StatusInternalServerError, "This did not work, through no fault of yours. Try again."}
	}
	setNoStore(w.Header())
	var withRetry *registrar.Error
	if errors.As(err, &withRetry) && withRetry.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(withRetry.RetryAfter.Seconds()))))
	}
	if code == credentialsInHeader {
		// RFC 6749, 5.2 requires it if the client used the header.
		w.Header().Set("WWW-Authenticate", `Basic realm="not supported, use client_secret_post"`)
	}
	httpjson.WriteJSON(w, p.status, errorBody{Error: p.code, Description: p.description})
}

// ServeError answers 500 after a panic.
func ServeError(w http.ResponseWriter, _ *http.Request, err error) { writeError(w, err) }

// MethodNotAllowed answers 405.
func MethodNotAllowed(w http.ResponseWriter, _ *http.Request) {
	writeError(w, registrar.Invalid(httpjson.NoSuchMethod))
}

// setNoStore forbids caching (RFC 6749, 5.1).
func setNoStore(header http.Header) {
	header.Set("Cache-Control", "no-store")
	header.Set("Pragma", "no-cache")
}
