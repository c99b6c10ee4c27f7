package page

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// Route is one line of a list of pages. Path is a pattern of http.ServeMux
// without a method.
type Route struct {
	Method, Path string
	Handler      http.HandlerFunc
}

// Func is a page. It renders, redirects, or returns why not.
type Func func(*Visit) error

// What a form and a passkey's answer may weigh.
const (
	largestForm   = 16 << 10
	largestScript = 64 << 10
)

// longestVisit ends every visit, so that a database that is silent holds nobody
// for ever. It is more than the longest wait for the check of a password, and
// less than the 20 s after which a server cuts an answer off.
const longestVisit = 15 * time.Second

const (
	crossSite  registrar.Code = "cross_site"
	tooLarge   registrar.Code = "too_large"
	badForm    registrar.Code = "bad_form"
	tookLong   registrar.Code = "visit_timeout"
	noSuchPage registrar.Code = "no_such_page"
)

// Open is a page for everybody.
func (f *Frame) Open(page Func) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f.visit(w, r, largestForm)
		defer v.end()
		if err == nil {
			err = v.readForm()
		}
		if err == nil {
			err = page(v)
		}
		if err != nil {
			v.fail(err)
		}
	}
}

// Upload is a page for everybody that may be sent more than a form usually holds. It
// reads the form itself, with ReadForm, once it knows that the visitor may send one.
func (f *Frame) Upload(limit int64, page Func) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f.visit(w, r, limit)
		defer v.end()
		if err == nil {
			err = page(v)
		}
		if err != nil {
			v.fail(err)
		}
	}
}

// ReadForm reads a form that may hold a file, which the limit of Upload has to allow.
func (v *Visit) ReadForm() error {
	if !strings.HasPrefix(v.R.Header.Get("Content-Type"), "multipart/form-data") {
		return readProblem(v.R.ParseForm())
	}
	return readProblem(v.R.ParseMultipartForm(filesInMemory))
}

// filesInMemory is more than any page's limit, so that no file is written to disk.
const filesInMemory = 8 << 20

// Members is a page for those who have signed in; others are sent to the sign-in
// first. back is the page that the form of a POST stands on.
func (f *Frame) Members(back string, page Func) http.HandlerFunc {
	return f.Open(func(v *Visit) error {
		v.back = back
		if !v.SignedIn {
			return v.SignInFirst(SignInPath)
		}
		return page(v)
	})
}

// Script is an endpoint that our own script calls with JSON. Its errors are JSON
// with a sentence, or the address of the page where one signs in.
func (f *Frame) Script(back string, members bool, endpoint func(v *Visit, body []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f.visit(w, r, largestScript)
		defer v.end()
		v.back = back
		var body []byte
		if err == nil {
			body, err = io.ReadAll(v.R.Body)
			err = readProblem(err)
		}
		if err == nil && len(body) > 0 && !json.Valid(body) {
			err = &registrar.Error{Kind: registrar.KindInvalid, Code: badForm}
		}
		if err == nil && members && !v.SignedIn {
			err = &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "no_session"}
		}
		var answer any
		if err == nil {
			answer, err = endpoint(v, body)
		}
		if err != nil {
			v.failScript(err)
			return
		}
		wire.WriteJSON(w, http.StatusOK, answer)
	}
}

// visit reads what every page needs. The visit is good for telling the error,
// too. The caller ends it.
func (f *Frame) visit(w http.ResponseWriter, r *http.Request, limit int64) (*Visit, error) {
	f.protect(w.Header())
	ctx, end := context.WithTimeout(r.Context(), longestVisit)
	r = r.WithContext(ctx)
	language, chosen := f.language(r)
	v := &Visit{W: w, R: r, Language: language, chosen: chosen, Now: f.now(), frame: f, back: HomePath, end: end}
	if err := f.guard.Check(r); err != nil {
		return v, &registrar.Error{Kind: registrar.KindForbidden, Code: crossSite}
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	if !readable(r.URL.Path) {
		return v, &registrar.Error{Kind: registrar.KindNotFound, Code: noSuchPage}
	}
	visitor, err := f.Visitor(r)
	switch {
	case err == nil:
		v.Visitor, v.SignedIn = visitor, true
		if known(visitor.Customer.Language) {
			v.Language, v.chosen = visitor.Customer.Language, true
		}
	case registrar.KindOf(err) != registrar.KindUnauthenticated:
		return v, err
	}
	return v, nil
}

// readable is whether a text of an address can name anything at all. PostgreSQL
// takes no other text, and would make an error of ours out of it.
func readable(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

func (v *Visit) readForm() error {
	if v.R.Method != http.MethodPost {
		return nil
	}
	return readProblem(v.R.ParseForm())
}

// readProblem is what a body's error means to us.
func readProblem(err error) error {
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		return &registrar.Error{Kind: registrar.KindInvalid, Code: tooLarge}
	default:
		return &registrar.Error{Kind: registrar.KindInvalid, Code: badForm}
	}
}

// The languages.
const (
	German  = "de"
	English = "en"
)

func known(language string) bool { return language == German || language == English }

// language is the browser's choice. What the browser says about its owner's
// languages is ignored: a page must look the same to everybody who is told its
// address.
func (f *Frame) language(r *http.Request) (language string, chosen bool) {
	if chosen := f.cookie(r, languageCookie); known(chosen) {
		return chosen, true
	}
	return German, false
}

// NotFound is the page for what does not exist.
func (f *Frame) NotFound(w http.ResponseWriter, r *http.Request) {
	f.refuse(w, r, &registrar.Error{Kind: registrar.KindNotFound, Code: noSuchPage})
}

// NoSuchMethod is the page for a method that a path does not have.
func (f *Frame) NoSuchMethod(w http.ResponseWriter, r *http.Request) {
	f.refuse(w, r, &registrar.Error{Kind: registrar.KindInvalid, Code: noSuchMethod})
}

// Fail is the page of an error that no page has answered.
func (f *Frame) Fail(w http.ResponseWriter, r *http.Request, err error) { f.refuse(w, r, err) }

func (f *Frame) refuse(w http.ResponseWriter, r *http.Request, refusal error) {
	v, err := f.visit(w, r, largestForm)
	defer v.end()
	if err == nil {
		err = refusal
	}
	v.fail(err)
}
