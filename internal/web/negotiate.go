package web

import (
	"net/http"
	"strings"

	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// prefersHTML reports whether the request comes from a browser: only browsers accept
// text/html explicitly.
func prefersHTML(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// negotiate serves html to browsers and other to programs.
func negotiate(html, other http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		if prefersHTML(r) {
			html(w, r)
			return
		}
		other(w, r)
	}
}

// apiPrefixes are used by programs only. A client with a browser-like Accept header
// must not get an HTML page there.
var apiPrefixes = [...]string{"/api/", "/oauth/", "/.well-known/"}

// notFoundHandler answers for paths that do not exist.
func notFoundHandler(frame *ui.Frame) http.HandlerFunc {
	if frame == nil {
		return notFound
	}
	byAccept := negotiate(frame.NotFound, notFound)
	return func(w http.ResponseWriter, r *http.Request) {
		for _, prefix := range apiPrefixes {
			if strings.HasPrefix(r.URL.Path, prefix) {
				notFound(w, r)
				return
			}
		}
		byAccept(w, r)
	}
}
