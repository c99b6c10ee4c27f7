package config

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Registration is what new domains begin with.
type Registration struct {
	// Nameservers are those of a new domain, until its holder names others.
	// Registries that want at least two refuse a domain with fewer, such as .de.
	// Default: none.
	Nameservers []string `toml:"nameservers"`
	// MaxConcurrent bounds the paid lines that are carried out at a time. Default: 16.
	MaxConcurrent int `toml:"max_concurrent"`
}

// EPP is one account at a registry or at a wholesale gateway. An extension that an
// account serves is looked up there first, and can be registered. Without any,
// names are looked up in public sources and nothing can be registered.
type EPP struct {
	// Name is our own name for the account, in logs and in the database: letters,
	// digits and hyphens. It never changes while lines or domains refer to it.
	Name string `toml:"name"`
	// Server is host:port; registries listen on port 700.
	Server string `toml:"server"`
	// ServerName is the name in the server's certificate, where it is another one
	// than the host's. Default: the host.
	ServerName string `toml:"server_name"`
	// CA is a PEM file with the authorities to trust. Default: the system's.
	CA string `toml:"ca"`
	// Cert and Key are PEM files of the client certificate that most registries
	// ask for; both or none.
	Cert string `toml:"cert"`
	Key  string `toml:"key"`
	// User is the registrar's id (clID), 3 to 16 characters. Password has at least
	// 6; more than 16 need a server with login security.
	User     string `toml:"user"`
	Password Secret `toml:"password"`
	// Extensions are those that this account serves, like ".com"; "*" stands for
	// all that no other account names, and "!.gr" beside it for one that is not
	// meant.
	Extensions []string `toml:"extensions"`
	// Connections bounds the connections at one moment; registries tell how many
	// an account may have, and all nodes share that number. Default: 4.
	Connections int `toml:"connections"`
	// OrderConnections is how many of them quotes and lookups never take. Default: a quarter
	// of them, but at least one if there are two; -1 means none.
	OrderConnections int `toml:"order_connections"`
	// PerSecond bounds the commands in a second. Default: 0, no bound.
	PerSecond int `toml:"per_second"`
	// OrderPercent is the part of PerSecond that quotes and lookups never use.
	// Default: 25.
	OrderPercent int `toml:"order_percent"`
	// LookupTimeout bounds the wait for an answer to somebody who only asks; then
	// public sources are asked. Default: 1.5s.
	LookupTimeout Duration `toml:"lookup_timeout"`
	// Poll is how often the registry's messages are fetched. Default: 1m.
	Poll Duration `toml:"poll"`
	// Policy tells how the gateway presents extensions otherwise than their
	// registries do. Later entries go before earlier ones.
	Policy []EPPPolicy `toml:"policy"`
}

// EPPPolicy is how an account presents some extensions. What is left out is as in
// the built-in table (docs/registry.md).
type EPPPolicy struct {
	// Extensions are those that this is about; "*" means all.
	Extensions []string `toml:"extensions"`
	// Contacts are the roles that a domain needs: registrant, admin, tech, billing;
	// or none alone, where the registry keeps no contacts.
	Contacts []string `toml:"contacts,omitempty"`
	// Nameservers is objects (hosts that must exist first) or attributes (sent with
	// the domain).
	Nameservers string `toml:"nameservers,omitempty"`
	// AuthCode is set (we choose it at the registration) or on_demand (it is made
	// when the holder leaves).
	AuthCode string `toml:"auth_code,omitempty"`
	// Transfer is waits (the losing registrar has days to object), at_once (the
	// right code moves the domain) or push (only the losing registrar can send it).
	Transfer string `toml:"transfer,omitempty"`
	// MinYears and MaxYears bound the term of a registration.
	MinYears int `toml:"min_years,omitempty"`
	MaxYears int `toml:"max_years,omitempty"`
}

// everyExtension stands for all extensions, and but goes before one that is not
// meant.
const (
	allExtensions = "*"
	excludePrefix = "!"
)

// AccountFor says which account serves an extension: the one that names it, or else
// the one that takes all. Its index is -1 if there is none.
func AccountFor(accounts []EPP, tld string) int {
	all := -1
	for i, account := range accounts {
		switch {
		case slices.Contains(account.Extensions, tld):
			return i
		case slices.Contains(account.Extensions, allExtensions) && !slices.Contains(account.Extensions, excludePrefix+tld):
			all = i
		}
	}
	return all
}

// AppliesTo says whether an entry is about an extension.
func (p EPPPolicy) AppliesTo(tld string) bool {
	for _, extension := range p.Extensions {
		if extension == tld || extension == allExtensions {
			return true
		}
	}
	return false
}

func (r *Registration) check(k *checker) {
	for _, server := range r.Nameservers {
		if host, err := registrar.ParseHost(server); err != nil || host != server {
			k.addf("registration.nameservers", "%q is not a host name in lower case", server)
		}
	}
	k.intRange("registration.max_concurrent", r.MaxConcurrent, 1, 1000)
}

func (c *Config) checkEPP(k *checker) {
	names, served := map[string]bool{}, map[string]string{}
	for i := range c.EPP {
		account := &c.EPP[i]
		key := fmt.Sprintf("epp[%d].", i)
		account.check(k, key)
		if names[account.Name] {
			k.addf(key+"name", "%q is the name of another account", account.Name)
		}
		names[account.Name] = true
		for _, extension := range account.Extensions {
			if strings.HasPrefix(extension, excludePrefix) {
				continue
			}
			if other, twice := served[extension]; twice {
				k.addf(key+"extensions", "%s is served by the account %s already; only one can provision it", extension, other)
			}
			served[extension] = account.Name
		}
	}
}

func (e *EPP) check(k *checker, key string) {
	if e.Name == "" || strings.Trim(strings.ToLower(e.Name), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || len(e.Name) > 40 {
		k.addf(key+"name", "%q is not a name of letters, digits and hyphens", e.Name)
	}
	if host, port, err := net.SplitHostPort(e.Server); err != nil || host == "" || !validPort(port) {
		k.addf(key+"server", "%q is not host:port, like epp.registry.example:700", e.Server)
	}
	if n := len(e.User); n < 3 || n > 16 {
		k.addf(key+"user", "a registrar's id has 3 to 16 characters")
	}
	if len(e.Password) < 6 {
		k.addf(key+"password", "it has at least 6 characters")
	}
	if (e.Cert == "") != (e.Key == "") {
		k.addf(key+"cert", "cert and key belong together; only one is set")
	}
	for field, file := range map[string]string{"ca": e.CA, "cert": e.Cert, "key": e.Key} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			k.addf(key+field, "%v", err)
		}
	}
	if len(e.Extensions) == 0 {
		k.addf(key+"extensions", "which extensions does it serve? \"*\" means all")
	}
	all := slices.Contains(e.Extensions, allExtensions)
	for _, extension := range e.Extensions {
		if strings.HasPrefix(extension, excludePrefix) && !all {
			k.addf(key+"extensions", "%q takes one away from \"*\", which is not there", extension)
		}
		checkExtensions(k, key+"extensions", []string{strings.TrimPrefix(extension, excludePrefix)})
	}
	k.intRange(key+"connections", e.Connections, 0, 1000)
	k.intRange(key+"order_connections", e.OrderConnections, -1, 1000)
	if most := e.Connections; e.OrderConnections > 0 && most > 0 && e.OrderConnections >= most {
		k.addf(key+"order_connections", "with %d of %d connections for orders no name can be looked up", e.OrderConnections, most)
	}
	k.intRange(key+"per_second", e.PerSecond, 0, 100_000)
	k.intRange(key+"order_percent", e.OrderPercent, 0, 90)
	if e.LookupTimeout != 0 {
		k.durationRange(key+"lookup_timeout", e.LookupTimeout, 10*time.Millisecond, maxDeadline)
	}
	if e.Poll != 0 {
		k.durationRange(key+"poll", e.Poll, 100*time.Millisecond, 24*time.Hour)
	}
	for i, policy := range e.Policy {
		policy.check(k, fmt.Sprintf("%spolicy[%d].", key, i))
	}
}

func checkExtensions(k *checker, key string, extensions []string) {
	for _, extension := range extensions {
		if extension == allExtensions {
			continue
		}
		if parsed, err := registrar.ParseExtension(extension); err != nil || parsed != extension {
			k.addf(key, "%q is not an extension like \".co.uk\", with its dot and in lower case", extension)
		}
	}
}

func (p EPPPolicy) check(k *checker, key string) {
	if len(p.Extensions) == 0 {
		k.addf(key+"extensions", "which extensions is it about? \"*\" means all")
	}
	checkExtensions(k, key+"extensions", p.Extensions)
	for _, role := range p.Contacts {
		k.oneOf(key+"contacts", role, "registrant", "admin", "tech", "billing", "none")
		if role == "none" && len(p.Contacts) > 1 {
			k.addf(key+"contacts", "none stands alone")
		}
	}
	if len(p.Contacts) > 0 && !slices.Contains(p.Contacts, "registrant") && !slices.Contains(p.Contacts, "none") {
		k.addf(key+"contacts", "a domain with contacts has a registrant")
	}
	k.oneOf(key+"nameservers", p.Nameservers, "", "objects", "attributes")
	k.oneOf(key+"auth_code", p.AuthCode, "", "set", "on_demand")
	k.oneOf(key+"transfer", p.Transfer, "", "waits", "at_once", "push")
	k.intRange(key+"min_years", p.MinYears, 0, 10)
	k.intRange(key+"max_years", p.MaxYears, 0, 10)
	if p.MaxYears > 0 && p.MinYears > p.MaxYears {
		k.addf(key+"min_years", "%d is more than max_years", p.MinYears)
	}
}
