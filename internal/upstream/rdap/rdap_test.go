package rdap

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/upstream/hostmap"
)

const queriedLabel = "kranich-canary-47"

var (
	queriedName   = registrar.NewName(queriedLabel, ".example")
	testExtension = registrar.Extension{TLD: ".example", RDAP: "https://rdap.example.net/v1"}
)

// newTestServer starts an HTTP server in the role of rdap.example.net.
func newTestServer(t *testing.T, handle http.HandlerFunc) hostmap.Table {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return hostmap.Table{"rdap.example.net:443": server.URL}
}

func newClient(t *testing.T, o Options) *Client {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func respond(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestFind_SendsRDAPRequest(t *testing.T) {
	t.Parallel()
	received := make(chan *http.Request, 1)
	c := newClient(t, Options{UserAgent: "tester/1", Hosts: newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		received <- r
		w.WriteHeader(http.StatusNotFound)
	})})
	if finding, err := c.Find(t.Context(), testExtension, queriedName); err != nil || finding.State != lookup.NotFound {
		t.Fatalf("%+v, %v", finding, err)
	}
	r := <-received
	if r.Method != http.MethodGet || r.URL.Path != "/v1/domain/"+queriedName.ASCII() || r.URL.RawQuery != "" {
		t.Errorf("requested %s %s", r.Method, r.URL)
	}
	if got := r.Header.Get("Accept"); got != "application/rdap+json, application/json;q=0.9" {
		t.Errorf("Accept %q", got)
	}
	if got := r.Header.Get("User-Agent"); got != "tester/1" {
		t.Errorf("User-Agent %q", got)
	}
}

// respondRaw sends raw and closes the connection in the middle of the response.
func respondRaw(raw string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, raw)
		_ = conn.Close()
	}
}

func TestFind_FaultsOmitTheName(t *testing.T) {
	t.Parallel()
	for rule, c := range map[string]struct {
		handle http.HandlerFunc
		want   registrar.Code
	}{
		"status 500":            {respond(500, "application/rdap+json", `{"errorCode":500}`), registrar.FaultBroken},
		"status 503":            {respond(503, "text/html", "<html>"), registrar.FaultBroken},
		"status 204":            {respond(204, "", ""), registrar.FaultBroken},
		"closed without answer": {respondRaw(""), registrar.FaultRefused},
		"malformed HTTP":        {respondRaw("HELLO " + queriedLabel + "\r\n\r\n"), registrar.FaultBroken},
		"body cut off":          {respondRaw("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"objectClassName\":"), registrar.FaultBroken},
		"404 cut off":           {respondRaw("HTTP/1.1 404 Not Found\r\nContent-Length: 500\r\n\r\n"), registrar.FaultBroken},
		"too large": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(bytes.Repeat([]byte(" "), maxAnswerBytes+1))
		}, registrar.FaultBroken},
		"too many headers": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Filler", strings.Repeat("x", 64<<10))
		}, registrar.FaultBroken},
		"another name":           {respond(200, "application/rdap+json", `{"objectClassName":"domain","ldhName":"other.example"}`), registrar.FaultBroken},
		"redirect to nowhere":    {respond(302, "", ""), registrar.FaultBroken},
		"redirect to no web":     {redirectTo("ftp://rdap.example.net/"), registrar.FaultBroken},
		"redirect in a circle":   {redirectTo("/v1/domain/" + queriedLabel + ".example"), registrar.FaultBroken},
		"redirect to plain http": {redirectTo("http://rdap.example.net/v1/domain/" + queriedLabel + ".example"), registrar.FaultBroken},
		"redirect to a host with the name": {
			redirectTo("https://" + queriedLabel + ".invalid/"), registrar.FaultRefused,
		},
		"status 429": {respond(429, "text/html", "<html>"), registrar.FaultThrottled},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			client := newClient(t, Options{
				Hosts: newTestServer(t, c.handle), Transport: plainTransport(t),
				Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			})
			finding, err := client.Find(t.Context(), testExtension, queriedName)
			checkFault(t, finding, err, c.want, log.String())
		})
	}
}

// plainTransport is the product's transport without a proxy or name resolution.
func plainTransport(t *testing.T) *http.Transport {
	transport := newTransport(0)
	transport.Proxy = nil
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if !strings.HasPrefix(address, "127.0.0.1:") {
			return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("no route to " + address)}
		}
		return dial(ctx, network, address)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

func redirectTo(target string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", target)
		w.WriteHeader(http.StatusFound)
	}
}

func checkFault(t *testing.T, finding lookup.Finding, err error, want registrar.Code, log string) {
	t.Helper()
	if registrar.CodeOf(err) != want || registrar.KindOf(err) != registrar.KindUpstream {
		t.Fatalf("%+v, %v; want %s", finding, err, want)
	}
	if finding != (lookup.Finding{}) {
		t.Errorf("a fault came with %+v", finding)
	}
	if !strings.Contains(err.Error(), "rdap.example.net") || !strings.Contains(log, "rdap.example.net") || !strings.Contains(log, string(want)) {
		t.Errorf("error %q and log %q do not name host and fault", err, log)
	}
	if strings.Contains(log+err.Error(), queriedLabel) {
		t.Errorf("the searched name leaked: %q %q", log, err)
	}
}

func TestFind_ClosedPortAndFailedHandshakeAreRefused(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	_ = listener.Close()
	untrusted := httptest.NewUnstartedServer(respond(404, "", ""))
	untrusted.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	for rule, origin := range map[string]string{"closed port": "http://" + closed, "untrusted certificate": untrusted.URL} {
		var log bytes.Buffer
		c := newClient(t, Options{
			Hosts:  hostmap.Table{"rdap.example.net:443": origin},
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		finding, err := c.Find(t.Context(), testExtension, queriedName)
		t.Log(rule)
		checkFault(t, finding, err, registrar.FaultRefused, log.String())
	}
}

func TestRedirect_FollowsHostTable(t *testing.T) {
	t.Parallel()
	var hops atomic.Int32
	table := newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		steps := map[string]string{
			"/v1/": "/v2/domain/" + queriedName.ASCII(),                           // relative
			"/v2/": "https://second.example.net/v3/domain/" + queriedName.ASCII(), // another server
			"/v3/": "http://third.example.net/v4/domain/" + queriedName.ASCII(),   // http, but mapped by the host table
		}
		for prefix, target := range steps {
			if strings.HasPrefix(r.URL.Path, prefix) {
				hops.Add(1)
				redirectTo(target)(w, r)
				return
			}
		}
		respond(200, "application/rdap+json", `{"objectClassName":"domain","ldhName":"`+queriedName.ASCII()+`"}`)(w, r)
	})
	table["second.example.net:443"] = table["rdap.example.net:443"]
	table["third.example.net:80"] = table["rdap.example.net:443"]
	finding, err := newClient(t, Options{Hosts: table}).Find(t.Context(), testExtension, queriedName)
	if err != nil || finding.State != lookup.Registered || hops.Load() != maxRedirects {
		t.Errorf("%+v, %v after %d redirects", finding, err, hops.Load())
	}
}

func TestRedirect_NotFoundAtOtherPathIsBroken(t *testing.T) {
	t.Parallel()
	c := newClient(t, Options{Hosts: newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			redirectTo("/welcome")(w, r)
			return
		}
		respond(404, "application/rdap+json", `{"errorCode":404}`)(w, r)
	})})
	if finding, err := c.Find(t.Context(), testExtension, queriedName); registrar.CodeOf(err) != registrar.FaultBroken {
		t.Errorf("%+v, %v", finding, err)
	}
}

func TestRedirect_NotFoundAtOtherHostIsUndecided(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]lookup.State{
		"https://second.example.net/v2/domain/" + queriedName.ASCII(): lookup.Undecided,
		"https://RDAP.example.net/v2/domain/" + queriedName.ASCII():   lookup.NotFound,
		"/v2/domain/" + queriedName.ASCII():                           lookup.NotFound,
	} {
		table := newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/v1/") {
				redirectTo(target)(w, r)
				return
			}
			respond(404, "application/rdap+json", `{"errorCode":404}`)(w, r)
		})
		// One server plays both roles: only their public names count.
		table["second.example.net:443"] = table["rdap.example.net:443"]
		finding, err := newClient(t, Options{Hosts: table}).Find(t.Context(), testExtension, queriedName)
		if err != nil || finding.State != want {
			t.Errorf("%s: %+v, %v; want state %d", target, finding, err, want)
		}
	}
}

// roundTrip adapts a function to http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestFind_SilentServerTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		c, err := New(Options{
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		finding, err := c.Find(t.Context(), testExtension, queriedName)
		checkFault(t, finding, err, registrar.FaultTimeout, log.String())
		if took := time.Since(start); took != defaultTimeout {
			t.Errorf("took %s", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		if _, err := c.Find(ctx, testExtension, queriedName); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled query: %v", err)
		}
	})
}

func TestFind_SlowBodyTimesOut(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	table := newTestServer(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		<-release
	})
	t.Cleanup(func() { close(release) })
	c := newClient(t, Options{Hosts: table, Timeout: 200 * time.Millisecond})
	if _, err := c.Find(t.Context(), testExtension, queriedName); registrar.CodeOf(err) != registrar.FaultTimeout {
		t.Errorf("got %v", err)
	}
}

func TestFind_ThrottlingReportsRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		header string
		want   time.Duration
	}{
		{429, "", 0},
		{429, "17", 17 * time.Second},
		{429, "-5", 0},
		{429, "soon", 0},
		{429, "999999", time.Hour},
		{503, "30", 30 * time.Second},
	} {
		client := newClient(t, Options{Hosts: newTestServer(t, func(w http.ResponseWriter, _ *http.Request) {
			if c.header != "" {
				w.Header().Set("Retry-After", c.header)
			}
			w.WriteHeader(c.status)
		})})
		_, err := client.Find(t.Context(), testExtension, queriedName)
		var fault *registrar.Error
		if !errors.As(err, &fault) || fault.Code != registrar.FaultThrottled || fault.RetryAfter != c.want {
			t.Errorf("%d %q: %#v", c.status, c.header, fault)
		}
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for date, want := range map[string]time.Duration{
		now.Add(90 * time.Second).Format(http.TimeFormat): 90 * time.Second,
		now.Add(-time.Hour).Format(http.TimeFormat):       0,
		now.Add(48 * time.Hour).Format(http.TimeFormat):   time.Hour,
	} {
		if got := retryAfter(date, now); got != want {
			t.Errorf("Retry-After %q: %s, want %s", date, got, want)
		}
	}
}

func TestNew_ValidatesOptions(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{
		{BootstrapURL: "data.iana.org"},
		{BootstrapURL: "ftp://data.iana.org/"},
		{Hosts: hostmap.Table{"rdap.example.net:443": "127.0.0.1:1"}},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("accepted %+v", o)
		}
	}
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
