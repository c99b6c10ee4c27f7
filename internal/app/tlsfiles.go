package app

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/dotkontor/dotkontor/internal/config"
)

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
