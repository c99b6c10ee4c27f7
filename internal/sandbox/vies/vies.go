// Package vies simulates the European Commission's VIES (the REST interface, POST
// /check-vat-number, and for browsers GET /ms/AT/vat/U12345678). It shares no code with
// the client. No id leaves the machine.
//
// Every id of a member state is valid unless its last three characters say otherwise;
// the numbers are those of VIES' own test service where it has one.
//
//	…200  invalid
//	…201  INVALID_INPUT
//	…300  SERVICE_UNAVAILABLE
//	…301  MS_UNAVAILABLE: the member state does not respond
//	…302  TIMEOUT
//	…303  no response until the caller leaves
//	…304  a proxy's page instead of a response
//	…500  GLOBAL_MAX_CONCURRENT_REQ
//	…600  MS_MAX_CONCURRENT_REQ
//
// Options.Chaos is the share of responses that are outages, whatever the id.
package vies

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
)

const (
	maxConns        = 64
	maxRequestBytes = 16 << 10
	ioTimeout       = 30 * time.Second
	maxHang         = time.Minute
	closeTimeout    = 2 * time.Second
)

// states are the member states as in VIES: Greece is EL, and Northern Ireland,
// which is included, XI.
var states = []string{
	"AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "EL", "ES", "FI", "FR", "HR", "HU", "IE", "IT", "LT", "LU", "LV", "MT",
	"NL", "PL", "PT", "RO", "SE", "SI", "SK", "XI",
}

var numberForm = regexp.MustCompile(`^[0-9A-Za-z+*.]{2,12}$`)

// Verdicts without a VIES response.
const (
	answerHang     = "hang"
	answerHTMLPage = "page"
)

// magicSuffixes maps the last three characters of an id to its verdict.
var magicSuffixes = map[string]string{
	"200": "INVALID", "201": "INVALID_INPUT", "300": "SERVICE_UNAVAILABLE", "301": "MS_UNAVAILABLE", "302": "TIMEOUT",
	"303": answerHang, "304": answerHTMLPage, "500": "GLOBAL_MAX_CONCURRENT_REQ", "600": "MS_MAX_CONCURRENT_REQ",
}

// outages are the verdicts of chaos.
var outages = []string{"SERVICE_UNAVAILABLE", "MS_UNAVAILABLE", "TIMEOUT", "MS_MAX_CONCURRENT_REQ", answerHTMLPage}

// Options configures the server. The zero value works.
type Options struct {
	// Listen is a loopback address with a port; empty means 127.0.0.1:0.
	Listen string
	// Latency is added to every response.
	Latency time.Duration
	// Chaos is the share 0..1 of responses that are outages, Seed its seed; 0 means
	// random.
	Chaos float64
	Seed  uint64
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Server is a running VIES.
type Server struct {
	opts     Options
	address  string
	web      *http.Server
	stop     context.CancelFunc
	running  sync.WaitGroup
	requests atomic.Int64

	mu  sync.Mutex
	rng *rand.Rand
}

// Start starts the server. When it returns, it accepts connections.
func Start(opts Options) (*Server, error) {
	if !(opts.Chaos >= 0 && opts.Chaos <= 1) { // written so that NaN fails too
		return nil, fmt.Errorf("sandbox vies: chaos %v is not between 0 and 1", opts.Chaos)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Seed == 0 {
		opts.Seed = rand.Uint64()
	}
	if opts.Listen == "" {
		opts.Listen = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(opts.Listen)
	if address, addrErr := netip.ParseAddr(host); err != nil || addrErr != nil || !address.IsLoopback() {
		return nil, fmt.Errorf("sandbox vies: %q is not a loopback address and port", opts.Listen)
	}
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", opts.Listen)
	if err != nil {
		return nil, fmt.Errorf("sandbox vies: %w", err)
	}
	s := &Server{opts: opts, address: "http://" + listener.Addr().String(), rng: rand.New(rand.NewPCG(opts.Seed, 2))}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /check-vat-number", s.check)
	mux.HandleFunc("GET /ms/{country}/vat/{number}", s.show)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.web = &http.Server{
		Handler: mux, ErrorLog: log.New(io.Discard, "", 0), BaseContext: func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: ioTimeout, ReadTimeout: ioTimeout, IdleTimeout: ioTimeout, MaxHeaderBytes: 16 << 10,
	}
	s.running.Go(func() { _ = s.web.Serve(netutil.LimitListener(listener, maxConns)) })
	return s, nil
}

// Address is the base URL without a trailing slash.
func (s *Server) Address() string { return s.address }

// Requests counts the queries.
func (s *Server) Requests() int64 { return s.requests.Load() }

// Close stops the server and waits for it.
func (s *Server) Close() error {
	s.stop()
	err := s.web.Close()
	done := make(chan struct{})
	go func() {
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return err
	case <-time.After(closeTimeout):
		return errors.Join(err, fmt.Errorf("sandbox vies: still running %v after close", closeTimeout))
	}
}

// verdict decides a query: empty means that the id is valid.
func (s *Server) verdict(country, number string) string {
	s.requests.Add(1)
	if !slices.Contains(states, country) || !numberForm.MatchString(number) {
		return "INVALID_INPUT"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opts.Chaos > 0 && s.rng.Float64() < s.opts.Chaos {
		return outages[s.rng.IntN(len(outages))]
	}
	return magicSuffixes[number[max(len(number)-3, 0):]]
}

// check is POST /check-vat-number. Reasons are in errorWrappers, without a valid
// member.
func (s *Server) check(w http.ResponseWriter, r *http.Request) {
	var question struct {
		CountryCode string `json:"countryCode"`
		VATNumber   string `json:"vatNumber"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequestBytes)).Decode(&question)
	verdict := "INVALID_INPUT"
	if err == nil {
		verdict = s.verdict(question.CountryCode, question.VATNumber)
	}
	if s.injectFault(w, r, verdict) {
		return
	}
	switch verdict {
	case "", "INVALID":
		send(w, http.StatusOK, map[string]any{
			"countryCode": question.CountryCode, "vatNumber": question.VATNumber, "requestDate": s.opts.Now().UTC().Format(time.RFC3339Nano),
			"valid": verdict == "", "requestIdentifier": "", "name": nameOf(verdict), "address": nameOf(verdict),
			"traderName": "---", "traderNameMatch": "NOT_PROCESSED",
		})
	case "INVALID_INPUT":
		send(w, http.StatusBadRequest, failure(verdict))
	default:
		send(w, http.StatusOK, failure(verdict)) // as in VIES, only the body reports the failure
	}
}

// show is GET /ms/{country}/vat/{number}, which returns false with the reason.
func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	country, number := r.PathValue("country"), r.PathValue("number")
	verdict := s.verdict(country, number)
	if s.injectFault(w, r, verdict) {
		return
	}
	reason := verdict
	if reason == "" {
		reason = "VALID"
	}
	send(w, http.StatusOK, map[string]any{
		"isValid": verdict == "", "requestDate": s.opts.Now().UTC().Format(time.RFC3339Nano), "userError": reason,
		"name": nameOf(verdict), "address": nameOf(verdict), "requestIdentifier": "", "vatNumber": number,
	})
}

// injectFault reports whether it replaced the response.
func (s *Server) injectFault(w http.ResponseWriter, r *http.Request, verdict string) bool {
	if !sleep(r.Context(), s.opts.Latency) {
		return true
	}
	switch verdict {
	case answerHang:
		sleep(r.Context(), maxHang)
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
		return true
	case answerHTMLPage:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "<html><body><h1>503 Service Unavailable</h1></body></html>")
		return true
	}
	return false
}

func nameOf(verdict string) string {
	if verdict == "" {
		return "Beispiel Handel GmbH"
	}
	return "---"
}

func failure(reason string) map[string]any {
	return map[string]any{"actionSucceed": false, "errorWrappers": []any{map[string]any{"error": reason, "message": strings.ToLower(reason)}}}
}

func send(w http.ResponseWriter, status int, object map[string]any) {
	body, err := json.Marshal(object)
	if err != nil { // maps of strings always encode
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// sleep waits; it returns false if ctx ends first.
func sleep(ctx context.Context, span time.Duration) bool {
	if span <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(span)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
