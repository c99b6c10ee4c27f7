package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// answerTimeout is how long a test waits for an expected response.
const answerTimeout = 20 * time.Second

// silenceTimeout is how long a test waits to see that no response comes. The server
// would take 30 s, so a slow machine can't change the result.
const silenceTimeout = 200 * time.Millisecond

var someZones = []Zone{
	{TLD: ".com", RDAP: "https://rdap.verisign.com/com/v1/", WHOIS: "whois.verisign-grs.com", Popular: true},
	{TLD: ".net", RDAP: "https://rdap.verisign.com/net/v1/", WHOIS: "whois.verisign-grs.com", Popular: true},
	{TLD: ".de", RDAP: "https://rdap.denic.de/", WHOIS: "whois.denic.de", Popular: true},
	{TLD: ".com.de", RDAP: "https://rdap.centralnic.com/com.de/", WHOIS: "whois.centralnic.com"},
	{TLD: ".eu", WHOIS: "whois.eu", Popular: true},
	{TLD: ".at", WHOIS: "whois.nic.at", Popular: true},
	{TLD: ".ch", RDAP: "https://rdap.nic.ch/", WHOIS: "whois.nic.ch"},
	{TLD: ".uk", RDAP: "https://rdap.nominet.uk/uk/", WHOIS: "whois.nic.uk"},
	{TLD: ".co.uk", RDAP: "https://rdap.nominet.uk/uk/", WHOIS: "whois.nic.uk"},
	{TLD: ".it", WHOIS: "whois.nic.it"},
	{TLD: ".be", WHOIS: "whois.dns.be"},
	{TLD: ".se", WHOIS: "whois.iis.se"},
	{TLD: ".dk", WHOIS: "whois.punktum.dk"},
	{TLD: ".hu", WHOIS: "whois.nic.hu"},
	{TLD: ".io", RDAP: "https://rdap.identitydigital.services/rdap/", WHOIS: "whois.nic.io"},
	{TLD: ".dev", RDAP: "https://pubapi.registry.google/rdap/"},
	{TLD: ".academy", RDAP: "https://rdap.identitydigital.services/rdap/"},
	{TLD: ".xn--p1acf", RDAP: "https://rdap.nic.xn--p1acf/", WHOIS: "whois.example:4343"},
	{TLD: ".gr"},
}

// startWorld starts a sandbox for one test, with short delays under chaos.
func startWorld(t testing.TB, opts Options) *Registry {
	t.Helper()
	if opts.Zones == nil {
		opts.Zones = someZones
	}
	r, err := start(opts, timings{hang: 30 * time.Second, slowMin: time.Millisecond, slowMax: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

type httpAnswer struct {
	status int
	header http.Header
	body   string
}

// newHTTPClient opens a connection for each request, so that a reset is not hidden
// by a retry.
func newHTTPClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

func getHTTP(t testing.TB, within time.Duration, url string) (httpAnswer, error) {
	t.Helper()
	return doHTTP(t, within, http.MethodGet, url, nil)
}

func doHTTP(t testing.TB, within time.Duration, method, url string, header map[string]string) (httpAnswer, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, value := range header {
		req.Header.Set(key, value)
	}
	resp, err := newHTTPClient().Do(req)
	if err != nil {
		return httpAnswer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return httpAnswer{resp.StatusCode, resp.Header, string(body)}, err
}

// rdapURL is the RDAP URL of a name in this sandbox.
func rdapURL(t testing.TB, r *Registry, name string) string {
	t.Helper()
	_, zone, found := r.world.split(strings.ToLower(name))
	if !found || zone.RDAP == "" {
		t.Fatalf("no RDAP server for %s", name)
	}
	host, base, err := splitBase(zone.RDAP)
	if err != nil {
		t.Fatal(err)
	}
	return r.Hosts()[host] + base + "domain/" + name
}

func mustGet(t testing.TB, url string) httpAnswer {
	t.Helper()
	a, err := getHTTP(t, answerTimeout, url)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func askWHOIS(t testing.TB, within time.Duration, address, question string) (string, error) {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: answerTimeout}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(within)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(conn, question+"\r\n"); err != nil {
		return "", err
	}
	text, err := io.ReadAll(conn)
	return string(text), err
}

func mustAskWHOIS(t testing.TB, r *Registry, host, question string) string {
	t.Helper()
	text, err := askWHOIS(t, answerTimeout, r.Hosts()[host], question)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func queryDNS(t testing.TB, within time.Duration, network, address, name string, kind uint16) (*dns.Msg, error) {
	t.Helper()
	c := dns.Client{Net: network, Timeout: within}
	question := new(dns.Msg)
	question.SetQuestion(dns.Fqdn(name), kind)
	question.SetEdns0(1232, false)
	reply, _, err := c.ExchangeContext(t.Context(), question, address)
	return reply, err
}

func isTimeout(err error) bool {
	var netErr net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout()
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) && !isTimeout(err)
}

// manyZones is a list of the size and shape of the real one.
func manyZones() []Zone {
	zones := make([]Zone, 0, 490)
	for i := range 490 {
		zone := Zone{TLD: fmt.Sprintf(".zone%d", i), RDAP: fmt.Sprintf("https://rdap%d.example/%d/", i%100, i), Popular: i < 20}
		if i < 38 {
			zone.WHOIS = fmt.Sprintf("whois%d.example", i)
		}
		zones = append(zones, zone)
	}
	return zones
}

func TestAllZonesHost_AnswersForEveryZone(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{Zones: manyZones()})
	for _, zone := range []string{"zone0", "zone489"} {
		if a := mustGet(t, r.RDAP()+"domain/google."+zone); a.status != 200 {
			t.Errorf("RDAP, %s: status %d", zone, a.status)
		}
	}
	conn, err := net.Dial("tcp", r.WHOIS())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "google.zone489\r\n")
	if text, err := io.ReadAll(conn); err != nil || !strings.Contains(string(text), "google.zone489") {
		t.Errorf("WHOIS says %q, %v", text, err)
	}
}

func TestHosts_EachHasItsOwnPort(t *testing.T) {
	t.Parallel()
	began := time.Now()
	r := startWorld(t, Options{Zones: manyZones()})
	t.Logf("490 zones are up after %v", time.Since(began))
	hosts := r.Hosts()
	if len(hosts) != 100+38+3 {
		t.Errorf("%d hosts, want 100 for RDAP, 38 for WHOIS, IANA and the two all-zones servers", len(hosts))
	}
	seen := map[string]string{r.DNS(): "dns"}
	for host, at := range hosts {
		address := strings.TrimPrefix(at, "http://")
		if other, twice := seen[address]; twice {
			t.Errorf("%s and %s share %s", host, other, address)
		}
		seen[address] = host
		if !strings.HasPrefix(address, "127.0.0.1:") {
			t.Errorf("%s is reached at %s, outside the loopback", host, at)
		}
	}
	for i := range 490 {
		for label, want := range map[string]int{"google": 200, "nobody-has-this": 404} {
			if a := mustGet(t, rdapURL(t, r, fmt.Sprintf("%s.zone%d", label, i))); a.status != want {
				t.Errorf("zone %d, %s: status %d, want %d", i, label, a.status, want)
			}
		}
	}
}

func TestHosts_MapPublicNamesToLoopback(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	hosts := r.Hosts()
	for _, host := range []string{"rdap.verisign.com:443", "data.iana.org:443", "rdap.nic.xn--p1acf:443"} {
		if !strings.HasPrefix(hosts[host], "http://127.0.0.1:") {
			t.Errorf("%s is at %q", host, hosts[host])
		}
	}
	for _, host := range []string{"whois.denic.de:43", "whois.example:4343"} {
		if !strings.HasPrefix(hosts[host], "127.0.0.1:") {
			t.Errorf("%s is at %q", host, hosts[host])
		}
	}
	hosts["whois.denic.de:43"] = "elsewhere"
	if r.Hosts()["whois.denic.de:43"] == "elsewhere" {
		t.Error("the caller can change the sandbox's table")
	}
}

func TestStart_RefusesInvalidOptions(t *testing.T) {
	t.Parallel()
	for reason, opts := range map[string]Options{
		"chaos above 1":       {Chaos: 1.1},
		"chaos below 0":       {Chaos: -0.1},
		"chaos is no number":  {Chaos: math.NaN()},
		"negative latency":    {Latency: -1},
		"zone without a dot":  {Zones: []Zone{{TLD: "de"}}},
		"zone in upper case":  {Zones: []Zone{{TLD: ".DE"}}},
		"zone listed twice":   {Zones: []Zone{{TLD: ".de"}, {TLD: ".de"}}},
		"RDAP without a host": {Zones: []Zone{{TLD: ".de", RDAP: "/rdap/"}}},
		"RDAP over gopher":    {Zones: []Zone{{TLD: ".de", RDAP: "gopher://rdap.example/"}}},
		"RDAP at IANA":        {Zones: []Zone{{TLD: ".de", RDAP: "https://data.iana.org/"}}},
	} {
		if r, err := Start(opts); err == nil {
			t.Errorf("%s: accepted", reason)
			_ = r.Close()
		}
	}
}

func TestHosts_HangingHostDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, maxConns)
	for i := range maxConns {
		go func() {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, rdapURL(t, r, fmt.Sprintf("timeout-%d.com", i)), nil)
			if err == nil {
				var resp *http.Response
				if resp, err = newHTTPClient().Do(req); err == nil {
					_ = resp.Body.Close()
				}
			}
			ended <- err
		}()
	}
	for range 20 {
		if a := mustGet(t, rdapURL(t, r, "google.de")); a.status != http.StatusOK {
			t.Errorf("another host answers %d", a.status)
		}
	}
	select {
	case err := <-ended:
		t.Errorf("a query for a timeout- name has ended: %v", err)
	default:
	}
	cancel()
	for range maxConns {
		<-ended
	}
	// The slots are free long before the 30 s of a hanging response are over,
	// because the clients have left.
	if a := mustGet(t, rdapURL(t, r, "google.com")); a.status != http.StatusOK {
		t.Errorf("after the clients have left, the host answers %d", a.status)
	}
}

func TestHosts_ConnectionsBeyondLimitWait(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	address := r.Hosts()["whois.denic.de:43"]
	silent := make([]net.Conn, 0, maxConns)
	for range maxConns {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		silent = append(silent, conn)
	}
	if text, err := askWHOIS(t, silenceTimeout, address, "google.de"); !isTimeout(err) {
		t.Errorf("connection %d was served: %q, %v", maxConns+1, text, err)
	}
	for _, conn := range silent {
		_ = conn.Close()
	}
	if text, err := askWHOIS(t, answerTimeout, address, "google.de"); err != nil || !strings.Contains(text, "Status: connect") {
		t.Errorf("after the others left: %q, %v", text, err)
	}
}

// Not parallel: it counts goroutines.
func TestClose_LeaksNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	r, err := Start(Options{Zones: manyZones()})
	if err != nil {
		t.Fatal(err)
	}
	// Connections of every kind: hanging, silent, idle after a response.
	results := make(chan error, 2)
	go func() {
		_, err := getHTTP(t, answerTimeout, rdapURL(t, r, "timeout-a.zone1"))
		results <- err
	}()
	go func() {
		_, err := askWHOIS(t, answerTimeout, r.Hosts()["whois1.example:43"], "timeout-a.zone1")
		results <- err
	}()
	idle := &http.Client{}
	resp, err := idle.Get(rdapURL(t, r, "google.zone2"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	silent, err := net.Dial("tcp", r.DNS())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := <-results; isTimeout(err) {
			t.Error("a hanging connection was not closed")
		}
	}
	_ = silent.Close()
	idle.CloseIdleConnections()
	for _, at := range r.Hosts() {
		if conn, err := net.Dial("tcp", strings.TrimPrefix(at, "http://")); err == nil {
			t.Errorf("%s still accepts", at)
			_ = conn.Close()
		}
	}
	for end := time.Now().Add(answerTimeout); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
		}
	}
	if err := r.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestLogs_OmitQueriedNames(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r, err := start(Options{Zones: someZones, Chaos: 1, Seed: 3, Logger: logger}, timings{hang: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		_, _ = getHTTP(t, answerTimeout, rdapURL(t, r, "very-secret-idea.com"))
		_, _ = askWHOIS(t, answerTimeout, r.Hosts()["whois.eu:43"], "very-secret-idea.eu")
		_, _ = queryDNS(t, silenceTimeout, "udp", r.DNS(), "very-secret-idea.com", dns.TypeNS)
	}
	if err := r.Close(); err != nil { // the log is complete only then
		t.Error(err)
	}
	text := log.String()
	if !strings.Contains(text, "fault=") {
		t.Error("the log does not mention the chaos")
	}
	if strings.Contains(text, "secret") {
		t.Error("the log contains a searched name")
	}
}

func BenchmarkStart490(b *testing.B) {
	zones := manyZones()
	for b.Loop() {
		r, err := Start(Options{Zones: zones})
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
