package redis

import (
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the server names scripts by it
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

var _ ratelimit.Server = (*Server)(nil)

const (
	nodesKey      = "dk:{cluster}:nodes"
	generationKey = "dk:{cluster}:generation"
	// tags is the number of hash tags that logs are spread over.
	tags = 16

	// memberFor is how long a process counts as running after it has joined.
	memberFor = 5 * time.Second
	// seedTime is how long a generation waits for processes that were known and do not seed.
	seedTime = 10 * time.Second
	// seedBatch is how many keys are seeded in one round trip.
	seedBatch = 100
)

func newScript(text string) *script {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // as above
	return &script{text: text, sha1: hex.EncodeToString(sum[:])}
}

func markerKey(tag int) string { return fmt.Sprintf("dk:{%02d}:g", tag) }

// limiterLog is the log of one limiter.
type limiterLog struct {
	server  *Server
	name    string
	windows []string // limit and length in ticks of each, as arguments of a script
	depth   string   // the largest limit
	longest string   // the length of the longest window, in ticks
}

// Log returns the logs of a limiter.
func (s *Server) Log(name string, windows []ratelimit.Window) ratelimit.Log {
	l := &limiterLog{server: s, name: name}
	var depth, longest int64
	for _, window := range windows {
		ticks := window.Ticks()
		l.windows = append(l.windows, strconv.Itoa(window.Limit), strconv.FormatInt(ticks, 10))
		depth, longest = max(depth, int64(window.Limit)), max(longest, ticks)
	}
	l.depth, l.longest = strconv.FormatInt(depth, 10), strconv.FormatInt(longest, 10)
	return l
}

// keys returns the key of a log and that of its marker.
func (l *limiterLog) keys(key ratelimit.Key) (log, marker string) {
	var bytes [12]byte
	hidden, first := l.server.hide("limit", l.name, key.AppendTo(bytes[:0]))
	tag := int(first) % tags
	return fmt.Sprintf("dk:{%02d}:l:%s", tag, hidden), markers[tag]
}

var markers = func() (all [tags]string) {
	for tag := range all {
		all[tag] = markerKey(tag)
	}
	return all
}()

// Decide decides with one script.
func (l *limiterLog) Decide(ctx context.Context, key ratelimit.Key, n int, count bool) (ratelimit.Decision, int64, error) {
	s := l.server
	generation := s.generation.Load()
	if generation == nil {
		return ratelimit.Decision{}, 0, ratelimit.ErrUnseeded
	}
	client, err := s.connected()
	if err != nil {
		return ratelimit.Decision{}, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, decideTimeout)
	defer cancel()
	log, marker := l.keys(key)
	counted := "0"
	if count {
		counted = "1"
	}
	reply, err := client.Do(ctx, client.B().Evalsha().Sha1(s.decide.sha1).Numkeys(2).Key(log, marker).
		Arg(*generation, s.mark, strconv.Itoa(n), counted).Arg(l.windows...).Build()).AsIntSlice()
	switch {
	case isNoScript(err) || err == nil && len(reply) == 0:
		return ratelimit.Decision{}, 0, ratelimit.ErrUnseeded
	case err != nil:
		return ratelimit.Decision{}, 0, s.fault("decide", err)
	case len(reply) != 6:
		return ratelimit.Decision{}, 0, registrar.Fault(registrar.FaultBroken, s.target, nil)
	}
	return ratelimit.Decision{
		Allowed: reply[0] == 1, RetryAfter: micros(reply[2]), Window: int(reply[3]), Remaining: int(reply[4]), Reset: micros(reply[5]),
	}, reply[1], nil
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

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
			key, _ := l.keys(log.Key)
			calls[i] = rueidis.LuaExec{Keys: []string{key}, Args: []string{s.mark, packTicks(log.Ticks), l.depth, l.longest}}
		}
		if err := func() error {
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			for _, reply := range s.seed.ExecMulti(ctx, client, calls...) {
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

// Begin starts a generation and removes the markers of the last one.
func (s *Server) Begin(ctx context.Context, after string) (string, error) {
	reply, err := s.exec(ctx, "begin", beginScript, []string{generationKey}, after, rand.Text())
	if err != nil {
		return "", err
	}
	generation, err := reply.ToString()
	if err != nil {
		return "", s.fault("begin", err)
	}
	return generation, s.eachMarker(ctx, func(client rueidis.Client, marker string) rueidis.Completed {
		return client.B().Del().Key(marker).Build()
	})
}

// Seeded records that this process has seeded a generation. The last one sets the markers.
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
	switch state {
	case 2:
		return true, s.eachMarker(ctx, func(client rueidis.Client, marker string) rueidis.Completed {
			return client.B().Set().Key(marker).Value(generation).Build()
		})
	case 1:
		return true, nil
	case 0:
		return false, nil
	default:
		return false, ratelimit.ErrUnseeded
	}
}

// Use loads the script on every server and makes decisions belong to a generation.
func (s *Server) Use(ctx context.Context, generation string) error {
	client, err := s.connected()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for _, node := range client.Nodes() {
		if err := node.Do(ctx, node.B().ScriptLoad().Script(s.decide.text).Build()).Error(); err != nil {
			return s.fault("load script", err)
		}
	}
	s.generation.Store(&generation)
	return nil
}

func (s *Server) eachMarker(ctx context.Context, command func(rueidis.Client, string) rueidis.Completed) error {
	client, err := s.connected()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	commands := make(rueidis.Commands, tags)
	for tag := range commands {
		commands[tag] = command(client, markers[tag])
	}
	for _, reply := range client.DoMulti(ctx, commands...) {
		if err := reply.Error(); err != nil {
			return s.fault("mark generation", err)
		}
	}
	return nil
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
