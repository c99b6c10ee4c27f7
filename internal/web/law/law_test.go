package law

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/declaration"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/test/texts"
)

const base = "https://domains.example"

type nobody struct{}

func (nobody) Visitor(context.Context, string) (customer.Visitor, error) {
	return customer.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
}

// shelf keeps declarations and their letters in memory.
type shelf struct {
	kept    []declaration.Declaration
	letters []registrar.Letter
}

func (s *shelf) AddDeclaration(_ context.Context, d declaration.Declaration, letters []registrar.Letter) error {
	s.kept, s.letters = append(s.kept, d), append(s.letters, letters...)
	return nil
}

func (s *shelf) Declarations(context.Context, string, int) ([]declaration.Declaration, error) {
	return s.kept, nil
}

func (s *shelf) OrdersAbout(context.Context, string, int) ([]declaration.Ordered, error) {
	return nil, nil
}

func (s *shelf) FinishDeclaration(context.Context, string, time.Time) (bool, error) {
	return false, nil
}

var kontor = Particulars{
	Company: "Kontor GmbH", Street: "Kai 1", PostalCode: "20457", City: "Hamburg", Email: "post@kontor.example", VATID: "DE123456789",
}

func open(t *testing.T, store *shelf, operator Particulars, tries func(string) time.Duration) http.Handler {
	t.Helper()
	frame, err := page.New(page.Config{
		BaseURL: base, Sessions: nobody{}, Address: func(*http.Request) netip.Addr { return netip.MustParseAddr("203.0.113.7") }, Law: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	declarations, err := declaration.New(declaration.Config{
		Store: store, Operator: "post@kontor.example", Tries: tries, Now: func() time.Time { return time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Config{Frame: frame, Declarations: declarations, Operator: operator})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, r := range h.Routes() {
		mux.HandleFunc(r.Method+" "+r.Path, r.Handler)
	}
	return mux
}

func visit(t *testing.T, pages http.Handler, path string, fields url.Values) (int, string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, base+path, nil)
	if fields != nil {
		r = httptest.NewRequest(http.MethodPost, base+path, strings.NewReader(fields.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func TestEveryPageNamesTheOperatorAndTheOtherPages(t *testing.T) {
	t.Parallel()
	pages := open(t, &shelf{}, kontor, nil)
	for path, says := range map[string]string{
		"/impressum": "20457 Hamburg", "/imprint": "VAT id: DE123456789", "/agb": "Kontor GmbH, Kai 1", "/terms": "Kontor GmbH, Kai 1",
		"/datenschutz": "post@kontor.example", "/privacy": "post@kontor.example", "/widerruf": "Widerruf bestätigen",
		"/withdrawal": "Confirm withdrawal", "/kuendigung": "Jetzt kündigen", "/cancellation": "End it now",
	} {
		status, body := visit(t, pages, path, nil)
		if status != http.StatusOK || !strings.Contains(body, says) || strings.Contains(body, "{") || strings.Contains(body, "noindex") {
			t.Errorf("%s: %d %s", path, status, body)
		}
		links := []string{`"/impressum"`, `"/agb"`, `"/datenschutz"`, `"/widerruf"`, `"/kuendigung"`, "Vertrag widerrufen", "Verträge hier kündigen"}
		if strings.Contains(body, `<html lang="en"`) {
			links = []string{`"/imprint"`, `"/terms"`, `"/privacy"`, `"/withdrawal"`, `"/cancellation"`}
		}
		for _, link := range links {
			if !strings.Contains(body, link) {
				t.Errorf("%s does not lead to %s", path, link)
			}
		}
	}
	// What is not told is left out, with its heading if nothing else is below it.
	_, body := visit(t, pages, "/impressum", nil)
	for _, never := range []string{"Telefon", "Vertreten durch", "Registereintrag", "Verantwortlich"} {
		if strings.Contains(body, never) {
			t.Errorf("the notice says %s, which nobody told", never)
		}
	}
	_, body = visit(t, open(t, &shelf{}, Particulars{}, nil), "/impressum", nil)
	if !strings.Contains(body, "noch nicht angegeben") || strings.Contains(body, "Umsatzsteuer-ID") {
		t.Errorf("without a company: %s", body)
	}
}

func TestAnybodyWithdrawsAndEndsContractsWithoutSigningIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path   string
		fields url.Values
		says   []string
		letter registrar.LetterKind
	}{
		{
			"/widerruf",
			url.Values{"name": {"Erika Muster"}, "email": {"erika@example.de"}, "contract": {"ord_1"}},
			[]string{"Ihr Widerruf ist eingegangen", "15.11.2026, 12:00 UTC", "Erika Muster", "ord_1", "erika@example.de", "dcl_"},
			registrar.LetterWithdrawal,
		},
		{
			"/kuendigung",
			url.Values{
				"name": {"Erika"}, "email": {"erika@example.de"}, "contract": {"kaffee.de"}, "ground": {"extraordinary"}, "reason": {"Umzug"}, "end": {"2026-12-31"},
			},
			[]string{"Ihre Kündigung ist eingegangen", "kaffee.de", "aus wichtigem Grund", "Umzug", "31.12.2026"},
			registrar.LetterTermination,
		},
		{
			"/cancellation",
			url.Values{"name": {"Erika"}, "email": {"erika@example.de"}, "contract": {"kaffee.de"}, "ground": {"ordinary"}},
			[]string{"Your notice has come in", "the earliest possible day"},
			registrar.LetterTermination,
		},
	} {
		store := &shelf{}
		status, body := visit(t, open(t, store, kontor, nil), c.path, c.fields)
		for _, word := range c.says {
			if status != http.StatusOK || !strings.Contains(body, word) {
				t.Errorf("%s: %d does not say %q: %s", c.path, status, word, body)
			}
		}
		if len(store.kept) != 1 || len(store.letters) != 2 || store.letters[0].Kind != c.letter || store.letters[0].To != "erika@example.de" ||
			store.letters[1].Kind != registrar.LetterDeclared || store.letters[1].To != "post@kontor.example" ||
			store.letters[0].Facts["contract"] != c.fields.Get("contract") {
			t.Errorf("%s: %+v %+v", c.path, store.kept, store.letters)
		}
	}
}

func TestADeclarationThatLacksSomethingIsSaidAtItsField(t *testing.T) {
	t.Parallel()
	store := &shelf{}
	pages := open(t, store, kontor, nil)
	for _, c := range []struct {
		path   string
		fields url.Values
		says   []string
	}{
		{"/widerruf", url.Values{"name": {"<i>"}}, []string{"Diese Angabe fehlt.", "Abgeschickt wurde noch nichts.", `value="&lt;i&gt;"`}},
		{"/widerruf", url.Values{"name": {"E"}, "contract": {"x"}, "email": {"Erika <e@example.de>"}}, []string{"Bitte geben Sie eine E\u2011Mail-Adresse an"}},
		{"/widerruf", url.Values{"name": {strings.Repeat("x", 101)}, "contract": {"x"}, "email": {"e@example.de"}}, []string{"Das ist zu lang."}},
		{"/widerruf", url.Values{"name": {"E"}, "contract": {"x\n\nLiebe Kundin"}, "email": {"e@example.de"}}, []string{`id="contract-problem"`}},
		{"/kuendigung", url.Values{"name": {"E"}, "contract": {"x"}, "email": {"e@example.de"}, "ground": {"extraordinary"}}, []string{`id="reason-problem"`}},
		{"/kuendigung", url.Values{"name": {"E"}, "contract": {"x"}, "email": {"e@example.de"}, "ground": {"ordinary"}, "end": {"2020-01-01"}}, []string{"schon vorbei"}},
		{"/kuendigung", url.Values{"name": {"E"}, "contract": {"x"}, "email": {"e@example.de"}, "ground": {"ordinary"}, "end": {"bald"}}, []string{"einen Tag an"}},
		{"/kuendigung", url.Values{"name": {"E"}, "contract": {"x"}, "email": {"e@example.de"}}, []string{`id="ground-problem"`}},
	} {
		status, body := visit(t, pages, c.path, c.fields)
		for _, word := range c.says {
			if status != http.StatusUnprocessableEntity || !strings.Contains(body, word) {
				t.Errorf("%v: %d does not say %q: %s", c.fields, status, word, body)
			}
		}
	}
	if store.kept != nil {
		t.Errorf("kept %v", store.kept)
	}
}

// The confirmation goes to an address that a stranger has typed.
func TestADeclarationWritesNoLineOfItsOwnIntoTheLetter(t *testing.T) {
	t.Parallel()
	for _, forged := range []string{"E\n\nIhr Konto ist gesperrt.", "E\r\nBcc: alle@example.de", "E\u2028Zahlen Sie hier", "E\u0085x", "E\u202Etxt"} {
		for _, field := range []string{"name", "contract", "reason"} {
			store := &shelf{}
			pages := open(t, store, kontor, nil)
			fields := url.Values{"name": {"E"}, "contract": {"x"}, "email": {"e@example.de"}, "ground": {"extraordinary"}, "reason": {"Umzug"}}
			fields.Set(field, forged)
			status, body := visit(t, pages, "/kuendigung", fields)
			if status != http.StatusUnprocessableEntity || !strings.Contains(body, `id="`+field+`-problem"`) || store.kept != nil {
				t.Errorf("%s %q: %d, kept %v", field, forged, status, store.kept)
			}
		}
	}
}

func TestDeclarationsAreBoundedByWhereTheyComeFromAndGoTo(t *testing.T) {
	t.Parallel()
	fields := url.Values{"name": {"E"}, "contract": {"x"}, "email": {"E@example.de"}}
	for _, full := range []string{"network 203.0.113.7", "mail e@example.de"} {
		store := &shelf{}
		pages := open(t, store, kontor, func(key string) time.Duration {
			if key == full {
				return time.Minute
			}
			return 0
		})
		status, body := visit(t, pages, "/widerruf", fields)
		if status != http.StatusTooManyRequests || !strings.Contains(body, "post@kontor.example") || store.kept != nil {
			t.Errorf("%s: %d, kept %v", full, status, store.kept)
		}
	}
}

func TestAnOperatorsTextReplacesOurs(t *testing.T) {
	t.Parallel()
	texts, err := textsOf(fstest.MapFS{"agb.txt": {Data: []byte("# Eins\nA {company}\nB [hier](/widerruf).\n\n- x {phone}\n- y\n\n# Leer\n| {phone}\n")}}, kontor)
	if err != nil {
		t.Fatal(err)
	}
	got := texts["agb"]
	if len(got) != 3 || got[0].Heading != "Eins" || got[1].Text[0].Text != "A Kontor GmbH B " || got[1].Text[1] != (span{"hier", "/widerruf"}) ||
		len(got[2].Items) != 1 || got[2].Items[0][0].Text != "y" {
		t.Errorf("%+v", got)
	}
	if len(texts["impressum"]) == 0 {
		t.Error("ours are gone")
	}
	for name, files := range map[string]fstest.MapFS{
		"a mistyped name":         {"abg.txt": {Data: []byte("x")}},
		"an unknown place":        {"agb.txt": {Data: []byte("{firma}")}},
		"no text":                 {"agb.txt": {Data: []byte{0xff}}},
		"more than anybody reads": {"agb.txt": {Data: make([]byte, largestText+1)}},
	} {
		if _, err := textsOf(files, kontor); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	// A link to elsewhere is no link.
	if parts := spans("[x](https://evil.example) [y](//evil.example/)"); len(parts) != 1 {
		t.Errorf("%+v", parts)
	}
}

func TestOurTextsAreWrittenOnceAndOwnOnesStay(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "texts")
	written, err := WriteTexts(folder)
	if err != nil || len(written) != 10 {
		t.Fatalf("%v, %v", written, err)
	}
	own := filepath.Join(folder, "agb.txt")
	if err := os.WriteFile(own, []byte("eigene"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := WriteTexts(folder); err != nil || len(again) != 0 {
		t.Errorf("%v, %v", again, err)
	}
	if body, err := os.ReadFile(own); err != nil || string(body) != "eigene" {
		t.Errorf("%s, %v", body, err)
	}
	if _, err := textsOf(os.DirFS(folder), kontor); err != nil {
		t.Errorf("what we write can't be read: %v", err)
	}
}

func TestBothLanguagesHaveTheSameTexts(t *testing.T) {
	t.Parallel()
	texts.Same(t, german, english)
}
