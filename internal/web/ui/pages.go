package ui

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// PageFunc handles a page. It renders, redirects or returns an error.
type PageFunc func(*Request) error

// Size limits of a form and of a passkey response.
const (
	maxFormBytes   = 16 << 10
	maxScriptBytes = 64 << 10
)

// requestTimeout ends every page request, so that an unresponsive database does not
// hold it forever. It is longer than the longest wait for a password check and shorter
// than the server's write timeout of 20 s.
const requestTimeout = 15 * time.Second

// Codes of requests that no page handles.
const (
	crossSite   registrar.Code = "cross_site"
	tooLarge    registrar.Code = "too_large"
	BadForm     registrar.Code = "bad_form"
	codeTimeout registrar.Code = "visit_timeout"
	NoSuchPage  registrar.Code = "no_such_page"
	noSession   registrar.Code = "no_session"
)

// Page returns a public page.
func (f *Frame) Page(page PageFunc) http.HandlerFunc {
	return f.UploadPage(maxFormBytes, func(req *Request) error {
		if req.R.Method == http.MethodPost {
			if err := bodyError(req.R.ParseForm()); err != nil {
				return err
			}
		}
		return page(req)
	})
}

// UploadPage returns a public page that accepts larger forms. The page calls ReadForm
// itself, once it has checked that the visitor may upload.
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

// ReadForm parses a form with a file, within the limit of UploadPage.
func (req *Request) ReadForm() error {
	if !strings.HasPrefix(req.R.Header.Get("Content-Type"), "multipart/form-data") {
		return bodyError(req.R.ParseForm())
	}
	return bodyError(req.R.ParseMultipartForm(maxMultipartMemory))
}

// maxMultipartMemory exceeds every page's limit, so that no file is written to disk.
const maxMultipartMemory = 8 << 20

// SignedInPage returns a page for signed-in visitors; others are redirected to sign in.
// formPath is the page with the form of a POST.
func (f *Frame) SignedInPage(formPath string, page PageFunc) http.HandlerFunc {
	return f.Page(func(req *Request) error {
		req.formPath = formPath
		if !req.SignedIn {
			return req.RedirectToSignIn(SignInPath)
		}
		return page(req)
	})
}

// Script returns an endpoint that our own script calls with JSON. Errors are JSON with
// a message or with the path of the sign-in page.
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
			err = &registrar.Error{Kind: registrar.KindInvalid, Code: BadForm}
		}
		if err == nil && members && !req.SignedIn {
			err = &registrar.Error{Kind: registrar.KindUnauthenticated, Code: noSession}
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

// newRequest parses what every page needs. The request can render an error even if err
// is not nil. The caller cancels it.
func (f *Frame) newRequest(w http.ResponseWriter, r *http.Request, limit int64) (*Request, error) {
	f.setSecurityHeaders(w.Header())
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	r = r.WithContext(ctx)
	language, chosen := f.language(r)
	req := &Request{W: w, R: r, Language: language, languageChosen: chosen, Now: f.cfg.Now(), frame: f, formPath: HomePath, cancel: cancel}
	if err := f.crossOrigin.Check(r); err != nil {
		return req, &registrar.Error{Kind: registrar.KindForbidden, Code: crossSite}
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
	if !validText(r.URL.Path) {
		return req, &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchPage}
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
	req.handling = true
	return req, nil
}

// validText reports whether text from a URL can be an identifier. PostgreSQL rejects
// other text, which would look like an internal error.
func validText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

func bodyError(err error) error {
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		return &registrar.Error{Kind: registrar.KindInvalid, Code: tooLarge}
	default:
		return &registrar.Error{Kind: registrar.KindInvalid, Code: BadForm}
	}
}

// Languages of the pages.
const (
	German  = "de"
	English = "en"
)

// InLanguage returns the variant for a language.
func InLanguage(language, german, english string) string {
	if language == English {
		return english
	}
	return german
}

func validLanguage(language string) bool { return language == German || language == English }

// pathLanguages are the languages of pages that have a path of their own in each.
var pathLanguages = func() map[string]string {
	languages := make(map[string]string)
	for german, english := range map[string]string{
		PricesPath: EnglishPricesPath, PricesPath + ".csv": EnglishPricesPath + ".csv", AssistantPath: EnglishAssistantPath, BasketPath: EnglishBasketPath, TransferPath: EnglishTransferPath,
		HelpPath: EnglishHelpPath, ContactPath: EnglishContactPath, ImprintPath: EnglishImprintPath, TermsPath: EnglishTermsPath,
		PrivacyPath: EnglishPrivacyPath, WithdrawalPath: EnglishWithdrawalPath, CancellationPath: EnglishCancellationPath,
	} {
		languages[german], languages[english] = German, English
	}
	languages[EnglishStartPath] = English
	return languages
}()

// language returns the language that was chosen with the switch, that of the account that
// was last used in this browser, that of the path, which errors have too, or the browser's.
func (f *Frame) language(r *http.Request) (language string, chosen bool) {
	if stored := strings.TrimSuffix(f.cookie(r, languageCookie), accountSuffix); validLanguage(stored) {
		return stored, true
	}
	if language := pathLanguages[r.URL.Path]; language != "" {
		return language, false
	}
	return browserLanguage(r.Header.Get("Accept-Language")), false
}

// browserLanguage returns the first of our languages in an Accept-Language header. Whoever
// asks for others gets English, and a client without the header German, as search engines
// know the site.
func browserLanguage(header string) string {
	const maxTags = 20
	best, bestQuality := English, 0.0
	if strings.TrimSpace(header) == "" {
		return German
	}
	for i, entry := range strings.SplitN(header, ",", maxTags+1) {
		tag, parameters, _ := strings.Cut(entry, ";")
		primary, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
		quality := 1.0
		if text, found := strings.CutPrefix(strings.TrimSpace(parameters), "q="); found {
			var err error
			if quality, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		if i < maxTags && validLanguage(primary) && quality > bestQuality {
			best, bestQuality = primary, quality
		}
	}
	return best
}

// NotFound renders the page for an unknown path.
func (f *Frame) NotFound(w http.ResponseWriter, r *http.Request) {
	f.ServeError(w, r, &registrar.Error{Kind: registrar.KindNotFound, Code: NoSuchPage})
}

// MethodNotAllowed renders the page for an unsupported method.
func (f *Frame) MethodNotAllowed(w http.ResponseWriter, r *http.Request) {
	f.ServeError(w, r, &registrar.Error{Kind: registrar.KindInvalid, Code: httpjson.NoSuchMethod})
}

// ServeError renders the page of an error.
func (f *Frame) ServeError(w http.ResponseWriter, r *http.Request, err error) {
	f.UploadPage(maxFormBytes, func(*Request) error { return err })(w, r)
}
