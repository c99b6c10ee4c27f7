package jobs

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// memNodes is a table of reports and the nodes whose leases were released.
type memNodes struct {
	mu       sync.Mutex
	reports  map[string]time.Time
	released []string
	away     bool
}

var errAway = errors.New("away")

func (s *memNodes) heartbeat(node string) *Heartbeat {
	h := &Heartbeat{
		Node: node, Interval: HeartbeatInterval, DeadAfter: HeartbeatDeadAfter, FenceAfter: HeartbeatFenceAfter,
		Report: func(_ context.Context, now time.Time) (all []NodeReport, _ error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.away {
				return nil, errAway
			}
			s.reports[node] = now
			for name, seenAt := range s.reports {
				all = append(all, NodeReport{name, seenAt})
			}
			return all, nil
		},
		Release: func(_ context.Context, dead NodeReport) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.released = append(s.released, dead.Name)
			return nil
		},
		OnError: func(context.Context, error) {},
	}
	h.Start()
	return h
}

func (s *memNodes) setAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
}

func (s *memNodes) releasedNodes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.released)
}

func TestHeartbeat_DeadNodeIsReleasedOnceWithinAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// Its clock is an hour behind. A node of an earlier release reports every 33 s.
		nodes := &memNodes{reports: map[string]time.Time{"dead": time.Now().Add(-time.Hour)}}
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		go nodes.heartbeat("here").Run(ctx)
		go RunEvery(ctx, 33*time.Second, func(context.Context) error {
			nodes.mu.Lock()
			defer nodes.mu.Unlock()
			nodes.reports["old release"] = time.Now()
			return nil
		}, nil)
		time.Sleep(40 * time.Second)
		if got := nodes.releasedNodes(); len(got) != 0 {
			t.Errorf("released too early: %q", got)
		}
		time.Sleep(20 * time.Second)
		if got := nodes.releasedNodes(); !slices.Equal(got, []string{"dead"}) {
			t.Errorf("after a minute, released: %q", got)
		}
		<-ctx.Done()
		if got := nodes.releasedNodes(); len(got) != 1 {
			t.Errorf("after an hour, released: %q", got)
		}
	})
}

func TestHeartbeat_OutageOfDatabaseKillsNoNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := &memNodes{reports: map[string]time.Time{}}
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		for _, node := range []string{"one", "two", "three"} {
			go nodes.heartbeat(node).Run(ctx)
		}
		for range 5 {
			time.Sleep(time.Minute)
			nodes.setAway(true)
			time.Sleep(10 * time.Minute)
			nodes.setAway(false)
		}
		if got := nodes.releasedNodes(); len(got) != 0 {
			t.Errorf("released: %q", got)
		}
		stop()
	})
}

func TestHeartbeat_FailedReleaseIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := &memNodes{reports: map[string]time.Time{"dead": time.Now()}}
		h, calls := nodes.heartbeat("here"), 0
		h.Release = func(context.Context, NodeReport) error {
			if calls++; calls < 3 {
				return errAway
			}
			return nil
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
		defer stop()
		h.Run(ctx)
		if calls != 3 {
			t.Errorf("%d calls, want two that fail and one that does not", calls)
		}
	})
}

func TestCallContext_NodeWithoutHeartbeatStartsNoCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		nodes := &memNodes{reports: map[string]time.Time{}}
		h := nodes.heartbeat("here")
		ctx, stop := context.WithCancel(WithHeartbeat(t.Context(), h))
		defer stop()
		go h.Run(ctx)
		worker := &Worker[string]{Deadline: 20 * time.Second}
		mayCall := func() bool {
			call, cancel := worker.CallContext(context.WithoutCancel(ctx))
			defer cancel()
			return call.Err() == nil
		}
		time.Sleep(10 * time.Minute)
		if !mayCall() {
			t.Error("a node that reports may not call")
		}
		nodes.setAway(true)
		time.Sleep(HeartbeatFenceAfter - HeartbeatInterval)
		if !mayCall() {
			t.Error("the node may not call although the others still wait")
		}
		time.Sleep(2 * HeartbeatInterval)
		if mayCall() {
			t.Error("the node may call although the others are about to take over")
		}
		nodes.setAway(false)
		time.Sleep(2 * HeartbeatInterval)
		if !mayCall() {
			t.Error("the node may not call although it reports again")
		}
		if call, cancel := worker.CallContext(WithHeartbeat(t.Context(), nil)); call.Err() != nil {
			t.Error("without a heartbeat there is no call")
		} else {
			cancel()
		}
	})
}

// A node that was frozen reports again when it resumes, perhaps before the work that it had leased
// goes on. That work still belongs to another node.
func TestHeartbeat_ReportAfterPauseDoesNotRenewEarlierLeases(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &Heartbeat{
			Node: "a", Interval: HeartbeatInterval, DeadAfter: HeartbeatDeadAfter, FenceAfter: HeartbeatFenceAfter,
			Report: func(context.Context, time.Time) ([]NodeReport, error) { return nil, nil },
		}
		h.Start()
		ctx := WithHeartbeat(t.Context(), h)
		before := holdLeases(ctx)
		time.Sleep(HeartbeatInterval)
		if err := h.beat(ctx); err != nil || !mayCall(before) {
			t.Fatalf("a live node may not call, %v", err)
		}
		time.Sleep(HeartbeatDeadAfter) // frozen
		if mayCall(before) {
			t.Error("an overdue node may call")
		}
		if err := h.beat(ctx); err != nil {
			t.Fatal(err)
		}
		if mayCall(before) {
			t.Error("work that was leased before a pause may call")
		}
		if !mayCall(holdLeases(ctx)) || !mayCall(ctx) {
			t.Error("work that was leased after a pause may not call")
		}
	})
}
