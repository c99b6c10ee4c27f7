package site

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

func TestHome_MakesNoLookups(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	answer := s.get("/")
	body := answer.Body.String()
	if answer.Code != http.StatusOK || s.lookups.asked.Load() != 0 || s.budget.left != 20 {
		t.Fatalf("%d, %d lookups, %d left", answer.Code, s.lookups.asked.Load(), s.budget.left)
	}
	for _, want := range []string{"8,21\u00a0€", `name="description"`, `aria-current="page">Suche`, `role="search"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, "noindex") {
		t.Error("the start page excludes search engines")
	}
	if len(body) > 20_000 {
		t.Errorf("the page has %d bytes", len(body))
	}
}

// rowStates returns the state of each row by name.
func rowStates(body string) map[string]string {
	found := make(map[string]string)
	row := regexp.MustCompile(`<li class="hit ([a-z]+)" id="hit-\d+">\n<div class="hit-name"><strong>([^<]*)<span class="ext">([^<]*)`)
	for _, match := range row.FindAllStringSubmatch(body, -1) {
		found[match[2]+match[3]] = match[1]
	}
	return found
}

func TestSearch_WithoutScriptShowsEveryState(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	answer := s.post(t, "/", "q", "mixed")
	want := map[string]string{
		"mixed.de": "free", "mixed.com": "taken", "mixed.eu": "reserved", "mixed.net": "premium", "mixed.org": "unknown",
		"mixed.shop": "free", "mixed.io": "failed", "mixed.dev": "free",
	}
	got := rowStates(answer.Body.String())
	for name, state := range want {
		if got[name] != state {
			t.Errorf("%s is %q, want %q", name, got[name], state)
		}
	}
	if len(got) != len(want) || answer.Code != http.StatusOK || s.budget.left != 19 {
		t.Errorf("%d rows, status %d, %d left", len(got), answer.Code, s.budget.left)
	}
	for _, message := range []string{">vergeben<", ">reserviert<", ">frei, Premium<", ">unbekannt<", ">keine Antwort<", "4 von 8 sind frei. 1 davon nur zum Premiumpreis. Bei 2 ließ es sich gerade nicht feststellen."} {
		if !strings.Contains(answer.Body.String(), message) {
			t.Errorf("the page lacks %s", message)
		}
	}
}

func TestSearchSummary_ClaimsNothingAboutUnansweredNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		free, premium, unknown int
		de, en                 string
	}{
		{0, 0, 8, "Wir konnten gerade nicht feststellen, ob etwas davon frei ist.", "We couldn't find out right now whether any of them is available."},
		{0, 0, 3, "5 von 8 sind nicht frei. Bei 3 ließ es sich gerade nicht feststellen.", "5 of 8 are not available. We couldn't find out for 3 of them right now."},
		{0, 0, 7, "1 von 8 ist nicht frei. Bei 7 ließ es sich gerade nicht feststellen.", "1 of 8 is not available. We couldn't find out for 7 of them right now."},
		{0, 0, 0, "Keiner der 8 Namen ist frei.", "None of the 8 names is available."},
		{1, 0, 2, "1 von 8 ist frei. Bei 2 ließ es sich gerade nicht feststellen.", "1 of 8 is available. We couldn't find out for 2 of them right now."},
		{0, 8, 0, "Alle 8 sind frei, aber nur zum Premiumpreis.", "All 8 are available, but only at a premium price."},
	} {
		h := newEnv(t).handler
		for language, want := range map[string]string{"de": c.de, "en": c.en} {
			if got := h.summary(&ui.Request{Language: language}, results{Free: c.free, Premium: c.premium, Unknown: c.unknown}, 8); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

func TestSearchSummary_CountsNamesThatCannotBeOrderedSeparately(t *testing.T) {
	t.Parallel()
	h := newEnv(t).handler
	for _, c := range []struct {
		found  results
		de, en string
	}{
		{results{Free: 7, NotSold: 1}, "7 von 8 sind frei und hier bestellbar. 1 von 8 ist frei, aber hier nicht bestellbar.", "7 of 8 are available and can be ordered here. 1 of 8 is available, but can't be ordered here."},
		{results{Free: 1, NotSold: 2, Unknown: 1}, "1 von 8 ist frei und hier bestellbar. 2 von 8 sind frei, aber hier nicht bestellbar. Bei 1 ließ es sich gerade nicht feststellen.", "1 of 8 is available and can be ordered here. 2 of 8 are available, but can't be ordered here. We couldn't find out for 1 of them right now."},
		{results{NotSold: 8}, "Alle 8 sind frei, aber hier nicht bestellbar.", "All 8 are available, but can't be ordered here."},
		{results{NotSold: 2}, "2 von 8 sind frei, aber hier nicht bestellbar.", "2 of 8 are available, but can't be ordered here."},
		{results{Premium: 1, NotSold: 1}, "1 von 8 ist frei, aber nur zum Premiumpreis. 1 von 8 ist frei, aber hier nicht bestellbar.", "1 of 8 is available, but only at a premium price. 1 of 8 is available, but can't be ordered here."},
	} {
		for language, want := range map[string]string{"de": c.de, "en": c.en} {
			if got := h.summary(&ui.Request{Language: language}, c.found, 8); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

func TestSearch_FiltersWithoutMatchAreNamed(t *testing.T) {
	t.Parallel()
	const widen = "Wählen Sie andere Endungen oder erhöhen Sie den Höchstpreis."
	for _, c := range []struct{ query, want, also, never string }{
		{"name", "Keine Endung passt zu diesen Filtern.", widen, "Sonst passt"},
		{"name.de", "Der Name ist frei. Sonst passt keine Endung zu diesen Filtern.", "", "Alle 1"},
	} {
		s := newEnv(t)
		for _, path := range []string{"/", "/search"} {
			body := s.post(t, path, "q", c.query, "category", "shopping", "max", "10").Body.String()
			if !strings.Contains(body, c.want) || !strings.Contains(body, c.also) {
				t.Errorf("%s at %s: %s", c.query, path, body)
			}
			for _, never := range []string{c.never, "Alle 0", "Weitere Vorschläge"} {
				if strings.Contains(body, never) {
					t.Errorf("%s at %s says %q", c.query, path, never)
				}
			}
		}
	}
}

func TestSearchSummary_SingleNameHasSingular(t *testing.T) {
	t.Parallel()
	h := newEnv(t).handler
	for _, c := range []struct {
		found  results
		de, en string
	}{
		{results{Free: 1}, "Der Name ist frei.", "The name is available."},
		{results{Premium: 1}, "Der Name ist frei, aber nur zum Premiumpreis.", "The name is available, but only at a premium price."},
		{results{NotSold: 1}, "Der Name ist frei, aber hier nicht bestellbar.", "The name is available, but can't be ordered here."},
		{results{Unknown: 1}, "Wir konnten gerade nicht feststellen, ob der Name frei ist.", "We couldn't find out right now whether the name is available."},
		{results{}, "Der Name ist nicht frei.", "The name is not available."},
	} {
		for language, want := range map[string]string{"de": c.de, "en": c.en} {
			if got := h.summary(&ui.Request{Language: language}, c.found, 1); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

func TestSearchSummary_TwoNamesAreBothOrNeither(t *testing.T) {
	t.Parallel()
	h := newEnv(t).handler
	for _, c := range []struct {
		found  results
		de, en string
	}{
		{results{Free: 2}, "Beide sind frei.", "Both are available."},
		{results{Premium: 2}, "Beide sind frei, aber nur zum Premiumpreis.", "Both are available, but only at a premium price."},
		{results{NotSold: 2}, "Beide sind frei, aber hier nicht bestellbar.", "Both are available, but can't be ordered here."},
		{results{Unknown: 2}, "Wir konnten gerade nicht feststellen, ob einer der beiden Namen frei ist.", "We couldn't find out right now whether either name is available."},
		{results{}, "Keiner der beiden Namen ist frei.", "Neither name is available."},
		{results{Free: 1}, "1 von 2 ist frei.", "1 of 2 is available."},
		{results{Premium: 1}, "1 von 2 ist frei, aber nur zum Premiumpreis.", "1 of 2 is available, but only at a premium price."},
		{results{Free: 1, Premium: 1}, "Beide sind frei, einer davon nur zum Premiumpreis.", "Both are available, one of them only at a premium price."},
	} {
		for language, want := range map[string]string{"de": c.de, "en": c.en} {
			if got := h.summary(&ui.Request{Language: language}, c.found, 2); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

func TestSearch_FootnoteAboutPricesOnlyBesidePrices(t *testing.T) {
	t.Parallel()
	const note = "Preise inklusive"
	s := newEnv(t)
	for query, priced := range map[string]bool{"mixed.de": true, "mixed.org": false, "mixed.eu": false} { // free, unknown, reserved; no other extension matches
		if body := s.post(t, "/", "q", query, "category", "shopping", "max", "10").Body.String(); strings.Contains(body, note) != priced {
			t.Errorf("%s without script: %s", query, body)
		}
		// The stream reserves the space until the prices are known.
		if body := s.post(t, "/search", "q", query, "category", "shopping", "max", "10").Body.String(); !strings.Contains(body, note) || !strings.Contains(body, `"priced":`+strconv.FormatBool(priced)) {
			t.Errorf("%s with script: %s", query, body)
		}
	}
	if body := s.post(t, "/search", "q", "name", "category", "shopping", "max", "10").Body.String(); strings.Contains(body, note) {
		t.Errorf("filters without match: %s", body)
	}
	if body := s.post(t, "/search", "q", "mixed", "from", "8", "priced", "1").Body.String(); !strings.Contains(body, `"priced":true`) {
		t.Errorf("more rows after some with prices: %s", body)
	}
}

func TestSearchStream_MoreRowsKeepUnknownCount(t *testing.T) {
	t.Parallel()
	body := newEnv(t).post(t, "/search", "q", "name", "from", "8", "free", "1", "premium", "0", "unknown", "7").Body.String()
	if !strings.Contains(body, "9 von 16 sind frei. Bei 7 ließ es sich gerade nicht feststellen.") || !strings.Contains(body, `name=\"unknown\" value=\"7\"`) {
		t.Errorf("the end of the stream: %s", body)
	}
}

func TestSearch_PremiumNameWithPriceCanBeOrdered(t *testing.T) {
	t.Parallel()
	body := newEnvWith(t, func(cfg *Config) { cfg.Basket = true }).post(t, "/", "q", "teuer.de").Body.String()
	for _, want := range []string{"frei, Premium", "327,25\u00a0€", "danach 59,50\u00a0€ pro Jahr", `value="register-0-27500-5000:teuer.de"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the row lacks %q", want)
		}
	}
	if strings.Contains(body, "Preis anfragen") {
		t.Error("the page asks for a price that it shows")
	}
}

func TestSearch_LongerTermsSayRenewalTerm(t *testing.T) {
	t.Parallel()
	if body := newEnv(t).post(t, "/", "q", "name.ai").Body.String(); !strings.Contains(body, "danach 209,20\u00a0€ für 2 Jahre") {
		t.Error("the row of .ai does not say what two years cost")
	}
}

func TestSearch_RowShowsGrossNetRenewalAndTotal(t *testing.T) {
	t.Parallel()
	body := newEnv(t).post(t, "/", "q", "name.co").Body.String()
	first := body[strings.Index(body, `id="hit-0"`):strings.Index(body, `id="hit-1"`)]
	// 17.90 and then 33.90 net, 19 %: gross, net, renewal, five years, and the badge.
	for _, want := range []string{">co<", "21,30\u00a0€", "17,90\u00a0€ netto", "danach 40,34\u00a0€ pro Jahr", "5 Jahre: 182,66\u00a0€", "Verlängerung teurer"} {
		if want == ">co<" {
			want = `<span class="ext">.co</span>`
		}
		if !strings.Contains(first, want) {
			t.Errorf("the row lacks %q: %s", want, first)
		}
	}
	if second := body[strings.Index(body, `id="hit-1"`):strings.Index(body, `id="hit-2"`)]; strings.Contains(second, "teurer") {
		t.Errorf(".de gets cheaper: %s", second)
	}
}

func TestSearch_ParsesNamesURLsAndWords(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for input, first := range map[string]string{
		"Kaffeehaus": "kaffeehaus.de", " kaffeehaus.berlin ": "kaffeehaus.berlin", "https://www.kaffeehaus.shop/karte?x=1": "kaffeehaus.shop",
		"Kaffee Haus": "kaffee-haus.de", "bücher": "bücher.de", "bücher.com": "bücher.com", "name.co.uk": "name.co.uk",
		"xn--bcher-kva.de": "bücher.de", "name.zzz": "name.de",
	} {
		s.budget.left = 1
		body := s.post(t, "/", "q", input).Body.String()
		if at := strings.Index(body, `id="hit-0"`); at < 0 || rowStates(body[at-len(`<li class="hit free" `):])[first] == "" {
			t.Errorf("%q does not find %s first", input, first)
		}
		if len(rowStates(body)) != batchSize {
			t.Errorf("%q has %d rows", input, len(rowStates(body)))
		}
		if strings.Contains(body, "führen wir nicht") != (input == "name.zzz") {
			t.Errorf("%q: wrong note about an extension that is not listed", input)
		}
	}
}

func TestSearch_InvalidInputSpendsNoBudget(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for input, message := range map[string]string{
		"": "geben Sie einen Namen ein", "ein_name": "Unterstriche", "-x": "Bindestrich", "a.b.de": "nur ein Name", "10.0.0.1": "IP-Adresse",
		"x@y.de": "E\u2011Mail-Adresse", strings.Repeat("a", 64): "63 Zeichen", "co.uk": "nur eine Endung", `"><script>`: "nicht erlaubt",
	} {
		for _, path := range []string{"/", "/search"} {
			answer := s.post(t, path, "q", input)
			body := answer.Body.String()
			if answer.Code != http.StatusBadRequest || !strings.Contains(body, message) {
				t.Errorf("%s %q: %d %.300s", path, input, answer.Code, body)
			}
			if strings.Contains(body, "<script>\"") || strings.Contains(body, `value=""><script>`) {
				t.Errorf("%q is not escaped", input)
			}
		}
	}
	if s.budget.left != 20 || s.lookups.asked.Load() != 0 {
		t.Errorf("%d left, %d asked", s.budget.left, s.lookups.asked.Load())
	}
}

func TestSearch_PagesThroughAllExtensions(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	seen := make(map[string]bool)
	next := regexp.MustCompile(`name="from" value="(\d+)"`)
	for from := "0"; ; {
		s.budget.left = 1
		body := s.post(t, "/", "q", "name.berlin", "from", from).Body.String()
		for name := range rowStates(body) {
			if seen[name] {
				t.Fatalf("%s came twice", name)
			}
			seen[name] = true
		}
		match := next.FindStringSubmatch(body)
		if match == nil {
			break
		}
		from = match[1]
	}
	if all := len(newEnv(t).listedTLDs(t)); len(seen) != all {
		t.Errorf("%d of %d extensions came", len(seen), all)
	}
	for _, odd := range []string{"100000", "-1", "x"} {
		if answer := s.post(t, "/", "q", "name", "from", odd); answer.Code >= http.StatusInternalServerError {
			t.Errorf("from %s: %d", odd, answer.Code)
		}
		s.budget.left = 1
	}
}

func TestSearch_VariantsKeepExtension(t *testing.T) {
	t.Parallel()
	body := newEnv(t).post(t, "/", "q", "belegt.de", "kind", variants).Body.String()
	got := rowStates(body)
	if len(got) != batchSize || got["meinbelegt.de"] != "free" || got["belegt.de"] != "" {
		t.Errorf("variants: %v", got)
	}
	for name := range got {
		if !strings.HasSuffix(name, ".de") {
			t.Errorf("%s has another extension", name)
		}
	}
}

func TestSearch_BasketButtonsOnlyWithBasket(t *testing.T) {
	t.Parallel()
	if body := newEnv(t).post(t, "/", "q", "mixed").Body.String(); strings.Contains(body, "Warenkorb") || strings.Contains(body, "Umziehen") {
		t.Error("a shop without sales has a basket")
	}
	s := newEnvWith(t, func(cfg *Config) { cfg.Basket = true })
	body := s.post(t, "/", "q", "mixed").Body.String()
	if !strings.Contains(body, "nur, wenn sie Ihnen gehört") {
		t.Error("a transfer looks like a purchase of a taken name")
	}
	button := func(kind, domain string) bool {
		return strings.Contains(body, `name="item" value="`+kind+":"+domain+`"`)
	}
	for _, test := range []struct {
		kind, domain string
		want         bool
	}{
		{"register", "mixed.de", true},
		{"transfer", "mixed.com", true},
		{"register", "mixed.com", false},
		{"transfer", "mixed.de", false},
		{"register", "mixed.eu", false},
		{"register", "mixed.net", false},
		{"register", "mixed.org", false},
		{"register", "mixed.io", false},
	} {
		if button(test.kind, test.domain) != test.want {
			t.Errorf("%s of %s can be ordered: %t", test.kind, test.domain, !test.want)
		}
	}
}

func TestSearch_OverBudgetShowsRetryAfter(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.budget.left, s.whois.left = 0, 0
	for path, fields := range map[string][]string{"/": {"q", "name"}, "/search": {"q", "name"}, "/whois": {"domain", "name.de"}} {
		answer := s.post(t, path, fields...)
		if answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") != "5" ||
			!strings.Contains(answer.Body.String(), "in 5 Sekunden") {
			t.Errorf("%s: %d %q", path, answer.Code, answer.Header().Get("Retry-After"))
		}
	}
	if s.lookups.asked.Load() != 0 {
		t.Error("a lookup was made")
	}
}

// event is one event of a stream.
type event struct {
	name string
	data map[string]any
}

func readEvent(t *testing.T, lines *bufio.Scanner) event {
	t.Helper()
	var e event
	for lines.Scan() && lines.Text() != "" {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			e.name = value
		case "data":
			if err := json.Unmarshal([]byte(value), &e.data); err != nil {
				t.Fatal(err)
			}
		}
	}
	return e
}

func TestSearchStream_SendsRowsAsTheyResolve(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.lookups.hold = make(map[string]chan struct{})
	for _, tld := range []string{"de", "com", "eu", "net", "org", "shop", "io", "dev"} {
		s.lookups.hold["name."+tld] = make(chan struct{})
	}
	server := httptest.NewServer(s.mux)
	defer server.Close()
	r := form(t, server.URL+"/search", "q", "name")
	r.RequestURI = ""
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.Header.Get("Content-Type") != "text/event-stream" || answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers: %v", answer.Header)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	reserved := readEvent(t, lines) // before any answer
	html, _ := reserved.data["html"].(string)
	if reserved.name != "rows" || len(rowStates(html)) != batchSize || strings.Count(html, "hit waiting") != batchSize {
		t.Fatalf("the first event is %s with %s", reserved.name, html)
	}
	// The last one answers first.
	for row, tld := range map[string]string{"hit-7": "dev", "hit-2": "eu"} {
		close(s.lookups.hold["name."+tld])
		came := readEvent(t, lines)
		if html, _ := came.data["html"].(string); came.name != "row" || came.data["id"] != row || rowStates(html)["name."+tld] != "free" {
			t.Fatalf("%s: %v", row, came)
		}
	}
	for _, tld := range []string{"de", "com", "net", "org", "shop", "io"} {
		close(s.lookups.hold["name."+tld])
	}
	for range 6 {
		if came := readEvent(t, lines); came.name != "row" {
			t.Fatalf("got %v", came)
		}
	}
	end := readEvent(t, lines)
	if html, _ := end.data["html"].(string); end.name != "end" || end.data["text"] != "Alle 8 sind frei." || !strings.Contains(html, `value="8"`) {
		t.Errorf("the end: %v", end)
	}
}

func TestWhois_EscapesMarkupAndMapsStatus(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	page, part := s.post(t, "/whois", "domain", "belegt.de"), s.post(t, "/whois", "domain", "belegt.de", "part", "1")
	for _, answer := range []*httptest.ResponseRecorder{page, part} {
		body := answer.Body.String()
		if answer.Code != http.StatusOK || !strings.Contains(body, "Nordlicht &lt;b&gt;") || !strings.Contains(body, "26.04.2015") || !strings.Contains(body, "clientHold") {
			t.Errorf("%d %s", answer.Code, body)
		}
	}
	if strings.Contains(part.Body.String(), "<html") || !strings.Contains(page.Body.String(), "<html") {
		t.Error("a fragment is a complete page, or the reverse")
	}
	for domain, want := range map[string]int{"frei.de": 200, "stumm.de": 503, "x.zzz": 400, "": 400, "a_b.de": 400} {
		if answer := s.post(t, "/whois", "domain", domain, "part", "1"); answer.Code != want {
			t.Errorf("%s: %d, want %d", domain, answer.Code, want)
		}
	}
}

func TestTexts_EveryNameErrorHasText(t *testing.T) {
	t.Parallel()
	for _, code := range []registrar.Code{
		registrar.NameEmpty, registrar.NameIsExtension, registrar.NameSubdomain, registrar.NameEmptyLabel, registrar.NameLabelTooLong,
		registrar.NameTooLong, registrar.NameHyphenEdge, registrar.NameHyphens34, registrar.NamePunycode, registrar.NameUnderscore,
		registrar.NameAddress, registrar.NamePort, registrar.NameEmail, registrar.NameControl, registrar.NameCharacter,
		registrar.ExtensionNotCarried,
	} {
		if texts[ui.ProblemKey(code)][0] == "" {
			t.Errorf("%s has no text", code)
		}
	}
}

func (s *env) listedTLDs(t *testing.T) []string {
	t.Helper()
	s.budget.left = 1
	var all []string
	for line := range strings.Lines(s.get("/prices.csv").Body.String()) {
		if tld, _, _ := strings.Cut(line, ","); strings.HasPrefix(tld, ".") {
			all = append(all, tld)
		}
	}
	slices.Sort(all)
	return all
}

func TestHome_HasTranslationsAndPreview(t *testing.T) {
	t.Parallel()
	const base = "https://domains.example"
	s := newEnv(t)
	for path, wants := range map[string][]string{
		"/":       {`rel="canonical" href="` + base + `/"`, `hreflang="en" href="` + base + `/en"`, `og:image" content="` + base + `/portal/static/preview.png`},
		"/en":     {`<html lang="en"`, `rel="canonical" href="` + base + `/en"`, `hreflang="de" href="` + base + `/"`},
		"/prices": {`rel="canonical" href="` + base + `/prices"`, `hreflang="de" href="` + base + `/preise"`},
		"/preise": {`hreflang="en" href="` + base + `/prices"`, `og:locale" content="de_DE"`},
	} {
		body := s.get(path).Body.String()
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
	}
}
