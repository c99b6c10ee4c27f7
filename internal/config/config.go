// Package config reads the configuration file of `dotkontor serve`.
//
// The file is TOML. Every setting has a working default, so an empty file is valid.
// Unknown keys, and unknown environment variables with the prefix DOTKONTOR_, are
// errors: a misspelt limit must not leave a service open. Environment variables take
// precedence over the file, so a container can change one setting without a new file:
// DOTKONTOR_SERVER_LISTEN sets server.listen. Commas separate the entries of a list.
// DOTKONTOR_STRIPE_SECRET_KEY_FILE names a file that contains stripe.secret_key; this works for
// every secret.
// Tables such as [[epp]] can be set in the file only.
//
// The field comments in this package are the operator's manual. The tags default, range
// and oneof of a field define the same values for the program.
package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/upstream/hostmap"
)

// Config holds every setting.
type Config struct {
	// BaseURL is the URL at which clients reach the service, such as
	// https://domains.example. Default: http:// (https:// with server.tls_cert)
	// followed by server.listen.
	BaseURL string `toml:"base_url"`
	// Data is the folder for this node's files: node.id and, unless database.url is
	// set, the SQLite database and secret.key. Default: data.
	Data string `toml:"data" default:"data"`
	// SecretKey encrypts the values in the database that the service must be able to
	// read back: secrets of authenticator apps, secrets of agents and of their webhooks,
	// auth codes of domains, payment and verification links, and stored responses to
	// agents. Sessions, tokens and mailed links don't depend on it: they are random and
	// stored as hashes.
	//
	// It is 32 random bytes in base64, as 'dotkontor config new-key' prints them, and must
	// be the same on every node. A node refuses to start without the keys that its
	// database is sealed with. If the key is lost, all of these values are lost: back it
	// up separately from the database. 'dotkontor config rotate-key' replaces it.
	// Default: the file secret.key in Data, created at the first start. Required with
	// database.url.
	SecretKey Secret `toml:"secret_key"`
	// AdditionalSecretKeys are further keys for decryption: the next key before a
	// rotation, previous keys until they are dropped. The database records which key
	// encrypts; the order here does not matter. A running node reloads this list from the
	// configuration file; if it comes from DOTKONTOR_ADDITIONAL_SECRET_KEYS, restart the
	// node. Default: none.
	AdditionalSecretKeys []Secret `toml:"additional_secret_keys"`

	Database Database `toml:"database"`
	Shared   Shared   `toml:"shared"`
	Server   Server   `toml:"server"`
	Log      Log      `toml:"log"`
	Tracing  Tracing  `toml:"tracing"`
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
	RDAP     RDAP     `toml:"rdap"`
	Premium  Premium  `toml:"premium"`

	Registration Registration `toml:"registration"`
	// EPP are the registry accounts, one [[epp]] table each. Default: none.
	EPP []EPP `toml:"epp"`
}

// Catalog controls imports of the price list.
type Catalog struct {
	// ConfirmFactor is the factor by which an import may raise or lower a price without
	// confirmation. Larger changes, and imports that drop an extension, need --yes on the
	// command line or the checkbox on the operator page. From 1 to 1000. Default: 2.
	ConfirmFactor float64 `toml:"confirm_factor" default:"2"`
}

// OAuth controls the connections of applications (OAuth clients).
type OAuth struct {
	// RefreshLeeway is how long a rotated refresh token is still accepted, for
	// processes that share one. Reuse after that revokes the grant; with 0s, any reuse
	// does. At most 5m. Default: 20s.
	RefreshLeeway Duration `toml:"refresh_leeway" default:"20s" range:"0s..5m"`
	// ClientMetadata allows clients that identify themselves by the URL of a client ID
	// metadata document, which the service fetches: on, off, or auto (on if base_url is
	// https). Default: auto.
	ClientMetadata string `toml:"client_metadata" default:"auto" oneof:"auto,on,off"`
}

// FetchesClientMetadata reports whether client ID metadata documents are fetched.
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

// Mail is the mail server for mail to customers. Without one, mail stays queued in the
// database, and customers can't confirm an address or reset a password.
type Mail struct {
	// Server is host:port of the SMTP server, such as mail.example:587. Default: none.
	Server string `toml:"server"`
	// TLS is starttls (required: no mail is sent to a server that does not offer it),
	// implicit (TLS from the first byte, usually on port 465), or none (loopback only).
	// Default: starttls.
	TLS string `toml:"tls" default:"starttls" oneof:"starttls,implicit,none"`
	// User and Password authenticate at the server. Set both or neither; they require
	// TLS. Default: none.
	User     string `toml:"user"`
	Password Secret `toml:"password"`
	// From is the sender, such as "dotkontor <post@domains.example>". Required if the
	// host of base_url is an IP address. Default: "dotkontor <noreply@HOST>" with the
	// host of base_url.
	From string `toml:"from"`
}

// Server controls the HTTP server.
type Server struct {
	// Listen is the address and port to listen on, such as [::]:443.
	// Default: 127.0.0.1:8080.
	Listen string `toml:"listen" default:"127.0.0.1:8080"`
	// TLSCert and TLSKey are PEM files; set both or neither. Renewed files are loaded
	// within a minute, without a restart. Default: none, plain HTTP.
	TLSCert string `toml:"tls_cert"`
	TLSKey  string `toml:"tls_key"`
	// MetricsListen is the private address of /metrics, /healthz, /readyz, /debug/pprof/ and
	// /debug/log-level; "off" disables it. Whoever reaches it can read memory and change the
	// log level, so it must never be public. Default: 127.0.0.1:9464.
	MetricsListen string `toml:"metrics_listen" default:"127.0.0.1:9464"`
	// TrustedProxies are the addresses and networks, such as 10.0.0.0/8, whose
	// X-Forwarded-For or Forwarded header is trusted. Rate limits count the address named
	// there. Default: none.
	TrustedProxies []string `toml:"trusted_proxies"`
	// CountryHeader is the header in which a trusted proxy reports the client's country as
	// a code of ISO 3166-1, such as CF-IPCountry. Customers see the country with their
	// sign-ins. The proxy must replace the header if a client sends it; from anyone but
	// trusted_proxies it is ignored. Default: none, only the network is shown.
	CountryHeader string `toml:"country_header"`
	// AllowedOrigins are the web origins, such as https://app.example, that may call the
	// MCP endpoint while base_url is a loopback address; their hosts are also accepted in
	// the Host header. Use it for tunnels and for pages under development. With a public
	// base_url, every origin may call. Default: none.
	AllowedOrigins []string `toml:"allowed_origins"`
	// MaxHeaderBytes limits the size of a request's headers. Default: 16384.
	MaxHeaderBytes int `toml:"max_header_bytes" default:"16384" range:"1024..1048576"`
	// MaxConnections and MaxConnectionsPerAddress limit the open connections, in total
	// and per client address. Connections beyond a limit are closed at once. Trusted
	// proxies are exempt from the second. Default: 10000 and 500.
	MaxConnections           int `toml:"max_connections" default:"10000" range:"1..1000000"`
	MaxConnectionsPerAddress int `toml:"max_connections_per_address" default:"500" range:"1..1000000"`
	// ReadTimeout limits the time in which a whole request must arrive. This and the next
	// two timeouts may take effect up to one second later. Default: 10s.
	ReadTimeout Duration `toml:"read_timeout" default:"10s" range:"1s..5m"`
	// WriteTimeout limits the time from the end of a request's headers to the end of its
	// response. At least 7s, and no less than read_timeout. Default: 20s.
	WriteTimeout Duration `toml:"write_timeout" default:"20s" range:"7s..10m"`
	// IdleTimeout limits how long a connection may be idle. Default: 2m.
	IdleTimeout Duration `toml:"idle_timeout" default:"2m" range:"1s..1h"`
	// DrainDelay is how long the service keeps accepting requests after SIGTERM while
	// /readyz returns 503. Set it to the time that your load balancer needs to notice.
	// Default: 0s.
	DrainDelay Duration `toml:"drain_delay" range:"0s..5m"`
	// DrainTimeout limits how long requests in flight may take to finish after that.
	// Default: 10s.
	DrainTimeout Duration `toml:"drain_timeout" default:"10s" range:"1s..10m"`
}

// Log controls the log on standard error.
type Log struct {
	// Format is json or text. Default: json.
	Format string `toml:"format" default:"json" oneof:"json,text"`
	// Level is debug, info, warn or error. Default: info.
	Level string `toml:"level" default:"info" oneof:"debug,info,warn,error"`
}

// Tracing sends traces of requests, jobs and calls to other systems to a collector of
// OpenTelemetry. Spans contain routes, codes and the names of registry accounts; never domain
// names, mail addresses, IP addresses or IDs of customers.
type Tracing struct {
	// Endpoint is the URL of the collector for OTLP over HTTP, such as
	// http://127.0.0.1:4318/v1/traces. /v1/traces is added to a URL without a path.
	// Default: none, nothing is traced.
	Endpoint string `toml:"endpoint"`
	// SamplePercent is how many of 100 requests and jobs are traced. A client can't choose.
	// Default: 10.
	SamplePercent int `toml:"sample_percent" default:"10" range:"1..100"`
}

// Lookup controls availability lookups.
type Lookup struct {
	// Deadline limits one lookup over all its sources. At most 5.9s, because the API
	// promises a response within six seconds. Default: 5.5s.
	Deadline Duration `toml:"deadline" default:"5.5s" range:"100ms..5.9s"`
	// CacheFree, CacheTaken and CacheUnknown are how long a result is reused.
	// Default: 30s, 2m and 5s.
	CacheFree    Duration `toml:"cache_free" default:"30s" range:"1ms..10m"`
	CacheTaken   Duration `toml:"cache_taken" default:"2m" range:"1ms..1h"`
	CacheUnknown Duration `toml:"cache_unknown" default:"5s" range:"1ms..1m"`
	// MaxCached limits the results in memory. Default: 100000.
	MaxCached int `toml:"max_cached" default:"100000" range:"1..100000000"`
	// MaxConcurrent limits the names that are looked up at a time. A search looks up
	// eight. Default: 4096.
	MaxConcurrent int `toml:"max_concurrent" default:"4096" range:"1..1000000"`
}

// Upstream controls queries to the public sources: RDAP, WHOIS and DNS.
type Upstream struct {
	// Bootstrap is the URL of the RDAP bootstrap file. Default: IANA's.
	Bootstrap string `toml:"bootstrap" default:"https://data.iana.org/rdap/dns.json"`
	// BootstrapRefresh is how often it is fetched. Default: 24h.
	BootstrapRefresh Duration `toml:"bootstrap_refresh" default:"24h" range:"1m..720h"`
	// DNS are the resolvers, each as host:port. Default: those of the machine.
	DNS []string `toml:"dns"`
	// RDAPTimeout, WHOISTimeout and DNSTimeout limit one query each.
	// Default: 2.5s, 2.2s and 2s.
	RDAPTimeout  Duration `toml:"rdap_timeout" default:"2.5s" range:"10ms..5.9s"`
	WHOISTimeout Duration `toml:"whois_timeout" default:"2.2s" range:"10ms..5.9s"`
	DNSTimeout   Duration `toml:"dns_timeout" default:"2s" range:"10ms..5.9s"`
	// PerHostPerSecond is the sustained rate of queries to one registry host; -1 disables
	// the limit. PerHostBurst is how many queries may be sent at once after an idle
	// period. Further queries wait. Default: 20, and 0 (the same as PerHostPerSecond).
	PerHostPerSecond int `toml:"per_host_per_second" default:"20" range:"-1..10000"`
	PerHostBurst     int `toml:"per_host_burst" range:"0..10000"`
	// PerHostConcurrent limits the queries in flight to one host. At most 256.
	// Default: 0, which means 64, or 256 if PerHostPerSecond is -1.
	PerHostConcurrent int `toml:"per_host_concurrent" range:"0..256"`
	// PerHostWaiting limits the queries that wait for one host. Beyond it, the next
	// source is queried at once. Default: 256.
	PerHostWaiting int `toml:"per_host_waiting" default:"256" range:"0..1000000"`
	// Hosts overrides where a host is reached, for mirrors, gateways and the sandbox:
	// "rdap.verisign.com:443" = "http://127.0.0.1:9001" for RDAP,
	// "whois.denic.de:43" = "127.0.0.1:9002" for WHOIS. Default: none.
	Hosts hostmap.Table `toml:"hosts"`
}

// MaxConcurrent returns the limit of queries in flight to one host.
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

// Database selects the database.
type Database struct {
	// URL is a PostgreSQL database, postgres://user:password@host:5432/name, which several
	// nodes may share. The user must own the database, because the schema is created and
	// migrated at start. Default: none, which means an SQLite file in Data, for one node.
	// Several servers are tried in turn: host1:5432,host2:5432 with
	// target_session_attrs=read-write finds the primary after a failover.
	//
	// A connection over a network must use TLS: sslmode=verify-full with sslrootcert is
	// recommended; sslmode=require encrypts without verifying the server. The modes
	// disable, allow and prefer (the driver's default) are rejected for every host in the
	// URL that is neither loopback nor a Unix socket.
	URL Secret `toml:"url"`
	// AllowPlaintext permits such connections without TLS. Use it only in a private
	// network. Default: false.
	AllowPlaintext bool `toml:"allow_plaintext"`
	// MaxConnections limits this node's connections to PostgreSQL, or the readers of
	// SQLite, which are at most two per core but may be four. Default: 16.
	MaxConnections int `toml:"max_connections" default:"16" range:"2..1000"`
}

// Shared is a Valkey or Redis server that makes several nodes behave like one: rate limits
// count the requests at all of them, and responses of registries are queried once. It needs
// no backup. While it is down, each node counts on its own.
type Shared struct {
	// URL is redis://:password@host:6379/0, rediss:// for TLS, or valkey:// and valkeys://.
	// Further nodes of a cluster follow as ?addr=host:port&addr=…. The server must not evict
	// keys (maxmemory-policy noeviction). Default: none, each node on its own.
	URL Secret `toml:"url"`
	// AllowPlaintext permits a server on another machine without TLS. What is stored there is
	// hashed or encrypted, but the password is not. Default: false.
	AllowPlaintext bool `toml:"allow_plaintext"`
}

// Secret is a setting that must not be printed or logged: every text form except TOML
// shows only whether it is set.
type Secret string

// String returns "(set)" for a secret that is set.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(set)"
}

// GoString is String for %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue is String for logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON is String for JSON.
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

// Default returns the configuration of an empty file.
func Default() (cfg Config) {
	eachSetting(reflect.ValueOf(&cfg).Elem(), "", func(_ string, field reflect.Value, tag reflect.StructTag) {
		if text, has := tag.Lookup("default"); has {
			mustSet(field, text)
		}
	})
	return cfg
}

// eachSetting calls visit with the key of each setting, such as server.listen or
// epp[0].name, its field and the field's tag.
func eachSetting(section reflect.Value, prefix string, visit func(key string, field reflect.Value, tag reflect.StructTag)) {
	for i := range section.NumField() {
		field, tag := section.Field(i), section.Type().Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("toml"), ",")
		switch key := prefix + name; {
		case field.Kind() == reflect.Struct:
			eachSetting(field, key+".", visit)
		case field.Kind() == reflect.Slice && field.Type().Elem().Kind() == reflect.Struct:
			for n := range field.Len() {
				eachSetting(field.Index(n), fmt.Sprintf("%s[%d].", key, n), visit)
			}
		default:
			visit(key, field, tag)
		}
	}
}

// mustSet sets a setting to a value from a tag.
func mustSet(field reflect.Value, text string) {
	if err := setFromText(field, text); err != nil {
		panic(fmt.Sprintf("config: invalid tag: %v", err))
	}
}
