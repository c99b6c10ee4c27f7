package site

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

func TestSearchLink_ResultsHaveAddressWithoutTheName(t *testing.T) {
	t.Parallel()
	s, otherNode := newEnv(t), newEnv(t)
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, form(t, "/", "q", "https://www.mixed.shop/"+strings.Repeat("x", 5000)))
	address := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(address, "/?search=") || len(address) > 500 || s.budget.left != 20 {
		t.Fatalf("%d %s, %d left", w.Code, address, s.budget.left)
	}
	sealed := address[strings.LastIndexAny(address, ".=")+1:]
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil || strings.Contains(address, "mixed") || strings.Contains(string(raw), "mixed") {
		t.Errorf("the name is readable in %s: %v", address, err)
	}
	for _, node := range []*env{s, s, otherNode} { // Back and Forward, also by way of another node
		page := node.get(address)
		if states := rowStates(page.Body.String()); page.Code != http.StatusOK || states["mixed.shop"] != "free" || len(states) != batchSize {
			t.Errorf("%d %v", page.Code, states)
		}
		if policy := page.Header().Get("Referrer-Policy"); policy != "same-origin" || page.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("the headers are %v", page.Header())
		}
	}
}

func TestSearchLink_ExpiredOrForgedMakesNoLookup(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	seal, err := registrar.NewSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	h := &Handler{Config: Config{Seal: seal}}
	field := func(string) string { return "mixed" }
	old := h.sealSearch(field, plan{}, time.Now().Add(-searchLinkTTL-time.Minute))
	fresh := h.sealSearch(field, plan{}, time.Now())
	for name, value := range map[string]string{
		"old": old, "forged": fresh + "A", "other purpose": seal.Seal("x", "q=mixed"), "garbage": "mixed", "long": strings.Repeat("A", 3000),
	} {
		page := s.get("/?search=" + value)
		if page.Code != http.StatusGone || !strings.Contains(page.Body.String(), "Bitte suchen Sie noch einmal") {
			t.Errorf("%s: %d", name, page.Code)
		}
	}
	if s.lookups.asked.Load() != 0 || s.budget.left != 20 {
		t.Errorf("%d lookups, %d left", s.lookups.asked.Load(), s.budget.left)
	}
}

func TestSearchLink_HeadAndCrawlersCostNoOthersBudget(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, form(t, "/", "q", "mixed"))
	link := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.Contains(link, "?search=") {
		t.Fatalf("%d %s", w.Code, link)
	}
	before := s.budget.left
	head := httptest.NewRecorder()
	s.mux.ServeHTTP(head, httptest.NewRequest(http.MethodHead, link, nil))
	if s.lookups.asked.Load() != 0 || s.budget.left != before || head.Header().Get("X-Robots-Tag") != "noindex, nofollow" {
		t.Errorf("HEAD: %d lookups, budget %d of %d, %q", s.lookups.asked.Load(), s.budget.left, before, head.Header().Get("X-Robots-Tag"))
	}
	if got := s.get(link); got.Header().Get("X-Robots-Tag") != "noindex, nofollow" || s.budget.left != before-1 {
		t.Errorf("GET: %q, budget %d of %d", got.Header().Get("X-Robots-Tag"), s.budget.left, before)
	}
	s.budget.left = 0
	asked := s.lookups.asked.Load()
	if got := s.get(link); got.Code != http.StatusTooManyRequests || s.lookups.asked.Load() != asked {
		t.Errorf("without budget: %d, %d lookups", got.Code, s.lookups.asked.Load()-asked)
	}
}

func TestSearchLink_KeepsLanguageOfThePage(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	if page := s.get("/en").Body.String(); !strings.Contains(page, `action="/en" role="search"`) {
		t.Error("the form of the English page leads to the German one")
	}
	if page := s.post(t, "/en", "q", "mixed").Body.String(); !strings.Contains(page, `<html lang="en"`) || !strings.Contains(page, ">taken<") {
		t.Error("the results are not in English")
	}
}

type oneSession struct{}

func (oneSession) Visitor(context.Context, string) (account.Visitor, error) {
	return account.Visitor{Customer: account.Customer{ID: "cus_1", Language: ui.German}}, nil
}

func TestSearch_OwnDomainLinksToItsPage(t *testing.T) {
	t.Parallel()
	queries := 0
	s := newEnvWith(t, func(cfg *Config) {
		frame, err := ui.New(ui.Config{BaseURL: "http://127.0.0.1", Sessions: oneSession{}, Address: cfg.Address})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Frame, cfg.Basket = frame, true
		cfg.HeldDomains = func(_ context.Context, actor registrar.Actor, names []string) (map[string]string, error) {
			if queries++; actor.Customer != "cus_1" || len(names) != batchSize {
				t.Errorf("asked for %v of %q", names, actor.Customer)
			}
			return map[string]string{"mixed.com": "dom_7"}, nil
		}
	})
	for cookie, mine := range map[string]bool{"dotkontor=secret": true, "": false} {
		queries = 0
		r := form(t, "/search", "q", "mixed")
		r.Header.Set("Cookie", cookie)
		w := httptest.NewRecorder()
		s.mux.ServeHTTP(w, r)
		body := w.Body.String()
		if strings.Contains(body, "/portal/domains/dom_7") != mine || strings.Contains(body, "transfer:mixed.com") == mine || queries > 1 {
			t.Errorf("signed in %t, %d queries: %s", mine, queries, body)
		}
		if w.Header().Get("Cache-Control") != "no-store" {
			t.Error("others can get the response")
		}
	}
}
