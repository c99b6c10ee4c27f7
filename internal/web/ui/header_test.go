package ui

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

var signInLink = regexp.MustCompile(`href="(/portal/sign-in[^"]*)">Anmelden<`)

func TestHeader_SignInLinkOnEveryPageButSignIn(t *testing.T) {
	t.Parallel()
	frame := newFrame(t, "http://127.0.0.1", sessions{})
	show := func(view View) PageFunc {
		view.Name, view.Title = "failure", "failure.home"
		view.Data = struct {
			Status         int
			Text, Wait, ID string
		}{http.StatusOK, "failure.invalid", "", ""}
		return func(req *Request) error { return frame.templates.Render(req, view) }
	}
	fails := func(*Request) error { return &registrar.Error{Kind: registrar.KindNotFound} }
	for _, c := range []struct {
		method string
		path   string
		page   PageFunc
		cookie string
		want   string
	}{
		{path: "/preise", page: show(View{Public: "failure.home"}), want: "/portal/sign-in"},
		{path: "/warenkorb", page: show(View{}), want: "/portal/sign-in?next=%2Fwarenkorb"},
		{path: "/checkout/dotkontor_pay_x", page: show(View{}), want: "/portal/sign-in?next=%2Fcheckout%2Fdotkontor_pay_x"},
		{path: "/gibt-es-nicht", page: fails, want: "/portal/sign-in"},
		{path: "/checkout/falsch", page: fails, want: "/portal/sign-in"},
		{path: "/portal/sign-in", page: show(View{})},
		{path: "/portal/register", page: show(View{})},
		{method: http.MethodPost, path: "/portal/sign-in", page: show(View{Status: http.StatusUnprocessableEntity})},
		{path: "/warenkorb", page: show(View{}), cookie: "dotkontor=good"},
	} {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), cmp.Or(c.method, http.MethodGet), c.path, http.NoBody)
		r.Header.Set("Cookie", c.cookie)
		frame.Page(c.page)(w, r)
		got := ""
		if found := signInLink.FindStringSubmatch(w.Body.String()); found != nil {
			got = found[1]
		}
		if got != c.want {
			t.Errorf("%s, cookie %q: the sign-in link is %q, want %q", c.path, c.cookie, got, c.want)
		}
	}
}

func TestTexts_EMailHasNonBreakingHyphen(t *testing.T) {
	t.Parallel()
	frame := newFrame(t, "http://127.0.0.1", sessions{})
	templates, err := frame.LoadTemplates(templateFS, Texts{"own": {"Eine E-Mail an {1}."}})
	if err != nil {
		t.Fatal(err)
	}
	// User input is not changed.
	if got, want := templates.Text(German, "own", "E-Mail@example.org"), "Eine E\u2011Mail an E-Mail@example.org."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Contains(templates.Text(German, "failure.mail_off"), "E-Mail") {
		t.Error("the frame's own texts break")
	}
}

func TestLanguage_FirstVisitUsesBrowsers(t *testing.T) {
	t.Parallel()
	frame := newFrame(t, "http://127.0.0.1", sessions{})
	for _, c := range []struct{ header, cookie, want string }{
		{"", "", German},
		{"de-DE,de;q=0.9,en;q=0.8", "", German},
		{"en-GB,en;q=0.9,de;q=0.8", "", English},
		{"en;q=0.3, de;q=0.7", "", German},
		{"fr-FR,fr;q=0.9", "", English},
		{"fr-FR,de;q=0.5", "", German},
		{"de;q=0, en", "", English},
		{"de;q=x", "", English},
		{strings.Repeat("fr,", 5000) + "de", "", English},
		{"en", "dotkontor_lang=de", German},
		{"en", "dotkontor_lang=de-account", German},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.Header.Set("Accept-Language", c.header)
		r.Header.Set("Cookie", c.cookie)
		if got, chosen := frame.language(r); got != c.want || chosen != (c.cookie != "") {
			t.Errorf("%.40q, cookie %q: %s, chosen %t, want %s", c.header, c.cookie, got, chosen, c.want)
		}
	}
}

func TestLanguage_ErrorsHaveThatOfThePath(t *testing.T) {
	t.Parallel()
	frame := newFrame(t, "http://127.0.0.1", sessions{})
	for path, language := range map[string]string{
		PricesPath: German, PricesPath + ".csv": German, EnglishPricesPath: English, TransferPath: German, EnglishTransferPath: English, EnglishStartPath: English,
	} {
		other := InLanguage(language, English, German)
		for name, serve := range map[string]http.HandlerFunc{
			"method": frame.MethodNotAllowed,
			"form": frame.Page(func(*Request) error {
				return &registrar.Error{Kind: registrar.KindInvalid, Code: BadForm}
			}),
		} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
			r.Header.Set("Accept-Language", other)
			w := httptest.NewRecorder()
			serve(w, r)
			if !strings.Contains(w.Body.String(), `<html lang="`+language+`">`) {
				t.Errorf("the error (%s) of %s is not in %s", name, path, language)
			}
			r.Header.Set("Cookie", "dotkontor_lang="+other)
			w = httptest.NewRecorder()
			serve(w, r)
			if !strings.Contains(w.Body.String(), `<html lang="`+other+`">`) {
				t.Errorf("the error (%s) of %s ignores the choice of %s", name, path, other)
			}
		}
	}
}
