package web

import (
	"net/http"
	"strings"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// prefersHTML says that a person's browser asks, and not a program: only browsers
// name HTML among what they take.
func prefersHTML(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// negotiate answers browsers with a page and programs with what they have always got.
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

// apiPrefixes are the places where nothing but programs looks. A browser-like
// client that probes them must not take a page for an answer.
var apiPrefixes = [...]string{"/api/", "/oauth/", "/.well-known/"}

// notFoundHandler is what is said about a path that does not exist.
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

// mergeRoot makes one route of the two that the root has where there are pages for
// everybody: the text for programs, then the page.
func mergeRoot(list []httpjson.Route) []httpjson.Route {
	text := -1
	for i, r := range list {
		if r.Method != http.MethodGet || r.Path != "/{$}" {
			continue
		}
		if text >= 0 {
			list[text].Handler = negotiate(r.Handler, list[text].Handler)
			return append(list[:i], list[i+1:]...)
		}
		text = i
	}
	return list
}
