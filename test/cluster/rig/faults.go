package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

// fault is one that was injected.
type fault struct {
	Name, Node string
	Start, End time.Time // End is when the cause was removed
	// Redis and Database are set if those were not available to every node, Orders if orders
	// had to wait.
	Redis, Database, Orders bool
	// Interrupted is how many orders were in progress when a node was killed, and Resumed
	// how long the last of them took.
	Interrupted int
	Resumed     time.Duration
	Note        string
}

func (f fault) String() string {
	if f.Node == "" {
		return f.Name
	}
	return f.Name + " " + f.Node
}

// scenario is a kind of fault.
type scenario struct {
	name                    string
	redis, database, orders bool
	run                     func(ctx context.Context, r *rig, f *fault) error
	// unavailable returns why this machine can't do it; nil means that every one can.
	unavailable func(*cluster) string
}

// scenarios are in the order of their importance: a short run has the first ones.
var scenarios = []scenario{
	{name: "kill", run: killNode},
	{name: "freeze", run: freezeNode},
	{name: "redis-restart", redis: true, run: restartRedis},
	{name: "redis-stop", redis: true, run: stopRedis},
	{name: "postgres-stop", database: true, orders: true, run: stopDatabase},
	{name: "failover", database: true, orders: true, run: failOver},
	{name: "isolate", redis: true, database: true, orders: true, run: isolateNode},
	{name: "disk-full", run: fillDisk, unavailable: func(c *cluster) string {
		if c.mounted == "" {
			return "it needs the right to mount a small file system"
		}
		return ""
	}},
	{name: "upstreams", orders: true, run: failUpstreams},
	{name: "clock", run: moveClock},
}

// How long faults last.
const (
	frozenFor      = 20 * time.Second
	redisDownFor   = 20 * time.Second
	databaseDown   = 15 * time.Second
	isolatedFor    = 20 * time.Second
	diskFullFor    = 20 * time.Second
	upstreamsFor   = 20 * time.Second
	clockMovedFor  = 20 * time.Second
	clockJump      = time.Hour
	killedAtLeast  = 10 * time.Second
	killedAtMost   = resumeWithin + 5*time.Second
	killedOrders   = 6 // started just before a kill
	killedWithin   = 300 * time.Millisecond
	killedWithout  = 5 * time.Second // of waiting for orders in progress
	resumeInterval = time.Second
)

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// killNode kills a node while orders are in progress and restarts it after other nodes have
// finished them, because a node that starts releases its own leases.
func killNode(ctx context.Context, r *rig, f *fault) error {
	n := r.nodes[r.dice.IntN(nodeCount)]
	f.Node = n.name
	for range killedOrders {
		r.traffic.running.Go(r.traffic.buy) // it is to outlast the fault
	}
	if err := sleep(ctx, time.Duration(r.dice.Int64N(int64(killedWithin)))); err != nil {
		return err
	}
	if err := r.waitForOrders(ctx); err != nil {
		return err
	}
	f.Start = time.Now()
	if err := n.process.Kill(); err != nil {
		return err
	}
	open, err := r.ordersInProgress(ctx)
	if err != nil {
		return err
	}
	f.Interrupted = len(open)
	for deadline := f.Start.Add(killedAtMost); len(open) > 0 && time.Now().Before(deadline); {
		left := open[:0]
		for _, id := range open {
			o, _, err := r.db.OrderByID(ctx, id)
			if err != nil || inProgress(o) {
				left = append(left, id)
			}
		}
		if open = left; len(open) > 0 {
			if err := sleep(ctx, resumeInterval); err != nil {
				return err
			}
		}
	}
	f.Resumed = time.Since(f.Start)
	if len(open) > 0 {
		f.Note = fmt.Sprintf("%d of them were still in progress when the node was restarted: %v", len(open), open)
	}
	if err := sleep(ctx, max(0, killedAtLeast-time.Since(f.Start))); err != nil {
		return err
	}
	return n.start(ctx)
}

// waitForOrders waits until an order is in progress, because how long one takes depends on the
// machine.
func (r *rig) waitForOrders(ctx context.Context) error {
	for deadline := time.Now().Add(killedWithout); time.Now().Before(deadline); {
		open, err := r.ordersInProgress(ctx)
		if err != nil || len(open) > 0 {
			return err
		}
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func inProgress(o order.Order) bool { return o.State == order.Paying || o.State == order.Provisioning }

// ordersInProgress returns the orders of the last minute that a node has to continue.
func (r *rig) ordersInProgress(ctx context.Context) (ids []string, err error) {
	const many = 200
	for last := registrar.NewID("ord_", time.Now().Add(-time.Minute)); ; {
		orders, err := r.db.ListOrdersAfter(ctx, last, many)
		if err != nil {
			return nil, err
		}
		for _, o := range orders {
			if inProgress(o) {
				ids = append(ids, o.ID)
			}
			last = o.ID
		}
		if len(orders) < many {
			return ids, nil
		}
	}
}

func freezeNode(ctx context.Context, r *rig, f *fault) error {
	n := r.nodes[r.dice.IntN(nodeCount)]
	f.Node = n.name
	if err := n.process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return errors.Join(sleep(ctx, frozenFor), n.process.Signal(syscall.SIGCONT))
}

func restartRedis(ctx context.Context, r *rig, _ *fault) error {
	if err := r.redis.stop(syscall.SIGKILL); err != nil {
		return err
	}
	return r.launchRedis(ctx)
}

func stopRedis(ctx context.Context, r *rig, _ *fault) error {
	if err := r.redis.stop(syscall.SIGTERM); err != nil {
		return err
	}
	return errors.Join(sleep(ctx, redisDownFor), r.launchRedis(ctx))
}

func stopDatabase(ctx context.Context, r *rig, _ *fault) error {
	primary := r.databases[r.primary]
	if err := primary.stop(syscall.SIGINT); err != nil {
		return err
	}
	return errors.Join(sleep(ctx, databaseDown), primary.launch(ctx))
}

// failOver stops the primary, promotes its replica, and makes the former primary a replica.
func failOver(ctx context.Context, r *rig, f *fault) error {
	old, next := r.databases[r.primary], r.databases[1-r.primary]
	if err := old.stop(syscall.SIGQUIT); err != nil {
		return err
	}
	if err := next.promote(ctx); err != nil {
		return err
	}
	r.primary = 1 - r.primary
	f.End = time.Now()
	return old.follow(ctx, next)
}

// isolateNode drops what the last node exchanges with PostgreSQL and Redis: as root by taking
// down the link of the network namespace that it passes through. Clients still reach the node.
func isolateNode(ctx context.Context, r *rig, f *fault) error {
	f.Node = r.nodes[isolated].name
	if r.link != nil {
		if err := r.link.setLink(ctx, "down"); err != nil {
			return err
		}
		err := sleep(ctx, isolatedFor)
		return errors.Join(err, r.link.setLink(context.WithoutCancel(ctx), "up"))
	}
	for _, p := range r.cut {
		p.setSilent(true)
	}
	err := sleep(ctx, isolatedFor)
	for _, p := range r.cut {
		p.setSilent(false)
	}
	return err
}

// fillDisk fills the file system with a node's data folder and log.
func fillDisk(ctx context.Context, r *rig, f *fault) error {
	f.Node = r.nodes[smallDisk].name
	path := filepath.Join(r.mounted, "filler")
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	block := make([]byte, 64<<10)
	for err == nil {
		if _, err = file.Write(block); err != nil && len(block) > 1 {
			block, err = block[:len(block)/2], nil
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		return errors.Join(err, file.Close())
	}
	return errors.Join(file.Close(), sleep(ctx, diskFullFor), os.Remove(path))
}

// failUpstreams makes the payment provider slow and faulty, and asks for names whose
// registry hangs, is garbled or refuses.
func failUpstreams(ctx context.Context, r *rig, _ *fault) error {
	for _, f := range []stripe.Fault{
		{On: "*", Do: "fail_after", Times: 3},
		{On: "*", Do: "drop_after", Times: 3, Skip: 5},
		{On: "*", Do: "throttle", Times: 3, Skip: 10},
		{On: "*", Do: "slow", Delay: "1s"},
		{On: "webhook", Do: "lose", Times: 5},
	} {
		if err := r.provider.InjectFault(ctx, f); err != nil {
			return err
		}
	}
	r.traffic.setFaulty(true)
	err := sleep(ctx, upstreamsFor)
	r.traffic.setFaulty(false)
	return errors.Join(err, r.provider.ClearFaults(context.WithoutCancel(ctx)))
}

// moveClock restarts a node with a clock that jumps forward by an hour and back.
func moveClock(ctx context.Context, r *rig, f *fault) error {
	n := r.nodes[0]
	f.Node = n.name
	file := filepath.Join(r.folder, "clock")
	if err := setClock(file, 0); err != nil {
		return err
	}
	if err := n.process.Stop(); err != nil {
		return err
	}
	if err := n.start(ctx, "CLOCK_FILE="+file); err != nil {
		return err
	}
	f.Start = time.Now()
	if err := setClock(file, clockJump); err != nil {
		return err
	}
	err := errors.Join(sleep(ctx, clockMovedFor), setClock(file, 0))
	f.End = time.Now()
	return errors.Join(err, n.process.Stop(), n.start(ctx))
}

// setClock writes how far the clock is ahead, as package failpoint reads it.
func setClock(path string, ahead time.Duration) error {
	next := path + ".new"
	if err := os.WriteFile(next, binary.LittleEndian.AppendUint64(nil, uint64(ahead)), 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// schedule injects faults until the end, with pauses between them. Every round has each kind
// once, the first in the order of the list.
func (r *rig) schedule(ctx context.Context, chosen []scenario, length time.Duration, progress func(string, ...any)) error {
	end, atLeast := time.Now().Add(length), pauseAtLeast
	if length < shortRun {
		atLeast = recoverWithin
	}
	for round := 0; ; round++ {
		if round > 0 {
			r.dice.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
		}
		for _, s := range chosen {
			pause := atLeast + time.Duration(r.dice.Int64N(int64(pauseSpread)))
			if time.Now().Add(pause).After(end) {
				return nil
			}
			if err := sleep(ctx, pause); err != nil {
				return err
			}
			f := fault{Name: s.name, Redis: s.redis, Database: s.database, Orders: s.orders, Start: time.Now()}
			if err := s.run(ctx, r, &f); err != nil {
				return fmt.Errorf("fault %s: %w", s.name, err)
			}
			if f.End.IsZero() {
				f.End = time.Now()
			}
			r.faults = append(r.faults, f)
			progress("%s for %s %s", f, f.End.Sub(f.Start).Round(time.Second/10), f.Note)
		}
	}
}

// Pauses between faults, which are shorter in a short run.
const (
	pauseAtLeast = 20 * time.Second
	pauseSpread  = 5 * time.Second
	shortRun     = 10 * time.Minute
)
