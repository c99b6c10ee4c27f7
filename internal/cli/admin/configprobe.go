package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/upstream/redis"
	"github.com/dotkontor/dotkontor/internal/upstream/smtp"
	"github.com/dotkontor/dotkontor/internal/upstream/vies"
)

const probeTimeout = 15 * time.Second

// probeUpstreams connects to every upstream except the database and prints a line for
// each. It changes nothing there.
func probeUpstreams(t *cli.Terminal, cfg config.Config, f *findings) error {
	list, err := catalog.Shipped()
	if err != nil {
		return err
	}
	lookups, err := app.OpenLookups(cfg, list)
	if err != nil {
		return err
	}
	defer lookups.Close()
	probe := func(name string, explain func(error) error, try func(context.Context) error) {
		ctx, cancel := context.WithTimeout(t.Ctx, probeTimeout)
		defer cancel()
		begun := time.Now()
		if err := try(ctx); err != nil {
			f.fail(fmt.Errorf("%s: %w", name, explain(err)))
			return
		}
		printConnected(t.Out, name, time.Since(begun))
	}
	for i, client := range lookups.Registries.Clients {
		account := cfg.EPP[i]
		probe("epp "+account.Name+" ("+account.Server+")", explainEPPError, func(ctx context.Context) error {
			_, err := client.Poll(ctx) // reads the oldest message and leaves it in the queue
			return err
		})
	}
	if provider := app.NewStripe(cfg.Stripe); provider != nil {
		probe("stripe", stripeSettings.explain, func(ctx context.Context) error {
			for _, err := range provider.Charges(ctx) {
				return err // one charge, or the first error, is enough
			}
			return nil
		})
		register, err := vies.New(vies.Options{Address: cfg.VAT.VIESURL, UserAgent: "dotkontor/" + app.Version, Cache: noVATCache{}})
		if err != nil {
			return err
		}
		defer register.Close()
		probe("VIES", viesSettings.explain, func(ctx context.Context) error {
			_, err := register.Valid(ctx, cmp.Or(cfg.Company.VATID, "DE000000000")) // an invalid one gets a response as well
			return err
		})
	}
	if cfg.Mail.Server != "" {
		sender, err := smtp.New(app.MailOptions(cfg))
		if err != nil {
			return err
		}
		probe("mail ("+cfg.Mail.Server+")", mailSettings.explain, sender.Probe)
	}
	if cfg.Shared.URL != "" {
		server, err := redis.New(redis.Config{URL: string(cfg.Shared.URL), Key: make([]byte, redis.KeyBytes)}) // nothing is stored
		if err != nil {
			return err
		}
		defer server.Close()
		probe("shared ("+server.Address()+")", sharedSettings.explain, func(ctx context.Context) error {
			evicts, err := server.Probe(ctx)
			if evicts {
				return errors.New("the server may evict keys, and limits with them: set its maxmemory-policy to noeviction")
			}
			return err
		})
	}
	if cfg.Tracing.Endpoint != "" {
		probe("collector ("+cfg.Tracing.Endpoint+")", collectorSettings.explain, func(ctx context.Context) error { return app.ProbeCollector(ctx, cfg.Tracing) })
	}
	probe("IANA bootstrap ("+cfg.Upstream.Bootstrap+")", ianaSettings.explain, lookups.RDAP.Refresh)
	probe("DNS resolvers", dnsSettings.explain, func(ctx context.Context) error {
		name, err := registrar.ParseName("example.com", func(tld string) bool { return tld == ".com" })
		if err != nil {
			return err
		}
		_, err = lookups.DNS.IsDelegated(ctx, name)
		return err
	})
	return nil
}

func printConnected(out io.Writer, name string, took time.Duration) {
	fmt.Fprintf(out, "%-4s %s: connected in %d ms\n", cli.StatusOK, name, took.Milliseconds())
}

// upstreamSettings are the settings to check if an upstream can't be used.
type upstreamSettings struct {
	// address is the setting with the address, authorities names the trusted certificate
	// authorities, login the settings with the credentials, if any.
	address, authorities, login string
}

const systemTrust = "the certificate authorities of this machine"

var (
	databaseSettings  = upstreamSettings{"database.url", "sslrootcert in database.url", "user and password in database.url"}
	stripeSettings    = upstreamSettings{"stripe.api_url", systemTrust, "stripe.secret_key and, if it is a restricted key, its permissions"}
	viesSettings      = upstreamSettings{"vat.vies_url", systemTrust, ""}
	mailSettings      = upstreamSettings{"mail.server", systemTrust, "mail.user and mail.password"}
	sharedSettings    = upstreamSettings{"shared.url", systemTrust, "user and password in shared.url"}
	collectorSettings = upstreamSettings{"tracing.endpoint", systemTrust, ""}
	ianaSettings      = upstreamSettings{"upstream.bootstrap", systemTrust, ""}
	dnsSettings       = upstreamSettings{"upstream.dns (default: the resolvers of this machine)", systemTrust, ""}
)

// explain returns the cause of err and what to check. It quotes no foreign text if the
// cause is known.
func (s upstreamSettings) explain(err error) error {
	class := registrar.NetworkClass(err)
	var cause *registrar.Cause
	if errors.As(err, &cause) {
		err, class = cause, cause.Class
	} else if text := registrar.CauseOf(err); text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	if class == "login_refused" && s.login == "" {
		class = "access_refused"
	}
	if advice, known := classAdvice[class]; known {
		return fmt.Errorf("%w: %s", err, strings.NewReplacer("{address}", s.address, "{authorities}", s.authorities, "{login}", s.login).Replace(advice))
	}
	return err
}

// classAdvice says what to check for each class of causes.
var classAdvice = map[string]string{
	"access_refused":          "the server refuses access: check {address}",
	"login_refused":           "the login is refused: check {login}",
	"connection_refused":      "the server does not accept connections: check {address} and whether the server is running",
	"connection_reset":        closedAdvice,
	"connection_closed":       closedAdvice,
	"connection_lost":         closedAdvice,
	"network_unreachable":     "there is no route to the server: check the network of this machine",
	"name_resolution_failed":  "the host has no address: check {address} and the resolver of this machine",
	"timeout":                 "no response in time: check {address}, the network and firewalls",
	"tls_unknown_authority":   "the server's certificate is from an authority that is not trusted: check {authorities}",
	"tls_wrong_host_name":     "the server's certificate is for another name: check the host in {address}",
	"tls_certificate_expired": "the server's certificate has expired, or the clock of this machine is wrong",
	"tls_not_spoken":          "the server does not use TLS on this port: check the port in {address}",
	"tls_not_offered":         "the server does not offer STARTTLS: set mail.tls to implicit, or another port in {address}",
	"tls_refused":             "the server does not accept TLS: enable it there, or check sslmode in {address}",
	"no_such_database":        "the server has no database with that name: check the path in {address}",
	"too_many_connections":    "the server has no free connections: lower database.max_connections on all nodes",
}

const closedAdvice = "the server closes the connection: check {address} and firewalls"

// noVATCache stores nothing: a probe must reach VIES itself.
type noVATCache struct{}

func (noVATCache) VATCheck(context.Context, string) (valid bool, checkedAt time.Time, found bool, err error) {
	return false, time.Time{}, false, nil
}

func (noVATCache) SetVATCheck(context.Context, string, bool, time.Time) error { return nil }
