package jobs

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// NodeReport is the time, by its own clock, at which a node last reported that it is alive.
type NodeReport struct {
	Name   string
	SeenAt time.Time
}

// Heartbeat lets the nodes of one database take over each other's work soon after a node has
// died: long before its leases end, which have to outlive the slowest call.
//
// Every node reports at an interval. A node whose report has not changed for DeadAfter counts as
// dead, and each other node that sees this releases its leases, so that its rows are due. A live
// node keeps its leases however slow its calls are.
//
// A node that is frozen, or can't reach the database, counts as dead as well. It does no harm
// when it resumes: its rows have moved on, so its writes, which are compare-and-swaps, fail, and
// Worker.CallContext starts no call once its last report is older than FenceAfter, nor later for
// rows that were leased before.
//
// Its fields must not change after Run.
type Heartbeat struct {
	Node string
	// Report stores that this node is alive, and returns the last reports of all nodes.
	Report func(ctx context.Context, now time.Time) ([]NodeReport, error)
	// Release releases the leases of another node, unless it has reported since.
	Release func(ctx context.Context, dead NodeReport) error
	// OnError is called when Report or Release fails.
	OnError func(ctx context.Context, err error)
	// Interval is how often the node reports; DeadAfter is longer than FenceAfter, so that a
	// node stops before the others take over.
	Interval, DeadAfter, FenceAfter time.Duration

	reported atomic.Pointer[time.Time] // before the last report that was stored
	// pauses counts how often this node could not report for longer than FenceAfter. Work that it
	// had leased before may be another node's by now, although it reports again.
	pauses   atomic.Int64
	watched  map[string]watchedNode
	lastRead time.Time
}

// watchedNode is how long the report of a node has not changed.
type watchedNode struct {
	seenAt    time.Time
	unchanged time.Duration
	released  bool
}

// The settings of the service. A takeover takes DeadAfter and two intervals at most, which is
// less than a minute. Nodes of releases before this one report every 33 s.
const (
	HeartbeatInterval   = 5 * time.Second
	HeartbeatDeadAfter  = 45 * time.Second
	HeartbeatFenceAfter = 35 * time.Second
)

// Start marks the node as alive; it has just reported. Run continues to report.
func (h *Heartbeat) Start() {
	now := time.Now()
	h.reported.Store(&now)
}

// Run reports and watches the other nodes until ctx ends.
func (h *Heartbeat) Run(ctx context.Context) { RunEvery(ctx, h.Interval, h.beat, h.OnError) }

func (h *Heartbeat) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, h.FenceAfter)
	defer cancel()
	// The time before the statements: if this node is frozen in between, nothing is gained.
	now := time.Now()
	reports, err := h.Report(ctx, now)
	if err != nil {
		return err
	}
	if h.overdue(now) {
		h.pauses.Add(1) // before the report, which ends being overdue
	}
	h.reported.Store(&now)
	for _, report := range h.findDead(reports, now) {
		if failure := h.Release(ctx, report); failure != nil {
			err = errors.Join(err, failure)
			continue
		}
		seen := h.watched[report.Name]
		seen.released = true
		h.watched[report.Name] = seen
	}
	return err
}

// findDead returns the nodes whose leases are to be released. Clocks of nodes differ, so a report
// is compared only with the node's own earlier one, and this node's clock measures the time.
func (h *Heartbeat) findDead(reports []NodeReport, now time.Time) (dead []NodeReport) {
	// While this node is frozen or the database is unreachable, others may have reported or
	// could not: a long gap between two reads counts as one interval at most.
	elapsed := min(now.Sub(h.lastRead), h.Interval)
	watched := make(map[string]watchedNode, len(reports))
	for _, report := range reports {
		if report.Name == h.Node {
			continue
		}
		seen := watchedNode{seenAt: report.SeenAt}
		if last, known := h.watched[report.Name]; known && last.seenAt.Equal(report.SeenAt) {
			seen = last
			seen.unchanged += elapsed
		}
		watched[report.Name] = seen
		if seen.unchanged >= h.DeadAfter && !seen.released {
			dead = append(dead, report)
		}
	}
	h.watched, h.lastRead = watched, now
	return dead
}

// overdue reports whether the others may have taken over. Neither clock alone is enough: the
// monotonic one may stand still while a machine is suspended, and the other one may be set back.
func (h *Heartbeat) overdue(now time.Time) bool {
	last := h.reported.Load()
	return last != nil && max(now.Sub(*last), now.Round(0).Sub(last.Round(0))) > h.FenceAfter
}

type heartbeatKey struct{}

// WithHeartbeat returns a context in which Worker.CallContext starts no call while h is overdue.
// A nil Heartbeat is never overdue.
func WithHeartbeat(ctx context.Context, h *Heartbeat) context.Context {
	if h == nil {
		return ctx
	}
	return context.WithValue(ctx, heartbeatKey{}, h)
}

type leasedKey struct{}

// holdLeases returns the context of work on rows that are leased from now on.
func holdLeases(ctx context.Context) context.Context {
	h, found := ctx.Value(heartbeatKey{}).(*Heartbeat)
	if !found {
		return ctx
	}
	return context.WithValue(ctx, leasedKey{}, h.pauses.Load())
}

// mayCall reports whether this node still owns its leases.
func mayCall(ctx context.Context) bool {
	h, found := ctx.Value(heartbeatKey{}).(*Heartbeat)
	if !found {
		return true
	}
	if h.overdue(time.Now()) {
		return false
	}
	// In this order: a report that ends being overdue has counted the pause before.
	pauses, held := ctx.Value(leasedKey{}).(int64)
	return !held || pauses == h.pauses.Load()
}
