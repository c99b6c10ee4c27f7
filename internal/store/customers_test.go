package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	accountsvc "github.com/dotkontor/dotkontor/internal/registrar/account"
)

func insertAccount(t *testing.T, db *DB, id string, confirmed bool) accountsvc.Account {
	t.Helper()
	account := accountsvc.Account{
		Customer:   accountsvc.Customer{ID: id, Email: id + "@example.org", Language: "de", CreatedAt: midday},
		EmailKey:   id + "@example.org",
		UserHandle: "handle-" + id,
	}
	if confirmed {
		account.ConfirmedAt = midday
	}
	changeCustomers(t, db, func(ctx context.Context, tx accountsvc.Tx) error {
		_, err := tx.InsertAccount(ctx, account)
		return err
	})
	return account
}

var midday = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func changeCustomers(t *testing.T, db *DB, do func(context.Context, accountsvc.Tx) error) {
	t.Helper()
	if err := db.UpdateCustomers(t.Context(), func(tx accountsvc.Tx) error { return do(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
}

func newStoredSession(id string, n int, at time.Time) accountsvc.StoredSession {
	return accountsvc.StoredSession{
		Session: accountsvc.Session{
			ID: fmt.Sprintf("ses_%03d", n), CustomerID: id, CreatedAt: at, AuthenticatedAt: at, SeenAt: at, ExpiresAt: at.Add(time.Hour),
		},
		Hash: registrar.SecretHash(fmt.Sprintf("%s-%03d", id, n)), State: accountsvc.StateOpen,
	}
}

func TestInsertSession_KeepsOnlyNewestSessionsAndDevices(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		insertAccount(t, db, "ada", true)
		insertAccount(t, db, "bob", true)
		changeCustomers(t, db, func(ctx context.Context, tx accountsvc.Tx) error {
			return tx.InsertSession(ctx, newStoredSession("bob", 0, midday), 3)
		})
		for n := range 7 {
			changeCustomers(t, db, func(ctx context.Context, tx accountsvc.Tx) error {
				at := midday.Add(time.Duration(n) * time.Second)
				hash := registrar.SecretHash(fmt.Sprintf("device-%d", n))
				if err := tx.InsertDevice(ctx, "ada", hash, at, at.Add(time.Hour), 3); err != nil {
					return err
				}
				return tx.InsertSession(ctx, newStoredSession("ada", n, at), 3)
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
			t.Errorf("another customer's session ended: %v, %v", bobs, err)
		}
	})
}

func TestDeleteExpired_DeletesInBatches(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		insertAccount(t, db, "ada", true)
		changeCustomers(t, db, func(ctx context.Context, tx accountsvc.Tx) error {
			for n := range 5 {
				if err := tx.InsertSession(ctx, newStoredSession("ada", n, midday), 100); err != nil {
					return err
				}
				if err := tx.PutChallenge(ctx, fmt.Sprint(n), accountsvc.Challenge{Kind: accountsvc.ChallengeSignIn, ExpiresAt: midday}); err != nil {
					return err
				}
			}
			return tx.InsertSession(ctx, newStoredSession("ada", 9, midday.Add(time.Minute)), 100)
		})
		var deleted []int
		for range 4 {
			changeCustomers(t, db, func(ctx context.Context, tx accountsvc.Tx) error {
				n, err := tx.DeleteExpired(ctx, midday.Add(time.Hour), midday.Add(time.Hour), 2)
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

func TestDropUnconfirmed_KeepsConfirmedAccounts(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		for id, confirmed := range map[string]bool{"ada": true, "bob": false} {
			account := insertAccount(t, db, id, confirmed)
			changeCustomers(t, db, func(ctx context.Context, tx accountsvc.Tx) error {
				return tx.InsertLink(ctx, registrar.SecretHash("link-"+id), accountsvc.LinkReset,
					accountsvc.Link{Customer: id, Email: account.Email, ExpiresAt: midday.Add(time.Hour)})
			})
			changeCustomers(t, db, func(ctx context.Context, tx accountsvc.Tx) error {
				dropped, err := tx.DeleteUnconfirmedAccount(ctx, id)
				if dropped == confirmed {
					t.Errorf("%s: dropped %v", id, dropped)
				}
				return err
			})
			_, there, err := db.ReadCustomers().AccountByID(t.Context(), id)
			_, linked, err2 := db.ReadCustomers().GetLink(t.Context(), registrar.SecretHash("link-"+id), accountsvc.LinkReset, midday)
			if err != nil || err2 != nil || there != confirmed || linked != confirmed {
				t.Errorf("%s: exists %v, with link %v (%v, %v)", id, there, linked, err, err2)
			}
		}
	})
}

func TestUseLink_OnceBeforeExpiry(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		account := insertAccount(t, db, "ada", true)
		changeCustomers(t, db, func(ctx context.Context, tx accountsvc.Tx) error {
			return tx.InsertLink(ctx, "link", accountsvc.LinkReset, accountsvc.Link{Customer: "ada", Email: account.Email, ExpiresAt: midday})
		})
		for i, try := range []struct {
			kind accountsvc.LinkKind
			at   time.Time
			want bool
		}{
			{accountsvc.LinkConfirm, midday.Add(-time.Second), false},
			{accountsvc.LinkReset, midday, false},
			{accountsvc.LinkReset, midday.Add(-time.Second), true},
			{accountsvc.LinkReset, midday.Add(-time.Second), false},
		} {
			changeCustomers(t, db, func(ctx context.Context, tx accountsvc.Tx) error {
				_, used, err := tx.UseLink(ctx, "link", try.kind, try.at)
				if used != try.want {
					t.Errorf("attempt %d: used %v", i, used)
				}
				return err
			})
		}
	})
}

func TestSetEmail_RejectsAddressOfAnotherAccount(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		insertAccount(t, db, "ada", true)
		bob := insertAccount(t, db, "bob", true)
		changeCustomers(t, db, func(ctx context.Context, tx accountsvc.Tx) error {
			taken, err := tx.SetEmail(ctx, "ada", bob.Email, bob.EmailKey)
			if err != nil || taken {
				t.Errorf("two accounts have bob's address: %v, %v", taken, err)
			}
			own, err := tx.SetEmail(ctx, "bob", "Bob@example.org", bob.EmailKey)
			if !own {
				t.Error("bob can't change the spelling of his own address")
			}
			return err
		})
	})
}

func TestVoidLinks_DeletesUnsentMails(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		insertAccount(t, db, "ada", true)
		changeCustomers(t, db, func(ctx context.Context, tx accountsvc.Tx) error {
			for _, kind := range []registrar.MailKind{registrar.MailPasswordReset, registrar.MailPasskey} {
				if err := tx.QueueMail(ctx, registrar.Mail{Kind: kind, Customer: "ada"}, midday); err != nil {
					return err
				}
			}
			return tx.DeleteUnusedLinks(ctx, "ada", accountsvc.LinkReset)
		})
		if due := listDueMails(t, db, midday); len(due) != 1 || due[0].Kind != registrar.MailPasskey {
			t.Errorf("pending: %v", due)
		}
	})
}
