package ui

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
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

// partials is the file whose definitions every other file of a folder may use.
const partials = "partials.html"

// Texts are the texts of some pages: two tables with the same keys. A text has
// places {1}, {2} and so on.
type Texts struct{ German, English map[string]string }

// Templates are the pages of one folder. A page is parsed when it is first shown: most
// processes show few of them, and parsed templates are the largest part of an idle
// heap. They are safe for concurrent use.
type Templates struct {
	frame *Frame
	texts map[string]map[string]string
	pages map[string]map[string]func() (*template.Template, error)
}

// LoadTemplates lists every page of the folder "templates" in files. The texts of the
// frame may be used in all of them.
func (f *Frame) LoadTemplates(files fs.FS, words Texts) (*Templates, error) {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	templates := &Templates{
		frame: f, texts: make(map[string]map[string]string),
		pages: make(map[string]map[string]func() (*template.Template, error)),
	}
	for language, table := range map[string][2]map[string]string{German: {german, words.German}, English: {english, words.English}} {
		templates.texts[language] = maps.Clone(table[0])
		maps.Copy(templates.texts[language], table[1])
		for key, text := range templates.texts[language] {
			templates.texts[language][key] = NonBreaking(text)
		}
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

// parsePage reads a page with the frame and the partials around it.
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

// page is the parsed template of a page in a language.
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

// functions are what templates may call.
func (templates *Templates) functions(language string) template.FuncMap {
	return template.FuncMap{
		"t": func(key string, values ...any) (string, error) {
			text, ok := templates.texts[language][key]
			if !ok {
				return "", fmt.Errorf("no text %q", key)
			}
			return fill(text, values), nil
		},
		"known":    func(key string) bool { _, ok := templates.texts[language][key]; return ok },
		"date":     func(at time.Time) string { return formatTime(language, at, false) },
		"moment":   func(at time.Time) string { return formatTime(language, at, true) },
		"iso":      func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
		"money":    func(amount registrar.Cents) string { return formatMoney(language, amount) },
		"domain":   displayName,
		"readable": unicodeName,
		"country":  func(code string) string { return CountryName(language, code) },
		"phone":    account.FormatPhone,
		"asset":    templates.frame.assetPath,
		"tone":     tone,
	}
}

func formatTime(language string, at time.Time, withClock bool) string {
	form := "02.01.2006"
	if language == English {
		form = "2 Jan 2006"
	}
	if withClock {
		form += ", 15:04 UTC"
	}
	return at.UTC().Format(form)
}

// formatMoney writes an amount as people of the language do.
func formatMoney(language string, amount registrar.Cents) string {
	if language == English {
		return "€" + amount.String()
	}
	return strings.Replace(amount.String(), ".", ",", 1) + "\u00a0€"
}

// tones are the colours of states: what is well, what is under way, what somebody
// should do something about, and what has gone wrong. Others have none.
var tones = map[string]string{
	"active": "good", "completed": "good",
	"pending": "wait", "waiting": "wait", "paying": "wait", "provisioning": "wait", "transit": "wait",
	"awaiting_payment": "warn", "awaiting_verification": "warn", "partially_completed": "warn", "expired": "warn",
	"failed": "bad", "redemption": "bad",
	"secured": "good", "under_way": "wait", "not_secured": "warn",
	"well": "good", "resting": "bad", "paused": "warn", "unknown": "",
}

// tone is the colour for the key of a state's text, such as item.active.register.
func tone(key string) string {
	_, state, _ := strings.Cut(key, ".")
	state, _, _ = strings.Cut(state, ".")
	return tones[state]
}

// displayName is a domain as people write it. Beside it stands the form in which
// registries know it, where that is another one: letters can look alike. The template
// "name" shows the same with that form in small.
func displayName(name string) string {
	if written := unicodeName(name); written != name {
		return written + " (" + name + ")"
	}
	return name
}

func unicodeName(name string) string {
	if written, err := idna.Punycode.ToUnicode(name); err == nil {
		return written
	}
	return name
}

// NonBreaking is a text in which no line ends inside the word E-Mail: what is left of it
// at the end of a line reads like a slip.
func NonBreaking(text string) string { return strings.ReplaceAll(text, "E-Mail", "E\u2011Mail") }

// fill puts values into the places of a text.
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

// Text is a sentence in a language; empty if there is none of that key.
func (templates *Templates) Text(language, key string, values ...any) string {
	return fill(templates.texts[language][key], values)
}

// Has says whether there is a sentence of that key.
func (templates *Templates) Has(key string) bool {
	_, ok := templates.texts[German][key]
	return ok
}

// View is one page to be shown.
type View struct {
	// Name is the file without its ending.
	Name string
	// Status is 200 if it is zero.
	Status int
	// Title is the key of the heading, which is the window's title, too.
	Title string
	// Section is the path of the menu's entry that the page belongs to.
	Section string
	// Public is the key of what search engines may say about the page; empty means
	// that they are to leave it alone.
	Public string
	// Live says how the page goes on while what it shows is under way.
	Live Live
	// Data is what the template reads as .Data.
	Data any
}

// pageData is what the frame's template reads.
type pageData struct {
	View
	Language string
	SignedIn bool
	Visitor  account.Visitor
	// Here is where the language switch leads back to, and Home where the name of
	// the service does. SignIn is where strangers sign in; empty on the pages where
	// they are about to.
	Here, Home, SignIn string
	// Flash is the key of a sentence about what was just done.
	Flash string
	// Places are the pages for everybody, Menu are the customer's own.
	Places, Menu []menuEntry
	// Basket is where it is, empty where there is none, and Count what is in it.
	Basket string
	// Foot are the pages that the law asks for.
	Foot  []menuEntry
	Count int
}

type menuEntry struct {
	Path, Label string
	Current     bool
}

// places are the pages for everybody, by language: an address is a word, too.
var places = map[string][]menuEntry{
	German: {
		{Path: StartPath, Label: "menu.search"},
		{Path: PricesPath, Label: "menu.prices"},
		{Path: AssistantPath, Label: "menu.assistant"},
	},
	English: {
		{Path: StartPath, Label: "menu.search"},
		{Path: EnglishPricesPath, Label: "menu.prices"},
		{Path: EnglishAssistantPath, Label: "menu.assistant"},
	},
}

// legalLinks are the pages that the law asks for.
var legalLinks = map[string][]menuEntry{
	German: {
		{Path: ImprintPath, Label: "foot.imprint"},
		{Path: TermsPath, Label: "foot.terms"},
		{Path: PrivacyPath, Label: "foot.privacy"},
		{Path: WithdrawalPath, Label: "foot.withdrawal"},
		{Path: CancellationPath, Label: "foot.cancellation"},
	},
	English: {
		{Path: EnglishImprintPath, Label: "foot.imprint"},
		{Path: EnglishTermsPath, Label: "foot.terms"},
		{Path: EnglishPrivacyPath, Label: "foot.privacy"},
		{Path: EnglishWithdrawalPath, Label: "foot.withdrawal"},
		{Path: EnglishCancellationPath, Label: "foot.cancellation"},
	},
}

// menu is what those who have signed in can reach from everywhere.
var menu = [...]menuEntry{
	{Path: "/portal/domains", Label: "menu.domains"},
	{Path: OrdersPath, Label: "menu.orders"},
	{Path: "/portal/profile", Label: "menu.profile"},
	{Path: "/portal/security", Label: "menu.security"},
	{Path: "/portal/tokens", Label: "menu.tokens"},
	{Path: "/portal/apps", Label: "menu.apps"},
	{Path: "/portal/activity", Label: "menu.activity"},
}

// Render shows a page. Nothing is written before it is complete.
func (templates *Templates) Render(req *Request, view View) error {
	page, err := templates.page(req.Language, view.Name)
	if err != nil {
		return err
	}
	s := templates.pageDataFor(req, view)
	if key := req.takeFlash(); templates.Has("note." + key) {
		s.Flash = "note." + key
	}
	var body bytes.Buffer
	if err := page.ExecuteTemplate(&body, "frame.html", s); err != nil {
		// The text of a template's error may quote what was to be shown.
		return &registrar.Error{Kind: registrar.KindInternal, Code: "render", Detail: view.Name, Err: err}
	}
	status := view.Status
	if status == 0 {
		status = http.StatusOK
	}
	httpjson.WriteBytes(req.W, status, typeHTML, body.Bytes())
	return nil
}

// pageDataFor is all that a page says to a visitor, but for what was just done.
func (templates *Templates) pageDataFor(req *Request, view View) pageData {
	s := pageData{View: view, Language: req.Language, SignedIn: req.SignedIn, Visitor: req.Visitor, Here: req.here(), Home: HomePath}
	if req.frame.places {
		s.Home, s.Places = StartPath, markCurrent(places[req.Language], view.Section)
	}
	if req.frame.basket {
		s.Basket, s.Count = BasketPathIn(req.Language), len(req.Basket())
	}
	if req.frame.legal {
		s.Foot = markCurrent(legalLinks[req.Language], view.Section)
	}
	if !req.SignedIn {
		s.SignIn = req.signInLink(view)
	}
	if req.SignedIn {
		entries := req.frame.menu
		if req.frame.operators && req.Visitor.Customer.Operator {
			entries = append(slices.Clip(entries), menuEntry{Path: OperatorPath, Label: "menu.operator"})
		}
		s.Menu = markCurrent(entries, view.Section)
	}
	return s
}

// RenderPart renders one definition of a page's templates alone, for what is put
// into a page later, by our own script or from memory.
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

// markCurrent are the entries of a menu, of which one is where the visitor is.
func markCurrent(entries []menuEntry, section string) []menuEntry {
	list := slices.Clone(entries)
	for i := range list {
		list[i].Current = list[i].Path == section
	}
	return list
}

var typeHTML = []string{"text/html; charset=utf-8"}

// here is the address of the page that is shown. After a POST the query is left
// out, because the page of the same path is meant.
func (req *Request) here() string {
	if req.R.Method == http.MethodGet || req.R.Method == http.MethodHead {
		return LocalPath(req.R.URL.RequestURI(), HomePath)
	}
	return LocalPath((&url.URL{Path: req.formPath}).String(), HomePath)
}

// signInLink is where the head's link leads strangers. Who is about to order comes
// back to the order; who only looks around goes on to the portal.
func (req *Request) signInLink(view View) string {
	switch here := req.here(); {
	case strings.HasPrefix(req.R.URL.Path, HomePath+"/"):
		return ""
	case view.Public != "" || view.Status >= http.StatusBadRequest || here == HomePath:
		return SignInPath
	default:
		return SignInPath + "?next=" + url.QueryEscape(here)
	}
}

// RetryAfter is how long an error asks to wait; zero if it does not say.
func RetryAfter(err error) time.Duration {
	var e *registrar.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}
