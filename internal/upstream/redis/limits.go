package redis

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

var _ ratelimit.Server = (*Server)(nil)

const (
	nodesKey      = "dk:{cluster}:nodes"
	generationKey = "dk:{cluster}:generation"
	// tags is the number of hash tags that logs are spread over.
	tags = 16

	tickLength = 10 * time.Microsecond

	// memberFor is how long a process counts as running after it has joined.
	memberFor = 5 * time.Second
	// seedTime is how long a generation waits for processes that were known and do not seed.
	seedTime = 10 * time.Second
	// seedBatch is how many keys are seeded in one round trip.
	seedBatch = 100
)

// limiterLog is the log of one limiter.
type limiterLog struct {
	server *Server
	name   string
	rules  ratelimit.LogRules
	prefix []string // of the keys of its logs, by tag
	// header defines the windows for the script; depth and expiry are arguments of seed.
	header        string
	depth, expiry string
	script        atomic.Pointer[string] // the SHA-1 of the script for the generation in use
	batches       [tags]batch            // one for each slot of a cluster; a single server needs one
}

// Log returns the logs of a limiter.
func (s *Server) Log(name string, windows []ratelimit.Window) ratelimit.Log {
	l := &limiterLog{server: s, name: name, rules: ratelimit.NewLogRules(windows)}
	var limits, lengths []string
	var depth, longest int64
	for _, window := range windows {
		ticks := window.Ticks()
		limits, lengths = append(limits, strconv.Itoa(window.Limit)), append(lengths, strconv.FormatInt(ticks, 10))
		depth, longest = max(depth, int64(window.Limit)), max(longest, ticks)
	}
	expiry := (2*time.Duration(longest)*tickLength + time.Millisecond).Milliseconds()
	l.depth, l.expiry = strconv.FormatInt(depth, 10), strconv.FormatInt(expiry, 10)
	l.header = fmt.Sprintf("local limits, lengths, longest, depth, expiry = {%s}, {%s}, %d, %d, '%d'\n",
		strings.Join(limits, ", "), strings.Join(lengths, ", "), longest, depth, expiry)
	for tag := range tags {
		l.prefix = append(l.prefix, fmt.Sprintf("dk:{%02d}:l:", tag))
	}
	s.logsMu.Lock()
	defer s.logsMu.Unlock()
	s.logs = append(s.logs, l)
	return l
}

// decideScript returns the script of a limiter in a generation. Because its text names the
// generation, a process that has missed the beginning of a new one runs a script that the
// server does not know.
func (l *limiterLog) decideScript(generation string) string {
	return "-- generation " + generation + "\n" + l.header + l.server.decide
}

// key returns the key of a log and its tag.
func (l *limiterLog) key(key ratelimit.Key) (hidden string, tag int) {
	var bytes [12]byte
	hidden, spread := l.server.hide("limit", l.name, key.AppendTo(bytes[:0]))
	tag = int(spread) % tags
	return l.prefix[tag] + hidden, tag
}

func isNoScript(err error) bool {
	reply, ok := rueidis.IsRedisErr(err)
	return ok && reply.IsNoScript()
}

// Seed replaces the entries of this process, in batches.
func (l *limiterLog) Seed(ctx context.Context, logs []ratelimit.KeyLog) error {
	s := l.server
	client, err := s.connected()
	if err != nil {
		return err
	}
	for len(logs) > 0 {
		batch := logs[:min(seedBatch, len(logs))]
		logs = logs[len(batch):]
		calls := make([]rueidis.LuaExec, len(batch))
		for i, log := range batch {
			key, _ := l.key(log.Key)
			calls[i] = rueidis.LuaExec{Keys: []string{key}, Args: []string{s.mark, packTicks(log.Ticks), l.depth, l.expiry}}
		}
		if err := func() error {
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			for _, reply := range seedScript.ExecMulti(ctx, client, calls...) {
				if err := reply.Error(); err != nil {
					return s.fault("seed", err)
				}
			}
			return nil
		}(); err != nil {
			return err
		}
	}
	return nil
}

func packTicks(ticks []int64) string {
	packed := make([]byte, 0, 6*len(ticks))
	for _, tick := range ticks {
		var bytes [8]byte
		binary.BigEndian.PutUint64(bytes[:], uint64(tick))
		packed = append(packed, bytes[2:]...)
	}
	return string(packed)
}

// Join announces this process.
func (s *Server) Join(ctx context.Context) (ratelimit.Membership, error) {
	reply, err := s.exec(ctx, "join", joinScript, []string{nodesKey, generationKey}, s.process, microsOf(memberFor))
	if err != nil {
		return ratelimit.Membership{}, err
	}
	known := ratelimit.Membership{Self: s.process}
	values, err := reply.ToArray()
	if err != nil || len(values) != 4 {
		return known, s.fault("join", fmt.Errorf("response with %d values: %w", len(values), err))
	}
	now, err := values[0].AsInt64()
	if err != nil {
		return known, s.fault("join", err)
	}
	known.Now = time.UnixMicro(now)
	if known.Generation, err = values[1].ToString(); err != nil {
		return known, s.fault("join", err)
	}
	ready, err := values[2].ToString()
	if err != nil {
		return known, s.fault("join", err)
	}
	known.Ready = ready == "1"
	if known.Processes, err = values[3].AsStrSlice(); err != nil {
		return known, s.fault("join", err)
	}
	s.remember(known)
	return known, nil
}

// Begin starts a generation.
func (s *Server) Begin(ctx context.Context, after string) (string, error) {
	reply, err := s.exec(ctx, "begin", beginScript, []string{generationKey}, after, rand.Text())
	if err != nil {
		return "", err
	}
	generation, err := reply.ToString()
	if err != nil {
		return "", s.fault("begin", err)
	}
	return generation, nil
}

// Seeded records that this process has seeded a generation.
func (s *Server) Seeded(ctx context.Context, generation string, processes []string) (bool, error) {
	if err := s.renewSessions(ctx); err != nil {
		return false, err
	}
	arguments := append([]string{generation, s.process, microsOf(seedTime)}, processes...)
	reply, err := s.exec(ctx, "seeded", seededScript, []string{nodesKey, generationKey}, arguments...)
	if err != nil {
		return false, err
	}
	state, err := reply.AsInt64()
	if err != nil {
		return false, s.fault("seeded", err)
	}
	if state < 0 {
		return false, ratelimit.ErrUnseeded
	}
	return state == 1, nil
}

// Use loads the scripts of a generation on every server.
func (s *Server) Use(ctx context.Context, generation string) error {
	client, err := s.connected()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	s.logsMu.Lock()
	defer s.logsMu.Unlock()
	for _, node := range client.Nodes() {
		commands := make(rueidis.Commands, len(s.logs))
		for i, l := range s.logs {
			commands[i] = node.B().ScriptLoad().Script(l.decideScript(generation)).Build()
		}
		for i, reply := range node.DoMulti(ctx, commands...) {
			name, err := reply.ToString()
			if err != nil {
				return s.fault("load script", err)
			}
			s.logs[i].script.Store(&name)
		}
	}
	s.isCluster.Store(len(client.Nodes()) > 1)
	s.generation.Store(&generation)
	return nil
}

// batches is how many decisions of one limiter can't be in one call.
func (s *Server) batches() int {
	if s.isCluster.Load() {
		return tags
	}
	return 1
}

func (s *Server) exec(ctx context.Context, operation string, script *rueidis.Lua, keys []string, arguments ...string) (rueidis.RedisMessage, error) {
	client, err := s.connected()
	if err != nil {
		return rueidis.RedisMessage{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	reply, err := script.Exec(ctx, client, keys, arguments).ToMessage()
	if err != nil {
		return rueidis.RedisMessage{}, s.fault(operation, err)
	}
	return reply, nil
}

func microsOf(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
