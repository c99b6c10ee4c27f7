package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/web"
)

// idleGrace is how long a connection opened just before the shutdown may take to send its request.
const idleGrace = 500 * time.Millisecond

// cipherSuites are those that ICANN accepts for RDAP with TLS 1.2. TLS 1.3 has its own.
var cipherSuites = []uint16{
	tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
}

func newTLSConfig(pair *certificate) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, CipherSuites: cipherSuites, GetCertificate: pair.get, NextProtos: []string{"h2", "http/1.1"},
	}
}

// server serves the public and the private port.
type server struct {
	cfg             config.Server
	logger          *slog.Logger
	public          *http.Server
	private         *http.Server // nil if disabled
	listener        net.Listener
	privateListener net.Listener
	// connLimit wraps listener with connection limits.
	connLimit *connLimiter
	draining  atomic.Bool
	// closing is closed when the server stops accepting requests; event streams end then.
	closing chan struct{}
	// unused are connections without a request so far.
	unused sync.Map // net.Conn → struct{}
}

// errPortInUse means that the public port, not the metrics port, is in use.
var errPortInUse = errors.New("is another dotkontor running?")

// WithPortHint adds the setting that selects another port to errPortInUse.
func WithPortHint(err error, setting string) error {
	if errors.Is(err, errPortInUse) {
		return fmt.Errorf("%w; choose another port with %s", err, setting)
	}
	return err
}

// listen opens the ports first, so that a port in use fails before anything starts.
func listen(ctx context.Context, cfg config.Server, proxies []netip.Prefix, logger *slog.Logger) (*server, error) {
	var ports net.ListenConfig
	s := &server{cfg: cfg, logger: logger, closing: make(chan struct{})}
	listener, err := ports.Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("can't listen on %s (%w): %w", cfg.Listen, errPortInUse, err)
		}
		return nil, fmt.Errorf("can't listen on %s: %w", cfg.Listen, err)
	}
	s.listener = listener
	s.connLimit = newConnLimiter(listener, cfg.MaxConnections, cfg.MaxConnectionsPerAddress, proxies)
	if cfg.MetricsListen != "off" {
		if s.privateListener, err = ports.Listen(ctx, "tcp", cfg.MetricsListen); err != nil {
			return nil, errors.Join(fmt.Errorf("can't listen on %s for metrics (server.metrics_listen): %w", cfg.MetricsListen, err), s.close())
		}
	}
	return s, nil
}

// resolvePort replaces port 0 in an address by the actual port.
func (s *server) resolvePort(baseURL string) string {
	_, port, err := net.SplitHostPort(s.listener.Addr().String())
	if prefix, found := strings.CutSuffix(baseURL, ":0"); found && err == nil {
		return prefix + ":" + port
	}
	return baseURL
}

func (s *server) address() string { return s.listener.Addr().String() }

func (s *server) ready() bool { return !s.draining.Load() }

// handle sets the handlers of both ports, with limits on header, body and time. base is the
// parent of the public requests' contexts.
func (s *server) handle(
	base context.Context, handler http.Handler, metrics *prometheus.Registry, degraded func() []web.Degraded, level *slog.LevelVar,
) {
	newGauge(metrics, "dotkontor_http_connections", "Open client connections.", func() float64 { return float64(s.connLimit.count()) })
	metrics.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "dotkontor_http_connections_refused_total",
		Help: "Connections closed at once because a limit was reached, in total or for one address.",
	}, func() float64 { return float64(s.connLimit.refused.Load()) }))
	errorLog := log.New(redactingWriter{s.logger}, "", 0)
	s.public = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: min(5*time.Second, time.Duration(s.cfg.ReadTimeout)),
		ReadTimeout:       time.Duration(s.cfg.ReadTimeout),
		WriteTimeout:      time.Duration(s.cfg.WriteTimeout),
		IdleTimeout:       time.Duration(s.cfg.IdleTimeout),
		MaxHeaderBytes:    s.cfg.MaxHeaderBytes,
		ErrorLog:          errorLog,
		ConnState:         s.trackUnused,
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	if s.privateListener == nil {
		return
	}
	private := http.NewServeMux()
	private.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	web.Health(private, s.ready, degraded)
	addDebugRoutes(private, level, s.logger)
	s.private = &http.Server{
		Handler:           private,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      2 * time.Minute, // bounds profiles, which take 30 s by default
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          errorLog,
	}
}

// run serves until ctx ends, then drains: readiness fails first, requests in flight may
// finish, and connections still open after the timeout are closed.
func (s *server) run(ctx context.Context, onReady func()) error {
	if s.cfg.TLSCert != "" {
		pair, err := newCertificate(s.cfg.TLSCert, s.cfg.TLSKey, s.logger, time.Now)
		if err != nil {
			return errors.Join(err, s.close())
		}
		s.public.TLSConfig = newTLSConfig(pair)
	}
	failed := make(chan error, 2)
	go func() {
		if s.public.TLSConfig != nil {
			failed <- s.public.ServeTLS(s.connLimit, "", "")
			return
		}
		failed <- s.public.Serve(s.connLimit)
	}()
	if s.private != nil {
		go func() { failed <- s.private.Serve(s.privateListener) }()
	}
	onReady()

	select {
	case err := <-failed:
		return errors.Join(fmt.Errorf("server stopped: %w", err), s.close())
	case <-ctx.Done():
	}
	return s.drain(context.WithoutCancel(ctx))
}

// trackUnused tracks connections without a request, for each of which Shutdown would
// wait several seconds.
func (s *server) trackUnused(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.unused.Store(conn, struct{}{})
	case http.StateIdle: // it was active before
	default:
		s.unused.Delete(conn)
	}
}

func (s *server) closeUnused() {
	s.unused.Range(func(conn, _ any) bool {
		_ = conn.(net.Conn).Close() //nolint:errcheck,forcetypeassert // it may be closed already; the map holds nothing else
		return true
	})
}

func (s *server) drain(ctx context.Context) error {
	s.draining.Store(true)
	s.logger.InfoContext(ctx, "draining", "delay", time.Duration(s.cfg.DrainDelay).String())
	time.Sleep(time.Duration(s.cfg.DrainDelay))
	ctx, cancel := context.WithTimeout(ctx, time.Duration(s.cfg.DrainTimeout))
	defer cancel()
	hangUp := time.AfterFunc(idleGrace, s.closeUnused)
	defer hangUp.Stop()
	close(s.closing)
	err := s.public.Shutdown(ctx)
	if err != nil {
		err = errors.Join(fmt.Errorf("some requests did not finish within %s", time.Duration(s.cfg.DrainTimeout)), s.public.Close())
	}
	if s.private != nil {
		err = errors.Join(err, s.private.Close())
	}
	s.logger.InfoContext(ctx, "stopped")
	return err
}

// close closes the ports of a server that never ran.
func (s *server) close() error {
	err := s.listener.Close()
	if s.privateListener != nil {
		err = errors.Join(err, s.privateListener.Close())
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// redactingWriter logs net/http's own messages. They contain client addresses and
// input, so only the constant prefix is logged.
type redactingWriter struct{ logger *slog.Logger }

func (w redactingWriter) Write(text []byte) (int, error) {
	message := string(text)
	for _, end := range []string{" from ", " serving ", ": "} {
		if i := strings.Index(message[min(len(message), len("http: ")):], end); i >= 0 {
			message = message[:i+len("http: ")]
		}
	}
	w.logger.Debug("connection error", "kind", strings.TrimSpace(message))
	return len(text), nil
}
