package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// worldLatency makes registrations take long enough for a kill to interrupt them.
const worldLatency = "50ms"

// cluster is everything that runs: world, database servers, Redis, load balancer and nodes.
type cluster struct {
	folder, binary string
	base           string // URL of the load balancer
	world          *testkit.Process
	info           testkit.SandboxInfo
	provider       testkit.Provider
	databases      [2]*postgres
	primary        int // of databases
	redis          *daemon
	redisAddress   string
	balancer       *daemon
	nodes          []*node
	db             *store.DB  // the rig's own view of the database
	cut            []*proxy   // between the last node and its servers
	link           *namespace // which they pass through, nil if this process may not create one
	mounted        string     // the data folder of a node with a small disk
}

// node is one "dotkontor serve".
type node struct {
	name, address, private, data, log string
	binary, config                    string
	environment                       []string
	process                           *testkit.Process
}

// start starts the node and waits until it serves.
func (n *node) start(ctx context.Context, environment ...string) error {
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own descriptor
	n.process, err = testkit.Start(context.WithoutCancel(ctx), testkit.Command{
		Path: n.binary, Args: []string{"serve", "--config", n.config}, Environment: append(n.environment, environment...), Stderr: log,
	})
	if err != nil {
		return fmt.Errorf("%s (see %s): %w", n.name, n.log, err)
	}
	return nil
}

// metrics scrapes the node.
func (n *node) metrics(ctx context.Context) testkit.Metrics {
	text, _ := get(ctx, "http://"+n.private+"/metrics") // a node that is down has no samples
	return testkit.Metrics(text)
}

// newCluster starts everything. close must be called even after an error.
func newCluster(ctx context.Context, folder, binary string, progress func(string, ...any)) (*cluster, error) {
	c := &cluster{folder: folder, binary: binary}
	progress("starting PostgreSQL and its replica")
	if err := c.startDatabases(ctx); err != nil {
		return c, err
	}
	progress("starting Redis, the simulated world, three nodes and HAProxy")
	for _, step := range []func(context.Context) error{c.startRedis, c.startWorld, c.startNodes, c.startBalancer} {
		if err := step(ctx); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *cluster) startDatabases(ctx context.Context) error {
	bin, err := findPostgres()
	if err != nil {
		return err
	}
	credential, err := postgresCredential()
	if err != nil {
		return err
	}
	place := filepath.Join(c.folder, "postgres")
	if err := os.Mkdir(place, 0o700); err != nil {
		return err
	}
	if credential != nil {
		if err := os.Chown(place, int(credential.Uid), int(credential.Gid)); err != nil {
			return err
		}
	}
	for i := range c.databases {
		address, err := testkit.FreeAddress(ctx)
		if err != nil {
			return err
		}
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		p := &postgres{bin: bin, port: port, folder: filepath.Join(place, fmt.Sprint(i+1))}
		p.path, p.args, p.credential = filepath.Join(bin, "postgres"), []string{"-D", p.folder}, credential
		if p.log, err = os.Create(filepath.Join(c.folder, fmt.Sprintf("postgres%d.log", i+1))); err != nil {
			return err
		}
		c.databases[i] = p
	}
	first, second := c.databases[0], c.databases[1]
	if err := first.initialize(ctx); err != nil {
		return err
	}
	if err := first.launch(ctx); err != nil {
		return err
	}
	if _, err := first.query(ctx, "postgres", "CREATE DATABASE "+databaseName); err != nil {
		return err
	}
	return second.follow(ctx, first)
}

// databaseURL names both servers; the client connects to the one that accepts writes.
func databaseURL(addresses ...string) string {
	return "postgres://" + databaseUser + "@" + strings.Join(addresses, ",") + "/" + databaseName + "?sslmode=disable&target_session_attrs=read-write&connect_timeout=2"
}

func (c *cluster) databaseAddresses() []string {
	return []string{"127.0.0.1:" + c.databases[0].port, "127.0.0.1:" + c.databases[1].port}
}

func (c *cluster) startRedis(ctx context.Context) (err error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return err
	}
	if c.redisAddress, err = testkit.FreeAddress(ctx); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(c.redisAddress)
	if err != nil {
		return err
	}
	c.redis = &daemon{path: path, args: []string{"--bind", "127.0.0.1", "--port", port, "--dir", c.folder, "--save", "", "--appendonly", "no"}}
	if c.redis.log, err = os.Create(filepath.Join(c.folder, "redis.log")); err != nil {
		return err
	}
	return c.launchRedis(ctx)
}

func (c *cluster) launchRedis(ctx context.Context) error {
	if err := c.redis.start(); err != nil { //nolint:contextcheck // a fault or the end stops it
		return err
	}
	return eventually(ctx, "start of Redis", startTimeout, func(ctx context.Context) bool {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", c.redisAddress)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// startWorld starts the simulated world and copies its demo customer and checkout agent to
// PostgreSQL.
func (c *cluster) startWorld(ctx context.Context) (err error) {
	address, err := testkit.FreeAddress(ctx)
	if err != nil {
		return err
	}
	c.base = "http://" + address
	data, info := filepath.Join(c.folder, "world"), filepath.Join(c.folder, "info.json")
	c.world, err = testkit.Start(context.WithoutCancel(ctx), testkit.Command{Path: c.binary, Args: []string{
		"sandbox", "--world-only", "--listen", address, "--data", data, "--info", info, "--world-latency", worldLatency,
	}})
	if err != nil {
		return err
	}
	if c.info, err = testkit.ReadSandboxInfo(info); err != nil {
		return err
	}
	if c.provider, err = testkit.FindProvider(data); err != nil {
		return err
	}
	backup := filepath.Join(c.folder, "backup")
	if err := c.command(ctx, nil, "backup", "--data", data, backup); err != nil {
		return err
	}
	environment, err := c.settings()
	if err != nil {
		return err
	}
	if err := c.command(ctx, environment, "restore", "--config", c.world.Ready, backup); err != nil {
		return err
	}
	c.db, err = store.Open(ctx, store.Options{URL: databaseURL(c.databaseAddresses()...), MaxConnections: 2})
	return err
}

// settings are those that all nodes and commands share.
func (c *cluster) settings() ([]string, error) {
	key, err := os.ReadFile(filepath.Join(c.folder, "world", "secret.key"))
	return []string{
		"DOTKONTOR_SECRET_KEY=" + strings.TrimSpace(string(key)),
		"DOTKONTOR_DATABASE_URL=" + databaseURL(c.databaseAddresses()...),
		"DOTKONTOR_SHARED_URL=redis://" + c.redisAddress,
		"DOTKONTOR_LIMITS_SESSIONS_PER_AGENT=600",
	}, err
}

// command runs a command of the product.
func (c *cluster) command(ctx context.Context, environment []string, args ...string) error {
	cmd := exec.CommandContext(ctx, c.binary, args...)
	cmd.Env = append(testkit.Environment(), environment...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("dotkontor %s: %w\n%s", args[0], err, output)
	}
	return nil
}

const nodeCount = 3

// startNodes starts the nodes. The last one reaches its servers through a network namespace, or
// through proxies that can fall silent, and the second has a small disk if this process may mount
// one.
func (c *cluster) startNodes(ctx context.Context) error {
	shared, err := c.settings()
	if err != nil {
		return err
	}
	for i := range nodeCount {
		n := &node{name: fmt.Sprintf("node%d", i+1), binary: c.binary, config: c.world.Ready}
		n.data, n.log = filepath.Join(c.folder, n.name), filepath.Join(c.folder, n.name+".log")
		if err := os.Mkdir(n.data, 0o700); err != nil {
			return err
		}
		if i == smallDisk && c.mountSmallDisk(ctx, n.data) {
			n.log = filepath.Join(n.data, smallDiskLog) // so that a full disk also affects the log
		}
		if n.address, err = testkit.FreeAddress(ctx); err != nil {
			return err
		}
		if n.private, err = testkit.FreeAddress(ctx); err != nil {
			return err
		}
		n.environment = append(append([]string{}, shared...), "DOTKONTOR_DATA="+n.data, "DOTKONTOR_SERVER_LISTEN="+n.address,
			"DOTKONTOR_SERVER_METRICS_LISTEN="+n.private, "DOTKONTOR_SERVER_TRUSTED_PROXIES=127.0.0.1")
		if i == isolated {
			behind, err := c.startProxies(ctx)
			if err != nil {
				return err
			}
			n.environment = append(n.environment, behind...)
		}
		c.nodes = append(c.nodes, n)
		if err := n.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// The nodes that single faults affect.
const smallDisk, isolated = 1, 2

const smallDiskLog = "log"

func (c *cluster) mountSmallDisk(ctx context.Context, folder string) bool {
	if os.Geteuid() != 0 || exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", "size=32m,mode=0700", "tmpfs", folder).Run() != nil {
		return false
	}
	c.mounted = folder
	return true
}

func (c *cluster) startProxies(ctx context.Context) (environment []string, err error) {
	var behind []string
	c.link, _ = newNamespace(ctx) // nil without the right to
	for _, to := range append(c.databaseAddresses(), c.redisAddress) {
		if c.link != nil {
			address, proxies, err := c.link.passThrough(ctx, to)
			if c.cut = append(c.cut, proxies...); err != nil {
				return nil, err
			}
			behind = append(behind, address)
			continue
		}
		p, err := startProxy(ctx, "127.0.0.1", to)
		if err != nil {
			return nil, err
		}
		c.cut = append(c.cut, p)
		behind = append(behind, p.address())
	}
	return []string{
		"DOTKONTOR_DATABASE_URL=" + databaseURL(behind[0], behind[1]), "DOTKONTOR_DATABASE_ALLOW_PLAINTEXT=true",
		"DOTKONTOR_SHARED_URL=redis://" + behind[2], "DOTKONTOR_SHARED_ALLOW_PLAINTEXT=true",
	}, nil
}

func (c *cluster) startBalancer(ctx context.Context) error {
	path, err := exec.LookPath("haproxy")
	if err != nil {
		return err
	}
	file := filepath.Join(c.folder, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(balancerConfig(strings.TrimPrefix(c.base, "http://"), c.nodes)), 0o600); err != nil {
		return err
	}
	c.balancer = &daemon{path: path, args: []string{"-db", "-f", file}}
	if c.balancer.log, err = os.Create(filepath.Join(c.folder, "haproxy.log")); err != nil {
		return err
	}
	if err := c.balancer.start(); err != nil { //nolint:contextcheck // the end stops it
		return err
	}
	if err := eventually(ctx, "start of HAProxy", startTimeout, func(ctx context.Context) bool {
		_, err := get(ctx, c.base+"/readyz")
		return err == nil
	}); err != nil {
		return err
	}
	return eventually(ctx, "nodes that share limits", startTimeout, func(ctx context.Context) bool {
		for _, n := range c.nodes {
			m := n.metrics(ctx)
			if m.Sample("dotkontor_shared_nodes") != nodeCount || m.Sample("dotkontor_shared_limits_online") != 1 {
				return false
			}
		}
		return true
	})
}

// get returns the body of a response with status 200.
func get(ctx context.Context, address string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return "", err
	}
	text, status, _, err := roundTrip(request)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s: status %d", address, status)
	}
	return string(text), err
}

// close ends everything in order.
func (c *cluster) close() (err error) {
	for _, n := range c.nodes {
		if n.process != nil {
			err = errors.Join(err, n.process.Stop())
		}
	}
	if c.db != nil {
		err = errors.Join(err, c.db.Close())
	}
	for _, p := range c.cut {
		p.setSilent(false)
		err = errors.Join(err, p.listener.Close())
	}
	if c.link != nil {
		err = errors.Join(err, c.link.close())
	}
	for _, d := range []*daemon{c.balancer, c.redis} {
		if d != nil {
			err = errors.Join(err, d.stop(syscall.SIGTERM))
		}
	}
	for _, p := range c.databases {
		if p != nil {
			err = errors.Join(err, p.stop(syscall.SIGQUIT))
		}
	}
	if c.world != nil {
		err = errors.Join(err, c.world.Stop())
	}
	if c.mounted != "" {
		err = errors.Join(err, c.keepLog(), exec.CommandContext(context.Background(), "umount", c.mounted).Run())
	}
	return err
}

// keepLog copies the log of the node with the small disk, which is gone after unmounting.
func (c *cluster) keepLog() error {
	text, err := os.ReadFile(filepath.Join(c.mounted, smallDiskLog))
	if err != nil {
		return err
	}
	return os.WriteFile(c.mounted+".log", text, 0o600)
}
