// Package config reads the one configuration file of `dotkontor serve`.
//
// The file is TOML. Every setting has a default that works, so an empty file is
// a valid one. A key that we do not know is an error and not a silent nothing,
// and so is an environment variable with our prefix: a misspelt limit must not
// leave a service open. The environment wins over the file, so that a container
// can change one setting without a new file: DOTKONTOR_SERVER_LISTEN sets
// server.listen, and lists are separated by commas.
//
// The comments on the fields below are the manual.
package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/upstream/hostmap"
)

// Config is everything that an operator can set.
type Config struct {
	// BaseURL is the address under which clients reach the service, without a
	// trailing slash. Default: http:// or https:// and Server.Listen.
	BaseURL string `toml:"base_url"`
	// Data is the folder for what the service keeps on this machine: node.id and,
	// unless database.url names another database, the SQLite database with its
	// secret.key. Default: data.
	Data string `toml:"data"`
	// SecretKey seals what the database holds and the service must be able to read
	// again: the secrets of authenticator apps, the secrets that agents sign with, those
	// that messages to agents are signed with, the auth codes of domains, the links by
	// which orders are paid and verified, and stored answers to agents. It signs no
	// sessions, tokens or mailed links: those are random, and stored as hashes.
	//
	// It is 32 random bytes in base64, as 'dotkontor config new-key' prints them, and
	// the same on every node. A node does not start without the keys that its database
	// is sealed with. Without the key all of the above is lost; back it up apart from
	// the database. 'dotkontor config rotate-key' replaces it. Default: the file
	// secret.key in Data, made at the first start; with database.url it must be set.
	SecretKey Secret `toml:"secret_key"`
	// AdditionalSecretKeys are further keys that sealed values are opened with: the next
	// one before a rotation, previous ones until they are dropped. The database decides
	// which key seals, and not the order here. A running node takes up keys that are
	// added to the configuration file; with DOTKONTOR_ADDITIONAL_SECRET_KEYS it must be
	// restarted. Default: none.
	AdditionalSecretKeys []Secret `toml:"additional_secret_keys"`

	Database Database `toml:"database"`
	Server   Server   `toml:"server"`
	Log      Log      `toml:"log"`
	Limits   Limits   `toml:"limits"`
	Lookup   Lookup   `toml:"lookup"`
	Upstream Upstream `toml:"upstream"`
	Mail     Mail     `toml:"mail"`
	OAuth    OAuth    `toml:"oauth"`
	Catalog  Catalog  `toml:"catalog"`
	Orders   Orders   `toml:"orders"`
	Stripe   Stripe   `toml:"stripe"`
	VAT      VAT      `toml:"vat"`
	Company  Company  `toml:"company"`

	Registration Registration `toml:"registration"`
	// EPP are the accounts at registries, each an [[epp]] of its own. Default: none.
	EPP []EPP `toml:"epp"`
}

// Catalog is how the price list is replaced.
type Catalog struct {
	// ConfirmFactor is by how much a price may rise or fall in one import. Larger
	// changes, and imports that drop an extension, must be confirmed: with --yes at the
	// command line, with a tick on the operators' page. Default: 2.
	ConfirmFactor float64 `toml:"confirm_factor"`
}

// OAuth is how applications are connected.
type OAuth struct {
	// RefreshLeeway is how long the refresh token before the current one is still
	// accepted, because several processes of one customer may share it. After
	// that, and at once if it is 0s, its reuse ends the connection. Default: 20s.
	RefreshLeeway Duration `toml:"refresh_leeway"`
	// ClientMetadata says whether applications may be known by a document at an
	// address of their own, which the service then fetches: on, off, or auto,
	// which is on where BaseURL begins with https. Default: auto.
	ClientMetadata string `toml:"client_metadata"`
}

// FetchesClientMetadata says whether the documents of applications are fetched.
func (c *Config) FetchesClientMetadata() bool {
	switch c.OAuth.ClientMetadata {
	case "on":
		return true
	case "off":
		return false
	default:
		return strings.HasPrefix(c.BaseURL, "https://")
	}
}

// Mail is how letters to customers leave. Without a server they wait in the
// database, and nobody can confirm an address or choose another password.
type Mail struct {
	// Server is host:port of the mail server that takes our letters, such as
	// mail.example:587. Default: none.
	Server string `toml:"server"`
	// TLS is starttls (the connection is encrypted after the greeting, and a
	// server that can't gets no letter), implicit (encrypted from the first byte,
	// usually port 465), or none, which is allowed to this machine only.
	// Default: starttls.
	TLS string `toml:"tls"`
	// User and Password are for a server that asks for them; they travel
	// encrypted only.
	User     string `toml:"user"`
	Password Secret `toml:"password"`
	// From is the sender, such as "dotkontor <post@domains.example>". Default:
	// dotkontor, noreply@ and the host of BaseURL; where that is an address of
	// numbers it must be set.
	From string `toml:"from"`
}

// Server is how clients are served.
type Server struct {
	// Listen is the address and port. Default: 127.0.0.1:8080.
	Listen string `toml:"listen"`
	// TLSCert and TLSKey are PEM files; both or none. Renewed files are picked
	// up within a minute, without a restart.
	TLSCert string `toml:"tls_cert"`
	TLSKey  string `toml:"tls_key"`
	// MetricsListen is the private address of /metrics, /healthz and /readyz.
	// Default: 127.0.0.1:9464; "off" switches it off.
	MetricsListen string `toml:"metrics_listen"`
	// TrustedProxies are the networks whose X-Forwarded-For or Forwarded header
	// is believed. Default: none.
	TrustedProxies []string `toml:"trusted_proxies"`
	// AllowedOrigins are web origins ("https://app.example") from which the MCP
	// endpoint may be called, and whose host it may be called by, though BaseURL
	// is a loopback address: for tunnels and for pages under development. Where
	// BaseURL is a public address, pages of any origin may call. Default: none.
	AllowedOrigins []string `toml:"allowed_origins"`
	// MaxHeaderBytes bounds the head of a request. Default: 16384.
	MaxHeaderBytes int `toml:"max_header_bytes"`
	// MaxConnections and MaxConnectionsPerAddress bound the connections that are
	// open at one moment, in all and from one address that is no trusted proxy.
	// One too many is closed at once. Default: 10000 and 500.
	MaxConnections           int `toml:"max_connections"`
	MaxConnectionsPerAddress int `toml:"max_connections_per_address"`
	// ReadTimeout bounds the time for a whole request to arrive. Default: 10s.
	ReadTimeout Duration `toml:"read_timeout"`
	// WriteTimeout bounds the time from the head of a request to the end of its
	// answer. Default: 20s.
	WriteTimeout Duration `toml:"write_timeout"`
	// IdleTimeout bounds how long a connection may be idle. Default: 2m.
	IdleTimeout Duration `toml:"idle_timeout"`
	// DrainDelay is how long the service goes on accepting requests after it was
	// told to stop, with /readyz already answering 503, so that a load balancer
	// can look elsewhere. Default: 0s.
	DrainDelay Duration `toml:"drain_delay"`
	// DrainTimeout bounds how long requests under way may take to finish.
	// Default: 10s.
	DrainTimeout Duration `toml:"drain_timeout"`
}

// Log is what is written to standard error.
type Log struct {
	// Format is json or text. Default: json.
	Format string `toml:"format"`
	// Level is debug, info, warn or error. Default: info.
	Level string `toml:"level"`
}

// Limits bound what one address may ask.
type Limits struct {
	// LookupPerMinute and LookupPer6Hours are shared by check, search and the
	// lookup tools. Default: 30 and 300.
	LookupPerMinute int `toml:"lookup_per_minute"`
	LookupPer6Hours int `toml:"lookup_per_6_hours"`
	// WhoisPerMinute and WhoisPer6Hours are for the tool whois_lookup alone.
	// Default: 15 and 150.
	WhoisPerMinute int `toml:"whois_per_minute"`
	WhoisPer6Hours int `toml:"whois_per_6_hours"`
	// MaxAddresses bounds how many addresses, accounts or tokens are remembered,
	// for each of the limits here. Default: 2000000.
	MaxAddresses int `toml:"max_addresses"`
	// TokenPerMinute and TokenPerHour are for the tools that act for a customer,
	// counted by token and not by address. Default: 60 and 1000.
	TokenPerMinute int `toml:"token_per_minute"`
	TokenPerHour   int `toml:"token_per_hour"`
	// QuotesPerMinute and QuotesPerHour are how many names one customer may have
	// registries asked about, by pages, baskets, orders, tools and applications
	// together; attempts to pay have a second counter with the same limits. Over
	// them nothing is ordered, and pages show the last answer. An order of 20 names
	// must fit. Default: 120 and 2000.
	QuotesPerMinute int `toml:"quotes_per_minute"`
	QuotesPerHour   int `toml:"quotes_per_hour"`
	// AgentQuotesPerMinute and AgentQuotesPerHour are the same for one checkout
	// agent, with all its buyers. Default: 1200 and 20000.
	AgentQuotesPerMinute int `toml:"agent_quotes_per_minute"`
	AgentQuotesPerHour   int `toml:"agent_quotes_per_hour"`
	// SessionsPerAgent is how many checkout sessions an agent may make in a minute,
	// BadSignaturesPerAddress how many wrong signatures or keys one address has in a
	// minute. Default: 60 and 30.
	SessionsPerAgent        int `toml:"sessions_per_agent"`
	BadSignaturesPerAddress int `toml:"bad_signatures_per_address"`
	// BadTokensPerAddress is how many wrong tokens, codes and client credentials one
	// address may send in a minute, to the MCP endpoint and to the OAuth endpoints,
	// each counted on its own. It is generous, because hosted assistants share a few addresses.
	// Default: 600.
	BadTokensPerAddress int `toml:"bad_tokens_per_address"`
	// SignInPerAddress is how many failed sign-ins one address has in 10 minutes,
	// SignInPerPair how many one account has from one address in 15 minutes, and
	// SignInPerAccount how many one account has in an hour from browsers that it
	// has never signed in with. A known browser has a budget of its own, so that
	// nobody can lock a customer out: SignInPerDevice in 15 minutes. Default: 30,
	// 10, 50 and 10.
	SignInPerAddress int `toml:"sign_in_per_address"`
	SignInPerPair    int `toml:"sign_in_per_pair"`
	SignInPerAccount int `toml:"sign_in_per_account"`
	SignInPerDevice  int `toml:"sign_in_per_device"`
	// CodesPerAccount and CodesPer10Hours are how many codes of a second factor can be
	// tried for one account: in 15 minutes, and in 10 hours. A known browser has
	// budgets of its own. Default: 10 and 25.
	CodesPerAccount int `toml:"codes_per_account"`
	CodesPer10Hours int `toml:"codes_per_10_hours"`
	// MailsPerRecipient and LettersPerAddress are how many mails strangers can
	// have sent in an hour: to one recipient by asking for another password, as many
	// again by registering and by unpaid orders of agents, and all in all from one
	// address. Default: 3 and 20.
	MailsPerRecipient int `toml:"mails_per_recipient"`
	MailsPerAddress   int `toml:"mails_per_address"`
	// RegisterPerMinute and RegisterPerHour are how many applications one address
	// may register. They are generous, because hosted assistants register for all
	// their users from a few addresses. Default: 60 and 1200.
	RegisterPerMinute int `toml:"register_per_minute"`
	RegisterPerHour   int `toml:"register_per_hour"`
	// RefreshPerMinute and RefreshPerHour are how often one connected application
	// may refresh its tokens for one customer. An access token lives an hour, so
	// once an hour for each process that shares the connection is what it needs.
	// Default: 60 and 300.
	RefreshPerMinute int `toml:"refresh_per_minute"`
	RefreshPerHour   int `toml:"refresh_per_hour"`
	// PasskeysPerAddress is how many sign-ins by passkey one address can begin in
	// 10 minutes, and how many uses of one a customer who has signed in. Default:
	// 60.
	PasskeysPerAddress int `toml:"passkeys_per_address"`
	// SharedEgress gives networks whose users share a few addresses limits of
	// their own, each address for itself; whois_lookup gets half as much. A call
	// of a tool with a valid token counts there by token. Default: none.
	SharedEgress []SharedEgress `toml:"shared_egress"`
}

// SharedEgress is one network with limits of its own.
type SharedEgress struct {
	Network         string `toml:"network"`
	LookupPerMinute int    `toml:"lookup_per_minute"`
	LookupPer6Hours int    `toml:"lookup_per_6_hours"`
}

// Lookup is how names are looked up.
type Lookup struct {
	// Deadline bounds one whole answer. Default: 5.5s; at most 5.9s, because the
	// contract promises an answer within six.
	Deadline Duration `toml:"deadline"`
	// KeepFree, KeepTaken and KeepUnknown say how long an answer is reused.
	// Default: 30s, 2m and 5s.
	CacheFree    Duration `toml:"cache_free"`
	CacheTaken   Duration `toml:"cache_taken"`
	CacheUnknown Duration `toml:"cache_unknown"`
	// MaxCached bounds the answers in memory. Default: 100000.
	MaxCached int `toml:"max_cached"`
	// MaxConcurrent bounds the names about which sources are being asked at one
	// moment. A search is eight of them. Default: 4096.
	MaxConcurrent int `toml:"max_concurrent"`
}

// Upstream is how the world outside is reached.
type Upstream struct {
	// Bootstrap is the address of the RDAP bootstrap. Default: IANA's.
	Bootstrap string `toml:"bootstrap"`
	// BootstrapRefresh is how often it is read. Default: 24h.
	BootstrapRefresh Duration `toml:"bootstrap_refresh"`
	// DNS are the resolvers, host:port. Default: those of the machine.
	DNS []string `toml:"dns"`
	// RDAPTimeout, WHOISTimeout and DNSTimeout bound one question each.
	// Default: 2.5s, 2.2s and 2s.
	RDAPTimeout  Duration `toml:"rdap_timeout"`
	WHOISTimeout Duration `toml:"whois_timeout"`
	DNSTimeout   Duration `toml:"dns_timeout"`
	// PerHostPerSecond is how many questions a second one registry's host is
	// asked in the long run, and PerHostBurst how many at once after a quiet
	// time. More wait for their turn. Default: 20, and as many at once as a
	// second; -1 a second switches the limit off.
	PerHostPerSecond int `toml:"per_host_per_second"`
	PerHostBurst     int `toml:"per_host_burst"`
	// PerHostConcurrent bounds the questions that are under way at one host.
	// Default: 64, or 256 where the limit a second is off; at most 256.
	PerHostConcurrent int `toml:"per_host_concurrent"`
	// PerHostWaiting bounds the questions that wait for their turn at one host.
	// More are refused at once, and the next source is asked. Default: 256.
	PerHostWaiting int `toml:"per_host_waiting"`
	// Hosts says where a host is really reached, for mirrors, gateways and the
	// sandbox: "rdap.verisign.com:443" = "http://127.0.0.1:9001" for RDAP,
	// "whois.denic.de:43" = "127.0.0.1:9002" for WHOIS. Default: as named.
	Hosts hostmap.Table `toml:"hosts"`
}

// MaxConcurrent is how many questions may be under way at one host.
func (u Upstream) MaxConcurrent() int {
	switch {
	case u.PerHostConcurrent > 0:
		return u.PerHostConcurrent
	case u.PerHostPerSecond < 0:
		return maxConcurrent
	default:
		return defaultConcurrent
	}
}

// Database is where customers, their tokens and their domains are kept.
type Database struct {
	// URL is that of a PostgreSQL database, postgres://user:password@host:5432/name,
	// which several nodes may share. Its user must own the database: tables are
	// made and changed at start. Default: none, and then it is an SQLite file in
	// Data, for one node.
	//
	// A connection over a network must use TLS: sslmode=verify-full with sslrootcert
	// is recommended, sslmode=require encrypts without checking who answers; disable,
	// allow and prefer (the driver's default) are refused for each host of the URL that
	// is neither loopback nor a Unix socket.
	URL Secret `toml:"url"`
	// AllowPlaintext permits such connections without TLS, where the network itself is
	// private. Default: false.
	AllowPlaintext bool `toml:"allow_plaintext"`
	// MaxConnections bounds the connections to PostgreSQL, or the readers of
	// SQLite. Default: 16.
	MaxConnections int `toml:"max_connections"`
}

// Secret is a setting that must not be shown. It stands in the file and in the
// environment like any other, but whoever prints or logs a configuration sees
// only whether it is set.
type Secret string

// String says whether the setting is set, and not what it is.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(set)"
}

// GoString is String, for %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue is String, for logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON is String, for whoever writes JSON.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// Duration is a time.Duration that is written as 5s, 2m or 24h.
type Duration time.Duration

// UnmarshalText reads 5s, 2m or 24h.
func (d *Duration) UnmarshalText(text []byte) error {
	value, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is not a duration like 5s, 2m or 24h", text)
	}
	*d = Duration(value)
	return nil
}

// MarshalText writes what UnmarshalText reads.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Default is the configuration of an empty file.
func Default() Config {
	return Config{
		Data:     "data",
		Database: Database{MaxConnections: 16},
		Server: Server{
			Listen:         "127.0.0.1:8080",
			MetricsListen:  "127.0.0.1:9464",
			MaxHeaderBytes: 16 << 10,
			MaxConnections: 10_000,

			MaxConnectionsPerAddress: 500,
			ReadTimeout:              Duration(10 * time.Second),
			WriteTimeout:             Duration(20 * time.Second),
			IdleTimeout:              Duration(2 * time.Minute),
			DrainTimeout:             Duration(10 * time.Second),
		},
		Log: Log{Format: "json", Level: "info"},
		Limits: Limits{
			LookupPerMinute: 30, LookupPer6Hours: 300, WhoisPerMinute: 15, WhoisPer6Hours: 150, MaxAddresses: 2_000_000,
			TokenPerMinute: 60, TokenPerHour: 1000, QuotesPerMinute: 120, QuotesPerHour: 2000,
			AgentQuotesPerMinute: 1200, AgentQuotesPerHour: 20_000, SessionsPerAgent: 60, BadSignaturesPerAddress: 30, BadTokensPerAddress: 600,
			SignInPerAddress: 30, SignInPerPair: 10, SignInPerAccount: 50, SignInPerDevice: 10, CodesPerAccount: 10,
			CodesPer10Hours: 25, MailsPerRecipient: 3, MailsPerAddress: 20, PasskeysPerAddress: 60,
			RegisterPerMinute: 60, RegisterPerHour: 1200, RefreshPerMinute: 60, RefreshPerHour: 300,
		},
		Lookup: Lookup{
			Deadline:      Duration(5500 * time.Millisecond),
			CacheFree:     Duration(30 * time.Second),
			CacheTaken:    Duration(2 * time.Minute),
			CacheUnknown:  Duration(5 * time.Second),
			MaxCached:     100_000,
			MaxConcurrent: 4096,
		},
		Upstream: Upstream{
			Bootstrap:        "https://data.iana.org/rdap/dns.json",
			BootstrapRefresh: Duration(24 * time.Hour),
			RDAPTimeout:      Duration(2500 * time.Millisecond),
			WHOISTimeout:     Duration(2200 * time.Millisecond),
			DNSTimeout:       Duration(2 * time.Second),
			PerHostPerSecond: 20,
			PerHostWaiting:   256,
		},
		Mail:    Mail{TLS: "starttls"},
		OAuth:   OAuth{RefreshLeeway: Duration(20 * time.Second), ClientMetadata: "auto"},
		Catalog: Catalog{ConfirmFactor: 2},
		Orders: Orders{
			Hold: Duration(24 * time.Hour), MaxOpen: 20, VerifyOverEUR: 500,
			ReuseQuotes: Duration(10 * time.Second), MaxQuotes: 20_000, RecheckInterval: Duration(3 * time.Second),
		},
		Stripe: Stripe{PaymentMethods: []string{"card"}},
		VAT:    VAT{WarnAtEUR: 8000},

		Company: Company{InvoicePrefix: "RE", CorrectionPrefix: "RK"},

		Registration: Registration{MaxConcurrent: 16},
	}
}
