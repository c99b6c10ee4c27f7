package mcp

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// The paths of the endpoint.
const (
	Path      = "/api/mcp"
	LoginPath = "/api/mcp/login"
)

// maxBody is far more than any tool call needs.
const maxBody = 64 << 10

const instructions = "Look up whether domain names are free and what they cost (domain_search for an idea, domain_check for a full name), " +
	"what registries publish about them (whois_lookup), and the price list (list_tlds, tld_price). " +
	"With sign-in: the customer's own domains and orders (list_my_domains, list_orders), and orders that a human pays in a browser (start_order, get_order_status, cancel_order). " +
	"list_holders lists the holders that the customer can register domains for. " +
	"set_auto_renew turns automatic renewal of a domain off, or returns the link where the customer turns it on. " +
	"Prices are per year, in EUR without VAT, unless a field says gross. No tool charges money."

// Config holds the dependencies of the endpoint.
type Config struct {
	BaseURL        string
	AllowedOrigins []string
	Version        string
	Limits         Limits

	Lookups     Lookups
	Catalog     Catalog
	Budget      Budget // shared with the REST interface
	WhoisBudget Budget
	Tokens      Tokens
	TokenBudget TokenBudget     // spent by signed-in tools instead of an address's budget
	BadTokens   *ratelimit.Gate // limits the invalid tokens of an address; nil means no limit
	Portal      bool            // there are pages to which failures may link
	Domains     Domains         // nil only if no token is ever valid
	Holders     Holders         // nil like Domains
	Orders      Orders
	Renewals    Renewals // nil like Orders
	Extension   Extension
	Address     func(*http.Request) netip.Addr // finds the client address of a request
	Logger      *slog.Logger
}

// Server serves the endpoint; one Server handles all requests.
type Server struct {
	cfg        Config
	hostPolicy hostPolicy
	tools      map[string]*tool
	refusals   map[int]accessRefusal // by status
	// The members of results that are the same for all callers: of tools/list, of
	// server/discover, of initialize without the revision, and the one that every
	// result has since 2026-07-28.
	listing, discovery, introduction, serverMeta []byte
}

// New checks cfg and returns a Server.
func New(cfg Config) (*Server, error) {
	if cfg.Lookups == nil || cfg.Catalog == nil || cfg.Budget == nil || cfg.WhoisBudget == nil || cfg.Tokens == nil || cfg.TokenBudget == nil || cfg.Address == nil {
		return nil, errors.New("mcp: Config.Lookups, Catalog, Budget, WhoisBudget, Tokens, TokenBudget and Address are required")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	names, err := newHostPolicy(cfg.BaseURL, cfg.AllowedOrigins)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, hostPolicy: names, tools: make(map[string]*tool), refusals: make(map[int]accessRefusal)}
	if s.refusals[http.StatusUnauthorized], err = s.newAccessRefusal(http.StatusUnauthorized, "Bearer ", signInRequired, messageSignIn); err != nil {
		return nil, err
	}
	if s.refusals[http.StatusForbidden], err = s.newAccessRefusal(http.StatusForbidden, insufficientText, insufficientScope, messageNoScope); err != nil {
		return nil, err
	}
	if err := s.addTools(); err != nil {
		return nil, err
	}
	err = s.describe()
	return s, err
}

// listTTL is how long clients may cache the list of tools, the same as for the
// discovery documents.
const listTTL = time.Hour

// Serve is POST /api/mcp.
func (s *Server) Serve(w http.ResponseWriter, r *http.Request) { s.serve(w, r, false) } //nolint:contextcheck // the request has it

// ServeLogin is POST /api/mcp/login, where every request needs a token.
func (s *Server) ServeLogin(w http.ResponseWriter, r *http.Request) { s.serve(w, r, true) } //nolint:contextcheck // the request has it

// MethodNotAllowed answers 405 with a JSON-RPC error. There are no sessions to end and no
// streams to resume, so only POST is supported.
func MethodNotAllowed(w http.ResponseWriter, _ *http.Request) {
	writeError(w, http.StatusMethodNotAllowed, nil, &RPCError{Code: codeInvalidRequest, Message: "send messages by POST; this server keeps no sessions and no streams"})
}

// ServeError answers 500 after a panic.
func ServeError(w http.ResponseWriter, _ *http.Request, err error) {
	httpjson.RecordError(w, err)
	writeError(w, http.StatusInternalServerError, nil, &RPCError{Code: codeInternal, Message: messageInternal})
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, signedInOnly bool) {
	if !s.hostPolicy.allows(r) {
		writeError(w, http.StatusForbidden, nil, &RPCError{Code: codeInvalidRequest, Message: "this service may not be called under this Host or from this Origin"})
		return
	}
	state := &requestState{address: s.cfg.Address(r), id: httpjson.RequestID(w)}
	valid, limit := s.identify(r, state)
	if !limit.Allowed {
		w.Header().Set("Retry-After", strconv.Itoa(limit.RetryAfterSeconds()))
		httpjson.RecordError(w, &registrar.Error{Kind: registrar.KindRateLimited, Code: httpjson.TooManyBadTokens})
		writeError(w, http.StatusTooManyRequests, nil, &RPCError{Code: codeNoAccess, Message: messageBadTokens})
		return
	}
	if !valid {
		s.refuse(w)
		return
	}
	if signedInOnly && state.verifyErr != nil { // a client must not discard its token because of this
		httpjson.RecordError(w, state.verifyErr)
		writeError(w, http.StatusServiceUnavailable, nil, &RPCError{Code: codeInternal, Message: messageUnchecked})
		return
	}
	if signedInOnly && state.caller == nil {
		s.refuse(w)
		return
	}
	if err := checkVersion(r.Header); err != nil {
		writeError(w, err.status, nil, err)
		return
	}
	body, err := readBody(w, r)
	if err != nil {
		writeError(w, err.status, nil, err)
		return
	}
	parsed, parseErr := parseMessage(body)
	if parseErr != nil {
		code := codeInvalidRequest
		if errors.Is(parseErr, errNotJSON) {
			code = codeParseError
		}
		writeError(w, http.StatusBadRequest, nil, &RPCError{Code: code, Message: parseErr.Error()})
		return
	}
	x := &exchange{
		server: s, w: w, r: r, state: state, message: parsed, stream: stream{w: w},
		stateless: r.Header.Get("Mcp-Protocol-Version") >= stateless,
	}
	x.dispatch()
	if state.tool != "" {
		httpjson.RecordTool(w, state.tool, state.outcome())
	}
	for _, err := range state.errs {
		httpjson.RecordError(w, err)
	}
}

// refuse answers 401 before any message is read.
func (s *Server) refuse(w http.ResponseWriter) {
	refusal := s.refusals[http.StatusUnauthorized]
	w.Header()["Www-Authenticate"] = refusal.challenge
	writeError(w, http.StatusUnauthorized, nil, refusal.err)
}

// identify sets the caller in state; a request without a token has none. valid is false
// for an invalid token; limit refuses an address that has sent too many of them. If
// tokens can't be verified, lookups work as without one, and only signed-in tools fail.
func (s *Server) identify(r *http.Request, state *requestState) (valid bool, limit ratelimit.Decision) {
	allowed := ratelimit.Decision{Allowed: true}
	bearer, sent := bearerToken(r.Header)
	switch {
	case tokenInQuery(r.URL.RawQuery):
		return false, allowed
	case !sent:
		return true, allowed
	case bearer == "": // independent of how the store treats an empty token
		return false, allowed
	}
	if d := s.cfg.BadTokens.Admit(state.address, bearer); !d.Allowed {
		return false, d
	}
	token, err := s.cfg.Tokens.Verify(r.Context(), bearer)
	switch {
	case err != nil && registrar.KindOf(err) == registrar.KindUnauthenticated:
		s.cfg.BadTokens.Fail(state.address, bearer)
		return false, allowed
	case err != nil:
		state.verifyErr = err
	default:
		s.cfg.BadTokens.Trust(bearer)
		state.caller = &registrar.Actor{Kind: token.Kind, Customer: token.Customer, Through: token.TokenID, Address: state.address}
		state.mayWrite = token.MayWrite
	}
	return true, allowed
}

// tokenInQuery finds a token in the query, where it would be logged and kept in browser
// histories. It is not used, and the request is refused even with a valid token in its
// header, so that the client's developer notices at once.
func tokenInQuery(query string) bool {
	if query == "" {
		return false
	}
	if registrar.ContainsSecret(query) {
		return true
	}
	parameters, _ := url.ParseQuery(query) // returns the valid parameters
	for name, values := range parameters {
		if strings.EqualFold(name, "access_token") || registrar.ContainsSecret(name) || slices.ContainsFunc(values, registrar.ContainsSecret) {
			return true
		}
	}
	return false
}

// bearerToken returns the token of the Authorization header. Two headers count as an
// invalid token, because two parsers could read them differently.
func bearerToken(header http.Header) (token string, sent bool) {
	values := header["Authorization"]
	if len(values) > 1 {
		return "", true
	}
	if len(values) == 0 {
		return "", false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token), true
	}
	// A malformed bearer token is an invalid one, not a missing one.
	return "", strings.Contains(strings.ToLower(values[0]), "bearer")
}

var errTooLarge = &RPCError{
	Code: codeInvalidRequest, Message: fmt.Sprintf("a message may have at most %d bytes", maxBody), status: http.StatusRequestEntityTooLarge,
}

// readBody reads the whole body.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, *RPCError) {
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "" && !strings.EqualFold(strings.TrimSpace(kind), "application/json") {
		return nil, &RPCError{Code: codeInvalidRequest, Message: "Content-Type must be application/json", status: http.StatusUnsupportedMediaType}
	}
	if r.ContentLength > maxBody {
		return nil, errTooLarge
	}
	var body []byte
	var err error
	if r.ContentLength >= 0 {
		// One byte more reads the end, too: HTTP/2 resets a stream whose end was not read.
		var n int
		body = make([]byte, r.ContentLength+1)
		n, err = io.ReadFull(r.Body, body)
		if int64(n) == r.ContentLength && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
			body, err = body[:n], nil
		}
	} else {
		body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	}
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, &RPCError{Code: codeParseError, Message: "the message did not arrive whole", status: http.StatusBadRequest}
	}
	return body, nil
}
