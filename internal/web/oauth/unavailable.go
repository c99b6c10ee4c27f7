package oauth

import (
	"net/http"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

const unavailableRetryAfter = time.Hour

// UnavailableRoutes lists the endpoints of a service without sign-in. The discovery
// documents name them all the same, so they answer 503 with Retry-After: a client
// would take a 404 for a mistake of its own.
func UnavailableRoutes() []httpjson.Route {
	return withSlash([]httpjson.Route{
		{Method: http.MethodPost, Path: "/oauth/register", Handler: unavailable, AnyOrigin: true},
		{Method: http.MethodGet, Path: "/oauth/authorize", Handler: unavailable},
		{Method: http.MethodPost, Path: "/oauth/token", Handler: unavailable, AnyOrigin: true},
		{Method: http.MethodPost, Path: "/oauth/revoke", Handler: unavailable, AnyOrigin: true},
	})
}

func unavailable(w http.ResponseWriter, _ *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Retry-After", strconv.Itoa(int(unavailableRetryAfter.Seconds())))
	httpjson.WriteJSON(w, http.StatusServiceUnavailable, errorBody{
		Error: "temporarily_unavailable",
		Description: "Signing in is not in service here yet. " +
			"The lookup tools and the REST lookups need no token.",
	})
}
