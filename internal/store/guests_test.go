package store

import (
	"errors"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

var guestContact = order.Contact{
	FirstName: "Carla", LastName: "Neu", Email: "Carla@Neu.example", Phone: "+49.301", Street: "Seeweg 1", PostalCode: "10115",
	City: "Berlin", Country: "DE", Language: "en",
}

// newAgentSession returns an agent's order for a buyer without an account.
func newAgentSession(names ...string) order.Order {
	o := testOrder(registrar.NewID("cus_", testTime), names...)
	o.Agent, o.Channel, o.Claimed, o.Contact, o.Email = "agt_1", order.ChannelACP, false, guestContact, guestContact.Email
	o.By = registrar.Actor{Kind: registrar.ActorAgent, Customer: o.Customer, Through: "agt_1"}
	o.ItemsKey = o.ID
	return o
}

func addSession(t *testing.T, db *DB, o order.Order, fitted *order.Contact) order.Order {
	t.Helper()
	if err := db.AddSession(t.Context(), o, fitted, 1000, 20, orderEvent(o)); err != nil {
		t.Fatal(err)
	}
	return getOrder(t, db, o.ID)
}

// addClaimLink adds a link that claims a guest account.
func addClaimLink(t *testing.T, db *DB, guest string) registrar.SecretHash {
	t.Helper()
	_, hash := registrar.NewSecret(registrar.LinkSecret)
	if err := db.write(t.Context(), func(q *query.Queries) error {
		return q.InsertLink(t.Context(), query.InsertLinkParams{
			Hash: string(hash), Kind: string(registrar.MailClaim), CustomerID: guest, Email: guestContact.Email, ExpiresAt: micros(testTime.Add(time.Hour)),
		})
	}); err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestAddSession_RoundTripWithGuestBuyer(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		o := addSession(t, db, newAgentSession("eins.org"), &guestContact)
		if o.Agent != "agt_1" || o.Contact != guestContact || o.Claimed || o.Email != "carla@neu.example" {
			t.Errorf("stored %+v", o)
		}
		buyer, err := db.GetBuyer(t.Context(), o.Customer)
		if err != nil || !buyer.HasRegistrant || buyer.Name != "Carla Neu" || buyer.Email != guestContact.Email || buyer.Language != "en" {
			t.Errorf("%+v, %v", buyer, err)
		}
		if _, known, err := db.ReadCustomers().AccountByEmail(t.Context(), "carla@neu.example"); err != nil || known {
			t.Errorf("the buyer's address has an account: %v", err)
		}
		other := guestContact
		other.LastName = ""
		changed := mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) { o.Contact = other })
		if buyer, err = db.GetBuyer(t.Context(), o.Customer); err != nil || buyer.HasRegistrant || changed.Contact != other {
			t.Errorf("%+v, %v", buyer, err)
		}
		items := newAgentSession("zwei.org", "drei.org").Items
		changed = mustUpdateOrder(t, db, changed, func(o *order.Order, _ *order.Transition) { o.Items = items })
		if len(changed.Items) != 2 || changed.Items[0].Name != "zwei.org" {
			t.Errorf("items: %+v", changed.Items)
		}
		if err := db.AddSession(t.Context(), newAgentSession("vier.org"), nil, 1, 20, orderEvent(o)); registrar.CodeOf(err) != order.TooManyOpen {
			t.Errorf("one too many: %v", err)
		}
	})
}

func TestTokenPayment_RoundTrip(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		o := addSession(t, db, newAgentSession("eins.org"), &guestContact)
		o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			o.State = order.Paying
			o.Payments = []order.Payment{{ID: "pay_" + o.ID, Kind: order.ByToken, State: order.PaymentOpening, Amount: 1428, CreatedAt: testTime, EndsAt: testTime, UpdatedAt: testTime}}
		})
		o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
			p := &o.Payments[0]
			p.State, p.Session, p.Intent, p.Failure = order.PaymentClosing, "pi_"+o.ID, "pi_"+o.ID, order.PaymentDeclined
		})
		if p := o.Payments[0]; p.Kind != order.ByToken || p.Failure != order.PaymentDeclined || p.Intent != "pi_"+o.ID {
			t.Errorf("got %+v", p)
		}
		if found, ok, err := db.OrderByIntent(t.Context(), "pi_"+o.ID); err != nil || !ok || found.ID != o.ID {
			t.Errorf("by payment intent: %t, %v", ok, err)
		}
	})
}

func TestClaim_ReassignsEverythingOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		claims := newCustomer(t, db, "claims")
		o := addSession(t, db, newAgentSession("eins.org", "zwei.org"), &guestContact)
		o = mustUpdateOrder(t, db, o, func(o *order.Order, m *order.Transition) {
			o.State, o.PaidAt, m.Provision = order.Provisioning, testTime, true
			for i := range o.Items {
				o.Items[i].State, o.Items[i].ProvisionItem = order.ItemProvisioning, registrar.NewID("prv_", testTime)
			}
			o.Payments = []order.Payment{{ID: "pay_" + o.ID, Kind: order.ByToken, State: order.PaymentCaptured, Amount: o.Totals.Gross, Card: "card", CreatedAt: testTime, EndsAt: testTime, UpdatedAt: testTime}}
		})
		guest := o.Customer
		due := listPendingDocuments(t, db)
		if len(due) != 1 {
			t.Fatalf("%d invoices are pending", len(due))
		}
		if ok, err := issueDocument(t, db, due[0], documentFor(due[0], guest, o.Totals.Gross)); err != nil || !ok {
			t.Fatal(ok, err)
		}
		domain, lock := addLockedDomain(t, db, guest)
		link := addClaimLink(t, db, guest)
		if found, ok, err := db.ClaimableOrder(t.Context(), link, testTime); err != nil || !ok || found.ID != o.ID {
			t.Fatalf("%t, %v", ok, err)
		}
		if _, err := db.ClaimGuestOrders(t.Context(), link, "cus_nobody", testTime, orderEvent(o), admitAll); registrar.CodeOf(err) != registrar.NoSuchCustomer {
			t.Fatalf("claimed without an account: %v", err)
		}
		if ok, err := db.ClaimGuestOrders(t.Context(), link, claims, testTime.Add(2*time.Hour), orderEvent(o), admitAll); err != nil || ok {
			t.Fatalf("claimed after expiry: %v", err)
		}
		for i, want := range []bool{true, false} {
			if ok, err := db.ClaimGuestOrders(t.Context(), link, claims, testTime, orderEvent(o), admitAll); err != nil || ok != want {
				t.Fatalf("attempt %d: %t, %v", i+1, ok, err)
			}
		}
		now := getOrder(t, db, o.ID)
		if now.Customer != claims || !now.Claimed || now.Version <= o.Version {
			t.Errorf("order: %+v", now)
		}
		for _, item := range now.Items {
			line, _, err := db.ProvisionItemByID(t.Context(), item.ProvisionItem)
			if err != nil || line.Customer != claims {
				t.Errorf("provision item: %+v, %v", line, err)
			}
		}
		if papers, err := db.ListDocuments(t.Context(), claims, "", 10); err != nil || len(papers) != 1 {
			t.Errorf("invoices: %v, %v", papers, err)
		}
		registrant, known, err := db.ReadCustomers().GetRegistrant(t.Context(), claims)
		if err != nil || !known || registrant.Name != "Carla Neu" {
			t.Errorf("registrant: %+v, %v", registrant, err)
		}
		if _, known, err := db.ReadCustomers().AccountByID(t.Context(), guest); err != nil || known {
			t.Errorf("the guest account still exists: %v", err)
		}
		if spent, err := db.SpentSince(t.Context(), claims, "", time.Time{}); err != nil || spent.ByCard == 0 {
			t.Errorf("spending by card: %+v, %v", spent, err)
		}
		if changes, err := db.ListDomainChanges(t.Context(), domain, 10); err != nil || len(changes) != 1 || changes[0].Customer != claims {
			t.Errorf("changes: %+v, %v", changes, err)
		}
		// Lifting the lock works as usual, because there is an account to notify.
		locks, err := db.ListActiveLocksOfDomain(t.Context(), domain)
		if err != nil || len(locks) != 1 || locks[0].Customer != claims {
			t.Fatalf("locks: %+v, %v", locks, err)
		}
		mail := registrar.Mail{Kind: registrar.MailDomainLock, Customer: locks[0].Customer}
		locks[0].LiftedAt = testTime
		if lifted, err := db.LiftDomainLock(t.Context(), locks[0], orderEvent(o), mail, testTime); err != nil || !lifted {
			t.Errorf("lock %s is not lifted: %v", lock, err)
		}
	})
}

// addLockedDomain adds a guest's domain that an operator has locked, here and at the
// registry.
func addLockedDomain(t *testing.T, db *DB, guest string) (domain, lock string) {
	t.Helper()
	domain = addHeldDomain(t, db, guest, "streit.org", registrar.DomainActive)
	change := newOpenChange(guest, domain)
	change.Kind, change.Actor = domainchange.Lock, operatorActor()
	if err := db.AddDomainChange(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	set := admin.Lock{
		ID: "lck_" + guest, Domain: domain, Name: "streit.org", Customer: guest, Cause: admin.Abuse, Reason: "Meldung",
		Restrictions: []admin.Restriction{admin.Transfer}, ReviewAt: testTime.Add(time.Hour), SetBy: "root", SetAt: testTime,
	}
	event := registrar.AuditEvent{Actor: operatorActor(), Action: admin.LockSet, Customer: guest, Object: "streit.org", At: testTime}
	if err := db.AddDomainLock(t.Context(), set, event, registrar.Mail{Kind: registrar.MailDomainLock, Customer: guest}, testTime); err != nil {
		t.Fatal(err)
	}
	return domain, set.ID
}

func TestGetLinkedCustomer_RequiresAgentLink(t *testing.T) {
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
			if has, err := db.IsAgentLinked(t.Context(), linked, agent); err != nil || has != want {
				t.Errorf("%s: %t, %v", agent, has, err)
			}
		}
		o := addSession(t, db, newAgentSession("eins.org"), &guestContact)
		guest := o.Customer
		o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) { o.Customer, o.Claimed = linked, true })
		if o.Customer != linked || !o.Claimed {
			t.Errorf("order: %+v", o)
		}
		if _, known, err := db.ReadCustomers().AccountByID(t.Context(), guest); err != nil || known {
			t.Errorf("the guest account still exists: %v", err)
		}
	})
}

func TestDeleteUnconfirmed_RemovesUnpaidGuestsAfterOneWeek(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		end := func(o *order.Order, _ *order.Transition) { o.State, o.DueAt = order.Expired, time.Time{} }
		gone := mustUpdateOrder(t, db, addSession(t, db, newAgentSession("eins.org"), &guestContact), end)
		open := addSession(t, db, newAgentSession("zwei.org"), &guestContact)
		tried := mustUpdateOrder(t, db, addSession(t, db, newAgentSession("drei.org"), &guestContact), func(o *order.Order, m *order.Transition) {
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
				t.Fatalf("order exists: %t, its account: %t, %v", found, known, err)
			}
			return found
		}
		sweep(testTime)
		if !left(gone) {
			t.Error("deleted too early")
		}
		sweep(testTime.Add(time.Second))
		if left(gone) || !left(open) || !left(tried) {
			t.Errorf("left: %t %t %t", left(gone), left(open), left(tried))
		}
	})
}

func TestClaim_LinkToFormerAddressIsVoid(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		o := addSession(t, db, newAgentSession("eins.org"), &guestContact)
		link := addClaimLink(t, db, o.Customer)
		mail := registrar.Mail{Kind: registrar.MailClaim, Customer: o.Customer, To: guestContact.Email, Language: "en"}
		o = mustUpdateOrder(t, db, o, func(o *order.Order, m *order.Transition) { m.Mails = []registrar.Mail{mail} })
		claimable := func() bool {
			t.Helper()
			_, found, err := db.ClaimableOrder(t.Context(), link, testTime)
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		other := guestContact
		other.Phone, other.Email = "", "CARLA@neu.example"
		if o = mustUpdateOrder(t, db, o, func(o *order.Order, m *order.Transition) { o.Contact, m.GuestRegistrant = other, &other }); !claimable() {
			t.Error("the same address in another case has lost its link")
		}
		other.Email = "carla@alt.example"
		o = mustUpdateOrder(t, db, o, func(o *order.Order, m *order.Transition) { o.Contact, m.GuestRegistrant = other, &other })
		if claimable() {
			t.Error("the former address can still claim the order")
		}
		if n := count(t, db, `SELECT count(*) FROM mails WHERE customer_id = $1`, o.Customer); n != 0 {
			t.Errorf("%d mails to the former address are queued", n)
		}
	})
}

// Finishing an item locks its own row first and then the order's.
func TestClaim_LocksProvisionItemBeforeOrder(t *testing.T) {
	t.Parallel()
	db := openAt(t, Options{URL: pgtest.Database(t), MaxConnections: 8})
	claims := newCustomer(t, db, "claims")
	o := mustUpdateOrder(t, db, addSession(t, db, newAgentSession("eins.org"), &guestContact), toPaid)
	link := addClaimLink(t, db, o.Customer)
	ctx := t.Context()
	tx, err := db.sql.Writer().BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `UPDATE provision_items SET attempts = attempts + 1 WHERE id = $1`, o.Items[0].ProvisionItem); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		ok, err := db.ClaimGuestOrders(ctx, link, claims, testTime, orderEvent(o), admitAll)
		if err == nil && !ok {
			err = errors.New("the order was not claimed")
		}
		done <- err
	}()
	for count(t, db, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 0 {
		select {
		case err := <-done:
			t.Fatalf("the claim did not wait for the lock: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	if _, err := tx.ExecContext(ctx, `SELECT id FROM orders WHERE id = $1 FOR UPDATE NOWAIT`, o.ID); err != nil {
		t.Errorf("locking the order's row: %v", err)
	}
	if err := tx.Commit(); err != nil {
		t.Log(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if now := getOrder(t, db, o.ID); now.Customer != claims {
		t.Errorf("the order belongs to %s", now.Customer)
	}
}

// admitAll accepts every registrant.
func admitAll([]string, registrar.Registrant, string) error { return nil }

func TestClaim_RefusedByTLDRulesReassignsNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		claims := newCustomer(t, db, "claims")
		if err := db.UpdateCustomers(t.Context(), func(tx account.Tx) error {
			return tx.PutRegistrant(t.Context(), claims, account.Registrant{Kind: account.Person, Name: "Joe Miller", Country: "US", UpdatedAt: testTime})
		}); err != nil {
			t.Fatal(err)
		}
		approved := registrar.Registrant{Name: "Carla Neu", Country: "DE"}
		o := addSession(t, db, newAgentSession("eins.org"), &guestContact)
		o = mustUpdateOrder(t, db, o, func(o *order.Order, m *order.Transition) {
			toPaid(o, m)
			o.Registrant = approved
		})
		link := addClaimLink(t, db, o.Customer)
		refusal := &registrar.Error{Kind: registrar.KindConflict, Code: registrar.RequiresCode("eu_presence")}
		ok, err := db.ClaimGuestOrders(t.Context(), link, claims, testTime, orderEvent(o), func(tlds []string, registrant registrar.Registrant, verified string) error {
			if len(tlds) != 1 || tlds[0] != ".org" || registrant.Country != "US" || registrant.Name != "Joe Miller" || verified != "" {
				t.Errorf("checked %q, %+v, %q", tlds, registrant, verified)
			}
			return refusal
		})
		if ok || !errors.Is(err, refusal) {
			t.Fatalf("%t, %v", ok, err)
		}
		if now := getOrder(t, db, o.ID); now.Customer != o.Customer || now.Claimed {
			t.Errorf("the order moved to %s", now.Customer)
		}
		// The link stays valid, and the paid item keeps its registrant after the claim.
		if ok, err := db.ClaimGuestOrders(t.Context(), link, claims, testTime, orderEvent(o), admitAll); err != nil || !ok {
			t.Fatalf("%t, %v", ok, err)
		}
		line, _, err := db.ProvisionItemByID(t.Context(), o.Items[0].ProvisionItem)
		if err != nil || line.Customer != claims || line.Registrant != approved {
			t.Errorf("%+v, %v", line, err)
		}
	})
}
