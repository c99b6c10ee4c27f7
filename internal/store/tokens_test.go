package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
)

// testTime is when everything happens, unless a test says otherwise.
var testTime = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// newCustomer stores a confirmed account and returns its id.
func newCustomer(t *testing.T, db *DB, name string) string {
	t.Helper()
	id := "cus_" + name
	change(t, db, `INSERT INTO customers (id, email, email_key, user_handle, language, created_at, confirmed_at)
		VALUES ($1, $2, $2, $3, 'de', 1, 1)`, id, name+"@example.com", "handle-"+name)
	return id
}

// change runs one statement of a test.
func change(t *testing.T, db *DB, statement string, values ...any) {
	t.Helper()
	if _, err := db.writer.ExecContext(t.Context(), statement, values...); err != nil {
		t.Fatal(err)
	}
}

// count is the result of a question for one number.
func count(t *testing.T, db *DB, question string, values ...any) int {
	t.Helper()
	var n int
	if err := db.reader.QueryRowContext(t.Context(), question, values...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func accessOn(t *testing.T, db *DB) *access.Service {
	t.Helper()
	service, err := access.New(access.Config{Store: db, Now: func() time.Time { return testTime }})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func person(customer string) registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorPerson, Customer: customer, Through: "ses_1", SignedInAt: testTime.Add(-time.Minute)}
}

func operator() registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
}

// wantCode fails unless err is ours, of this kind and code.
func wantCode(t *testing.T, err error, kind registrar.Kind, code registrar.Code) {
	t.Helper()
	if !errors.Is(err, &registrar.Error{Kind: kind, Code: code}) {
		t.Errorf("got %v, want %v (%s)", err, kind, code)
	}
}

// consistent says that an account's counter is the number of its active tokens.
func consistent(t *testing.T, db *DB, customer string) {
	t.Helper()
	active := count(t, db, "SELECT count(*) FROM tokens WHERE customer_id = $1 AND revoked_at = 0", customer)
	if counted := count(t, db, "SELECT token_count FROM customers WHERE id = $1", customer); counted != active {
		t.Errorf("%d tokens are counted, %d are active", counted, active)
	}
}

func TestATokenOpensItsAccountUntilItIsRevoked(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), accessOn(t, db), newCustomer(t, db, "anna")
		token, secret, err := service.Create(ctx, person(anna), "  Laptop ")
		if err != nil {
			t.Fatal(err)
		}
		grant, err := service.Verify(ctx, secret)
		if want := (access.Grant{Customer: anna, TokenID: token.ID, Kind: registrar.ActorToken, MayWrite: true}); err != nil || grant != want {
			t.Fatalf("got %+v and %v, want %+v", grant, err, want)
		}
		listed, err := service.List(ctx, person(anna))
		if want := []access.Token{{ID: token.ID, Customer: anna, Name: "Laptop", CreatedAt: testTime}}; err != nil || !slices.Equal(listed, want) {
			t.Errorf("listed %+v and %v, want %+v", listed, err, want)
		}
		if err := service.Revoke(ctx, person(anna), token.ID); err != nil {
			t.Fatal(err)
		}
		_, err = service.Verify(ctx, secret)
		wantCode(t, err, registrar.KindUnauthenticated, access.BadToken)
		if listed, err := service.List(ctx, person(anna)); err != nil || len(listed) != 0 {
			t.Errorf("a revoked token is listed: %+v, %v", listed, err)
		}
		consistent(t, db, anna)
	})
}

func TestATokenOfADisabledOrUnconfirmedAccountOpensNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), accessOn(t, db), newCustomer(t, db, "anna")
		_, secret, err := service.Create(ctx, person(anna), "x")
		if err != nil {
			t.Fatal(err)
		}
		for _, closed := range []string{"disabled_at = 1", "disabled_at = 0, confirmed_at = 0"} {
			change(t, db, "UPDATE customers SET "+closed)
			_, err = service.Verify(ctx, secret)
			wantCode(t, err, registrar.KindUnauthenticated, access.BadToken)
		}
		change(t, db, "UPDATE customers SET confirmed_at = 1")
		if _, err := service.Verify(ctx, secret); err != nil {
			t.Errorf("open again, but %v", err)
		}
	})
}

func TestOnlyTheHashOfATokenIsStored(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		_, secret, err := accessOn(t, db).Create(t.Context(), person(anna), "x")
		if err != nil {
			t.Fatal(err)
		}
		dump := dumpOf(t, db)
		hash, _ := registrar.HashSecret(registrar.PersonalToken, secret)
		if !strings.Contains(dump, string(hash)) {
			t.Error("the dump lacks the token, so nothing was checked")
		}
		random := strings.TrimPrefix(secret, string(registrar.PersonalToken))
		if strings.Contains(dump, random) {
			t.Error("the dump has the secret")
		}
	})
}

func TestMakingATokenIsToldInTheAuditAndByALetter(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), accessOn(t, db), newCustomer(t, db, "anna")
		token, _, err := service.Create(ctx, person(anna), "Laptop")
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time changes nothing, and so is not told
			if err := service.Revoke(ctx, person(anna), token.ID); err != nil {
				t.Fatal(err)
			}
		}
		deeds, err := db.DeedsOf(ctx, anna, "", 10)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, deed := range deeds {
			told = append(told, string(deed.Action)+" "+deed.Object+" "+string(deed.Actor.Kind))
		}
		slices.Sort(told) // both have the same time
		if want := []string{"token_created " + token.ID + " person", "token_revoked " + token.ID + " person"}; !slices.Equal(told, want) {
			t.Errorf("the audit has %q, want %q", told, want)
		}
		letters := count(t, db, `SELECT count(*) FROM mails WHERE kind = 'token_created' AND recipient = 'anna@example.com'
			AND language = 'de' AND customer_id = $1 AND data = '{"name":"Laptop"}'`, anna)
		if all := count(t, db, "SELECT count(*) FROM mails"); letters != 1 || all != 1 {
			t.Errorf("%d letters, %d of them right, want one", all, letters)
		}
	})
}

func TestOfFiftyWhoRaceForTokensTwentyGetOne(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		service, anna := accessOn(t, db), newCustomer(t, db, "anna")
		made, refused := race(t, 50, func(ctx context.Context) error {
			_, _, err := service.Create(ctx, person(anna), "race")
			return err
		})
		if made != access.MaxActive || refused != 50-access.MaxActive {
			t.Errorf("%d got a token and %d were told that it is one too many, want 20 and 30", made, refused)
		}
		if listed, err := service.List(t.Context(), person(anna)); err != nil || len(listed) != access.MaxActive {
			t.Errorf("%d are listed, %v", len(listed), err)
		}
		consistent(t, db, anna)
	})
}

func TestRevokingMakesRoomForExactlyOneMore(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), accessOn(t, db), newCustomer(t, db, "anna")
		var last access.Token
		for range access.MaxActive {
			var err error
			if last, _, err = service.Create(ctx, person(anna), "old"); err != nil {
				t.Fatal(err)
			}
		}
		var wait sync.WaitGroup
		for range 10 { // all revoke the same one
			wait.Go(func() {
				if err := service.Revoke(ctx, person(anna), last.ID); err != nil {
					t.Error(err)
				}
			})
		}
		during, _ := race(t, 20, func(ctx context.Context) error {
			_, _, err := service.Create(ctx, person(anna), "new")
			return err
		})
		wait.Wait()
		after, _ := race(t, 5, func(ctx context.Context) error {
			_, _, err := service.Create(ctx, person(anna), "new")
			return err
		})
		if during+after != 1 {
			t.Errorf("%d tokens were made, want one for the one that was revoked", during+after)
		}
		consistent(t, db, anna)
	})
}

// race runs n attempts at once, and counts those that went well and those that
// were one token too many.
func race(t *testing.T, n int, attempt func(ctx context.Context) error) (made, refused int64) {
	t.Helper()
	var well, tooMany atomic.Int64
	var wait sync.WaitGroup
	begin := make(chan struct{})
	for range n {
		wait.Go(func() {
			<-begin
			switch err := attempt(t.Context()); {
			case err == nil:
				well.Add(1)
			case errors.Is(err, &registrar.Error{Kind: registrar.KindConflict, Code: access.TooManyTokens}):
				tooMany.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	close(begin)
	wait.Wait()
	return well.Load(), tooMany.Load()
}

func TestAForeignTokenIsNotFound(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna, bert := t.Context(), accessOn(t, db), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		token, secret, err := service.Create(ctx, person(anna), "x")
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, service.Revoke(ctx, person(bert), token.ID), registrar.KindNotFound, access.NoSuchToken)
		for _, unknown := range []string{"", "tok_unknown", "tok_\x00", "tok_\xff"} { // PostgreSQL knows no such texts
			wantCode(t, service.Revoke(ctx, person(bert), unknown), registrar.KindNotFound, access.NoSuchToken)
			wantCode(t, service.RevokeAny(ctx, operator(), unknown), registrar.KindNotFound, access.NoSuchToken)
		}
		if listed, err := service.List(ctx, person(bert)); err != nil || len(listed) != 0 {
			t.Errorf("bert sees %+v, %v", listed, err)
		}
		if _, err := service.Verify(ctx, secret); err != nil {
			t.Errorf("anna's token was revoked by bert: %v", err)
		}
		if told := count(t, db, "SELECT count(*) FROM deeds WHERE action = 'token_revoked'"); told != 0 {
			t.Errorf("%d deeds tell of a revocation that was none", told)
		}
	})
}

func TestATokenForAnAccountThatIsClosedIsNotMade(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), accessOn(t, db), newCustomer(t, db, "anna")
		change(t, db, "UPDATE customers SET disabled_at = 1")
		for _, customer := range []string{anna, "cus_unknown"} {
			_, _, err := service.Create(ctx, person(customer), "x")
			wantCode(t, err, registrar.KindNotFound, "")
		}
		if left := count(t, db, "SELECT (SELECT count(*) FROM tokens) + (SELECT count(*) FROM deeds) + (SELECT count(*) FROM mails)"); left != 0 {
			t.Errorf("%d rows are left of it", left)
		}
	})
}

func TestOperatorsSeeAndRevokeEveryToken(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), accessOn(t, db), newCustomer(t, db, "anna")
		seed := operator()
		seed.Customer = anna
		token, secret, err := service.Create(ctx, seed, "seed")
		if err != nil {
			t.Fatal(err)
		}
		if err := service.RevokeAny(ctx, operator(), token.ID); err != nil {
			t.Fatal(err)
		}
		_, err = service.Verify(ctx, secret)
		wantCode(t, err, registrar.KindUnauthenticated, access.BadToken)
		wantCode(t, service.RevokeAny(ctx, operator(), "tok_unknown"), registrar.KindNotFound, access.NoSuchToken)
		listed, err := service.ListOf(ctx, operator(), anna)
		if err != nil || len(listed) != 1 || !listed[0].RevokedAt.Equal(testTime) {
			t.Errorf("listed %+v, %v", listed, err)
		}
		deeds, err := db.DeedsOf(ctx, anna, "", 10)
		if err != nil || len(deeds) != 2 || deeds[0].Actor.Kind != registrar.ActorOperator || deeds[0].Actor.Through != "root" {
			t.Errorf("the customer reads %+v, %v", deeds, err)
		}
	})
}

func TestTheLastUseOfATokenNeverGoesBack(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		token, _, err := accessOn(t, db).Create(ctx, person(anna), "x")
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []time.Time{testTime.Add(time.Hour), testTime.Add(time.Minute)} {
			if err := db.TokensUsed(ctx, []access.Use{{TokenID: token.ID, At: at}, {TokenID: "tok_gone", At: at}}); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := db.Token(ctx, token.ID); err != nil || !got.LastUsedAt.Equal(testTime.Add(time.Hour)) {
			t.Errorf("last used at %v, %v", got.LastUsedAt, err)
		}
	})
}
