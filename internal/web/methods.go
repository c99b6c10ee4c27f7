package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/rdap"
	"github.com/dotkontor/dotkontor/internal/web/rest"
)

// resource is one path with its methods. It answers 405 and OPTIONS itself, because
// ServeMux would respond in plain text.
type resource struct {
	methods          map[string]http.HandlerFunc
	allow            string
	anyOrigin        bool
	hidden           bool             // the response must not reveal the methods
	methodNotAllowed http.HandlerFunc // answers 405 in the form of the path's protocol
}

// rootPath may have two routes for GET: the first for programs, the second for browsers.
const rootPath = "/{$}"

// newResources groups routes by path.
func newResources(routes []httpjson.Route) (map[string]*resource, error) {
	resources := make(map[string]*resource)
	for _, r := range routes {
		res, ok := resources[r.Path]
		if !ok {
			res = &resource{methods: make(map[string]http.HandlerFunc), anyOrigin: r.AnyOrigin, methodNotAllowed: methodNotAllowed}
			resources[r.Path] = res
		}
		if text := res.methods[r.Method]; text != nil {
			if r.Path != rootPath || r.Method != http.MethodGet {
				return nil, fmt.Errorf("web: two routes for %s %s", r.Method, r.Path)
			}
			r.Handler = negotiate(r.Handler, text)
		}
		res.methods[r.Method] = r.Handler
		if r.Method == http.MethodGet {
			res.methods[http.MethodHead] = r.Handler
		}
	}
	for _, res := range resources {
		names := append(slices.Collect(maps.Keys(res.methods)), http.MethodOptions)
		slices.Sort(names)
		res.allow = strings.Join(names, ", ")
	}
	return resources, nil
}

func (res *resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if res.anyOrigin {
		allowAnyOrigin(w.Header(), r)
	}
	if handler, ok := res.methods[r.Method]; ok {
		handler(w, r)
		return
	}
	if res.hidden {
		res.methodNotAllowed(w, r)
		return
	}
	w.Header().Set("Allow", res.allow)
	if r.Method == http.MethodOptions {
		if res.anyOrigin {
			setPreflightHeaders(w.Header(), res.allow)
		}
		w.WriteHeader(http.StatusNoContent)
		return
	}
	res.methodNotAllowed(w, r)
}

func methodNotAllowed(w http.ResponseWriter, _ *http.Request) {
	rest.WriteError(w, registrar.Invalid(rest.NoSuchMethod))
}

func notFound(w http.ResponseWriter, r *http.Request) {
	if rdap.IsPath(r.URL.Path) { // in no clean form
		rdap.ServeOther(w, r)
		return
	}
	rest.WriteError(w, registrar.Invalid(rest.NoSuchPath))
}

// These slices are shared between responses and must not be modified.
var (
	anyOrigin        = []string{"*"}
	exposedHeaders   = []string{"Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, WWW-Authenticate, Mcp-Session-Id"}
	preflightHeaders = []string{"Content-Type, Authorization, Accept, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID"}
	preflightMaxAge  = []string{"86400"}
)

// allowAnyOrigin lets scripts of any page read the response. It never allows
// credentials. Only a script needs the list of headers, which is longer than most
// results; no header on it means anything in a response from a cache.
func allowAnyOrigin(header http.Header, r *http.Request) {
	header["Access-Control-Allow-Origin"] = anyOrigin
	if _, script := r.Header["Origin"]; script {
		header["Access-Control-Expose-Headers"] = exposedHeaders
	}
}

func setPreflightHeaders(header http.Header, methods string) {
	header["Access-Control-Allow-Methods"] = []string{methods}
	header["Access-Control-Allow-Headers"] = preflightHeaders
	header["Access-Control-Max-Age"] = preflightMaxAge
}
