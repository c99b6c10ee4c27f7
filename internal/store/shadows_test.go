package store

import (
	"errors"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var carla = order.Contact{
	FirstName: "Carla", LastName: "Neu", Email: "Carla@Neu.example", Phone: "+49.301", Street: "Seeweg 1", PostalCode: "10115",
	City: "Berlin", Country: "DE", Language: "en",
}

// sessionFor is an agent's order for a buyer without an account.
func sessionFor(names ...string) order.Order {
	o := orderFor(registrar.NewID("cus_", testTime), names...)
	o.Agent, o.Channel, o.Claimed, o.Contact, o.Email = "agt_1", order.ThroughACP, false, carla, carla.Email
	o.By = registrar.Actor{Kind: registrar.ActorAgent, Customer: o.Customer, Through: "agt_1"}
	o.ItemsKey = o.ID
	return o
}

func addSession(t *testing.T, db *DB, o order.Order, fitted *order.Contact) order.Order {
	t.Helper()
	if err := db.AddSession(t.Context(), o, fitted, 1000, 20, orderDeed(o)); err != nil {
		t.Fatal(err)
	}
	return storedOrder(t, db, o.ID)
}

// mailedLink is a link with which a shadow account can be claimed.
func mailedLink(t *testing.T, db *DB, shadow string) registrar.SecretHash {
	t.Helper()
	_, hash := registrar.NewSecret(registrar.LinkSecret)
	if err := db.write(t.Context(), func(q *query.Queries) error {
		return q.InsertMailedLink(t.Context(), query.InsertMailedLinkParams{
			Hash: string(hash), Kind: string(registrar.LetterClaim), CustomerID: shadow, Email: carla.Email, ExpiresAt: micros(testTime.Add(time.Hour)),
		})
	}); err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestASessionComesBackWithItsBuyer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		o := addSession(t, db, sessionFor("eins.org"), &carla)
		if o.Agent != "agt_1" || o.Contact != carla || o.Claimed || o.Email != "carla@neu.example" {
			t.Errorf("stored %+v", o)
		}
		buyer, err := db.BuyerOf(t.Context(), o.Customer)
		if err != nil || !buyer.Told || buyer.Name != "Carla Neu" || buyer.Email != carla.Email || buyer.Language != "en" {
			t.Errorf("%+v, %v", buyer, err)
		}
		if _, known, err := db.ReadCustomers().AccountByEmail(t.Context(), "carla@neu.example"); err != nil || known {
			t.Errorf("the buyer's address has an account: %v", err)
		}
		other := carla
		other.LastName = ""
		changed := moved(t, db, o, func(o *order.Order, _ *order.Move) { o.Contact = other })
		if buyer, err = db.BuyerOf(t.Context(), o.Customer); err != nil || buyer.Told || changed.Contact != other {
			t.Errorf("%+v, %v", buyer, err)
		}
		items := sessionFor("zwei.org", "drei.org").Items
		changed = moved(t, db, changed, func(o *order.Order, _ *order.Move) { o.Items = items })
		if len(changed.Items) != 2 || changed.Items[0].Name != "zwei.org" {
			t.Errorf("the items are %+v", changed.Items)
		}
		if err := db.AddSession(t.Context(), sessionFor("vier.org"), nil, 1, 20, orderDeed(o)); registrar.CodeOf(err) != order.TooManyOpen {
			t.Errorf("one too many: %v", err)
		}
	})
}

func TestAPaymentByTokenComesBack(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		o := addSession(t, db, sessionFor("eins.org"), &carla)
		o = moved(t, db, o, func(o *order.Order, _ *order.Move) {
			o.State = order.Paying
			o.Payments = []order.Payment{{ID: "pay_" + o.ID, Kind: order.ByToken, State: order.PaymentOpening, Amount: 1428, CreatedAt: testTime, EndsAt: testTime, UpdatedAt: testTime}}
		})
		o = moved(t, db, o, func(o *order.Order, _ *order.Move) {
			p := &o.Payments[0]
			p.State, p.Session, p.Intent, p.Failure = order.PaymentClosing, "pi_"+o.ID, "pi_"+o.ID, order.PaymentDeclined
		})
		if p := o.Payments[0]; p.Kind != order.ByToken || p.Failure != order.PaymentDeclined || p.Intent != "pi_"+o.ID {
			t.Errorf("got %+v", p)
		}
		if found, ok, err := db.OrderByIntent(t.Context(), "pi_"+o.ID); err != nil || !ok || found.ID != o.ID {
			t.Errorf("by its intent: %t, %v", ok, err)
		}
	})
}

func TestAClaimGivesEverythingToTheAccountOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		claims := newCustomer(t, db, "claims")
		o := addSession(t, db, sessionFor("eins.org", "zwei.org"), &carla)
		o = moved(t, db, o, func(o *order.Order, m *order.Move) {
			o.State, o.PaidAt, m.Lines = order.Provisioning, testTime, true
			for i := range o.Items {
				o.Items[i].State, o.Items[i].Line = order.ItemProvisioning, registrar.NewID("lin_", testTime)
			}
			o.Payments = []order.Payment{{ID: "pay_" + o.ID, Kind: order.ByToken, State: order.PaymentKept, Amount: o.Totals.Gross, Card: "card", CreatedAt: testTime, EndsAt: testTime, UpdatedAt: testTime}}
		})
		shadow := o.Customer
		due := owedDocuments(t, db)
		if len(due) != 1 {
			t.Fatalf("%d invoices are owed", len(due))
		}
		if ok, err := db.Issue(t.Context(), due[0], "RE-2026", bill(due[0], shadow, o.Totals.Gross)); err != nil || !ok {
			t.Fatal(ok, err)
		}
		domain, lock := lockedByAnOperator(t, db, shadow)
		link := mailedLink(t, db, shadow)
		if found, ok, err := db.ClaimableBy(t.Context(), link, testTime); err != nil || !ok || found.ID != o.ID {
			t.Fatalf("%t, %v", ok, err)
		}
		if _, err := db.Claim(t.Context(), link, "cus_nobody", testTime, orderDeed(o), anybody); registrar.CodeOf(err) != order.NoSuchCustomer {
			t.Fatalf("claimed by nobody: %v", err)
		}
		if ok, err := db.Claim(t.Context(), link, claims, testTime.Add(2*time.Hour), orderDeed(o), anybody); err != nil || ok {
			t.Fatalf("claimed too late: %v", err)
		}
		for i, want := range []bool{true, false} {
			if ok, err := db.Claim(t.Context(), link, claims, testTime, orderDeed(o), anybody); err != nil || ok != want {
				t.Fatalf("the %d. time: %t, %v", i+1, ok, err)
			}
		}
		now := storedOrder(t, db, o.ID)
		if now.Customer != claims || !now.Claimed || now.Version <= o.Version {
			t.Errorf("the order is %+v", now)
		}
		for _, item := range now.Items {
			line, _, err := db.LineByID(t.Context(), item.Line)
			if err != nil || line.Customer != claims {
				t.Errorf("the line %+v, %v", line, err)
			}
		}
		if papers, err := db.DocumentsOf(t.Context(), claims, "", 10); err != nil || len(papers) != 1 {
			t.Errorf("the invoices are %v, %v", papers, err)
		}
		registrant, told, err := db.ReadCustomers().RegistrantOf(t.Context(), claims)
		if err != nil || !told || registrant.Name != "Carla Neu" {
			t.Errorf("the registrant is %+v, %v", registrant, err)
		}
		if _, known, err := db.ReadCustomers().AccountByID(t.Context(), shadow); err != nil || known {
			t.Errorf("the shadow is still there: %v", err)
		}
		if cards, err := db.read().CardsOf(t.Context(), claims); err != nil || len(cards) != 1 {
			t.Errorf("the cards are %v, %v", cards, err)
		}
		if changes, err := db.ChangesOf(t.Context(), domain, 10); err != nil || len(changes) != 1 || changes[0].Customer != claims {
			t.Errorf("the changes are %+v, %v", changes, err)
		}
		// The lock ends as every other does: there is somebody to be told.
		locks, err := db.LocksOf(t.Context(), domain)
		if err != nil || len(locks) != 1 || locks[0].Customer != claims {
			t.Fatalf("the locks are %+v, %v", locks, err)
		}
		letter := registrar.Letter{Kind: registrar.LetterDomainLock, Customer: locks[0].Customer}
		locks[0].LiftedAt = testTime
		if lifted, err := db.LiftLock(t.Context(), locks[0], orderDeed(o), letter); err != nil || !lifted {
			t.Errorf("lock %s is not lifted: %v", lock, err)
		}
	})
}

// lockedByAnOperator is a domain of a buyer without an account which an operator has
// locked, here and at the registry.
func lockedByAnOperator(t *testing.T, db *DB, shadow string) (domain, lock string) {
	t.Helper()
	domain = heldBy(t, db, shadow, "streit.org", holding.StatusActive)
	change := openChange(shadow, domain)
	change.Kind, change.Actor = steward.Lock, operator()
	if err := db.AddChange(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	set := office.Lock{
		ID: "lck_" + shadow, Domain: domain, Name: "streit.org", Customer: shadow, Cause: office.Abuse, Reason: "Meldung",
		Blocks: []office.Block{office.Transfer}, ReviewAt: testTime.Add(time.Hour), SetBy: "root", SetAt: testTime,
	}
	deed := registrar.Deed{Actor: operator(), Action: office.LockSet, Customer: shadow, Object: "streit.org", At: testTime}
	if err := db.AddLock(t.Context(), set, deed, registrar.Letter{Kind: registrar.LetterDomainLock, Customer: shadow}); err != nil {
		t.Fatal(err)
	}
	return domain, set.ID
}

func TestAnAgentsBuyerIsACustomerOnlyIfLinked(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		linked := newCustomer(t, db, "linked")
		if err := db.write(t.Context(), func(q *query.Queries) error {
			if _, err := q.InsertAgent(t.Context(), query.InsertAgentParams{ID: "agt_l", Name: "l", Profile: "ours", KeyHash: "l", CreatedAt: 1}); err != nil {
				return err
			}
			_, err := q.InsertAgentLink(t.Context(), query.InsertAgentLinkParams{CustomerID: linked, AgentID: "agt_l", ByKind: "person", ByID: "x", CreatedAt: 1})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		for agent, want := range map[string]bool{"agt_l": true, "agt_m": false} {
			id, found, err := db.LinkedCustomer(t.Context(), agent, "Linked@Example.com")
			if err != nil || found != want || want && id != linked {
				t.Errorf("%s: %q, %t, %v", agent, id, found, err)
			}
			if has, err := db.HasLinked(t.Context(), linked, agent); err != nil || has != want {
				t.Errorf("%s: %t, %v", agent, has, err)
			}
		}
		o := addSession(t, db, sessionFor("eins.org"), &carla)
		shadow := o.Customer
		o = moved(t, db, o, func(o *order.Order, _ *order.Move) { o.Customer, o.Claimed = linked, true })
		if o.Customer != linked || !o.Claimed {
			t.Errorf("the order is %+v", o)
		}
		if _, known, err := db.ReadCustomers().AccountByID(t.Context(), shadow); err != nil || known {
			t.Errorf("the shadow is still there: %v", err)
		}
	})
}

func TestShadowsGoAWeekAfterAnOrderThatNobodyTriedToPay(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		end := func(o *order.Order, _ *order.Move) { o.State, o.DueAt = order.Expired, time.Time{} }
		gone := moved(t, db, addSession(t, db, sessionFor("eins.org"), &carla), end)
		open := addSession(t, db, sessionFor("zwei.org"), &carla)
		tried := moved(t, db, addSession(t, db, sessionFor("drei.org"), &carla), func(o *order.Order, m *order.Move) {
			end(o, m)
			o.Payments = []order.Payment{{ID: "pay_" + o.ID, Kind: order.ByToken, State: order.PaymentClosed, CreatedAt: testTime, EndsAt: testTime, UpdatedAt: testTime}}
		})
		sweep := func(before time.Time) {
			t.Helper()
			if err := db.write(t.Context(), func(q *query.Queries) error {
				_, err := accounts{q}.DeleteUnconfirmed(t.Context(), before, 100)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		left := func(o order.Order) bool {
			t.Helper()
			_, found, err := db.OrderByID(t.Context(), o.ID)
			if err != nil {
				t.Fatal(err)
			}
			_, known, err := db.ReadCustomers().AccountByID(t.Context(), o.Customer)
			if err != nil || known != found {
				t.Fatalf("the order is there: %t, its account: %t, %v", found, known, err)
			}
			return found
		}
		sweep(testTime)
		if !left(gone) {
			t.Error("it went too early")
		}
		sweep(testTime.Add(time.Second))
		if left(gone) || !left(open) || !left(tried) {
			t.Errorf("left: %t %t %t", left(gone), left(open), left(tried))
		}
	})
}

func TestALinkThatWentToAnotherAddressClaimsNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		o := addSession(t, db, sessionFor("eins.org"), &carla)
		link := mailedLink(t, db, o.Customer)
		letter := registrar.Letter{Kind: registrar.LetterClaim, Customer: o.Customer, To: carla.Email, Language: "en"}
		o = moved(t, db, o, func(o *order.Order, m *order.Move) { m.Letters = []registrar.Letter{letter} })
		claimable := func() bool {
			t.Helper()
			_, found, err := db.ClaimableBy(t.Context(), link, testTime)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		other := carla
		other.Phone, other.Email = "", "CARLA@neu.example"
		if o = moved(t, db, o, func(o *order.Order, m *order.Move) { o.Contact, m.Fitted = other, &other }); !claimable() {
			t.Error("the same address in other letters has lost its link")
		}
		other.Email = "carla@alt.example"
		o = moved(t, db, o, func(o *order.Order, m *order.Move) { o.Contact, m.Fitted = other, &other })
		if claimable() {
			t.Error("whoever reads the former address can claim it")
		}
		if n := count(t, db, `SELECT count(*) FROM mails WHERE customer_id = $1`, o.Customer); n != 0 {
			t.Errorf("%d letters to the former address wait", n)
		}
	})
}

// A line that ends takes its own row first and then the order's.
func TestAClaimDoesNotHoldAnOrderWhileItWaitsForALine(t *testing.T) {
	t.Parallel()
	db := openAt(t, Options{URL: newPostgres(t), MaxConnections: 8})
	claims := newCustomer(t, db, "claims")
	o := moved(t, db, addSession(t, db, sessionFor("eins.org"), &carla), paid)
	link := mailedLink(t, db, o.Customer)
	ctx := t.Context()
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `UPDATE lines SET attempts = attempts + 1 WHERE id = $1`, o.Items[0].Line); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		ok, err := db.Claim(ctx, link, claims, testTime, orderDeed(o), anybody)
		if err == nil && !ok {
			err = errors.New("it was not claimed")
		}
		done <- err
	}()
	for count(t, db, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0 {
		select {
		case err := <-done:
			t.Fatalf("the claim did not wait: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if _, err := tx.ExecContext(ctx, `SELECT id FROM orders WHERE id = $1 FOR UPDATE NOWAIT`, o.ID); err != nil {
		t.Errorf("the order's row: %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Log(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if now := storedOrder(t, db, o.ID); now.Customer != claims {
		t.Errorf("it belongs to %s", now.Customer)
	}
}

// anybody is an admission that no extension refuses.
func anybody([]string, registrar.Holder, string) error { return nil }

func TestClaim_AccountThatAnExtensionRefusesGetsNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		claims := newCustomer(t, db, "claims")
		if err := db.ChangeCustomers(t.Context(), func(tx customer.Tx) error {
			return tx.PutRegistrant(t.Context(), claims, customer.Registrant{Kind: customer.Person, Name: "Joe Miller", Country: "US", UpdatedAt: testTime})
		}); err != nil {
			t.Fatal(err)
		}
		approved := registrar.Holder{Name: "Carla Neu", Country: "DE"}
		o := addSession(t, db, sessionFor("eins.org"), &carla)
		o = moved(t, db, o, func(o *order.Order, m *order.Move) {
			paid(o, m)
			o.Registrant = approved
		})
		link := mailedLink(t, db, o.Customer)
		refusal := &registrar.Error{Kind: registrar.KindConflict, Code: registrar.RequiresCode("eu_presence")}
		ok, err := db.Claim(t.Context(), link, claims, testTime, orderDeed(o), func(tlds []string, holder registrar.Holder, verified string) error {
			if len(tlds) != 1 || tlds[0] != ".org" || holder.Country != "US" || holder.Name != "Joe Miller" || verified != "" {
				t.Errorf("asked about %q, %+v, %q", tlds, holder, verified)
			}
			return refusal
		})
		if ok || !errors.Is(err, refusal) {
			t.Fatalf("%t, %v", ok, err)
		}
		if now := storedOrder(t, db, o.ID); now.Customer != o.Customer || now.Claimed {
			t.Errorf("the order moved to %s", now.Customer)
		}
		// The link is still good, and the paid item keeps its registrant after the claim.
		if ok, err := db.Claim(t.Context(), link, claims, testTime, orderDeed(o), anybody); err != nil || !ok {
			t.Fatalf("%t, %v", ok, err)
		}
		line, _, err := db.LineByID(t.Context(), o.Items[0].Line)
		if err != nil || line.Customer != claims || line.Registrant != approved {
			t.Errorf("%+v, %v", line, err)
		}
	})
}
