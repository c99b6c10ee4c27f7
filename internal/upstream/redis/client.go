package redis

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

const (
	// decideTimeout bounds one decision. A server in the same network takes less than a
	// millisecond; one that takes longer than this is treated as failed.
	decideTimeout = 250 * time.Millisecond
	// callTimeout bounds every other call.
	callTimeout = 2 * time.Second
	dialTimeout = time.Second
	// maxConnections bounds the calls in flight.
	maxConnections = 64
	// buffers of each connection. Commands and responses have a few hundred bytes.
	bufferBytes = 32 << 10
)

// KeyBytes is the length of a Config's key.
const KeyBytes = sha256.Size

// Config configures a Server.
type Config struct {
	// URL is redis://, rediss://, valkey:// or valkeys:// with host, port, user, password and
	// database, as in redis://:password@cache.internal:6379/0. Several addr parameters name
	// further nodes of a cluster.
	URL string
	// Key is secret, 32 bytes, and the same on every node. It hides what is stored.
	Key []byte
}

// Server is a Valkey or Redis server, or a cluster of them, that all nodes share. It connects
// when it is used, and again after each failure.
type Server struct {
	options rueidis.ClientOption
	target  string // for errors
	process string // the name of this process, and its mark in logs
	mark    string
	hiders  sync.Pool
	cipher  *sealer

	connecting sync.Mutex
	client     atomic.Pointer[rueidis.Client]
	generation atomic.Pointer[string]
	known      atomic.Pointer[ratelimit.Membership]

	sessionsMu sync.Mutex
	sessions   []*Sessions

	isCluster atomic.Bool

	logsMu sync.Mutex
	logs   []*limiterLog
	decide string // the script without its first lines
}

//go:embed scripts/*.lua
var scripts embed.FS

func readScript(name string) string {
	text, err := scripts.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

var (
	joinScript   = rueidis.NewLuaScript(readScript("join"))
	beginScript  = rueidis.NewLuaScript(readScript("begin"))
	seededScript = rueidis.NewLuaScript(readScript("seeded"))
	seedScript   = rueidis.NewLuaScript(readScript("seed"))
)

// New returns a Server. It does not connect.
func New(cfg Config) (*Server, error) {
	options, err := rueidis.ParseURL(cfg.URL)
	if err != nil {
		return nil, errors.New("shared.url: not a URL like redis://host:6379 or rediss://user:password@host:6380/0") // the cause may quote a password
	}
	if len(cfg.Key) != KeyBytes {
		return nil, fmt.Errorf("redis: the key has %d bytes, not %d", len(cfg.Key), KeyBytes)
	}
	options.ClientName = "dotkontor"
	options.DisableCache = true
	options.DisableRetry = true // the caller counts on its own instead
	// Decisions are sent in batches. One at a time on its own connection, without further
	// goroutines, such a call takes half of the CPU time.
	options.DisableAutoPipelining = true
	options.BlockingPoolSize = maxConnections
	options.Dialer.Timeout = dialTimeout
	options.ConnWriteTimeout = callTimeout
	options.ReadBufferEachConn, options.WriteBufferEachConn = bufferBytes, bufferBytes
	cipher, err := newSealer(cfg.Key)
	if err != nil {
		return nil, err
	}
	var mark [3]byte
	_, _ = rand.Read(mark[:]) // it never fails
	key := cfg.Key
	return &Server{
		options: options, target: strings.Join(options.InitAddress, ","), process: rand.Text(), mark: string(mark[:]), cipher: cipher,
		hiders: sync.Pool{New: func() any { return &hider{mac: hmac.New(sha256.New, key)} }},
		decide: readScript("decide"),
	}, nil
}

// Address returns the configured addresses, without credentials.
func (s *Server) Address() string { return s.target }

// connected returns the connection, which it opens if there is none.
func (s *Server) connected() (rueidis.Client, error) {
	if client := s.client.Load(); client != nil {
		return *client, nil
	}
	s.connecting.Lock()
	defer s.connecting.Unlock()
	if client := s.client.Load(); client != nil {
		return *client, nil
	}
	client, err := rueidis.NewClient(s.options)
	if err != nil {
		return nil, s.fault("connect", err)
	}
	s.client.Store(&client)
	return client, nil
}

const policySetting, keepsKeys = "maxmemory-policy", "noeviction"

// Probe reports why the server can't be used, and whether it may evict keys. A server that does
// not tell its settings, as many hosted ones, is believed to keep them.
func (s *Server) Probe(ctx context.Context) (evicts bool, err error) {
	client, err := s.connected()
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := client.Do(ctx, client.B().Ping().Build()).Error(); err != nil {
		return false, s.fault("ping", err)
	}
	settings, err := client.Do(ctx, client.B().ConfigGet().Parameter(policySetting).Build()).AsStrMap()
	if err != nil {
		settings = map[string]string{policySetting: keepsKeys}
	}
	return settings[policySetting] != keepsKeys, nil
}

// Close leaves the other nodes, so that they need not wait for this process, and disconnects.
func (s *Server) Close() {
	client := s.client.Load()
	if client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), decideTimeout)
	defer cancel()
	_ = (*client).Do(ctx, (*client).B().Zrem().Key(nodesKey).Member(s.process).Build()).Error() // it expires anyway
	(*client).Close()
}

// fault describes a failed call for the log. A server's error may quote a command, so only
// its first word is kept.
func (s *Server) fault(operation string, err error) error {
	cause := &registrar.Cause{Part: registrar.PartShared, Operation: operation, Target: s.target, Class: registrar.NetworkClass(err), Err: err}
	code := registrar.NetworkFault(err)
	if reply, ok := rueidis.IsRedisErr(err); ok {
		word, _, _ := strings.Cut(reply.Error(), " ")
		cause.Class, cause.Code, code = "refused_command", word, registrar.FaultBroken
		if word == "NOAUTH" || word == "WRONGPASS" || word == "NOPERM" {
			cause.Class = "login_refused"
		}
	}
	return registrar.Fault(code, s.target, cause)
}

// hider computes HMACs. It is kept for reuse, because every decision needs one.
type hider struct {
	mac          hash.Hash
	message, sum []byte
}

// hide returns the HMAC of the parts, in base64, and a byte to spread keys by.
func (s *Server) hide(kind, name string, key []byte) (hidden string, spread byte) {
	h, _ := s.hiders.Get().(*hider)
	defer s.hiders.Put(h)
	h.message = append(h.message[:0], kind...)
	h.message = append(h.message, 0)
	h.message = append(h.message, name...)
	h.message = append(h.message, 0)
	h.message = append(h.message, key...)
	h.mac.Reset()
	h.mac.Write(h.message)
	h.sum = h.mac.Sum(h.sum[:0])
	var text [22]byte // 16 bytes in base64
	base64.RawURLEncoding.Encode(text[:], h.sum[:16])
	return string(text[:]), h.sum[16]
}
