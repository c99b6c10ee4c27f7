package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// maxDeadline leaves room within the six seconds that the API promises.
const maxDeadline = 5900 * time.Millisecond

// Limits of the queries in flight to one host. Each query over HTTP/1.1 or WHOIS is a
// connection, and registries block clients with too many.
const (
	defaultConcurrent = 64
	maxConcurrent     = 256
)

// fillBaseURL derives a missing base_url from server.listen.
func (c *Config) fillBaseURL() {
	c.BaseURL = strings.TrimSuffix(c.BaseURL, "/")
	if c.BaseURL != "" {
		return
	}
	scheme := "http://"
	if c.Server.TLSCert != "" {
		scheme = "https://"
	}
	c.BaseURL = scheme + c.Server.Listen
}

// checker collects problems.
type checker struct{ problems []error }

func (k *checker) addf(key, format string, args ...any) {
	k.problems = append(k.problems, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
}

// Check returns every problem with the values, one line each.
func (c *Config) Check() error {
	k := &checker{}
	k.baseURL(c.BaseURL)
	if c.Data == "" {
		k.addf("data", "a folder is required")
	}
	c.checkDatabase(k)
	c.Server.check(k)
	k.oneOf("log.format", c.Log.Format, "json", "text")
	k.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	c.Limits.check(k)
	c.Lookup.check(k)
	c.Upstream.check(k)
	c.checkMail(k)
	if f := c.Catalog.ConfirmFactor; !(f >= 1 && f <= 1000) { // also rejects NaN
		k.addf("catalog.confirm_factor", "%g is not between 1 and 1000", f)
	}
	c.Orders.check(k)
	c.VAT.check(k)
	c.Company.check(k)
	c.Registration.check(k)
	c.checkEPP(k)
	c.checkStripe(k)
	k.oneOf("oauth.client_metadata", c.OAuth.ClientMetadata, "auto", "on", "off")
	k.durationRange("oauth.refresh_leeway", c.OAuth.RefreshLeeway, 0, 5*time.Minute)
	return errors.Join(k.problems...)
}

// twoNameservers are popular extensions whose registry rejects a domain with fewer than
// two nameservers.
var twoNameservers = []string{".de", ".it"}

// Warnings lists settings that are valid but probably not intended.
func (c *Config) Warnings() (warnings []string) {
	if len(c.Registration.Nameservers) < 2 {
		for _, tld := range twoNameservers {
			if AccountFor(c.EPP, tld) >= 0 {
				warnings = append(warnings, fmt.Sprintf(
					"registration.nameservers: %d are set, and the %s registry refuses a domain with fewer than two; paid orders would be refunded", len(c.Registration.Nameservers), tld))
			}
		}
	}
	if len(c.EPP) == 0 {
		warnings = append(warnings, "epp: no registry account is configured; names can be looked up, but nothing can be ordered")
	}
	if c.Stripe.SecretKey == "" {
		warnings = append(warnings, "stripe.secret_key: not set; nothing can be ordered")
	}
	if c.Mail.Server == "" {
		warnings = append(warnings, "mail.server: not set; mail stays queued, and customers can't register or reset a password")
	}
	return warnings
}

func (s *Server) check(k *checker) {
	k.listen("server.listen", s.Listen)
	if s.MetricsListen != "off" {
		k.listen("server.metrics_listen", s.MetricsListen)
	}
	if (s.TLSCert == "") != (s.TLSKey == "") {
		k.addf("server.tls_cert", "tls_cert and tls_key belong together; only one is set")
	}
	for key, file := range map[string]string{"server.tls_cert": s.TLSCert, "server.tls_key": s.TLSKey} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			k.addf(key, "%v", err)
		}
	}
	proxies, err := Prefixes(s.TrustedProxies)
	if err != nil {
		k.addf("server.trusted_proxies", "%v", err)
	}
	for _, network := range proxies {
		if network.Bits() == 0 {
			k.addf("server.trusted_proxies", "%s trusts every client, so each could choose the address that rate limits count", network)
		}
	}
	for _, origin := range s.AllowedOrigins {
		address, err := url.Parse(origin)
		if err != nil || address.Hostname() == "" || origin != address.Scheme+"://"+address.Host {
			k.addf("server.allowed_origins", "%q is not an origin, like https://app.example", origin)
		}
	}
	if s.MetricsListen == s.Listen {
		k.addf("server.metrics_listen", "it must differ from server.listen")
	}
	k.intRange("server.max_header_bytes", s.MaxHeaderBytes, 1<<10, 1<<20)
	k.intRange("server.max_connections", s.MaxConnections, 1, 1_000_000)
	k.intRange("server.max_connections_per_address", s.MaxConnectionsPerAddress, 1, 1_000_000)
	k.durationRange("server.read_timeout", s.ReadTimeout, time.Second, 5*time.Minute)
	k.durationRange("server.write_timeout", s.WriteTimeout, 7*time.Second, 10*time.Minute)
	if s.WriteTimeout < s.ReadTimeout {
		k.addf("server.write_timeout", "it must not be shorter than read_timeout, or a slow request gets no response")
	}
	k.durationRange("server.idle_timeout", s.IdleTimeout, time.Second, time.Hour)
	k.durationRange("server.drain_delay", s.DrainDelay, 0, 5*time.Minute)
	k.durationRange("server.drain_timeout", s.DrainTimeout, time.Second, 10*time.Minute)
}

// maxOrderNames is the maximum number of items in an order.
const maxOrderNames = 20

func (l *Limits) check(k *checker) {
	k.windows("limits.", l.LookupPerMinute, l.LookupPer6Hours)
	k.intRange("limits.whois_per_minute", l.WhoisPerMinute, 1, 100_000)
	k.intRange("limits.whois_per_6_hours", l.WhoisPer6Hours, 1, 100_000)
	k.intRange("limits.max_addresses", l.MaxAddresses, 1000, 100_000_000)
	for key, value := range map[string]int{
		"token_per_minute": l.TokenPerMinute, "token_per_hour": l.TokenPerHour,
		"sessions_per_agent": l.SessionsPerAgent, "bad_signatures_per_address": l.BadSignaturesPerAddress,
		"bad_tokens_per_address": l.BadTokensPerAddress,
		"register_per_minute":    l.RegisterPerMinute, "register_per_hour": l.RegisterPerHour,
		"refresh_per_minute": l.RefreshPerMinute, "refresh_per_hour": l.RefreshPerHour,
		"sign_in_per_address": l.SignInPerAddress, "sign_in_per_pair": l.SignInPerPair, "sign_in_per_account": l.SignInPerAccount,
		"sign_in_per_device": l.SignInPerDevice, "codes_per_account": l.CodesPerAccount,
		"codes_per_10_hours": l.CodesPer10Hours, "passkeys_per_address": l.PasskeysPerAddress,
		"mails_per_recipient": l.MailsPerRecipient, "mails_per_address": l.MailsPerAddress,
	} {
		k.intRange("limits."+key, value, 1, 100_000)
	}
	// The largest order must fit.
	for key, value := range map[string]int{
		"quotes_per_minute": l.QuotesPerMinute, "quotes_per_hour": l.QuotesPerHour,
		"agent_quotes_per_minute": l.AgentQuotesPerMinute, "agent_quotes_per_hour": l.AgentQuotesPerHour,
	} {
		k.intRange("limits."+key, value, maxOrderNames, 100_000)
	}
	for i, egress := range l.SharedEgress {
		key := fmt.Sprintf("limits.shared_egress[%d].", i)
		if _, err := Prefixes([]string{egress.Network}); err != nil {
			k.addf(key+"network", "%v", err)
		}
		k.windows(key, egress.LookupPerMinute, egress.LookupPer6Hours)
	}
}

func (k *checker) windows(key string, perMinute, perSixHours int) {
	k.intRange(key+"lookup_per_minute", perMinute, 1, 100_000)
	k.intRange(key+"lookup_per_6_hours", perSixHours, 1, 100_000)
}

func (l *Lookup) check(k *checker) {
	k.durationRange("lookup.deadline", l.Deadline, 100*time.Millisecond, maxDeadline)
	k.durationRange("lookup.cache_free", l.CacheFree, time.Millisecond, 10*time.Minute)
	k.durationRange("lookup.cache_taken", l.CacheTaken, time.Millisecond, time.Hour)
	k.durationRange("lookup.cache_unknown", l.CacheUnknown, time.Millisecond, time.Minute)
	k.intRange("lookup.max_cached", l.MaxCached, 1, 100_000_000)
	k.intRange("lookup.max_concurrent", l.MaxConcurrent, 1, 1_000_000)
}

func (u *Upstream) check(k *checker) {
	if address, err := url.Parse(u.Bootstrap); err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		k.addf("upstream.bootstrap", "%q is not an http or https URL", u.Bootstrap)
	}
	k.durationRange("upstream.bootstrap_refresh", u.BootstrapRefresh, time.Minute, 30*24*time.Hour)
	for _, server := range u.DNS {
		if host, port, err := net.SplitHostPort(server); err != nil || host == "" || !validPort(port) {
			k.addf("upstream.dns", "%q is not host:port", server)
		}
	}
	k.durationRange("upstream.rdap_timeout", u.RDAPTimeout, 10*time.Millisecond, maxDeadline)
	k.durationRange("upstream.whois_timeout", u.WHOISTimeout, 10*time.Millisecond, maxDeadline)
	k.durationRange("upstream.dns_timeout", u.DNSTimeout, 10*time.Millisecond, maxDeadline)
	k.intRange("upstream.per_host_per_second", u.PerHostPerSecond, -1, 10_000)
	k.intRange("upstream.per_host_burst", u.PerHostBurst, 0, 10_000)
	k.intRange("upstream.per_host_concurrent", u.PerHostConcurrent, 0, maxConcurrent)
	k.intRange("upstream.per_host_waiting", u.PerHostWaiting, 0, 1_000_000)
	if err := u.Hosts.Validate(); err != nil {
		k.addf("upstream.hosts", "%v", err)
	}
}

// baseURL accepts only the normal form: lower case, no default port, no path. The URL is
// copied into headers and documents, where clients compare it byte by byte.
func (k *checker) baseURL(text string) {
	address, err := url.Parse(text)
	if err != nil || address.Hostname() == "" || address.Scheme != "http" && address.Scheme != "https" {
		k.addf("base_url", "%q is not a URL like https://domains.example; set base_url if server.listen has no host", text)
		return
	}
	if normal := normalBaseURL(address); normal != text {
		k.addf("base_url", "%q is not in normal form; write %q", text, normal)
	}
}

// normalBaseURL returns scheme, host and port in normal form.
func normalBaseURL(address *url.URL) string {
	host := strings.ToLower(address.Hostname())
	if addr, err := netip.ParseAddr(host); err == nil {
		if host = addr.String(); addr.Is6() {
			host = "[" + host + "]"
		}
	} else if ascii, err := registrar.ParseHost(host); err == nil {
		host = ascii
	} else {
		host = "domains.example"
	}
	port := address.Port()
	if port == "" || address.Scheme == "http" && port == "80" || address.Scheme == "https" && port == "443" {
		return address.Scheme + "://" + host
	}
	return address.Scheme + "://" + host + ":" + port
}

func (k *checker) listen(key, text string) {
	if _, port, err := net.SplitHostPort(text); err != nil || port != "0" && !validPort(port) {
		k.addf(key, "%q is not address:port, like 127.0.0.1:8080 or [::]:443", text)
	}
}

func validPort(text string) bool {
	number, err := strconv.ParseUint(text, 10, 16)
	return err == nil && number > 0
}

func (k *checker) oneOf(key, text string, allowed ...string) {
	if !slices.Contains(allowed, text) {
		k.addf(key, "%q is not one of %s", text, strings.Join(allowed, ", "))
	}
}

func (k *checker) intRange(key string, value, low, high int) {
	if value < low || value > high {
		k.addf(key, "%d is not between %d and %d", value, low, high)
	}
}

func (k *checker) durationRange(key string, value Duration, low, high time.Duration) {
	if d := time.Duration(value); d < low || d > high {
		k.addf(key, "%s is not between %s and %s", d, low, high)
	}
}

// Prefixes parses networks; a plain address is a network with one address.
func Prefixes(texts []string) ([]netip.Prefix, error) {
	prefixes := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		if addr, err := netip.ParseAddr(text); err == nil {
			addr = addr.Unmap()
			prefixes = append(prefixes, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a network like 10.0.0.0/8", text)
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes, nil
}
