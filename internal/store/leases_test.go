package store

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// leaseEverything has a node hold one lease of every kind.
func leaseEverything(t *testing.T, db *DB, node string, keys *idempotency.Service) {
	t.Helper()
	ctx, lease := t.Context(), testTime.Add(time.Hour)
	db.node = node
	owner := newCustomer(t, db, "customer-"+node)
	agent := newAgent(t, db, "agt_"+node, "https://agent.example/hook")

	o := agentOrder(t, db, owner, agent, node+"-order.org")
	o = movedBy(t, db, o, paying("pay_"+node))
	o = movedBy(t, db, o, paid)
	movedBy(t, db, o, func(o *order.Order, _ *order.Move) { o.Node, o.DueAt = node, lease })

	line := addLine(t, db, owner, node+"-line.org", "manual:"+node)
	mustMove(t, db, step(line, func(l *provision.Line, _ *provision.Move) {
		l.State, l.Node, l.DueAt = provision.StateContacts, node, lease
	}))

	change := openChange(owner, heldBy(t, db, owner, node+"-change.org", holding.StatusActive))
	change.Node, change.DueAt, change.Name = node, lease, node+"-change.org"
	if err := db.AddChange(ctx, change); err != nil {
		t.Fatal(err)
	}

	if err := db.ChangeCustomers(ctx, func(tx customer.Tx) error {
		return tx.StoreLetter(ctx, registrar.Letter{Kind: registrar.LetterDomainChanged, Customer: owner}, testTime)
	}); err != nil {
		t.Fatal(err)
	}
	mails, err := db.DueLetters(ctx, testTime, 10)
	if err != nil || len(mails) != 1 {
		t.Fatalf("%d mails are due, %v", len(mails), err)
	}
	if mine, err := db.ClaimLetter(ctx, mails[0].ID, mails[0].DueAt, lease); err != nil || !mine {
		t.Fatal(mine, err)
	}

	events := dueTidings(t, db, testTime)
	if len(events) != 1 {
		t.Fatalf("%d agent events are due", len(events))
	}
	if _, mine, err := db.ClaimTiding(ctx, events[0].Order, events[0].DueAt, lease); err != nil || !mine {
		t.Fatal(mine, err)
	}

	begin(t, keys, "scope "+node, "key", `{"a":1}`)
}

func TestTakeNode_ReleasesEveryLeaseOfTheNodeAndNoOther(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		var clock atomic.Int64
		keys := keysOn(t, db, &clock)
		for _, node := range []string{"here", "there"} {
			leaseEverything(t, db, node, keys)
		}
		tables := tablesWithNode(t, db)
		if want := []string{"agent_events", "changes", "idempotency", "lines", "mails", "orders"}; !slices.Equal(tables, want) {
			t.Fatalf("leases are held in %q, and released in %q", tables, want)
		}
		for _, table := range tables {
			for _, node := range []string{"here", "there"} {
				if n := count(t, db, `SELECT count(*) FROM `+table+` WHERE node = $1`, node); n != 1 {
					t.Fatalf("%s holds %d leases in %s", node, n, table)
				}
			}
		}

		released, err := db.TakeNode(t.Context(), "here", testTime)
		if err != nil || released != (Released{Orders: 1, Lines: 1, Changes: 1, Mails: 1, AgentEvents: 1, Keys: 1}) {
			t.Errorf("released %+v, %v", released, err)
		}
		for _, table := range tables {
			here := count(t, db, `SELECT count(*) FROM `+table+` WHERE node = 'here'`)
			there := count(t, db, `SELECT count(*) FROM `+table+` WHERE node = 'there'`)
			if here != 0 || there != 1 {
				t.Errorf("%s: here holds %d, there %d", table, here, there)
			}
			if table == "idempotency" {
				continue
			}
			if due := count(t, db, `SELECT count(*) FROM `+table+` WHERE due_at > 0 AND due_at <= $1`, micros(testTime)); due < 1 {
				t.Errorf("%s: nothing is due", table)
			}
		}
		if again, err := db.TakeNode(t.Context(), "here", testTime); err != nil || again != (Released{}) {
			t.Errorf("a second time %+v, %v", again, err)
		}

		// The key is for a retry of the same request only, and the other node's is in flight.
		_, _, err = keys.Begin(t.Context(), "scope here", "key", []byte(`{"a":2}`))
		wantCode(t, err, registrar.KindConflict, idempotency.Conflict)
		if run, _ := begin(t, keys, "scope here", "key", `{"a":1}`); run == nil || !run.Resumed {
			t.Errorf("the key is not free for a retry: %+v", run)
		}
		_, _, err = keys.Begin(t.Context(), "scope there", "key", []byte(`{"a":1}`))
		wantCode(t, err, registrar.KindConflict, idempotency.InFlight)
	})
}

// What is finished is not held any more: another start finds nothing to release, and
// stored answers and pauses stay.
func TestTakeNode_LeavesWhatIsFinishedOrWaiting(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, lease := t.Context(), testTime.Add(time.Hour)
		var clock atomic.Int64
		keys := keysOn(t, db, &clock)
		db.node = "here"
		run, _ := begin(t, keys, "scope", "key", `{}`)
		if err := run.Finish(ctx, 200, nil, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		mail := posted(t, db, testTime, registrar.LetterDomainChanged)[0]
		if mine, err := db.ClaimLetter(ctx, mail.ID, mail.DueAt, lease); err != nil || !mine {
			t.Fatal(mine, err)
		}
		if err := db.PostponeLetter(ctx, mail.ID, lease, testTime.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		o := agentOrder(t, db, newCustomer(t, db, "anna"), newAgent(t, db, "agt_1", "https://agent.example/hook"), "a.org")
		movedBy(t, db, movedBy(t, db, o, paying("pay_1")), paid)
		for _, end := range []func() error{
			func() error { return db.PostponeTiding(ctx, o.ID, lease, testTime, 1) },
			func() error { return db.SettleTiding(ctx, o.ID, lease, 1, 1, testTime) },
		} {
			if _, mine, err := db.ClaimTiding(ctx, o.ID, testTime, lease); err != nil || !mine {
				t.Fatal(mine, err)
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
		}
		if released, err := db.TakeNode(ctx, "here", testTime); err != nil || released != (Released{}) {
			t.Errorf("released %+v, %v", released, err)
		}
		if _, stored := begin(t, keys, "scope", "key", `{}`); stored == nil {
			t.Error("the answer is gone")
		}
		if due, err := db.DueLetters(ctx, testTime, 10); err != nil || len(due) != 0 {
			t.Errorf("%d mails are due, %v", len(due), err)
		}
		if released, err := db.TakeNode(ctx, "", testTime); err != nil || released != (Released{}) {
			t.Errorf("without a name it released %+v, %v", released, err)
		}
	})
}

func tablesWithNode(t *testing.T, db *DB) (names []string) {
	t.Helper()
	tx, err := db.reader.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // it reads
	tables, err := db.tables(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if slices.Contains(table.columns, "node") {
			names = append(names, table.name)
		}
	}
	slices.Sort(names)
	return names
}
