package check

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/rest"
)

// allAvailable responds with a delay, like a service.
type allAvailable struct{ after time.Duration }

func (e allAvailable) Check(_ context.Context, domain string) (lookup.Answer, error) {
	time.Sleep(e.after)
	prices := &lookup.Prices{Register: 690, Renew: 590, Transfer: 490}
	return lookup.Answer{Domain: domain, TLD: ".de", Availability: lookup.Available, Prices: prices, Source: lookup.SourceRDAP, CheckedAt: time.Now()}, nil
}

func (allAvailable) Search(context.Context, string) (lookup.Result, error) {
	return lookup.Result{}, nil
}

// limitedService is the real handler with real rate limits.
type limitedService struct {
	handler  http.Handler
	budget   *ratelimit.Budget
	refusals atomic.Int32
}

var clientAddr = netip.MustParseAddr("192.0.2.1")

func newLimitedService(t *testing.T, after time.Duration, windows ...ratelimit.Window) *limitedService {
	t.Helper()
	budget, err := ratelimit.NewBudget(ratelimit.Config{Windows: windows, MaxKeys: 1000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := rest.New(allAvailable{after}, budget, func(*http.Request) netip.Addr { return clientAddr })
	return &limitedService{handler: http.HandlerFunc(h.Check), budget: budget}
}

func (l *limitedService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	recorder := httptest.NewRecorder()
	l.handler.ServeHTTP(recorder, r)
	if recorder.Code == http.StatusTooManyRequests {
		l.refusals.Add(1)
	}
	for key, values := range recorder.Header() {
		w.Header()[key] = values
	}
	w.WriteHeader(recorder.Code)
	_, _ = w.Write(recorder.Body.Bytes())
}

// RoundTrip calls the service without a socket.
func (l *limitedService) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	l.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// collector records the rows of a batch.
type collector struct{ rows map[int]row }

func (c *collector) add(index int, r row, _ bool) error { c.rows[index] = r; return nil }

func (c *collector) tick(progress) error { return nil }

func (c *collector) finish(progress) error { return nil }

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("name%d.de", i)
	}
	return names
}

// runBatch runs a batch like the command and returns its announcement.
func runBatch(t *testing.T, s *service, names []string) (p progress, rows map[int]row, announced string) {
	t.Helper()
	rows = make(map[int]row)
	b := &batch{names: names, jobs: defaultServerJobs, redrawInterval: time.Minute, now: time.Now, printer: &collector{rows}}
	var notices bytes.Buffer
	command := &Command{Server: s.address}
	if err := command.prepareService(&cli.Terminal{Ctx: t.Context(), Err: &notices}, b, s); err != nil {
		t.Fatal(err)
	}
	p, err := b.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p, rows, notices.String()
}

func TestCheckServer_PacesToLimitsAndAnnouncesDuration(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := newLimitedService(t, 20*time.Millisecond,
			ratelimit.Window{Limit: 30, Per: time.Minute}, ratelimit.Window{Limit: 300, Per: 6 * time.Hour})
		s := newService("http://service.test")
		s.client.Transport = limited
		began := time.Now()
		p, rows, announced := runBatch(t, s, manyNames(400))
		took := time.Since(began)
		if p.free != 400 || len(rows) != 400 || limited.refusals.Load() != 0 {
			t.Errorf("%d of 400 answered, %d refusals", p.free, limited.refusals.Load())
		}
		// 300 names at 30 per minute, a wait until the first ones are six hours old, then
		// three more minutes.
		if want := 6*time.Hour + 3*time.Minute; took < want || took > want+2*time.Second {
			t.Errorf("400 names took %s, want about %s", took, want)
		}
		for _, want := range []string{"400 names, rate limit 30 per 1 min and 300 per 6 h", "takes about 6 h 4 min"} {
			if !strings.Contains(announced, want) {
				t.Errorf("%q is missing in %q", want, announced)
			}
		}
	})
}

func TestCheckServer_WaitsForRequestsOfOthersAtSameAddress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := newLimitedService(t, 0, ratelimit.Window{Limit: 10, Per: time.Minute})
		for range 10 {
			limited.budget.Spend(clientAddr)
		}
		time.Sleep(15 * time.Second)
		s := newService("http://service.test")
		s.client.Transport = limited
		began := time.Now()
		p, _, announced := runBatch(t, s, manyNames(12))
		took := time.Since(began)
		if p.free != 12 || limited.refusals.Load() == 0 {
			t.Errorf("got %+v with %d refusals", p, limited.refusals.Load())
		}
		if took < 105*time.Second || took > 108*time.Second {
			t.Errorf("12 names took %s, want 45 s for requests of others and a minute for our own", took)
		}
		if !strings.Contains(announced, "takes about") {
			t.Errorf("the wait was not announced: %q", announced)
		}
	})
}

func TestCheckServer_PacingHoldsOverSockets(t *testing.T) {
	t.Parallel()
	limited := newLimitedService(t, 5*time.Millisecond,
		ratelimit.Window{Limit: 4, Per: time.Second}, ratelimit.Window{Limit: 100, Per: time.Minute})
	server := httptest.NewServer(limited)
	defer server.Close()
	began := time.Now()
	p, rows, announced := runBatch(t, newService(server.URL), manyNames(10))
	if p.free != 10 || len(rows) != 10 || limited.refusals.Load() != 0 {
		t.Errorf("%d of 10 answered, %d refusals", p.free, limited.refusals.Load())
	}
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("10 names at 4 a second took %s", took)
	}
	if !strings.Contains(announced, "4 per 1 s and 100 per 1 min") {
		t.Errorf("announced %q", announced)
	}
}

func TestCheckServer_EveryNameGetsAnswerOrError(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		status int
		body   string
		want   row
	}{
		{
			"taken", 200, `{"domain":"x.de","tld":".de","available":false,"registerEur":6.9,"renewEur":5,"transferEur":4.90,"reason":"registered"}`,
			row{Domain: "x.de", TLD: ".de", Available: new(false), RegisterEUR: cents(690), RenewEUR: cents(500), TransferEUR: cents(490), Reason: "registered"},
		},
		{"unknown", 200, `{"domain":"x.de","tld":".de","available":null}`, row{Domain: "x.de", TLD: ".de"}},
		{"no plain amount", 200, `{"domain":"x.de","tld":".de","available":true,"registerEur":1e3}`, row{Domain: "x.de", TLD: ".de", Available: new(true)}},
		{
			"not carried", 200, `{"domain":"X.de","tld":".de","supported":false}`,
			row{Domain: "x.de", TLD: ".de", Error: errorUnsupported, Message: errorTexts[registrar.ExtensionNotCarried]},
		},
		{"invalid", 400, `{"error":"Bitte nicht."}`, row{Domain: "x.de", Error: errorInvalid, Message: "Bitte nicht."}},
		{"upstream", 502, `{"error":"Leider nein.","domain":"x.de"}`, row{Domain: "x.de", Error: errorUpstream, Message: "Leider nein."}},
		{"broken", 500, `oops`, row{Domain: "x.de", Error: errorUpstream, Message: "service unreachable"}},
		{"redirect", 308, `{}`, row{Domain: "x.de", Error: errorUpstream, Message: "service unreachable"}},
		{"always refused", 429, `{}`, row{Domain: "x.de", Error: errorRateLimited, Message: "rate limit of the service"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newService("http://service.test")
				s.client.Transport = roundTripper(func(*http.Request) (*http.Response, error) {
					return &http.Response{
						StatusCode: test.status, Header: http.Header{"Retry-After": {"3"}, "Location": {"http://elsewhere.test"}},
						Body: io.NopCloser(strings.NewReader(test.body)),
					}, nil
				})
				got, want := s.check(t.Context(), "x.de"), test.want
				gotJSON, _ := cli.EncodeJSON(got)
				wantJSON, _ := cli.EncodeJSON(want)
				if !bytes.Equal(gotJSON, wantJSON) {
					t.Errorf("got %s\nwant %s", gotJSON, wantJSON)
				}
			})
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func cents(c registrar.Cents) *registrar.Cents { return &c }
