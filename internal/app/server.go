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

// idleGrace is how long a connection that was opened just before the end
// may take to say what it wants.
const idleGrace = 500 * time.Millisecond

// server is the public listener and the private one, from open to drained.
type server struct {
	cfg             config.Server
	logger          *slog.Logger
	public          *http.Server
	private         *http.Server // nil if switched off
	listener        net.Listener
	privateListener net.Listener
	// connLimit is listener with its bounds.
	connLimit *connLimiter
	draining  atomic.Bool
	// closing is closed once nothing more is accepted: what is open for as long as
	// somebody looks at it must end by then.
	closing chan struct{}
	// unused are connections on which nothing has been said yet.
	unused sync.Map // net.Conn → struct{}
}

// ErrPortInUse marks that the public port is taken, as opposed to that for metrics.
var ErrPortInUse = errors.New("is another dotkontor running?")

// WithPortHint names the setting by which the command at hand chooses another port.
func WithPortHint(err error, setting string) error {
	if errors.Is(err, ErrPortInUse) {
		return fmt.Errorf("%w; choose another port with %s", err, setting)
	}
	return err
}

// listen opens the ports, so that a port in use is told before anything starts.
func listen(ctx context.Context, cfg config.Server, proxies []netip.Prefix, logger *slog.Logger) (*server, error) {
	var ports net.ListenConfig
	s := &server{cfg: cfg, logger: logger, closing: make(chan struct{})}
	listener, err := ports.Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("can't listen on %s (%w): %w", cfg.Listen, ErrPortInUse, err)
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

// resolvePort puts the real port into an address whose port was left to the
// system.
func (s *server) resolvePort(baseURL string) string {
	_, port, err := net.SplitHostPort(s.listener.Addr().String())
	if prefix, found := strings.CutSuffix(baseURL, ":0"); found && err == nil {
		return prefix + ":" + port
	}
	return baseURL
}

// address is where the product listens, with its real port.
func (s *server) address() string { return s.listener.Addr().String() }

func (s *server) ready() bool { return !s.draining.Load() }

// handle sets what the ports serve, with hard limits on header, body and time.
func (s *server) handle(handler http.Handler, metrics *prometheus.Registry, degraded func() []web.Degraded) error {
	for _, collector := range []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "dotkontor_http_connections",
			Help: "Connections of clients that are open at this moment.",
		}, func() float64 { return float64(s.connLimit.count()) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "dotkontor_http_connections_refused_total",
			Help: "Connections that were closed at once because there were too many, in all or from one address.",
		}, func() float64 { return float64(s.connLimit.refused.Load()) }),
	} {
		if err := metrics.Register(collector); err != nil {
			return err
		}
	}
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
	}
	if s.privateListener == nil {
		return nil
	}
	private := http.NewServeMux()
	private.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	web.Health(private, s.ready, degraded)
	s.private = &http.Server{
		Handler:           private,
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          errorLog,
	}
	return nil
}

// run serves until ctx ends, then drains: readiness goes first, requests under
// way may finish, and what is still open after the time-out is cut.
func (s *server) run(ctx context.Context, onReady func()) error {
	if s.cfg.TLSCert != "" {
		pair, err := newCertificate(s.cfg.TLSCert, s.cfg.TLSKey, s.logger, time.Now)
		if err != nil {
			return errors.Join(err, s.close())
		}
		s.public.TLSConfig = &tls.Config{
			MinVersion: tls.VersionTLS12, GetCertificate: pair.get, NextProtos: []string{"h2", "http/1.1"},
		}
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
		return errors.Join(fmt.Errorf("the server stopped: %w", err), s.close())
	case <-ctx.Done():
	}
	return s.drain(context.WithoutCancel(ctx))
}

// trackUnused keeps account of connections without a request. Shutdown would wait
// seconds for each, as if a request were under way.
func (s *server) trackUnused(conn net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.unused.Store(conn, struct{}{})
		return
	}
	s.unused.Delete(conn)
}

func (s *server) closeUnused() {
	s.unused.Range(func(conn, _ any) bool {
		_ = conn.(net.Conn).Close() //nolint:errcheck,forcetypeassert // it may be gone already; the map holds nothing else
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

// close gives up the ports of a server that never ran.
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

// redactingWriter takes net/http's own complaints. They name clients' addresses and
// quote what clients sent, so only the beginning that is net/http's own words is
// kept.
type redactingWriter struct{ logger *slog.Logger }

func (w redactingWriter) Write(text []byte) (int, error) {
	message := string(text)
	for _, end := range []string{" from ", " serving ", ": "} {
		if i := strings.Index(message[min(len(message), len("http: ")):], end); i >= 0 {
			message = message[:i+len("http: ")]
		}
	}
	w.logger.Debug("connection trouble", "kind", strings.TrimSpace(message))
	return len(text), nil
}
