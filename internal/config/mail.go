package config

import (
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"
)

// Sender is who letters come from.
func (c *Config) Sender() string {
	if c.Mail.From != "" {
		return c.Mail.From
	}
	address, err := url.Parse(c.BaseURL)
	if err != nil {
		return ""
	}
	host := address.Hostname()
	if _, err := netip.ParseAddr(host); err == nil || host == "" {
		return ""
	}
	return "dotkontor <noreply@" + host + ">"
}

func (c *Config) checkMail(k *checker) {
	m := c.Mail
	k.oneOf("mail.tls", m.TLS, "starttls", "implicit", "none")
	if m.Server == "" {
		if m.User != "" || m.Password != "" {
			k.addf("mail.server", "user and password are set, but no server")
		}
		return
	}
	host, port, err := net.SplitHostPort(m.Server)
	if err != nil || host == "" || !validPort(port) {
		k.addf("mail.server", "%q is not host:port", m.Server)
	}
	if m.TLS == "none" {
		if address, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !address.IsLoopback()) {
			k.addf("mail.tls", "none is allowed to 127.0.0.1, [::1] and localhost only: letters open accounts")
		}
		if m.User != "" {
			k.addf("mail.tls", "with none there can't be a user: the password would travel in clear")
		}
	}
	if (m.User == "") != (m.Password == "") {
		k.addf("mail.user", "user and password belong together; only one is set")
	}
	switch from, err := mail.ParseAddress(c.Sender()); {
	case c.Sender() == "":
		k.addf("mail.from", "it must be set, because base_url names no host that mail could come from")
	case err != nil || strings.ContainsAny(from.Name, "\r\n"):
		k.addf("mail.from", "%q is not an address like dotkontor <post@domains.example>", m.From)
	}
}
