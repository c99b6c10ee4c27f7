package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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
	due := listDueMails(t, db, now)
	if len(due) != len(kinds) {
		t.Fatalf("%d mails are due", len(due))
	}
	return due
}

var errPeek = errors.New("nothing is to be changed")

// listDueMails returns what a node would claim with a lease until now, and claims nothing.
func listDueMails(t *testing.T, db *DB, now time.Time) (due []mailer.QueuedMail) {
	t.Helper()
	err := db.write(t.Context(), func(q *query.Queries) (err error) {
		rows, err := q.ClaimDueMails(t.Context(), query.ClaimDueMailsParams{Now: micros(now), Lease: micros(now), MaxRows: 100})
		if due, err = decodeRows(queuedMailOf)(rows, err); err == nil {
			err = errPeek
		}
		return err
	})
	if !errors.Is(err, errPeek) {
		t.Fatal(err)
	}
	return due
}

// claimMail claims the only due mail.
func claimMail(t *testing.T, db *DB, now, lease time.Time) mailer.QueuedMail {
	t.Helper()
	claimed, err := db.ClaimDueMails(t.Context(), now, lease, 10)
	if err != nil || len(claimed) != 1 {
		t.Fatalf("claimed %+v, %v", claimed, err)
	}
	return claimed[0]
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
			!mail.CreatedAt.Equal(now) || mail.Attempts != 1 || mail.Customer != "cus_outbox" {
			t.Errorf("%+v", mail)
		}
		if early := listDueMails(t, db, now.Add(-time.Second)); len(early) != 0 {
			t.Errorf("%d mails are due too early", len(early))
		}
		for hash, none := range map[string]bool{"": true, "$argon2id$": false} {
			execStatement(t, db, `UPDATE customers SET password_hash = $1`, hash)
			if due := listDueMails(t, db, now); due[0].NoPassword != none {
				t.Errorf("an account with the password hash %q has none: %t", hash, due[0].NoPassword)
			}
		}
	})
}

func TestClaimDueMails_RacingNodesClaimEachOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		kinds := slices.Repeat([]registrar.MailKind{registrar.MailPasskey}, 30)
		enqueueMails(t, db, now, kinds...)
		lease := now.Add(time.Minute)
		var mu sync.Mutex
		claims := map[string]int{}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				for {
					claimed, err := db.ClaimDueMails(t.Context(), now, lease, 4)
					if err != nil {
						t.Error(err)
					}
					if len(claimed) == 0 {
						return
					}
					mu.Lock()
					for _, mail := range claimed {
						claims[mail.ID]++
						if mail.Attempts != 1 || !mail.DueAt.Equal(lease) {
							t.Errorf("claimed %+v", mail)
						}
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		for id, n := range claims {
			if n != 1 {
				t.Errorf("%s was claimed %d times", id, n)
			}
		}
		// A node leaves mails to the one that is claiming them, so the last round may find none.
		if left := listDueMails(t, db, now.Add(30*time.Second)); len(claims)+len(left) != len(kinds) {
			t.Errorf("%d mails were claimed, %d are due", len(claims), len(left))
		}
	})
}

func TestClaimDueMails_LeaseBelongsToItsHolder(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		enqueueMails(t, db, now, registrar.MailPasswordReset)
		lease := now.Add(time.Minute)
		mail := claimMail(t, db, now, lease)
		if due := listDueMails(t, db, now.Add(30*time.Second)); len(due) != 0 {
			t.Error("a leased mail is due")
		}
		if due := listDueMails(t, db, lease); len(due) != 1 || due[0].Attempts != 2 {
			t.Errorf("due after the lease: %+v", due)
		}
		if err := db.PostponeMail(t.Context(), mail.ID, lease.Add(time.Second), now); err != nil {
			t.Error(err)
		}
		if due := listDueMails(t, db, now); len(due) != 0 {
			t.Error("another node's lease was released")
		}
		if err := db.PostponeMail(t.Context(), mail.ID, lease, now.Add(time.Second)); err != nil {
			t.Error(err)
		}
		if due := listDueMails(t, db, now.Add(time.Second)); len(due) != 1 {
			t.Error("the mail was not postponed")
		}
		if err := db.DeleteMail(t.Context(), mail.ID, nil); err != nil {
			t.Error(err)
		}
		if due := listDueMails(t, db, now.AddDate(1, 0, 0)); len(due) != 0 {
			t.Error("the mail was not removed")
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

func TestStoreLink_OneOfTwoAtOnceStaysValid(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		mails := enqueueMails(t, db, now, registrar.MailPasswordReset, registrar.MailPasswordReset)
		for round := range 20 {
			var both sync.WaitGroup
			for n, mail := range mails {
				both.Go(func() {
					if _, err := db.StoreLink(t.Context(), mail.ID, mail.DueAt, mailer.Link{
						Hash: registrar.SecretHash(fmt.Sprint(round, " ", n)), Kind: mail.Kind, Customer: "cus_outbox", Email: mail.To, ExpiresAt: now.Add(time.Hour),
					}); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			if left := listLinkHashes(t, db); !slices.ContainsFunc(left, func(hash string) bool { return strings.HasPrefix(hash, fmt.Sprint(round, " ")) }) {
				t.Fatalf("round %d: of both links, none is left: %v", round, left)
			}
		}
	})
}

func TestStoreLink_DeletedMailStoresNoLink(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		mail := enqueueMails(t, db, now, registrar.MailPasswordReset)[0]
		lease := now.Add(time.Minute)
		claimMail(t, db, now, lease)
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

func TestEnqueueMail_MergesOnlyWhileQueued(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		enqueueMails(t, db, testTime)
		enqueue := func(mail registrar.Mail) {
			t.Helper()
			mail.Customer = "cus_outbox"
			if err := db.write(t.Context(), func(q *query.Queries) error { return enqueueMail(t.Context(), q, mail, testTime) }); err != nil {
				t.Fatal(err)
			}
		}
		kinds := func(at time.Time) (found []registrar.MailKind) {
			for _, mail := range listDueMails(t, db, at) {
				found = append(found, mail.Kind)
			}
			return found
		}
		ended := registrar.Mail{Kind: registrar.MailOrderEnded, Merged: &registrar.Mail{ID: "mail_a", Kind: registrar.MailOrderCompleted, Delay: time.Second}}
		enqueue(registrar.Mail{ID: "mail_a", Kind: registrar.MailOrderPaid, Delay: time.Minute})
		if got := kinds(testTime.Add(time.Second)); len(got) != 0 {
			t.Errorf("a delayed mail is due: %v", got)
		}
		enqueue(ended)
		if got := kinds(testTime.Add(time.Second)); !slices.Equal(got, []registrar.MailKind{registrar.MailOrderCompleted}) {
			t.Errorf("merged: %v", got)
		}
		lease := testTime.Add(2 * time.Minute)
		claimMail(t, db, testTime.Add(time.Second), lease)
		enqueue(ended) // the first one is being sent
		if got := kinds(testTime.Add(time.Second)); !slices.Equal(got, []registrar.MailKind{registrar.MailOrderEnded}) {
			t.Errorf("after the claim: %v", got)
		}
	})
}
