package store

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/overview"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
)

func transferMessage(id, name, status string, requested time.Time) inbox.Message {
	return onDomain(id, name, inbox.KindTransfer, inbox.Details{Transfer: &inbox.Transfer{
		Status: status, RequestedBy: "Rival", RequestedAt: requested, DecidedAt: requested.AddDate(0, 0, 5),
	}})
}

func claimTransfer(t *testing.T, db *DB) transferaway.Transfer {
	t.Helper()
	claimed, err := db.ClaimDueOutgoingTransfers(t.Context(), testTime.AddDate(1, 0, 0), testTime.AddDate(2, 0, 0), 10)
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %+v, %v", claimed, err)
	}
	return claimed[0]
}

func TestOutgoingTransfer_OpenedOnceWithItsMessage(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		held := addHeldDomain(t, db, anna, "held.org", registrar.DomainActive)
		addHeldDomain(t, db, anna, "gone.org", registrar.DomainTransferredOut)
		message := transferMessage("1", "held.org", "pending", testTime)
		storeMessage(t, db, "one", 1, message)
		if again, err := db.StoreRegistryMessage(t.Context(), "one", message, testTime, testTime); err != nil || again {
			t.Fatalf("a repeated message: %t, %v", again, err)
		}
		storeMessage(t, db, "one", 2, transferMessage("2", "held.org", "pending", testTime)) // the same request
		storeMessage(t, db, "one", 3, transferMessage("3", "gone.org", "pending", testTime))
		storeMessage(t, db, "one", 4, transferMessage("4", "unknown.org", "pending", testTime))
		ours := transferMessage("5", "held.org", "pending", testTime.Add(time.Hour))
		ours.Details.Transfer.Ours = true
		storeMessage(t, db, "one", 5, ours)
		all, err := db.ListOutgoingTransfers(t.Context(), false, "", 10)
		if err != nil || len(all) != 1 || all[0].Domain != held || all[0].State != transferaway.StateNew || all[0].Account != "one" ||
			!all[0].ActsAt.Equal(testTime.AddDate(0, 0, 5)) || all[0].Customer != anna {
			t.Errorf("open: %+v, %v", all, err)
		}
		if open, err := db.CountOpenOutgoingTransfers(t.Context()); err != nil || open != 1 {
			t.Errorf("%d open, %v", open, err)
		}
		facts, err := db.OverviewFacts(t.Context(), anna, overview.Bounds{Limit: 10})
		if err != nil || len(facts.Leaving) != 1 || facts.Leaving[0].Domain != held || !facts.Leaving[0].Pending || !facts.Leaving[0].ActsAt.Equal(testTime.AddDate(0, 0, 5)) {
			t.Errorf("on the overview: %+v, %v", facts.Leaving, err)
		}
		if facts, err = db.OverviewFacts(t.Context(), newCustomer(t, db, "bert"), overview.Bounds{Limit: 10}); err != nil || len(facts.Leaving) != 0 {
			t.Errorf("on another customer's overview: %+v, %v", facts.Leaving, err)
		}
	})
}

func TestOutgoingTransfer_ReportDuringWorkMakesItDueAgain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		db.node = "here"
		anna := newCustomer(t, db, "anna")
		addHeldDomain(t, db, anna, "held.org", registrar.DomainActive)
		storeMessage(t, db, "one", 1, transferMessage("1", "held.org", "pending", testTime))
		leased := claimTransfer(t, db)
		storeMessage(t, db, "one", 2, transferMessage("2", "held.org", "clientCancelled", testTime))
		next := leased
		next.State, next.DueAt, next.Node = transferaway.StatePending, testTime.AddDate(3, 0, 0), ""
		mail := &registrar.Mail{Kind: registrar.MailTransferAway, Customer: anna}
		if stored, err := db.UpdateOutgoingTransfer(t.Context(), transferaway.Transition{From: leased, To: next, Mail: mail, At: testTime}); err != nil || !stored {
			t.Fatal(stored, err)
		}
		if again, err := db.UpdateOutgoingTransfer(t.Context(), transferaway.Transition{From: leased, To: next, Mail: mail, At: testTime}); err != nil || again {
			t.Errorf("a second time: %t, %v", again, err)
		}
		leased = claimTransfer(t, db)
		if leased.RegistryStatus != "clientCancelled" || leased.State != transferaway.StatePending {
			t.Errorf("got %+v", leased)
		}
		end := leased
		end.State, end.DueAt, end.Node, end.EndedAt = transferaway.StateCancelled, time.Time{}, "", testTime
		if stored, err := db.UpdateOutgoingTransfer(t.Context(), transferaway.Transition{From: leased, To: end, SyncDomain: true, At: testTime}); err != nil || !stored {
			t.Fatal(stored, err)
		}
		storeMessage(t, db, "one", 3, transferMessage("3", "held.org", "pending", testTime)) // late
		ended, err := db.ListOutgoingTransfers(t.Context(), true, "", 10)
		open, openErr := db.ListOutgoingTransfers(t.Context(), false, "", 10)
		if err != nil || openErr != nil || len(ended) != 1 || len(open) != 0 || !ended[0].EndedAt.Equal(testTime) {
			t.Errorf("ended %+v, open %+v, %v, %v", ended, open, err, openErr)
		}
		if mails := count(t, db, "SELECT count(*) FROM mails WHERE kind = 'transfer_away'"); mails != 1 {
			t.Errorf("%d mails", mails)
		}
	})
}

func TestOutgoingTransfer_SecondDecisionChangesNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		addHeldDomain(t, db, anna, "held.org", registrar.DomainActive)
		storeMessage(t, db, "one", 1, transferMessage("1", "held.org", "pending", testTime))
		leased := claimTransfer(t, db)
		pending := leased
		pending.State, pending.Node = transferaway.StatePending, ""
		if stored, err := db.UpdateOutgoingTransfer(t.Context(), transferaway.Transition{From: leased, To: pending, At: testTime}); err != nil || !stored {
			t.Fatal(stored, err)
		}
		for i, state := range []transferaway.State{transferaway.StateStopping, transferaway.StateApproving} {
			decided := pending
			decided.State, decided.Statement, decided.DecidedAt = state, string(state), testTime
			decided.Actor = registrar.Actor{Kind: registrar.ActorPerson, Customer: anna, Through: "ses_1"}
			stored, err := db.DecideOutgoingTransfer(t.Context(), decided, registrar.AuditEvent{Actor: decided.Actor, Action: transferaway.ActionStop, Customer: anna, Object: "held.org", At: testTime})
			if err != nil || stored != (i == 0) {
				t.Errorf("%s: %t, %v", state, stored, err)
			}
		}
		got, found, err := db.GetOutgoingTransfer(t.Context(), leased.ID)
		if err != nil || !found || got.State != transferaway.StateStopping || got.Statement != "stopping" || got.Actor.Through != "ses_1" {
			t.Errorf("got %+v, %v", got, err)
		}
		if events := count(t, db, "SELECT count(*) FROM audit_events WHERE action = 'transfer_away_stop'"); events != 1 {
			t.Errorf("%d events", events)
		}
	})
}

func TestOutgoingTransfer_EndTransfersOutTheDomain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		for i, test := range []struct {
			was, after registrar.DomainStatus
			end        transferaway.State
		}{
			{registrar.DomainActive, registrar.DomainTransferredOut, transferaway.StateCompleted}, // never synced: added without an order
			{registrar.DomainExpired, registrar.DomainTransferredOut, transferaway.StateApproved},
			{registrar.DomainActive, registrar.DomainActive, transferaway.StateStopped},
		} {
			name := string(rune('a'+i)) + ".org"
			domain := addHeldDomain(t, db, anna, name, test.was)
			storeMessage(t, db, "one", 10+i, transferMessage(name, name, "pending", testTime))
			leased := claimTransfer(t, db)
			end := leased
			end.State, end.DueAt, end.Node, end.EndedAt, end.UpdatedAt = test.end, time.Time{}, "", testTime, testTime.Add(time.Hour)
			if stored, err := db.UpdateOutgoingTransfer(t.Context(), transferaway.Transition{From: leased, To: end, SyncDomain: true, At: testTime}); err != nil || !stored {
				t.Fatal(stored, err)
			}
			got, found, err := db.GetDomain(t.Context(), anna, domain)
			if err != nil || !found || got.Status != test.after {
				t.Errorf("%s: %+v, %t, %v", test.end, got, found, err)
			}
			if due := count(t, db, "SELECT count(*) FROM domains WHERE sync_due > 0 AND id = '"+domain+"'"); (due == 1) != (test.after != registrar.DomainTransferredOut) {
				t.Errorf("%s: %d due for a sync", test.end, due)
			}
		}
	})
}

func TestRegistryMessage_SyncsDomainsAddedWithoutOrder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		domain := addHeldDomain(t, db, anna, "held.org", registrar.DomainPending)
		ours := transferMessage("1", "held.org", "serverApproved", testTime)
		ours.Details.Transfer.Ours = true
		storeMessage(t, db, "one", 1, ours)
		due, err := db.ListDueDomains(t.Context(), testTime.AddDate(1, 0, 0), 10)
		if err != nil || len(due) != 1 || due[0].ID != domain {
			t.Fatalf("due: %+v, %v", due, err)
		}
		now := due[0]
		now.Status, now.PaidUntil, now.SyncedAt, now.UpdatedAt, now.RegistryStatus = registrar.DomainActive, testTime.AddDate(1, 0, 0), testTime, testTime, []string{"ok"}
		if stored, err := db.UpdateDomainFromRegistry(t.Context(), due[0], now, nil); err != nil || !stored {
			t.Fatal(stored, err)
		}
		got, _, err := db.GetDomain(t.Context(), anna, domain)
		if err != nil || got.Status != registrar.DomainActive || !got.PaidUntil.Equal(testTime.AddDate(1, 0, 0)) || len(got.RegistryStatus) != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
