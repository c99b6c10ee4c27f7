// Package law is the pages that the law asks for: who runs this, the terms, what
// happens to data, and two forms by which anybody withdraws from a contract or ends
// one without signing in.
//
// What the pages say comes from the operator's settings. Each text is a plain file
// with few marks (see parse); a file of the operator's of the same name replaces
// ours. Ours are written so that they are true of this program. They are no legal
// advice: an operator has them read by somebody who may give it.
//
// The forms are what § 356a and § 312k BGB want: reached from every page, a button
// that leads to the form and one that declares, no sign-in, no more questions than
// needed, and a confirmation with the moment at which it came, on the page and by
// mail.
package law

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/declaration"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

//go:embed templates
var templates embed.FS

// Declarations takes what the forms declare; it is declaration.Service.
type Declarations interface {
	Declare(ctx context.Context, actor registrar.Actor, declared declaration.Declaration) (declaration.Declaration, error)
}

var _ Declarations = (*declaration.Service)(nil)

// Config is what the pages need.
type Config struct {
	// Frame is what they stand in. The front fills it in.
	Frame        *page.Frame
	Declarations Declarations
	Operator     Particulars
	// Texts is a folder with the operator's own texts; nil means that all are ours.
	Texts fs.FS
}

// Handler serves the pages. It is safe for concurrent use.
type Handler struct {
	Config
	views *page.Views
	texts map[string][]block
}

// New parses every page and text.
func New(cfg Config) (*Handler, error) {
	if cfg.Frame == nil || cfg.Declarations == nil {
		return nil, errors.New("the law's pages need a frame and somebody who takes declarations")
	}
	views, err := cfg.Frame.Parse(templates, page.Words{German: german, English: english})
	if err != nil {
		return nil, err
	}
	texts, err := textsOf(cfg.Texts, cfg.Operator)
	if err != nil {
		return nil, err
	}
	return &Handler{cfg, views, texts}, nil
}

// leaf is one page, with its addresses and the names of its texts, by language.
type leaf struct {
	path  map[string]string
	text  map[string]string
	title string
}

func newLeaf(title, german, english string) leaf {
	return leaf{
		path:  map[string]string{page.German: german, page.English: english},
		text:  map[string]string{page.German: german[1:], page.English: english[1:]},
		title: title,
	}
}

var (
	imprint      = newLeaf("imprint.title", page.ImprintPath, page.EnglishImprintPath)
	terms        = newLeaf("terms.title", page.TermsPath, page.EnglishTermsPath)
	privacy      = newLeaf("privacy.title", page.PrivacyPath, page.EnglishPrivacyPath)
	withdrawal   = newLeaf("withdrawal.title", page.WithdrawalPath, page.EnglishWithdrawalPath)
	cancellation = newLeaf("cancellation.title", page.CancellationPath, page.EnglishCancellationPath)
)

// Routes is everything that these pages answer to.
func (h *Handler) Routes() []page.Route {
	const get, post = http.MethodGet, http.MethodPost
	var routes []page.Route
	add := func(method string, l leaf, show func(*page.Visit, leaf) error) {
		for _, language := range []string{page.German, page.English} {
			routes = append(routes, page.Route{Method: method, Path: l.path[language], Handler: h.Frame.Open(func(v *page.Visit) error {
				v.Prefer(language)
				v.FormOn(l.path[v.Language])
				return show(v, l)
			})})
		}
	}
	for _, l := range []leaf{imprint, terms, privacy} {
		add(get, l, h.read)
	}
	for l, kind := range map[*leaf]declaration.Kind{&withdrawal: declaration.Withdrawal, &cancellation: declaration.Termination} {
		add(get, *l, func(v *page.Visit, l leaf) error { return h.ask(v, l, newForm(kind), http.StatusOK) })
		add(post, *l, func(v *page.Visit, l leaf) error { return h.declare(v, l, kind) })
	}
	return routes
}

// shown is what the templates read.
type shown struct {
	Blocks []block
	// Unset says that the operator has not told who they are.
	Unset bool
	Form  form
	// Declared is what has just come in.
	Declared declaration.Declaration
	// End is the day on which a contract is to end; zero means as soon as possible.
	End time.Time
}

func (h *Handler) shownOf(v *page.Visit, l leaf) shown {
	return shown{Blocks: h.texts[l.text[v.Language]], Unset: h.Operator.Company == ""}
}

func (h *Handler) read(v *page.Visit, l leaf) error {
	return h.views.Render(v, page.View{
		Name: "text", Title: l.title, Section: l.path[v.Language], Public: "law.description", Data: h.shownOf(v, l),
	})
}
