package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// nodeFile holds the name of this node, which identifies its leases after a restart.
const nodeFile = "node.id"

// claimNodeName claims the name in the data folder. If another process holds it, this
// one gets a name for one run only, so that it can't take over live leases. The file
// also names the host: a copy on another host, where the lock has no effect, gets a new name.
func claimNodeName(folder string) (name string, release func(), err error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return "", nil, fmt.Errorf("node name: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(folder, nodeFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", nil, fmt.Errorf("node name: %w", err)
	}
	if !lockFile(file) {
		return NewNodeName(), func() {}, file.Close()
	}
	host, err := os.Hostname()
	if err == nil {
		name, err = readNodeName(file, strings.Join(strings.Fields(host), "-"))
	}
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("node name: %w", err), file.Close())
	}
	return name, func() { file.Close() }, nil // the end of the process releases it as well
}

// readNodeName returns the name in the file, and creates it if there is none for this host.
func readNodeName(file *os.File, host string) (string, error) {
	text, err := io.ReadAll(file)
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(text))
	if len(fields) == 2 && fields[1] == host {
		return fields[0], nil
	}
	name := NewNodeName()
	if len(fields) == 1 { // written by a version without host names
		name = fields[0]
	}
	if err := file.Truncate(0); err != nil {
		return "", err
	}
	_, err = file.WriteAt([]byte(name+"\n"+host+"\n"), 0)
	return name, err
}

func NewNodeName() string { return "node_" + strings.ToLower(rand.Text()) }

// startHeartbeat reports that this node is alive, and releases the leases of others that are not.
// The keyring has stored its first report.
func (p *App) startHeartbeat() {
	db := p.services.DB
	if db.SQL().Engine() == sqldb.SQLite {
		return
	}
	p.heartbeat = NewHeartbeat(db, p.node)
	p.heartbeat.OnError = jobs.ErrorLogger(p.logger, "heartbeat")
	p.heartbeat.Release = func(ctx context.Context, dead jobs.NodeReport) error {
		released, err := db.ReleaseDeadNode(ctx, dead.Name, dead.SeenAt, time.Now())
		if released != (store.ReleasedLeases{}) {
			p.logger.WarnContext(ctx, "leases of a dead node released", append(releasedAttrs(released), "node", dead.Name)...)
		}
		return err
	}
	p.heartbeat.Start()
	p.inBackground(p.heartbeat.Run)
}

// NewHeartbeat returns the heartbeat of a node that has claimed its name.
func NewHeartbeat(db *store.DB, node string) *jobs.Heartbeat {
	return &jobs.Heartbeat{
		Node: node, Interval: jobs.HeartbeatInterval, DeadAfter: jobs.HeartbeatDeadAfter, FenceAfter: jobs.HeartbeatFenceAfter,
		Report: func(ctx context.Context, now time.Time) ([]jobs.NodeReport, error) {
			nodes, err := db.ReportNode(ctx, now)
			reports := make([]jobs.NodeReport, len(nodes))
			for i, node := range nodes {
				reports[i] = jobs.NodeReport{Name: node.Name, SeenAt: node.SeenAt}
			}
			return reports, err
		},
		Release: func(ctx context.Context, dead jobs.NodeReport) error {
			_, err := db.ReleaseDeadNode(ctx, dead.Name, dead.SeenAt, time.Now())
			return err
		},
		OnError: func(context.Context, error) {},
	}
}

func releasedAttrs(released store.ReleasedLeases) []any {
	return []any{
		"orders", released.Orders, "provision_items", released.ProvisionItems, "domain_changes", released.DomainChanges,
		"outgoing_transfers", released.OutgoingTransfers, "unpaid_terms", released.TermEnds, "mails", released.Mails,
		"webhook_deliveries", released.WebhookDeliveries, "registry_pollers", released.RegistryPollers,
		"disputes", released.Disputes, "dispute_listings", released.DisputeListings, "idempotency_keys", released.IdempotencyKeys,
	}
}
