package site

import (
	"encoding/csv"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

var extension = regexp.MustCompile(`<tr><td><strong class="ext">([^<]+)`)

// listedExtensions returns the extensions of a price page in order.
func listedExtensions(body string) []string {
	var list []string
	for _, match := range extension.FindAllStringSubmatch(body, -1) {
		list = append(list, match[1])
	}
	return list
}

func TestPriceList_ListsEveryExtensionOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	var all []string
	for _, number := range []string{"1", "2", "3", "4", "5"} {
		answer := s.get("/preise?sort=name&page=" + number)
		if answer.Code != http.StatusOK || answer.Body.Len() > 100_000 {
			t.Errorf("page %s: %d with %d bytes", number, answer.Code, answer.Body.Len())
		}
		all = append(all, listedExtensions(answer.Body.String())...)
	}
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != shipped.Len() {
		t.Errorf("%d of %d extensions are shown", len(all), shipped.Len())
	}
}

func TestPriceList_QueryFiltersAndSorts(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for target, want := range map[string][]string{
		"/preise?q=.shop":              {".shop", ".shopping"},
		"/preise?q=SHOP&sort=long_run": {".shopping", ".shop"},
		"/preise?q=рус":                {".рус"},
		"/preise?q=p1acf":              {".рус"},
		"/prices?q=nothinglikethis":    nil,
		"/preise?category=nonsense&sort=nonsense&page=99&q=koeln": {".koeln"},
	} {
		if got := listedExtensions(s.get(target).Body.String()); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", target, got, want)
		}
	}
	if got := listedExtensions(s.get("/preise?q=.de&sort=name").Body.String()); got[0] != ".de" || slices.ContainsFunc(got, func(ext string) bool { return !strings.HasPrefix(ext, ".de") }) {
		t.Errorf(".de lists %v", got)
	}
	if got := listedExtensions(s.get("/preise").Body.String()); !slices.Equal(got[:10], append(lookup.DefaultExtensions(), ".ai", ".app")) || len(got) != pricesPerPage {
		t.Errorf("the default extensions do not come first, then the popular ones: %v", got)
	}
	if got := listedExtensions(s.get("/preise?category=place").Body.String()); !slices.Contains(got, ".berlin") || slices.Contains(got, ".com") {
		t.Errorf("places: %v", got)
	}
	if body := s.get("/preise?category=other&sort=first").Body.String(); !strings.Contains(body, `href="/preise?category=other&amp;page=2&amp;sort=first"`) ||
		!strings.Contains(body, `href="/preise.csv?category=other&amp;sort=first"`) {
		t.Error("the links lose the selection")
	}
}

func TestLanguage_PathDecidesUnlessChosen(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for path, language := range map[string]string{"/preise": "de", "/prices": "en", "/assistent": "de", "/assistant": "en", "/": "de"} {
		if body := s.get(path).Body.String(); !strings.Contains(body, `<html lang="`+language+`">`) {
			t.Errorf("%s is not in language %s", path, language)
		}
	}
}

func TestPricesCSV_HasNetAndGross(t *testing.T) {
	t.Parallel()
	answer := newEnv(t).get("/prices.csv?q=ai&category=popular")
	lines, err := csv.NewReader(answer.Body).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	// Two years at 87.90, then terms of two years.
	want := []string{".ai", "2", "175.80", "209.20", "87.90", "104.60", "527.40", "627.60", "87.90", "104.60", "19", "", "290.90", "346.17", "yes", "", "6", "35", "30"}
	if len(lines) != 2 || !slices.Equal(lines[1], want) {
		t.Errorf("got %v", lines)
	}
	if german := newEnv(t).get("/preise.csv?q=ai&category=popular").Body.String(); !strings.Contains(german, "\r\n.ai;2;175,80;209,20;87,90;104,60;") {
		t.Errorf("German spreadsheets need semicolons and decimal commas: %s", german)
	}
	if got := answer.Header().Get("Content-Type"); got != "text/csv; charset=utf-8" {
		t.Errorf("it is %s", got)
	}
}

func TestOfferFor_TotalCoversWholeTerms(t *testing.T) {
	t.Parallel()
	h := &Handler{Config: Config{RateBasisPoints: func(time.Time) int { return 0 }, LongestTerm: registrar.Extension.Term}}
	for term, years := range map[int]int{0: 5, 1: 5, 2: 6, 3: 6, 5: 5, 10: 10} {
		if got := h.offerFor(registrar.Extension{Register: 1000, Renew: 2000, MinYears: term}, time.Time{}); got.TotalYears != years {
			t.Errorf("terms of %d years cover %d years, want %d", term, got.TotalYears, years)
		}
	}
	for term, want := range map[int]registrar.Cents{0: 1000 + 4*2000, 1: 1000 + 4*2000, 2: 2*1000 + 4*2000, 3: 3*1000 + 3*2000, 5: 5 * 1000, 10: 10 * 1000} {
		got := h.offerFor(registrar.Extension{Register: 1000, Renew: 2000, MinYears: term}, time.Time{})
		if got.Total.Net != want || !got.RenewalCostsMore || got.Total.Gross != want {
			t.Errorf("terms of %d years: %v, want %v", term, got.Total, want)
		}
	}
}

// The basket offers every term from the shortest to the longest, so five years of .ai are five.
func TestOfferFor_FiveYearsAreThoseOfTheBasket(t *testing.T) {
	t.Parallel()
	for longest, want := range map[int]struct {
		years int
		net   registrar.Cents
	}{10: {5, 2*1000 + 3*2000}, 5: {5, 2*1000 + 3*2000}, 4: {5, 2*1000 + 3*2000}, 3: {5, 2*1000 + 3*2000}, 2: {6, 2*1000 + 4*2000}} {
		h := &Handler{Config: Config{RateBasisPoints: func(time.Time) int { return 0 }, LongestTerm: func(registrar.Extension) int { return longest }}}
		got := h.offerFor(registrar.Extension{Register: 1000, Renew: 2000, MinYears: 2, MaxYears: 10}, time.Time{})
		if got.TotalYears != want.years || got.Total.Net != want.net {
			t.Errorf("terms of 2 to %d years: %d years for %v, want %d for %v", longest, got.TotalYears, got.Total.Net, want.years, want.net)
		}
	}
}

// 12.90 net and 19 %: a year is 15.35, five years in one order 76.76.
func TestOfferFor_TotalIsWhatOrdersCharge(t *testing.T) {
	t.Parallel()
	for longest, want := range map[int]registrar.Cents{10: 76_76, 5: 76_76, 2: 2*30_70 + 15_35, 1: 5 * 15_35} {
		h := &Handler{Config: Config{
			RateBasisPoints: func(time.Time) int { return 1900 }, LongestTerm: func(registrar.Extension) int { return longest },
		}}
		if got := h.offerFor(registrar.Extension{Register: 12_90, Renew: 12_90}, time.Time{}).Total; got != (price{Gross: want, Net: 64_50}) {
			t.Errorf("at most %d years per order: %v, want %v", longest, got, want)
		}
	}
}

func TestPriceList_NewListOrVATRateAppliesAtOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.rate.Store(2150)
	if body := s.get("/preise?q=de").Body.String(); !strings.Contains(body, "8,38\u00a0€") || !strings.Contains(body, "21,5 % USt.") {
		t.Error("the new rate is not in the prices")
	}
	other, err := catalog.Parse(strings.NewReader("tld,register,renew,transfer,restore,min_years,max_years,popular,requires,verify,rdap,whois\n" +
		".de,1.00,2.00,0.00,1.00,1,10,yes,a_new_rule,,,whois.denic.de\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.live.Replace(other)
	body := s.get("/preise").Body.String()
	for _, want := range []string{"1 von 1 Endungen", "1,22\u00a0€", "2,43\u00a0€", "kostenlos", "Verlängerung teurer", "Die Registry stellt Bedingungen"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if got := rowStates(s.post(t, "/", "q", "name").Body.String()); len(got) != 1 {
		t.Errorf("a search is sent to %v", got)
	}
}

func TestTexts_EveryRuleAndCategoryHasText(t *testing.T) {
	t.Parallel()
	shipped, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range shipped.All() {
		if ext.Requires != "" && texts["rule."+ext.Requires][0] == "" {
			t.Errorf("%s requires %s, which has no text", ext.TLD, ext.Requires)
		}
	}
	for _, category := range catalog.Categories() {
		if texts["category."+string(category)][0] == "" {
			t.Errorf("%s has no text", category)
		}
	}
}

// The settings on the page are those of docs/agents.md.
func TestAssistant_SettingsMatchAgentsGuide(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	body := newEnv(t).get("/assistent").Body.String()
	for _, c := range mcpClients {
		text := strings.ReplaceAll(c.Text, "{mcp}", "https://domains.example/api/mcp")
		if !strings.Contains(string(manual), text) || !strings.Contains(string(manual), "**"+c.Name+"**") {
			t.Errorf("the guide does not contain %s: %s", c.Name, text)
		}
		if !strings.Contains(body, ">"+c.Name+"</h2>") {
			t.Errorf("%s is not on the page", c.Name)
		}
	}
	if strings.Contains(body, "nur Programme auf diesem Rechner") {
		t.Error("a public base URL is considered local")
	}
}

func TestIsLocal_LoopbackURLs(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"http://127.0.0.1:8080/api/mcp": true, "http://localhost/api/mcp": true, "http://[::1]:1/api/mcp": true,
		"https://domains.example/api/mcp": false, "http://192.0.2.1/": false, "://": false,
	} {
		if isLocal(address) != want {
			t.Errorf("%s: %t", address, !want)
		}
	}
}

// decideUnsold makes two extensions unavailable for registration and a third for
// transfers.
func decideUnsold(ext registrar.Extension) registrar.Sale {
	switch ext.TLD {
	case ".it":
		return registrar.Sale{Decided: true, NoRegistration: "not_eligible", NoTransfer: "not_eligible"}
	case ".de":
		return registrar.Sale{Decided: true, NoRegistration: "no_registry_account", NoTransfer: "no_registry_account"}
	case ".co.uk":
		return registrar.Sale{Decided: true, NoTransfer: "transfer_not_offered"}
	default:
		return registrar.Sale{Decided: true}
	}
}

func TestPriceList_UnsoldExtensionIsLookupOnly(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.live.SetSaleDecider(decideUnsold)
	for target, want := range map[string][2][]string{
		"/preise?q=.it&sort=name":  {{"nur Abfrage</span>", "Den Nachweis für die Registry können wir nicht übermitteln"}, nil},
		"/prices?q=.it&sort=name":  {{"lookup only</span>", "we can&#39;t submit the proof that the registry requires"}, nil},
		"/preise?q=co.uk":          {{"nicht bei uns"}, {"nur Abfrage</span>"}},
		"/preise?q=.ai&sort=first": {{"Mindestlaufzeit 2 Jahre: zuerst 209,20\u00a0€, danach 209,20\u00a0€ für je 2 Jahre"}, {"nur Abfrage</span>"}},
		"/prices?q=.ai&sort=first": {{"Minimum term 2 years: €209.20 up front, then €209.20 for every 2 years"}, nil},
	} {
		body := s.get(target).Body.String()
		for _, text := range want[0] {
			if !strings.Contains(body, text) {
				t.Errorf("%s lacks %q", target, text)
			}
		}
		for _, text := range want[1] {
			if strings.Contains(body, text) {
				t.Errorf("%s contains %q", target, text)
			}
		}
	}
	lines, err := csv.NewReader(s.get("/prices.csv?q=.it&sort=name").Body).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	row := lines[slices.IndexFunc(lines, func(line []string) bool { return line[0] == ".it" })]
	column := slices.Index(lines[0], "orderable_reason")
	if got := row[column-1 : column+1]; !slices.Equal(got, []string{"no", "not_eligible"}) {
		t.Errorf("the file has %v", row)
	}
}

func TestIdentityCheck_IsAnnouncedWithTheExtension(t *testing.T) {
	t.Parallel()
	const announced, english = "Mit Identitätsnachweis vor der Zahlung", "Identity check before payment"
	s := newEnvWith(t, func(cfg *Config) { cfg.Basket = true })
	s.live.SetSaleDecider(func(registrar.Extension) registrar.Sale { return registrar.Sale{Decided: true} })
	for target, want := range map[string]string{"/preise?q=.abogado": announced, "/prices?q=.abogado": english} {
		if body := s.get(target).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q", target, want)
		}
	}
	if body := s.get("/preise?q=.ai").Body.String(); strings.Contains(body, announced) {
		t.Error("an extension without such a check announces one")
	}
	if row := s.post(t, "/", "q", "mixed.abogado").Body.String(); !strings.Contains(row[strings.Index(row, `id="hit-0"`):strings.Index(row, `id="hit-1"`)], announced) {
		t.Errorf("the search row lacks it: %s", row)
	}
	s.live.SetSaleDecider(func(registrar.Extension) registrar.Sale {
		return registrar.Sale{Decided: true, NoRegistration: "not_eligible"}
	})
	if body := s.get("/preise?q=.abogado").Body.String(); strings.Contains(body, announced) {
		t.Error("an extension that can't be ordered announces a check")
	}
}

func TestSearch_UnsoldNameHasNoBasketButton(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(cfg *Config) { cfg.Basket = true })
	s.live.SetSaleDecider(decideUnsold)
	body := s.post(t, "/", "q", "mixed").Body.String()
	first := body[strings.Index(body, `id="hit-0"`):strings.Index(body, `id="hit-1"`)]
	if !strings.Contains(first, "nur Abfrage") || !strings.Contains(first, "keinen Zugang zur Registry") || strings.Contains(first, `value="register:`) {
		t.Errorf("a free name that can't be ordered: %s", first)
	}
	if strings.Contains(first, "5 Jahre:") || !strings.Contains(body, "3 von 8 sind frei und hier bestellbar. 1 davon nur zum Premiumpreis. 1 von 8 ist frei, aber hier nicht bestellbar.") {
		t.Errorf("a name that can't be ordered has a five-year price or counts as one that can: %s", body)
	}
	if second := body[strings.Index(body, `id="hit-1"`):strings.Index(body, `id="hit-2"`)]; strings.Contains(second, "nur Abfrage") || !strings.Contains(second, `value="transfer:`) {
		t.Errorf("a name that can: %s", second)
	}
	if start := s.get("/").Body.String(); strings.Contains(start, "<strong>.de</strong>") {
		t.Error("the start page advertises an extension that is not for sale")
	}
}

func TestPrices_ExactExtensionComesFirst(t *testing.T) {
	t.Parallel()
	body := newEnv(t).get("/preise?q=.de&sort=price").Body.String()
	first, second := strings.Index(body, `class="ext">.de<`), strings.Index(body, `class="ext">.`)
	if first < 0 || first != second {
		t.Errorf(".de is at %d, the first extension at %d", first, second)
	}
}

// A change of the VAT rate is in force by business time, as for orders, not by that of sessions.
func TestPages_VATRateIsThatOfTheBusinessTime(t *testing.T) {
	t.Parallel()
	moved := time.Date(2031, 1, 1, 12, 0, 0, 0, time.UTC)
	var asked atomic.Int32
	s := newEnvWith(t, func(cfg *Config) {
		cfg.Now = func() time.Time { return moved }
		cfg.RateBasisPoints = func(at time.Time) int {
			asked.Add(1)
			if !at.Equal(moved) {
				t.Errorf("asked for the rate at %s", at)
			}
			return 1900
		}
	})
	for name, visit := range map[string]func(){
		"/": func() { s.get("/") }, "/preise": func() { s.get("/preise") }, "the search": func() { s.post(t, "/", "q", "teuer.de") },
	} {
		asked.Store(0)
		if visit(); asked.Load() == 0 {
			t.Errorf("%s asked for no rate", name)
		}
	}
}
