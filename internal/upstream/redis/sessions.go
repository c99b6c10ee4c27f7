package redis

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

const (
	// sessionsFor is how long the connections of a process count after it last renewed them,
	// so those of a dead process are free within this time.
	sessionsFor     = 10 * time.Second
	sessionsRenewal = 2 * time.Second
)

var (
	acquireScript = rueidis.NewLuaScript(readScript("acquire"))
	renewScript   = rueidis.NewLuaScript(readScript("renew"))
)

// Sessions divides the connections of one registry account among the nodes.
//
// A process may have as many as its share, and all of them together as many as the account
// allows. The shares add up to that, except that every process may have one. While the server
// is down, each process stays within its share. A process that can't reach the server, while
// others can, keeps connections that the others believe to be free: the registry refuses what
// exceeds its limit, and the pool waits.
type Sessions struct {
	server *Server
	keys   []string
	limit  int

	mu   sync.Mutex
	held int
}

// Sessions returns the connections of an account that may have so many.
func (s *Server) Sessions(account string, limit int) *Sessions {
	hidden, _ := s.hide("sessions", account, nil)
	sessions := &Sessions{server: s, limit: limit, keys: []string{"dk:{cluster}:s:" + hidden, "dk:{cluster}:e:" + hidden, generationKey}}
	s.sessionsMu.Lock()
	defer s.sessionsMu.Unlock()
	s.sessions = append(s.sessions, sessions)
	return sessions
}

// Acquire takes one connection.
func (s *Sessions) Acquire(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	share := s.Share()
	if s.held >= share {
		return false
	}
	if generation := s.server.generation.Load(); generation != nil {
		ctx, cancel := context.WithTimeout(ctx, decideTimeout)
		defer cancel()
		reply, err := s.server.exec(ctx, "acquire connection", acquireScript, s.keys,
			s.server.process, strconv.Itoa(s.limit), strconv.Itoa(share), *generation, microsOf(sessionsFor))
		if err == nil {
			if acquired, err := reply.AsInt64(); err == nil && acquired == 0 {
				return false
			}
			// Without a complete generation, the share is the limit.
		}
	}
	s.held++
	return true
}

// Release returns one connection.
func (s *Sessions) Release() {
	s.mu.Lock()
	s.held--
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), decideTimeout)
	defer cancel()
	_ = s.renew(ctx) // otherwise the next renewal does
}

func (s *Sessions) renew(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.server.exec(ctx, "renew connections", renewScript, s.keys[:2], s.server.process, strconv.Itoa(s.held), microsOf(sessionsFor))
	return err
}

// Share is how many connections this process may have.
func (s *Sessions) Share() int {
	nodes, rank := s.server.position()
	share := s.limit / nodes
	if rank < s.limit%nodes {
		share++
	}
	return max(1, share)
}

// Nodes is how many processes share the account.
func (s *Sessions) Nodes() int { return s.server.Nodes() }

// RunSessions renews the connections of this process until ctx ends.
func (s *Server) RunSessions(ctx context.Context) {
	ticker := time.NewTicker(sessionsRenewal)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = s.renewSessions(ctx) // Shared logs an outage
		}
	}
}

func (s *Server) renewSessions(ctx context.Context) error {
	s.sessionsMu.Lock()
	all := slices.Clone(s.sessions)
	s.sessionsMu.Unlock()
	for _, sessions := range all {
		if err := sessions.renew(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Nodes is how many processes were last seen, including this one.
func (s *Server) Nodes() int {
	nodes, _ := s.position()
	return nodes
}

// position returns the number of processes that were last seen and the place of this one.
func (s *Server) position() (nodes, rank int) {
	known := s.known.Load()
	if known == nil {
		return 1, 0
	}
	return len(known.Processes), max(0, slices.Index(known.Processes, s.process))
}

// remember keeps the last membership, in an order that is the same everywhere.
func (s *Server) remember(known ratelimit.Membership) {
	known.Processes = slices.Sorted(slices.Values(known.Processes))
	s.known.Store(&known)
}
