package rdap

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

const goodBootstrap = `{"version":"1.0","services":[
	[["example","TEST"],["http://plain.example.net/","https://new.example.net/rdap"]],
	[["uk"],["https://rdap.example.uk/"]],
	[["co.uk"],["https://co.example.uk/"]]]}`

func TestBaseFor_PrefersPinnedThenBootstrapThenCatalog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule      string
		ext       registrar.Extension
		bootstrap string
		want      string
	}{
		{"shipped, before a bootstrap", registrar.Extension{TLD: ".example", RDAP: "https://old.example.net"}, "", "https://old.example.net/"},
		{"bootstrap beats shipped", registrar.Extension{TLD: ".example", RDAP: "https://old.example.net/"}, goodBootstrap, "https://new.example.net/rdap/"},
		{"pinned beats bootstrap", registrar.Extension{TLD: ".example", RDAP: "https://pin.example.net/x", RDAPPinned: true}, goodBootstrap, "https://pin.example.net/x/"},
		{"labels in any case", registrar.Extension{TLD: ".test"}, goodBootstrap, "https://new.example.net/rdap/"},
		{"longest match", registrar.Extension{TLD: ".co.uk", RDAP: "https://old.example.net/"}, goodBootstrap, "https://co.example.uk/"},
		{"shorter match if nothing is shipped", registrar.Extension{TLD: ".org.uk"}, goodBootstrap, "https://rdap.example.uk/"},
		{"shipped beats a shorter match", registrar.Extension{TLD: ".org.uk", RDAP: "https://old.example.net/"}, goodBootstrap, "https://old.example.net/"},
		{"shipped if the bootstrap lacks it", registrar.Extension{TLD: ".de", RDAP: "https://old.example.net/"}, goodBootstrap, "https://old.example.net/"},
		{"none", registrar.Extension{TLD: ".de"}, goodBootstrap, ""},
		{"none that can be used", registrar.Extension{TLD: ".de", RDAP: "nonsense", RDAPPinned: true}, "", ""},
	} {
		client := newClient(t, Options{})
		if c.bootstrap != "" {
			list, err := parseBootstrap([]byte(c.bootstrap))
			if err != nil {
				t.Fatal(err)
			}
			client.bootstrap.Store(list)
		}
		got := ""
		if base, _ := client.baseFor(c.ext); base != nil {
			got = base.String()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.rule, got, c.want)
		}
	}
	_, err := newClient(t, Options{}).Find(t.Context(), registrar.Extension{TLD: ".de"}, queriedName)
	if !errors.Is(err, lookup.ErrNoSource) {
		t.Errorf("without a server: %v", err)
	}
}

func TestParseBootstrap_RefusesBrokenDocument(t *testing.T) {
	t.Parallel()
	for rule, document := range map[string]string{
		"not JSON":             `<html>`,
		"cut off":              goodBootstrap[:len(goodBootstrap)-3],
		"no services":          `{"version":"1.0"}`,
		"empty services":       `{"services":[]}`,
		"service of three":     `{"services":[[["a"],["https://a/"],["b"]]]}`,
		"service of one":       `{"services":[[["example"],["https://a/"]],[["b"]]]}`,
		"no address":           `{"services":[[["a"],[]]]}`,
		"address without host": `{"services":[[["a"],["https:///x"]]]}`,
		"address of a file":    `{"services":[[["example"],["https://a/"]],[["b"],["file:///etc/passwd"]]]}`,
		"empty label":          `{"services":[[["."],["https://a/"]]]}`,
		"labels of a type":     `{"services":[[[1],["https://a/"]]]}`,
		"labels without any":   `{"services":[[[],["https://a/"]]]}`,
	} {
		if list, err := parseBootstrap([]byte(document)); err == nil {
			t.Errorf("%s: accepted with %d labels", rule, len(list.bases))
		}
	}
}

// fakeIANA is a transport that returns its responses in order and then repeats the
// last one. It records the times and ETags of the requests.
type fakeIANA struct {
	answers      []func(*http.Request) (*http.Response, error)
	requestTimes []time.Time
	etags        []string
}

func (i *fakeIANA) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := i.answers[min(len(i.requestTimes), len(i.answers)-1)]
	i.requestTimes = append(i.requestTimes, time.Now())
	i.etags = append(i.etags, r.Header.Get("If-None-Match"))
	return answer(r)
}

func (i *fakeIANA) requestGaps() []time.Duration {
	var gaps []time.Duration
	for n := 1; n < len(i.requestTimes); n++ {
		gaps = append(gaps, i.requestTimes[n].Sub(i.requestTimes[n-1]))
	}
	return gaps
}

func respondWith(status int, etag, body string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: status, Header: http.Header{"Etag": {etag}}, Request: r,
			Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	}
}

func connectionError(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }

// runFor runs Run for d and returns its log.
func runFor(t *testing.T, c *Client, log *bytes.Buffer, d time.Duration) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if err := c.Run(ctx); err != nil {
		t.Errorf("Run: %v", err)
	}
	return log.String()
}

func ianaClient(t *testing.T, transport *fakeIANA) (*Client, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	c, err := New(Options{Transport: transport, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return c, &log
}

func isNear(got, want time.Duration) bool { return got >= want-want/10 && got <= want+want/10 }

func TestRun_FetchesAtStartThenDaily(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := &fakeIANA{answers: []func(*http.Request) (*http.Response, error){
			respondWith(200, `"one"`, goodBootstrap),
			respondWith(304, `"one"`, ""),
		}}
		c, log := ianaClient(t, transport)
		start := time.Now()
		if text := runFor(t, c, log, 60*time.Hour); text != "" {
			t.Errorf("a quiet run logged %q", text)
		}
		if len(transport.requestTimes) != 3 || !transport.requestTimes[0].Equal(start) {
			t.Fatalf("requested at %v", transport.requestTimes)
		}
		for _, gap := range transport.requestGaps() {
			if !isNear(gap, 24*time.Hour) {
				t.Errorf("a gap of %s", gap)
			}
		}
		if transport.etags[0] != "" || transport.etags[1] != `"one"` || transport.etags[2] != `"one"` {
			t.Errorf("ETags %q", transport.etags)
		}
		if base, _ := c.baseFor(registrar.Extension{TLD: ".example"}); base == nil {
			t.Error("a 304 lost the document")
		}
	})
}

func TestRun_FailedRefreshKeepsDocumentAndBacksOff(t *testing.T) {
	t.Parallel()
	for rule, failure := range map[string]func(*http.Request) (*http.Response, error){
		"refused":   connectionError,
		"broken":    respondWith(200, "", `{"services":[]}`),
		"too large": respondWith(200, "", goodBootstrap+strings.Repeat(" ", maxBootstrapBytes)),
		"status":    respondWith(500, "", goodBootstrap),
	} {
		synctest.Test(t, func(t *testing.T) {
			transport := &fakeIANA{answers: []func(*http.Request) (*http.Response, error){
				respondWith(200, "", goodBootstrap), failure,
			}}
			c, log := ianaClient(t, transport)
			text := runFor(t, c, log, 33*time.Hour)
			if base, _ := c.baseFor(registrar.Extension{TLD: ".example"}); base == nil || base.Host != "new.example.net" {
				t.Errorf("%s: the good document was lost: %v", rule, base)
			}
			want := []time.Duration{24 * time.Hour, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour}
			gaps := transport.requestGaps()
			if len(gaps) < len(want) {
				t.Fatalf("%s: gaps %v", rule, gaps)
			}
			for i, gap := range want {
				if !isNear(gaps[i], gap) {
					t.Errorf("%s: gap %d is %s, want about %s", rule, i, gaps[i], gap)
				}
			}
			if strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "data.iana.org") {
				t.Errorf("%s: logged %q", rule, text)
			}
		})
	}
}

func TestRun_RecoveryIsUsedAndLogged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := &fakeIANA{answers: []func(*http.Request) (*http.Response, error){
			connectionError, respondWith(200, "", goodBootstrap), connectionError,
		}}
		c, log := ianaClient(t, transport)
		text := runFor(t, c, log, 30*time.Hour)
		if base, _ := c.baseFor(registrar.Extension{TLD: ".example"}); base == nil {
			t.Error("the document was not used")
		}
		if strings.Count(text, "level=INFO") != 1 || strings.Count(text, "level=WARN") != 2 {
			t.Errorf("logged %q", text)
		}
	})
}

func TestRetryDelay_NeverExceedsRefreshOrHour(t *testing.T) {
	t.Parallel()
	if got := retryDelay(9, 5*time.Second); got != 5*time.Second {
		t.Errorf("got %s", got)
	}
	if got := retryDelay(70, 24*time.Hour); got != time.Hour {
		t.Errorf("got %s", got)
	}
}

func TestFetchBootstrap_OverHTTP(t *testing.T) {
	t.Parallel()
	table := newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/rdap/dns.json" {
			http.NotFound(w, r)
			return
		}
		respond(200, "application/json", goodBootstrap)(w, r)
	})
	table["data.iana.org:443"] = table["rdap.example.net:443"]
	c := newClient(t, Options{Hosts: table})
	if err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.bootstrap.Load().bases["uk"] == nil {
		t.Error("the document was not used")
	}
}
