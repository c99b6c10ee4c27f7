package cluster

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/keyring"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// A call takes much longer than a dead node is waited for. Its node keeps the row as long as it
// reports, and can't change it any more once another node has taken over.
func TestHeartbeat_LiveNodeKeepsItsRowAndFrozenNodeLosesIt(t *testing.T) {
	t.Parallel()
	place := newPostgres(t)
	slow, other := place.openFixture(t), place.openFixture(t)
	ctx := t.Context()
	now := time.Now().Truncate(time.Microsecond)
	item, err := slow.db.AddProvisionItem(ctx, provision.Item{
		ID: registrar.NewID("prv_", now), Customer: slow.newCustomer("langsam"), Name: "sehr-langsam.org", TLD: ".org", Kind: provision.Register, Years: 1,
		Payment: "manual:1", State: provision.StatePaid, Account: "sandbox", RequestedAt: now, DueAt: now, CreatedAt: now, UpdatedAt: now,
	}, registrar.AuditEvent{Actor: operator, Action: provision.ActionOrdered, At: now})
	if err != nil {
		t.Fatal(err)
	}
	start := func(f *fixture, node string) (h *jobs.Heartbeat, reports *atomic.Int64, stop func()) {
		t.Helper()
		if err := f.db.PutSealNode(ctx, keyring.Node{Name: node, SeenAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.db.ClaimNode(ctx, node, time.Now()); err != nil {
			t.Fatal(err)
		}
		h, reports = app.NewHeartbeat(f.db, node), new(atomic.Int64)
		h.Interval, h.DeadAfter, h.FenceAfter = 50*time.Millisecond, 2*time.Second, time.Second
		h.OnError = func(_ context.Context, err error) { t.Log(err) } // a busy machine; the next report repeats it
		report := h.Report
		h.Report = func(ctx context.Context, now time.Time) ([]jobs.NodeReport, error) {
			reports.Add(1)
			return report(ctx, now)
		}
		h.Start()
		running, cancel := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() { h.Run(running) })
		return h, reports, func() { cancel(); done.Wait() }
	}
	mine, _, freeze := start(slow, "slow")
	_, observed, stop := start(other, "other")
	defer stop()

	leased := item
	leased.State, leased.Node, leased.DueAt = provision.StateRequested, "slow", now.Add(time.Hour)
	if updated, err := slow.db.UpdateProvisionItem(ctx, provision.Transition{From: item, To: leased, At: now}); err != nil || !updated {
		t.Fatal(updated, err)
	}
	stored := func() provision.Item {
		t.Helper()
		got, _, err := other.db.ProvisionItemByID(ctx, item.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	mayCall := func() bool {
		call, cancel := (&jobs.Worker[provision.Item]{Deadline: time.Minute}).CallContext(jobs.WithHeartbeat(ctx, mine))
		defer cancel()
		return call.Err() == nil
	}
	const longer = 100 // reports: more than twice the time after which a node counts as dead
	testkit.Eventually(t, "reports of the other node", func() bool { return observed.Load() >= longer })
	if got := stored(); got.Node != "slow" || !got.DueAt.Equal(leased.DueAt) || !mayCall() {
		t.Errorf("the live node has lost its row: %+v", got)
	}

	freeze()
	testkit.Eventually(t, "release", func() bool { return stored().Node == "" })
	if mayCall() {
		t.Error("the frozen node may still begin a call")
	}
	taken := stored()
	late := leased
	late.State = provision.StatePending
	if updated, err := slow.db.UpdateProvisionItem(ctx, provision.Transition{From: leased, To: late, At: now}); err != nil || updated {
		t.Errorf("the late write of the frozen node: %v, %v", updated, err)
	}
	if got := stored(); got.State != taken.State || got.DueAt.After(time.Now()) {
		t.Errorf("the row is not due: %+v", got)
	}
}
