package legal

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/registrar/retention"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
	"github.com/dotkontor/dotkontor/test/testkit/textcheck"
)

const base = "https://domains.example"

// sessions has one, of erika.
type sessions struct{}

func (sessions) Visitor(_ context.Context, cookie string) (account.Visitor, error) {
	if cookie == "erika" {
		return account.Visitor{
			Customer: account.Customer{ID: "cus_1", Email: "erika@example.org", Language: ui.German}, Session: account.Session{ID: "ses_1", CustomerID: "cus_1"},
		}, nil
	}
	return account.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
}

// memStore stores notices and their mails in memory.
type memStore struct {
	withdrawal.Store
	notices   []withdrawal.Notice
	mails     []registrar.Mail
	inquiries inquiryStore
}

func (s *memStore) AddWithdrawalNotice(_ context.Context, d withdrawal.Notice, mails []registrar.Mail, _ time.Time) error {
	for _, other := range s.notices {
		if other.Digest == d.Digest {
			return &registrar.Error{Kind: registrar.KindConflict, Code: withdrawal.AlreadySent, Detail: other.ID}
		}
	}
	s.notices, s.mails = append(s.notices, d), append(s.mails, mails...)
	return nil
}

func (s *memStore) GetWithdrawalNotice(_ context.Context, id string) (withdrawal.Notice, bool, error) {
	for _, d := range s.notices {
		if d.ID == id {
			return d, true, nil
		}
	}
	return withdrawal.Notice{}, false, nil
}

func (s *memStore) ListNamedDomains(context.Context, []string, int) (map[string][]withdrawal.NamedDomain, error) {
	return nil, nil
}

func (s *memStore) ListRelatedOrders(context.Context, []string, int) (map[string][]withdrawal.RelatedOrder, error) {
	return nil, nil
}

var testOperator = OperatorInfo{
	Company: "Kontor GmbH", Street: "Kai 1", PostalCode: "20457", City: "Hamburg", Email: "post@kontor.example", VATID: "DE123456789",
}

func newHandler(t *testing.T, store *memStore, operator OperatorInfo, tries func(string) time.Duration) http.Handler {
	t.Helper()
	frame, err := ui.New(ui.Config{
		BaseURL: base, Sessions: sessions{}, Address: func(*http.Request) netip.Addr { return netip.MustParseAddr("203.0.113.7") }, Legal: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	seal, err := registrar.NewSeal(registrar.SealKey{1})
	if err != nil {
		t.Fatal(err)
	}
	declarations, err := withdrawal.New(withdrawal.Config{
		Store: store, Seal: seal, OperatorEmail: "post@kontor.example", RateLimit: tries, Now: func() time.Time { return time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	inquiries, err := inquiry.New(inquiry.Config{
		Store: &store.inquiries, OperatorEmail: "post@kontor.example", RateLimit: tries, Now: func() time.Time { return time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Config{
		Frame: frame, Notices: declarations, Inquiries: inquiries, Operator: operator,
		Registrant: func(context.Context, registrar.Actor) (account.Registrant, bool, error) {
			return account.Registrant{Name: "Erika Mustermann"}, true, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, r := range h.Routes() {
		mux.HandleFunc(r.Method+" "+r.Path, r.Handler)
	}
	return mux
}

// visit follows a redirect, like a browser.
func visit(t *testing.T, pages http.Handler, path string, fields url.Values) (int, string) {
	t.Helper()
	w := send(t, pages, path, fields)
	if w.Code == http.StatusSeeOther {
		w = send(t, pages, w.Header().Get("Location"), nil)
	}
	return w.Code, w.Body.String()
}

func send(t *testing.T, pages http.Handler, path string, fields url.Values) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, base+path, nil)
	if fields != nil {
		r = httptest.NewRequest(http.MethodPost, base+path, strings.NewReader(fields.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, r)
	return w
}

func TestForms_HaveNameAndAddressOfSignedInCustomer(t *testing.T) {
	t.Parallel()
	pages := newHandler(t, &memStore{}, testOperator, nil)
	for _, path := range []string{"/widerruf", "/kuendigung", "/kontakt"} {
		for _, cookie := range []string{"", "erika"} {
			r, w := httptest.NewRequest(http.MethodGet, base+path, nil), httptest.NewRecorder()
			r.AddCookie(&http.Cookie{Name: "__Host-dotkontor", Value: cookie})
			pages.ServeHTTP(w, r)
			for _, value := range []string{`value="Erika Mustermann"`, `value="erika@example.org"`} {
				if got := strings.Contains(w.Body.String(), value); got != (cookie != "") {
					t.Errorf("%s of %q has %s: %t", path, cookie, value, got)
				}
			}
		}
	}
}

func TestPages_NameOperatorAndLinkEachOther(t *testing.T) {
	t.Parallel()
	pages := newHandler(t, &memStore{}, testOperator, nil)
	for path, says := range map[string]string{
		"/impressum": "20457 Hamburg", "/imprint": "VAT ID: DE123456789", "/agb": "Kontor GmbH, Kai 1", "/terms": "Kontor GmbH, Kai 1",
		"/datenschutz": "post@kontor.example", "/privacy": "post@kontor.example", "/widerruf": "Widerruf bestätigen",
		"/withdrawal": "Confirm withdrawal", "/kuendigung": "Jetzt kündigen", "/cancellation": "Cancel now",
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
				t.Errorf("%s does not link to %s", path, link)
			}
		}
	}
	// Missing details are left out, and so is a heading without content.
	_, body := visit(t, pages, "/impressum", nil)
	for _, never := range []string{"Telefon", "Vertreten durch", "Registereintrag", "Verantwortlich"} {
		if strings.Contains(body, never) {
			t.Errorf("the imprint contains %s, which is not configured", never)
		}
	}
	_, body = visit(t, newHandler(t, &memStore{}, OperatorInfo{}, nil), "/impressum", nil)
	if !strings.Contains(body, "noch nicht veröffentlicht") || strings.Contains(body, "Umsatzsteuer-ID") {
		t.Errorf("without a company: %s", body)
	}
}

func TestNoticeForms_WorkWithoutSignIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path   string
		fields url.Values
		says   []string
		mail   registrar.MailKind
	}{
		{
			"/widerruf",
			url.Values{"name": {"Erika Muster"}, "email": {"erika@example.de"}, "contract": {"ord_1"}},
			[]string{"Ihr Widerruf ist eingegangen", "15.11.2026, 13:00 MEZ", "Erika Muster", "ord_1", "erika@example.de", "dcl_"},
			registrar.MailWithdrawal,
		},
		{
			"/kuendigung",
			url.Values{
				"name": {"Erika"}, "email": {"erika@example.de"}, "contract": {"kaffee.de"}, "ground": {"extraordinary"}, "reason": {"Umzug"}, "end": {"2026-12-31"},
			},
			[]string{"Ihre Kündigung ist eingegangen", "kaffee.de", "aus wichtigem Grund", "Umzug", "mit Eingang", "beginnen wir dafür keine automatische Abbuchung"},
			registrar.MailTermination,
		},
		{
			"/cancellation",
			url.Values{"name": {"Erika"}, "email": {"erika@example.de"}, "contract": {"kaffee.de"}, "ground": {"ordinary"}},
			[]string{"We received your cancellation", "the earliest possible date", "we start no automatic charge"},
			registrar.MailTermination,
		},
	} {
		store := &memStore{}
		status, body := visit(t, newHandler(t, store, testOperator, nil), c.path, c.fields)
		for _, word := range c.says {
			if status != http.StatusOK || !strings.Contains(body, word) {
				t.Errorf("%s: %d lacks %q: %s", c.path, status, word, body)
			}
		}
		if len(store.notices) != 1 || len(store.mails) != 2 || store.mails[0].Kind != c.mail || store.mails[0].To != "erika@example.de" ||
			store.mails[1].Kind != registrar.MailNoticeReceived || store.mails[1].To != "post@kontor.example" ||
			store.mails[0].Data["ground"] == "extraordinary" && store.mails[0].Data["end"]+store.notices[0].End != "" || // for cause, no day is used
			store.mails[0].Data["contract"] != c.fields.Get("contract") ||
			store.mails[0].Data[registrar.NoticeDomain] != store.notices[0].ID || store.mails[1].Data[registrar.NoticeDomain] != "" { // the receipt is kept for the notice
			t.Errorf("%s: %+v %+v", c.path, store.notices, store.mails)
		}
	}
}

func TestNoticeForms_RepetitionIsOneNoticeAndReceiptHasAddress(t *testing.T) {
	t.Parallel()
	for path, fields := range map[string]url.Values{
		"/widerruf":     {"name": {"Erika Muster"}, "email": {"erika@example.de"}, "contract": {"kaffee.de"}},
		"/cancellation": {"name": {"Erika Muster"}, "email": {"erika@example.de"}, "contract": {"kaffee.de"}, "ground": {"ordinary"}},
	} {
		store := &memStore{}
		pages := newHandler(t, store, testOperator, nil)
		first, again := send(t, pages, path, fields), send(t, pages, path, fields)
		if first.Code != http.StatusSeeOther || again.Code != http.StatusSeeOther || len(store.notices) != 1 || len(store.mails) != 2 {
			t.Fatalf("%s: %d, %d, %d notices, %d mails", path, first.Code, again.Code, len(store.notices), len(store.mails))
		}
		address := first.Header().Get("Location")
		for _, personal := range []string{"rika", "kaffee", store.notices[0].ID} {
			if strings.Contains(address, personal) {
				t.Errorf("%s is in the address %s", personal, address)
			}
		}
		for range 2 { // the second is a reload
			w := send(t, pages, address, nil)
			if body := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(body, store.notices[0].ID) || !strings.Contains(body, "Erika Muster") ||
				!strings.Contains(body, `content="noindex`) || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d %v %s", address, w.Code, w.Header(), body)
			}
		}
		for _, forged := range []string{"x", store.notices[0].ID, strings.Repeat("x", 400), "s1.0.AAAA"} {
			if w := send(t, pages, path+"?received="+forged, nil); w.Code != http.StatusGone || strings.Contains(w.Body.String(), "Erika") || !strings.Contains(w.Body.String(), "<form") {
				t.Errorf("%s: %d %s", forged, w.Code, w.Body)
			}
		}
		fields.Set("name", "Eva")
		if send(t, pages, path, fields); len(store.notices) != 2 {
			t.Errorf("%s: another notice was not stored", path)
		}
	}
}

func TestCancellationForm_SaysThatRenewalIsSuspended(t *testing.T) {
	t.Parallel()
	pages := newHandler(t, &memStore{}, testOperator, nil)
	for path, want := range map[string]string{
		"/kuendigung": "Die automatische Verlängerung brauchen Sie nicht auszuschalten", "/cancellation": "You don&#39;t need to turn off automatic renewal",
	} {
		if status, body := visit(t, pages, path, nil); status != http.StatusOK || !strings.Contains(strings.ReplaceAll(body, "'", "&#39;"), want) {
			t.Errorf("%s: %d lacks %q", path, status, want)
		}
	}
}

func TestNoticeForms_ProblemsShownAtFields(t *testing.T) {
	t.Parallel()
	store := &memStore{}
	pages := newHandler(t, store, testOperator, nil)
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
		{"/kuendigung", url.Values{"name": {"E"}, "contract": {"x"}, "email": {"e@example.de"}, "ground": {"ordinary"}, "end": {"2020-01-01"}}, []string{"in der Vergangenheit"}},
		{"/kuendigung", url.Values{"name": {"E"}, "contract": {"x"}, "email": {"e@example.de"}, "ground": {"ordinary"}, "end": {"bald"}}, []string{"einen Tag an"}},
		{"/kuendigung", url.Values{"name": {"E"}, "contract": {"x"}, "email": {"e@example.de"}}, []string{`id="ground-problem"`}},
	} {
		status, body := visit(t, pages, c.path, c.fields)
		for _, word := range c.says {
			if status != http.StatusUnprocessableEntity || !strings.Contains(body, word) {
				t.Errorf("%v: %d lacks %q: %s", c.fields, status, word, body)
			}
		}
	}
	if store.notices != nil {
		t.Errorf("stored %v", store.notices)
	}
}

// The confirmation goes to an address that anyone could have entered.
func TestNoticeForms_LineBreaksInFieldsAreRefused(t *testing.T) {
	t.Parallel()
	for _, forged := range []string{"E\n\nIhr Konto ist gesperrt.", "E\r\nBcc: alle@example.de", "E\u2028Zahlen Sie hier", "E\u0085x", "E\u202Etxt"} {
		for _, field := range []string{"name", "contract", "reason"} {
			store := &memStore{}
			pages := newHandler(t, store, testOperator, nil)
			fields := url.Values{"name": {"E"}, "contract": {"x"}, "email": {"e@example.de"}, "ground": {"extraordinary"}, "reason": {"Umzug"}}
			fields.Set(field, forged)
			status, body := visit(t, pages, "/kuendigung", fields)
			if status != http.StatusUnprocessableEntity || !strings.Contains(body, `id="`+field+`-problem"`) || store.notices != nil {
				t.Errorf("%s %q: %d, stored %v", field, forged, status, store.notices)
			}
		}
	}
}

func TestNoticeForms_RateLimitedByNetworkAndRecipient(t *testing.T) {
	t.Parallel()
	fields := url.Values{"name": {"E"}, "contract": {"x"}, "email": {"E@example.de"}}
	for _, full := range []string{"network 203.0.113.7", "mail e@example.de"} {
		store := &memStore{}
		pages := newHandler(t, store, testOperator, func(key string) time.Duration {
			if key == full {
				return time.Minute
			}
			return 0
		})
		status, body := visit(t, pages, "/widerruf", fields)
		if status != http.StatusTooManyRequests || !strings.Contains(body, "post@kontor.example") || store.notices != nil {
			t.Errorf("%s: %d, stored %v", full, status, store.notices)
		}
	}
	nameless := testOperator
	nameless.Email = ""
	pages := newHandler(t, &memStore{}, nameless, func(string) time.Duration { return time.Minute })
	if status, body := visit(t, pages, "/widerruf", fields); status != http.StatusTooManyRequests || !strings.Contains(body, "an die Anschrift im Impressum") {
		t.Errorf("without a mail address no other way is named: %d", status)
	}
}

func TestTexts_OperatorFileReplacesDefault(t *testing.T) {
	t.Parallel()
	texts, err := loadTexts(fstest.MapFS{"agb.txt": {Data: []byte("# Eins\nA {company}\nB [hier](/widerruf).\n\n- x {phone}\n- y\n\n# Leer\n| {phone}\n")}}, testOperator)
	if err != nil {
		t.Fatal(err)
	}
	got := texts["agb"]
	if len(got) != 3 || got[0].Heading != "Eins" || got[1].Text[0].Text != "A Kontor GmbH B " || got[1].Text[1] != (span{"hier", "/widerruf"}) ||
		len(got[2].Items) != 1 || got[2].Items[0][0].Text != "y" {
		t.Errorf("%+v", got)
	}
	if len(texts["impressum"]) == 0 {
		t.Error("the default texts are gone")
	}
	for name, files := range map[string]fstest.MapFS{
		"a mistyped name":  {"abg.txt": {Data: []byte("x")}},
		"an unknown place": {"agb.txt": {Data: []byte("{firma}")}},
		"no text":          {"agb.txt": {Data: []byte{0xff}}},
		"too long a text":  {"agb.txt": {Data: make([]byte, maxTextBytes+1)}},
	} {
		if _, err := loadTexts(files, testOperator); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	// External links are not rendered as links.
	if parts := spans("[x](https://evil.example) [y](//evil.example/)"); len(parts) != 1 {
		t.Errorf("%+v", parts)
	}
}

func TestContractFiles_HaveTextsOfPagesInPlainText(t *testing.T) {
	t.Parallel()
	file, err := ContractFiles(fstest.MapFS{"terms.txt": {Data: []byte("# One\nSee [here](/withdrawal).\n\n- " + strings.Repeat("word ", 20) + "\n")}}, testOperator, base)
	if err != nil {
		t.Fatal(err)
	}
	german := file(ui.German, true)
	text := string(german.Content)
	for _, want := range []string{
		"Allgemeine Geschäftsbedingungen\r\n===", "Kontor GmbH, Kai 1", "\r\n\r\n2. Wie ein Vertrag zustande kommt\r\n---",
		"Vertrag widerrufen\r\n===", "(https://domains.example/widerruf)", "sofort per E-Mail\r\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\r\n") || utf8.RuneCountInString(line) > fileWidth+2 || strings.ContainsAny(line, "{}\u2011") {
			t.Errorf("bad line %q", line)
		}
	}
	if business := file(ui.German, false); german.Name != "AGB-und-Widerrufsbelehrung.txt" || business.Name != "AGB.txt" || strings.Contains(string(business.Content), "Ihr Widerrufsrecht") {
		t.Errorf("%s, %s: %s", german.Name, business.Name, business.Content)
	}
	want := "Terms and conditions\r\n====================\r\n\r\nOne\r\n---\r\n\r\nSee here (https://domains.example/withdrawal).\r\n\r\n- " +
		strings.TrimSpace(strings.Repeat("word ", 15)) + "\r\n  " + strings.TrimSpace(strings.Repeat("word ", 5)) + "\r\n"
	if english := file(ui.English, false); string(english.Content) != want || english.Name != "terms.txt" {
		t.Errorf("%s: %q, want %q", english.Name, english.Content, want)
	}
	if _, err := ContractFiles(fstest.MapFS{"widerruf.txt": {Data: []byte("{firma}")}}, testOperator, base); err == nil {
		t.Error("an unknown placeholder was accepted")
	}
}

func TestWriteDefaultTexts_KeepsExistingFiles(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "texts")
	written, err := WriteDefaultTexts(folder)
	if err != nil || len(written) != 12 {
		t.Fatalf("%v, %v", written, err)
	}
	own := filepath.Join(folder, "agb.txt")
	if err := os.WriteFile(own, []byte("eigene"), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, err := WriteDefaultTexts(folder); err != nil || len(again) != 0 {
		t.Errorf("%v, %v", again, err)
	}
	if body, err := os.ReadFile(own); err != nil || string(body) != "eigene" {
		t.Errorf("%s, %v", body, err)
	}
	if _, err := loadTexts(os.DirFS(folder), testOperator); err != nil {
		t.Errorf("our own texts do not parse: %v", err)
	}
}

func TestTexts_SamePlaceholdersInBothLanguages(t *testing.T) {
	t.Parallel()
	textcheck.CheckTranslations(t, textcheck.Merge(t, texts, helpTexts))
}

func TestSecurityContact_IsOperatorsAndExpires(t *testing.T) {
	t.Parallel()
	status, body := visit(t, newHandler(t, &memStore{}, testOperator, nil), "/.well-known/security.txt", nil)
	_, date, _ := strings.Cut(body, "Expires: ")
	date, _, _ = strings.Cut(date, "\n")
	expires, err := time.Parse(time.RFC3339, date)
	if status != http.StatusOK || !strings.HasPrefix(body, "Contact: mailto:post@kontor.example\n") || err != nil ||
		!expires.After(time.Now()) || expires.After(time.Now().AddDate(1, 0, 0)) {
		t.Errorf("%d %s, %v", status, body, err)
	}
	if status, _ := visit(t, newHandler(t, &memStore{}, OperatorInfo{}, nil), "/.well-known/security.txt", nil); status != http.StatusNotFound {
		t.Errorf("status %d without an address", status)
	}
}

func TestPrivacyPage_HasAllRetentionPeriods(t *testing.T) {
	t.Parallel()
	for file, years := range map[string]string{"datenschutz.txt": " Jahre", "privacy.txt": " years"} {
		text, err := os.ReadFile(filepath.Join("texts", file))
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[string]int)
		for _, rule := range retention.RulesOfKept() {
			want[strconv.Itoa(rule.Years)+years]++
		}
		for period, n := range want {
			if got := strings.Count(string(text), ": "+period); got != n {
				t.Errorf("%s has %q %d times, want %d", file, period, got, n)
			}
		}
	}
}
