package config

import (
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Sender returns the From address of mail, "" if it must be configured.
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
	if m.Server == "" {
		if m.User != "" || m.Password != "" {
			k.addf("mail.server", "user or password is set, but server is not")
		}
		return
	}
	if !isHostPort(m.Server) {
		k.addf("mail.server", "%q is not host:port", m.Server)
	}
	if m.TLS == "none" {
		if host, _, _ := net.SplitHostPort(m.Server); !registrar.IsLoopbackHost(host) {
			k.addf("mail.tls", "none is allowed for loopback only, because mail contains links that open accounts")
		}
		if m.User != "" {
			k.addf("mail.tls", "user and password require TLS: the password would be sent unencrypted")
		}
	}
	if (m.User == "") != (m.Password == "") {
		k.addf("mail.user", "set both user and password, or neither")
	}
	switch from, err := mail.ParseAddress(c.Sender()); {
	case c.Sender() == "":
		k.addf("mail.from", "it is required, because base_url has no host name to derive it from")
	case err != nil || strings.ContainsAny(from.Name, "\r\n"):
		k.addf("mail.from", "%q is not an address like dotkontor <post@domains.example>", m.From)
	}
}
