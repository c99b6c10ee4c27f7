package stripe

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
)

const (
	maxConns     = 512 // concurrent connections
	ioTimeout    = 30 * time.Second
	closeTimeout = 2 * time.Second
	// tick is the interval for expiring sessions.
	tick = time.Second
	// dataFolder is this server's part of the data folder.
	dataFolder = "stripe"
)

// Options configures the provider. The zero value works without persistence.
type Options struct {
	// Listen is a loopback address with a port. Empty means the port of the last
	// run on the same data folder if it is free, else any.
	Listen string
	// Data is the data folder of the sandbox; empty means no persistence.
	Data string
	// Endpoint is the webhook URL; empty means the last one, or none.
	Endpoint string
	// Holder is the default name in the form of an identity verification.
	Holder string
	// Latency is added to every API response.
	Latency time.Duration
	// Chaos is the share 0..1 of responses and webhooks that fail.
	Chaos float64
	// ChaosDelay is the longest delay of a slow response or webhook; 0 means 2 s.
	ChaosDelay time.Duration
	// Seed is the seed of the chaos; 0 means random.
	Seed uint64
	// Now is the clock for expiry; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
}

// Server is a running provider.
type Server struct {
	opts       Options
	state      *state
	faults     *faults
	deliveries *deliverer
	web        *http.Server
	control    Control
	calls      atomic.Int64
	running    sync.WaitGroup
	ctx        context.Context //nolint:containedctx // lifetime of the provider
	stop       context.CancelFunc
	closed     sync.Once
}

// Start starts the provider. When it returns, it accepts connections.
func Start(opts Options) (*Server, error) {
	if !(opts.Chaos >= 0 && opts.Chaos <= 1) { // written so that NaN fails too
		return nil, fmt.Errorf("sandbox stripe: chaos %v is not between 0 and 1", opts.Chaos)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Seed == 0 {
		opts.Seed = mathrand.Uint64()
	}
	if opts.Holder == "" {
		opts.Holder = "Marlene Petersen"
	}
	path := ""
	if opts.Data != "" {
		path = filepath.Join(opts.Data, dataFolder)
	}
	state, err := openState(path, opts.Now)
	if err != nil {
		return nil, fmt.Errorf("sandbox stripe: %w", err)
	}
	s := &Server{opts: opts, state: state, faults: &faults{chaos: opts.Chaos, maxDelay: cmp.Or(opts.ChaosDelay, 2*time.Second), rng: mathrand.New(mathrand.NewPCG(opts.Seed, 1))}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.deliveries = newDeliverer(s)
	listener, err := s.listen()
	if err == nil {
		err = s.initSettings(listener.Addr().String())
	}
	if err == nil {
		err = s.writeControl(path)
	}
	if err != nil {
		if listener != nil {
			err = errors.Join(err, listener.Close())
		}
		return nil, errors.Join(fmt.Errorf("sandbox stripe: %w", err), state.journal.Close())
	}
	s.open(listener)
	return s, nil
}

func (s *Server) open(listener net.Listener) {
	mux := http.NewServeMux()
	s.routes(mux)
	s.pages(mux)
	s.registerControl(mux)
	s.web = &http.Server{
		Handler: requireLoopbackHost(http.NewCrossOriginProtection().Handler(mux)), ErrorLog: log.New(io.Discard, "", 0),
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
		ReadHeaderTimeout: ioTimeout, ReadTimeout: ioTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	s.running.Go(func() { _ = s.web.Serve(netutil.LimitListener(listener, maxConns)) })
	s.running.Go(s.runClock)
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	for _, one := range s.state.pendingEvents.all() { // undelivered events of an earlier run
		s.deliveries.enqueue(one)
	}
}

// listen prefers the port of the last run, because a running product and open pages
// use it.
func (s *Server) listen() (net.Listener, error) {
	var config net.ListenConfig
	if s.opts.Listen == "" {
		if last := s.state.settings.Listen; last != "" && isLoopback(last) {
			if listener, err := config.Listen(context.Background(), "tcp", last); err == nil {
				return listener, nil
			}
		}
		s.opts.Listen = "127.0.0.1:0"
	}
	if !isLoopback(s.opts.Listen) {
		return nil, fmt.Errorf("%q is not a loopback address and port: this provider has no real money", s.opts.Listen)
	}
	return config.Listen(context.Background(), "tcp", s.opts.Listen)
}

// initSettings creates the secrets at the first start and stores the address.
func (s *Server) initSettings(address string) error {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	kept := s.state.settings
	if kept.SecretKey == "" {
		kept.SecretKey, kept.WebhookSecret, kept.CardSalt = "sk_test_"+rand.Text(), "whsec_"+rand.Text(), rand.Text()
	}
	kept.Listen = address
	if s.opts.Endpoint != "" {
		kept.Endpoint = s.opts.Endpoint
	}
	return s.saveSettings(kept)
}

func (s *Server) saveSettings(now settings) error {
	t := s.state.begin()
	t.change.Settings = &now
	return t.commit()
}

// runClock expires due sessions and releases deferred webhooks without a successor.
func (s *Server) runClock() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
		s.state.mu.Lock()
		s.expireSessions()
		s.state.mu.Unlock()
		s.deliveries.sendDeferred()
	}
}

// API is the base URL of the API, without a trailing slash.
func (s *Server) API() string { return s.currentSettings().origin() }

// SecretKey is the API key.
func (s *Server) SecretKey() string { return s.currentSettings().SecretKey }

// WebhookSecret is the signing secret.
func (s *Server) WebhookSecret() string { return s.currentSettings().WebhookSecret }

func (s *Server) currentSettings() settings {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.settings
}

// Calls counts the API requests.
func (s *Server) Calls() int64 { return s.calls.Load() }

// SetEndpoint sets the webhook URL.
func (s *Server) SetEndpoint(address string) error {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	kept := s.state.settings
	kept.Endpoint = address
	return s.saveSettings(kept)
}

// Fault adds a fault rule.
func (s *Server) Fault(f Fault) error { return s.faults.add(f) }

// ClearFaults removes all fault rules.
func (s *Server) ClearFaults() { s.faults.clear() }

// SavedMethod creates a customer with a saved card, or finds the one with this mail
// address.
func (s *Server) SavedMethod(email, name string) (SavedCard, error) {
	b := s.state
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.customers.all() {
		if c.Email != email {
			continue
		}
		for _, m := range b.methods.all() {
			if m.Customer == c.ID && m.Card.Last4 == "4242" {
				return savedCardOf(m, email), nil
			}
		}
	}
	one, _, wrong := b.readCard("4242424242424242", "", name)
	if wrong != nil {
		return SavedCard{}, errors.New(wrong.Message)
	}
	t := b.begin()
	c := &customer{ID: newID("cus_"), Created: t.at, Email: email, Name: name}
	m := &method{ID: newID("pm_"), Created: t.at, Customer: c.ID, Card: one}
	t.change.Customers, t.change.Methods = []*customer{c}, []*method{m}
	return savedCardOf(m, email), t.commit()
}

// HasMethod reports whether a payment method is saved for a customer.
func (s *Server) HasMethod(id string) bool {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	m := s.state.methods.get(id)
	return m != nil && m.Customer != ""
}

// Close stops the provider. Undelivered webhooks are sent after the next start.
func (s *Server) Close() (err error) {
	s.closed.Do(func() { err = s.close() })
	return err
}

func (s *Server) close() error {
	s.stop()
	err := s.web.Close()
	s.closeControl()
	done := make(chan struct{})
	go func() {
		s.deliveries.close()
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeTimeout):
		err = errors.Join(err, fmt.Errorf("sandbox stripe: still running %v after close", closeTimeout))
	}
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return errors.Join(err, s.state.journal.Close())
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && loopbackHost(host)
}

func loopbackHost(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}
