package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/web"
)

// silenceAtTheEnd is how long a connection that was opened just before the end
// may take to say what it wants.
const silenceAtTheEnd = 500 * time.Millisecond

// server is the public listener and the private one, from open to drained.
type server struct {
	cfg      config.Server
	logger   *slog.Logger
	public   *http.Server
	private  *http.Server // nil if switched off
	listener net.Listener
	privates net.Listener
	draining atomic.Bool
	// silent are connections on which nothing has been said yet.
	silent sync.Map // net.Conn → struct{}
}

// listen opens the ports, so that a port in use is told before anything starts.
func listen(ctx context.Context, cfg config.Server, logger *slog.Logger) (*server, error) {
	var ports net.ListenConfig
	s := &server{cfg: cfg, logger: logger}
	listener, err := ports.Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("can't listen on %s (is another dotkontor running? choose another port with --listen or server.listen): %w", cfg.Listen, err)
	}
	s.listener = listener
	if cfg.MetricsListen != "off" {
		if s.privates, err = ports.Listen(ctx, "tcp", cfg.MetricsListen); err != nil {
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

func (s *server) ready() bool { return !s.draining.Load() }

// handle sets what the ports serve, with hard limits on header, body and time.
func (s *server) handle(handler http.Handler, metrics *prometheus.Registry) {
	errorLog := log.New(quietWriter{s.logger}, "", 0)
	s.public = &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: min(5*time.Second, time.Duration(s.cfg.ReadTimeout)),
		ReadTimeout:       time.Duration(s.cfg.ReadTimeout),
		WriteTimeout:      time.Duration(s.cfg.WriteTimeout),
		IdleTimeout:       time.Duration(s.cfg.IdleTimeout),
		MaxHeaderBytes:    s.cfg.MaxHeaderBytes,
		ErrorLog:          errorLog,
		ConnState:         s.noteSilence,
	}
	if s.privates == nil {
		return
	}
	private := http.NewServeMux()
	private.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	web.Health(private, s.ready)
	s.private = &http.Server{
		Handler:           private,
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          errorLog,
	}
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
		limited := netutil.LimitListener(s.listener, s.cfg.MaxConnections)
		if s.public.TLSConfig != nil {
			failed <- s.public.ServeTLS(limited, "", "")
			return
		}
		failed <- s.public.Serve(limited)
	}()
	if s.private != nil {
		go func() { failed <- s.private.Serve(s.privates) }()
	}
	onReady()

	select {
	case err := <-failed:
		return errors.Join(fmt.Errorf("the server stopped: %w", err), s.close())
	case <-ctx.Done():
	}
	return s.drain(context.WithoutCancel(ctx))
}

// noteSilence keeps account of connections without a request. Shutdown would wait
// seconds for each, as if a request were under way.
func (s *server) noteSilence(conn net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.silent.Store(conn, struct{}{})
		return
	}
	s.silent.Delete(conn)
}

func (s *server) hangUpOnSilence() {
	s.silent.Range(func(conn, _ any) bool {
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
	hangUp := time.AfterFunc(silenceAtTheEnd, s.hangUpOnSilence)
	defer hangUp.Stop()
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
	if s.privates != nil {
		err = errors.Join(err, s.privates.Close())
	}
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// quietWriter takes net/http's own complaints. They name clients' addresses and
// quote what clients sent, so only the beginning that is net/http's own words is
// kept.
type quietWriter struct{ logger *slog.Logger }

func (w quietWriter) Write(text []byte) (int, error) {
	words := string(text)
	for _, end := range []string{" from ", " serving ", ": "} {
		if i := strings.Index(words[min(len(words), len("http: ")):], end); i >= 0 {
			words = words[:i+len("http: ")]
		}
	}
	w.logger.Debug("connection trouble", "kind", strings.TrimSpace(words))
	return len(text), nil
}
