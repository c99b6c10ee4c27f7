package web

import "net/http"

// The values are shared slices, put in without copying: they are never changed.
var (
	anyOrigin     = []string{"*"}
	exposed       = []string{"Retry-After, RateLimit, RateLimit-Policy, X-Request-Id, WWW-Authenticate, Mcp-Session-Id"}
	preflightHead = []string{"Content-Type, Authorization, Accept, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID"}
	preflightAge  = []string{"86400"}
)

// allowAnyOrigin lets scripts of any page read the answer. Credentials are never
// allowed along with it.
func allowAnyOrigin(header http.Header) {
	header["Access-Control-Allow-Origin"] = anyOrigin
	header["Access-Control-Expose-Headers"] = exposed
}

func answerPreflight(header http.Header, methods string) {
	header["Access-Control-Allow-Methods"] = []string{methods}
	header["Access-Control-Allow-Headers"] = preflightHead
	header["Access-Control-Max-Age"] = preflightAge
}
