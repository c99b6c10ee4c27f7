package web

import "net/http"

// These slices are shared between responses and must not be modified.
var (
	anyOrigin        = []string{"*"}
	exposedHeaders   = []string{"Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, WWW-Authenticate, Mcp-Session-Id"}
	preflightHeaders = []string{"Content-Type, Authorization, Accept, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID"}
	preflightMaxAge  = []string{"86400"}
)

// allowAnyOrigin lets scripts of any page read the response. It never allows
// credentials.
func allowAnyOrigin(header http.Header) {
	header["Access-Control-Allow-Origin"] = anyOrigin
	header["Access-Control-Expose-Headers"] = exposedHeaders
}

func setPreflightHeaders(header http.Header, methods string) {
	header["Access-Control-Allow-Methods"] = []string{methods}
	header["Access-Control-Allow-Headers"] = preflightHeaders
	header["Access-Control-Max-Age"] = preflightMaxAge
}
