// Package legal serves the legal pages and help: legal notice, terms, privacy, two forms to
// withdraw from a contract or to cancel one without signing in, answers to common questions,
// and the contact form.
//
// The operator's configuration fills the texts. Each text is a plain file with little
// markup (see parse); a file of the same name in the operator's folder replaces ours.
// Ours describe this program correctly, but they are no legal advice: an operator has
// to have them reviewed.
//
// The forms follow § 356a and § 312k BGB: linked on every page, one button to the form
// and one that submits it, no sign-in, only the required questions, and a confirmation
// with the time of receipt on the page and by mail.
//
// The contact form is for everything else (package inquiry).
package legal

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

//go:embed templates
var templateFS embed.FS

// Config holds the dependencies of the pages.
type Config struct {
	// Frame is set by package web.
	Frame     *ui.Frame
	Notices   *withdrawal.Service
	Inquiries *inquiry.Service
	Operator  OperatorInfo
	// Registrant returns the registrant of a signed-in customer, for the forms; set by package web.
	Registrant func(ctx context.Context, actor registrar.Actor) (account.Registrant, bool, error)
	// Texts is a folder with the operator's own texts; nil means none.
	Texts fs.FS
}

// Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	Config
	templates *ui.Templates
	texts     map[string][]block
}

// New parses every page and text.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Notices == nil || cfg.Inquiries == nil {
		return nil, errors.New("legal: Config.Frame, Notices and Inquiries are required")
	}
	views, err := cfg.Frame.LoadTemplates(templateFS, texts, helpTexts)
	if err != nil {
		return nil, err
	}
	texts, err := loadTexts(cfg.Texts, cfg.Operator)
	if err != nil {
		return nil, err
	}
	return &Handler{cfg, views, texts}, nil
}

// legalPage is one page with its paths, which are also the names of its texts.
type legalPage struct{ title, german, english string }

func (l legalPage) path(language string) string { return ui.InLanguage(language, l.german, l.english) }

var (
	imprintPage      = legalPage{"imprint.title", ui.ImprintPath, ui.EnglishImprintPath}
	termsPage        = legalPage{"terms.title", ui.TermsPath, ui.EnglishTermsPath}
	privacyPage      = legalPage{"privacy.title", ui.PrivacyPath, ui.EnglishPrivacyPath}
	withdrawalPage   = legalPage{"withdrawal.title", ui.WithdrawalPath, ui.EnglishWithdrawalPath}
	cancellationPage = legalPage{"cancellation.title", ui.CancellationPath, ui.EnglishCancellationPath}
	helpPage         = legalPage{"help.title", ui.HelpPath, ui.EnglishHelpPath}
	contactPage      = legalPage{"contact.title", ui.ContactPath, ui.EnglishContactPath}
)

// Routes lists the pages.
func (h *Handler) Routes() []httpjson.Route {
	const get, post = http.MethodGet, http.MethodPost
	var routes []httpjson.Route
	addPage := func(method string, l legalPage, show func(*ui.Request, legalPage) error, handler func(ui.PageFunc) http.HandlerFunc) {
		for _, language := range []string{ui.German, ui.English} {
			routes = append(routes, httpjson.Route{Method: method, Path: l.path(language), Handler: handler(func(req *ui.Request) error {
				req.PreferLanguage(language)
				req.SetFormPath(l.path(req.Language))
				return show(req, l)
			})})
		}
	}
	add := func(method string, l legalPage, show func(*ui.Request, legalPage) error) {
		addPage(method, l, show, h.Frame.Page)
	}
	add(get, helpPage, h.showHelp)
	add(get, contactPage, h.showContact)
	addPage(post, contactPage, h.sendInquiry, func(page ui.PageFunc) http.HandlerFunc { return h.Frame.UploadPage(maxContactBytes, page) })
	for _, l := range []legalPage{imprintPage, termsPage, privacyPage} {
		add(get, l, h.showText)
	}
	for l, kind := range map[legalPage]withdrawal.Kind{withdrawalPage: withdrawal.Withdrawal, cancellationPage: withdrawal.Termination} {
		add(get, l, func(req *ui.Request, l legalPage) error { return h.showNotice(req, l, kind) })
		add(post, l, func(req *ui.Request, l legalPage) error { return h.submitNotice(req, l, kind) })
	}
	if h.Operator.Email != "" {
		routes = append(routes, httpjson.Route{Method: get, Path: securityPath, Handler: h.securityContact})
	}
	return routes
}

const (
	securityPath = "/.well-known/security.txt"
	// securityMonths is how long a copy of the file is valid; RFC 9116 recommends less than a year.
	securityMonths = 6
)

// securityContact tells where to report vulnerabilities (RFC 9116).
func (h *Handler) securityContact(w http.ResponseWriter, _ *http.Request) {
	expires := time.Now().UTC().AddDate(0, securityMonths, 0).Truncate(24 * time.Hour)
	httpjson.WriteBytes(w, http.StatusOK, []string{"text/plain; charset=utf-8"}, fmt.Appendf(nil,
		"Contact: mailto:%s\nExpires: %s\nPreferred-Languages: de, en\nCanonical: %s\n",
		h.Operator.Email, expires.Format(time.RFC3339), h.Frame.URL(securityPath)))
}

type pageData struct {
	Blocks        []block
	OperatorUnset bool // the operator's details are not configured
	Form          form
	Notice        withdrawal.Notice // the notice just received
	End           time.Time         // the requested end of the contract; zero means as soon as possible
}

func (h *Handler) pageData(req *ui.Request, l legalPage) pageData {
	return pageData{Blocks: h.texts[l.path(req.Language)[1:]], OperatorUnset: h.Operator.Company == ""}
}

func (h *Handler) showText(req *ui.Request, l legalPage) error {
	return h.templates.Render(req, ui.View{
		Name: "text", Title: l.title, Section: l.path(req.Language), Public: "legal.description", Data: h.pageData(req, l),
	})
}
