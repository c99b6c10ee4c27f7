package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/upstream/smtp"
	"github.com/dotkontor/dotkontor/internal/upstream/vies"
)

// probeTimeout limits the attempt to reach one upstream.
const probeTimeout = 15 * time.Second

// probe is a configured upstream.
type probe struct {
	name    string
	explain func(error) error
	try     func(context.Context) error
}

// probeUpstreams connects to every upstream except the database and prints a line for
// each. It changes nothing there.
func probeUpstreams(t *cli.Terminal, cfg config.Config, f *findings) {
	probes, done, err := upstreamProbes(cfg)
	if err != nil {
		f.fail(err)
		return
	}
	defer done()
	for _, p := range probes {
		ctx, cancel := context.WithTimeout(t.Ctx, probeTimeout)
		begun := time.Now()
		err := p.try(ctx)
		cancel()
		if err != nil {
			f.fail(fmt.Errorf("%s: %w", p.name, p.explain(err)))
			continue
		}
		printConnected(t.Out, p.name, time.Since(begun))
	}
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
	databaseSettings = upstreamSettings{"database.url", "sslrootcert in database.url", "user and password in database.url"}
	stripeSettings   = upstreamSettings{"stripe.api_url", systemTrust, "stripe.secret_key and, if it is a restricted key, its permissions"}
	viesSettings     = upstreamSettings{"vat.vies_url", systemTrust, ""}
	mailSettings     = upstreamSettings{"mail.server", systemTrust, "mail.user and mail.password"}
	ianaSettings     = upstreamSettings{"upstream.bootstrap", systemTrust, ""}
	dnsSettings      = upstreamSettings{"upstream.dns (default: the resolvers of this machine)", systemTrust, ""}
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
	if advice := s.advice(class); advice != "" {
		return fmt.Errorf("%w: %s", err, advice)
	}
	return err
}

func (s upstreamSettings) advice(class string) string {
	switch class {
	case "login_refused":
		if s.login == "" {
			return "the server refuses access: check " + s.address
		}
		return "the login is refused: check " + s.login
	case "connection_refused":
		return "nothing listens there: check " + s.address + " and whether the server is running"
	case "connection_reset", "connection_closed", "connection_lost":
		return "the server closes the connection: check " + s.address + " and the firewalls on the way"
	case "network_unreachable":
		return "there is no route: check the network of this machine"
	case "name_resolution_failed":
		return "the host has no address: check " + s.address + " and the resolver of this machine"
	case "timeout":
		return "no answer in time: check " + s.address + ", the network and the firewalls on the way"
	case "tls_unknown_authority":
		return "the server's certificate is from an authority that is not trusted: check " + s.authorities
	case "tls_wrong_host_name":
		return "the server's certificate is for another name: check the host in " + s.address
	case "tls_certificate_expired":
		return "the server's certificate has expired, or the clock of this machine is wrong"
	case "tls_not_spoken":
		return "the server does not speak TLS at this port: check the port in " + s.address
	case "tls_not_offered":
		return "the server does not offer STARTTLS: set mail.tls to implicit, or another port in " + s.address
	case "tls_refused":
		return "the server does not accept TLS: enable it there, or check sslmode in " + s.address
	case "no_such_database":
		return "the server has no database of that name: check the path of " + s.address
	case "too_many_connections":
		return "the server has no connection left: lower database.max_connections on all nodes together"
	default:
		return ""
	}
}

func upstreamProbes(cfg config.Config) (probes []probe, done func(), err error) {
	list, err := catalog.Shipped()
	if err != nil {
		return nil, nil, err
	}
	lookups, err := app.OpenLookups(cfg, list)
	if err != nil {
		return nil, nil, err
	}
	add := func(name string, explain func(error) error, try func(context.Context) error) {
		probes = append(probes, probe{name, explain, try})
	}
	for i, client := range lookups.Registries.Clients {
		account := cfg.EPP[i]
		add("epp "+account.Name+" ("+account.Server+")", explainEPPError, func(ctx context.Context) error {
			_, err := client.Poll(ctx) // reads the oldest message and leaves it in the queue
			return err
		})
	}
	if err := probePayments(cfg, add); err != nil {
		lookups.Close()
		return nil, nil, err
	}
	if cfg.Mail.Server != "" {
		sender, err := smtp.New(app.MailOptions(cfg))
		if err != nil {
			lookups.Close()
			return nil, nil, err
		}
		add("mail ("+cfg.Mail.Server+")", mailSettings.explain, sender.Probe)
	}
	add("IANA bootstrap ("+cfg.Upstream.Bootstrap+")", ianaSettings.explain, lookups.RDAP.Refresh)
	add("DNS resolvers", dnsSettings.explain, func(ctx context.Context) error {
		name, err := registrar.ParseName("example.com", func(tld string) bool { return tld == ".com" })
		if err != nil {
			return err
		}
		_, err = lookups.DNS.IsDelegated(ctx, name)
		return err
	})
	return probes, lookups.Close, nil
}

// probePayments adds the payment provider and VIES if orders are enabled.
func probePayments(cfg config.Config, add func(string, func(error) error, func(context.Context) error)) error {
	provider := app.NewStripe(cfg.Stripe, slog.New(slog.DiscardHandler))
	if provider == nil {
		return nil
	}
	add("stripe", stripeSettings.explain, func(ctx context.Context) error {
		for _, err := range provider.Charges(ctx) {
			return err // one charge, or the first error, is enough
		}
		return nil
	})
	register, err := vies.New(vies.Options{Address: cfg.VAT.VIESURL, UserAgent: "dotkontor/" + app.Version, Cache: noVATCache{}})
	if err != nil {
		return err
	}
	add("VIES", viesSettings.explain, func(ctx context.Context) error {
		defer register.Close()
		id := cfg.Company.VATID
		if id == "" {
			id = "DE000000000" // not valid, which is a response as well
		}
		_, err := register.Valid(ctx, id)
		return err
	})
	return nil
}

// noVATCache stores nothing: a probe must reach VIES itself.
type noVATCache struct{}

func (noVATCache) VATCheck(context.Context, string) (valid bool, checkedAt time.Time, found bool, err error) {
	return false, time.Time{}, false, nil
}

func (noVATCache) SetVATCheck(context.Context, string, bool, time.Time) error { return nil }
