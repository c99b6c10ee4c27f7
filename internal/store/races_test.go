package store

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/idempotency"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

// At READ COMMITTED, PostgreSQL lets two transactions check what the other one is about
// to change. These tests stop one between its check and its change and run the other
// one there until it has ended or waits for a lock. SQLite has one writer.

// rival runs act while a transaction is open, and returns when act has ended or waits
// for a lock; wait returns when it has ended.
func rival(t *testing.T, db *DB, act func()) (wait func()) {
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
		case <-time.After(time.Millisecond): // the lock is the database's; nothing here says when it is waited for
		}
		if count(t, db, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) > 0 {
			return func() { <-ended }
		}
	}
}

func onPostgres(t *testing.T, test func(t *testing.T, db *DB)) {
	t.Helper()
	t.Parallel()
	test(t, openAt(t, Options{URL: copiedPostgres(t), MaxConnections: 8}))
}

// watched runs an event after a check that a transaction has made.
type watched struct {
	customer.Store
	checked func()
}

type watchedTx struct {
	customer.Tx
	checked func()
}

func (s watched) ChangeCustomers(ctx context.Context, change func(customer.Tx) error) error {
	return s.Store.ChangeCustomers(ctx, func(tx customer.Tx) error { return change(watchedTx{tx, s.checked}) })
}

func (t watchedTx) PaymentUnderWay(ctx context.Context, id string) (bool, error) {
	paying, err := t.Tx.PaymentUnderWay(ctx, id)
	t.checked()
	return paying, err
}

func (t watchedTx) TiesOf(ctx context.Context, id string) (customer.Ties, error) {
	ties, err := t.Tx.TiesOf(ctx, id)
	t.checked()
	return ties, err
}

// beforeChange runs an event before a transaction begins.
type beforeChange struct {
	customer.Store
	event func()
}

func (s beforeChange) ChangeCustomers(ctx context.Context, change func(customer.Tx) error) error {
	s.event()
	return s.Store.ChangeCustomers(ctx, change)
}

// readAccounts runs an event after a transaction has read an account.
type readAccounts struct {
	customer.Store
	read func()
}

type readAccountsTx struct {
	customer.Tx
	read func()
}

func (s readAccounts) ChangeCustomers(ctx context.Context, change func(customer.Tx) error) error {
	return s.Store.ChangeCustomers(ctx, func(tx customer.Tx) error { return change(readAccountsTx{tx, s.read}) })
}

func (t readAccountsTx) AccountByID(ctx context.Context, id string) (customer.Account, bool, error) {
	account, found, err := t.Tx.AccountByID(ctx, id)
	t.read()
	return account, found, err
}

type unlimited struct{}

func (unlimited) Peek(string) time.Duration  { return 0 }
func (unlimited) Count(string) time.Duration { return 0 }

func customersOn(t *testing.T, db customer.Store) *customer.Service {
	t.Helper()
	limits, err := customer.NewLimits(customer.DefaultWindows(), func(customer.Window) (customer.Limiter, error) { return unlimited{}, nil })
	if err != nil {
		t.Fatal(err)
	}
	seal, err := registrar.NewSeal([32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	service, err := customer.New(customer.Config{
		Store: db, Seal: seal, Origins: []string{"https://kontor.example"}, Limits: limits,
		Cost: customer.Cost{Memory: 64, Passes: 1}, Now: func() time.Time { return testTime },
	})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func inPerson(id string) registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorPerson, Customer: id, Through: "ses_1", SignedInAt: testTime}
}

// viennese is another registrant, in another country.
var viennese = customer.Registrant{
	Kind: customer.Person, Name: "Anna Neu", Street: "Ring 1", PostalCode: "1010", City: "Wien", Country: "AT", Phone: "+43 1 234567",
}

func beginsPaying(t *testing.T, db *DB, o order.Order, buyer order.Buyer) (bool, error) {
	t.Helper()
	return tryMove(t, db, o, func(o *order.Order, m *order.Move) {
		paying("pay_1")(o, m)
		m.For = &buyer
	})
}

func TestRegistrant_DoesNotChangeWhileAPaymentBegins(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		tellRegistrant(t, db, anna, "Hauptstr. 1")
		o := addOrder(t, db, orderFor(anna, "eins.org"))
		buyer, err := db.BuyerOf(t.Context(), anna)
		if err != nil {
			t.Fatal(err)
		}
		var (
			began  bool
			payErr error
			wait   = func() {}
			once   sync.Once
		)
		service := customersOn(t, watched{db, func() {
			once.Do(func() { wait = rival(t, db, func() { began, payErr = beginsPaying(t, db, o, buyer) }) })
		}})
		err = service.SetRegistrant(t.Context(), inPerson(anna), viennese)
		wait()
		if err != nil || payErr != nil {
			t.Fatalf("registrant %v, payment %v", err, payErr)
		}
		if began {
			t.Error("a payment began for the registrant of before, and the registrant changed")
		}
	})
}

// The other way round: whoever begins to pay first keeps the registrant as it is.
func TestRegistrant_ChangeWaitsForAPaymentThatBegins(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		tellRegistrant(t, db, anna, "Hauptstr. 1")
		o := addOrder(t, db, orderFor(anna, "eins.org"))
		tx, err := db.writer.BeginTx(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback() //nolint:errcheck // it is committed below
		next := o
		next.State = order.Paying
		if err := holdBuyerFor(ctx, query.New(tx), order.Move{Was: o, Order: next}); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(ctx, `UPDATE orders SET state = 'paying' WHERE id = $1`, o.ID); err != nil {
			t.Fatal(err)
		}
		var changed error
		wait := rival(t, db, func() { changed = customersOn(t, db).SetRegistrant(ctx, inPerson(anna), viennese) })
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		wait()
		wantCode(t, changed, registrar.KindConflict, customer.PaymentUnderWay)
	})
}

func TestClosing_AccountGetsNothingWhileItIsClosed(t *testing.T) {
	for name, give := range map[string]func(t *testing.T, db *DB, anna string) error{
		"an order": func(t *testing.T, db *DB, anna string) error {
			_, _, err := db.AddOrder(t.Context(), orderFor(anna, "eins.org"), 20, ordered(anna, "eins.org"))
			return err
		},
		"a session that becomes theirs": func(t *testing.T, db *DB, anna string) error {
			o := agentOrder(t, db, newCustomer(t, db, "carla"), newAgent(t, db, "agt_1", ""), "eins.org")
			o.Claimed = false
			_, err := tryMove(t, db, o, func(o *order.Order, _ *order.Move) { o.Customer, o.Claimed = anna, true })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			onPostgres(t, func(t *testing.T, db *DB) {
				anna := newCustomer(t, db, "anna")
				var given error
				wait := func() {}
				err := customersOn(t, watched{db, func() { wait = rival(t, db, func() { given = give(t, db, anna) }) }}).Close(t.Context(), inPerson(anna))
				wait()
				if err != nil {
					t.Fatal(err)
				}
				if registrar.CodeOf(given) != order.NoSuchCustomer {
					t.Errorf("given: %v", given)
				}
				if n := count(t, db, `SELECT count(*) FROM orders WHERE customer_id = $1 AND open_order = 1`, anna); n != 0 {
					t.Errorf("a closed account has %d open orders", n)
				}
			})
		})
	}
}

func TestClosing_DomainAddedMeanwhileKeepsTheAccountOpen(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		var closed error
		wait := func() {}
		err := db.write(t.Context(), func(q *query.Queries) error {
			if _, err := q.HoldHolder(t.Context(), anna); err != nil {
				return err
			}
			if _, err := q.InsertDomain(t.Context(), query.InsertDomainParams{
				ID: "dom_1", CustomerID: anna, Name: "eins.org", Tld: ".org", Status: string(holding.StatusActive), CreatedAt: 1, UpdatedAt: 1,
			}); err != nil {
				return err
			}
			wait = rival(t, db, func() { closed = customersOn(t, db).Close(t.Context(), inPerson(anna)) })
			return nil
		})
		wait()
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, closed, registrar.KindConflict, customer.HasDomains)
	})
}

func TestConfirmEmail_RoleGrantedMeanwhileKeepsTheAddress(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		link, hash := registrar.NewSecret(registrar.LinkSecret)
		if err := db.ChangeCustomers(ctx, func(tx customer.Tx) error {
			return tx.InsertLink(ctx, hash, customer.LinkChangeEmail, customer.Link{Customer: anna, Email: "thief@example.org", ExpiresAt: testTime.Add(time.Hour)})
		}); err != nil {
			t.Fatal(err)
		}
		var (
			granted error
			wait    = func() {}
			once    sync.Once
		)
		service := customersOn(t, readAccounts{db, func() {
			once.Do(func() {
				wait = rival(t, db, func() {
					_, granted = customersOn(t, db).AddOperator(ctx, registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}, anna)
				})
			})
		}})
		err := service.ConfirmEmail(ctx, inPerson(anna), link)
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

func TestChangeEmail_RoleGrantedMeanwhileSendsNoLink(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		var once sync.Once
		var granted error
		service := customersOn(t, beforeChange{db, func() {
			once.Do(func() {
				_, granted = customersOn(t, db).AddOperator(ctx, registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}, anna)
			})
		}})
		err := service.ChangeEmail(ctx, inPerson(anna), "thief@example.org")
		if granted != nil {
			t.Fatal(granted)
		}
		wantCode(t, err, registrar.KindUnauthenticated, registrar.SignInAgain)
	})
}

func TestAutoRenew_NeedsAMethodThatIsNotTakenAwayMeanwhile(t *testing.T) {
	onPostgres(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := heldBy(t, db, anna, "eins.org", holding.StatusActive)
		if err := db.KeepMethod(ctx, anna, order.Method{Holder: "cus_1", ID: "pm_1", Label: "Visa"}, testTime); err != nil {
			t.Fatal(err)
		}
		var renewed error
		wait := func() {}
		err := db.write(ctx, func(q *query.Queries) error {
			if err := putMethod(ctx, q, anna, order.Method{Holder: "cus_2"}, testTime); err != nil {
				return err
			}
			wait = rival(t, db, func() { renewed = db.SetAutoRenew(ctx, anna, domain, true, ordered(anna, "eins.org")) })
			return nil
		})
		wait()
		if err != nil {
			t.Fatal(err)
		}
		wantCode(t, renewed, registrar.KindConflict, holding.NoMethod)
		if n := count(t, db, `SELECT count(*) FROM domains WHERE auto_renew = 1`); n != 0 {
			t.Error("a domain renews by itself without a means of payment")
		}
	})
}

// A key that is given back between the two looks at it is in flight, and no fault.
func TestBeginRun_KeyGivenBackMeanwhileIsInFlight(t *testing.T) {
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
					run, _, err := service.Begin(t.Context(), "scope", "key", []byte("{}"))
					var told *registrar.Error
					switch {
					case err == nil:
						err = run.Drop(t.Context())
					case errors.As(err, &told) && told.Code == idempotency.InFlight:
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
