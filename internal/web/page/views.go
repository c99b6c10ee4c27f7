package page

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
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

//go:embed templates
var ownTemplates embed.FS

// partials is the file whose definitions every other file of a folder may use.
const partials = "partials.html"

// Words are the texts of some pages: two tables with the same keys. A text has
// places {1}, {2} and so on.
type Words struct{ German, English map[string]string }

// Views are the pages of one folder. A page is parsed when it is first shown: most
// processes show few of them, and parsed templates are the largest part of an idle
// heap. They are safe for concurrent use.
type Views struct {
	frame *Frame
	words map[string]map[string]string
	pages map[string]map[string]func() (*template.Template, error)
}

// Parse lists every page of the folder "templates" in files. The texts of the
// frame may be used in all of them.
func (f *Frame) Parse(files fs.FS, words Words) (*Views, error) {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	views := &Views{
		frame: f, words: make(map[string]map[string]string),
		pages: make(map[string]map[string]func() (*template.Template, error)),
	}
	for language, table := range map[string][2]map[string]string{German: {german, words.German}, English: {english, words.English}} {
		views.words[language] = maps.Clone(table[0])
		maps.Copy(views.words[language], table[1])
		for key, text := range views.words[language] {
			views.words[language][key] = Unbroken(text)
		}
		views.pages[language] = make(map[string]func() (*template.Template, error))
		for _, name := range names {
			file := path.Base(name)
			if file == partials || file == "frame.html" {
				continue
			}
			views.pages[language][strings.TrimSuffix(file, ".html")] = sync.OnceValues(func() (*template.Template, error) {
				return parsePage(files, name, views.functions(language))
			})
		}
	}
	return views, nil
}

// parsePage reads a page with the frame and the partials around it.
func parsePage(files fs.FS, name string, functions template.FuncMap) (*template.Template, error) {
	page, err := template.New("frame.html").Funcs(functions).ParseFS(ownTemplates, "templates/frame.html", "templates/"+partials)
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
func (views *Views) page(language, name string) (*template.Template, error) {
	parse, ok := views.pages[language][name]
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
func (views *Views) functions(language string) template.FuncMap {
	return template.FuncMap{
		"t": func(key string, values ...any) (string, error) {
			text, ok := views.words[language][key]
			if !ok {
				return "", fmt.Errorf("no text %q", key)
			}
			return fill(text, values), nil
		},
		"known":    func(key string) bool { _, ok := views.words[language][key]; return ok },
		"date":     func(at time.Time) string { return formatTime(language, at, false) },
		"moment":   func(at time.Time) string { return formatTime(language, at, true) },
		"iso":      func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
		"money":    func(amount registrar.Cents) string { return formatMoney(language, amount) },
		"domain":   readableName,
		"readable": written,
		"country":  func(code string) string { return CountryName(language, code) },
		"phone":    customer.ReadablePhone,
		"asset":    views.frame.assetPath,
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

// readableName is a domain as people write it. Beside it stands the form in which
// registries know it, where that is another one: letters can look alike. The template
// "name" shows the same with that form in small.
func readableName(name string) string {
	if written := written(name); written != name {
		return written + " (" + name + ")"
	}
	return name
}

func written(name string) string {
	if written, err := idna.Punycode.ToUnicode(name); err == nil {
		return written
	}
	return name
}

// Unbroken is a text in which no line ends inside the word E-Mail: what is left of it
// at the end of a line reads like a slip.
func Unbroken(text string) string { return strings.ReplaceAll(text, "E-Mail", "E\u2011Mail") }

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
func (views *Views) Text(language, key string, values ...any) string {
	return fill(views.words[language][key], values)
}

// Has says whether there is a sentence of that key.
func (views *Views) Has(key string) bool {
	_, ok := views.words[German][key]
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

// shown is what the frame's template reads.
type shown struct {
	View
	Language string
	SignedIn bool
	Visitor  customer.Visitor
	// Here is where the language switch leads back to, and Home where the name of
	// the service does. SignIn is where strangers sign in; empty on the pages where
	// they are about to.
	Here, Home, SignIn string
	// Note is the key of a sentence about what was just done.
	Note string
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

// foot are the pages that the law asks for.
var foot = map[string][]menuEntry{
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
func (views *Views) Render(v *Visit, view View) error {
	page, err := views.page(v.Language, view.Name)
	if err != nil {
		return err
	}
	s := views.shownTo(v, view)
	if key := v.takeNote(); views.Has("note." + key) {
		s.Note = "note." + key
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
	wire.WriteBytes(v.W, status, typeHTML, body.Bytes())
	return nil
}

// shownTo is all that a page says to a visitor, but for what was just done.
func (views *Views) shownTo(v *Visit, view View) shown {
	s := shown{View: view, Language: v.Language, SignedIn: v.SignedIn, Visitor: v.Visitor, Here: v.here(), Home: HomePath}
	if v.frame.places {
		s.Home, s.Places = StartPath, marked(places[v.Language], view.Section)
	}
	if v.frame.basket {
		s.Basket, s.Count = BasketIn(v.Language), len(v.Basket())
	}
	if v.frame.law {
		s.Foot = marked(foot[v.Language], view.Section)
	}
	if !v.SignedIn {
		s.SignIn = v.signInLink(view)
	}
	if v.SignedIn {
		entries := v.frame.menu
		if v.frame.operators && v.Visitor.Customer.Operator {
			entries = append(slices.Clip(entries), menuEntry{Path: OperatorPath, Label: "menu.operator"})
		}
		s.Menu = marked(entries, view.Section)
	}
	return s
}

// Part renders one definition of a page's templates alone, for what is put
// into a page later, by our own script or from memory.
func (views *Views) Part(language, view, name string, data any) (string, error) {
	page, err := views.page(language, view)
	if err != nil {
		return "", err
	}
	var body bytes.Buffer
	if err := page.ExecuteTemplate(&body, name, data); err != nil {
		return "", &registrar.Error{Kind: registrar.KindInternal, Code: "render", Detail: view, Err: err}
	}
	return body.String(), nil
}

// marked are the entries of a menu, of which one is where the visitor is.
func marked(entries []menuEntry, section string) []menuEntry {
	list := slices.Clone(entries)
	for i := range list {
		list[i].Current = list[i].Path == section
	}
	return list
}

var typeHTML = []string{"text/html; charset=utf-8"}

// here is the address of the page that is shown. After a POST the query is left
// out, because the page of the same path is meant.
func (v *Visit) here() string {
	if v.R.Method == http.MethodGet || v.R.Method == http.MethodHead {
		return LocalPath(v.R.URL.RequestURI(), HomePath)
	}
	return LocalPath((&url.URL{Path: v.back}).String(), HomePath)
}

// signInLink is where the head's link leads strangers. Who is about to order comes
// back to the order; who only looks around goes on to the portal.
func (v *Visit) signInLink(view View) string {
	switch here := v.here(); {
	case strings.HasPrefix(v.R.URL.Path, HomePath+"/"):
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
