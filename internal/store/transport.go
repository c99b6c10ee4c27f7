package store

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/jackc/pgx/v5"
)

// errBadURL does not quote the URL: it may hold a password.
var errBadURL = errors.New("database.url can't be understood: it is like postgres://user:password@host:5432/database?sslmode=verify-full")

// CheckTransport refuses a PostgreSQL URL by which a connection over a network could be
// made without TLS. Every host of the URL counts, and so do sslmode's values allow and
// prefer (the default), because the driver then goes on in the clear where a server, or
// whoever sits in between, refuses TLS. A host on this machine needs none.
//
// The driver's own parser decides, so what is checked is what is dialed: it also reads
// PGSSLMODE and the other variables of libpq.
func CheckTransport(opts Options) error {
	if opts.URL == "" || opts.AllowPlaintext {
		return nil
	}
	parsed, err := pgx.ParseConfig(opts.URL)
	if err != nil {
		return errBadURL
	}
	type attempt struct {
		host      string
		encrypted bool
	}
	attempts := []attempt{{parsed.Host, parsed.TLSConfig != nil}}
	for _, next := range parsed.Fallbacks {
		attempts = append(attempts, attempt{next.Host, next.TLSConfig != nil})
	}
	for _, a := range attempts {
		if !a.encrypted && !isLocalHost(a.host) {
			return fmt.Errorf("database.url: the connection to %s could be made without TLS; add ?sslmode=verify-full&sslrootcert=FILE "+
				"(recommended) or at least ?sslmode=require to the URL, or set database.allow_plaintext = true if nobody can listen on that network", a.host)
		}
	}
	return nil
}

// isLocalHost says that a connection does not leave this machine: a Unix socket or loopback.
func isLocalHost(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
