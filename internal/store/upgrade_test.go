package store

import (
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
)

// beforeThePortal is the schema of the release that had orders and no invoices.
const beforeThePortal = 5

func TestADatabaseOfTheReleaseBeforeKeepsItsRowsAndOwesItsInvoices(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		tellRegistrant(t, db, anna, "Hauptstr. 1")
		heldBy(t, db, anna, "eins.org", holding.StatusActive)
		paid := refunded(t, db, paidOrder(t, db, anna, "zwei.org"), "ref_1")
		migrator, err := db.migrator()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := migrator.DownTo(t.Context(), beforeThePortal); err != nil {
			t.Fatal(err)
		}
		if _, err := migrator.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now := storedOrder(t, db, paid.ID); now.Totals != paid.Totals || !now.Claimed {
			t.Errorf("the order is %+v", now)
		}
		var invoices, corrections int
		for _, due := range owedDocuments(t, db) {
			switch {
			case due.Order != paid.ID || due.Buyer != nil:
				t.Errorf("owed is %+v", due)
			case due.Refund == "":
				invoices++
			default:
				corrections++
			}
		}
		if invoices != 1 || corrections != 1 {
			t.Errorf("%d invoices and %d corrections are owed", invoices, corrections)
		}
		if locks, err := db.LocksInForce(t.Context(), 10); err != nil || len(locks) != 0 {
			t.Errorf("locks: %v, %v", locks, err)
		}
	})
}

// beforeDossiers is the schema whose locks could forbid to give a domain up.
const beforeDossiers = 10

func TestALockForgetsTheBlockThatBoundNothingAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		migrator, err := db.migrator()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := migrator.DownTo(t.Context(), beforeDossiers); err != nil {
			t.Fatal(err)
		}
		for id, blocks := range map[string]string{"lck_1": "transfer nameservers delete", "lck_2": "delete", "lck_3": "renewal"} {
			change(t, db, "INSERT INTO domain_locks (id, domain_id, customer_id, name, cause, reason, reference, blocks, review_at, set_by, set_at)"+
				" VALUES ('"+id+"', 'dom_1', '"+anna+"', 'streit.de', 'court', 'Beschluss', '', '"+blocks+"', 1, 'root', 1)")
		}
		if _, err := migrator.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		locks, err := db.LocksOf(t.Context(), "dom_1")
		if err != nil || len(locks) != 3 {
			t.Fatalf("%d locks, %v", len(locks), err)
		}
		for i, want := range [][]office.Block{{office.Transfer, office.Nameservers}, nil, {office.Renewal}} {
			if !slices.Equal(locks[i].Blocks, want) {
				t.Errorf("%s blocks %v, want %v", locks[i].ID, locks[i].Blocks, want)
			}
		}
	})
}
