package sqldb

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errBadURL does not quote the URL, which may contain a password.
var errBadURL = errors.New("database.url is invalid; the format is postgres://user:password@host:5432/database?sslmode=verify-full")

// CheckTransport rejects a PostgreSQL URL that allows a connection over a network without
// TLS. It checks every host of the URL. The sslmode values allow and prefer (the default)
// are rejected, because the driver falls back to plaintext if the server, or an attacker
// in between, refuses TLS. Hosts on this machine need no TLS.
//
// The URL is parsed by the driver, so what is checked is what is dialled; that includes
// PGSSLMODE and the other libpq variables.
func CheckTransport(opts Options) error {
	if opts.URL == "" || opts.AllowPlaintext {
		return nil
	}
	parsed, err := pgx.ParseConfig(opts.URL)
	if err != nil {
		return errBadURL
	}
	attempts := slices.Concat([]*pgconn.FallbackConfig{{Host: parsed.Host, TLSConfig: parsed.TLSConfig}}, parsed.Fallbacks)
	for _, attempt := range attempts {
		if attempt.TLSConfig == nil && !isLocalHost(attempt.Host) {
			return fmt.Errorf("database.url: the connection to %s could be made without TLS; add ?sslmode=verify-full&sslrootcert=FILE "+
				"(recommended) or at least ?sslmode=require to the URL, or set database.allow_plaintext = true if that network is trusted", attempt.Host)
		}
	}
	return nil
}

// isLocalHost reports whether host is a Unix socket or a loopback address.
func isLocalHost(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
