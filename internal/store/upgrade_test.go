package store

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/holding"
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
