package ui

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
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// PageFunc is a page. It renders, redirects, or returns why not.
type PageFunc func(*Request) error

// What a form and a passkey's answer may weigh.
const (
	maxFormBytes   = 16 << 10
	maxScriptBytes = 64 << 10
)

// requestTimeout ends every visit, so that a database that is silent holds nobody
// for ever. It is more than the longest wait for the check of a password, and
// less than the 20 s after which a server cuts an answer off.
const requestTimeout = 15 * time.Second

const (
	crossSite   registrar.Code = "cross_site"
	tooLarge    registrar.Code = "too_large"
	badForm     registrar.Code = "bad_form"
	codeTimeout registrar.Code = "visit_timeout"
	noSuchPage  registrar.Code = "no_such_page"
)

// Page is a page for everybody.
func (f *Frame) Page(page PageFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		req, err := f.newRequest(w, r, maxFormBytes)
		defer req.cancel()
		if err == nil {
			err = req.readForm()
		}
		if err == nil {
			err = page(req)
		}
		if err != nil {
			req.renderError(err)
		}
	}
}

// UploadPage is a page for everybody that may be sent more than a form usually holds. It
// reads the form itself, with ReadForm, once it knows that the visitor may send one.
func (f *Frame) UploadPage(limit int64, page PageFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		req, err := f.newRequest(w, r, limit)
		defer req.cancel()
		if err == nil {
			err = page(req)
		}
		if err != nil {
			req.renderError(err)
		}
	}
}

// ReadForm reads a form that may hold a file, which the limit of Upload has to allow.
func (req *Request) ReadForm() error {
	if !strings.HasPrefix(req.R.Header.Get("Content-Type"), "multipart/form-data") {
		return bodyError(req.R.ParseForm())
	}
	return bodyError(req.R.ParseMultipartForm(maxMultipartMemory))
}

// maxMultipartMemory is more than any page's limit, so that no file is written to disk.
const maxMultipartMemory = 8 << 20

// SignedInPage is a page for those who have signed in; others are sent to the sign-in
// first. back is the page that the form of a POST stands on.
func (f *Frame) SignedInPage(formPath string, page PageFunc) http.HandlerFunc {
	return f.Page(func(req *Request) error {
		req.formPath = formPath
		if !req.SignedIn {
			return req.RedirectToSignIn(SignInPath)
		}
		return page(req)
	})
}

// Script is an endpoint that our own script calls with JSON. Its errors are JSON
// with a sentence, or the address of the page where one signs in.
func (f *Frame) Script(formPath string, members bool, endpoint func(req *Request, body []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		req, err := f.newRequest(w, r, maxScriptBytes)
		defer req.cancel()
		req.formPath = formPath
		var body []byte
		if err == nil {
			body, err = io.ReadAll(req.R.Body)
			err = bodyError(err)
		}
		if err == nil && len(body) > 0 && !json.Valid(body) {
			err = &registrar.Error{Kind: registrar.KindInvalid, Code: badForm}
		}
		if err == nil && members && !req.SignedIn {
			err = &registrar.Error{Kind: registrar.KindUnauthenticated, Code: "no_session"}
		}
		var answer any
		if err == nil {
			answer, err = endpoint(req, body)
		}
		if err != nil {
			req.writeScriptError(err)
			return
		}
		httpjson.WriteJSON(w, http.StatusOK, answer)
	}
}

// newRequest reads what every page needs. The visit is good for telling the error,
// too. The caller ends it.
func (f *Frame) newRequest(w http.ResponseWriter, r *http.Request, limit int64) (*Request, error) {
	f.setSecurityHeaders(w.Header())
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	r = r.WithContext(ctx)
	language, chosen := f.language(r)
	req := &Request{W: w, R: r, Language: language, languageChosen: chosen, Now: f.now(), frame: f, formPath: HomePath, cancel: cancel}
	if err := f.crossOrigin.Check(r); err != nil {
		return req, &registrar.Error{Kind: registrar.KindForbidden, Code: crossSite}
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	if !validText(r.URL.Path) {
		return req, &registrar.Error{Kind: registrar.KindNotFound, Code: noSuchPage}
	}
	visitor, err := f.Visitor(r)
	switch {
	case err == nil:
		req.Visitor, req.SignedIn = visitor, true
		if validLanguage(visitor.Customer.Language) {
			req.Language, req.languageChosen = visitor.Customer.Language, true
		}
	case registrar.KindOf(err) != registrar.KindUnauthenticated:
		return req, err
	}
	return req, nil
}

// validText is whether a text of an address can name anything at all. PostgreSQL
// takes no other text, and would make an error of ours out of it.
func validText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

func (req *Request) readForm() error {
	if req.R.Method != http.MethodPost {
		return nil
	}
	return bodyError(req.R.ParseForm())
}

// bodyError is what a body's error means to us.
func bodyError(err error) error {
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

func validLanguage(language string) bool { return language == German || language == English }

// language is the browser's choice. What the browser says about its owner's
// languages is ignored: a page must look the same to everybody who is told its
// address.
func (f *Frame) language(r *http.Request) (language string, chosen bool) {
	if chosen := f.cookie(r, languageCookie); validLanguage(chosen) {
		return chosen, true
	}
	return German, false
}

// NotFound is the page for what does not exist.
func (f *Frame) NotFound(w http.ResponseWriter, r *http.Request) {
	f.serveError(w, r, &registrar.Error{Kind: registrar.KindNotFound, Code: noSuchPage})
}

// MethodNotAllowed is the page for a method that a path does not have.
func (f *Frame) MethodNotAllowed(w http.ResponseWriter, r *http.Request) {
	f.serveError(w, r, &registrar.Error{Kind: registrar.KindInvalid, Code: noSuchMethod})
}

// ServeError is the page of an error that no page has answered.
func (f *Frame) ServeError(w http.ResponseWriter, r *http.Request, err error) {
	f.serveError(w, r, err)
}

func (f *Frame) serveError(w http.ResponseWriter, r *http.Request, refusal error) {
	req, err := f.newRequest(w, r, maxFormBytes)
	defer req.cancel()
	if err == nil {
		err = refusal
	}
	req.renderError(err)
}
