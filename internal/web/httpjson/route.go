package httpjson

import "net/http"

// Route is one method of one path. Path is a pattern of http.ServeMux without a
// method.
type Route struct {
	Method, Path string
	Handler      http.HandlerFunc
	// AnyOrigin lets scripts of any web page call it, without credentials.
	AnyOrigin bool
}
