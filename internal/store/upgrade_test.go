package store

import (
	"strings"
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

// beforeConsents is the schema of the release whose locks could forbid to give a domain
// up, and which asked nobody for a consent.
const beforeConsents = 10

func TestADatabaseWithoutConsentsKeepsItsOrdersAndItsLocks(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		paid := paidOrder(t, db, anna, "eins.org")
		migrator, err := db.migrator()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := migrator.DownTo(t.Context(), beforeConsents); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"delete": "", "transfer": "transfer", "delete transfer": "transfer", "transfer delete": "transfer",
			"transfer nameservers renewal delete": "transfer nameservers renewal", "transfer delete renewal": "transfer renewal",
		}
		for blocks := range want {
			_, err := db.writer.ExecContext(t.Context(), `INSERT INTO domain_locks
				(id, domain_id, customer_id, name, cause, reason, reference, blocks, review_at, set_by, set_at)
				VALUES ($1, 'dom_1', $2, 'eins.org', 'court', 'Beschluss', '', $1, 1, 'ops', 1)`, blocks, anna)
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := migrator.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		locks, err := db.LocksInForce(t.Context(), 10)
		if err != nil || len(locks) != len(want) {
			t.Fatalf("%d locks, %v", len(locks), err)
		}
		for _, lock := range locks {
			var words []string
			for _, block := range lock.Blocks {
				words = append(words, string(block))
			}
			if got := strings.Join(words, " "); got != want[lock.ID] {
				t.Errorf("%q has become %q", lock.ID, got)
			}
		}
		if now := storedOrder(t, db, paid.ID); now.Consent.Given() || now.Consent.Wording != "" || now.Totals != paid.Totals || now.State != paid.State {
			t.Errorf("the order is %+v", now)
		}
	})
}
