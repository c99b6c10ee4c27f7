package ui

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

//go:embed templates
var templateFS embed.FS

// partials is the file whose definitions all other files of a folder may use.
const partials = "partials.html"

// Texts are the texts of some pages by key, each in German and English. A text has
// placeholders {1}, {2} and so on.
type Texts map[string][2]string

// Templates are the pages of one folder. A page is parsed when it is first rendered, and the
// texts of a language are collected at its first page: most processes render few pages, and
// these would be the largest part of an idle heap. They are safe for concurrent use.
type Templates struct {
	frame *Frame
	texts map[string]func() map[string]string // by language and key
	pages map[string]map[string]func() (*template.Template, error)
}

// LoadTemplates finds every page in the folder "templates" of files. They may also use
// the texts of the frame.
func (f *Frame) LoadTemplates(files fs.FS, tables ...Texts) (*Templates, error) {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	templates := &Templates{
		frame: f, texts: make(map[string]func() map[string]string),
		pages: make(map[string]map[string]func() (*template.Template, error)),
	}
	for i, language := range [...]string{German, English} {
		templates.texts[language] = sync.OnceValue(func() map[string]string {
			texts := make(map[string]string)
			for _, table := range append([]Texts{frameTexts, eppStatusTexts, domainStateTexts}, tables...) {
				for key, text := range table {
					texts[key] = NonBreaking(text[i])
				}
			}
			return texts
		})
		templates.pages[language] = make(map[string]func() (*template.Template, error))
		for _, name := range names {
			file := path.Base(name)
			if file == partials || file == "frame.html" {
				continue
			}
			templates.pages[language][strings.TrimSuffix(file, ".html")] = sync.OnceValues(func() (*template.Template, error) {
				return parsePage(files, name, templates.functions(language))
			})
		}
	}
	return templates, nil
}

func parsePage(files fs.FS, name string, functions template.FuncMap) (*template.Template, error) {
	page, err := template.New("frame.html").Funcs(functions).ParseFS(templateFS, "templates/frame.html", "templates/"+partials)
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(files, "templates/"+partials); err == nil {
		if page, err = page.ParseFS(files, "templates/"+partials); err != nil {
			return nil, err
		}
	}
	return page.ParseFS(files, name)
}

func (templates *Templates) page(language, name string) (*template.Template, error) {
	parse, ok := templates.pages[language][name]
	if !ok {
		return nil, &registrar.Error{Kind: registrar.KindInternal, Code: "no_view", Detail: name}
	}
	page, err := parse()
	if err != nil {
		return nil, &registrar.Error{Kind: registrar.KindInternal, Code: "parse", Detail: name, Err: err}
	}
	return page, nil
}

func (templates *Templates) functions(language string) template.FuncMap {
	return template.FuncMap{
		"t": func(key string, values ...any) (any, error) {
			text, ok := templates.text(language, key)
			if !ok {
				return "", fmt.Errorf("ui: no text %q", key)
			}
			if slices.ContainsFunc(values, isHTML) {
				return fillHTML(text, values), nil
			}
			return fill(text, values), nil
		},
		"known":     func(key string) bool { _, ok := templates.text(language, key); return ok },
		"date":      func(at time.Time) string { return FormatDate(language, at) },
		"eventdate": func(at time.Time) string { return registrar.FormatInGermany(at, dateLayout(language), language) },
		"moment":    func(at time.Time) template.HTML { return clockTime(language, at) },
		"iso":       func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
		"money":     func(amount registrar.Cents) string { return formatMoney(language, amount) },
		"price":     func(amount registrar.Cents, rate int) string { return FormatPrice(language, amount, rate) },
		"decimal":   func(number string) string { return formatDecimal(language, number) },
		"domain":    DisplayName,
		"readable":  UnicodeName,
		"country":   func(code string) string { return registrar.CountryName(language, code) },
		"place":     registrar.FormatPlace,
		"phone":     account.FormatPhone,
		"asset":     templates.frame.assetPath,
		"tone":      tone,
	}
}

func dateLayout(language string) string { return InLanguage(language, "02.01.2006", "2 Jan 2006") }

// clockTime shows a time in Germany with its zone, as mails do. A script replaces it with the time
// where the reader is, which no request says.
func clockTime(language string, at time.Time) template.HTML {
	//nolint:gosec // a time, formatted here
	return template.HTML(`<time data-clock datetime="` + at.UTC().Format(time.RFC3339) + `">` + registrar.FormatInGermany(at, dateLayout(language)+", 15:04 MST", language) + `</time>`)
}

// FormatDate formats a day, which is the same everywhere: terms end, and domains leave, by UTC. Templates
// show what people did and what was paid with moment or eventdate, as mails and invoices do.
func FormatDate(language string, at time.Time) string {
	return at.UTC().Format(dateLayout(language))
}

// minus is the sign of negative numbers on pages. Files, APIs and forms have the hyphen, which
// programs can read.
const minus = "\u2212"

// FormatMoney formats an amount in euros, for a page.
func FormatMoney(language string, amount registrar.Cents) string {
	return formatMoney(language, amount)
}

// FormatPrice formats an amount that includes VAT at a rate in hundredths of a percent, and says so as mails do.
func FormatPrice(language string, amount registrar.Cents, rate int) string {
	money := formatMoney(language, amount)
	if rate == 0 {
		return money + InLanguage(language, " netto", " net")
	}
	return money + InLanguage(language, " inkl. "+FormatRate(language, rate)+"\u00a0% USt.", " incl. "+FormatRate(language, rate)+"% VAT")
}

func formatMoney(language string, amount registrar.Cents) string {
	number := formatDecimal(language, amount.String())
	unsigned := strings.TrimPrefix(number, minus)
	sign := number[:len(number)-len(unsigned)]
	return InLanguage(language, number+"\u00a0€", sign+"€"+unsigned)
}

// formatDecimal formats a number with a decimal point, such as an amount in the currency of a
// registry. Other text, which a registry may have sent, is returned as it is.
func formatDecimal(language, number string) string {
	if strings.Trim(number, "-.0123456789") != "" {
		return number
	}
	whole, fraction, hasFraction := strings.Cut(number, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = minus, whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + InLanguage(language, ".", ",") + whole[i:]
	}
	if hasFraction {
		whole += InLanguage(language, ",", ".") + fraction
	}
	return sign + whole
}

// FormatRate formats hundredths of a percent, without a percent sign.
func FormatRate(language string, basisPoints int) string {
	text := strings.TrimSuffix(strings.TrimRight(registrar.Cents(basisPoints).String(), "0"), ".")
	return InLanguage(language, strings.Replace(text, ".", ",", 1), text)
}

// tones are the colours of states, by urgency: failed or lost, needs attention, in progress or
// for information, good. Other states have none.
var tones = map[string]string{
	"active": "good", "completed": "good",
	"pending": "wait", "waiting": "wait", "paying": "wait", "provisioning": "wait", "transferred_out": "wait",
	"awaiting_payment": "warn", "awaiting_verification": "warn", "partially_completed": "warn", "expired": "warn", "transit": "warn",
	"unlocked": "warn", "locked": "good",
	"failed": "bad", "redemption": "bad", "leaving": "bad", "suspended": "bad", "held": "bad", "disputed": "warn",
	"captured": "good", "opening": "wait", "open": "wait", "closing": "wait", "unmatched": "warn",
	"overdue": "bad", "today": "warn", "soon": "warn",
	"done": "good", "refused": "bad", "returned": "warn", "abandoned": "warn", "requested": "wait",
	"needs_response": "warn", "warning_needs_response": "warn", "under_review": "wait", "warning_under_review": "wait", "won": "good", "lost": "bad",
	"secured": "good", "in_progress": "wait", "not_secured": "warn", "not_held": "warn",
	"healthy": "good", "failing": "bad", "paused": "warn", "unknown": "",
}

// tone returns the colour for the text key of a state, such as item.active.register.
func tone(key string) string {
	_, state, _ := strings.Cut(key, ".")
	state, _, _ = strings.Cut(state, ".")
	return tones[state]
}

// DisplayName returns a domain in Unicode, followed by its ASCII form if that differs,
// because letters can look alike. The template "name" renders the same with the ASCII
// form in small print.
func DisplayName(name string) string {
	if written := UnicodeName(name); written != name {
		return written + " (" + name + ")"
	}
	return name
}

// UnicodeName returns a name in Unicode.
func UnicodeName(name string) string {
	if written, err := idna.Punycode.ToUnicode(name); err == nil {
		return written
	}
	return name
}

// NonBreaking keeps the word E-Mail from breaking at its hyphen.
func NonBreaking(text string) string { return strings.ReplaceAll(text, "E-Mail", "E\u2011Mail") }

func fill(text string, values []any) string {
	if len(values) == 0 {
		return text
	}
	pairs := make([]string, 0, 2*len(values))
	for i, value := range values {
		pairs = append(pairs, "{"+strconv.Itoa(i+1)+"}", fmt.Sprint(value))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func isHTML(value any) bool {
	_, ok := value.(template.HTML)
	return ok
}

// fillHTML is fill for values of which some are markup.
func fillHTML(text string, values []any) template.HTML {
	escaped := make([]any, len(values))
	for i, value := range values {
		if !isHTML(value) {
			value = template.HTMLEscapeString(fmt.Sprint(value))
		}
		escaped[i] = value
	}
	return template.HTML(fill(template.HTMLEscapeString(text), escaped)) //nolint:gosec // everything else is escaped
}

func (templates *Templates) text(language, key string) (string, bool) {
	texts, known := templates.texts[language]
	if !known {
		return "", false
	}
	text, ok := texts()[key]
	return text, ok
}

// Month returns the name of a month.
func (templates *Templates) Month(language string, month time.Month) string {
	return templates.Text(language, "month."+strconv.Itoa(int(month)-1))
}

// ShortMonth returns its first three letters, for the columns of a chart.
func (templates *Templates) ShortMonth(language string, month time.Month) string {
	return string([]rune(templates.Month(language, month))[:3])
}

// Text returns a text in a language; empty if the key is unknown.
func (templates *Templates) Text(language, key string, values ...any) string {
	text, _ := templates.text(language, key)
	return fill(text, values)
}

// Has reports whether a text with that key exists.
func (templates *Templates) Has(key string) bool {
	_, ok := templates.text(German, key)
	return ok
}

// View describes a page to render.
type View struct {
	Name   string // the template file without its extension
	Status int    // 0 means 200
	Title  string // the text key of heading and window title
	// TitleValue fills {1} in the title, for example with the name of a domain.
	TitleValue string
	Section    string // the path of the current menu entry
	Public     string // the text key of the description for search engines; empty means noindex
	Live       Live   // describes how the page updates itself
	Data       any    // available to the template as .Data
}

type pageData struct {
	View
	Language string
	SignedIn bool
	Visitor  account.Visitor
	// Here is where the language switch returns, Home the target of the logo. SignIn is
	// the sign-in link; empty on the sign-in pages themselves.
	Here, Home, SignIn string
	Flash              string    // the text key of the message about the last action
	FlashAt            time.Time // that it names; zero if it names none
	FlashLink          string    // where it leads; empty if it leads nowhere. The key of its text ends in .link
	// PublicLinks are the public pages, Menu the customer's own.
	PublicLinks, Menu []menuEntry
	Basket            string      // the basket's path, empty if there is none
	Count             int         // of items in the basket; only of a whole page
	LegalLinks        []menuEntry // the legal pages, in the footer
	Preview           *preview    // of a public page
}

// preview is what search engines and messengers show of a page: absolute URLs.
type preview struct{ Canonical, German, English, Image string }

// SavedBefore is the message that new data of the account are saved, while domains still have the
// former ones.
const SavedBefore = "registrant_saved_before"

// HolderSavedBefore is the same message about another holder.
const HolderSavedBefore = "holder_saved_before"

// flashLinks are the pages that messages lead to.
var flashLinks = map[string]string{SavedBefore: HoldersPath + "/own/domains", HolderSavedBefore: HoldersPath}

// Render renders a page. Nothing is written before it is complete.
func (templates *Templates) Render(req *Request, view View) error {
	page, err := templates.page(req.Language, view.Name)
	if err != nil {
		return err
	}
	s := templates.pageDataFor(req, view)
	if s.Basket != "" {
		s.Count = req.basketItems(view.Status >= http.StatusInternalServerError)
	}
	if key, at := req.takeFlash(); templates.Has("note." + key) {
		s.Flash, s.FlashAt, s.FlashLink = "note."+key, at, flashLinks[key]
	}
	var body bytes.Buffer
	if err := page.ExecuteTemplate(&body, "frame.html", s); err != nil {
		// The text of a template error may quote page content.
		return &registrar.Error{Kind: registrar.KindInternal, Code: "render", Detail: view.Name, Err: err}
	}
	status := view.Status
	if status == 0 {
		status = http.StatusOK
	}
	httpjson.WriteBytes(req.W, status, typeHTML, body.Bytes())
	return nil
}

// pageDataFor returns the data of a page, without the flash message.
func (templates *Templates) pageDataFor(req *Request, view View) pageData {
	s := pageData{View: view, Language: req.Language, SignedIn: req.SignedIn, Visitor: req.Visitor, Here: req.here(), Home: HomePath}
	if req.frame.cfg.PublicLinks {
		s.Home, s.PublicLinks = StartPath, linksIn(req.Language, req.frame.publicLinks(), view.Section)
	}
	if req.frame.cfg.Orders {
		s.Basket = BasketPathIn(req.Language)
	}
	if req.frame.cfg.Legal {
		s.LegalLinks = linksIn(req.Language, legalLinks, view.Section)
	}
	if german, english, found := translations(view.Section); found && view.Public != "" {
		url, path := req.frame.URL, InLanguage(req.Language, german, english)
		if req.R.URL.Path == german { // the home page, in the language of the browser
			path = german
		}
		s.Preview = &preview{
			Canonical: url(path), German: url(german), English: url(english), Image: url(req.frame.assetPath("preview.png")),
		}
	}
	if !req.SignedIn {
		s.SignIn = req.signInLink(view)
	}
	if req.SignedIn {
		entries := req.frame.menu
		if req.frame.cfg.Operators && req.Visitor.Customer.Operator {
			entries = append(slices.Clip(entries), menuEntry{Path: OperatorPath, Label: "menu.operator"})
		}
		s.Menu = markCurrent(entries, view.Section)
	}
	return s
}

// RenderPart renders one definition of a page's templates, for parts that a script
// inserts or that are cached.
func (templates *Templates) RenderPart(language, view, name string, data any) (string, error) {
	page, err := templates.page(language, view)
	if err != nil {
		return "", err
	}
	var body bytes.Buffer
	if err := page.ExecuteTemplate(&body, name, data); err != nil {
		return "", &registrar.Error{Kind: registrar.KindInternal, Code: "render", Detail: view, Err: err}
	}
	return body.String(), nil
}

var typeHTML = []string{"text/html; charset=utf-8"}

// here returns the path of the current page. After a POST it is that of the page with the form.
func (req *Request) here() string {
	if req.R.Method == http.MethodGet || req.R.Method == http.MethodHead {
		return LocalPath(req.R.URL.RequestURI(), HomePath)
	}
	if page, err := url.Parse(req.formPath); err == nil { // a form that is filled in has a query
		return LocalPath(page.String(), HomePath)
	}
	return HomePath
}

// signInLink returns the header's sign-in link. It returns to an order that is in
// progress; from other pages it leads to the portal.
func (req *Request) signInLink(view View) string {
	switch here := req.here(); {
	case strings.HasPrefix(req.R.URL.Path, HomePath+"/"):
		return ""
	case view.Public != "" || view.Status >= http.StatusBadRequest || here == HomePath:
		return SignInPath
	default:
		return WithNext(SignInPath, here)
	}
}
