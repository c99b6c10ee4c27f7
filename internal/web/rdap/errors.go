package rdap

import (
	"net/http"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Codes of requests that are no lookup.
const (
	noQuery    registrar.Code = "rdap_no_query"    // KindInvalid
	notOffered registrar.Code = "rdap_not_offered" // KindUnsupported
)

// errorAnswer is the error object of RFC 9083, 6.
type errorAnswer struct {
	Conformance []string `json:"rdapConformance"`
	Lang        string   `json:"lang"`
	ErrorCode   int      `json:"errorCode"`
	Title       string   `json:"title"`
	Description []string `json:"description"`
}

// problem is the status and the text of an error. Codes come before kinds.
type problem struct {
	status             int
	title, description string
}

var codeProblems = map[registrar.Code]problem{
	noQuery:               {http.StatusBadRequest, "Bad Request", "This path is no RDAP query. " + Path + "help lists the queries that are answered."},
	notOffered:            {http.StatusNotImplemented, "Not Implemented", "This registrar answers queries for domains and entities. Searches, nameservers and numbers are not offered."},
	httpjson.NoSuchMethod: {http.StatusMethodNotAllowed, "Method Not Allowed", "Use GET or HEAD."},
}

var kindProblems = map[registrar.Kind]problem{
	registrar.KindInvalid:     {http.StatusBadRequest, "Bad Request", "This is not a well-formed domain name."},
	registrar.KindNotFound:    {http.StatusNotFound, "Not Found", "This registrar has no such object. Another registrar may sponsor the domain, or it may not be registered."},
	registrar.KindRateLimited: {http.StatusTooManyRequests, "Too Many Requests", "This address has sent too many queries. The header Retry-After says how many seconds to wait."},
}

var internalProblem = problem{http.StatusInternalServerError, "Internal Server Error", "The query failed. Try again later."}

func problemOf(err error) problem {
	if known, ok := codeProblems[registrar.CodeOf(err)]; ok {
		return known
	}
	if known, ok := kindProblems[registrar.KindOf(err)]; ok {
		return known
	}
	return internalProblem
}

// ServeError answers with an error.
func ServeError(w http.ResponseWriter, _ *http.Request, err error) {
	httpjson.RecordError(w, err)
	problem := problemOf(err)
	write(w, problem.status, errorAnswer{
		Conformance: []string{levelZero}, Lang: language, ErrorCode: problem.status, Title: problem.title, Description: []string{problem.description},
	})
}

// MethodNotAllowed answers a method other than GET, HEAD and OPTIONS.
func MethodNotAllowed(w http.ResponseWriter, r *http.Request) {
	ServeError(w, r, registrar.Invalid(httpjson.NoSuchMethod))
}

// foreignQueries are the queries of RFC 9082 that are not offered.
var foreignQueries = []string{"nameserver", "domains", "nameservers", "entities", "ip", "autnum", "ips", "autnums"}

// ServeOther responds to paths below Path that match no query.
func ServeOther(w http.ResponseWriter, r *http.Request) {
	query, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Path), "/")
	if slices.Contains(foreignQueries, query) {
		ServeError(w, r, registrar.Unsupported(notOffered))
		return
	}
	ServeError(w, r, registrar.Invalid(noQuery))
}
