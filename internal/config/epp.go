package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Registration controls the registration of domains.
type Registration struct {
	// Nameservers are set on new domains until the holder changes them. Set at least two:
	// some registries, such as that of .de, reject a domain with fewer. Default: none.
	Nameservers []string `toml:"nameservers"`
	// MaxConcurrent limits the provision items that are executed at a time. Default: 16.
	MaxConcurrent int `toml:"max_concurrent" default:"16" range:"1..1000"`
}

// EPP is an account at a registry or a wholesale gateway, an [[epp]] table. An extension
// that an account serves can be registered, and is looked up there first. Without any
// account, names are looked up in public sources and nothing can be registered.
type EPP struct {
	// Name identifies the account in logs and in the database: letters, digits and
	// hyphens. Don't change it while provision items or domains refer to it. Required.
	Name string `toml:"name"`
	// Server is host:port; the usual port is 700. Required.
	Server string `toml:"server"`
	// ServerName is the name in the server's certificate, if it differs from the host.
	// Default: the host in Server.
	ServerName string `toml:"server_name"`
	// CA is a PEM file with the certificate authorities to trust. Default: the system's.
	CA string `toml:"ca"`
	// Cert and Key are the PEM files of the client certificate that most registries
	// require; set both or neither. Default: none.
	Cert string `toml:"cert"`
	Key  string `toml:"key"`
	// User is the registrar's ID (clID), 3 to 16 characters. Password has at least 6
	// characters; more than 16 require a server with the login security extension
	// (RFC 8807). Both are required.
	User     string `toml:"user"`
	Password Secret `toml:"password"`
	// PasswordFile is a file that contains the password; use it instead of Password where
	// secrets are mounted as files. Default: none.
	PasswordFile string `toml:"password_file,omitempty"`
	// Extensions lists what this account serves, such as ".com". "*" means every
	// extension that no other account lists; "!.gr" next to it excludes one. Required.
	Extensions []string `toml:"extensions"`
	// Connections limits the connections, as the registry does for an account: this node's, or
	// with shared.url those of all nodes together. Default: 4.
	Connections int `toml:"connections" range:"0..1000"`
	// OrderConnections is how many of them are reserved for orders: quotes and lookups
	// don't use them. -1 means none. Default: a quarter, but at least one of two.
	OrderConnections int `toml:"order_connections" range:"-1..1000"`
	// PerSecond limits the commands per second, likewise. Default: 0, unlimited.
	PerSecond int `toml:"per_second" range:"0..100000"`
	// OrderPercent is the share of PerSecond that is reserved for orders. At most 90.
	// Default: 25.
	OrderPercent int `toml:"order_percent" range:"0..90"`
	// CheckNames is how many names a check command may have: the registry's maximum.
	// Default: 50.
	CheckNames int `toml:"check_names" range:"0..500"`
	// LookupTimeout limits a lookup at this account; after it, public sources are
	// queried. Default: 1.5s.
	LookupTimeout Duration `toml:"lookup_timeout"`
	// Poll is how often poll messages are fetched. Default: 1m.
	Poll Duration `toml:"poll"`
	// Policy describes where this account's rules differ from the registries' own, one
	// [[epp.policy]] table each. Later entries take precedence. Default: none.
	Policy []EPPPolicy `toml:"policy"`
}

// EPPPolicy overrides the rules of some extensions at an account. Settings that are left
// out keep the value of the built-in table (docs/registry.md).
type EPPPolicy struct {
	// Extensions are the extensions that the entry applies to; "*" means all. Required.
	Extensions []string `toml:"extensions"`
	// Contacts are the roles that a domain needs: registrant, admin, tech, billing; or
	// only none, if the registry stores no contacts.
	Contacts []string `toml:"contacts,omitempty"`
	// RegistrarContact is the handle of your own contact for all roles but the registrant.
	// Without it, the registrant's contact has every role. .eu at EURid requires it, because a
	// contact has one role there.
	RegistrarContact string `toml:"registrar_contact,omitempty"`
	// Addresses are the forms of a contact's address: international (ASCII), local, or both.
	Addresses string `toml:"addresses,omitempty" oneof:",international,local,both"`
	// Nameservers is objects (host objects that must exist first) or attributes (sent
	// with the domain).
	Nameservers string `toml:"nameservers,omitempty" oneof:",objects,attributes"`
	// AuthCode is set (chosen at registration) or on_demand (created when the holder
	// requests one).
	AuthCode string `toml:"auth_code,omitempty" oneof:",set,on_demand"`
	// Transfer is waits (the losing registrar has days to object), at_once (a valid auth
	// code completes the transfer) or push (only the losing registrar can start it).
	Transfer string `toml:"transfer,omitempty" oneof:",waits,at_once,push"`
	// MinYears and MaxYears limit the term of a registration.
	MinYears int `toml:"min_years,omitempty" range:"0..10"`
	MaxYears int `toml:"max_years,omitempty" range:"0..10"`
}

// Wildcards in a list of extensions: all of them, and the prefix of an exception.
const (
	allExtensions = "*"
	excludePrefix = "!"
)

// AccountFor returns the index of the account that serves an extension: the one that
// lists it, else the one with "*", else -1.
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

// AppliesTo reports whether the entry applies to an extension.
func (p EPPPolicy) AppliesTo(tld string) bool {
	return slices.Contains(p.Extensions, tld) || slices.Contains(p.Extensions, allExtensions)
}

func (r *Registration) check(k *checker) {
	for _, server := range r.Nameservers {
		if host, err := registrar.ParseHost(server); err != nil || host != server {
			k.addf("registration.nameservers", "%q is not a host name in lower case", server)
		}
	}
}

func (c *Config) checkEPP(k *checker) {
	names, served := map[string]bool{}, map[string]string{}
	for i := range c.EPP {
		account := &c.EPP[i]
		key := fmt.Sprintf("epp[%d].", i)
		account.check(k, key)
		if names[account.Name] {
			k.addf(key+"name", "%q is already the name of another account", account.Name)
		}
		names[account.Name] = true
		for _, extension := range account.Extensions {
			if strings.HasPrefix(extension, excludePrefix) {
				continue
			}
			if other, twice := served[extension]; twice {
				k.addf(key+"extensions", "%s is already served by the account %s; only one account can serve an extension", extension, other)
			}
			served[extension] = account.Name
		}
	}
}

func (e *EPP) check(k *checker, key string) {
	if e.Name == "" || strings.Trim(strings.ToLower(e.Name), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || len(e.Name) > 40 {
		k.addf(key+"name", "%q is not a name of at most 40 letters, digits and hyphens", e.Name)
	}
	if !isHostPort(e.Server) {
		k.addf(key+"server", "%q is not host:port, like epp.registry.example:700", e.Server)
	}
	if n := len(e.User); n < 3 || n > 16 {
		k.addf(key+"user", "it must have 3 to 16 characters")
	}
	if len(e.Password) < 6 {
		k.addf(key+"password", "it must have at least 6 characters")
	}
	if (e.Cert == "") != (e.Key == "") {
		k.addf(key+"cert", "cert and key belong together; only one is set")
	}
	k.files(map[string]string{key + "ca": e.CA, key + "cert": e.Cert, key + "key": e.Key})
	if len(e.Extensions) == 0 {
		k.addf(key+"extensions", "list the extensions that the account serves; \"*\" means all")
	}
	all := slices.Contains(e.Extensions, allExtensions)
	for _, extension := range e.Extensions {
		if strings.HasPrefix(extension, excludePrefix) && !all {
			k.addf(key+"extensions", "%q excludes an extension from \"*\", which is not listed", extension)
		}
		k.extension(key+"extensions", strings.TrimPrefix(extension, excludePrefix))
	}
	if most := e.Connections; e.OrderConnections > 0 && most > 0 && e.OrderConnections >= most {
		k.addf(key+"order_connections", "%d of %d connections are reserved for orders; none is left for lookups", e.OrderConnections, most)
	}
	if e.LookupTimeout != 0 {
		k.inRange(key+"lookup_timeout", reflect.ValueOf(e.LookupTimeout), "10ms", "5.9s")
	}
	if e.Poll != 0 {
		k.inRange(key+"poll", reflect.ValueOf(e.Poll), "100ms", "24h")
	}
	for i, policy := range e.Policy {
		policy.check(k, fmt.Sprintf("%spolicy[%d].", key, i))
	}
}

func (k *checker) extension(key, text string) {
	if parsed, err := registrar.ParseExtension(text); text != allExtensions && (err != nil || parsed != text) {
		k.addf(key, "%q is not an extension like \".co.uk\", with its dot and in lower case", text)
	}
}

func (p EPPPolicy) check(k *checker, key string) {
	if len(p.Extensions) == 0 {
		k.addf(key+"extensions", "list the extensions that the entry applies to; \"*\" means all")
	}
	for _, extension := range p.Extensions {
		k.extension(key+"extensions", extension)
	}
	for _, role := range p.Contacts {
		k.oneOf(key+"contacts", role, "registrant", "admin", "tech", "billing", "none")
		if role == "none" && len(p.Contacts) > 1 {
			k.addf(key+"contacts", "none can't be combined with other roles")
		}
	}
	if len(p.Contacts) > 0 && !slices.Contains(p.Contacts, "registrant") && !slices.Contains(p.Contacts, "none") {
		k.addf(key+"contacts", "the registrant is missing")
	}
	if n := utf8.RuneCountInString(p.RegistrarContact); n != 0 && (n < 3 || n > 16) {
		k.addf(key+"registrar_contact", "a handle has 3 to 16 characters")
	}
	if p.MaxYears > 0 && p.MinYears > p.MaxYears {
		k.addf(key+"min_years", "%d is more than max_years", p.MinYears)
	}
}
