// Package rdap publishes the registration data of the domains that we sponsor (RFC 7480, 9082,
// 9083, 9537), as ICANN requires from registrars: RDAP Response Profile and Technical
// Implementation Guide of 2024. Package publicrecord decides what is public; docs/rdap.md lists
// the rules with their tests.
//
//	path                  answer
//	domain/NAME           a domain that we sponsor, by A-labels or U-labels
//	entity/HANDLE         the registrar, by its IANA id, or the registrant of one domain
//	help                  the terms of service and what is answered
//	nameserver/NAME       501; publicrecord says why
//	domains?…, entities?…,
//	nameservers?…, ip/, autnum/    501
//	anything else         400
//
// Lookups of domains and entities count against a budget per address, whatever their outcome.
// The protocol puts names into paths; the request log has routes only, so names are not logged.
//
// Without an IANA id and an abuse contact, the registrar is not accredited as far as we know.
// Responses then claim no conformance to ICANN's profile, and the registrar has no handle:
// identifiers such as 9995 are reserved for other purposes. Responses about domains of ccTLDs,
// to which ICANN's rules don't apply, claim none either.
package rdap

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/publicrecord"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Path is the base path of all queries. BaseURL and Path are the base URL to register with IANA.
const Path = "/rdap/"

// Records looks up public records.
type Records interface {
	Domain(ctx context.Context, name string) (publicrecord.Record, error)
	Registrant(ctx context.Context, handle string) (publicrecord.Record, error)
}

// Budget counts lookups by address.
type Budget interface {
	Allow(key ratelimit.Key) ratelimit.Decision
}

// Registrar is the registrar as it is published. Every field may be empty.
type Registrar struct {
	Name   string
	IANAID string // digits
	// Street, PostalCode, City and Country (a code of ISO 3166-1) are the address.
	Street, PostalCode, City, Country string
	Email, AbuseEmail                 string
	Phone, AbusePhone                 string // + and digits
}

// Config configures a Handler. All fields but Registrar's are required.
type Config struct {
	BaseURL   string // of the service, without a trailing slash
	Records   Records
	Budget    Budget
	Registrar Registrar
	Address   func(*http.Request) netip.Addr // finds the client's address
	// Terms and Contact are the paths of the terms of service and of the contact form.
	Terms, Contact string
	Now            func() time.Time // nil means time.Now
}

// Handler serves all paths below Path.
type Handler struct {
	cfg     Config
	started time.Time // since when the registrar's data is what it is
}

// New returns a Handler.
func New(cfg Config) (*Handler, error) {
	if cfg.BaseURL == "" || cfg.Records == nil || cfg.Budget == nil || cfg.Address == nil || cfg.Terms == "" || cfg.Contact == "" {
		return nil, errors.New("rdap: Config.BaseURL, Records, Budget, Address, Terms and Contact are required")
	}
	registrar.Default(&cfg.Now, time.Now)
	return &Handler{cfg: cfg, started: cfg.Now()}, nil
}

// Routes returns the routes. The last two answer for paths that are no query.
func (h *Handler) Routes() []httpjson.Route {
	return []httpjson.Route{
		{Method: "GET", Path: Path + "domain/{name}", Handler: h.serveDomain, AnyOrigin: true},
		{Method: "GET", Path: Path + "entity/{handle}", Handler: h.serveEntity, AnyOrigin: true},
		{Method: "GET", Path: Path + "help", Handler: h.serveHelp, AnyOrigin: true},
		{Method: "GET", Path: Path, Handler: ServeOther, AnyOrigin: true},
		{Method: "GET", Path: strings.TrimSuffix(Path, "/"), Handler: ServeOther, AnyOrigin: true},
	}
}

// IsPath reports whether a path belongs to RDAP.
func IsPath(path string) bool {
	return strings.HasPrefix(path, Path) || path == strings.TrimSuffix(Path, "/")
}

func (h *Handler) serveDomain(w http.ResponseWriter, r *http.Request) {
	if !h.admit(w, r) {
		return
	}
	name, err := parseName(r.PathValue("name"))
	if err != nil {
		ServeError(w, r, err)
		return
	}
	record, err := h.cfg.Records.Domain(r.Context(), name)
	if err != nil {
		ServeError(w, r, err)
		return
	}
	write(w, http.StatusOK, h.domainAnswer(record, h.requestURL(r)))
}

// parseName returns a domain name in A-labels. Spaces around it are no name, unlike in a form.
func parseName(given string) (string, error) {
	if strings.TrimSpace(given) != given {
		return "", registrar.Invalid(registrar.NameSpace)
	}
	return registrar.ParseHost(given)
}

func (h *Handler) serveEntity(w http.ResponseWriter, r *http.Request) {
	if !h.admit(w, r) {
		return
	}
	handle := r.PathValue("handle")
	if h.cfg.Registrar.IANAID != "" && handle == h.cfg.Registrar.IANAID {
		write(w, http.StatusOK, h.registrarAnswer(h.requestURL(r)))
		return
	}
	record, err := h.cfg.Records.Registrant(r.Context(), handle)
	if err != nil {
		ServeError(w, r, err)
		return
	}
	write(w, http.StatusOK, h.registrantAnswer(record, h.requestURL(r)))
}

func (h *Handler) serveHelp(w http.ResponseWriter, r *http.Request) {
	write(w, http.StatusOK, h.helpAnswer(h.requestURL(r)))
}

// requestURL returns the URL of a request as its client sees it, which links must repeat.
func (h *Handler) requestURL(r *http.Request) string { return h.cfg.BaseURL + r.URL.RequestURI() }

// admit spends from the budget of the client's address. It answers the request itself if it
// returns false.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) bool {
	decision := h.cfg.Budget.Allow(ratelimit.AddressKey(h.cfg.Address(r)))
	if !decision.Allowed {
		w.Header().Set("Retry-After", strconv.Itoa(decision.RetryAfterSeconds()))
		ServeError(w, r, &registrar.Error{Kind: registrar.KindRateLimited, Code: httpjson.OverBudget, RetryAfter: decision.RetryAfter})
	}
	return decision.Allowed
}

// These slices are shared between responses and must not be modified.
var (
	typeRDAP  = []string{"application/rdap+json"}
	anyOrigin = []string{"*"}
	noStore   = []string{"no-store"}
)

func write(w http.ResponseWriter, status int, answer any) {
	header := w.Header()
	header["Access-Control-Allow-Origin"] = anyOrigin
	header["Cache-Control"] = noStore
	encoded, err := json.Marshal(answer)
	if err != nil { // does not happen with our own types
		httpjson.RecordError(w, &registrar.Error{Kind: registrar.KindInternal, Code: "encode"})
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	httpjson.WriteBytes(w, status, typeRDAP, encoded)
}
