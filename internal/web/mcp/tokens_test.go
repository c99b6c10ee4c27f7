package mcp

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

// fakeBudget has a number of calls left; last is the token counted last.
type fakeBudget struct {
	left atomic.Int64
	mu   sync.Mutex
	last any
}

func (b *fakeBudget) counted() any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

func (b *fakeBudget) setLast(key any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = key
}

func (b *fakeBudget) SpendToken(addr netip.Addr, token string) (ratelimit.Decision, []ratelimit.Window) {
	decision, windows := b.Spend(addr)
	b.setLast(token)
	return decision, windows
}

func (b *fakeBudget) Allow(token ratelimit.Key) ratelimit.Decision {
	decision, _ := b.Spend(netip.Addr{})
	b.setLast(token)
	return decision
}

func (b *fakeBudget) Spend(addr netip.Addr) (ratelimit.Decision, []ratelimit.Window) {
	b.setLast(addr)
	if b.left.Add(-1) < 0 {
		return ratelimit.Decision{RetryAfter: 4200 * time.Millisecond}, nil
	}
	return ratelimit.Decision{Allowed: true}, nil
}

func readFailure(t *testing.T, got *httptest.ResponseRecorder) failure {
	t.Helper()
	r := read(t, got)
	var f failure
	if err := json.Unmarshal(r.Result.StructuredContent, &f); err != nil || got.Code != http.StatusOK || !r.Result.IsError {
		t.Errorf("got %d %s, want the failure of a tool", got.Code, got.Body)
	}
	return f
}

func TestBearer_UncheckableTokenIsNeitherRefusedNorTrusted(t *testing.T) {
	s, w := newServer(t, nil)
	const down = "Bearer database-down"
	got := post(s.Serve, call("list_my_domains", "{}"), "Authorization", down)
	if f := readFailure(t, got); f.Code != internalFailure || !f.Retryable || f.Message != messageUnchecked {
		t.Errorf("got %+v", f)
	}
	if got.Header().Get("WWW-Authenticate") != "" || w.calls.Load() != 0 {
		t.Errorf("got %v, %d calls were executed", got.Header(), w.calls.Load())
	}
	if got := post(s.Serve, call("tld_price", `{"tld":".de"}`), "Authorization", down); read(t, got).Result.IsError {
		t.Errorf("lookup failed: %s", got.Body)
	}
	if address := netip.MustParseAddr("192.0.2.1"); w.lookup.counted() != address {
		t.Errorf("the lookup was counted by %v, want %v", w.lookup.counted(), address)
	}
	got = post(s.ServeLogin, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "Authorization", down)
	if read(t, got); got.Code != http.StatusServiceUnavailable || got.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("at the login path: got %d %s", got.Code, got.Body)
	}
}

func TestBearer_TokenInQueryIs401(t *testing.T) {
	s, w := newServer(t, nil)
	secret, _ := registrar.NewSecret(registrar.PersonalToken)
	for _, query := range []string{
		"access_token=good", "access_token=", "ACCESS_TOKEN=x", "a=b&access_token=good", "access%5Ftoken=good",
		"key=" + secret, secret, secret + "=", "a=%64" + secret[1:], "x=Bearer+" + secret, "%zz&t=" + secret, "a;b=" + secret,
		"t=dotkontor_access_x", "t=dotkontor_refresh_x",
	} {
		for _, message := range []string{call("list_my_domains", "{}"), call("tld_price", `{"tld":".de"}`), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`} {
			for _, header := range []string{"", "Bearer good"} {
				r := httptest.NewRequest(http.MethodPost, base+Path+"?"+query, strings.NewReader(message))
				r.Header.Set("Content-Type", "application/json")
				if header != "" {
					r.Header.Set("Authorization", header)
				}
				got := httptest.NewRecorder()
				s.Serve(got, r)
				want401(t, query+" "+message, got)
			}
		}
	}
	if n := w.calls.Load(); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
	r := httptest.NewRequest(http.MethodPost, base+Path+"?utm_source=docs", strings.NewReader(call("tld_price", `{"tld":".de"}`)))
	r.Header.Set("Content-Type", "application/json")
	got := httptest.NewRecorder()
	if s.Serve(got, r); got.Code != http.StatusOK {
		t.Errorf("another parameter: got %d %s", got.Code, got.Body)
	}
}

func TestSignedInTools_SpendTokenBudgetOnly(t *testing.T) {
	s, w := newServer(t, nil)
	w.lookup.left.Store(0)
	w.whois.left.Store(0)
	w.token.left.Store(2)
	for range 2 {
		got := post(s.Serve, call("list_my_domains", "{}"), "Authorization", "Bearer good")
		if read(t, got).Result.IsError || w.token.counted() != ratelimit.TextKey("t1") {
			t.Errorf("got %s, counted by %v", got.Body, w.token.counted())
		}
	}
	got := post(s.Serve, call("list_my_domains", "{}"), "Authorization", "Bearer good")
	if f := readFailure(t, got); f.Code != rateLimited || f.RetryAfter != 5 || !f.Retryable || !strings.Contains(f.Message, "token") {
		t.Errorf("got %+v", f)
	}
	if w.calls.Load() != 2 {
		t.Errorf("%d calls got through, want 2", w.calls.Load())
	}
	for _, refused := range []string{"", "Bearer reader", "Bearer wrong"} {
		post(s.Serve, call("list_my_domains", "{}"), "Authorization", refused)
	}
	if left := w.token.left.Load(); left != -1 {
		t.Errorf("refused calls spent the budget: %d left, want -1", left)
	}
}

func TestLookup_WithTokenPassesTokenToBudget(t *testing.T) {
	s, w := newServer(t, nil)
	post(s.Serve, call("tld_price", `{"tld":".de"}`), "Authorization", "Bearer reader")
	if w.lookup.counted() != "t2" { // the budget decides which of the two counts
		t.Errorf("counted by %v", w.lookup.counted())
	}
	post(s.Serve, call("tld_price", `{"tld":".de"}`))
	if w.lookup.counted() != netip.MustParseAddr("192.0.2.1") {
		t.Errorf("without a token: counted by %v", w.lookup.counted())
	}
	if left := w.token.left.Load(); left != 1<<40 {
		t.Error("a lookup spent the budget of signed-in tools")
	}
}

func TestSignedInTools_PassActorToServices(t *testing.T) {
	s, w := newServer(t, nil)
	post(s.Serve, call("list_my_domains", "{}"), "Authorization", "Bearer good")
	want := registrar.Actor{Kind: registrar.ActorToken, Customer: "c1", Through: "t1", Address: netip.MustParseAddr("192.0.2.1")}
	if got := w.who.Load(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
