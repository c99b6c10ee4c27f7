package site

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// fakeLookups answers by name; an answer can be delayed.
type fakeLookups struct {
	asked atomic.Int64
	// hold has a channel for each name that is answered only once it is closed.
	hold map[string]chan struct{}
}

func (w *fakeLookups) Check(ctx context.Context, domain string) (lookup.Answer, error) {
	w.asked.Add(1)
	if gate, held := w.hold[domain]; held {
		select {
		case <-gate:
		case <-ctx.Done():
			return lookup.Answer{}, ctx.Err()
		}
	}
	label, rest, _ := strings.Cut(domain, ".")
	answer := lookup.Answer{Domain: domain, TLD: "." + rest, Availability: lookup.Available}
	switch {
	case label == "mixed" && rest == "com", label == "belegt":
		answer.Availability, answer.Reason = lookup.Taken, lookup.ReasonRegistered
	case label == "mixed" && rest == "eu":
		answer.Availability, answer.Reason = lookup.Taken, lookup.ReasonReserved
	case label == "mixed" && rest == "net":
		answer.Premium, answer.Reason = true, lookup.ReasonPremium
	case label == "teuer":
		answer.Premium, answer.Reason, answer.Prices = true, lookup.ReasonPremium, &lookup.Prices{Register: 275_00, Renew: 50_00, Transfer: 40_00, Restore: 90_00}
	case label == "mixed" && rest == "org":
		answer.Availability, answer.Reason = lookup.Unknown, lookup.ReasonUnknown
	case label == "mixed" && rest == "io":
		return answer, registrar.Fault(registrar.FaultTimeout, "rdap.example", errors.New("quotes "+domain))
	}
	return answer, nil
}

func (w *fakeLookups) Whois(_ context.Context, domain string) (lookup.WhoisAnswer, error) {
	switch {
	case strings.HasPrefix(domain, "stumm."):
		return lookup.WhoisAnswer{}, registrar.Fault(registrar.FaultTimeout, "whois.example", nil)
	case !strings.HasPrefix(domain, "belegt."):
		return lookup.WhoisAnswer{Domain: domain}, nil
	}
	return lookup.WhoisAnswer{Domain: domain, Registered: true, Record: lookup.Record{
		Registrar: "Nordlicht <b>Namen</b> GmbH", Nameservers: []string{"ns1.example", "ns2.example"},
		Created: time.Date(2015, 4, 26, 0, 0, 0, 0, time.UTC), Status: []string{"clientHold"},
	}}, nil
}

// fakeBudget allows a few requests.
type fakeBudget struct{ left int }

func (p *fakeBudget) Spend(netip.Addr) (ratelimit.Decision, []ratelimit.Window) {
	if p.left == 0 {
		return ratelimit.Decision{RetryAfter: 4200 * time.Millisecond}, nil
	}
	p.left--
	return ratelimit.Decision{Allowed: true}, nil
}

type noSessions struct{}

func (noSessions) Visitor(context.Context, string) (account.Visitor, error) {
	return account.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
}

// env holds the pages with their fakes.
type env struct {
	lookups       *fakeLookups
	budget, whois *fakeBudget
	live          *catalog.Live
	rate          *atomic.Int64
	mux           *http.ServeMux
	handler       *Handler
}

func newEnv(t testing.TB) *env {
	t.Helper()
	return newEnvWith(t, func(*Config) {})
}

func newEnvWith(t testing.TB, change func(*Config)) *env {
	t.Helper()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	address := func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") }
	frame, err := ui.New(ui.Config{BaseURL: "https://domains.example", Sessions: noSessions{}, Address: address, PublicLinks: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &env{lookups: &fakeLookups{}, budget: &fakeBudget{left: 20}, whois: &fakeBudget{left: 20}, mux: http.NewServeMux()}
	s.live, s.rate = catalog.NewLive(list), &atomic.Int64{}
	s.live.SetSaleDecider(func(registrar.Extension) registrar.Sale { return registrar.Sale{Decided: true} })
	s.rate.Store(1900)
	seal, err := registrar.NewSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{
		Frame: frame, Address: address, Lookups: s.lookups, Budget: s.budget, WhoisBudget: s.whois, Catalog: s.live,
		RateBasisPoints: func(time.Time) int { return int(s.rate.Load()) }, Seal: seal,
	}
	change(&cfg)
	handler, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.handler = handler
	for _, r := range handler.Routes() {
		s.mux.Handle(r.Method+" "+r.Path, r.Handler)
	}
	return s
}

func (s *env) get(target string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, http.NoBody))
	return w
}

// post sends a form and follows a redirect; names and values alternate.
func (s *env) post(t *testing.T, path string, fields ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.mux.ServeHTTP(w, form(t, path, fields...))
	if w.Code == http.StatusSeeOther {
		return s.get(w.Header().Get("Location"))
	}
	return w
}

func form(t *testing.T, path string, fields ...string) *http.Request {
	t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}
