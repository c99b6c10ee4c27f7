package store

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/letters"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// posted stores an account with letters, one for each kind, and returns them.
func posted(t *testing.T, db *DB, now time.Time, kinds ...registrar.LetterKind) []letters.Stored {
	t.Helper()
	err := db.write(t.Context(), func(q *query.Queries) error {
		_, err := q.InsertCustomer(t.Context(), query.InsertCustomerParams{
			ID: "cus_outbox", Email: "Erika@kundin.example", EmailKey: "erika@kundin.example", UserHandle: "handle-outbox",
			Language: "en", CreatedAt: micros(now),
		})
		for _, kind := range kinds {
			if err == nil {
				err = recordLetter(t.Context(), q, registrar.Letter{Kind: kind, Customer: "cus_outbox", Facts: map[string]string{"name": "Büro"}}, now)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	due, err := db.DueLetters(t.Context(), now, 100)
	if err != nil || len(due) != len(kinds) {
		t.Fatalf("%d letters are due, %v", len(due), err)
	}
	return due
}

func linksOf(t *testing.T, db *DB) (hashes []string) {
	t.Helper()
	rows, err := db.reader.QueryContext(t.Context(), "SELECT hash FROM links WHERE customer_id = $1 ORDER BY hash", "cus_outbox")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var hash string
		if err := rows.Scan(&hash); err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, hash)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return hashes
}

func TestAStoredLetterHasItsAccountsAddressAndLanguage(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		letter := posted(t, db, now, registrar.LetterReset)[0]
		if letter.To != "Erika@kundin.example" || letter.Language != "en" || letter.Facts["name"] != "Büro" ||
			!letter.CreatedAt.Equal(now) || !letter.DueAt.Equal(now) || letter.Attempts != 0 || letter.Customer != "cus_outbox" {
			t.Errorf("%+v", letter)
		}
		if early, err := db.DueLetters(t.Context(), now.Add(-time.Second), 100); err != nil || len(early) != 0 {
			t.Errorf("%d letters are due before their time, %v", len(early), err)
		}
	})
}

func TestOneOfManyNodesClaimsALetter(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		letter := posted(t, db, now, registrar.LetterReset)[0]
		lease := now.Add(time.Minute)
		var wins atomic.Int32
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				mine, err := db.ClaimLetter(t.Context(), letter.ID, letter.DueAt, lease)
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
			t.Errorf("%d nodes have the letter", wins.Load())
		}
		if due, err := db.DueLetters(t.Context(), now.Add(30*time.Second), 100); err != nil || len(due) != 0 {
			t.Errorf("a claimed letter is due, %v", err)
		}
		due, err := db.DueLetters(t.Context(), lease, 100)
		if err != nil || len(due) != 1 || due[0].Attempts != 1 {
			t.Errorf("after the lease %+v is due, %v", due, err)
		}
		if err := db.PostponeLetter(t.Context(), letter.ID, lease.Add(time.Second), now); err != nil {
			t.Error(err)
		}
		if due, err := db.DueLetters(t.Context(), now, 100); err != nil || len(due) != 0 {
			t.Errorf("somebody else's lease was ended, %v", err)
		}
		if err := db.PostponeLetter(t.Context(), letter.ID, lease, now.Add(time.Second)); err != nil {
			t.Error(err)
		}
		if due, err := db.DueLetters(t.Context(), now.Add(time.Second), 100); err != nil || len(due) != 1 {
			t.Errorf("the letter was not postponed, %v", err)
		}
		if err := db.RemoveLetter(t.Context(), letter.ID); err != nil {
			t.Error(err)
		}
		if due, err := db.DueLetters(t.Context(), now.AddDate(1, 0, 0), 100); err != nil || len(due) != 0 {
			t.Errorf("the letter was not removed, %v", err)
		}
	})
}

func TestANewLinkVoidsTheFormerOnesOfItsKind(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		letter := posted(t, db, now, registrar.LetterReset)[0]
		store := func(hash string, kind registrar.LetterKind) {
			t.Helper()
			stored, err := db.StoreLink(t.Context(), letter.ID, letter.DueAt, letters.Link{
				Hash: registrar.SecretHash(hash), Kind: kind, Customer: "cus_outbox", Email: letter.To, ExpiresAt: now.Add(time.Hour),
			})
			if err != nil || !stored {
				t.Fatalf("stored: %t, %v", stored, err)
			}
		}
		// Whoever held the letter before must not void the link that is under way.
		if stored, err := db.StoreLink(t.Context(), letter.ID, letter.DueAt.Add(-time.Second), letters.Link{
			Hash: "late", Kind: registrar.LetterReset, Customer: "cus_outbox", Email: letter.To, ExpiresAt: now.Add(time.Hour),
		}); err != nil || stored {
			t.Errorf("a lease that is over: stored %t, %v", stored, err)
		}
		store("a", registrar.LetterReset)
		store("b", registrar.LetterConfirm)
		store("c", registrar.LetterReset)
		if got := linksOf(t, db); len(got) != 2 || got[0] != "b" || got[1] != "c" {
			t.Errorf("the links are %v", got)
		}
	})
}

func TestAWithdrawnLetterMakesNoLink(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		letter := posted(t, db, now, registrar.LetterReset)[0]
		lease := now.Add(time.Minute)
		if mine, err := db.ClaimLetter(t.Context(), letter.ID, letter.DueAt, lease); err != nil || !mine {
			t.Fatal(mine, err)
		}
		err := db.write(t.Context(), func(q *query.Queries) error {
			return q.DeleteUnsentLetters(t.Context(), query.DeleteUnsentLettersParams{CustomerID: "cus_outbox", Kind: string(letter.Kind)})
		})
		if err != nil {
			t.Fatal(err)
		}
		stored, err := db.StoreLink(t.Context(), letter.ID, lease, letters.Link{
			Hash: "a", Kind: letter.Kind, Customer: "cus_outbox", Email: letter.To, ExpiresAt: now.Add(time.Hour),
		})
		if err != nil || stored || len(linksOf(t, db)) != 0 {
			t.Errorf("stored: %t, %v, links %v", stored, err, linksOf(t, db))
		}
	})
}
