package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// enqueueMails stores an account with one mail of each kind and returns them.
func enqueueMails(t *testing.T, db *DB, now time.Time, kinds ...registrar.MailKind) []mailer.QueuedMail {
	t.Helper()
	err := db.write(t.Context(), func(q *query.Queries) error {
		_, err := q.InsertCustomer(t.Context(), query.InsertCustomerParams{
			ID: "cus_outbox", Email: "Erika@kundin.example", EmailKey: "erika@kundin.example", UserHandle: "handle-outbox",
			Language: "en", CreatedAt: micros(now),
		})
		for _, kind := range kinds {
			if err == nil {
				err = enqueueMail(t.Context(), q, registrar.Mail{Kind: kind, Customer: "cus_outbox", Data: map[string]string{"name": "Büro"}}, now)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	due, err := db.ListDueMails(t.Context(), now, 100)
	if err != nil || len(due) != len(kinds) {
		t.Fatalf("%d mails are due, %v", len(due), err)
	}
	return due
}

func listLinkHashes(t *testing.T, db *DB) []string {
	t.Helper()
	return queryStrings(t, db.sql.Reader(), "SELECT hash FROM links WHERE customer_id = $1 ORDER BY hash", "cus_outbox")
}

func TestEnqueueMail_UsesAccountAddressAndLanguage(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		mail := enqueueMails(t, db, now, registrar.MailPasswordReset)[0]
		if mail.To != "Erika@kundin.example" || mail.Language != "en" || mail.Data["name"] != "Büro" ||
			!mail.CreatedAt.Equal(now) || !mail.DueAt.Equal(now) || mail.Attempts != 0 || mail.Customer != "cus_outbox" {
			t.Errorf("%+v", mail)
		}
		if early, err := db.ListDueMails(t.Context(), now.Add(-time.Second), 100); err != nil || len(early) != 0 {
			t.Errorf("%d mails are due too early, %v", len(early), err)
		}
	})
}

func TestClaimMail_RacingNodesOneWins(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		mail := enqueueMails(t, db, now, registrar.MailPasswordReset)[0]
		lease := now.Add(time.Minute)
		var wins atomic.Int32
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				mine, err := db.ClaimMail(t.Context(), mail.ID, mail.DueAt, lease)
				if err != nil {
					t.Error(err)
				}
				if mine {
					wins.Add(1)
				}
			})
		}
		all.Wait()
		if wins.Load() != 1 {
			t.Errorf("%d nodes hold the mail", wins.Load())
		}
		if due, err := db.ListDueMails(t.Context(), now.Add(30*time.Second), 100); err != nil || len(due) != 0 {
			t.Errorf("a leased mail is due, %v", err)
		}
		due, err := db.ListDueMails(t.Context(), lease, 100)
		if err != nil || len(due) != 1 || due[0].Attempts != 1 {
			t.Errorf("due after the lease: %+v, %v", due, err)
		}
		if err := db.PostponeMail(t.Context(), mail.ID, lease.Add(time.Second), now); err != nil {
			t.Error(err)
		}
		if due, err := db.ListDueMails(t.Context(), now, 100); err != nil || len(due) != 0 {
			t.Errorf("another node's lease was released, %v", err)
		}
		if err := db.PostponeMail(t.Context(), mail.ID, lease, now.Add(time.Second)); err != nil {
			t.Error(err)
		}
		if due, err := db.ListDueMails(t.Context(), now.Add(time.Second), 100); err != nil || len(due) != 1 {
			t.Errorf("the mail was not postponed, %v", err)
		}
		if err := db.DeleteMail(t.Context(), mail.ID, nil); err != nil {
			t.Error(err)
		}
		if due, err := db.ListDueMails(t.Context(), now.AddDate(1, 0, 0), 100); err != nil || len(due) != 0 {
			t.Errorf("the mail was not removed, %v", err)
		}
	})
}

func TestStoreLink_VoidsFormerLinksOfItsKind(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		mail := enqueueMails(t, db, now, registrar.MailPasswordReset)[0]
		store := func(hash string, kind registrar.MailKind) {
			t.Helper()
			stored, err := db.StoreLink(t.Context(), mail.ID, mail.DueAt, mailer.Link{
				Hash: registrar.SecretHash(hash), Kind: kind, Customer: "cus_outbox", Email: mail.To, ExpiresAt: now.Add(time.Hour),
			})
			if err != nil || !stored {
				t.Fatalf("stored: %t, %v", stored, err)
			}
		}
		// A node whose lease expired must not void the link that was mailed since.
		if stored, err := db.StoreLink(t.Context(), mail.ID, mail.DueAt.Add(-time.Second), mailer.Link{
			Hash: "late", Kind: registrar.MailPasswordReset, Customer: "cus_outbox", Email: mail.To, ExpiresAt: now.Add(time.Hour),
		}); err != nil || stored {
			t.Errorf("after the lease expired: stored %t, %v", stored, err)
		}
		store("a", registrar.MailPasswordReset)
		store("b", registrar.MailConfirm)
		store("c", registrar.MailPasswordReset)
		if got := listLinkHashes(t, db); len(got) != 2 || got[0] != "b" || got[1] != "c" {
			t.Errorf("links: %v", got)
		}
	})
}

func TestStoreLink_DeletedMailStoresNoLink(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		mail := enqueueMails(t, db, now, registrar.MailPasswordReset)[0]
		lease := now.Add(time.Minute)
		if mine, err := db.ClaimMail(t.Context(), mail.ID, mail.DueAt, lease); err != nil || !mine {
			t.Fatal(mine, err)
		}
		err := db.write(t.Context(), func(q *query.Queries) error {
			return q.DeleteUnsentMails(t.Context(), "cus_outbox", string(mail.Kind))
		})
		if err != nil {
			t.Fatal(err)
		}
		stored, err := db.StoreLink(t.Context(), mail.ID, lease, mailer.Link{
			Hash: "a", Kind: mail.Kind, Customer: "cus_outbox", Email: mail.To, ExpiresAt: now.Add(time.Hour),
		})
		if err != nil || stored || len(listLinkHashes(t, db)) != 0 {
			t.Errorf("stored: %t, %v, links %v", stored, err, listLinkHashes(t, db))
		}
	})
}
