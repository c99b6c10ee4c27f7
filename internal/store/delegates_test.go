package store

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/delegate"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
)

func newDelegates(t *testing.T, db *DB) (*delegate.Service, *agent.Service) {
	t.Helper()
	apps, err := oauth.NewAuthorizationServer(oauth.AuthorizationServerConfig{Store: db, Resource: "https://domains.example/api/mcp", Now: func() time.Time { return testTime }})
	if err != nil {
		t.Fatal(err)
	}
	agents := newAgentService(t, db, new(atomic.Int64))
	service, err := delegate.New(delegate.Config{
		Store: db, Tokens: newTokenService(t, db), Applications: apps, Agents: agents, Now: func() time.Time { return testTime },
	})
	if err != nil {
		t.Fatal(err)
	}
	return service, agents
}

// addGrant connects an application.
func addGrant(t *testing.T, db *DB, customer, id string) {
	t.Helper()
	execStatement(t, db, `INSERT INTO clients (id, kind, name, redirect_uris, auth_method, created_at, last_used_at) VALUES ($1, 'dynamic', $1, '[]', 'none', 1, 1)`, "app_"+id)
	execStatement(t, db, `INSERT INTO grants (id, customer_id, client_id, client_name, redirect_uri, scope, resource, generation, created_at, last_used_at, expires_at)
		VALUES ($1, $2, $3, 'App', 'https://app.example/cb', 'mcp:write', '', 1, 1, 1, $4)`, id, customer, "app_"+id, micros(testTime.Add(time.Hour)))
}

func TestStopAll_EndsEveryAccessOfTheAccountOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		service, agents := newDelegates(t, db)
		tokens := newTokenService(t, db)
		shop, _ := admitAgent(t, agents, agent.AddParams{Name: "Shop"})
		secrets := make(map[string]string)
		for _, customer := range []string{anna, bert} {
			var err error
			if _, secrets[customer], err = tokens.Create(ctx, personActor(customer), oauth.TokenParams{Name: "Laptop"}); err != nil {
				t.Fatal(err)
			}
			addGrant(t, db, customer, "gra_"+customer)
			if err := agents.Link(ctx, personActor(customer), shop.ID); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []int{3, 0} { // repeating it changes nothing
			if stopped, err := service.StopAll(ctx, personActor(anna)); err != nil || stopped != want {
				t.Errorf("call %d: %d stopped, want %d, %v", i, stopped, want, err)
			}
		}
		if _, err := tokens.Verify(ctx, secrets[anna]); registrar.KindOf(err) != registrar.KindUnauthenticated {
			t.Errorf("the token still works: %v", err)
		}
		all, err := service.List(ctx, personActor(anna))
		if err != nil || len(all.List) != 0 {
			t.Errorf("left: %+v, %v", all, err)
		}
		if _, err := tokens.Verify(ctx, secrets[bert]); err != nil {
			t.Errorf("another account's token: %v", err)
		}
		if all, err := service.List(ctx, personActor(bert)); err != nil || len(all.List) != 3 {
			t.Errorf("another account: %+v, %v", all, err)
		}
		for _, action := range []registrar.Action{oauth.TokenRevoked, oauth.AppDisconnected, agent.Unlinked} {
			if n := count(t, db, `SELECT count(*) FROM audit_events WHERE customer_id = $1 AND action = $2`, anna, string(action)); n != 1 {
				t.Errorf("%d events %s", n, action)
			}
		}
		if _, err := service.StopAll(ctx, registrar.Actor{Kind: registrar.ActorToken, Customer: bert, Through: "tok_1"}); registrar.CodeOf(err) != registrar.PersonsOnly {
			t.Errorf("a token stops others: %v", err)
		}
	})
}

func TestStopAll_ExpiredTokenIsNeitherCountedNorRevoked(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		service, _ := newDelegates(t, db)
		tokens := newTokenService(t, db)
		for _, name := range []string{"expired", "active"} {
			if _, _, err := tokens.Create(ctx, personActor(anna), oauth.TokenParams{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		execStatement(t, db, `UPDATE personal_access_tokens SET expires_at = $1 WHERE name = 'expired'`, micros(testTime))
		if stopped, err := service.StopAll(ctx, personActor(anna)); err != nil || stopped != 1 {
			t.Errorf("%d stopped, %v", stopped, err)
		}
		if n := count(t, db, `SELECT count(*) FROM audit_events WHERE action = 'token_revoked'`); n != 1 {
			t.Errorf("%d events, want one for the active token", n)
		}
		if all, err := service.List(ctx, personActor(anna)); err != nil || len(all.List) != 1 || !all.List[0].Expired {
			t.Errorf("listed: %+v, %v", all.List, err)
		}
		requireTokenCount(t, db, anna)
	})
}

func TestListDelegates_SumsOrdersByDelegate(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		service, _ := newDelegates(t, db)
		token, _, err := newTokenService(t, db).Create(ctx, personActor(anna), oauth.TokenParams{Name: "Laptop", Purpose: "Buys tea", ExpiresAt: testTime.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		addGrant(t, db, anna, "gra_1")
		paid := addPaidOrder(t, db, anna, "paid.org")
		refundFirstItem(t, db, addPaidOrder(t, db, anna, "refunded.org"), "ref_1")
		addOrder(t, db, testOrder(anna, "open.org"))
		execStatement(t, db, `UPDATE orders SET by_id = $1`, token.ID)
		former := testOrder(anna, "former.org")
		former.By.Through = "tok_former"
		addOrder(t, db, former)

		all, err := service.List(ctx, personActor(anna))
		if err != nil || len(all.List) != 2 {
			t.Fatalf("%+v, %v", all, err)
		}
		app, mine := all.List[0], all.List[1]
		if app.Kind != registrar.ActorApplication || app.Orders != (delegate.Orders{}) || !app.MayWrite {
			t.Errorf("application: %+v", app)
		}
		if mine.ID != token.ID || mine.Purpose != "Buys tea" || mine.Expired || mine.Orders != (delegate.Orders{Prepared: 3, Paid: 2, Spent: paid.Totals.Gross}) {
			t.Errorf("token: %+v", mine)
		}
		if all.Former != (delegate.Orders{Prepared: 1}) {
			t.Errorf("former: %+v", all.Former)
		}
	})
}

func TestListDelegates_FormerCountsEachOrderOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		service, agents := newDelegates(t, db)
		shop, _ := admitAgent(t, agents, agent.AddParams{Name: "Shop"})
		token, _, err := newTokenService(t, db).Create(ctx, personActor(anna), oauth.TokenParams{Name: "Laptop"})
		if err != nil {
			t.Fatal(err)
		}
		if err := agents.Link(ctx, personActor(anna), shop.ID); err != nil {
			t.Fatal(err)
		}
		shared, own := addPaidOrder(t, db, anna, "shared.org"), addPaidOrder(t, db, anna, "own.org")
		execStatement(t, db, `UPDATE orders SET completer_id = $1, by_id = $2 WHERE id = $3`, shop.ID, token.ID, shared.ID)
		execStatement(t, db, `UPDATE orders SET completer_id = $1, by_kind = 'person', by_id = 'ses_1', channel = 'portal' WHERE id = $2`, shop.ID, own.ID)

		both := delegate.Orders{Paid: 2, Spent: shared.Totals.Gross + own.Totals.Gross}
		all, err := service.List(ctx, personActor(anna))
		if err != nil || len(all.List) != 2 || all.List[0].Orders != (delegate.Orders{Prepared: 1, Paid: 1, Spent: shared.Totals.Gross}) ||
			all.List[1].Orders != both || all.Former != (delegate.Orders{}) {
			t.Errorf("both linked: %+v, %v", all, err)
		}
		if _, err := service.StopAll(ctx, personActor(anna)); err != nil {
			t.Fatal(err)
		}
		both.Prepared = 1
		if all, err := service.List(ctx, personActor(anna)); err != nil || all.Former != both {
			t.Errorf("both stopped: %+v, want %+v, %v", all.Former, both, err)
		}
	})
}

func TestPersonalAccessToken_ExpiresAndMakesRoom(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		now := testTime
		service, err := oauth.New(oauth.Config{Store: db, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		create := func(expires time.Time) (string, error) {
			_, secret, err := service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "x", ExpiresAt: expires})
			return secret, err
		}
		if _, err := create(testTime); registrar.CodeOf(err) != oauth.BadTokenExpiry {
			t.Errorf("a token that has expired: %v", err)
		}
		var secret string
		for i := range oauth.MaxActiveTokens {
			expires := time.Time{}
			if i == 0 {
				expires = testTime.Add(time.Minute)
			}
			one, err := create(expires)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				secret = one
			}
		}
		now = testTime.Add(time.Minute - time.Microsecond)
		if _, err := service.Verify(ctx, secret); err != nil {
			t.Errorf("before its end: %v", err)
		}
		if _, err := create(time.Time{}); registrar.CodeOf(err) != oauth.TooManyTokens {
			t.Errorf("beyond the limit: %v", err)
		}
		now = testTime.Add(time.Minute)
		if _, err := service.Verify(ctx, secret); registrar.CodeOf(err) != oauth.BadToken {
			t.Errorf("at its end: %v", err)
		}
		if _, err := create(time.Time{}); err != nil {
			t.Errorf("the expired token takes a place: %v", err)
		}
		if _, err := create(time.Time{}); registrar.CodeOf(err) != oauth.TooManyTokens {
			t.Errorf("beyond the limit: %v", err)
		}
		requireTokenCount(t, db, anna)
		if n := count(t, db, `SELECT count(*) FROM audit_events JOIN personal_access_tokens ON personal_access_tokens.id = audit_events.object
			WHERE action = 'token_revoked' AND actor_kind = 'person' AND expires_at > 0`); n != 1 {
			t.Errorf("%d events for the expired token that made room", n)
		}
		if n := count(t, db, `SELECT count(*) FROM audit_events WHERE action = 'token_revoked'`); n != 1 {
			t.Errorf("%d tokens were revoked to make room, want the expired one", n)
		}
	})
}
