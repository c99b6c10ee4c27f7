package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

// anAccount stores an account.
func anAccount(t *testing.T, db *DB, id string, confirmed bool) customer.Account {
	t.Helper()
	account := customer.Account{
		Customer:   customer.Customer{ID: id, Email: id + "@example.org", Language: "de", CreatedAt: midday},
		EmailKey:   id + "@example.org",
		UserHandle: "handle-" + id,
	}
	if confirmed {
		account.ConfirmedAt = midday
	}
	changing(t, db, func(ctx context.Context, tx customer.Tx) error {
		_, err := tx.InsertAccount(ctx, account)
		return err
	})
	return account
}

var midday = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func changing(t *testing.T, db *DB, do func(context.Context, customer.Tx) error) {
	t.Helper()
	if err := db.ChangeCustomers(t.Context(), func(tx customer.Tx) error { return do(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
}

func aSession(id string, n int, at time.Time) customer.StoredSession {
	return customer.StoredSession{
		Session: customer.Session{
			ID: fmt.Sprintf("ses_%03d", n), CustomerID: id, CreatedAt: at, AuthenticatedAt: at, SeenAt: at, ExpiresAt: at.Add(time.Hour),
		},
		Hash: registrar.SecretHash(fmt.Sprintf("%s-%03d", id, n)), State: customer.StateOpen,
	}
}

func TestOnlyTheNewestSessionsAndDevicesOfAnAccountAreKept(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anAccount(t, db, "ada", true)
		anAccount(t, db, "bob", true)
		changing(t, db, func(ctx context.Context, tx customer.Tx) error {
			return tx.InsertSession(ctx, aSession("bob", 0, midday), 3)
		})
		for n := range 7 {
			changing(t, db, func(ctx context.Context, tx customer.Tx) error {
				at := midday.Add(time.Duration(n) * time.Second)
				hash := registrar.SecretHash(fmt.Sprintf("device-%d", n))
				if err := tx.InsertDevice(ctx, "ada", hash, at, at.Add(time.Hour), 3); err != nil {
					return err
				}
				return tx.InsertSession(ctx, aSession("ada", n, at), 3)
			})
		}
		open, err := db.ReadCustomers().OpenSessions(t.Context(), "ada", midday)
		if err != nil {
			t.Fatal(err)
		}
		if len(open) != 3 || open[0].ID != "ses_006" || open[2].ID != "ses_004" {
			t.Errorf("got %v", open)
		}
		for n := range 7 {
			_, known, err := db.ReadCustomers().DeviceOwner(t.Context(), registrar.SecretHash(fmt.Sprintf("device-%d", n)), midday)
			if err != nil || known != (n >= 4) {
				t.Errorf("device %d: %v, %v", n, known, err)
			}
		}
		if bobs, err := db.ReadCustomers().OpenSessions(t.Context(), "bob", midday); err != nil || len(bobs) != 1 {
			t.Errorf("somebody else's session ended: %v, %v", bobs, err)
		}
	})
}

func TestWhatIsOverIsDeletedInBatches(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anAccount(t, db, "ada", true)
		changing(t, db, func(ctx context.Context, tx customer.Tx) error {
			for n := range 5 {
				if err := tx.InsertSession(ctx, aSession("ada", n, midday), 100); err != nil {
					return err
				}
				if err := tx.PutCeremony(ctx, fmt.Sprint(n), customer.PendingCeremony{Kind: customer.CeremonySignIn, ExpiresAt: midday}); err != nil {
					return err
				}
			}
			return tx.InsertSession(ctx, aSession("ada", 9, midday.Add(time.Minute)), 100)
		})
		var deleted []int
		for range 4 {
			changing(t, db, func(ctx context.Context, tx customer.Tx) error {
				n, err := tx.DeleteExpired(ctx, midday.Add(time.Hour), 2)
				deleted = append(deleted, n)
				return err
			})
		}
		if fmt.Sprint(deleted) != "[4 4 2 0]" {
			t.Errorf("deleted %v", deleted)
		}
		if open, err := db.ReadCustomers().OpenSessions(t.Context(), "ada", midday); err != nil || len(open) != 1 || open[0].ID != "ses_009" {
			t.Errorf("got %v, %v", open, err)
		}
	})
}

func TestOnlyAccountsThatNobodyConfirmedAreDropped(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		for id, confirmed := range map[string]bool{"ada": true, "bob": false} {
			account := anAccount(t, db, id, confirmed)
			changing(t, db, func(ctx context.Context, tx customer.Tx) error {
				return tx.InsertLink(ctx, registrar.SecretHash("link-"+id), customer.LinkReset,
					customer.Link{Customer: id, Email: account.Email, ExpiresAt: midday.Add(time.Hour)})
			})
			changing(t, db, func(ctx context.Context, tx customer.Tx) error {
				dropped, err := tx.DropUnconfirmed(ctx, id)
				if dropped == confirmed {
					t.Errorf("%s: dropped %v", id, dropped)
				}
				return err
			})
			_, there, err := db.ReadCustomers().AccountByID(t.Context(), id)
			_, linked, err2 := db.ReadCustomers().Link(t.Context(), registrar.SecretHash("link-"+id), customer.LinkReset, midday)
			if err != nil || err2 != nil || there != confirmed || linked != confirmed {
				t.Errorf("%s: there %v, with link %v (%v, %v)", id, there, linked, err, err2)
			}
		}
	})
}

func TestALinkIsUsedOnceAndInTime(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		account := anAccount(t, db, "ada", true)
		changing(t, db, func(ctx context.Context, tx customer.Tx) error {
			return tx.InsertLink(ctx, "link", customer.LinkReset, customer.Link{Customer: "ada", Email: account.Email, ExpiresAt: midday})
		})
		for i, try := range []struct {
			kind customer.LinkKind
			at   time.Time
			want bool
		}{
			{customer.LinkConfirm, midday.Add(-time.Second), false},
			{customer.LinkReset, midday, false},
			{customer.LinkReset, midday.Add(-time.Second), true},
			{customer.LinkReset, midday.Add(-time.Second), false},
		} {
			changing(t, db, func(ctx context.Context, tx customer.Tx) error {
				_, used, err := tx.UseLink(ctx, "link", try.kind, try.at)
				if used != try.want {
					t.Errorf("try %d: used %v", i, used)
				}
				return err
			})
		}
	})
}

func TestAnAddressOfAnotherAccountIsNotTaken(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anAccount(t, db, "ada", true)
		bob := anAccount(t, db, "bob", true)
		changing(t, db, func(ctx context.Context, tx customer.Tx) error {
			taken, err := tx.SetEmail(ctx, "ada", bob.Email, bob.EmailKey)
			if err != nil || taken {
				t.Errorf("ada has bob's address: %v, %v", taken, err)
			}
			own, err := tx.SetEmail(ctx, "bob", "Bob@example.org", bob.EmailKey)
			if !own {
				t.Error("bob can't write his own address otherwise")
			}
			return err
		})
	})
}

func TestVoidingLinksAlsoDropsLettersThatWouldMakeOne(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anAccount(t, db, "ada", true)
		changing(t, db, func(ctx context.Context, tx customer.Tx) error {
			for _, kind := range []registrar.LetterKind{registrar.LetterReset, registrar.LetterPasskey} {
				if err := tx.StoreLetter(ctx, registrar.Letter{Kind: kind, Customer: "ada"}, midday); err != nil {
					return err
				}
			}
			return tx.VoidLinks(ctx, "ada", customer.LinkReset)
		})
		due, err := db.DueLetters(t.Context(), midday, 10)
		if err != nil || len(due) != 1 || due[0].Kind != registrar.LetterPasskey {
			t.Errorf("waiting are %v (%v)", due, err)
		}
	})
}
