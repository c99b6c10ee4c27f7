package app

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/internal/upstream/redis"
)

// sharedSecret names the secret that hides keys and values on the shared server. It is in the
// database and not derived from secret_key, so that a rotation does not reset all limits.
const sharedSecret = "shared"

// nodeSeenWithin is how old the last report of a running node may be.
const nodeSeenWithin = 2 * time.Minute

// joinTimeout bounds how long a node waits for the others before it serves.
const joinTimeout = 3 * time.Second

// newShared connects the limits of this node with those of the others.
func (p *App) newShared(ctx context.Context, db *store.DB, seal *registrar.Seal) (*ratelimit.Shared, error) {
	key, err := db.ServiceSecret(ctx, seal, sharedSecret)
	if err != nil {
		return nil, err
	}
	if p.shared, err = redis.New(redis.Config{URL: string(p.cfg.Shared.URL), Key: key}); err != nil {
		return nil, err
	}
	nodes, err := countNodes(ctx, db)
	if err != nil {
		return nil, err
	}
	shared := ratelimit.NewShared(p.shared, nodes+1, p.logger)
	p.lookups.shared.Use(p.shared)
	p.lookups.hostLimiter.ShareAmong(p.shared.Nodes)
	for i, client := range p.lookups.Registries.Clients {
		client.ShareSessions(func(limit int) epp.Sessions { return p.shared.Sessions(p.cfg.EPP[i].Name, limit) })
	}
	p.inBackground(shared.Run, p.shared.RunSessions)
	p.closers = append(p.closers, p.shared.Close)

	newGauge(p.metrics, "dotkontor_shared_nodes", "Nodes that were last seen to share limits, including this one.",
		func() float64 { return float64(shared.Status().Nodes) })
	newGauge(p.metrics, "dotkontor_shared_limits_online", "1 while all nodes count rate limits together, 0 while this one counts on its own.", func() float64 {
		if shared.Status().Online {
			return 1
		}
		return 0
	})
	newCounterFunc(p.metrics, "dotkontor_shared_limits_recoveries_total", "How often this node has begun to count with the others.",
		func() int64 { return shared.Status().Recoveries })
	newCounterFunc(p.metrics, "dotkontor_local_limits_admitted_total", "Requests counted by this node alone.",
		func() int64 { return shared.Status().LocalAdmitted })
	newCounterFunc(p.metrics, "dotkontor_local_limits_refused_total", "Requests refused by this node's share of a limit.",
		func() int64 { return shared.Status().LocalRefused })
	newCounterFunc(p.metrics, "dotkontor_local_limits_premature_total", "Of them, those that the whole limit would have admitted at this node.",
		func() int64 { return shared.Status().Premature })
	return shared, nil
}

// awaitShared lets this node join the others before it serves, so that its first requests count
// in the same windows as theirs.
func (p *App) awaitShared(ctx context.Context) {
	if p.services.shared == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	p.services.shared.AwaitFirst(ctx)
}

// countNodes returns how many other nodes have reported to the database lately.
func countNodes(ctx context.Context, db *store.DB) (running int, err error) {
	nodes, err := db.SealNodes(ctx)
	for _, node := range nodes {
		if time.Since(node.SeenAt) < nodeSeenWithin {
			running++
		}
	}
	return running, err
}
