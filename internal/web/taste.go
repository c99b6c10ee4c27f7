package web

import (
	"net/http"
	"strings"

	"github.com/dotkontor/dotkontor/internal/web/page"
)

// wantsPage says that a person's browser asks, and not a program: only browsers
// name HTML among what they take.
func wantsPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// byTaste answers browsers with a page and programs with what they have always got.
func byTaste(forPeople, forPrograms http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		if wantsPage(r) {
			forPeople(w, r)
			return
		}
		forPrograms(w, r)
	}
}

// forProgramsOnly are the places where nothing but programs looks. A browser-like
// client that probes them must not take a page for an answer.
var forProgramsOnly = [...]string{"/api/", "/oauth/", "/.well-known/"}

// noPage is what is said about a path that does not exist.
func noPage(frame *page.Frame) http.HandlerFunc {
	if frame == nil {
		return notFound
	}
	byAccept := byTaste(frame.NotFound, notFound)
	return func(w http.ResponseWriter, r *http.Request) {
		for _, prefix := range forProgramsOnly {
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
func mergeRoot(list []route) []route {
	text := -1
	for i, r := range list {
		if r.method != http.MethodGet || r.path != "/{$}" {
			continue
		}
		if text >= 0 {
			list[text].handler = byTaste(r.handler, list[text].handler)
			return append(list[:i], list[i+1:]...)
		}
		text = i
	}
	return list
}
