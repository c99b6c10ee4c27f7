package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dotkontor.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad_EmptyFileIsValid(t *testing.T) {
	cfg, err := Load(writeConfig(t, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.BaseURL != "http://127.0.0.1:8080" || cfg.Limits.LookupPerMinute != 30 || cfg.Limits.LookupPer6Hours != 300 {
		t.Errorf("got %+v", cfg)
	}
}

func TestLoad_EnvironmentOverridesFile(t *testing.T) {
	path := writeConfig(t, `
base_url = "https://domains.example/"
[server]
listen = "[::]:443"
trusted_proxies = ["10.0.0.0/8"]
drain_delay = "5s"
[limits]
lookup_per_minute = 60
[[limits.shared_egress]]
network = "198.51.100.0/24"
lookup_per_minute = 600
lookup_per_6_hours = 6000
[upstream.hosts]
"whois.denic.de:43" = "127.0.0.1:4343"
`)
	cfg, err := Load(path, []string{
		"PATH=/bin", "DOTKONTOR_LIMITS_LOOKUP_PER_MINUTE=90", "DOTKONTOR_LOOKUP_CACHE_FREE=10s", "DOTKONTOR_CONFIG=x",
		"DOTKONTOR_SERVER_TRUSTED_PROXIES=192.0.2.1, 2001:db8::/32", "DOTKONTOR_LOG_LEVEL=warn",
	})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.BaseURL != "https://domains.example" || cfg.Server.Listen != "[::]:443" || time.Duration(cfg.Server.DrainDelay) != 5*time.Second {
		t.Errorf("settings of the file are lost: %+v", cfg)
	}
	if cfg.Limits.LookupPerMinute != 90 || time.Duration(cfg.Lookup.CacheFree) != 10*time.Second || cfg.Log.Level != "warn" ||
		!reflect.DeepEqual(cfg.Server.TrustedProxies, []string{"192.0.2.1", "2001:db8::/32"}) {
		t.Errorf("the environment does not override the file: %+v", cfg)
	}
	if len(cfg.Limits.SharedEgress) != 1 || cfg.Upstream.Hosts["whois.denic.de:43"] != "127.0.0.1:4343" {
		t.Errorf("tables are lost: %+v", cfg)
	}
}

func TestUpstream_MaxConcurrentDefaults(t *testing.T) {
	for _, test := range []struct {
		environment []string
		want        int
	}{
		{nil, 64},
		{[]string{"DOTKONTOR_UPSTREAM_PER_HOST_PER_SECOND=0"}, 64},
		{[]string{"DOTKONTOR_UPSTREAM_PER_HOST_PER_SECOND=-1"}, 256},
		{[]string{"DOTKONTOR_UPSTREAM_PER_HOST_PER_SECOND=-1", "DOTKONTOR_UPSTREAM_PER_HOST_CONCURRENT=8"}, 8},
	} {
		cfg, err := Load("", test.environment)
		if err != nil {
			t.Fatal(err)
		}
		if got := cfg.Upstream.MaxConcurrent(); got != test.want {
			t.Errorf("%v: %d, want %d", test.environment, got, test.want)
		}
	}
}

func TestLoad_RejectsUnknownKeys(t *testing.T) {
	_, err := Load(writeConfig(t, "base_ulr = \"https://x.example\"\n[server]\nlisten_on = \"x\"\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "base_ulr") || !strings.Contains(err.Error(), "server.listen_on") {
		t.Errorf("got %v, want both keys", err)
	}
	_, err = Load("", []string{"DOTKONTOR_LIMITS_LOOKUP_PER_MINUT=5"})
	if err == nil || !strings.Contains(err.Error(), "DOTKONTOR_LIMITS_LOOKUP_PER_MINUT is not a setting") {
		t.Errorf("got %v", err)
	}
}

func TestCheck_ReportsEveryInvalidValue(t *testing.T) {
	for _, test := range []struct{ toml, want string }{
		{`base_url = "domains.example"`, "base_url"},
		{`base_url = "https://domains.example/shop"`, `write "https://domains.example"`},
		{`base_url = "https://domains.example?"`, "normal form"},
		{`base_url = "https://domains.example#"`, "normal form"},
		{`base_url = 'https://a"b.example'`, "base_url"},
		{`base_url = "https://a;b,c.example"`, "base_url"},
		{`base_url = "HTTPS://Domains.example"`, `write "https://domains.example"`},
		{`base_url = "https://domains.example:443"`, `write "https://domains.example"`},
		{`base_url = "https://domains.example."`, `write "https://domains.example"`},
		{`base_url = "https://exämple.de"`, `write "https://xn--exmple-cua.de"`},
		{`base_url = "https://me@domains.example"`, "normal form"},
		{`data = ""`, "data"},
		{"[database]\nurl = \"mysql://x/y\"", "database.url"},
		{"[database]\nurl = \"postgres://x\"", "database.url"},
		{"[database]\nmax_connections = 1", "database.max_connections"},
		{"[server]\nlisten = \"8080\"", "server.listen"},
		{"[server]\nmetrics_listen = \"\"", "server.metrics_listen"},
		{"[server]\ntls_cert = \"/does/not/exist\"", "belong together"},
		{"[server]\ntls_cert = \"/does/not/exist\"\ntls_key = \"/does/not/exist\"", "server.tls_key"},
		{"[server]\ntrusted_proxies = [\"ten\"]", "server.trusted_proxies"},
		{"[server]\ncountry_header = \"CF-IPCountry\"", "server.country_header"},
		{"[server]\ncountry_header = \"a b\"\ntrusted_proxies = [\"10.0.0.1\"]", "server.country_header"},
		{"[server]\ntrusted_proxies = [\"0.0.0.0/0\"]", "trusts every client"},
		{"[server]\nmetrics_listen = \"127.0.0.1:8080\"", "must differ"},
		{"[server]\nmax_header_bytes = 1", "server.max_header_bytes"},
		{"[server]\nread_timeout = \"0s\"", "server.read_timeout"},
		{"[server]\nwrite_timeout = \"1s\"", "server.write_timeout"},
		{"[server]\nread_timeout = \"soon\"", "soon"},
		{"[log]\nlevel = \"loud\"", "log.level"},
		{"[log]\nformat = \"xml\"", "log.format"},
		{"[tracing]\nendpoint = \"collector:4318\"", "tracing.endpoint"},
		{"[tracing]\nsample_percent = 0", "tracing.sample_percent"},
		{"[limits]\nlookup_per_minute = 0", "limits.lookup_per_minute"},
		{"[[limits.shared_egress]]\nnetwork = \"x\"", "limits.shared_egress[0].network"},
		{"[server]\nallowed_origins = [\"app.example\"]", "server.allowed_origins"},
		{"[server]\nallowed_origins = [\"https://app.example/\"]", "server.allowed_origins"},
		{"[limits]\nwhois_per_minute = 0", "limits.whois_per_minute"},
		{"[limits]\nquotes_per_minute = 19", "limits.quotes_per_minute"}, // too few for an order of 20 names
		{"[limits]\nquotes_per_hour = 19", "limits.quotes_per_hour"},
		{"[limits]\nagent_quotes_per_minute = 19", "limits.agent_quotes_per_minute"},
		{"[limits]\nagent_quotes_per_hour = 19", "limits.agent_quotes_per_hour"},
		{"[limits]\nwhois_per_6_hours = 0", "limits.whois_per_6_hours"},
		{"[lookup]\ndeadline = \"6s\"", "lookup.deadline"},
		{"[upstream]\nbootstrap = \"ftp://x\"", "upstream.bootstrap"},
		{"[upstream]\nbootstrap = \"httpx://x\"", "upstream.bootstrap"},
		{"[server]\nlisten = \":8080\"", "set base_url"},
		{"[server]\nread_timeout = \"1m\"", "server.write_timeout"},
		{"[upstream]\ndns = [\"127.0.0.1\"]", "upstream.dns"},
		{"[upstream]\nper_host_per_second = -2", "upstream.per_host_per_second"},
		{"[upstream]\nper_host_burst = -1", "upstream.per_host_burst"},
		{"[upstream]\nper_host_concurrent = 257", "upstream.per_host_concurrent"},
		{"[upstream]\nper_host_waiting = -1", "upstream.per_host_waiting"},
		{"[upstream.hosts]\n\"whois.denic.de\" = \"x\"", "upstream.hosts"},
		{"[mail]\nserver = \"mail.example\"\nfrom = \"a@b.example\"", "mail.server"},
		{"[mail]\nserver = \"mail.example:25\"\nfrom = \"a@b.example\"\ntls = \"none\"", "allowed for loopback only"},
		{"[mail]\nserver = \"127.0.0.1:25\"\nfrom = \"a@b.example\"\ntls = \"none\"\nuser = \"a\"\npassword = \"b\"", "unencrypted"},
		{"[mail]\nserver = \"mail.example:25\"\nfrom = \"a@b.example\"\nuser = \"a\"", "mail.user"},
		{"[mail]\nserver = \"mail.example:25\"", "mail.from"},
		{"[mail]\nserver = \"mail.example:25\"\nfrom = \"dotkontor\"", "mail.from"},
		{"[mail]\ntls = \"perhaps\"", "mail.tls"},
		{"[mail]\nuser = \"a\"\npassword = \"b\"", "mail.server"},
		{"[server", "dotkontor.toml"},
	} {
		if _, err := Load(writeConfig(t, test.toml), nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %q", test.toml, err, test.want)
		}
	}
	for _, variable := range []string{"DOTKONTOR_LIMITS_LOOKUP_PER_MINUTE=many", "DOTKONTOR_SERVER_READ_TIMEOUT=soon"} {
		if _, err := Load("", []string{variable}); err == nil {
			t.Errorf("%s was accepted", variable)
		}
	}
	if _, err := Load("/does/not/exist.toml", nil); err == nil {
		t.Error("a missing file was accepted")
	}
}

func TestWrite_RoundTrips(t *testing.T) {
	cfg := Default()
	cfg.BaseURL = "https://domains.example"
	cfg.Upstream.DNS = []string{"127.0.0.1:53"}
	cfg.Upstream.Hosts = map[string]string{"rdap.example:443": "http://127.0.0.1:9001"}
	path := filepath.Join(t.TempDir(), "x.toml")
	if err := cfg.Write(path); err != nil {
		t.Fatal(err)
	}
	again, err := Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(normalizeEmptyLists(cfg), normalizeEmptyLists(again)) {
		t.Errorf("wrote %+v\nread  %+v", cfg, again)
	}
}

func TestSecret_RoundTripsButIsNeverPrinted(t *testing.T) {
	const address = "postgres://me:hunter2@db.example/dotkontor"
	key := NewKey()
	fromFile, err := Load(writeConfig(t, "secret_key = \""+key+"\"\n[database]\nurl = \""+address+"\"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	fromEnvironment, err := Load("", []string{"DOTKONTOR_DATABASE_URL=" + address, "DOTKONTOR_SECRET_KEY=" + key})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.toml")
	if err := fromFile.Write(path); err != nil {
		t.Fatal(err)
	}
	again, err := Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []Config{fromFile, fromEnvironment, again} {
		if string(cfg.Database.URL) != address || string(cfg.SecretKey) != key {
			t.Error("a secret is lost")
		}
	}
	asJSON, err := json.Marshal(fromFile)
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "url", fromFile.Database.URL, "all", fromFile)
	for _, shown := range []string{
		fmt.Sprint(fromFile), fmt.Sprintf("%+v %#v %s %q", fromFile, fromFile, fromFile.Database.URL, fromFile.Database.URL),
		string(asJSON), logged.String(),
	} {
		if strings.Contains(shown, "hunter2") || strings.Contains(shown, key) {
			t.Errorf("a secret is printed: %s", shown)
		}
	}
	for _, wrong := range []string{"mysql://me:hunter2@x/y", "postgres://me:hunter2@[::1/x", "postgres://me:hunter2@x"} {
		if _, err := Load("", []string{"DOTKONTOR_DATABASE_URL=" + wrong}); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v", err)
		}
	}
}

func TestDatabaseURL_MayNameSeveralServers(t *testing.T) {
	const address = "postgres://me@db1.example:5432,db2.example:5433/dotkontor?sslmode=verify-full&target_session_attrs=read-write"
	cfg, err := Load("", []string{"DOTKONTOR_DATABASE_URL=" + address, "DOTKONTOR_SECRET_KEY=" + NewKey()})
	if err != nil || string(cfg.Database.URL) != address {
		t.Errorf("got %q, %v", string(cfg.Database.URL), err)
	}
}

func TestLimits_CannotBeDisabled(t *testing.T) {
	limits := reflect.TypeFor[Limits]()
	for i := range limits.NumField() {
		if limits.Field(i).Type.Kind() != reflect.Int {
			continue
		}
		key := limits.Field(i).Tag.Get("toml")
		for _, value := range []string{"0", "-1", "1000000000"} {
			_, err := Load(writeConfig(t, "[limits]\n"+key+" = "+value), nil)
			if err == nil || !strings.Contains(err.Error(), "limits."+key) {
				t.Errorf("%s = %s: got %v", key, value, err)
			}
		}
	}
}

// normalizeEmptyLists replaces empty lists by nil.
func normalizeEmptyLists(c Config) Config {
	if len(c.Server.TrustedProxies) == 0 {
		c.Server.TrustedProxies = nil
	}
	if len(c.Server.AllowedOrigins) == 0 {
		c.Server.AllowedOrigins = nil
	}
	if len(c.Limits.SharedEgress) == 0 {
		c.Limits.SharedEgress = nil
	}
	return c
}

func TestSender_DefaultsToServiceHost(t *testing.T) {
	for toml, want := range map[string]string{
		`base_url = "https://domains.example"`:                                   "dotkontor <noreply@domains.example>",
		"base_url = \"https://domains.example\"\n[mail]\nfrom = \"a@b.example\"": "a@b.example",
		`base_url = "http://[::1]:8080"`:                                         "",
	} {
		cfg, err := Load(writeConfig(t, toml), nil)
		if err != nil || cfg.Sender() != want {
			t.Errorf("%s: %q %v, want %q", toml, cfg.Sender(), err, want)
		}
	}
}

func TestCheck_ErrorsOmitMailPassword(t *testing.T) {
	_, err := Load(writeConfig(t, "[mail]\nserver = \"127.0.0.1:25\"\ntls = \"none\"\npassword = \"sehr-geheim\"\nfrom = \"x\""), nil)
	if err == nil || strings.Contains(err.Error(), "sehr-geheim") {
		t.Errorf("got %v, want an error without the password", err)
	}
}

func TestLoad_UnreadableValueKeepsOtherErrors(t *testing.T) {
	t.Parallel()
	cfg, err := Load(writeConfig(t, `
[server]
read_timeout = "10"
max_connections = "many"
lisen = "x"
[limits]
lookup_per_minute = -1
[[epp]]
name = "first"
poll = "soon"
[[epp.policy]]
extensions = [".de"]
min_years = "one"
`), nil)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`server.read_timeout: "10" is not a duration like 5s, 2m or 24h (line 3)`, "server.max_connections: ", "unknown key server.lisen",
		"limits.lookup_per_minute: -1", `epp[0].poll: "soon" is not a duration`, "epp[0].policy[0].min_years: ", "epp[0].server: ",
	} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("%q does not appear exactly once:\n%v", want, err)
		}
	}
	if time.Duration(cfg.Server.ReadTimeout) != 10*time.Second || cfg.Server.MaxConnections != 10_000 {
		t.Errorf("an unreadable setting lost its default: %+v", cfg.Server)
	}
}
