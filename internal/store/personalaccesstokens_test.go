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
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
)

// testTime is the time of all events, unless a test sets another.
var testTime = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// newCustomer stores a confirmed account and returns its id.
func newCustomer(t *testing.T, db *DB, name string) string {
	t.Helper()
	id := "cus_" + name
	execStatement(t, db, `INSERT INTO customers (id, email, email_key, user_handle, language, created_at, confirmed_at)
		VALUES ($1, $2, $2, $3, 'de', 1, 1)`, id, name+"@example.com", "handle-"+name)
	return id
}

func execStatement(t *testing.T, db *DB, statement string, values ...any) {
	t.Helper()
	if _, err := db.sql.Writer().ExecContext(t.Context(), statement, values...); err != nil {
		t.Fatal(err)
	}
}

// count returns the result of a query for one number.
func count(t *testing.T, db *DB, question string, values ...any) int {
	t.Helper()
	var n int
	if err := db.sql.Reader().QueryRowContext(t.Context(), question, values...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func newTokenService(t *testing.T, db *DB) *oauth.Service {
	t.Helper()
	service, err := oauth.New(oauth.Config{Store: db, Now: func() time.Time { return testTime }})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func personActor(customer string) registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorPerson, Customer: customer, Through: "ses_1", SignedInAt: testTime.Add(-time.Minute)}
}

func operatorActor() registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
}

// wantCode fails unless err is a registrar.Error of this kind and code.
func wantCode(t *testing.T, err error, kind registrar.Kind, code registrar.Code) {
	t.Helper()
	if !errors.Is(err, &registrar.Error{Kind: kind, Code: code}) {
		t.Errorf("got %v, want %v (%s)", err, kind, code)
	}
}

// requireTokenCount checks that an account's counter equals the number of its active
// tokens.
func requireTokenCount(t *testing.T, db *DB, customer string) {
	t.Helper()
	active := count(t, db, "SELECT count(*) FROM personal_access_tokens WHERE customer_id = $1 AND revoked_at = 0", customer)
	if counted := count(t, db, "SELECT token_count FROM customers WHERE id = $1", customer); counted != active {
		t.Errorf("%d tokens are counted, %d are active", counted, active)
	}
}

func TestPersonalAccessToken_ValidUntilRevoked(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), newTokenService(t, db), newCustomer(t, db, "anna")
		token, secret, err := service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "  Laptop "})
		if err != nil {
			t.Fatal(err)
		}
		grant, err := service.Verify(ctx, secret)
		if want := (oauth.TokenInfo{Customer: anna, TokenID: token.ID, Kind: registrar.ActorToken, MayWrite: true}); err != nil || grant != want {
			t.Fatalf("got %+v and %v, want %+v", grant, err, want)
		}
		listed, err := service.List(ctx, personActor(anna))
		if want := []oauth.PersonalAccessToken{{ID: token.ID, Customer: anna, Name: "Laptop", CreatedAt: testTime}}; err != nil || !slices.Equal(listed, want) {
			t.Errorf("listed %+v and %v, want %+v", listed, err, want)
		}
		if err := service.Revoke(ctx, personActor(anna), token.ID); err != nil {
			t.Fatal(err)
		}
		_, err = service.Verify(ctx, secret)
		wantCode(t, err, registrar.KindUnauthenticated, oauth.BadToken)
		if listed, err := service.List(ctx, personActor(anna)); err != nil || len(listed) != 0 {
			t.Errorf("a revoked token is listed: %+v, %v", listed, err)
		}
		requireTokenCount(t, db, anna)
	})
}

func TestPersonalAccessToken_InvalidForDisabledOrUnconfirmedAccount(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), newTokenService(t, db), newCustomer(t, db, "anna")
		_, secret, err := service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for _, closed := range []string{"disabled_at = 1", "disabled_at = 0, confirmed_at = 0"} {
			execStatement(t, db, "UPDATE customers SET "+closed)
			_, err = service.Verify(ctx, secret)
			wantCode(t, err, registrar.KindUnauthenticated, oauth.BadToken)
		}
		execStatement(t, db, "UPDATE customers SET confirmed_at = 1")
		if _, err := service.Verify(ctx, secret); err != nil {
			t.Errorf("enabled again, but %v", err)
		}
	})
}

func TestPersonalAccessToken_OnlyHashIsStored(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		_, secret, err := newTokenService(t, db).Create(t.Context(), personActor(anna), oauth.TokenParams{Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		dump := dumpOf(t, db)
		hash, _ := registrar.HashSecret(registrar.PersonalToken, secret)
		if !strings.Contains(dump, string(hash)) {
			t.Error("the dump lacks the token, so the test proves nothing")
		}
		random := strings.TrimPrefix(secret, string(registrar.PersonalToken))
		if strings.Contains(dump, random) {
			t.Error("the dump contains the secret")
		}
	})
}

func TestCreateToken_WritesAuditEventAndMail(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), newTokenService(t, db), newCustomer(t, db, "anna")
		token, _, err := service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "Laptop"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second call changes nothing and is not audited
			if err := service.Revoke(ctx, personActor(anna), token.ID); err != nil {
				t.Fatal(err)
			}
		}
		events, err := db.ListAuditEvents(ctx, anna, "", 10)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, event := range events {
			lines = append(lines, string(event.Action)+" "+event.Object+" "+string(event.Actor.Kind))
		}
		slices.Sort(lines) // both have the same time
		if want := []string{"token_created " + token.ID + " person", "token_revoked " + token.ID + " person"}; !slices.Equal(lines, want) {
			t.Errorf("audit events: %q, want %q", lines, want)
		}
		mails := count(t, db, `SELECT count(*) FROM mails WHERE kind = 'token_created' AND recipient = 'anna@example.com'
			AND language = 'de' AND customer_id = $1 AND data = '{"expires_at":"never","name":"Laptop"}'`, anna)
		if all := count(t, db, "SELECT count(*) FROM mails"); mails != 1 || all != 1 {
			t.Errorf("%d mails, %d of them correct, want one", all, mails)
		}
	})
}

func TestCreateToken_RacingCallersStayWithinLimit(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		service, anna := newTokenService(t, db), newCustomer(t, db, "anna")
		made, refused := race(t, 50, func(ctx context.Context) error {
			_, _, err := service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "race"})
			return err
		})
		if made != oauth.MaxActiveTokens || refused != 50-oauth.MaxActiveTokens {
			t.Errorf("%d tokens created and %d refused, want 20 and 30", made, refused)
		}
		if listed, err := service.List(t.Context(), personActor(anna)); err != nil || len(listed) != oauth.MaxActiveTokens {
			t.Errorf("%d are listed, %v", len(listed), err)
		}
		requireTokenCount(t, db, anna)
	})
}

func TestRevokeToken_FreesExactlyOneSlot(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), newTokenService(t, db), newCustomer(t, db, "anna")
		var last oauth.PersonalAccessToken
		for range oauth.MaxActiveTokens {
			var err error
			if last, _, err = service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "old"}); err != nil {
				t.Fatal(err)
			}
		}
		var wait sync.WaitGroup
		for range 10 { // all revoke the same token
			wait.Go(func() {
				if err := service.Revoke(ctx, personActor(anna), last.ID); err != nil {
					t.Error(err)
				}
			})
		}
		during, _ := race(t, 20, func(ctx context.Context) error {
			_, _, err := service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "new"})
			return err
		})
		wait.Wait()
		after, _ := race(t, 5, func(ctx context.Context) error {
			_, _, err := service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "new"})
			return err
		})
		if during+after != 1 {
			t.Errorf("%d tokens were created, want one for the revoked one", during+after)
		}
		requireTokenCount(t, db, anna)
	})
}

// race runs n attempts concurrently and counts successes and refusals over the limit.
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
			case errors.Is(err, &registrar.Error{Kind: registrar.KindConflict, Code: oauth.TooManyTokens}):
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

func TestRevokeToken_ForeignTokenIsNotFound(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna, bert := t.Context(), newTokenService(t, db), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		token, secret, err := service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, service.Revoke(ctx, personActor(bert), token.ID), registrar.KindNotFound, oauth.NoSuchToken)
		for _, unknown := range []string{"", "tok_unknown", "tok_\x00", "tok_\xff"} { // PostgreSQL rejects such text
			wantCode(t, service.Revoke(ctx, personActor(bert), unknown), registrar.KindNotFound, oauth.NoSuchToken)
			wantCode(t, service.RevokeFor(ctx, operatorActor(), unknown), registrar.KindNotFound, oauth.NoSuchToken)
		}
		if listed, err := service.List(ctx, personActor(bert)); err != nil || len(listed) != 0 {
			t.Errorf("bert sees %+v, %v", listed, err)
		}
		if _, err := service.Verify(ctx, secret); err != nil {
			t.Errorf("bert revoked anna's token: %v", err)
		}
		if events := count(t, db, "SELECT count(*) FROM audit_events WHERE action = 'token_revoked'"); events != 0 {
			t.Errorf("%d audit events of a revocation that did not happen", events)
		}
	})
}

func TestCreateToken_RefusedForClosedAccount(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), newTokenService(t, db), newCustomer(t, db, "anna")
		execStatement(t, db, "UPDATE customers SET disabled_at = 1")
		for _, customer := range []string{anna, "cus_unknown"} {
			_, _, err := service.Create(ctx, personActor(customer), oauth.TokenParams{Name: "x"})
			wantCode(t, err, registrar.KindNotFound, "")
		}
		if left := count(t, db, "SELECT (SELECT count(*) FROM personal_access_tokens) + (SELECT count(*) FROM audit_events) + (SELECT count(*) FROM mails)"); left != 0 {
			t.Errorf("%d of its rows are left", left)
		}
	})
}

func TestPersonalAccessToken_OperatorsListAndRevokeAny(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), newTokenService(t, db), newCustomer(t, db, "anna")
		seed := operatorActor()
		seed.Customer = anna
		token, secret, err := service.Create(ctx, seed, oauth.TokenParams{Name: "seed"})
		if err != nil {
			t.Fatal(err)
		}
		if err := service.RevokeFor(ctx, operatorActor(), token.ID); err != nil {
			t.Fatal(err)
		}
		_, err = service.Verify(ctx, secret)
		wantCode(t, err, registrar.KindUnauthenticated, oauth.BadToken)
		wantCode(t, service.RevokeFor(ctx, operatorActor(), "tok_unknown"), registrar.KindNotFound, oauth.NoSuchToken)
		listed, err := service.ListFor(ctx, operatorActor(), anna)
		if err != nil || len(listed) != 1 || !listed[0].RevokedAt.Equal(testTime) {
			t.Errorf("listed %+v, %v", listed, err)
		}
		events, err := db.ListAuditEvents(ctx, anna, "", 10)
		if err != nil || len(events) != 2 || events[0].Actor.Kind != registrar.ActorOperator || events[0].Actor.Through != "root" {
			t.Errorf("the customer's audit events: %+v, %v", events, err)
		}
	})
}

func TestTokensUsed_LastUseNeverDecreases(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		token, _, err := newTokenService(t, db).Create(ctx, personActor(anna), oauth.TokenParams{Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []time.Time{testTime.Add(time.Hour), testTime.Add(time.Minute)} {
			if err := db.RecordTokenUses(ctx, []oauth.TokenUse{{TokenID: token.ID, At: at}, {TokenID: "tok_gone", At: at}}); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := db.GetPersonalAccessToken(ctx, token.ID); err != nil || !got.LastUsedAt.Equal(testTime.Add(time.Hour)) {
			t.Errorf("last used at %v, %v", got.LastUsedAt, err)
		}
	})
}
