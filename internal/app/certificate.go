package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
)

// certificate serves a key pair from two files and reloads them when renewed.
type certificate struct {
	certFile, keyFile string
	logger            *slog.Logger
	now               func() time.Time

	mu        sync.Mutex
	current   *tls.Certificate
	modified  time.Time
	checkedAt time.Time
}

// certificatePollInterval bounds how often the files are checked.
const certificatePollInterval = 30 * time.Second

func newCertificate(certFile, keyFile string, logger *slog.Logger, now func() time.Time) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, logger: logger, now: now}
	if err := c.load(); err != nil {
		return nil, fmt.Errorf("the TLS certificate can't be used: %w", err)
	}
	return c, nil
}

func (c *certificate) load() error {
	info, err := os.Stat(c.certFile)
	if err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.current, c.modified, c.checkedAt = &pair, info.ModTime(), c.now()
	return nil
}

// get is tls.Config.GetCertificate. If a renewed pair can't be read, the old one stays
// in use and the error is logged.
func (c *certificate) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now().Sub(c.checkedAt) < certificatePollInterval {
		return c.current, nil
	}
	c.checkedAt = c.now()
	info, err := os.Stat(c.certFile)
	if err == nil && info.ModTime().Equal(c.modified) {
		return c.current, nil
	}
	if err == nil {
		err = c.load()
	}
	if err != nil {
		c.logger.ErrorContext(hello.Context(), "renewed TLS certificate can't be used, keeping the previous one", "error", err.Error())
		return c.current, nil
	}
	c.logger.InfoContext(hello.Context(), "TLS certificate reloaded")
	return c.current, nil
}

// CheckTLSFiles reads the certificates and keys that the configuration names and
// reports those that can't be used. Missing files are reported by config.Load.
func CheckTLSFiles(cfg config.Config) (problems []error) {
	if filesExist(cfg.Server.TLSCert, cfg.Server.TLSKey) {
		if _, err := newCertificate(cfg.Server.TLSCert, cfg.Server.TLSKey, slog.New(slog.DiscardHandler), time.Now); err != nil {
			problems = append(problems, fmt.Errorf("server.tls_cert: %w", err))
		}
	}
	for _, account := range cfg.EPP {
		if account.CA != "" && !filesExist(account.CA) || account.Cert+account.Key != "" && !filesExist(account.Cert, account.Key) {
			continue
		}
		if _, err := eppTLS(account); err != nil {
			problems = append(problems, fmt.Errorf("epp %s: %w", account.Name, err))
		}
	}
	return problems
}

func filesExist(files ...string) bool {
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			return false
		}
	}
	return true
}
