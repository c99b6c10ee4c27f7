package store

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// At READ COMMITTED, PostgreSQL lets two transactions check what the other one is about
// to change. These tests pause one between its check and its change and run the other
// until it ends or waits for a lock. SQLite has one writer.

// runConcurrently runs act while a transaction is open, and returns when act has ended
// or waits for a lock; wait returns when it has ended.
func runConcurrently(t *testing.T, db *DB, act func()) (wait func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		act()
	}()
	for {
		select {
		case <-ended:
			return func() {}
		case <-time.After(time.Millisecond): // only the database knows who waits for its lock
		}
		if count(t, db, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0 {
			return func() { <-ended }
		}
	}
}

func onPostgres(t *testing.T, test func(t *testing.T, db *DB)) {
	t.Helper()
	t.Parallel()
	test(t, openAt(t, Options{URL: newMigratedPostgres(t), MaxConnections: 8}))
}

// storeWithCheckHook runs a hook after a check inside a transaction.
type storeWithCheckHook struct {
	account.Store
	onChecked func()
}

type txWithCheckHook struct {
	account.Tx
	onChecked func()
}

func (s storeWithCheckHook) UpdateCustomers(ctx context.Context, change func(account.Tx) error) error {
	return s.Store.UpdateCustomers(ctx, func(tx account.Tx) error { return change(txWithCheckHook{tx, s.onChecked}) })
}

func (t txWithCheckHook) PaymentUnderWay(ctx context.Context, id string) (bool, error) {
	paying, err := t.Tx.PaymentUnderWay(ctx, id)
	t.onChecked()
	return paying, err
}

func (t txWithCheckHook) CountCloseBlockers(ctx context.Context, id string) (account.CloseBlockers, error) {
	ties, err := t.Tx.CountCloseBlockers(ctx, id)
	t.onChecked()
	return ties, err
}

// storeWithBeginHook runs a hook before a transaction begins.
type storeWithBeginHook struct {
	account.Store
	onBegin func()
}

func (s storeWithBeginHook) UpdateCustomers(ctx context.Context, change func(account.Tx) error) error {
	s.onBegin()
	return s.Store.UpdateCustomers(ctx, change)
}

// storeWithReadHook runs a hook after a transaction has read an account.
type storeWithReadHook struct {
	account.Store
	onRead func()
}

type txWithReadHook struct {
	account.Tx
	onRead func()
}

func (s storeWithReadHook) UpdateCustomers(ctx context.Context, change func(account.Tx) error) error {
	return s.Store.UpdateCustomers(ctx, func(tx account.Tx) error { return change(txWithReadHook{tx, s.onRead}) })
}

func (t txWithReadHook) AccountByID(ctx context.Context, id string) (account.Account, bool, error) {
	account, found, err := t.Tx.AccountByID(ctx, id)
	t.onRead()
	return account, found, err
}

func newAccountService(t *testing.T, db account.Store) *account.Service {
	t.Helper()
	limits, err := account.NewLimits(account.DefaultWindows(), func(string, ratelimit.Window) (*ratelimit.Limiter, error) {
		return ratelimit.New(ratelimit.Config{Windows: []ratelimit.Window{{Limit: 1000, Per: time.Second}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	seal, err := registrar.NewSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	service, err := account.New(account.Config{
		Store: db, Seal: seal, Origins: []string{"https://kontor.example"}, Limits: limits,
		Cost: account.Cost{Memory: 64, Passes: 1}, Now: func() time.Time { return testTime },
	})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func signedInActor(id string) registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorPerson, Customer: id, Through: "ses_1", SignedInAt: testTime}
}

// otherRegistrant returns another registrant, in another country.
var otherRegistrant = account.Registrant{
	Kind: account.Person, Name: "Anna Neu", Street: "Ring 1", PostalCode: "1010", City: "Wien", Country: "AT", Phone: "+43 1 234567",
}

func beginPaying(t *testing.T, db *DB, o order.Order, buyer order.Buyer) (bool, error) {
	t.Helper()
	return updateOrder(t, db, o, func(o *order.Order, m *order.Transition) {
		toPaying("pay_1")(o, m)
		m.ExpectedBuyer = &buyer
	})
}

func TestRegistrant_UnchangedWhilePaymentBegins(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		putTestRegistrant(t, db, anna, "Hauptstr. 1")
		o := addOrder(t, db, testOrder(anna, "eins.org"))
		buyer, err := db.GetBuyer(t.Context(), anna)
		if err != nil {
			t.Fatal(err)
		}
		var (
			began  bool
			payErr error
			wait   = func() {}
			once   sync.Once
		)
		service := newAccountService(t, storeWithCheckHook{db, func() {
			once.Do(func() { wait = runConcurrently(t, db, func() { began, payErr = beginPaying(t, db, o, buyer) }) })
		}})
		err = service.SetRegistrant(t.Context(), signedInActor(anna), otherRegistrant)
		wait()
		if err != nil || payErr != nil {
			t.Fatalf("registrant %v, payment %v", err, payErr)
		}
		if began {
			t.Error("a payment started for the old registrant, and the registrant changed")
		}
	})
}

// In the other order, the payment starts first and keeps the registrant.
func TestRegistrant_ChangeWaitsForBeginningPayment(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		putTestRegistrant(t, db, anna, "Hauptstr. 1")
		o := addOrder(t, db, testOrder(anna, "eins.org"))
		tx, err := db.sql.Writer().BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback() // committed below
		next := o
		next.State = order.Paying
		if err := lockBuyerFor(ctx, query.New(tx), order.Transition{From: o, To: next}); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(ctx, `UPDATE orders SET state = 'paying' WHERE id = $1`, o.ID); err != nil {
			t.Fatal(err)
		}
		var changed error
		wait := runConcurrently(t, db, func() { changed = newAccountService(t, db).SetRegistrant(ctx, signedInActor(anna), otherRegistrant) })
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		wait()
		wantCode(t, changed, registrar.KindConflict, account.PaymentUnderWay)
	})
}

func TestCloseAccount_ConcurrentAdditionsAreRefused(t *testing.T) {
	for name, give := range map[string]func(t *testing.T, db *DB, anna string) error{
		"an order": func(t *testing.T, db *DB, anna string) error {
			_, _, err := db.AddOrder(t.Context(), testOrder(anna, "eins.org"), 20, orderedEvent(anna, "eins.org"))
			return err
		},
		"a session that becomes theirs": func(t *testing.T, db *DB, anna string) error {
			o := addAgentOrder(t, db, newCustomer(t, db, "carla"), newAgent(t, db, "agt_1", ""), "eins.org")
			o.Claimed = false
			_, err := updateOrder(t, db, o, func(o *order.Order, _ *order.Transition) { o.Customer, o.Claimed = anna, true })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			onPostgres(t, func(t *testing.T, db *DB) {
				anna := newCustomer(t, db, "anna")
				var given error
				wait := func() {}
				err := newAccountService(t, storeWithCheckHook{db, func() { wait = runConcurrently(t, db, func() { given = give(t, db, anna) }) }}).Close(t.Context(), signedInActor(anna))
				wait()
				if err != nil {
					t.Fatal(err)
				}
				if registrar.CodeOf(given) != registrar.NoSuchCustomer {
					t.Errorf("given: %v", given)
				}
				if n := count(t, db, `SELECT count(*) FROM orders WHERE customer_id = $1 AND open_order = 1`, anna); n != 0 {
					t.Errorf("a closed account has %d open orders", n)
				}
			})
		})
	}
}

func TestCloseAccount_ConcurrentDomainKeepsAccountOpen(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		var closed error
		wait := func() {}
		err := db.write(t.Context(), func(q *query.Queries) error {
			if err := rowOr(noSuchCustomer())(q.LockConfirmedCustomer(t.Context(), anna)); err != nil {
				return err
			}
			// Reading the result sends the statements: the concurrent change begins after them.
			if added, err := rowsOf(q.InsertDomain(t.Context(), query.InsertDomainParams{
				ID: "dom_1", CustomerID: anna, Name: "eins.org", Tld: ".org", Status: string(registrar.DomainActive), CreatedAt: 1, UpdatedAt: 1,
			})); err != nil || added != 1 {
				return cmp.Or(err, errConflict)
			}
			wait = runConcurrently(t, db, func() { closed = newAccountService(t, db).Close(t.Context(), signedInActor(anna)) })
			return nil
		})
		wait()
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, closed, registrar.KindConflict, account.HasDomains)
	})
}

func TestConfirmEmail_ConcurrentRoleGrantKeepsAddress(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		link, hash := registrar.NewSecret(registrar.LinkSecret)
		if err := db.UpdateCustomers(ctx, func(tx account.Tx) error {
			return tx.InsertLink(ctx, hash, account.LinkChangeEmail, account.Link{Customer: anna, Email: "thief@example.org", ExpiresAt: testTime.Add(time.Hour)})
		}); err != nil {
			t.Fatal(err)
		}
		var (
			granted error
			wait    = func() {}
			once    sync.Once
		)
		service := newAccountService(t, storeWithReadHook{db, func() {
			once.Do(func() {
				wait = runConcurrently(t, db, func() {
					_, granted = newAccountService(t, db).AddOperator(ctx, registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}, anna)
				})
			})
		}})
		err := service.ConfirmEmailChange(ctx, signedInActor(anna), link)
		wait()
		if granted != nil {
			t.Fatal(granted)
		}
		wantCode(t, err, registrar.KindUnauthenticated, registrar.SignInAgain)
		if n := count(t, db, `SELECT count(*) FROM customers WHERE email = 'thief@example.org'`); n != 0 {
			t.Error("a weak session changed the address of an operator account")
		}
	})
}

func TestChangeEmail_ConcurrentRoleGrantSendsNoLink(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		var once sync.Once
		var granted error
		service := newAccountService(t, storeWithBeginHook{db, func() {
			once.Do(func() {
				_, granted = newAccountService(t, db).AddOperator(ctx, registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}, anna)
			})
		}})
		err := service.RequestEmailChange(ctx, signedInActor(anna), "thief@example.org")
		if granted != nil {
			t.Fatal(granted)
		}
		wantCode(t, err, registrar.KindUnauthenticated, registrar.SignInAgain)
	})
}

func TestGiveConsent_ConcurrentMethodRemovalRefusesIt(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := addDomain(t, db, anna, "eins", registrar.DomainActive, testTime.AddDate(1, 0, 0))
		saveMethod(t, db, anna)
		var agreed error
		wait := func() {}
		err := db.write(ctx, func(q *query.Queries) error {
			if err := putPaymentMethod(ctx, q, anna, order.PaymentMethod{ProviderCustomer: "cus_2"}, testTime); err != nil {
				return err
			}
			if _, err := q.GetPaymentMethod(ctx, anna); err != nil { // sends the statements that wait
				return err
			}
			wait = runConcurrently(t, db, func() { agreed = db.GiveConsent(ctx, givenConsent(anna, domain)) })
			return nil
		})
		wait()
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, agreed, registrar.KindConflict, renewal.NoPaymentMethod)
		if n := count(t, db, `SELECT count(*) FROM domains WHERE at_term_end <> ''`); n != 0 {
			t.Error("a domain renews automatically without a payment method")
		}
	})
}

// Stopping everything must not fail because something has stopped meanwhile.
func TestStopAll_ConcurrentUnlinkKeepsNothingAlive(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		_, agents := newDelegates(t, db)
		shop, _ := admitAgent(t, agents, agent.AddParams{Name: "Shop"})
		helper, _ := admitAgent(t, agents, agent.AddParams{Name: "Helper"})
		for _, id := range []string{shop.ID, helper.ID} {
			if err := agents.Link(t.Context(), personActor(anna), id); err != nil {
				t.Fatal(err)
			}
		}
		var stopped error
		wait := func() {}
		err := db.write(t.Context(), func(q *query.Queries) error {
			if unlinked, err := changed(rowsOf(q.DeleteAgentLink(t.Context(), anna, shop.ID))); err != nil || !unlinked {
				return cmp.Or(err, errConflict)
			}
			wait = runConcurrently(t, db, func() {
				_, stopped = db.RevokeDelegates(t.Context(), anna, registrar.AuditEvent{Actor: personActor(anna), Customer: anna, At: testTime})
			})
			return nil
		})
		wait()
		if err != nil || stopped != nil {
			t.Fatal(err, stopped)
		}
		if links, err := db.ListAgentLinks(t.Context(), anna); err != nil || len(links) != 0 {
			t.Errorf("still linked: %+v, %v", links, err)
		}
	})
}

func TestRevokeToken_ConcurrentStopAllCausesNoDeadlock(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), newTokenService(t, db), newCustomer(t, db, "anna")
		token, _, err := service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "Laptop"})
		if err != nil {
			t.Fatal(err)
		}
		var revoked error
		wait := func() {}
		err = db.write(ctx, func(q *query.Queries) error { // the first steps of RevokeDelegates
			if err := q.LockCustomer(ctx, anna); err != nil {
				return err
			}
			if _, err := q.GetTokenCount(ctx, anna); err != nil { // sends the statement that waits
				return err
			}
			wait = runConcurrently(t, db, func() { revoked = service.Revoke(ctx, personActor(anna), token.ID) })
			_, err := revokeUnexpiredTokens(ctx, q, anna, registrar.AuditEvent{Actor: personActor(anna), Customer: anna, At: testTime})
			return err
		})
		wait()
		if err != nil || revoked != nil {
			t.Errorf("stop all: %v, revoke: %v", err, revoked)
		}
		if n := count(t, db, `SELECT count(*) FROM audit_events WHERE action = 'token_revoked'`); n != 1 {
			t.Errorf("%d events of one revocation", n)
		}
		requireTokenCount(t, db, anna)
	})
}

func TestCreateToken_ConcurrentCallersShareRoomOfExpiredTokens(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		ctx, service, anna := t.Context(), newTokenService(t, db), newCustomer(t, db, "anna")
		for range oauth.MaxActiveTokens {
			if _, _, err := service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "old"}); err != nil {
				t.Fatal(err)
			}
		}
		execStatement(t, db, `UPDATE personal_access_tokens SET expires_at = $1`, micros(testTime))
		var second error
		wait := func() {}
		err := db.write(ctx, func(q *query.Queries) error { // the first steps of CreatePersonalAccessToken
			counted, err := countToken(ctx, q, oauth.PersonalAccessToken{Customer: anna}, oauth.MaxActiveTokens,
				registrar.AuditEvent{Actor: personActor(anna), Customer: anna, At: testTime})
			if err != nil || counted != 1 {
				t.Errorf("counted %d, %v", counted, err)
			}
			wait = runConcurrently(t, db, func() { _, _, second = service.Create(ctx, personActor(anna), oauth.TokenParams{Name: "second"}) })
			return err
		})
		wait()
		if err != nil || second != nil {
			t.Errorf("first: %v, second: %v", err, second)
		}
	})
}

// A key released between the two reads is reported as in flight, not as an internal
// error.
func TestBeginRun_ConcurrentlyReleasedKeyIsInFlight(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		seal, err := registrar.NewSeal([32]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		service, err := idempotency.New(idempotency.Config{Store: db, Seal: seal})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 100 {
					run, _, err := service.Begin(t.Context(), "scope", "key", jsonValue(t, "{}"))
					var conflict *registrar.Error
					switch {
					case err == nil:
						err = run.Release(t.Context())
					case errors.As(err, &conflict) && conflict.Code == idempotency.InFlight:
						err = nil
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
	})
}
