package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

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
	eachSetting(reflect.ValueOf(c).Elem(), "", k.tags)
	k.baseURL(c.BaseURL)
	if c.Data == "" {
		k.addf("data", "a folder is required")
	}
	c.checkDatabase(k)
	c.Server.check(k)
	c.Limits.check(k)
	c.Upstream.check(k)
	if c.Tracing.Endpoint != "" {
		k.httpURL("tracing.endpoint", c.Tracing.Endpoint)
	}
	c.checkMail(k)
	if f := c.Catalog.ConfirmFactor; !(f >= 1 && f <= 1000) { // also rejects NaN
		k.addf("catalog.confirm_factor", "%g is not between 1 and 1000", f)
	}
	c.VAT.check(k)
	c.Company.check(k)
	c.checkRDAP(k)
	c.Registration.check(k)
	c.checkEPP(k)
	c.checkStripe(k)
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
	return append(warnings, c.rdapWarnings()...)
}

func (s *Server) check(k *checker) {
	k.listen("server.listen", s.Listen)
	if s.MetricsListen != "off" {
		k.listen("server.metrics_listen", s.MetricsListen)
	}
	if (s.TLSCert == "") != (s.TLSKey == "") {
		k.addf("server.tls_cert", "tls_cert and tls_key belong together; only one is set")
	}
	k.files(map[string]string{"server.tls_cert": s.TLSCert, "server.tls_key": s.TLSKey})
	proxies, err := Prefixes(s.TrustedProxies)
	if err != nil {
		k.addf("server.trusted_proxies", "%v", err)
	}
	for _, network := range proxies {
		if network.Bits() == 0 {
			k.addf("server.trusted_proxies", "%s trusts every client, so each could choose the address that rate limits count", network)
		}
	}
	if s.CountryHeader != "" && (!httpguts.ValidHeaderFieldName(s.CountryHeader) || len(s.TrustedProxies) == 0) {
		k.addf("server.country_header", "%q must be the name of a header that trusted_proxies set; none is trusted without them", s.CountryHeader)
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
	if s.WriteTimeout < s.ReadTimeout {
		k.addf("server.write_timeout", "it must not be shorter than read_timeout, or a slow request gets no response")
	}
}

func (l *Limits) check(k *checker) {
	for i, egress := range l.SharedEgress {
		if _, err := Prefixes([]string{egress.Network}); err != nil {
			k.addf(fmt.Sprintf("limits.shared_egress[%d].network", i), "%v", err)
		}
	}
}

func (u *Upstream) check(k *checker) {
	k.httpURL("upstream.bootstrap", u.Bootstrap)
	for _, server := range u.DNS {
		if !isHostPort(server) {
			k.addf("upstream.dns", "%q is not host:port", server)
		}
	}
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

func isHostPort(text string) bool {
	host, port, err := net.SplitHostPort(text)
	return err == nil && host != "" && validPort(port)
}

// httpURL rejects anything but an http or https URL.
func (k *checker) httpURL(key, text string) {
	if address, err := url.Parse(text); err != nil || address.Hostname() == "" || address.Scheme != "http" && address.Scheme != "https" {
		k.addf(key, "%q is not an http or https URL", text)
	}
}

// files reports the settings whose file does not exist.
func (k *checker) files(files map[string]string) {
	for key, file := range files {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			k.addf(key, "%v", err)
		}
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

// tags checks the tags range (LOW..HIGH) and oneof (A,B,C) of a setting.
func (k *checker) tags(key string, field reflect.Value, tag reflect.StructTag) {
	if limits, has := tag.Lookup("range"); has {
		low, high, _ := strings.Cut(limits, "..")
		k.inRange(key, field, low, high)
	}
	if allowed, has := tag.Lookup("oneof"); has {
		k.oneOf(key, field.String(), strings.Split(allowed, ",")...)
	}
}

// inRange checks a number or duration against limits that are written like its value.
func (k *checker) inRange(key string, field reflect.Value, low, high string) {
	lowest, highest := reflect.New(field.Type()).Elem(), reflect.New(field.Type()).Elem()
	mustSet(lowest, low)
	mustSet(highest, high)
	if field.Int() >= lowest.Int() && field.Int() <= highest.Int() {
		return
	}
	if _, isDuration := field.Interface().(Duration); isDuration {
		k.addf(key, "%s is not between %s and %s", time.Duration(field.Int()), time.Duration(lowest.Int()), time.Duration(highest.Int()))
		return
	}
	k.addf(key, "%d is not between %s and %s", field.Int(), low, high)
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
