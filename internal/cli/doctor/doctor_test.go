package doctor

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
)

func examineService(t *testing.T, base string) doctorReport {
	t.Helper()
	return runChecks(newProber(t.Context(), base, nil), allChecks(), func(reportLine) {})
}

// checksWithStatus returns the names of the checks with this status.
func checksWithStatus(r doctorReport, s cli.Status) (names []string) {
	for _, c := range r.Checks {
		if c.Status == s {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestDoctor_ConformingServicePasses(t *testing.T) {
	t.Parallel()
	report := examineService(t, serveFake(t, newFake()))
	for _, c := range report.Checks {
		if c.Status != cli.StatusOK {
			t.Error(c)
		}
	}
	if !report.OK || len(report.Checks) != len(allChecks()) {
		t.Errorf("ok is %v with %d lines", report.OK, len(report.Checks))
	}
	if report.Requests != expectedRequests || report.Counted != expectedLimited {
		t.Errorf("%d requests, %d counted; the help says %d and %d", report.Requests, report.Counted, expectedRequests, expectedLimited)
	}
}

func TestDoctor_SkipsLimitedChecksNearLimit(t *testing.T) {
	t.Parallel()
	fake := newFake()
	fake.spent["127.0.0.1"] = 23
	report := examineService(t, serveFake(t, fake))
	if !report.OK {
		t.Errorf("failed: %q", checksWithStatus(report, cli.StatusFail))
	}
	if fake.spent["127.0.0.1"] > 30-reservedRequests {
		t.Errorf("%d requests are left, less than the reserve", 30-fake.spent["127.0.0.1"])
	}
	want := []string{"malformed request is a 400", "untrusted X-Forwarded-For is ignored", "domain_check works"}
	if got := checksWithStatus(report, cli.StatusWarn); !slices.Equal(got, want) {
		t.Errorf("skipped: %q, want %q", got, want)
	}
}

func TestDoctor_StopsLimitedRequestsAfter429(t *testing.T) {
	t.Parallel()
	fake := newFake()
	fake.spent["127.0.0.1"] = 30
	report := examineService(t, serveFake(t, fake))
	if !report.OK || report.Counted != 1 {
		t.Errorf("%d counted requests, failed: %q", report.Counted, checksWithStatus(report, cli.StatusFail))
	}

	without := newFake()
	without.spent["127.0.0.1"] = 30
	report = examineService(t, serveFake(t, proxy(without, nil, func(p *proxied) { p.header.Del("Retry-After") })))
	if got := checksWithStatus(report, cli.StatusFail); !slices.Equal(got, []string{"check of a free name"}) {
		t.Errorf("a 429 without Retry-After: failed are %q", got)
	}
}

func TestDoctor_RegistryFailureIsWarning(t *testing.T) {
	t.Parallel()
	report := examineService(t, serveFake(t, proxy(newFake(), nil, func(p *proxied) {
		if p.path(checkPath) && strings.Contains(p.requestBody, "google.com") {
			p.status, p.body = http.StatusBadGateway, `{"error":"Die Registry antwortet nicht.","domain":"google.com"}`
		}
		changeLookup("doctor-", "available", nil)(p)
	})))
	want := []string{"check of a free name", "check of google.com"}
	if got := checksWithStatus(report, cli.StatusWarn); !report.OK || !slices.Equal(got, want) {
		t.Errorf("ok is %v, warnings are %q, failures %q", report.OK, got, checksWithStatus(report, cli.StatusFail))
	}
}

func TestDoctor_WarnsAboutMissingRDAPSettings(t *testing.T) {
	t.Parallel()
	report := examineService(t, serveFake(t, proxy(newFake(), nil, setField(rdapPath+"help", "rdapConformance", []string{"rdap_level_0"}))))
	if got := checksWithStatus(report, cli.StatusWarn); !report.OK || !slices.Equal(got, []string{"help"}) {
		t.Errorf("ok is %v, warnings are %q, failures %q", report.OK, got, checksWithStatus(report, cli.StatusFail))
	}
}

// examinePublicURL examines a public URL whose host leads to server.
func examinePublicURL(t *testing.T, base string, server *httptest.Server) doctorReport {
	t.Helper()
	v := newProber(t.Context(), base, nil)
	v.client.Transport = &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}}
	return runChecks(v, allChecks(), func(reportLine) {})
}

func TestDoctor_PlainHTTPOnlyOnLoopback(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newFake())
	t.Cleanup(server.Close)
	report := examinePublicURL(t, "http://domains.example", server)
	if got := checksWithStatus(report, cli.StatusFail); !slices.Equal(got, []string{"TLS"}) {
		t.Errorf("failed: %q", got)
	}
}

func TestDoctor_ChecksTLSCertificate(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(newFake())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // one handshake fails intentionally
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	report := runChecks(newProber(t.Context(), server.URL, roots), allChecks(), func(reportLine) {})
	if !report.OK {
		t.Errorf("failed: %q", checksWithStatus(report, cli.StatusFail))
	}
	report = examineService(t, server.URL)
	if got := checksWithStatus(report, cli.StatusFail); !slices.Equal(got, []string{"the service responds"}) || report.NotTried == 0 {
		t.Errorf("an unknown authority: failed are %q, not tried %d", got, report.NotTried)
	}
	for left, want := range map[time.Duration]cli.Status{13 * 24 * time.Hour: cli.StatusWarn, 15 * 24 * time.Hour: cli.StatusOK} {
		if got := certificateResult("TLS 1.3", left); got.status != want {
			t.Errorf("%s left: %s, want %s", left, got.status, want)
		}
	}
}

func TestDoctor_ExitCodes(t *testing.T) {
	t.Parallel()
	good := serveFake(t, newFake())
	bad := serveFake(t, proxy(newFake(), nil, setField(openAPIPath, "openapi", "3.0.3\x1b[2J")))
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, test := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"good", []string{"--url", good + "/"}, cli.ExitOK, "0 WARN, 0 FAIL"},
		{"bad", []string{"--url", bad}, cli.ExitError, "FAIL  openapi    versions: expected openapi 3.1.0; saw \"3.0.3"},
		{"gone", []string{"--url", gone.URL}, cli.ExitError, "checks not tried"},
		{"no address", []string{"--url", "domains.example"}, cli.ExitUsage, ""},
		{"with a path", []string{"--url", "https://domains.example/api"}, cli.ExitUsage, ""},
		{"no flag", nil, cli.ExitUsage, ""},
	} {
		var out, errOut strings.Builder
		code := cli.Run(t.Context(), &grammar{}, append([]string{"doctor"}, test.args...), nil, strings.NewReader(""), &out, &errOut)
		if code != test.code || !strings.Contains(out.String(), test.says) || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: code %d, want %d, and %q\n%s%s", test.name, code, test.code, test.says, &out, &errOut)
		}
	}
	var out strings.Builder
	if code := cli.Run(t.Context(), &grammar{}, []string{"doctor", "--json", "--url", bad}, nil, strings.NewReader(""), &out, &out); code != cli.ExitError {
		t.Errorf("code %d", code)
	}
	var report doctorReport
	if err := json.Unmarshal([]byte(out.String()), &report); err != nil || report.OK || report.count(cli.StatusFail) != 1 {
		t.Errorf("%v: %s", err, &out)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if code := cli.Run(ended, &grammar{}, []string{"doctor", "--url", good}, nil, strings.NewReader(""), &out, &out); code != cli.ExitInterrupted {
		t.Errorf("interrupted: code %d", code)
	}
}

func TestDoctor_TimeoutFails(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	report := runChecks(newProber(ctx, serveFake(t, newFake()), nil), allChecks(), func(reportLine) {})
	if report.OK || len(report.Checks) != 1 || report.NotTried != len(allChecks())-1 || report.Requests != 0 {
		t.Errorf("%s", report.summary())
	}
}

// loadBalancer sends requests to several nodes in turn; each counts on its own.
func loadBalancer(nodes int, before func(*proxied)) http.Handler {
	var turn atomic.Int64
	handlers := make([]http.Handler, nodes)
	for i := range handlers {
		handlers[i] = proxy(newFake(), before, nil)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers[int(turn.Add(1))%nodes].ServeHTTP(w, r)
	})
}

func TestDoctor_LoadBalancerPasses(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{2, 3, 5, 8} {
		report := examineService(t, serveFake(t, loadBalancer(nodes, nil)))
		if !report.OK {
			t.Errorf("%d nodes: failed %q", nodes, checksWithStatus(report, cli.StatusFail))
		}
		if got := checksWithStatus(report, cli.StatusWarn); !slices.Equal(got, []string{"RateLimit decreases by one"}) {
			t.Errorf("%d nodes: warnings %q", nodes, got)
		}
	}
}

func TestDoctor_FindsTrustedForwardedForBehindLoadBalancer(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"X-Forwarded-For", "Forwarded"} {
		report := examineService(t, serveFake(t, loadBalancer(3, trustHeader(header))))
		if got := checksWithStatus(report, cli.StatusFail); !slices.Equal(got, []string{"untrusted X-Forwarded-For is ignored"}) {
			t.Errorf("%s: failed %q", header, got)
		}
	}
}

func TestDoctor_ConstantRateLimitFails(t *testing.T) {
	t.Parallel()
	report := examineService(t, serveFake(t, proxy(newFake(), nil, func(p *proxied) {
		if p.header.Get("RateLimit") != "" {
			p.header.Set("RateLimit", `"60s";r=29;t=60`)
		}
	})))
	if got := checksWithStatus(report, cli.StatusFail); !slices.Contains(got, "RateLimit decreases by one") {
		t.Errorf("failed %q", got)
	}
}

type grammar struct {
	Doctor Command `cmd:""`
}
