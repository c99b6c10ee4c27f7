package registry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/epp"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

const (
	ianaHost      = "data.iana.org:443"
	bootstrapPath = "/rdap/dns.json"

	// The front desk answers for every zone at one address, so that a person or
	// a stranger's client with one address can look around. The product never
	// asks it: it goes to each registry's own host.
	allZonesHost  = "registry.sandbox.example"
	allZonesRDAP  = allZonesHost + ":443"
	allZonesWHOIS = allZonesHost + ":43"

	// closeTimeout bounds Close, whatever a goroutine is busy with.
	closeTimeout = 2 * time.Second
)

// Zone is one extension that the world serves.
type Zone struct {
	TLD     string // ".de", A-label, leading dot
	RDAP    string // base URL such as "https://rdap.verisign.com/com/v1/", or ""
	WHOIS   string // host or host:port, or ""
	Popular bool
	// MinYears and MaxYears bound the term of a registration; 0 means 1 and 10.
	MinYears, MaxYears int
}

// Options say what the world consists of and how it behaves. The zero values
// of all fields but Zones make a quiet world on the real clock.
type Options struct {
	Zones []Zone
	Seeds []SeedDomain // names beside those of the table in doc.go
	Data  string       // folder for what must outlive the process; empty keeps nothing
	// Accounts are the registrars; nil means DefaultAccounts.
	Accounts []Account
	// EPPListen is the address of the EPP server; empty means a free port of
	// 127.0.0.1.
	EPPListen string
	// Sessions is how many EPP sessions an account may have; 0 means 30.
	Sessions int
	// Greeting is how late the greeting of an EPP connection is.
	Greeting time.Duration
	// PendingFor is how long the create of a pending-… name takes; 0 means 5 s.
	PendingFor time.Duration
	// Sync makes every EPP command wait for the disk, not for the system only.
	Sync    bool
	Latency time.Duration // added to every answer
	Chaos   float64       // share 0..1 of slow, broken, throttled and dropped answers
	Seed    uint64        // of the chaos; 0 means random
	// Now is the world's clock before it is advanced; nil = time.Now.
	Now    func() time.Time
	Logger *slog.Logger
	// Tap sees every frame that the EPP server sends; for tests.
	Tap func(frame []byte)
}

// timings holds the waits that tests shorten.
type timings struct {
	hang             time.Duration // how long a server that never answers keeps a connection
	slowMin, slowMax time.Duration // how late a slow answer is
}

// Registry is a running world.
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
}

// Start brings the world up. When it returns, every listener accepts.
func Start(opts Options) (*Registry, error) {
	return start(opts, timings{hang: 30 * time.Second, slowMin: 500 * time.Millisecond, slowMax: 3 * time.Second})
}

func start(opts Options, timings timings) (*Registry, error) {
	if !(opts.Chaos >= 0 && opts.Chaos <= 1) { // written so that NaN fails too
		return nil, fmt.Errorf("sandbox registry: chaos is %v, but must be a share from 0 to 1", opts.Chaos)
	}
	if opts.Latency < 0 {
		return nil, fmt.Errorf("sandbox registry: latency is %v, but can't be negative", opts.Latency)
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
	// The seed is told so that a run whose chaos found something can be repeated.
	opts.Logger.Info("sandbox registry is up", "hosts", len(r.hosts), "zones", len(opts.Zones),
		"dns", r.dns, "epp", r.epp, "chaos", opts.Chaos, "seed", opts.Seed)
	return r, nil
}

// open starts one server for every distinct host of the zones, IANA's, the
// resolver, the registrars' entrance and the clock's.
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

// Hosts says where each host of the world is really reached: "host:port" as
// the price list or the bootstrap names it, to an origin for RDAP and IANA and
// to an address for WHOIS.
func (r *Registry) Hosts() map[string]string { return maps.Clone(r.hosts) }

// RDAP is the base address of a server that answers for every zone.
func (r *Registry) RDAP() string { return r.hosts[allZonesRDAP] + "/" }

// WHOIS is the address of a server that answers for every zone.
func (r *Registry) WHOIS() string { return r.hosts[allZonesWHOIS] }

// DNS is the address of the resolver, over UDP and TCP.
func (r *Registry) DNS() string { return r.dns }

// BootstrapURL is the address of IANA's list of RDAP servers, to be reached
// through Hosts.
func (r *Registry) BootstrapURL() string { return "https://data.iana.org" + bootstrapPath }

// Close ends the world: listeners, connections, answers under way. It reports
// if something was still running after two seconds.
func (r *Registry) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	r.closeControl()
	err := r.servers.close(ctx)
	if err != nil {
		err = fmt.Errorf("sandbox registry: not everything had ended %v after closing: %w", closeTimeout, err)
	}
	return errors.Join(err, r.ledger.Close())
}

// faultRNGFor makes the chaos of one host, independent of how the other hosts'
// answers interleave with its own.
func (r *Registry) faultRNGFor(host string) *faultRNG {
	return &faultRNG{share: r.opts.Chaos, seed: mix(r.opts.Seed ^ hashText(host)), timings: r.timings}
}

// splitBase takes an RDAP base URL apart into "host:port" and a path that ends
// in a slash.
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
