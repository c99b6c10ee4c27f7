package store

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/keyring"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// leaseEverything takes one lease of every kind for a node.
func leaseEverything(t *testing.T, db *DB, node string, keys *idempotency.Service) {
	t.Helper()
	ctx, lease := t.Context(), testTime.Add(time.Hour)
	db.node = node
	owner := newCustomer(t, db, "customer-"+node)
	agent := newAgent(t, db, "agt_"+node, "https://agent.example/hook")

	o := addAgentOrder(t, db, owner, agent, node+"-order.org")
	o = mustUpdateAgentOrder(t, db, o, toPaying("pay_"+node))
	o = mustUpdateAgentOrder(t, db, o, toPaid)
	mustUpdateAgentOrder(t, db, o, func(o *order.Order, _ *order.Transition) { o.Node, o.DueAt = node, lease })

	line := addProvisionItem(t, db, owner, node+"-line.org", "manual:"+node)
	mustUpdateItem(t, db, itemTransition(line, func(l *provision.Item, _ *provision.Transition) {
		l.State, l.Node, l.DueAt = provision.StateContacts, node, lease
	}))

	change := newOpenChange(owner, addHeldDomain(t, db, owner, node+"-change.org", registrar.DomainActive))
	change.Node, change.DueAt, change.Name = node, lease, node+"-change.org"
	if err := db.AddDomainChange(ctx, change); err != nil {
		t.Fatal(err)
	}

	term := addUnpaidTerm(t, db, addDomain(t, db, owner, node+"-term", registrar.DomainActive, testTime))
	claimed := term
	claimed.Node, claimed.DueAt = node, lease
	if updated, err := db.UpdateTerm(ctx, lifecycle.TermTransition{From: term, To: claimed}); err != nil || !updated {
		t.Fatal(updated, err)
	}
	deleteQueuedMails(t, db)

	if err := db.UpdateCustomers(ctx, func(tx account.Tx) error {
		return tx.QueueMail(ctx, registrar.Mail{Kind: registrar.MailDomainChanged, Customer: owner}, testTime)
	}); err != nil {
		t.Fatal(err)
	}
	claimMail(t, db, testTime, lease)
	claimDelivery(t, db, testTime, lease)

	if claimed, err := db.ClaimRegistryPoller(ctx, "account-"+node, node, testTime, lease); err != nil || !claimed {
		t.Fatal(claimed, err)
	}

	addHeldDomain(t, db, owner, node+"-away.org", registrar.DomainActive)
	storeMessage(t, db, "one", 1, onDomain("away-"+node, node+"-away.org", inbox.KindTransfer, inbox.Details{
		Transfer: &inbox.Transfer{Status: "pending", RequestedBy: "Rival", RequestedAt: testTime, DecidedAt: lease},
	}))
	if leased, err := db.ClaimDueOutgoingTransfers(ctx, testTime, lease, 1); err != nil || len(leased) != 1 {
		t.Fatal(leased, err)
	}
	addDispute(t, db, "du_"+node, "pi_"+node, dispute.NeedsResponse)
	if claimed, err := db.ClaimDueDisputes(ctx, testTime, lease, 1); err != nil || len(claimed) != 1 {
		t.Fatal(claimed, err)
	}
	if _, claimed, err := db.ClaimDisputeListing(ctx, "provider-"+node, testTime, lease); err != nil || !claimed {
		t.Fatal(claimed, err)
	}

	beginRun(t, keys, "scope "+node, "key", `{"a":1}`)
}

func TestClaimNode_ReleasesOnlyItsOwnLeases(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		keys := newIdempotencyService(t, db, &clock)
		for _, node := range []string{"here", "there"} {
			leaseEverything(t, db, node, keys)
		}
		tables := tablesWithNode(t, db)
		if want := []string{"dispute_listings", "disputes", "domain_changes", "idempotency_keys", "mails", "orders", "outgoing_transfers", "provision_items", "registry_pollers", "term_ends", "webhook_deliveries"}; !slices.Equal(tables, want) {
			t.Fatalf("tables with leases: %q, released in: %q", tables, want)
		}
		for _, table := range tables {
			for _, node := range []string{"here", "there"} {
				if n := count(t, db, `SELECT count(*) FROM `+table+` WHERE node = $1`, node); n != 1 {
					t.Fatalf("%s holds %d leases in %s", node, n, table)
				}
			}
		}

		released, err := db.ClaimNode(t.Context(), "here", testTime)
		if err != nil || released != (ReleasedLeases{Orders: 1, ProvisionItems: 1, DomainChanges: 1, OutgoingTransfers: 1, TermEnds: 1, Mails: 1, WebhookDeliveries: 1, RegistryPollers: 1, Disputes: 1, DisputeListings: 1, IdempotencyKeys: 1}) {
			t.Errorf("released %+v, %v", released, err)
		}
		for _, table := range tables {
			here := count(t, db, `SELECT count(*) FROM `+table+` WHERE node = 'here'`)
			there := count(t, db, `SELECT count(*) FROM `+table+` WHERE node = 'there'`)
			if here != 0 || there != 1 {
				t.Errorf("%s: this node holds %d, the other %d", table, here, there)
			}
			if table == "idempotency_keys" {
				continue
			}
			if due := count(t, db, `SELECT count(*) FROM `+table+` WHERE due_at > 0 AND due_at <= $1`, micros(testTime)); due < 1 {
				t.Errorf("%s: nothing is due", table)
			}
		}
		if again, err := db.ClaimNode(t.Context(), "here", testTime); err != nil || again != (ReleasedLeases{}) {
			t.Errorf("a second time %+v, %v", again, err)
		}

		// The key is valid for a retry of the same request only, and the other node's
		// is in flight.
		_, _, err = keys.Begin(t.Context(), "scope here", "key", jsonValue(t, `{"a":2}`))
		wantCode(t, err, registrar.KindConflict, idempotency.Conflict)
		if run, _ := beginRun(t, keys, "scope here", "key", `{"a":1}`); run == nil || !run.Resumed {
			t.Errorf("the key is not free for a retry: %+v", run)
		}
		_, _, err = keys.Begin(t.Context(), "scope there", "key", jsonValue(t, `{"a":1}`))
		wantCode(t, err, registrar.KindConflict, idempotency.InFlight)
	})
}

func TestReleaseDeadNode_ReleasesAllLeasesUnlessTheNodeHasReported(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		keys := newIdempotencyService(t, db, &clock)
		for _, node := range []string{"here", "there"} {
			if err := db.PutSealNode(t.Context(), keyring.Node{Name: node, SeenAt: testTime}); err != nil {
				t.Fatal(err)
			}
			leaseEverything(t, db, node, keys)
		}
		if _, err := db.ReportNode(t.Context(), testTime.Add(time.Second)); err != nil { // as "there"
			t.Fatal(err)
		}
		if released, err := db.ReleaseDeadNode(t.Context(), "there", testTime, testTime); err != nil || released != (ReleasedLeases{}) {
			t.Errorf("of a node that has reported, released %+v, %v", released, err)
		}
		released, err := db.ReleaseDeadNode(t.Context(), "here", testTime, testTime)
		if err != nil || released != (ReleasedLeases{Orders: 1, ProvisionItems: 1, DomainChanges: 1, OutgoingTransfers: 1, TermEnds: 1, Mails: 1, WebhookDeliveries: 1, RegistryPollers: 1, Disputes: 1, DisputeListings: 1, IdempotencyKeys: 1}) {
			t.Errorf("released %+v, %v", released, err)
		}
		for _, table := range tablesWithNode(t, db) {
			here := count(t, db, `SELECT count(*) FROM `+table+` WHERE node = 'here'`)
			there := count(t, db, `SELECT count(*) FROM `+table+` WHERE node = 'there'`)
			if here != 0 || there != 1 {
				t.Errorf("%s: the dead node holds %d, the live one %d", table, here, there)
			}
		}
	})
}

// Finished work holds no lease: a second start finds nothing to release, and stored
// responses and pauses stay.
func TestClaimNode_KeepsFinishedAndScheduledWork(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, lease := t.Context(), testTime.Add(time.Hour)
		var clock atomic.Int64
		keys := newIdempotencyService(t, db, &clock)
		db.node = "here"
		run, _ := beginRun(t, keys, "scope", "key", `{}`)
		if err := run.Finish(ctx, 200, nil, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		mail := enqueueMails(t, db, testTime, registrar.MailDomainChanged)[0]
		claimMail(t, db, testTime, lease)
		if err := db.PostponeMail(ctx, mail.ID, lease, testTime.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		o := addAgentOrder(t, db, newCustomer(t, db, "anna"), newAgent(t, db, "agt_1", "https://agent.example/hook"), "a.org")
		mustUpdateAgentOrder(t, db, mustUpdateAgentOrder(t, db, o, toPaying("pay_1")), toPaid)
		for _, end := range []func() error{
			func() error { return db.PostponeDelivery(ctx, o.ID, lease, testTime, 1) },
			func() error { return db.CompleteDelivery(ctx, o.ID, lease, 1, 1, testTime) },
		} {
			claimDelivery(t, db, testTime, lease)
			if err := end(); err != nil {
				t.Fatal(err)
			}
		}
		if released, err := db.ClaimNode(ctx, "here", testTime); err != nil || released != (ReleasedLeases{}) {
			t.Errorf("released %+v, %v", released, err)
		}
		if _, stored := beginRun(t, keys, "scope", "key", `{}`); stored == nil {
			t.Error("the response is gone")
		}
		if due := listDueMails(t, db, testTime); len(due) != 0 {
			t.Errorf("%d mails are due", len(due))
		}
		if released, err := db.ClaimNode(ctx, "", testTime); err != nil || released != (ReleasedLeases{}) {
			t.Errorf("without a node name it released %+v, %v", released, err)
		}
	})
}

func tablesWithNode(t *testing.T, db *DB) (names []string) {
	t.Helper()
	tx, err := db.sql.Reader().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() // read only
	tables, err := db.dataTables(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if slices.Contains(table.Columns, "node") {
			names = append(names, table.Name)
		}
	}
	slices.Sort(names)
	return names
}
