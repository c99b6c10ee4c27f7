package portal

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
)

// pageDirVariable names a folder to which the pages are written for inspection.
const pageDirVariable = "DOTKONTOR_TEST_PAGES"

// allPages renders every page, including those with errors.
func allPages(t *testing.T) (*env, map[string]pageResponse) {
	t.Helper()
	s := newEnv(t, true)
	added := s.newMember("erika@example.org")
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}
	for i, status := range registrar.DomainStatuses() {
		_, err := s.portfolio.Add(t.Context(), operator, s.domainAddition(added.ID, i, status))
		must(t, err)
	}
	visitor, b := s.newBrowser(), s.signedInBrowser("erika@example.org")
	pages := map[string]pageResponse{
		"sign-in":         visitor.get("/portal/sign-in?next=%2Fportal%2Ftokens"),
		"sign-in-wrong":   visitor.post("/portal/sign-in", url.Values{"email": {"erika@example.org"}, "password": {"wrong-wrong-wrong"}}),
		"register":        visitor.get("/portal/register"),
		"register-wrong":  visitor.post("/portal/register", url.Values{"email": {"no address"}}),
		"register-sent":   visitor.get("/portal/register/sent"),
		"reset":           visitor.get("/portal/reset"),
		"reset-sent":      visitor.get("/portal/reset/sent"),
		"link-invalid":    visitor.get("/portal/confirm?link=nonsense"),
		"not-found":       visitor.get("/portal/nothing"),
		"profile":         b.get("/portal/profile"),
		"registrant":      b.get("/portal/profile/registrant"),
		"registrant-bad":  b.post("/portal/profile/registrant", url.Values{"kind": {"company"}, "country": {"US"}}),
		"password":        b.get("/portal/profile/password"),
		"password-bad":    b.post("/portal/profile/password", url.Values{"old": {"canary-old-password"}, "password": {"canary"}}),
		"email":           b.get("/portal/profile/email"),
		"second-factor":   b.get("/portal/security/second-factor"),
		"tokens-empty":    b.get("/portal/tokens"),
		"token-made":      b.post("/portal/tokens", url.Values{"name": {"<b>Agent</b>"}, "life": {"never"}}),
		"token-bad":       b.post("/portal/tokens", url.Values{"name": {""}, "life": {"never"}}),
		"tokens":          b.get("/portal/tokens"),
		"apps-empty":      b.get("/portal/apps"),
		"apps":            s.appsPage(b, added.ID),
		"agents-empty":    b.get("/portal/agents"),
		"agents":          s.agentsPage(b),
		"sign-in-again":   b.get("/portal/sign-in-again?next=%2Fportal%2Ftokens"),
		"security":        b.get("/portal/security"),
		"activity":        b.get("/portal/activity"),
		"domains":         b.get("/portal/domains"),
		"member-notfound": b.get("/portal/nothing"),
	}
	visitor.post("/portal/register", url.Values{"email": {"neu@example.org"}})
	pages["confirm"] = visitor.get(s.mailedLink(registrar.MailConfirm))
	visitor.post("/portal/reset/sent", url.Values{"email": {"erika@example.org"}})
	pages["reset-new"] = visitor.get(s.mailedLink(registrar.MailPasswordReset))
	b.post("/portal/profile/email", url.Values{"email": {"erika2@example.org"}})
	pages["email-confirm"] = b.get(s.mailedLink(registrar.MailChangeEmail))
	b.crossSite = true
	pages["cross-site"] = b.post("/portal/tokens", nil)
	b.crossSite = false
	b.post("/portal/language", url.Values{"language": {"en"}})
	for _, name := range []string{"profile", "security", "tokens", "activity", "domains", "profile/registrant"} {
		pages["english-"+strings.ReplaceAll(name, "/", "-")] = b.get("/portal/" + name)
	}
	s.clock.advance(time.Hour)
	pages["security-late"] = b.get("/portal/security")
	pages["tokens-late"] = b.get("/portal/tokens")
	return s, pages
}

func (s *env) domainAddition(owner string, i int, status registrar.DomainStatus) portfolio.AddParams {
	name, err := registrar.ParseName(string(rune('a'+i))+"-elbblick.de", func(tld string) bool { return tld == ".de" })
	must(s.t, err)
	addition := portfolio.AddParams{Customer: owner, Name: name, Status: status}
	if status != registrar.DomainPending {
		addition.PaidUntil = time.Now().AddDate(0, i, 0)
	}
	return addition
}

func TestPages_ValidAndAccessible(t *testing.T) {
	t.Parallel()
	_, pages := allPages(t)
	for name, page := range pages {
		if folder := os.Getenv(pageDirVariable); folder != "" {
			must(t, os.WriteFile(filepath.Join(folder, name+".html"), []byte(page.body), 0o600))
		}
		if page.status >= http.StatusInternalServerError || page.body == "" {
			t.Errorf("%s: %d", name, page.status)
			continue
		}
		checkPage(t, name, page.tree(t))
		if strings.Contains(page.body, "canary") || strings.Contains(page.body, "wrong-wrong-wrong") {
			t.Errorf("%s shows a password", name)
		}
		if strings.Contains(page.body, "<b>Agent") {
			t.Errorf("%s shows a name without escaping it", name)
		}
	}
}

// checkPage checks the rules of every page.
func checkPage(t *testing.T, name string, root *html.Node) {
	t.Helper()
	title, h1 := elements(root, "title"), elements(root, "h1")
	if len(title) != 1 || text(title[0]) == "" || len(h1) != 1 || text(h1[0]) == "" || strings.Contains(text(title[0])+text(h1[0]), "{1}") {
		t.Errorf("%s has %d titles and %d main headings", name, len(title), len(h1))
	}
	if lang := attribute(elements(root, "html")[0], "lang"); lang != "de" && lang != "en" {
		t.Errorf("%s has the language %q", name, lang)
	}
	ids, labels := map[string]bool{}, map[string]bool{}
	for _, node := range elements(root, "*") {
		if id := attribute(node, "id"); id != "" {
			if ids[id] {
				t.Errorf("%s has two elements %s", name, id)
			}
			ids[id] = true
		}
		if node.Data == "label" {
			labels[attribute(node, "for")] = true
		}
		for _, a := range node.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("%s: <%s %s> is inline", name, node.Data, a.Key)
			}
			if (a.Key == "src" || a.Key == "href" || a.Key == "action") && !strings.HasPrefix(a.Val, "/portal") && a.Val != "#main" &&
				a.Val != "/favicon.ico" && a.Val != "/manifest.webmanifest" && !strings.HasPrefix(a.Val, "data:image/png;base64,") {
				t.Errorf("%s links to %q", name, a.Val)
			}
		}
		if (node.Data == "script" || node.Data == "style") && text(node) != "" {
			t.Errorf("%s has an inline %s", name, node.Data)
		}
	}
	for _, kind := range []string{"input", "select"} {
		for _, node := range elements(root, kind) {
			if attribute(node, "type") == "hidden" || hasAttribute(node, "hidden") {
				continue
			}
			if !labels[attribute(node, "id")] {
				t.Errorf("%s: %s %s has no label", name, kind, attribute(node, "name"))
			}
			for describer := range strings.FieldsSeq(attribute(node, "aria-describedby")) {
				if !ids[describer] {
					t.Errorf("%s: %s has a missing description", name, attribute(node, "name"))
				}
			}
			if attribute(node, "type") == "password" && (attribute(node, "autocomplete") == "" || hasAttribute(node, "value")) {
				t.Errorf("%s: the password field has a value, or no autocomplete", name)
			}
		}
	}
	for _, button := range elements(root, "button") {
		if text(button) == "" {
			t.Errorf("%s has a button without a text", name)
		}
	}
	for _, image := range elements(root, "img") {
		if !hasAttribute(image, "alt") { // an empty one marks decoration
			t.Errorf("%s has an image without an alt attribute", name)
		}
	}
}

func TestPages_NoSecretInLogOrReferer(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	b := s.newBrowser()
	secrets := map[string]string{"password": "canary-horse-battery", "wrong password": "canary-wrong-password", "address": "neu@example.org"}
	b.post("/portal/register", url.Values{"email": {"neu@example.org"}})
	link := s.mailedLink(registrar.MailConfirm)
	secrets["link"] = linkSecret(t, link)
	page := b.get(link)
	if page.header.Get("Referrer-Policy") != "same-origin" {
		t.Errorf("the link's page has %q", page.header.Get("Referrer-Policy"))
	}
	checkPage(t, "the link's page", page.tree(t)) // nothing on it leads elsewhere
	b.post("/portal/confirm", url.Values{"link": {secrets["link"]}, "password": {secrets["password"]}})
	secrets["session"], secrets["device"] = b.cookie("dotkontor"), b.cookie("dotkontor_device")
	secrets["token"] = tokenValue.FindString(b.post("/portal/tokens", url.Values{"name": {"canary-name"}, "life": {"never"}}).body)
	b.post("/portal/sign-in", url.Values{"email": {"neu@example.org"}, "password": {secrets["wrong password"]}})
	b.get("/portal/nothing?link=" + secrets["link"])
	b.get("/portal/sign-in?next=" + url.QueryEscape("https://evil.example/"+secrets["token"]))
	b.post("/portal/profile/registrant", url.Values{"name": {"canary-person"}})
	secrets["person"], secrets["token's name"] = "canary-person", "canary-name"
	log := s.log.String()
	// A record is written after its response.
	for end := time.Now().Add(30 * time.Second); strings.Count(log, `"msg":"request"`) < 8; log = s.log.String() {
		if time.Now().After(end) {
			t.Fatalf("the log is too short: %s", log)
		}
		time.Sleep(10 * time.Millisecond)
	}
	for name, secret := range secrets {
		if secret == "" {
			t.Errorf("the log lacks the %s", name)
		} else if strings.Contains(log, secret) {
			t.Errorf("the log contains the %s", name)
		}
	}
}
