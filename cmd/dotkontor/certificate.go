package main

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
	"time"
)

// certificate serves the key pair in two files, and takes up renewed files
// without a restart.
type certificate struct {
	certFile, keyFile string

	mu       sync.Mutex
	current  *tls.Certificate
	modified time.Time
	looked   time.Time
}

// lookEvery bounds how often the file system is asked.
const lookEvery = 30 * time.Second

func newCertificate(certFile, keyFile string) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile}
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
	c.current, c.modified, c.looked = &pair, info.ModTime(), time.Now()
	return nil
}

// get is tls.Config.GetCertificate. If a renewed pair can't be read (yet), the
// old one goes on serving.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) > lookEvery {
		c.looked = time.Now()
		if info, err := os.Stat(c.certFile); err == nil && !info.ModTime().Equal(c.modified) {
			_ = c.load()
		}
	}
	return c.current, nil
}
