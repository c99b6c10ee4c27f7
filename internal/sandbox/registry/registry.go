package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/epp"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

const (
	ianaHost      = "data.iana.org:443"
	bootstrapPath = "/rdap/dns.json"

	// One RDAP and one WHOIS server answer for every zone at one address, for
	// people and third-party clients. The product never uses them: it queries each
	// registry's own host.
	allZonesHost  = "registry.sandbox.example"
	allZonesRDAP  = allZonesHost + ":443"
	allZonesWHOIS = allZonesHost + ":43"

	// closeTimeout limits Close.
	closeTimeout = 2 * time.Second
)

// Zone is one TLD that the sandbox serves.
type Zone struct {
	TLD     string // ".de", A-label, leading dot
	RDAP    string // base URL such as "https://rdap.verisign.com/com/v1/", or ""
	WHOIS   string // host or host:port, or ""
	Popular bool
	// MinYears and MaxYears limit the registration term; 0 means 1 and 10.
	MinYears, MaxYears int
	// Fees are the prices of standard names in cents; zero means those of doc.go.
	Fees Fees
}

// Fees are what the registry charges in cents: per year, and once for a transfer and a restore.
type Fees struct{ Create, Renew, Transfer, Restore int64 }

// Options configures the sandbox. The zero values of all fields but Zones mean no
// faults and the real clock.
type Options struct {
	Zones []Zone
	Seeds []SeedDomain // names in addition to the table in doc.go
	Data  string       // folder for persistent state; empty means none
	// Accounts are the registrars; nil means DefaultAccounts.
	Accounts []Account
	// EPPListen is the address of the EPP server; empty means a free port of
	// 127.0.0.1.
	EPPListen string
	// Sessions limits the EPP sessions per account; 0 means 30.
	Sessions int
	// Greeting delays the greeting of an EPP connection.
	Greeting time.Duration
	// PendingFor is how long the create of a pending-… name takes; 0 means 5 s.
	PendingFor time.Duration
	// Sync makes every EPP command wait for fsync.
	Sync    bool
	Latency time.Duration // added to every response
	Chaos   float64       // share 0..1 of slow, broken, throttled and dropped responses
	// ChaosDelay is the longest delay of a slow response; 0 means 3 s.
	ChaosDelay time.Duration
	Seed       uint64 // of the chaos; 0 means random
	// Now is the clock before any advance; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
	// Tap gets every frame that the EPP server sends, TapReceived every one that it
	// receives; for tests.
	Tap, TapReceived func(frame []byte)
}

// timings holds delays that tests shorten.
type timings struct {
	hang             time.Duration // how long a hanging server holds a connection
	slowMin, slowMax time.Duration // delay of a slow response
}

// Registry is a running sandbox registry.
type Registry struct {
	opts    Options
	timings timings
	world   *world
	servers *serverGroup
	hosts   map[string]string
	dns     string

	ledger   *ledger.Ledger
	epp      string
	identity epp.Identity
	control  Control
	settle   atomic.Pointer[func()] // nil if no service follows the clock
}

// Start starts all servers. When it returns, every listener accepts connections.
func Start(opts Options) (*Registry, error) {
	longest := cmp.Or(opts.ChaosDelay, 3*time.Second)
	return start(opts, timings{hang: 30 * time.Second, slowMin: longest / 6, slowMax: longest})
}

func start(opts Options, timings timings) (*Registry, error) {
	if !(opts.Chaos >= 0 && opts.Chaos <= 1) { // written so that NaN fails too
		return nil, fmt.Errorf("sandbox registry: chaos %v is not between 0 and 1", opts.Chaos)
	}
	if opts.Latency < 0 {
		return nil, fmt.Errorf("sandbox registry: latency %v is negative", opts.Latency)
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Seed == 0 {
		opts.Seed = rand.Uint64()
	}
	world, err := newWorld(opts.Zones)
	if err != nil {
		return nil, fmt.Errorf("sandbox registry: %w", err)
	}
	r := &Registry{opts: opts, timings: timings, world: world, servers: newServerGroup(), hosts: map[string]string{}}
	if err := r.openLedger(); err != nil {
		return nil, fmt.Errorf("sandbox registry: %w", err)
	}
	if err := r.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("sandbox registry: %w", err), r.Close())
	}
	// The seed is logged so that a run with chaos can be repeated.
	opts.Logger.Info("sandbox registry started", "hosts", len(r.hosts), "zones", len(opts.Zones),
		"dns", r.dns, "epp", r.epp, "chaos", opts.Chaos, "seed", opts.Seed)
	return r, nil
}

// open starts one server for every distinct host of the zones, and the IANA, DNS,
// EPP and control servers.
func (r *Registry) open() error {
	everything := zoneSet{}
	rdap := map[string]rdapBases{allZonesRDAP: {"/": everything}}
	whois := map[string]zoneSet{allZonesWHOIS: everything}
	for _, zone := range r.world.zones {
		everything[zone.TLD] = true
		if zone.RDAP != "" {
			host, base, err := splitBase(zone.RDAP)
			if err != nil {
				return fmt.Errorf("zone %s: %w", zone.TLD, err)
			}
			if rdap[host] == nil {
				rdap[host] = rdapBases{}
			}
			if rdap[host][base] == nil {
				rdap[host][base] = zoneSet{}
			}
			rdap[host][base][zone.TLD] = true
		}
		if zone.WHOIS != "" {
			host := withPort(zone.WHOIS, "43")
			if whois[host] == nil {
				whois[host] = zoneSet{}
			}
			whois[host][zone.TLD] = true
		}
	}
	if rdap[ianaHost] != nil {
		return fmt.Errorf("a zone names %s as its RDAP server, which is IANA's", ianaHost)
	}
	for host, bases := range rdap {
		if err := r.openHTTP(host, r.answerRDAP(bases)); err != nil {
			return err
		}
	}
	for host, zones := range whois {
		if err := r.openWHOIS(host, zones); err != nil {
			return err
		}
	}
	bootstrap, err := newBootstrap(r.opts.Zones, r.Now())
	if err != nil {
		return err
	}
	if err := r.openHTTP(ianaHost, bootstrap.answer); err != nil {
		return err
	}
	if err := r.openDNS(); err != nil {
		return err
	}
	if err := r.openEPP(); err != nil {
		return err
	}
	return r.openControl()
}

// Hosts maps each host of the sandbox, "host:port" as in the price list or the
// bootstrap, to its actual address: an origin for RDAP and IANA, host:port for
// WHOIS.
func (r *Registry) Hosts() map[string]string { return maps.Clone(r.hosts) }

// RDAP is the base URL of a server that answers for every zone.
func (r *Registry) RDAP() string { return r.hosts[allZonesRDAP] + "/" }

// WHOIS is the address of a server that answers for every zone.
func (r *Registry) WHOIS() string { return r.hosts[allZonesWHOIS] }

// DNS is the address of the resolver, over UDP and TCP.
func (r *Registry) DNS() string { return r.dns }

// BootstrapURL is the address of IANA's list of RDAP servers, to be reached
// through Hosts.
func (r *Registry) BootstrapURL() string { return "https://data.iana.org" + bootstrapPath }

// Close stops all listeners, connections and pending responses. It returns an error
// if something is still running after two seconds.
func (r *Registry) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	r.closeControl()
	err := r.servers.close(ctx)
	if err != nil {
		err = fmt.Errorf("sandbox registry: still running %v after close: %w", closeTimeout, err)
	}
	return errors.Join(err, r.ledger.Close())
}

// faultRNGFor returns the chaos of one host, independent of the other hosts.
func (r *Registry) faultRNGFor(host string) *faultRNG {
	return &faultRNG{share: r.opts.Chaos, seed: mix(r.opts.Seed ^ hashText(host)), timings: r.timings}
}

// splitBase splits an RDAP base URL into "host:port" and a path that ends in a
// slash.
func splitBase(base string) (host, path string, err error) {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return "", "", fmt.Errorf("RDAP base %q is not an absolute URL", base)
	}
	port, known := map[string]string{"https": "443", "http": "80"}[u.Scheme]
	if !known {
		return "", "", fmt.Errorf("RDAP base %q is neither https nor http", base)
	}
	path = u.Path
	if !strings.HasSuffix(path, "/") {
		path += "/"
	}
	return withPort(strings.ToLower(u.Host), port), path, nil
}

func withPort(host, port string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	return net.JoinHostPort(host, port)
}
